// SPDX-License-Identifier: Apache-2.0
//
// min_write_buffer_number_to_merge: full memtables wait to be flushed together, unless a flush is
// needed for another reason.
#include "ashlar/cache.h"
#include "ashlar/write_buffer_manager.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class MergedFlushTest : public DbTest {
 protected:
  MergedFlushTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 4;
    options_.min_write_buffer_number_to_merge = 3;
  }

  // Fills a memtable. The next write to any family seals it.
  void FillOne(const std::string& key, ColumnFamilyHandle* family = nullptr,
               const WriteOptions& write = WriteOptions()) {
    if (family == nullptr) family = db_->DefaultColumnFamily();
    ASSERT_OK(db_->Put(write, family, key, std::string(70'000, 'x')));
  }
  uint64_t Sealed() { return Number("rocksdb.num-immutable-mem-table"); }
  bool Has(const std::string& key) { return Get(key).size() == 70'000; }
};

TEST_F(MergedFlushTest, FullMemTablesWaitUntilThereAreEnough) {
  Open();
  for (const char* key : {"a", "b", "c"}) FillOne(key);
  WaitForJobs();
  EXPECT_EQ(Sealed(), 2u);
  EXPECT_EQ(Number("rocksdb.mem-table-flush-pending"), 0u);
  EXPECT_EQ(TableCount(0), 0);
  FillOne("d");
  WaitForJobs();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(TableCount(0), 1);
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_TRUE(Has(key)) << key;
}

// The table has one version of a key that was overwritten.
TEST_F(MergedFlushTest, WhatLaterMemTablesOverwriteIsNotWritten) {
  Open();
  for (int i = 0; i < 4; ++i) FillOne("k");
  WaitForJobs();
  EXPECT_EQ(TableCount(0), 1);
  EXPECT_LT(Number("rocksdb.total-sst-files-size"), 2u * 70'000);
  EXPECT_TRUE(Has("k"));
}

TEST_F(MergedFlushTest, AFlushOnRequestTakesThoseThatWait) {
  Open();
  FillOne("a");
  FillOne("b");
  EXPECT_EQ(Sealed(), 1u);
  Flush();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(TableCount(0), 1);
}

// The active memtable is empty, so the call seals nothing.
TEST_F(MergedFlushTest, AFlushOnRequestTakesThoseThatWaitAlone) {
  Open();
  ColumnFamilyHandle* const other = CreateFamily("other");
  FillOne("a");
  Put(other, "k", "v");
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 0u);
  Flush();
  EXPECT_EQ(TableCount(0), 1);
}

TEST_F(MergedFlushTest, WhatWaitsIsFlushedByClosingOrComesBackFromTheLog) {
  Open();
  FillOne("a", nullptr, Unlogged());
  FillOne("b", nullptr, Unlogged());
  EXPECT_EQ(Sealed(), 1u);
  Open();
  EXPECT_EQ(TableCount(0), 1);
  FillOne("c");
  FillOne("d");
  EXPECT_EQ(Sealed(), 1u);
  options_.avoid_flush_during_shutdown = true;
  Open();
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_TRUE(Has(key)) << key;
}

TEST_F(MergedFlushTest, TooMuchLogIsNotWaitedWith) {
  options_.max_total_wal_size = 300'000;
  Open();
  Options often = options_;
  often.min_write_buffer_number_to_merge = 1;
  ColumnFamilyHandle* const other = CreateFamily("other", often);
  FillOne("a");
  FillOne("1", other);
  WaitForJobs();
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_EQ(TableCount(0), 0);
  for (const char* key : {"2", "3", "4", "5", "6"}) FillOne(key, other);
  WaitForJobs();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(TableCount(0), 1);
}

TEST_F(MergedFlushTest, TooLittleMemoryIsNotWaitedWith) {
  options_.db_write_buffer_size = 400'000;
  options_.max_write_buffer_number = 20;
  options_.min_write_buffer_number_to_merge = 19;
  Open();
  for (int i = 0; i < 12; ++i) FillOne(std::string(1, static_cast<char>('a' + i)));
  WaitForJobs();
  EXPECT_GT(TableCount(0), 0);
  EXPECT_LT(Number("rocksdb.size-all-mem-tables"), 500'000u);
}

// A stall does not wait for memtables that wait for more writes to their family.
TEST_F(MergedFlushTest, AStallDoesNotWaitForAnIdleDatabase) {
  options_.write_buffer_manager =
      std::make_shared<WriteBufferManager>(400'000, nullptr, /*allow_stall=*/true);
  options_.max_write_buffer_number = 20;
  options_.min_write_buffer_number_to_merge = 19;
  std::unique_ptr<DB> idle;
  ASSERT_OK(DB::Open(options_, "/idle", &idle));
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    ASSERT_OK(idle->Put(WriteOptions(), key, std::string(70'000, 'x')));
  }
  options_.min_write_buffer_number_to_merge = 1;
  Open();
  for (int i = 0; i < 20; ++i) FillOne(std::string(1, static_cast<char>('a' + i)));
  WaitForJobs();
  EXPECT_GT(TableCount(0), 0);
}

TEST_F(MergedFlushTest, FewerBuffersMakeAFlushDue) {
  Open();
  for (const char* key : {"a", "b", "c"}) FillOne(key);
  WaitForJobs();
  EXPECT_EQ(Sealed(), 2u);
  ASSERT_OK(db_->SetOptions({{"max_write_buffer_number", "3"}}));
  WaitForJobs();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(TableCount(0), 1);
}

// Memtables that are sealed while a flush runs are counted from the beginning.
TEST_F(MergedFlushTest, WhatIsSealedDuringAFlushWaitsForOthers) {
  options_.max_write_buffer_number = 6;
  options_.min_write_buffer_number_to_merge = 2;
  Open();
  {
    const BlockedPool no_flush(env_.get(), Env::Priority::HIGH);
    for (const char* key : {"a", "b", "c"}) FillOne(key);
    EXPECT_EQ(Number("rocksdb.mem-table-flush-pending"), 1u);
  }
  WaitForJobs();
  EXPECT_EQ(TableCount(0), 1);
  FillOne("d");
  WaitForJobs();
  EXPECT_EQ(Sealed(), 1u);
  FillOne("e");
  WaitForJobs();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(TableCount(0), 2);
}

// Such a manager counts and charges memory but never requests a flush.
TEST_F(MergedFlushTest, AManagerWithoutALimitTakesNothing) {
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(0, NewLRUCache(16 << 20, 0));
  Open();
  for (const char* key : {"a", "b", "c"}) FillOne(key);
  WaitForJobs();
  EXPECT_EQ(Sealed(), 2u);
  EXPECT_EQ(TableCount(0), 0);
  EXPECT_GT(options_.write_buffer_manager->memory_usage(), 140'000u);
}

}  // namespace
}  // namespace ashlar
