// SPDX-License-Identifier: Apache-2.0
//
// The arena, the memtable's tree and the log when an allocation fails: each reports it once, holds
// no lock afterwards, and its contents are unchanged or complete.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "ashlar/advanced_cache.h"
#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/write_buffer_manager.h"
#include "db/wal/wal_sink.h"
#include "env/memory/memory_file_system.h"
#include "memtable/blink_tree.h"
#include "tests/fault/allocation_hook.h"
#include "tests/support/status_matchers.h"
#include "tests/support/suite.h"
#include "util/memory/arena.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Small pieces, for which the arena tries its own lock, and large ones.
TEST(ArenaFaults, AFailedAllocationLeavesNoLockTaken) {
  for (const size_t bytes : {size_t{64}, size_t{4096}}) {
    BeginCase("arena, pieces of " + std::to_string(bytes) + " bytes");
    ConcurrentArena arena(64 << 10);
    uint64_t countdown = 0;  // the first one fails
    {
      AllocationFault fault(&countdown);
      EXPECT_THROW(arena.Allocate(bytes), std::bad_alloc);
    }
    // If it hangs in the spin lock, the suite's watchdog ends it.
    EXPECT_NE(arena.Allocate(bytes), nullptr);
    EXPECT_NE(arena.AllocateAligned(bytes), nullptr);
    EndCases();
  }
}

// A destructor cannot report an error: the blocks go back to the system.
TEST(ArenaFaults, BlocksThatCannotBeKeptAreReleased) {
  if (kHeapIsWatched) GTEST_SKIP() << "sanitizers watch memory that is freed";
  BeginCase("arena, spare blocks");
  const auto spare = std::make_shared<SpareBlocks>();
  const BlockSource source{.spare = spare, .limit_bytes = 64 << 20};
  const auto fill = [&] {
    auto arena = std::make_unique<Arena>(SpareBlocks::kBlockBytes, source);
    for (int i = 0; i < 1000; ++i) arena->Allocate(8 << 10);
    return arena;
  };
  std::unique_ptr<Arena> arena = fill();
  {
    uint64_t countdown = 0;
    AllocationFault fault(&countdown);
    arena.reset();
  }
  EXPECT_EQ(spare->bytes(), 0u);
  fill().reset();
  EXPECT_GT(spare->bytes(), 0u);
  EndCases();
}

// Allocations fail for entries, for leaves and for the nodes above. Levels that could not be
// completed only cost steps.
TEST(BlinkTreeFaults, AFailedAllocationChangesNothing) {
  for (const uint32_t fanout : {uint32_t{3}, BlinkTree::kMaxFanout}) {
    BeginCase("tree of fanout " + std::to_string(fanout));
    ConcurrentArena arena(4096);
    BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena, fanout);
    std::map<std::string, std::string> model;
    Random64 random(11);
    int failures = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::string key = std::to_string(random.Uniform(1000000));
      const std::string value(random.Uniform(300), 'v');
      uint64_t countdown = random.Uniform(3);
      bool is_inserted = false;
      try {
        AllocationFault fault(&countdown);
        is_inserted = tree.Insert(tree.At(key, 256), value, random.OneIn(2));
      } catch (const std::bad_alloc&) {
        ++failures;
        ASSERT_EQ(tree.Find(tree.At(key, 256)).entry != nullptr, model.contains(key));
        continue;
      }
      ASSERT_EQ(is_inserted, model.emplace(key, value).second);
    }
    EXPECT_GT(failures, 50);
    BlinkTree::Window window;
    tree.SeekToFirst(&window);
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(window.IsValid());
      ASSERT_EQ(window.entries[window.index]->user_key(), key);
      ASSERT_EQ(window.entries[window.index]->value(), value);
      ASSERT_NE(tree.Find(tree.At(key, 256)).entry, nullptr);
      tree.Next(&window);
    }
    EXPECT_FALSE(window.IsValid());
    tree.CheckInvariants();
    EndCases();
  }
}

// The second allocation of an insertion, if there is one, is that of a larger table.
TEST(CacheFaults, AnInsertionNeedsNoLargerTable) {
  BeginCase("cache, larger table");
  static constexpr Cache::CacheItemHelper kNumber(
      CacheEntryRole::kMisc,
      [](Cache::ObjectPtr object, MemoryAllocator*) { ++*static_cast<int*>(object); });
  int failures = 0, deleted = 0;
  {
    const std::shared_ptr<Cache> cache = NewLRUCache(200 * 1024, 0);
    for (int i = 0; i < 400; ++i) {
      const std::string key = "key " + std::to_string(i);
      uint64_t countdown = 1;
      const AllocationFault fault(&countdown);
      ASSERT_OK(cache->Insert(key, &deleted, &kNumber, 1024));
      if (countdown == UINT64_MAX) ++failures;
    }
    EXPECT_GT(failures, 0);
    EXPECT_GT(deleted, 0) << "some were evicted";
    const std::string key = "key 399";
    ASSERT_OK(cache->Insert(key, &deleted, &kNumber, 1024));  // now there is memory
    Cache::Handle* const handle = cache->Lookup(key);
    ASSERT_NE(handle, nullptr);
    cache->Release(handle);
  }
  EXPECT_EQ(deleted, 401);
  EndCases();
}

// A memtable that cannot be charged is counted, and can give its memory back.
TEST(CacheFaults, MemoryThatCannotBeChargedIsCounted) {
  constexpr size_t kBytes = 1 << 20;
  for (uint64_t which = 0; which < 8; ++which) {
    BeginCase("allocation " + std::to_string(which) + " of a charge");
    WriteBufferManager manager(64 << 20, NewLRUCache(16 << 20, 0));
    {
      uint64_t countdown = which;
      const AllocationFault fault(&countdown);
      EXPECT_NO_THROW(manager.ReserveMem(kBytes));
    }
    EXPECT_EQ(manager.memory_usage(), kBytes);
    {
      uint64_t countdown = 0;  // if the charge is too small, it tries again
      const AllocationFault fault(&countdown);
      EXPECT_NO_THROW(manager.ScheduleFreeMem(kBytes / 2));
      EXPECT_NO_THROW(manager.FreeMem(kBytes / 2));
    }
    EXPECT_EQ(manager.memory_usage(), kBytes / 2);
    manager.ReserveMem(kBytes / 2);
    EXPECT_GE(manager.dummy_entries_in_cache_usage(), kBytes);
    manager.ScheduleFreeMem(kBytes);
    manager.FreeMem(kBytes);
    EXPECT_EQ(manager.memory_usage(), 0u);
    EXPECT_EQ(manager.mutable_memtable_memory_usage(), 0u);
    EndCases();
  }
}

// Each allocation fails once. If that is before the position is assigned, nothing has changed.
TEST(WalFaults, AFailedAllocationInASpecialRecordDoesNotBlockClose) {
  int failed_logs = 0;
  for (uint64_t which = 0; which < 20; ++which) {
    BeginCase("allocation " + std::to_string(which) + " of a special record");
    MemoryFileSystem files;
    WalSinkOptions options;
    options.fs = &files;
    options.path = "/000007.log";
    options.log_number = 7;
    options.preallocate_bytes = 0;
    auto opened = OpenWalSink(options);
    ASSERT_OK(opened.status());
    const std::unique_ptr<WalSink> sink = opened.Take();
    const std::string payload(4000, 'p');
    std::optional<Status> added;  // nullopt: out of memory before the position was assigned
    uint64_t countdown = which;
    try {
      const AllocationFault fault(&countdown);
      added = sink->AddSpecialRecord(LogRecordType::kPredecessorInfo, payload);
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(sink->size(), 0u);
    }
    // If it waits for the position forever, the suite's watchdog ends it.
    const Status closed = sink->Close();
    if (added.has_value() && !added->ok()) {
      ++failed_logs;
      EXPECT_TRUE(added->IsMemoryLimit()) << added->ToString();
      EXPECT_FALSE(closed.ok());
    } else {
      EXPECT_OK(closed);
    }
    EndCases();
  }
  EXPECT_GT(failed_logs, 0);
}

}  // namespace
}  // namespace ashlar
