// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C by input length: the implementation in use, and the portable one.
#include <benchmark/benchmark.h>

#include "util/hash/crc32c.h"
#include "util/hash/crc32c_internal.h"
#include "util/random.h"

namespace ashlar {
namespace {

void Run(benchmark::State& state, crc32c::ExtendFunction extend) {
  const std::string bytes = Random64(1).Bytes(static_cast<size_t>(state.range(0)));
  uint32_t crc = 0;
  for (auto _ : state) benchmark::DoNotOptimize(crc = extend(crc, bytes.data(), bytes.size()));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void BM_Crc32c(benchmark::State& state) { Run(state, &crc32c::Extend); }
void BM_Crc32cPortable(benchmark::State& state) { Run(state, &crc32c::ExtendPortable); }

BENCHMARK(BM_Crc32c)->Arg(16)->Arg(130)->Arg(512)->Arg(1024)->Arg(4096)->Arg(32768)->Arg(1 << 20);
BENCHMARK(BM_Crc32cPortable)->Arg(130)->Arg(4096);

}  // namespace
}  // namespace ashlar
