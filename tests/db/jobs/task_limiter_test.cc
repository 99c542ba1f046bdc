// SPDX-License-Identifier: Apache-2.0
//
// compaction_thread_limiter: compactions of families and databases that share a limiter.
#include "ashlar/concurrent_task_limiter.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class TaskLimiterTest : public DbTest {
 protected:
  TaskLimiterTest() { SetOptions(this); }
  void SetOptions(TestDb* test) {
    test->options().compression = kNoCompression;
    test->options().level0_file_num_compaction_trigger = 2;
    test->options().compaction_thread_limiter = limiter_;
  }
  static void WriteTables(TestDb* test) {
    for (int i = 0; i < 2; i++) {
      test->Put("a");
      test->Put("z");
      test->Flush();
    }
  }

  const std::shared_ptr<ConcurrentTaskLimiter> limiter_{NewConcurrentTaskLimiter("shared", 0)};
};

TEST_F(TaskLimiterTest, WhatIsHeldBackRunsWhenTheLimitIsRaised) {
  TestDb other;
  SetOptions(&other);
  Open();
  other.Open();
  WriteTables(this);
  WriteTables(&other);
  WaitForCompactOptions briefly;
  briefly.timeout = std::chrono::microseconds(1000);
  EXPECT_TRUE(db_->WaitForCompact(briefly).IsTimedOut());
  EXPECT_EQ(TableCount(0), 2);
  limiter_->SetMaxOutstandingTask(1);
  WaitForJobs();
  other.WaitForJobs();
  EXPECT_EQ(TableCount(0), 0);
  EXPECT_EQ(other.TableCount(0), 0);
  EXPECT_EQ(limiter_->GetOutstandingTask(), 0);
}

TEST_F(TaskLimiterTest, ASuggestionIsNotForgottenWhereItIsHeldBack) {
  options_.level0_file_num_compaction_trigger = 10;
  Open();
  env_->SetBackgroundThreads(1, Env::Priority::LOW);
  WriteTables(this);
  Compact();
  Put("m");  // a single table: with several, one compaction would take them all
  Flush();
  ASSERT_OK(db_->SuggestCompactRange(db_->DefaultColumnFamily(), nullptr, nullptr));
  { const BlockedPool after_the_attempt(env_.get(), Env::Priority::LOW); }
  EXPECT_EQ(TableCount(0), 1);
  limiter_->SetMaxOutstandingTask(1);
  WaitForJobs();
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(TaskLimiterTest, CallsAreNotHeldBack) {
  Open();
  WriteTables(this);
  Compact();
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(TaskLimiterTest, ADatabaseThatWaitsCanBeClosed) {
  Open();
  WriteTables(this);
  Close();
  limiter_->ResetMaxOutstandingTask();  // no database waits for it any more
  Open();
  WaitForJobs();
  EXPECT_EQ(TableCount(0), 0);
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
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
