// SPDX-License-Identifier: Apache-2.0
//
// The full Bloom filter: building it, and probing it for present and absent keys, for a filter that
// fits into the processor's cache and for one that does not.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmarks/micro/workload.h"
#include "table/filter/filter_view.h"
#include "table/filter/full_filter_builder.h"

namespace ashlar {
namespace {

constexpr uint32_t kMillibitsPerKey = 10000;

std::string BuildFilter(uint64_t key_count) {
  FullFilterBuilder builder(
      {.kind = FilterForm::kCacheLocal, .millibits_per_key = kMillibitsPerKey});
  for (uint64_t i = 0; i < key_count; ++i) builder.AddKey(BenchKey(i));
  return std::string(builder.Finish());
}

void BM_BloomBuild(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(BuildFilter(static_cast<uint64_t>(state.range(0))));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_BloomBuild)->Arg(100000);

void Probe(benchmark::State& state, uint64_t first_number) {
  const auto key_count = static_cast<uint64_t>(state.range(0));
  const std::string filter = BuildFilter(key_count);
  const FilterView view{Slice(filter)};
  std::vector<std::string> keys;
  Random64 random(1);
  for (int i = 0; i < 65536; ++i)
    keys.push_back(BenchKey(first_number + random.Uniform(key_count)));
  size_t i = 0, positives = 0;
  for (auto _ : state) positives += view.MayContain(Slice(keys[++i & 65535]));
  state.counters["positive"] =
      static_cast<double>(positives) / static_cast<double>(state.iterations());
}

void BM_BloomHit(benchmark::State& state) { Probe(state, 0); }
void BM_BloomMiss(benchmark::State& state) { Probe(state, uint64_t{1} << 40); }
BENCHMARK(BM_BloomHit)->Arg(10000)->Arg(5000000);
BENCHMARK(BM_BloomMiss)->Arg(10000)->Arg(5000000);

}  // namespace
}  // namespace ashlar
