// SPDX-License-Identifier: Apache-2.0
//
// Values that point reads pin: from memtables, blocks and rows of several families. They stay
// through flushes, compactions, an emptied cache and a dropped family, are released by Reset(), and
// can be passed to other objects. Short values are copied.
#include <array>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/cleanable.h"
#include "ashlar/slice.h"
#include "table/iterator/point_lookup.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr size_t kLong = PointLookup::kCopyBytes + 1;
constexpr size_t kFamilies = 3;

enum class Cached { kBlocks, kRows, kNothing };

class PinnedValueTest : public DbTestWith<Cached> {
 protected:
  PinnedValueTest() {
    BlockBasedTableOptions table;
    table.no_block_cache = GetParam() == Cached::kNothing;
    if (!table.no_block_cache) table.block_cache = blocks_;
    options_.disable_auto_compactions = true;
    if (GetParam() == Cached::kRows) options_.row_cache = rows_;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open({"default", "one", "two"});
  }

  static std::string Value(size_t family, const std::string& key, size_t bytes = 4 * kLong) {
    return std::string(bytes, static_cast<char>('a' + family)) + key;
  }
  void Put(const std::string& key, size_t bytes = 4 * kLong) {
    for (size_t i = 0; i < kFamilies; i++) DbTest::Put(handles_[i], key, Value(i, key, bytes));
  }
  void FlushAll() {
    for (ColumnFamilyHandle* family : handles_) Flush(family);
  }
  size_t PinnedBytes() const { return blocks_->GetPinnedUsage() + rows_->GetPinnedUsage(); }

  // Overwrites everything, so that only pins keep the values that were read, and drops a family.
  void ChangeEverything() {
    for (const char* key : {"block", "sealed", "memtable"}) Put(key, kLong + 7);
    FlushAll();
    for (ColumnFamilyHandle* family : handles_) Compact(family);
    blocks_->EraseUnRefEntries();
    rows_->EraseUnRefEntries();
    ASSERT_OK(db_->DropColumnFamily(handles_[2]));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(handles_[2]));
    handles_.pop_back();
  }

  const std::shared_ptr<Cache> blocks_ = NewLRUCache(8 << 20);
  const std::shared_ptr<Cache> rows_ = NewLRUCache(8 << 20);
};

TEST_P(PinnedValueTest, StaysAsItWasWhateverBecomesOfItsPlace) {
  Put("block");
  FlushAll();
  Put("memtable");
  std::vector<PinnableSlice> values;
  std::vector<std::string> expected;
  for (size_t i = 0; i < kFamilies; i++) {
    for (const char* key : {"block", "memtable", "block"}) {
      PinnableSlice value;
      ASSERT_OK(db_->Get(ReadOptions(), handles_[i], key, &value));
      EXPECT_TRUE(value.IsPinned()) << key;
      values.push_back(std::move(value));
      expected.push_back(Value(i, key));
    }
  }
  // The same with a batch.
  std::array<ColumnFamilyHandle*, 2 * kFamilies> families;
  std::array<Slice, 2 * kFamilies> keys;
  std::array<PinnableSlice, 2 * kFamilies> batch;
  std::array<Status, 2 * kFamilies> statuses;
  for (size_t i = 0; i < batch.size(); i++) {
    families[i] = handles_[i / 2];
    keys[i] = i % 2 == 0 ? "block" : "memtable";
  }
  db_->MultiGet(ReadOptions(), batch.size(), families.data(), keys.data(), batch.data(),
                statuses.data());
  ASSERT_NO_FATAL_FAILURE(ChangeEverything());
  for (size_t i = 0; i < values.size(); i++) EXPECT_EQ(values[i], expected[i]);
  for (size_t i = 0; i < batch.size(); i++) {
    EXPECT_OK(statuses[i]);
    EXPECT_TRUE(batch[i].IsPinned());
    EXPECT_EQ(batch[i], Value(i / 2, keys[i].ToString()));
  }
}

TEST_P(PinnedValueTest, ShortValuesAreCopied) {
  Put("at the limit", kLong - sizeof("at the limit"));
  Put("above", kLong);
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) FlushAll();
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], "at the limit", &value));
    EXPECT_EQ(value.size(), PointLookup::kCopyBytes);
    EXPECT_FALSE(value.IsPinned());
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], "above", &value));
    EXPECT_TRUE(value.IsPinned());
    EXPECT_EQ(value, Value(1, "above", kLong));
    std::string copy = "something else";
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], "above", &copy));
    EXPECT_EQ(copy, Value(1, "above", kLong));
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], "at the limit", &copy));
    EXPECT_EQ(copy.size(), PointLookup::kCopyBytes);
  }
}

TEST_P(PinnedValueTest, ResetLetsGoOfIt) {
  Put("block");
  FlushAll();
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), handles_[0], "block", &value));
  value.Reset();
  EXPECT_FALSE(value.IsPinned());
  EXPECT_TRUE(value.empty());
  const size_t unpinned = PinnedBytes();
  ASSERT_OK(db_->Get(ReadOptions(), handles_[0], "block", &value));
  EXPECT_EQ(PinnedBytes() > unpinned,
            GetParam() == Cached::kBlocks);  // a pinned row does not count
  // The next read into the slice releases its value too, and so does the end of the slice.
  EXPECT_TRUE(db_->Get(ReadOptions(), handles_[0], "no such key", &value).IsNotFound());
  EXPECT_EQ(PinnedBytes(), unpinned);
  {
    PinnableSlice other;
    ASSERT_OK(db_->Get(ReadOptions(), handles_[0], "block", &other));
    value = std::move(other);
  }
  EXPECT_EQ(value, Value(0, "block"));
  value = PinnableSlice();
  EXPECT_EQ(PinnedBytes(), unpinned);
}

// A pinned value keeps its immutable memtable, and nothing else does.
TEST_P(PinnedValueTest, AMemtableGoesWithTheLastValueOfIt) {
  Put("memtable");
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), handles_[0], "memtable", &value));
  FlushAll();
  const auto all_bytes = [this] { return Number(DB::Properties::kSizeAllMemTables, handles_[0]); };
  EXPECT_EQ(value, Value(0, "memtable"));
  const uint64_t after_flush = all_bytes();
  value.Reset();
  EXPECT_LE(all_bytes(), after_flush);
  ASSERT_OK(db_->Get(ReadOptions(), handles_[0], "memtable", &value));
  EXPECT_EQ(value, Value(0, "memtable"));
}

TEST_P(PinnedValueTest, CleanupsCanBeHandedOn) {
  Put("block");
  Put("memtable");
  FlushAll();
  Put("memtable");
  Cleanable holder;
  std::vector<Slice> kept;
  int other_cleanups = 0;
  for (const char* key : {"block", "memtable"}) {
    PinnableSlice value;
    ASSERT_OK(db_->Get(ReadOptions(), handles_[0], key, &value));
    value.RegisterCleanup([](void* count, void*) { ++*static_cast<int*>(count); }, &other_cleanups,
                          nullptr);
    kept.push_back(value);
    value.DelegateCleanupsTo(&holder);
  }
  EXPECT_EQ(other_cleanups, 0);
  // A slice may own the cleanups of the memory of another one.
  PinnableSlice part;
  part.PinSlice(Slice(kept[0].data(), 5), &holder);
  EXPECT_FALSE(holder.HasCleanups());
  ASSERT_NO_FATAL_FAILURE(ChangeEverything());
  EXPECT_EQ(kept[0], Value(0, "block"));
  EXPECT_EQ(kept[1], Value(0, "memtable"));
  EXPECT_EQ(part, "aaaaa");
  part.Reset();
  EXPECT_EQ(other_cleanups, 2);
}

INSTANTIATE_TEST_SUITE_P(, PinnedValueTest,
                         testing::Values(Cached::kBlocks, Cached::kRows, Cached::kNothing),
                         [](const auto& info) {
                           return info.param == Cached::kBlocks ? "Blocks"
                                  : info.param == Cached::kRows ? "Rows"
                                                                : "Nothing";
                         });

}  // namespace
}  // namespace ashlar
