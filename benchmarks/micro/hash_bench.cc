// SPDX-License-Identifier: Apache-2.0
//
// The hash functions of the file formats, by input length.
#include <benchmark/benchmark.h>

#include "util/hash/hash.h"
#include "util/random.h"

namespace ashlar {
namespace {

template <auto kHash>
void BM_Hash(benchmark::State& state) {
  const std::string bytes = Random64(1).Bytes(static_cast<size_t>(state.range(0)) + 8);
  size_t offset = 0;
  for (auto _ : state) {
    // The next input depends on this result, like the next step of a lookup.
    const auto hash = kHash(bytes.data() + offset, static_cast<size_t>(state.range(0)));
    offset = hash & 7;
    benchmark::DoNotOptimize(offset);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

constexpr auto kFilter = [](const char* p, size_t n) { return FilterHash64(p, n); };
constexpr auto kXxh3 = [](const char* p, size_t n) { return XxHash3_64(p, n); };
constexpr auto kXxh64 = [](const char* p, size_t n) { return XxHash64(p, n); };
constexpr auto kHash32 = [](const char* p, size_t n) { return Hash32(p, n, kDataBlockHashSeed); };

BENCHMARK(BM_Hash<kFilter>)->Name("BM_FilterHash64")->Arg(8)->Arg(16)->Arg(24)->Arg(100)->Arg(1000);
BENCHMARK(BM_Hash<kXxh3>)->Name("BM_XxHash3_64")->Arg(16)->Arg(4096);
BENCHMARK(BM_Hash<kXxh64>)->Name("BM_XxHash64")->Arg(4096);
BENCHMARK(BM_Hash<kHash32>)->Name("BM_Hash32")->Arg(16);

}  // namespace
}  // namespace ashlar
