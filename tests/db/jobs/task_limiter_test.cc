// SPDX-License-Identifier: Apache-2.0
//
// compaction_thread_limiter: compactions of families and databases that share one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/concurrent_task_limiter.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class TaskLimiterTest : public testing::Test {
 protected:
  TaskLimiterTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.level0_file_num_compaction_trigger = 2;
    options_.compaction_thread_limiter = limiter_;
  }
  void TearDown() override {
    one_.reset();
    other_.reset();
    env_->WaitForJoin();
  }
  static void WriteTables(DB* db) {
    for (int i = 0; i < 2; i++) {
      ASSERT_OK(db->Put(WriteOptions(), "a", "v"));
      ASSERT_OK(db->Put(WriteOptions(), "z", "v"));
      ASSERT_OK(db->Flush(FlushOptions()));
    }
  }
  static std::string FilesOnLevel0(DB* db) {
    std::string value;
    EXPECT_TRUE(db->GetProperty("rocksdb.num-files-at-level0", &value));
    return value;
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<ConcurrentTaskLimiter> limiter_{NewConcurrentTaskLimiter("shared", 0)};
  Options options_;
  std::unique_ptr<DB> one_, other_;
};

TEST_F(TaskLimiterTest, WhatIsHeldBackRunsWhenTheLimitIsRaised) {
  ASSERT_OK(DB::Open(options_, "/one", &one_));
  ASSERT_OK(DB::Open(options_, "/other", &other_));
  WriteTables(one_.get());
  WriteTables(other_.get());
  WaitForCompactOptions briefly;
  briefly.timeout = std::chrono::microseconds(1000);
  EXPECT_TRUE(one_->WaitForCompact(briefly).IsTimedOut());
  EXPECT_EQ(FilesOnLevel0(one_.get()), "2");
  limiter_->SetMaxOutstandingTask(1);
  ASSERT_OK(one_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(other_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesOnLevel0(one_.get()), "0");
  EXPECT_EQ(FilesOnLevel0(other_.get()), "0");
  EXPECT_EQ(limiter_->GetOutstandingTask(), 0);
}

TEST_F(TaskLimiterTest, ASuggestionIsNotForgottenWhereItIsHeldBack) {
  options_.level0_file_num_compaction_trigger = 10;
  ASSERT_OK(DB::Open(options_, "/one", &one_));
  env_->SetBackgroundThreads(1, Env::Priority::LOW);
  WriteTables(one_.get());
  ASSERT_OK(one_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(one_->Put(WriteOptions(), "m", "v"));  // one table: of several, one would stand for all
  ASSERT_OK(one_->Flush(FlushOptions()));
  ASSERT_OK(one_->SuggestCompactRange(one_->DefaultColumnFamily(), nullptr, nullptr));
  { const BlockedPool after_the_attempt(env_.get(), Env::Priority::LOW); }
  EXPECT_EQ(FilesOnLevel0(one_.get()), "1");
  limiter_->SetMaxOutstandingTask(1);
  ASSERT_OK(one_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesOnLevel0(one_.get()), "0");
}

TEST_F(TaskLimiterTest, CallsAreNotHeldBack) {
  ASSERT_OK(DB::Open(options_, "/one", &one_));
  WriteTables(one_.get());
  ASSERT_OK(one_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(FilesOnLevel0(one_.get()), "0");
}

TEST_F(TaskLimiterTest, ADatabaseThatWaitsCanBeClosed) {
  ASSERT_OK(DB::Open(options_, "/one", &one_));
  WriteTables(one_.get());
  ASSERT_OK(one_->Close());
  one_.reset();
  limiter_->ResetMaxOutstandingTask();  // tells nobody any more
  ASSERT_OK(DB::Open(options_, "/one", &one_));
  ASSERT_OK(one_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(FilesOnLevel0(one_.get()), "0");
}

TEST_F(TaskLimiterTest, OneThatAProgramWroteIsRefused) {
  class Foreign final : public ConcurrentTaskLimiter {
   public:
    const std::string& GetName() const override { return name_; }
    void SetMaxOutstandingTask(int32_t) override {}
    void ResetMaxOutstandingTask() override {}
    int32_t GetOutstandingTask() const override { return 0; }

   private:
    std::string name_;
  };
  options_.compaction_thread_limiter = std::make_shared<Foreign>();
  EXPECT_TRUE(DB::Open(options_, "/one", &one_).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
