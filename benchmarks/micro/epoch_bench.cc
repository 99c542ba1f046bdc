// SPDX-License-Identifier: Apache-2.0
//
// The cost of epochs: a guard, a nested guard, and a retirement with its share of reclamation.
#include <benchmark/benchmark.h>

#include "util/threads/epoch.h"

namespace ashlar {
namespace {

void BM_EpochGuard(benchmark::State& state) {
  for (auto _ : state) {
    EpochGuard guard;
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_EpochGuard)->Threads(1)->Threads(2);

void BM_EpochGuardNested(benchmark::State& state) {
  EpochGuard outer;
  for (auto _ : state) {
    EpochGuard guard;
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_EpochGuardNested);

struct Retired : EpochRetired {
  uint64_t payload = 1;
};

void BM_EpochRetireDelete(benchmark::State& state) {
  for (auto _ : state) EpochRetireDelete(new Retired);
}
BENCHMARK(BM_EpochRetireDelete)->Threads(1)->Threads(2);

}  // namespace
}  // namespace ashlar
