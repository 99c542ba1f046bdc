// SPDX-License-Identifier: Apache-2.0
//
// The built-in cache through the public Cache interface: what is found, what is charged, what is
// evicted, and when deleters run.
#include "cache/clock_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "tests/support/status_matchers.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// The values that the deleter has got.
std::vector<int>& Deleted() {
  static std::vector<int> deleted;
  return deleted;
}

void DeleteInt(Cache::ObjectPtr object, MemoryAllocator*) {
  int* const value = static_cast<int*>(object);
  Deleted().push_back(*value);
  delete value;
}
constexpr Cache::CacheItemHelper kIntHelper(CacheEntryRole::kMisc, &DeleteInt);

class ClockCacheTest : public testing::Test {
 protected:
  ClockCacheTest() { Deleted().clear(); }

  // One shard, and charges exactly as given.
  void Make(size_t capacity, bool is_strict = false, int shard_bits = 0) {
    LRUCacheOptions options(capacity, shard_bits, is_strict, 0.5);
    options.metadata_charge_policy = kDontChargeCacheMetadata;
    cache_ = options.MakeSharedCache();
  }
  Status Insert(const std::string& key, int value, size_t charge = 1,
                Cache::Priority priority = Cache::Priority::LOW) {
    return cache_->Insert(key, new int(value), &kIntHelper, charge, nullptr, priority);
  }
  Cache::Handle* InsertPinned(const std::string& key, int value, size_t charge = 1) {
    Cache::Handle* handle = nullptr;
    EXPECT_OK(cache_->Insert(key, new int(value), &kIntHelper, charge, &handle));
    return handle;
  }
  // Returns the value, or -1.
  int Lookup(const std::string& key) {
    Cache::Handle* const handle = cache_->Lookup(key);
    if (handle == nullptr) return -1;
    const int value = *static_cast<int*>(cache_->Value(handle));
    cache_->Release(handle);
    return value;
  }

  std::shared_ptr<Cache> cache_;
};

// A deleter may take long, do file I/O, or close a database, which waits for the end of epochs.
TEST_F(ClockCacheTest, DeletersRunOutsideOfEpochs) {
  static bool was_in_epoch;
  static constexpr Cache::CacheItemHelper kWatched(
      CacheEntryRole::kMisc, [](Cache::ObjectPtr object, MemoryAllocator* allocator) {
        was_in_epoch |= InEpoch();
        DeleteInt(object, allocator);
      });
  was_in_epoch = false;
  Make(2);
  const auto insert = [this](const std::string& key, int value) {
    Cache::Handle* handle = nullptr;
    EXPECT_OK(cache_->Insert(key, new int(value), &kWatched, 1, &handle));
    return handle;
  };
  Cache::Handle* handle = insert("erased first", 1);
  cache_->Erase("erased first");
  EXPECT_TRUE(cache_->Release(handle));
  EXPECT_TRUE(cache_->Release(insert("released for good", 2), /*erase_if_last_ref=*/true));
  handle = insert("too much", 3);
  cache_->SetCapacity(0);
  EXPECT_TRUE(cache_->Release(handle));
  EXPECT_EQ(Deleted(), (std::vector<int>{1, 2, 3}));
  EXPECT_FALSE(was_in_epoch);
}

TEST_F(ClockCacheTest, FindsWhatWasInserted) {
  Make(100);
  ASSERT_OK(Insert("a", 1));
  ASSERT_OK(Insert("a key that is long", 2));
  ASSERT_OK(Insert("sixteen-bytes-ky", 3));
  EXPECT_EQ(Lookup("a"), 1);
  EXPECT_EQ(Lookup("a key that is long"), 2);
  EXPECT_EQ(Lookup("sixteen-bytes-ky"), 3);
  EXPECT_EQ(Lookup("b"), -1);
  EXPECT_EQ(cache_->GetOccupancyCount(), 3u);
}

TEST_F(ClockCacheTest, ReplacesUnderTheSameKey) {
  Make(100);
  ASSERT_OK(Insert("a", 1, 10));
  ASSERT_OK(Insert("a", 2, 20));
  EXPECT_EQ(Lookup("a"), 2);
  EXPECT_EQ(Deleted(), std::vector<int>{1});
  EXPECT_EQ(cache_->GetUsage(), 20u);
}

TEST_F(ClockCacheTest, EraseDeletesAtOnce) {
  Make(100);
  ASSERT_OK(Insert("a", 1));
  cache_->Erase("a");
  cache_->Erase("never was");
  EXPECT_EQ(Lookup("a"), -1);
  EXPECT_EQ(Deleted(), std::vector<int>{1});
  EXPECT_EQ(cache_->GetUsage(), 0u);
}

TEST_F(ClockCacheTest, AHandleKeepsAnErasedEntryAliveAndCharged) {
  Make(100);
  Cache::Handle* const handle = InsertPinned("a", 1, 7);
  cache_->Erase("a");
  EXPECT_EQ(Lookup("a"), -1);
  EXPECT_TRUE(Deleted().empty());
  EXPECT_EQ(*static_cast<int*>(cache_->Value(handle)), 1);
  EXPECT_EQ(cache_->GetUsage(), 7u);
  EXPECT_EQ(cache_->GetPinnedUsage(), 7u);
  EXPECT_TRUE(cache_->Release(handle));
  EXPECT_EQ(Deleted(), std::vector<int>{1});
  EXPECT_EQ(cache_->GetUsage(), 0u);
}

TEST_F(ClockCacheTest, RefCountsHandles) {
  Make(100);
  Cache::Handle* const handle = InsertPinned("a", 1);
  EXPECT_TRUE(cache_->Ref(handle));
  cache_->Erase("a");
  EXPECT_FALSE(cache_->Release(handle));
  EXPECT_TRUE(cache_->Release(handle));
}

TEST_F(ClockCacheTest, ReleaseCanEraseTheLastReference) {
  Make(100);
  Cache::Handle* const handle = InsertPinned("a", 1);
  EXPECT_TRUE(cache_->Release(handle, /*erase_if_last_ref=*/true));
  EXPECT_EQ(Lookup("a"), -1);
  EXPECT_EQ(Deleted().size(), 1u);
}

TEST_F(ClockCacheTest, UsageIsTheSumOfCharges) {
  Make(1000, false, 2);
  size_t sum = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(Insert("key" + std::to_string(i), i, static_cast<size_t>(i)));
    sum += static_cast<size_t>(i);
  }
  EXPECT_EQ(cache_->GetUsage(), sum);
  cache_->Erase("key7");
  EXPECT_EQ(cache_->GetUsage(), sum - 7);
}

TEST_F(ClockCacheTest, ChargesItsOwnBookkeepingIfAsked) {
  cache_ = NewLRUCache(10000, 0);
  Cache::Handle* const handle = InsertPinned("a", 1, 100);
  EXPECT_EQ(cache_->GetCharge(handle), 100u);
  EXPECT_GT(cache_->GetUsage(handle), 100u);
  EXPECT_EQ(cache_->GetUsage(), cache_->GetUsage(handle));
  cache_->Release(handle);
}

TEST_F(ClockCacheTest, StaysWithinItsCapacity) {
  Make(100);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(Insert(std::to_string(i), i, 1 + static_cast<size_t>(i) % 9));
    EXPECT_LE(cache_->GetUsage(), 100u);
  }
  EXPECT_EQ(Deleted().size() + cache_->GetOccupancyCount(), 1000u);
}

TEST_F(ClockCacheTest, AScanDoesNotFlushWhatIsInUse) {
  Make(100);
  for (int i = 0; i < 50; ++i) ASSERT_OK(Insert("hot" + std::to_string(i), i));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Lookup("hot" + std::to_string(i)), i);
  for (int i = 0; i < 10000; ++i) ASSERT_OK(Insert("scan" + std::to_string(i), i));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Lookup("hot" + std::to_string(i)), i);
}

TEST_F(ClockCacheTest, WhatWasUsedStaysLongerThanWhatWasNot) {
  Make(10);
  for (int i = 0; i < 10; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  EXPECT_EQ(Lookup("3"), 3);
  for (int i = 10; i < 19; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  EXPECT_EQ(Lookup("3"), 3);
  EXPECT_EQ(Lookup("4"), -1);
}

TEST_F(ClockCacheTest, EachUseUpToThreeKeepsForARound) {
  Make(10);
  const auto insert = [&](const std::string& key) {
    ASSERT_OK(Insert(key, 1, 1, Cache::Priority::HIGH));  // no probation
  };
  insert("often");
  for (int i = 0; i < 9; ++i) insert("old" + std::to_string(i));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Lookup("often"), 1);
  for (int i = 0; i < 9; ++i) insert("new" + std::to_string(i));
  // All the other entries, which were used less, were evicted before it.
  EXPECT_EQ(Lookup("old8"), -1);
  for (int i = 0; i < 30; ++i) insert("newer" + std::to_string(i));
  EXPECT_EQ(Lookup("often"), -1);  // it was not used since
}

TEST_F(ClockCacheTest, WhoComesBackSoonSkipsProbation) {
  Make(100);
  ASSERT_OK(Insert("back", 0));
  for (int i = 0; i < 100; ++i) ASSERT_OK(Insert("x" + std::to_string(i), i));
  ASSERT_EQ(Lookup("back"), -1);
  ASSERT_OK(Insert("back", 1));
  // It is alone in the main queue, and stays longer than any number of entries on probation.
  for (int i = 0; i < 5000; ++i) ASSERT_OK(Insert("y" + std::to_string(i), i));
  EXPECT_EQ(Lookup("back"), 1);
}

TEST_F(ClockCacheTest, HighPriorityOutlivesAScan) {
  Make(100);
  ASSERT_OK(Insert("index", 1, 1, Cache::Priority::HIGH));
  for (int i = 0; i < 5000; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  EXPECT_EQ(Lookup("index"), 1);
}

TEST_F(ClockCacheTest, ReferencedEntriesAreNotEvicted) {
  Make(10);
  Cache::Handle* const handle = InsertPinned("pinned", 1, 5);
  for (int i = 0; i < 100; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  EXPECT_EQ(Lookup("pinned"), 1);
  EXPECT_EQ(cache_->GetPinnedUsage(), 5u);
  cache_->Release(handle);
  EXPECT_EQ(cache_->GetPinnedUsage(), 0u);
}

TEST_F(ClockCacheTest, ASoftCapacityGivesWayToPinnedEntries) {
  Make(10);
  std::vector<Cache::Handle*> handles;
  for (int i = 0; i < 15; ++i) handles.push_back(InsertPinned(std::to_string(i), i));
  EXPECT_EQ(cache_->GetUsage(), 15u);
  for (Cache::Handle* handle : handles) cache_->Release(handle);
  EXPECT_LE(cache_->GetUsage(), 10u);
}

TEST_F(ClockCacheTest, AStrictCapacityRefusesPinnedEntries) {
  Make(10, /*is_strict=*/true);
  std::vector<Cache::Handle*> handles;
  for (int i = 0; i < 10; ++i) handles.push_back(InsertPinned(std::to_string(i), i));
  int value = 42;
  Cache::Handle* handle = handles[0];
  const Status status = cache_->Insert("more", &value, &kIntHelper, 1, &handle);
  EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  EXPECT_EQ(handle, nullptr);
  EXPECT_TRUE(Deleted().empty());  // the value is still the caller's
  EXPECT_EQ(cache_->GetUsage(), 10u);
  // Without a handle the entry counts as evicted at once.
  ASSERT_OK(Insert("more", 43));
  EXPECT_EQ(Deleted(), std::vector<int>{43});
  for (Cache::Handle* h : handles) cache_->Release(h);
  ASSERT_OK(Insert("more", 44));
  EXPECT_EQ(Lookup("more"), 44);
}

TEST_F(ClockCacheTest, CapacityZeroKeepsOnlyWhatIsReferenced) {
  Make(0);
  ASSERT_OK(Insert("a", 1));
  EXPECT_EQ(Lookup("a"), -1);
  Cache::Handle* const handle = InsertPinned("b", 2);
  EXPECT_EQ(Lookup("b"), 2);
  EXPECT_TRUE(cache_->Release(handle));
  EXPECT_EQ(Lookup("b"), -1);
}

TEST_F(ClockCacheTest, AnEntryLargerThanTheCapacityFlushesNothing) {
  Make(10);
  for (int i = 0; i < 10; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  ASSERT_OK(Insert("huge", 99, 11));
  EXPECT_EQ(Lookup("huge"), -1);
  EXPECT_EQ(cache_->GetOccupancyCount(), 10u);
}

TEST_F(ClockCacheTest, ASmallerCapacityEvictsAtOnce) {
  Make(100);
  for (int i = 0; i < 100; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  cache_->SetCapacity(30);
  EXPECT_EQ(cache_->GetCapacity(), 30u);
  EXPECT_EQ(cache_->GetUsage(), 30u);
  EXPECT_EQ(Deleted().size(), 70u);
}

TEST_F(ClockCacheTest, WhatIsHeldBeyondTheCapacityIsNotFilled) {
  constexpr size_t kMiB = 1 << 20;
  Make(64 * kMiB, /*is_strict=*/false, /*shard_bits=*/1);
  ClockCache* const clock = ClockCache::From(cache_.get());
  const auto usage_when_full = [&] {
    for (int i = 0; i < 1000; ++i) EXPECT_OK(Insert(std::to_string(i), i, kMiB / 4));
    return cache_->GetUsage() / kMiB;
  };
  const auto follow = [&](size_t held, int times) {
    for (int i = 0; i < times; ++i) clock->FollowHeld(held);
  };
  EXPECT_EQ(usage_when_full(), 64u);
  follow(66 * kMiB, 6 * 16);
  EXPECT_EQ(cache_->GetUsage(), 58 * kMiB) << "a sixteenth of a megabyte each time";
  EXPECT_EQ(cache_->GetCapacity(), 64 * kMiB);
  EXPECT_EQ(usage_when_full(), 58u);
  follow(64 * kMiB, 100);
  EXPECT_EQ(usage_when_full(), 58u) << "it is what it may be";
  follow(66 * kMiB, 40 * 16);
  EXPECT_EQ(usage_when_full(), 56u) << "an eighth of the capacity, at most";
  follow(62 * kMiB, 3 * 16);
  EXPECT_EQ(usage_when_full(), 59u);
  follow(0, 40 * 16);
  EXPECT_EQ(usage_when_full(), 64u);
  follow(66 * kMiB, 8 * 16);
  cache_->SetCapacity(128 * kMiB);
  EXPECT_EQ(usage_when_full(), 120u);
  cache_->SetCapacity(32 * kMiB);
  follow(66 * kMiB, 2);
  EXPECT_EQ(usage_when_full(), 32u) << "of a small cache nothing";
}

TEST_F(ClockCacheTest, EraseUnRefEntriesSparesReferencedOnes) {
  Make(100);
  Cache::Handle* const handle = InsertPinned("pinned", 1);
  ASSERT_OK(Insert("a", 2));
  cache_->EraseUnRefEntries();
  EXPECT_EQ(Lookup("a"), -1);
  EXPECT_EQ(Lookup("pinned"), 1);
  cache_->Release(handle);
}

TEST_F(ClockCacheTest, StandaloneEntriesAreChargedButNotFound) {
  Make(10, /*is_strict=*/true);
  Cache::Handle* const first =
      cache_->CreateStandalone("s", new int(1), &kIntHelper, 8, /*allow_uncharged=*/false);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(cache_->GetUsage(), 8u);
  EXPECT_EQ(Lookup("s"), -1);
  int value = 2;
  EXPECT_EQ(cache_->CreateStandalone("t", &value, &kIntHelper, 8, false), nullptr);
  Cache::Handle* const uncharged =
      cache_->CreateStandalone("t", new int(3), &kIntHelper, 8, /*allow_uncharged=*/true);
  ASSERT_NE(uncharged, nullptr);
  EXPECT_EQ(cache_->GetUsage(), 8u);
  EXPECT_TRUE(cache_->Release(uncharged));
  EXPECT_TRUE(cache_->Release(first));
  EXPECT_EQ(cache_->GetUsage(), 0u);
  EXPECT_EQ(Deleted(), (std::vector<int>{3, 1}));
}

TEST_F(ClockCacheTest, ApplyToAllEntriesSeesEachOnce) {
  Make(1 << 20, false, 2);
  std::vector<bool> seen(3000);
  for (int i = 0; i < 3000; ++i) ASSERT_OK(Insert("key" + std::to_string(i), i, 5));
  Cache::ApplyToAllEntriesOptions options;
  options.average_entries_per_lock = 10;
  cache_->ApplyToAllEntries(
      [&](const Slice& key, Cache::ObjectPtr object, size_t charge,
          const Cache::CacheItemHelper* helper) {
        const int value = *static_cast<int*>(object);
        EXPECT_EQ(key.ToString(), "key" + std::to_string(value));
        EXPECT_EQ(charge, 5u);
        EXPECT_EQ(helper, &kIntHelper);
        EXPECT_FALSE(seen[value]);
        seen[value] = true;
      },
      options);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 3000);
}

TEST_F(ClockCacheTest, TheEvictionCallbackMayTakeTheObject) {
  Make(2);
  int* taken = nullptr;
  cache_->SetEvictionCallback([&](const Slice& key, Cache::Handle* handle, bool was_hit) {
    EXPECT_EQ(key.ToString(), "a");
    EXPECT_FALSE(was_hit);
    taken = static_cast<int*>(cache_->Value(handle));
    return true;
  });
  ASSERT_OK(Insert("a", 7, 2));
  ASSERT_OK(Insert("b", 8, 2));
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 7);
  EXPECT_TRUE(Deleted().empty());
  delete taken;
  cache_->SetEvictionCallback(nullptr);
}

TEST_F(ClockCacheTest, DeletesItsEntriesWhenItEnds) {
  Make(100);
  for (int i = 0; i < 10; ++i) ASSERT_OK(Insert(std::to_string(i), i));
  cache_.reset();
  EXPECT_EQ(Deleted().size(), 10u);
}

TEST_F(ClockCacheTest, DescribesWhatItsShardsHold) {
  Make(100, /*is_strict=*/true);
  ClockCache* const cache = ClockCache::From(cache_.get());
  const std::string name = cache_->Name();
  EXPECT_EQ(cache->DebugString(), name + ": usage 0 of 100, 0 entries in 1 shards\n");
  ASSERT_OK(Insert("a", 1, 3));
  ASSERT_OK(Insert("b", 2, 4, Cache::Priority::HIGH));
  EXPECT_EQ(cache->DebugString(),
            name +
                ": usage 7 of 100, 2 entries in 1 shards\n"
                "shard 0: usage 7 of 100 (strict); probation 1 entries, 3 bytes; main 1 entries, 4 "
                "bytes; buckets 64\n");
  cache->CheckInvariants();
}

// A charge that changes while the entry is in the cache is detected.
TEST_F(ClockCacheTest, StopsWhenAChargeIsNotWhatWasCounted) {
  Make(100);
  Cache::Handle* const handle = InsertPinned("a", 1, 3);
  CachedObject* const object = reinterpret_cast<CachedObject*>(handle);
  object->charge = 2;
  EXPECT_DEATH(ClockCache::From(cache_.get())->CheckInvariants(), "");
  object->charge = 3;
  ClockCache::From(cache_.get())->CheckInvariants();
  cache_->Release(handle);
}

TEST_F(ClockCacheTest, IdsAreUnique) {
  Make(100);
  const uint64_t id = cache_->NewId();
  EXPECT_NE(cache_->NewId(), id);
}

}  // namespace
}  // namespace ashlar
