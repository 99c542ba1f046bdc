// SPDX-License-Identifier: Apache-2.0
//
// The row cache: what a table said of a key is found again without the table, and never in place of
// something newer, older, or another table's.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class RowCacheTest : public testing::Test {
 protected:
  RowCacheTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    options_.row_cache = cache_;
  }
  void SetUp() override { Open(); }
  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  // The value, or the status if that is not OK.
  std::string Get(const std::string& key, const ReadOptions& options = ReadOptions()) {
    std::string value;
    const Status status = db_->Get(options, key, &value);
    return status.ok() ? value : status.ToString();
  }
  uint64_t Take(Tickers ticker) { return options_.statistics->getAndResetTickerCount(ticker); }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Cache> cache_ = NewLRUCache(1 << 20);
  Options options_;
  std::unique_ptr<DB> db_;
};

const std::string kAbsent = Status::NotFound().ToString();

TEST_F(RowCacheTest, ARowIsFoundWithoutTheTable) {
  Put("a", "1");
  Put("gone", "1");
  Flush();
  ASSERT_OK(db_->Delete(WriteOptions(), "gone"));
  Flush();
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("gone"), kAbsent);
    EXPECT_EQ(Get("between"), kAbsent);
  }
  EXPECT_EQ(Take(ROW_CACHE_HIT), 2u);
  EXPECT_GT(cache_->GetUsage(), 0u);
  Take(BLOCK_CACHE_HIT), Take(BLOCK_CACHE_MISS);
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Take(BLOCK_CACHE_HIT) + Take(BLOCK_CACHE_MISS), 0u);
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
  ASSERT_OK(db_->Delete(WriteOptions(), "a"));
  EXPECT_EQ(Get("a"), kAbsent);
  Flush();
  EXPECT_EQ(Get("a"), kAbsent);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Get("a"), kAbsent);
}

// Several versions of a key in one table, read as of each of them in either order.
TEST_F(RowCacheTest, SnapshotsSeeTheirOwnVersion) {
  for (const bool newest_first : {true, false}) {
    const std::string key = newest_first ? "a" : "b";
    std::vector<const Snapshot*> snapshots = {db_->GetSnapshot()};
    for (const char* value : {"1", "2", "3"}) {
      Put(key, value);
      snapshots.push_back(db_->GetSnapshot());
    }
    ASSERT_OK(db_->Delete(WriteOptions(), key));
    snapshots.push_back(db_->GetSnapshot());
    Put(key, "5");
    Flush();
    const std::vector<std::string> expected = {kAbsent, "1", "2", "3", kAbsent};
    for (int round = 0; round < 2; round++) {
      if (newest_first) {
        EXPECT_EQ(Get(key), "5");
      }
      for (size_t i = 0; i < snapshots.size(); i++) {
        ReadOptions then;
        then.snapshot = snapshots[i];
        EXPECT_EQ(Get(key, then), expected[i]) << i;
      }
      EXPECT_EQ(Get(key), "5");
    }
    for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  }
}

// A row of the newer table is no answer for a reader that sees only the older one.
TEST_F(RowCacheTest, ASnapshotBetweenTwoTablesReadsTheOlderOne) {
  Put("a", "old");
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  Put("a", "new");
  Flush();
  EXPECT_EQ(Get("a"), "new");
  ReadOptions then;
  then.snapshot = snapshot;
  for (int round = 0; round < 2; round++) EXPECT_EQ(Get("a", then), "old");
  EXPECT_EQ(Take(ROW_CACHE_HIT), 1u);  // of the older table, which that snapshot sees whole
  db_->ReleaseSnapshot(snapshot);
}

// Wherever the range tombstone is: in the row's own table, above or below it, or in memory; read
// one by one and together, before and after the tombstone came.
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
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "c"));
  const std::string memory = one_by_one();
  EXPECT_EQ(memory, "--1");
  EXPECT_EQ(together(), memory);
  Put("b", "2");
  Flush();  // a table with the tombstone, and a newer point under it
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(one_by_one(), "-21");
    EXPECT_EQ(together(), "-21");
  }
  ReadOptions then;
  then.snapshot = before;
  EXPECT_EQ(Get("a", then) + Get("b", then), "11");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "b", "d"));
  Flush();
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(one_by_one(), "---");
    EXPECT_EQ(together(), "---");
  }
  ReadOptions ignoring;
  ignoring.ignore_range_deletions = true;
  EXPECT_EQ(Get("a", ignoring) + Get("b", ignoring) + Get("c", ignoring), "121");
  EXPECT_EQ(one_by_one(), "---") << "what was read so is no row";
  EXPECT_EQ(Get("b", then) + Get("c", then), "11");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(one_by_one(), "---");
  EXPECT_EQ(Get("b", then) + Get("c", then), "11");
  db_->ReleaseSnapshot(before);
}

// Operands in one table, and what they stand on in another: neither is a row for the other.
TEST_F(RowCacheTest, OperandsAreNoRows) {
  ASSERT_OK(
      MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  Open();
  Put("a", "1");
  Put("b", "1");
  Flush();
  EXPECT_EQ(Get("a") + " " + Get("b"), "1 1");
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "2"));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "b", "c"));
  ASSERT_OK(db_->Merge(WriteOptions(), "b", "2"));
  Flush();
  for (int round = 0; round < 2; round++) EXPECT_EQ(Get("a") + " " + Get("b"), "1,2 2");
  EXPECT_GT(Take(ROW_CACHE_HIT), 0u) << "the value below the operand of a is one";
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "b"));
  EXPECT_EQ(Get("a") + " " + Get("b"), kAbsent + " 2");
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "3"));
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
  EXPECT_EQ(Take(ROW_CACHE_HIT), 1u);
  EXPECT_TRUE(found.IsPinned());
  ASSERT_OK(db_->Delete(WriteOptions(), "a"));
  Flush();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  cache_->SetCapacity(0);
  db_.reset();
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
  EXPECT_EQ(Take(ROW_CACHE_HIT), 0u);
  EXPECT_EQ(cache_->GetUsage(), 0u);
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("a", options), "1");
  EXPECT_EQ(Take(ROW_CACHE_HIT), 1u);
  options.read_tier = kBlockCacheTier;
  EXPECT_EQ(Get("a", options), "1");
}

TEST_F(RowCacheTest, FamiliesAndDatabasesShareTheCacheButNoRow) {
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other));
  std::unique_ptr<DB> second;
  ASSERT_OK(DB::Open(options_, "/second", &second));
  Put("a", "default");
  ASSERT_OK(db_->Put(WriteOptions(), other, "a", "other"));
  ASSERT_OK(second->Put(WriteOptions(), "a", "second"));
  ASSERT_OK(db_->Flush(FlushOptions(), {db_->DefaultColumnFamily(), other}));
  ASSERT_OK(second->Flush(FlushOptions()));
  std::string value;
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(Get("a"), "default");
    ASSERT_OK(db_->Get(ReadOptions(), other, "a", &value));
    EXPECT_EQ(value, "other");
    ASSERT_OK(second->Get(ReadOptions(), "a", &value));
    EXPECT_EQ(value, "second");
  }
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

// The new database's files have the numbers that those of the old one had.
TEST_F(RowCacheTest, ADatabaseOfTheSameNameFindsNoRowsOfTheOneBefore) {
  Put("a", "first");
  Flush();
  EXPECT_EQ(Get("a"), "first");
  db_.reset();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  Put("a", "second");
  Flush();
  EXPECT_EQ(Get("a"), "second");
}

TEST_F(RowCacheTest, BatchesReadWhatSingleReadsDoAndIteratorsLeaveItAlone) {
  for (int i = 0; i < 100; i++) Put(std::to_string(i), "v" + std::to_string(i));
  Flush();
  for (int i = 0; i < 100; i += 3) ASSERT_OK(db_->Delete(WriteOptions(), std::to_string(i)));
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
  EXPECT_EQ(Take(ROW_CACHE_HIT), 3u * 100);  // all but the batch that came first
  Take(ROW_CACHE_MISS);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  EXPECT_EQ(Take(ROW_CACHE_HIT) + Take(ROW_CACHE_MISS), 0u);
}

TEST_F(RowCacheTest, ACacheWithoutRoomCostsNoAnswer) {
  options_.row_cache = NewLRUCache(100, /*num_shard_bits=*/0, /*strict_capacity_limit=*/true);
  Open();
  Put("a", std::string(5000, 'x'));
  Flush();
  for (int round = 0; round < 3; round++) EXPECT_EQ(Get("a"), std::string(5000, 'x'));
}

// A counter that one thread raises through memtable, tables and compactions never goes back.
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
    if (n % 20 == 0) {
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    }
  }
  is_done.store(true);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace ashlar
