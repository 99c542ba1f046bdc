// SPDX-License-Identifier: Apache-2.0
//
// The limit of memtables that databases share: when to flush, when to stall, and what is charged to
// the cache.
#include "ashlar/write_buffer_manager.h"

#include <gtest/gtest.h>

#include "ashlar/advanced_cache.h"
#include "ashlar/cache.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr size_t kMiB = 1 << 20;

class CountingStall final : public StallInterface {
 public:
  void Block() override {}
  void Signal() override { ++signals; }
  int signals = 0;
};

TEST(WriteBufferManager, WithoutALimitItOnlyCounts) {
  WriteBufferManager manager(0);
  manager.ReserveMem(100 * kMiB);
  EXPECT_FALSE(manager.enabled());
  EXPECT_FALSE(manager.ShouldFlush());
  EXPECT_EQ(manager.memory_usage(), 100 * kMiB);
  manager.ScheduleFreeMem(100 * kMiB);
  manager.FreeMem(100 * kMiB);
}

TEST(WriteBufferManager, FlushesAtSevenEighthsOfTheLimit) {
  WriteBufferManager manager(8 * kMiB);
  manager.ReserveMem(7 * kMiB);
  EXPECT_FALSE(manager.ShouldFlush());
  manager.ReserveMem(1);
  EXPECT_TRUE(manager.ShouldFlush());
  manager.ScheduleFreeMem(7 * kMiB + 1);
  EXPECT_FALSE(manager.ShouldFlush());
  EXPECT_EQ(manager.mutable_memtable_memory_usage(), 0u);
}

TEST(WriteBufferManager, FlushesOverTheLimitOnlyIfEnoughCanBeFreed) {
  WriteBufferManager manager(8 * kMiB);
  manager.ReserveMem(10 * kMiB);
  manager.ScheduleFreeMem(5 * kMiB);
  EXPECT_TRUE(manager.ShouldFlush());
  manager.ScheduleFreeMem(2 * kMiB);
  EXPECT_FALSE(manager.ShouldFlush());
}

// The charge is not reduced at once, because the memory is needed again after the next flush.
TEST(WriteBufferManager, TheCacheIsChargedWhatIsUsedAtMost) {
  const auto cache = NewLRUCache(64 * kMiB);
  WriteBufferManager manager(32 * kMiB, cache);
  const auto free = [&](size_t bytes) {
    manager.ScheduleFreeMem(bytes);
    manager.FreeMem(bytes);
  };
  manager.ReserveMem(8 * kMiB);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 8 * kMiB);
  EXPECT_GE(cache->GetPinnedUsage(), 8 * kMiB);
  free(6 * kMiB);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 8 * kMiB);

  // Smaller memtables from now on. This is noticed after two periods of four times the charge.
  for (int i = 0; i < 20; i++) {
    manager.ReserveMem(2 * kMiB);
    free(2 * kMiB);
    if (i == 12) {
      EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 8 * kMiB);
    }
  }
  for (int i = 0; i < 20; i++) {
    manager.ReserveMem(2 * kMiB);
    free(2 * kMiB);
  }
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 4 * kMiB);

  free(2 * kMiB);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 0u);
  EXPECT_EQ(cache->GetPinnedUsage(), 0u);
}

// An eviction may run what waits in epochs, including the end of a memtable.
TEST(WriteBufferManager, MemoryIsFreedWhileTheCacheIsCharged) {
  static const Cache::CacheItemHelper kFrees(
      CacheEntryRole::kMisc, [](Cache::ObjectPtr object, MemoryAllocator* /*allocator*/) {
        auto* const manager = static_cast<WriteBufferManager*>(object);
        manager->ScheduleFreeMem(5 * kMiB);
        manager->FreeMem(5 * kMiB);
      });
  const auto cache = NewLRUCache(8 * kMiB, 0);
  WriteBufferManager manager(32 * kMiB, cache);
  manager.ReserveMem(3 * kMiB);
  ASSERT_OK(cache->Insert("memtable", &manager, &kFrees, 4 * kMiB));
  manager.ReserveMem(2 * kMiB);
  EXPECT_EQ(manager.memory_usage(), 0u) << "evicted, and all went with it";
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 0u);
}

TEST(WriteBufferManager, StallsUntilMemoryIsFreed) {
  WriteBufferManager manager(8 * kMiB, nullptr, /*allow_stall=*/true);
  CountingStall stall;
  manager.ReserveMem(8 * kMiB);
  manager.ScheduleFreeMem(kMiB);
  ASSERT_TRUE(manager.ShouldStall());
  manager.BeginWriteStall(&stall);
  EXPECT_TRUE(manager.IsStallActive());
  EXPECT_EQ(stall.signals, 0);
  manager.FreeMem(kMiB);
  EXPECT_EQ(stall.signals, 1);
  EXPECT_FALSE(manager.IsStallActive());
}

TEST(WriteBufferManager, NobodyWaitsForMemoryThatNobodyIsAboutToFree) {
  WriteBufferManager manager(8 * kMiB, nullptr, /*allow_stall=*/true);
  CountingStall early, late;
  manager.ReserveMem(12 * kMiB);
  manager.ScheduleFreeMem(kMiB);
  manager.BeginWriteStall(&early);
  EXPECT_EQ(early.signals, 0);
  manager.FreeMem(kMiB);  // the limit is exceeded still
  EXPECT_EQ(early.signals, 1);
  manager.BeginWriteStall(&late);
  EXPECT_EQ(late.signals, 1);
  EXPECT_FALSE(manager.IsStallActive());
}

TEST(WriteBufferManager, AStallThatIsOverAlreadyIsSignalledAtOnce) {
  WriteBufferManager manager(8 * kMiB, nullptr, /*allow_stall=*/true);
  CountingStall stall;
  manager.BeginWriteStall(&stall);
  EXPECT_EQ(stall.signals, 1);
}

TEST(WriteBufferManager, RaisingTheLimitEndsTheStall) {
  WriteBufferManager manager(kMiB, nullptr, /*allow_stall=*/true);
  CountingStall stall;
  manager.ReserveMem(2 * kMiB);
  manager.ScheduleFreeMem(2 * kMiB);
  manager.BeginWriteStall(&stall);
  EXPECT_EQ(stall.signals, 0);
  manager.SetBufferSize(4 * kMiB);
  EXPECT_EQ(stall.signals, 1);
}

}  // namespace
}  // namespace ashlar
