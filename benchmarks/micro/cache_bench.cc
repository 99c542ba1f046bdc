// SPDX-License-Identifier: Apache-2.0
//
// The block cache: a hit through a slot, through the table, with a reference, and through the
// public interface; and an insertion that evicts a block.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>

#include "cache/block_cache.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr uint64_t kBlocks = 100000;
constexpr size_t kCharge = 4096;

struct Block : CachedObject {
  Block() : CachedObject(&DestroyAs<Block>) {}
  uint64_t payload = 1;
};

// A cache that holds every block, shared by the threads of a benchmark.
struct Filled {
  Filled() : view(HyperClockCacheOptions(2 * kBlocks * kCharge).MakeSharedCache()) {
    for (uint32_t i = 0; i < kBlocks; ++i) {
      const Status status = view.Insert(
          {.key = {1, i}, .object = new Block, .charge = kCharge, .table = table, .slot_index = i});
      if (!status.ok()) std::abort();
    }
  }
  SlotTable* const table = SlotTable::Create(kBlocks);
  BlockCacheView view;
};

Filled& SharedFilledCache() {
  static Filled& filled = *new Filled;
  return filled;
}

template <typename Hit>
void RunHits(benchmark::State& state, Hit hit) {
  Filled& filled = SharedFilledCache();
  Random64 random(static_cast<uint64_t>(state.thread_index()));
  uint64_t sum = 0;
  for (auto _ : state) sum += hit(filled, random.Uniform(kBlocks));
  benchmark::DoNotOptimize(sum);
}

void BM_HitThroughSlot(benchmark::State& state) {
  RunHits(state, [](Filled& filled, uint64_t i) {
    EpochGuard guard;
    CachedObject* const object = filled.table->Load(i);
    object->Touch();
    return static_cast<Block*>(object)->payload;
  });
}
BENCHMARK(BM_HitThroughSlot)->Threads(1)->Threads(2);

void BM_HitThroughTable(benchmark::State& state) {
  RunHits(state, [](Filled& filled, uint64_t i) {
    EpochGuard guard;
    return static_cast<Block*>(filled.view.Lookup({1, i}))->payload;
  });
}
BENCHMARK(BM_HitThroughTable)->Threads(1)->Threads(2);

void BM_HitWithReference(benchmark::State& state) {
  RunHits(state, [](Filled& filled, uint64_t i) {
    CachedObject* const object = filled.view.LookupRef({1, i});
    const uint64_t payload = static_cast<Block*>(object)->payload;
    object->Unref();
    return payload;
  });
}
BENCHMARK(BM_HitWithReference)->Threads(1)->Threads(2);

void BM_HitThroughPublicInterface(benchmark::State& state) {
  RunHits(state, [](Filled& filled, uint64_t i) {
    const BlockKey key{1, i};
    Cache* const cache = filled.view.cache();
    Cache::Handle* const handle =
        cache->Lookup(Slice(reinterpret_cast<const char*>(&key), sizeof(key)));
    const uint64_t payload = static_cast<Block*>(cache->Value(handle))->payload;
    cache->Release(handle);
    return payload;
  });
}
BENCHMARK(BM_HitThroughPublicInterface)->Threads(1)->Threads(2);

void BM_InsertThatEvicts(benchmark::State& state) {
  static BlockCacheView& view =
      *new BlockCacheView(HyperClockCacheOptions(1000 * kCharge).MakeSharedCache());
  uint64_t i = static_cast<uint64_t>(state.thread_index()) << 40;
  for (auto _ : state) {
    EpochGuard guard;
    const Status status = view.Insert({.key = {1, i++}, .object = new Block, .charge = kCharge});
    if (!status.ok()) state.SkipWithError("insertion failed");
  }
}
BENCHMARK(BM_InsertThatEvicts)->Threads(1)->Threads(2);

}  // namespace
}  // namespace ashlar
