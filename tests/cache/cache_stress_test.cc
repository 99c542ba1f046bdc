// SPDX-License-Identifier: Apache-2.0
//
// Many threads use one cache through both interfaces. Objects know whether they are alive, so that
// a use after free is detected without a sanitizer as well. At the end all charges must sum to
// zero.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/block_cache.h"
#include "cache/clock_cache.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 4000;
constexpr uint64_t kAlive = 0xa11fe;

void RunThreads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

std::shared_ptr<Cache> MakeSmallCache(bool is_strict) {
  LRUCacheOptions options(4000, /*shard bits*/ 1, is_strict, 0.5);
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  return options.MakeSharedCache();
}

struct Value {
  uint64_t key;
  std::atomic<uint64_t> life{kAlive};
  static std::atomic<int> live_count;

  explicit Value(uint64_t k) : key(k) { live_count.fetch_add(1); }
  ~Value() {
    life.store(0);
    live_count.fetch_sub(1);
  }
};
std::atomic<int> Value::live_count{0};

constexpr Cache::CacheItemHelper kValueHelper(CacheEntryRole::kMisc,
                                              [](Cache::ObjectPtr p, MemoryAllocator*) {
                                                delete static_cast<Value*>(p);
                                              });

void CheckValue(Cache* cache, Cache::Handle* handle, uint64_t key) {
  const auto* value = static_cast<const Value*>(cache->Value(handle));
  ASSERT_EQ(value->life.load(), kAlive);
  ASSERT_EQ(value->key, key);
}

// One random call through the public interface. Handles stay in `held` for a while.
void PublicStep(Cache* cache, Random64* random, std::vector<Cache::Handle*>* held) {
  const uint64_t number = random->Uniform(300);
  const std::string key = "key" + std::to_string(number);
  const size_t charge = 1 + number % 40;
  switch (random->Uniform(10)) {
    case 0: cache->Erase(key); break;
    case 1:
    case 2: {
      Cache::Handle* handle = nullptr;
      Value* const value = new Value(number);
      if (cache->Insert(key, value, &kValueHelper, charge, &handle).ok()) {
        held->push_back(handle);
      } else {
        delete value;
      }
      break;
    }
    case 3:
    case 4: ASSERT_OK(cache->Insert(key, new Value(number), &kValueHelper, charge)); break;
    default:
      if (Cache::Handle* handle = cache->Lookup(key)) {
        CheckValue(cache, handle, number);
        held->push_back(handle);
      }
  }
  while (held->size() > 5) {
    cache->Release(held->back(), /*erase_if_last_ref=*/random->OneIn(4));
    held->pop_back();
  }
}

class PublicStress : public testing::TestWithParam<bool> {};

TEST_P(PublicStress, HandlesStayValidAndChargesAddUp) {
  const std::shared_ptr<Cache> cache = MakeSmallCache(GetParam());
  RunThreads([&](int t) {
    Random64 random(t);
    std::vector<Cache::Handle*> held;
    for (int i = 0; i < kRounds; ++i) {
      PublicStep(cache.get(), &random, &held);
      if (t == 0 && i % 500 == 0) cache->SetCapacity(2000 + random.Uniform(4000));
      if (t == 1 && i % 700 == 0) cache->EraseUnRefEntries();
      if (GetParam() && i % 100 == 0) {
        EXPECT_LE(cache->GetUsage(), 8000u);
      }
    }
    for (Cache::Handle* handle : held) cache->Release(handle);
  });
  ClockCache::From(cache.get())->CheckInvariants();
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
  size_t sum = 0;
  cache->ApplyToAllEntries([&](const Slice&, Cache::ObjectPtr, size_t charge,
                               const Cache::CacheItemHelper*) { sum += charge; },
                           {});
  EXPECT_EQ(cache->GetUsage(), sum);
  cache->EraseUnRefEntries();
  EXPECT_EQ(cache->GetUsage(), 0u);
  EXPECT_EQ(cache->GetOccupancyCount(), 0u);
  EXPECT_EQ(Value::live_count, 0);
}

INSTANTIATE_TEST_SUITE_P(Capacities, PublicStress, testing::Bool(),
                         [](const auto& info) { return info.param ? "Strict" : "Soft"; });

struct StressBlock : CachedObject {
  explicit StressBlock(uint64_t k) : CachedObject(&DestroyAs<StressBlock>), number(k) {
    live_count.fetch_add(1);
  }
  ~StressBlock() {
    life.store(0);
    live_count.fetch_sub(1);
  }
  uint64_t number;
  std::atomic<uint64_t> life{kAlive};
  static std::atomic<int> live_count;
};
std::atomic<int> StressBlock::live_count{0};

void CheckBlock(const CachedObject* object, uint64_t number) {
  const auto* block = static_cast<const StressBlock*>(object);
  ASSERT_EQ(block->life.load(), kAlive);
  ASSERT_EQ(block->number, number);
}

// What a table reader does for a block: slot, cache, load, use; sometimes a reference is kept. A
// full cache may refuse the block.
void ReadBlock(BlockCacheView* view, SlotTable* table, uint64_t number,
               std::vector<CachedObject*>* held, std::atomic<int>* passed_by) {
  EpochGuard guard;
  CachedObject* object = table->Load(number);
  if (object != nullptr) {
    object->Touch();
  } else {
    object = view->Lookup({7, number}, table, static_cast<uint32_t>(number));
  }
  if (object == nullptr) {
    object = new StressBlock(number);
    const BlockInsertion insertion{.key = {7, number},
                                   .object = object,
                                   .charge = 1 + number % 40,
                                   .table = table,
                                   .slot_index = static_cast<uint32_t>(number)};
    if (number % 2 == 0 && view->PassBy(insertion)) {
      passed_by->fetch_add(1);
      held->push_back(object);
      return;
    }
    ASSERT_OK(view->Insert(insertion));
  }
  CheckBlock(object, number);
  if (number % 5 == 0 && object->TryRef()) held->push_back(object);
}

TEST(BlockStress, BlocksStayValidAndChargesAddUp) {
  constexpr uint64_t kBlocks = 400;
  const std::shared_ptr<Cache> cache = MakeSmallCache(/*is_strict=*/false);
  BlockCacheView view(cache);
  // Two readers of one file, so that blocks move between their slots.
  SlotTable* const tables[] = {SlotTable::Create(kBlocks), SlotTable::Create(kBlocks)};
  std::atomic<int> passed_by{0};
  RunThreads([&](int t) {
    Random64 random(50 + t);
    std::vector<CachedObject*> held;
    for (int i = 0; i < kRounds; ++i) {
      ReadBlock(&view, tables[t % 2], random.Uniform(kBlocks), &held, &passed_by);
      if (random.OneIn(50)) view.Erase({7, random.Uniform(kBlocks)});
      while (held.size() > 4) {
        CheckBlock(held.back(), static_cast<StressBlock*>(held.back())->number);
        held.back()->Unref();
        held.pop_back();
      }
    }
    for (CachedObject* object : held) object->Unref();
  });
  EXPECT_GT(passed_by, 0);
  ClockCache::From(cache.get())->CheckInvariants();
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
  cache->EraseUnRefEntries();
  EXPECT_EQ(cache->GetUsage(), 0u);
  for (SlotTable* table : tables) {
    EpochGuard guard;
    for (size_t i = 0; i < kBlocks; ++i) EXPECT_EQ(table->Load(i), nullptr);
    table->Retire();
  }
  EpochDrain();
  EXPECT_EQ(StressBlock::live_count, 0);
}

// Lookups of keys that always exist must find them while the table grows.
TEST(BlockStress, GrowthHidesNothing) {
  constexpr uint64_t kStable = 50;
  LRUCacheOptions options(size_t{1} << 30, 0, false, 0.5);
  BlockCacheView view(options.MakeSharedCache());
  for (uint64_t i = 0; i < kStable; ++i) {
    ASSERT_OK(view.Insert({.key = {1, i}, .object = new StressBlock(i), .charge = 1}));
  }
  std::atomic<bool> is_done{false};
  std::atomic<int> misses{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      Random64 random(t);
      while (!is_done) {
        EpochGuard guard;
        if (view.Lookup({1, random.Uniform(kStable)}) == nullptr) misses.fetch_add(1);
      }
    });
  }
  for (uint64_t i = 0; i < 20000; ++i) {
    ASSERT_OK(view.Insert({.key = {2, i}, .object = new StressBlock(i), .charge = 1}));
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(misses, 0);
}

}  // namespace
}  // namespace ashlar
