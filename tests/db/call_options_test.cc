// SPDX-License-Identifier: Apache-2.0
//
// Options of single calls do what they say, or are refused by name.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/table_properties.h"
#include "ashlar/write_batch.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class CallOptionsTest : public testing::Test {
 protected:
  CallOptionsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }

  void PutInTable(const std::string& key) {
    ASSERT_OK(db_->Put(WriteOptions(), key, "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  std::string Scan(const ReadOptions& read) {
    std::string keys;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys += it->key().ToString();
    if (!it->status().ok()) keys += it->status().ToString();
    return keys;
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(CallOptionsTest, IteratorsSkipTheTablesThatTheFilterRefuses) {
  PutInTable("a");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  PutInTable("b");
  ASSERT_OK(db_->Put(WriteOptions(), "b2", "v"));
  PutInTable("b3");
  ASSERT_OK(db_->Put(WriteOptions(), "c", "v"));
  const std::function<bool(const TableProperties&)> of_two_entries =
      [](const TableProperties& table) { return table.num_entries == 2; };
  ReadOptions read;
  EXPECT_EQ("abb2b3c", Scan(read));
  read.table_filter = &of_two_entries;
  EXPECT_EQ("b2b3c", Scan(read));
}

TEST_F(CallOptionsTest, IteratorsOverMemTablesShowNoTables) {
  PutInTable("a");
  ASSERT_OK(db_->Put(WriteOptions(), "b", "v"));
  ReadOptions read;
  read.read_tier = kMemtableTier;
  EXPECT_EQ("b", Scan(read));
}

TEST_F(CallOptionsTest, PersistedReadsDoNotSeeWhatSkippedTheLog) {
  ReadOptions read;
  read.read_tier = kPersistedTier;
  std::string value;
  ASSERT_OK(db_->Put(WriteOptions(), "k", "logged"));
  ASSERT_OK(db_->Get(read, "k", &value));
  EXPECT_EQ("logged", value);
  ASSERT_OK(db_->Flush(FlushOptions()));
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_OK(db_->Put(unlogged, "k", "unlogged"));
  ASSERT_OK(db_->Get(read, "k", &value));
  EXPECT_EQ("logged", value);
  std::vector<std::string> values;
  ASSERT_OK(db_->MultiGet(read, {Slice("k")}, &values)[0]);
  EXPECT_EQ("logged", values[0]);
  ASSERT_OK(db_->Get(ReadOptions(), "k", &value));
  EXPECT_EQ("unlogged", value);
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  EXPECT_TRUE(it->status().IsNotSupported()) << it->status().ToString();
}

TEST_F(CallOptionsTest, WritesMayLeaveOutFamiliesThatDoNotExist) {
  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "dropped", &dropped));
  ASSERT_OK(db_->DropColumnFamily(dropped));
  // One that this database never had: the fifth of another one.
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(options_, "/other", &other));
  std::vector<ColumnFamilyHandle*> foreign;
  ASSERT_OK(other->CreateColumnFamilies(options_, {"1", "2", "3", "4", "5"}, &foreign));

  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put(dropped, "a", "2"));
  ASSERT_OK(batch.Put(foreign[4], "a", "3"));
  ASSERT_OK(batch.Put("b", "4"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  WriteOptions ignoring;
  ignoring.ignore_missing_column_families = true;
  ASSERT_OK(db_->Write(ignoring, &batch));

  ASSERT_OK(db_->DestroyColumnFamilyHandle(dropped));
  for (ColumnFamilyHandle* handle : foreign) ASSERT_OK(other->DestroyColumnFamilyHandle(handle));
  db_.reset();
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  EXPECT_EQ("ab", Scan(ReadOptions()));
}

// Else replay would take the family for a lost one. 2^32 - 1 is an id like any other.
TEST_F(CallOptionsTest, ALogHoldsNothingOfFamiliesThatNeverWere) {
  db_.reset();
  options_.avoid_flush_during_shutdown = true;
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  // One put each of families 77 and 2^32 - 1.
  for (const std::string& family : {std::string("\x4d"), std::string("\xff\xff\xff\xff\x0f")}) {
    std::string bytes(12, '\0');
    bytes[8] = 2;
    bytes += '\x05' + family + "\x01k\x01v";
    bytes += std::string("\x01\x01") + family.back() + "\x01v";
    WriteBatch batch(bytes);
    EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
    WriteOptions ignoring;
    ignoring.ignore_missing_column_families = true;
    ASSERT_OK(db_->Write(ignoring, &batch));
    // The MANIFEST hears of the log; of others replay cannot say that a family is lost.
    ASSERT_OK(db_->SyncWAL());
    ColumnFamilyHandle* brief = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options_, "brief", &brief));
    ASSERT_OK(db_->DropColumnFamily(brief));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(brief));
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), family.substr(family.size() - 1), &value));
    EXPECT_TRUE(db_->Get(ReadOptions(), "k", &value).IsNotFound());
  }
}

TEST_F(CallOptionsTest, WhatIsNotBuiltIsRefusedByName) {
  const Slice low("x");
  CompactRangeOptions compact;
  compact.full_history_ts_low = &low;
  const Status status = db_->CompactRange(compact, nullptr, nullptr);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(std::string::npos, status.ToString().find("full_history_ts_low"));
}

TEST_F(CallOptionsTest, ReadOnlyDatabasesListTheirFilesWithoutFlushing) {
  PutInTable("a");
  db_.reset();
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &db_));
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  EXPECT_GE(files.size(), 3u);
  EXPECT_GT(manifest_bytes, 0u);
}

}  // namespace
}  // namespace ashlar
