// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchWithIndex: writing, the first read after it, lookups, steps in order. The argument is
// the number of keys in the batch.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "util/random.h"

namespace ashlar {
namespace {

std::vector<std::string> RandomKeys(int64_t count) {
  Random64 random(301);
  std::vector<std::string> keys;
  for (int64_t i = 0; i < count; ++i) {
    std::string key = std::to_string(random.Next());
    key.insert(0, 20 - key.size(), '0');
    keys.push_back(key);
  }
  return keys;
}

void Fill(WriteBatchWithIndex* batch, const std::vector<std::string>& keys) {
  const std::string value(50, 'v');
  for (const std::string& key : keys) {
    if (!batch->Put(key, value).ok()) std::abort();
  }
}

void BM_Put(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  for (auto _ : state) {
    batch.Clear();
    Fill(&batch, keys);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Put)->Arg(10)->Arg(1000)->Arg(100000);

// What the index costs: its making, all at once.
void BM_PutAndFirstLookup(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  const DBOptions options;
  std::string value;
  for (auto _ : state) {
    batch.Clear();
    Fill(&batch, keys);
    if (!batch.GetFromBatch(options, keys[0], &value).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PutAndFirstLookup)->Arg(10)->Arg(1000)->Arg(100000);

// And if each write is followed by a read.
void BM_PutAndLookupInTurn(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  const DBOptions options;
  std::string value;
  for (auto _ : state) {
    batch.Clear();
    for (const std::string& key : keys) {
      if (!batch.Put(key, "v").ok()) std::abort();
      if (!batch.GetFromBatch(options, key, &value).ok()) std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PutAndLookupInTurn)->Arg(10)->Arg(1000)->Arg(100000);

void BM_Lookup(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  Fill(&batch, keys);
  const DBOptions options;
  std::string value;
  Random64 random(7);
  for (auto _ : state) {
    const std::string& key = keys[random.Uniform(keys.size())];
    if (!batch.GetFromBatch(options, key, &value).ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Lookup)->Arg(10)->Arg(1000)->Arg(100000)->Arg(1000000);

void BM_FirstWalk(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  for (auto _ : state) {
    batch.Clear();
    Fill(&batch, keys);
    const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
    for (it->SeekToFirst(); it->Valid(); it->Next()) benchmark::DoNotOptimize(it->Entry());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_FirstWalk)->Arg(10)->Arg(1000)->Arg(100000);

void BM_Step(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  Fill(&batch, keys);
  const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  for (auto _ : state) {
    it->Valid() ? it->Next() : it->SeekToFirst();
    benchmark::DoNotOptimize(it->Valid());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Step)->Arg(1000)->Arg(100000)->Arg(1000000);

// A write between each two steps: the place is found again.
void BM_StepAndPut(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys(state.range(0));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  Fill(&batch, keys);
  const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
  for (auto _ : state) {
    it->Valid() ? it->Next() : it->SeekToFirst();
    if (it->Valid() && !batch.Put(it->Entry().key, "v").ok()) std::abort();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_StepAndPut)->Arg(1000)->Arg(100000)->Iterations(1 << 20);

}  // namespace
}  // namespace ashlar
