// SPDX-License-Identifier: Apache-2.0
//
// The row cache: a cached row is returned without its table, and never in the place of a newer
// version, an older version, or the row of another table.
#include <atomic>
#include <thread>

#include "ashlar/cache.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class RowCacheTest : public DbTest {
 protected:
  RowCacheTest() {
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    options_.row_cache = cache_;
  }
  void SetUp() override { Open(); }
  const std::shared_ptr<Cache> cache_ = NewLRUCache(1 << 20);
};

const std::string kAbsent = "(none)";

TEST_F(RowCacheTest, ARowIsFoundWithoutTheTable) {
  Put("a", "1");
  Put("gone", "1");
  Flush();
  Delete("gone");
  Flush();
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("gone"), kAbsent);
    EXPECT_EQ(Get("between"), kAbsent);
  }
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT), 2u);
  EXPECT_GT(cache_->GetUsage(), 0u);
  TakeTicks(BLOCK_CACHE_HIT), TakeTicks(BLOCK_CACHE_MISS);
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(TakeTicks(BLOCK_CACHE_HIT) + TakeTicks(BLOCK_CACHE_MISS), 0u);
}

TEST_F(RowCacheTest, NewerDataHidesARow) {
  Put("a", "old");
  Flush();
  EXPECT_EQ(Get("a"), "old");
  Put("a", "in memory");
  EXPECT_EQ(Get("a"), "in memory");
  Flush();
  EXPECT_EQ(Get("a"), "in memory");
  EXPECT_EQ(Get("a"), "in memory");
  Delete("a");
  EXPECT_EQ(Get("a"), kAbsent);
  Flush();
  EXPECT_EQ(Get("a"), kAbsent);
  Compact();
  EXPECT_EQ(Get("a"), kAbsent);
}

// Several versions of a key in one table, read as of each version in both orders.
TEST_F(RowCacheTest, SnapshotsSeeTheirOwnVersion) {
  for (const bool newest_first : {true, false}) {
    const std::string key = newest_first ? "a" : "b";
    std::vector<const Snapshot*> snapshots = {db_->GetSnapshot()};
    for (const char* value : {"1", "2", "3"}) {
      Put(key, value);
      snapshots.push_back(db_->GetSnapshot());
    }
    Delete(key);
    snapshots.push_back(db_->GetSnapshot());
    Put(key, "5");
    Flush();
    const std::vector<std::string> expected = {kAbsent, "1", "2", "3", kAbsent};
    for (int round = 0; round < 2; round++) {
      if (newest_first) {
        EXPECT_EQ(Get(key), "5");
      }
      for (size_t i = 0; i < snapshots.size(); i++) {
        EXPECT_EQ(Get(key, AsOf(snapshots[i])), expected[i]) << i;
      }
      EXPECT_EQ(Get(key), "5");
    }
    for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  }
}

// A row of the newer table is not returned to a reader that only sees the older one.
TEST_F(RowCacheTest, ASnapshotBetweenTwoTablesReadsTheOlderOne) {
  Put("a", "old");
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  Put("a", "new");
  Flush();
  EXPECT_EQ(Get("a"), "new");
  for (int round = 0; round < 2; round++) EXPECT_EQ(Get("a", AsOf(snapshot)), "old");
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT),
            1u);  // of the older table, whose rows are all visible to the snapshot
  db_->ReleaseSnapshot(snapshot);
}

// The range tombstone is in the table of the row, above or below it, or in memory. Keys are read
// one by one and together, before and after the tombstone was written.
TEST_F(RowCacheTest, ARangeTombstoneIsNewerThanARowBelowIt) {
  const auto together = [&] {
    std::vector<std::string> values;
    const std::vector<Slice> keys{"a", "b", "c"};
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
    std::string text;
    for (size_t i = 0; i < keys.size(); i++) text += statuses[i].ok() ? values[i] : "-";
    return text;
  };
  const auto one_by_one = [&] {
    std::string text;
    for (const char* key : {"a", "b", "c"}) {
      const std::string value = Get(key);
      text += value == kAbsent ? "-" : value;
    }
    return text;
  };
  for (const char* key : {"a", "b", "c"}) Put(key, "1");
  Flush();
  EXPECT_EQ(one_by_one(), "111");
  const Snapshot* const before = db_->GetSnapshot();
  DeleteRange("a", "c");
  const std::string memory = one_by_one();
  EXPECT_EQ(memory, "--1");
  EXPECT_EQ(together(), memory);
  Put("b", "2");
  Flush();  // a table with the tombstone, and a newer point under it
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(one_by_one(), "-21");
    EXPECT_EQ(together(), "-21");
  }
  const ReadOptions then = AsOf(before);
  EXPECT_EQ(Get("a", then) + Get("b", then), "11");
  DeleteRange("b", "d");
  Flush();
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(one_by_one(), "---");
    EXPECT_EQ(together(), "---");
  }
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  EXPECT_EQ(Get("a", ignoring) + Get("b", ignoring) + Get("c", ignoring), "121");
  EXPECT_EQ(one_by_one(), "---") << "reads that ignore range tombstones cache no rows";
  EXPECT_EQ(Get("b", then) + Get("c", then), "11");
  Compact();
  EXPECT_EQ(one_by_one(), "---");
  EXPECT_EQ(Get("b", then) + Get("c", then), "11");
  db_->ReleaseSnapshot(before);
}

// Operands in one table and their base value in another: operands are not cached as rows.
TEST_F(RowCacheTest, OperandsAreNoRows) {
  options_.merge_operator = NewStringAppendOperator(",");
  Open();
  Put("a", "1");
  Put("b", "1");
  Flush();
  EXPECT_EQ(Get("a") + " " + Get("b"), "1 1");
  Merge("a", "2");
  DeleteRange("b", "c");
  Merge("b", "2");
  Flush();
  for (int round = 0; round < 2; round++) EXPECT_EQ(Get("a") + " " + Get("b"), "1,2 2");
  EXPECT_GT(TakeTicks(ROW_CACHE_HIT), 0u) << "the value below the operand of a is cached";
  DeleteRange("a", "b");
  EXPECT_EQ(Get("a") + " " + Get("b"), kAbsent + " 2");
  Merge("a", "3");
  for (int round = 0; round < 2; round++) EXPECT_EQ(Get("a") + " " + Get("b"), "3 2");
  Flush();
  for (int round = 0; round < 2; round++) EXPECT_EQ(Get("a") + " " + Get("b"), "3 2");
}

TEST_F(RowCacheTest, APinnedValueOutlivesItsRowAndTheTable) {
  const std::string large(10000, 'x');
  Put("a", large);
  Flush();
  PinnableSlice filled, found;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "a", &filled));
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "a", &found));
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT), 1u);
  EXPECT_TRUE(found.IsPinned());
  Delete("a");
  Flush();
  Compact();
  cache_->SetCapacity(0);
  Close();
  options_.row_cache.reset();
  EXPECT_EQ(filled, large);
  EXPECT_EQ(found, large);
}

TEST_F(RowCacheTest, ReadOptionsDecideWhatIsKept) {
  Put("a", "1");
  Flush();
  ReadOptions options;
  options.fill_cache = false;
  EXPECT_EQ(Get("a", options), "1");
  EXPECT_EQ(Get("a", options), "1");
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT), 0u);
  EXPECT_EQ(cache_->GetUsage(), 0u);
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("a", options), "1");
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT), 1u);
  options.read_tier = kBlockCacheTier;
  EXPECT_EQ(Get("a", options), "1");
}

TEST_F(RowCacheTest, FamiliesAndDatabasesShareTheCacheButNoRow) {
  ColumnFamilyHandle* const other = CreateFamily("other");
  TestDb second(memory_, options_);
  second.dir() = "/second";
  second.Open();
  Put("a", "default");
  Put(other, "a", "other");
  second.Put("a", "second");
  Flush({db_->DefaultColumnFamily(), other});
  second.Flush();
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(Get("a"), "default");
    EXPECT_EQ(Get(other, "a"), "other");
    EXPECT_EQ(second.Get("a"), "second");
  }
}

// The files of the new database have the same numbers as those of the old one.
TEST_F(RowCacheTest, ADatabaseOfTheSameNameFindsNoRowsOfTheOneBefore) {
  Put("a", "first");
  Flush();
  EXPECT_EQ(Get("a"), "first");
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  Put("a", "second");
  Flush();
  EXPECT_EQ(Get("a"), "second");
}

TEST_F(RowCacheTest, BatchesReadWhatSingleReadsDoAndIteratorsLeaveItAlone) {
  for (int i = 0; i < 100; i++) Put(std::to_string(i), "v" + std::to_string(i));
  Flush();
  for (int i = 0; i < 100; i += 3) Delete(std::to_string(i));
  Flush();
  std::vector<std::string> names;
  for (int i = 0; i < 120; i++) names.push_back(std::to_string(i));
  const std::vector<Slice> keys(names.begin(), names.end());
  for (int round = 0; round < 2; round++) {
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      EXPECT_EQ(statuses[i].ok(), i < 100 && i % 3 != 0);
      if (statuses[i].ok()) {
        EXPECT_EQ(values[i], "v" + names[i]);
      }
      EXPECT_EQ(Get(names[i]), statuses[i].ok() ? values[i] : kAbsent);
    }
  }
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT), 3u * 100);  // all but the first batch
  TakeTicks(ROW_CACHE_MISS);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  EXPECT_EQ(TakeTicks(ROW_CACHE_HIT) + TakeTicks(ROW_CACHE_MISS), 0u);
}

TEST_F(RowCacheTest, ACacheWithoutRoomCostsNoAnswer) {
  options_.row_cache = NewLRUCache(100, /*num_shard_bits=*/0, /*strict_capacity_limit=*/true);
  Open();
  Put("a", std::string(5000, 'x'));
  Flush();
  for (int round = 0; round < 3; round++) EXPECT_EQ(Get("a"), std::string(5000, 'x'));
}

// A counter that one thread increments, with flushes and compactions, never decreases for readers.
TEST_F(RowCacheTest, ReadersBesideAWriterNeverGoBack) {
  std::atomic<bool> is_done{false};
  std::vector<std::thread> readers;
  Put("n", std::string(2000, '0') + "100000");
  for (int i = 0; i < 2; i++) {
    readers.emplace_back([&] {
      std::string last;
      while (!is_done.load()) {
        PinnableSlice value;
        ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "n", &value));
        ASSERT_GE(value.ToString(), last);
        last = value.ToString();
      }
    });
  }
  for (int n = 1; n < 60; n++) {
    Put("n", std::string(2000, '0') + std::to_string(100000 + n));
    if (n % 2 == 0) Flush();
    if (n % 20 == 0) Compact();
  }
  is_done.store(true);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace ashlar
