// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints open, hold what was written before, and change nothing of the database.
#include "ashlar/utilities/checkpoint.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/utilities/options_util.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

namespace {

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.create_if_missing = true;
    ASSERT_OK(DB::Open(options_, dir_ + "/db", &db_));
    Checkpoint* checkpoint = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
    checkpoint_.reset(checkpoint);
  }

  void Put(int first, int end, const std::string& value) {
    for (int i = first; i < end; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "key" + std::to_string(i), value));
    }
  }

  std::map<std::string, std::string> Contents(const std::string& dir) {
    std::unique_ptr<DB> db;
    Options options;
    EXPECT_OK(DB::Open(options, dir, &db));
    std::map<std::string, std::string> contents;
    if (db == nullptr) return contents;
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      contents[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_OK(it->status());
    return contents;
  }

  const std::string dir_ = FreshTempDir("checkpoint_test");
  const std::string copy_ = dir_ + "/copy";
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

}  // namespace

TEST_F(CheckpointTest, HoldsTheStateOfItsTime) {
  Put(0, 100, "flushed");
  ASSERT_OK(db_->Flush(FlushOptions()));
  Put(100, 200, "in the WAL");
  uint64_t seqno = 0;
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, 0, &seqno));
  EXPECT_EQ(seqno, 200u);
  Put(0, 300, "later");
  const auto contents = Contents(copy_);
  EXPECT_EQ(contents.size(), 200u);
  EXPECT_EQ(contents.at("key7"), "flushed");
  EXPECT_EQ(contents.at("key150"), "in the WAL");
}

TEST_F(CheckpointTest, CopiesTheWalIfItMayNotFlush) {
  Put(0, 100, "in the WAL");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, UINT64_MAX));
  uint64_t tables = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.total-sst-files-size", &tables));
  EXPECT_EQ(tables, 0u);
  Put(0, 100, "later");
  const auto contents = Contents(copy_);
  EXPECT_EQ(contents.size(), 100u);
  EXPECT_EQ(contents.at("key7"), "in the WAL");
}

TEST_F(CheckpointTest, SurvivesTheDatabase) {
  Put(0, 100, "value");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_));
  checkpoint_.reset();
  db_.reset();
  ASSERT_OK(DestroyDB(dir_ + "/db", options_));
  EXPECT_EQ(Contents(copy_).size(), 100u);
}

TEST_F(CheckpointTest, RefusesAnExistingDirectory) {
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_));
  EXPECT_TRUE(checkpoint_->CreateCheckpoint(copy_).IsInvalidArgument());
  EXPECT_TRUE(checkpoint_->CreateCheckpoint(copy_ + "//").IsInvalidArgument());
  EXPECT_TRUE(checkpoint_->CreateCheckpoint("/").IsInvalidArgument());
}

TEST_F(CheckpointTest, ReplacesWhatACrashLeft) {
  ASSERT_OK(Env::Default()->CreateDir(copy_ + ".tmp"));
  ASSERT_OK(WriteStringToFile(Env::Default(), "junk", copy_ + ".tmp/CURRENT"));
  Put(0, 10, "value");
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_));
  EXPECT_EQ(Contents(copy_).size(), 10u);
  EXPECT_TRUE(Env::Default()->FileExists(copy_ + ".tmp").IsNotFound());
}

TEST_F(CheckpointTest, FailureLeavesNothingAndKeepsDeleting) {
  Put(0, 10, "value");
  EXPECT_FALSE(checkpoint_->CreateCheckpoint(dir_ + "/missing/copy").ok());
  uint64_t is_enabled = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.is-file-deletions-enabled", &is_enabled));
  EXPECT_EQ(is_enabled, 1u);
}

TEST_F(CheckpointTest, IsMadeOfADatabaseThatIsOpenForReadingOnly) {
  Put(0, 100, "flushed");
  ASSERT_OK(db_->Flush(FlushOptions()));
  Put(100, 200, "in the log");
  checkpoint_.reset();
  ASSERT_OK(db_->Close());
  ASSERT_OK(DB::OpenForReadOnly(options_, dir_ + "/db", &db_));
  Checkpoint* checkpoint = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
  checkpoint_.reset(checkpoint);
  uint64_t seqno = 0;
  ASSERT_OK(checkpoint_->CreateCheckpoint(copy_, 0, &seqno));
  EXPECT_EQ(seqno, 200u);
  std::string options_file;
  EXPECT_OK(GetLatestOptionsFileName(copy_, Env::Default(), &options_file));
  const auto contents = Contents(copy_);
  EXPECT_EQ(contents.size(), 200u);
  EXPECT_EQ(contents.at("key7"), "flushed");
  EXPECT_EQ(contents.at("key150"), "in the log");
  ExportImportFilesMetaData* exported = nullptr;
  EXPECT_TRUE(
      checkpoint_->ExportColumnFamily(db_->DefaultColumnFamily(), dir_ + "/export", &exported)
          .IsNotSupported());  // which flushes
}

// It knows the logs that it has read, and no others.
TEST_F(CheckpointTest, ADatabaseThatIsOpenForReadingOnlyListsNoLogs) {
  Put(0, 10, "in the log");
  checkpoint_.reset();
  ASSERT_OK(db_->Close());
  ASSERT_OK(DB::OpenForReadOnly(options_, dir_ + "/db", &db_));
  VectorWalPtr logs;
  EXPECT_TRUE(db_->GetSortedWalFiles(logs).IsNotSupported());
  std::unique_ptr<WalFile> log;
  EXPECT_TRUE(db_->GetCurrentWalFile(&log).IsNotSupported());
}

}  // namespace ashlar
