// SPDX-License-Identifier: Apache-2.0
//
// The block cache as table readers use it: objects found within an epoch, slots and charges; with
// the built-in cache and with a cache of the program.
#include "cache/block_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "cache/clock_cache.h"
#include "tests/support/retired_call.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

std::atomic<int> live_blocks{0};

struct Block : CachedObject {
  explicit Block(int v) : CachedObject(&DestroyAs<Block>), value(v) { live_blocks.fetch_add(1); }
  ~Block() { live_blocks.fetch_sub(1); }
  int value;
};

// To the view this looks like a cache of the program.
class ForeignCache : public CacheWrapper {
 public:
  using CacheWrapper::CacheWrapper;
  const char* Name() const override { return "ForeignCache"; }
};

// A cache of the program that evicts, and calls deleters, under a lock that must not be taken
// twice.
class LockingCache : public CacheWrapper {
 public:
  using CacheWrapper::CacheWrapper;
  const char* Name() const override { return "LockingCache"; }
  Status Insert(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed_val,
                CompressionType type) override {
    const Locked locked(&is_locked_);
    return CacheWrapper::Insert(key, obj, helper, charge, handle, priority, compressed_val, type);
  }
  void Erase(const Slice& key) override {
    const Locked locked(&is_locked_);
    CacheWrapper::Erase(key);
  }
  bool is_locked() const { return is_locked_; }

 private:
  struct Locked {
    explicit Locked(bool* flag) : is_locked(flag) { *is_locked = true; }
    ~Locked() { *is_locked = false; }
    bool* const is_locked;
  };
  bool is_locked_ = false;  // by the only thread of the test
};

enum class Kind { kBuiltIn, kForeign };

class BlockCacheTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { Make(1000); }
  void TearDown() override {
    view_.reset();
    EpochDrain();
    EXPECT_EQ(live_blocks, 0);
  }

  void Make(size_t capacity, bool is_strict = false) {
    LRUCacheOptions options(capacity, 0, is_strict, 0.5);
    options.metadata_charge_policy = kDontChargeCacheMetadata;
    std::shared_ptr<Cache> cache = options.MakeSharedCache();
    if (GetParam() == Kind::kForeign) cache = std::make_shared<ForeignCache>(cache);
    view_ = std::make_unique<BlockCacheView>(cache);
  }
  Status Insert(uint64_t offset, int value, size_t charge = 10, SlotTable* table = nullptr) {
    return view_->Insert({.key = {1, offset},
                          .object = new Block(value),
                          .charge = charge,
                          .table = table,
                          .slot_index = static_cast<uint32_t>(offset)});
  }
  int Lookup(uint64_t offset) {
    CachedObject* const object = view_->LookupRef({1, offset});
    if (object == nullptr) return -1;
    const int value = static_cast<const Block*>(object)->value;
    object->Unref();
    return value;
  }

  std::unique_ptr<BlockCacheView> view_;
};

TEST_P(BlockCacheTest, FindsBlocksByFileAndOffset) {
  ASSERT_OK(Insert(0, 7));
  ASSERT_OK(Insert(4096, 8));
  EXPECT_EQ(Lookup(0), 7);
  EXPECT_EQ(Lookup(4096), 8);
  EXPECT_EQ(Lookup(1), -1);
  EXPECT_EQ(view_->LookupRef({2, 0}), nullptr);
}

// What is retired besides blocks may call the cache when it is destroyed: a table reader gives back
// its charge.
TEST(BlockCacheLocks, NothingElseIsDestroyedUnderTheLockOfAProgramsCache) {
  EpochDrain();
  LRUCacheOptions options(1000, 0, false, 0.5);
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  const auto cache = std::make_shared<LockingCache>(options.MakeSharedCache());
  BlockCacheView view(cache);
  int destroyed = 0, destroyed_under_lock = 0;
  const auto insert = [&](uint64_t i) {
    ASSERT_OK(view.Insert({.key = {1, i}, .object = new Block(1), .charge = 10}));
  };
  for (int i = 0; i < 10; ++i) {
    RetireCall([&] {
      ++destroyed;
      destroyed_under_lock += cache->is_locked() ? 1 : 0;
    });
  }
  for (uint64_t i = 0; i < 1000; ++i) {
    insert(3 * i);  // evicts
    insert(3 * i + 1);
    view.Erase({1, 3 * i + 1});
    insert(3 * i + 2);
  }
  EXPECT_EQ(destroyed_under_lock, 0);
  EXPECT_EQ(destroyed, 10) << "after the cache has returned";
  for (uint64_t i = 0; i < 3000; ++i) view.Erase({1, i});
  EpochDrain();
  EXPECT_EQ(live_blocks, 0);
}

// A cache of the program must not be called within a guard, because it is foreign code.
TEST_P(BlockCacheTest, OnlyTheBuiltInCacheIsAskedInsideAGuard) {
  ASSERT_OK(Insert(0, 7));
  EpochGuard guard;
  EXPECT_EQ(view_->Lookup({1, 0}) != nullptr, GetParam() == Kind::kBuiltIn);
}

TEST_P(BlockCacheTest, AReferenceOutlivesTheGuard) {
  ASSERT_OK(Insert(0, 7));
  auto* const block = static_cast<Block*>(view_->LookupRef({1, 0}));
  ASSERT_NE(block, nullptr);
  view_->Erase({1, 0});
  EpochDrain();
  EXPECT_EQ(block->value, 7);
  block->Unref();
  EpochDrain();
  EXPECT_EQ(live_blocks, 0);
}

TEST_P(BlockCacheTest, ReplacesUnderTheSameKey) {
  ASSERT_OK(Insert(0, 7));
  ASSERT_OK(Insert(0, 8));
  EXPECT_EQ(Lookup(0), 8);
  EXPECT_EQ(view_->cache()->GetUsage(), 10u);
}

TEST_P(BlockCacheTest, ABlockWithoutRoomIsStillUsableInsideTheGuard) {
  Make(5);
  {
    EpochGuard guard;
    Block* const block = new Block(7);
    ASSERT_OK(view_->Insert({.key = {1, 0}, .object = block, .charge = 10}));
    EpochReclaim();
    EXPECT_EQ(block->value, 7);
    EXPECT_EQ(view_->Lookup({1, 0}), nullptr);
  }
  EXPECT_EQ(view_->cache()->GetUsage(), 0u);
}

TEST_P(BlockCacheTest, UsageIsTheSumOfCharges) {
  for (uint64_t i = 0; i < 30; ++i) ASSERT_OK(Insert(i, 1, i));
  EXPECT_EQ(view_->cache()->GetUsage(), 30u * 29 / 2);
  for (uint64_t i = 0; i < 30; ++i) view_->Erase({1, i});
  EXPECT_EQ(view_->cache()->GetUsage(), 0u);
}

TEST_P(BlockCacheTest, AProgramsOwnEntryIsNotTakenForABlock) {
  const BlockKey key{1, 99};
  const Slice bytes(reinterpret_cast<const char*>(&key), sizeof(key));
  static constexpr Cache::CacheItemHelper helper(CacheEntryRole::kDataBlock);
  int value = 5;
  ASSERT_OK(view_->cache()->Insert(bytes, &value, &helper, 1));
  EXPECT_EQ(view_->LookupRef(key), nullptr);
}

TEST_P(BlockCacheTest, BlocksAreListedWithTheirRole) {
  ASSERT_OK(view_->Insert(
      {.key = {3, 5}, .object = new Block(1), .charge = 10, .role = CacheEntryRole::kIndexBlock}));
  int count = 0;
  view_->cache()->ApplyToAllEntries(
      [&](const Slice& key, Cache::ObjectPtr, size_t charge, const Cache::CacheItemHelper* helper) {
        EXPECT_EQ(key.size(), 16u);
        EXPECT_EQ(charge, 10u);
        EXPECT_EQ(helper->role, CacheEntryRole::kIndexBlock);
        ++count;
      },
      {});
  EXPECT_EQ(count, 1);
}

INSTANTIATE_TEST_SUITE_P(Caches, BlockCacheTest, testing::Values(Kind::kBuiltIn, Kind::kForeign),
                         [](const auto& info) {
                           return info.param == Kind::kBuiltIn ? "BuiltIn" : "Foreign";
                         });

class SlotTest : public BlockCacheTest {
 protected:
  void SetUp() override {
    BlockCacheTest::SetUp();
    table_ = SlotTable::Create(200);
  }
  void TearDown() override {
    table_->Retire();
    BlockCacheTest::TearDown();
  }
  const CachedObject* InSlot(size_t i) {
    EpochGuard guard;
    return table_->Load(i);
  }

  SlotTable* table_ = nullptr;
};

TEST_P(SlotTest, AFoundBlockOutlivesItsEvictionUntilTheGuardEnds) {
  ASSERT_OK(Insert(0, 7));
  {
    EpochGuard guard;
    const auto* block = static_cast<const Block*>(view_->Lookup({1, 0}));
    ASSERT_NE(block, nullptr);
    view_->Erase({1, 0});
    EpochReclaim();
    EXPECT_EQ(block->value, 7);
    EXPECT_EQ(view_->Lookup({1, 0}), nullptr);
  }
  EpochDrain();
  EXPECT_EQ(live_blocks, 0);
}

TEST_P(SlotTest, ADyingBlockGivesNoReference) {
  ASSERT_OK(Insert(0, 7));
  EpochGuard guard;
  CachedObject* const block = view_->Lookup({1, 0});
  view_->Erase({1, 0});
  EXPECT_FALSE(block->TryRef());
}

TEST_P(SlotTest, InsertionFillsTheSlotAndErasureClearsIt) {
  ASSERT_TRUE(view_->UsesSlots());
  ASSERT_OK(Insert(3, 7, 10, table_));
  ASSERT_NE(InSlot(3), nullptr);
  EXPECT_EQ(static_cast<const Block*>(InSlot(3))->value, 7);
  view_->Erase({1, 3});
  EXPECT_EQ(InSlot(3), nullptr);
}

TEST_P(SlotTest, EvictionClearsSlots) {
  for (uint64_t i = 0; i < 200; ++i) ASSERT_OK(Insert(i, 1, 10, table_));
  size_t filled = 0;
  for (size_t i = 0; i < 200; ++i) {
    filled += InSlot(i) != nullptr;
    EXPECT_EQ(InSlot(i) != nullptr, Lookup(i) != -1) << i;
  }
  EXPECT_EQ(filled, 100u);
}

TEST_P(SlotTest, ATouchedBlockStaysThroughAScan) {
  ASSERT_OK(Insert(0, 7, 10, table_));
  {
    EpochGuard guard;
    table_->Load(0)->Touch();
  }
  for (uint64_t i = 1; i < 200; ++i) ASSERT_OK(Insert(i, 1, 10, table_));
  EXPECT_NE(InSlot(0), nullptr);
}

TEST_P(SlotTest, ReplacementPublishesTheNewBlock) {
  ASSERT_OK(Insert(0, 7, 10, table_));
  ASSERT_OK(Insert(0, 8, 10, table_));
  EXPECT_EQ(static_cast<const Block*>(InSlot(0))->value, 8);
}

TEST_P(SlotTest, TheTableOfADeadReaderGoesBeforeItsBlocks) {
  ASSERT_OK(Insert(0, 7, 10, table_));
  EpochDrain();
  const size_t pending = EpochPendingCount();
  table_->Retire();
  EXPECT_EQ(EpochPendingCount(), pending + 1) << "the block does not keep it";
  EpochDrain();
  view_->Erase({1, 0});
  EpochDrain();
  table_ = SlotTable::Create(1);
}

TEST_P(SlotTest, AReopenedFileTakesItsBlocksOver) {
  ASSERT_OK(Insert(0, 7, 10, table_));
  SlotTable* const reopened = SlotTable::Create(10);
  {
    EpochGuard guard;
    CachedObject* const found = view_->Lookup({1, 0}, reopened, 4);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(reopened->Load(4), found);
    EXPECT_EQ(table_->Load(0), nullptr);
  }
  view_->Erase({1, 0});
  {
    EpochGuard guard;
    EXPECT_EQ(reopened->Load(4), nullptr);
  }
  reopened->Retire();
}

TEST_P(SlotTest, AStrictCapacityLeavesAReferencedBlockToItsMaker) {
  Make(5, /*is_strict=*/true);
  Block* const block = new Block(7);
  block->Ref();
  const Status status = view_->Insert(
      {.key = {1, 0}, .object = block, .charge = 10, .table = table_, .slot_index = 0});
  EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  EXPECT_EQ(InSlot(0), nullptr);
  EXPECT_EQ(block->value, 7);
  block->Unref();
  block->Unref();
}

TEST_P(SlotTest, AReferencedBlockIsAdmittedAboveASoftCapacity) {
  Make(5);
  Block* const other = new Block(6);
  other->Ref();
  ASSERT_OK(view_->Insert({.key = {2, 0}, .object = other, .charge = 5}));
  Block* const block = new Block(7);
  block->Ref();
  ASSERT_OK(view_->Insert({.key = {1, 0}, .object = block, .charge = 5, .table = table_}));
  EXPECT_EQ(view_->cache()->GetUsage(), 10u);
  EXPECT_EQ(view_->cache()->GetPinnedUsage(), 10u);
  EXPECT_EQ(InSlot(0), block);
  view_->Erase({1, 0});
  EXPECT_EQ(view_->cache()->GetUsage(), 10u);
  block->Unref();
  EXPECT_EQ(view_->cache()->GetUsage(), 5u);
  other->Unref();
}

// Otherwise it would stay until the next block is inserted.
TEST_P(SlotTest, ABlockLargerThanTheCacheGoesWithItsLastUser) {
  Make(5);
  Block* const block = new Block(7);
  block->Ref();
  ASSERT_OK(view_->Insert({.key = {1, 0}, .object = block, .charge = 10, .table = table_}));
  EXPECT_EQ(view_->cache()->GetUsage(), 10u);
  EXPECT_EQ(InSlot(0), nullptr);
  EXPECT_EQ(block->value, 7);
  block->Unref();
  EXPECT_EQ(view_->cache()->GetUsage(), 0u);
}

// A block that is read once and is cheap to read again need not evict anything.
TEST_P(SlotTest, AFullCacheTakesInWhatComesBackSoon) {
  uint64_t next = 1000;
  const auto pass_by = [&](uint64_t offset, Block** held = nullptr) {
    Block* const block = new Block(1);
    const bool passed = view_->PassBy({.key = {1, offset}, .object = block, .charge = 10});
    if (held != nullptr && passed) {
      *held = block;
    } else {
      block->Unref();
    }
    return passed;
  };
  EXPECT_FALSE(pass_by(0)) << "there is room";
  for (int i = 0; i < 100; ++i) ASSERT_OK(Insert(next++, 1));
  ASSERT_EQ(view_->cache()->GetUsage(), 1000u);

  Block* held = nullptr;
  EXPECT_TRUE(pass_by(0, &held));
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(Lookup(0), -1);
  EXPECT_EQ(view_->cache()->GetUsage(), 1010u) << "charged while it is used";
  held->Unref();
  EXPECT_EQ(view_->cache()->GetUsage(), 1000u);
  EXPECT_FALSE(pass_by(0)) << "it came back";
  ASSERT_OK(Insert(0, 7));
  EXPECT_EQ(Lookup(0), 7);
  EXPECT_EQ(view_->cache()->GetUsage(), 1000u);

  view_->cache()->SetStrictCapacityLimit(true);
  EXPECT_FALSE(pass_by(next++)) << "what is beyond the capacity must be refused";
  view_->cache()->SetStrictCapacityLimit(false);
  // Referenced blocks exceed the capacity by a sixteenth. After that, insertions have to make room.
  std::vector<Block*> all_held;
  while (all_held.size() < 100 && pass_by(next++, &held)) all_held.push_back(held);
  EXPECT_EQ(all_held.size(), 6u);
  ASSERT_OK(Insert(next, 1));
  EXPECT_EQ(view_->cache()->GetUsage(), 1000u);
  for (Block* block : all_held) block->Unref();
}

// A block that was evicted because it was not used is remembered, so that it is cached when it is
// read again.
TEST_P(SlotTest, WhatWasEvictedLatelyIsNotPassedBy) {
  for (uint64_t i = 0; i < 110; ++i) ASSERT_OK(Insert(i, 1));
  uint64_t evicted = 0;
  while (Lookup(evicted) != -1) ++evicted;
  Block* const block = new Block(1);
  EXPECT_FALSE(view_->PassBy({.key = {1, evicted}, .object = block, .charge = 10}));
  block->Unref();
}

BlockHeapUse heap_use;

// Memory that the heap holds without use is memory of the process as well.
TEST_P(SlotTest, RoomBetweenBlocksIsTakenFromTheCapacity) {
  static constexpr BlockForms kForms{.heap_use = [] { return heap_use; }};
  constexpr size_t kMiB = 1 << 20;
  LRUCacheOptions options(64 * kMiB, 0, false, 0.5);
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  view_ = std::make_unique<BlockCacheView>(options.MakeSharedCache(), &kForms);
  uint64_t offset = 100;
  const auto usage_when_full = [&] {
    for (int i = 0; i < 10'000; i++) EXPECT_OK(Insert(offset++, i, kMiB / 8));
    return view_->cache()->GetUsage() / kMiB;
  };
  heap_use = {.held_bytes = 64 * kMiB, .used_bytes = 64 * kMiB};
  EXPECT_EQ(usage_when_full(), 64u);
  heap_use.held_bytes = 70 * kMiB;
  EXPECT_EQ(usage_when_full(), 58u) << "for 58 blocks of 64 the heap holds 58 / 64 of 70";
  // Also if the heap serves another cache of the same size.
  heap_use = {.held_bytes = 129 * kMiB, .used_bytes = 128 * kMiB};
  EXPECT_EQ(usage_when_full(), 63u);
  heap_use.held_bytes = 50 * kMiB;
  EXPECT_EQ(usage_when_full(), 64u);
  heap_use = {};
}

INSTANTIATE_TEST_SUITE_P(Caches, SlotTest, testing::Values(Kind::kBuiltIn),
                         [](const auto&) { return "BuiltIn"; });

}  // namespace
}  // namespace ashlar
