// SPDX-License-Identifier: Apache-2.0
//
// min_write_buffer_number_to_merge: full memtables wait to be flushed together, until something
// else wants a flush. max_write_buffer_size_to_maintain: what was flushed stays for a while.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/write_buffer_manager.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

class MergedFlushTest : public testing::Test {
 protected:
  MergedFlushTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 4;
    options_.min_write_buffer_number_to_merge = 3;
  }

  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  // Fills a memtable, which is sealed by the next write to any family.
  void FillOne(const std::string& key, ColumnFamilyHandle* family = nullptr,
               const WriteOptions& write = WriteOptions()) {
    if (family == nullptr) family = db_->DefaultColumnFamily();
    ASSERT_OK(db_->Put(write, family, key, std::string(70'000, 'x')));
  }
  uint64_t Number(const std::string& property, ColumnFamilyHandle* family = nullptr) {
    if (family == nullptr) family = db_->DefaultColumnFamily();
    uint64_t number = 0;
    EXPECT_TRUE(db_->GetIntProperty(family, "rocksdb." + property, &number)) << property;
    return number;
  }
  uint64_t Sealed(ColumnFamilyHandle* family = nullptr) {
    return Number("num-immutable-mem-table", family);
  }
  std::string Files(ColumnFamilyHandle* family = nullptr) {
    if (family == nullptr) family = db_->DefaultColumnFamily();
    std::string text;
    EXPECT_TRUE(db_->GetProperty(family, "rocksdb.num-files-at-level0", &text));
    return text;
  }
  void AwaitFlushes() { ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions())); }
  bool Has(const std::string& key) {
    std::string value;
    return db_->Get(ReadOptions(), key, &value).ok() && value.size() == 70'000;
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(MergedFlushTest, FullMemTablesWaitUntilThereAreEnough) {
  Open();
  for (const char* key : {"a", "b", "c"}) FillOne(key);
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 2u);
  EXPECT_EQ(Number("mem-table-flush-pending"), 0u);
  EXPECT_EQ(Files(), "0");
  FillOne("d");
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), "1");
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_TRUE(Has(key)) << key;
}

// Of what was written over and over, one version is in the table.
TEST_F(MergedFlushTest, WhatLaterMemTablesOverwriteIsNotWritten) {
  Open();
  for (int i = 0; i < 4; ++i) FillOne("k");
  AwaitFlushes();
  EXPECT_EQ(Files(), "1");
  EXPECT_LT(Number("total-sst-files-size"), 2u * 70'000);
  EXPECT_TRUE(Has("k"));
}

TEST_F(MergedFlushTest, AFlushOnRequestTakesThoseThatWait) {
  Open();
  FillOne("a");
  FillOne("b");
  EXPECT_EQ(Sealed(), 1u);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), "1");
}

// The active one is empty then: nothing is sealed that would ask.
TEST_F(MergedFlushTest, AFlushOnRequestTakesThoseThatWaitAlone) {
  Open();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other));
  FillOne("a");
  ASSERT_OK(db_->Put(WriteOptions(), other, "k", "v"));
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_EQ(Number("num-entries-active-mem-table"), 0u);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Files(), "1");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

TEST_F(MergedFlushTest, WhatWaitsIsFlushedByClosingOrComesBackFromTheLog) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  Open();
  FillOne("a", nullptr, unlogged);
  FillOne("b", nullptr, unlogged);
  EXPECT_EQ(Sealed(), 1u);
  Open();
  EXPECT_EQ(Files(), "1");
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
  ColumnFamilyHandle* other = nullptr;
  Options often = options_;
  often.min_write_buffer_number_to_merge = 1;
  ASSERT_OK(db_->CreateColumnFamily(often, "other", &other));
  FillOne("a");
  FillOne("1", other);
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_EQ(Files(), "0");
  for (const char* key : {"2", "3", "4", "5", "6"}) FillOne(key, other);
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), "1");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

TEST_F(MergedFlushTest, TooLittleMemoryIsNotWaitedWith) {
  options_.db_write_buffer_size = 400'000;
  options_.max_write_buffer_number = 20;
  options_.min_write_buffer_number_to_merge = 19;
  Open();
  for (int i = 0; i < 12; ++i) FillOne(std::string(1, static_cast<char>('a' + i)));
  AwaitFlushes();
  EXPECT_NE(Files(), "0");
  EXPECT_LT(Number("size-all-mem-tables"), 500'000u);
}

// Memory that waits for more writes to its family is not waited for.
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
  options_.max_write_buffer_size_to_maintain = 1 << 20;
  Open();
  for (int i = 0; i < 20; ++i) FillOne(std::string(1, static_cast<char>('a' + i)));
  AwaitFlushes();
  EXPECT_NE(Files(), "0");
}

TEST_F(MergedFlushTest, FewerBuffersMakeAFlushDue) {
  Open();
  for (const char* key : {"a", "b", "c"}) FillOne(key);
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 2u);
  ASSERT_OK(db_->SetOptions({{"max_write_buffer_number", "3"}}));
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), "1");
}

// What is sealed while a flush runs counts anew.
TEST_F(MergedFlushTest, WhatIsSealedDuringAFlushWaitsForOthers) {
  options_.max_write_buffer_number = 6;
  options_.min_write_buffer_number_to_merge = 2;
  Open();
  {
    const BlockedPool no_flush(env_.get(), Env::Priority::HIGH);
    for (const char* key : {"a", "b", "c"}) FillOne(key);
    EXPECT_EQ(Number("mem-table-flush-pending"), 1u);
  }
  AwaitFlushes();
  EXPECT_EQ(Files(), "1");
  FillOne("d");
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 1u);
  FillOne("e");
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 0u);
  EXPECT_EQ(Files(), "2");
}

TEST_F(MergedFlushTest, FlushedMemTablesStayWithinTheirLimit) {
  options_.min_write_buffer_number_to_merge = 1;
  options_.max_write_buffer_size_to_maintain = 200'000;
  Open();
  for (int i = 0; i < 10; ++i) {
    FillOne(std::string(1, static_cast<char>('a' + i)));
    ASSERT_OK(db_->Flush(FlushOptions()));
    const uint64_t kept = Number("num-immutable-mem-table-flushed");
    EXPECT_EQ(kept, static_cast<uint64_t>(i < 3 ? i + 1 : 3)) << i;
    EXPECT_GT(Number("size-all-mem-tables"), 70'000 * kept);
    EXPECT_LT(Number("size-all-mem-tables"), 350'000u);
    EXPECT_LT(Number("cur-size-all-mem-tables"), 70'000u);
  }
  EXPECT_TRUE(Has("a"));
  options_.max_write_buffer_size_to_maintain = 0;
  Open();
  FillOne("z");
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Number("num-immutable-mem-table-flushed"), 0u);
}

TEST_F(MergedFlushTest, AFullMemTableTakesThePlaceOfAFlushedOne) {
  options_.max_write_buffer_size_to_maintain = 200'000;
  Open();
  for (const char* key : {"a", "b", "c"}) {
    FillOne(key);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_EQ(Number("num-immutable-mem-table-flushed"), 3u);
  FillOne("d");
  FillOne("e");
  EXPECT_EQ(Sealed(), 1u);
  EXPECT_EQ(Number("num-immutable-mem-table-flushed"), 2u);
}

TEST_F(MergedFlushTest, AWriteBufferManagerTakesWhatIsKept) {
  options_.min_write_buffer_number_to_merge = 1;
  options_.max_write_buffer_size_to_maintain = -1;  // 256 KiB
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(500'000);
  Open();
  for (const char* key : {"a", "b", "c"}) {
    FillOne(key);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_EQ(Number("num-immutable-mem-table-flushed"), 3u);
  EXPECT_GT(options_.write_buffer_manager->memory_usage(), 210'000u);
  options_.write_buffer_manager->SetBufferSize(200'000);
  ASSERT_OK(db_->Put(WriteOptions(), "k", std::string(20'000, 'x')));  // owes a report
  ASSERT_OK(db_->Put(WriteOptions(), "l", "v"));
  EXPECT_EQ(Number("num-immutable-mem-table-flushed"), 0u);
  EpochDrain();  // readers elsewhere may have kept a memtable's memory a little longer
  EXPECT_LT(options_.write_buffer_manager->memory_usage(), 100'000u);
}

// It counts and charges, and never wants memory back.
TEST_F(MergedFlushTest, AManagerWithoutALimitTakesNothing) {
  options_.max_write_buffer_size_to_maintain = 200'000;
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(0, NewLRUCache(16 << 20, 0));
  Open();
  for (const char* key : {"a", "b", "c"}) FillOne(key);
  AwaitFlushes();
  EXPECT_EQ(Sealed(), 2u);
  EXPECT_EQ(Files(), "0");
  ASSERT_OK(db_->Flush(FlushOptions()));
  const uint64_t kept = Number("num-immutable-mem-table-flushed");
  EXPECT_GT(kept, 0u);
  ASSERT_OK(db_->Put(WriteOptions(), "k", std::string(20'000, 'x')));  // owes a report
  ASSERT_OK(db_->Put(WriteOptions(), "l", "v"));
  EXPECT_EQ(Number("num-immutable-mem-table-flushed"), kept);
  EXPECT_GT(options_.write_buffer_manager->memory_usage(), 70'000 * kept);
}

}  // namespace
}  // namespace ashlar
