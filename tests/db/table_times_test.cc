// SPDX-License-Identifier: Apache-2.0
//
// Every table says when it was made and how old its entries may be, whichever job made it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_env.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class TableTimesTest : public testing::Test {
 protected:
  TableTimesTest() {
    env_ = NewSimEnv(std::make_shared<MemoryFileSystem>(executor_.clock()), &executor_);
    options_.env = env_.get();
    options_.create_if_missing = true;
    Reopen();
  }

  void Reopen() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void PassAnHour() { executor_.clock()->Jump(int64_t{3600} * 1000000); }
  uint64_t Now() {
    int64_t seconds = 0;
    EXPECT_OK(env_->GetCurrentTime(&seconds));
    return static_cast<uint64_t>(seconds);
  }
  LiveFileMetaData OnlyTable() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? LiveFileMetaData() : files.front();
  }
  void ExpectTimes(uint64_t created, uint64_t oldest_ancestor) {
    const LiveFileMetaData file = OnlyTable();
    EXPECT_NEAR(static_cast<double>(file.file_creation_time), static_cast<double>(created), 60);
    EXPECT_NEAR(static_cast<double>(file.oldest_ancester_time),
                static_cast<double>(oldest_ancestor), 60);
    TablePropertiesCollection properties;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&properties));
    ASSERT_EQ(properties.size(), 1u);
    EXPECT_EQ(properties.begin()->second->file_creation_time, file.file_creation_time);
    EXPECT_EQ(properties.begin()->second->creation_time, file.oldest_ancester_time);
    uint64_t oldest = 0;
    ASSERT_OK(db_->GetCreationTimeOfOldestFile(&oldest));
    EXPECT_EQ(oldest, file.file_creation_time);
  }

  SimExecutor executor_{1};
  std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(TableTimesTest, AFlushMakesItNow) {
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  PassAnHour();
  ASSERT_OK(db_->Flush(FlushOptions()));
  ExpectTimes(Now(), Now());
}

TEST_F(TableTimesTest, RecoveryMakesItNow) {
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  db_.reset();
  PassAnHour();
  Reopen();
  ExpectTimes(Now(), Now());
}

TEST_F(TableTimesTest, ACompactionMakesItNowFromEntriesAsOldAsTheOldestTable) {
  const uint64_t start = Now();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  PassAnHour();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "2"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  PassAnHour();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ExpectTimes(Now(), start);
}

}  // namespace ashlar
