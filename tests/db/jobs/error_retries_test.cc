// SPDX-License-Identifier: Apache-2.0
//
// A database that resumes by itself after errors that may go away: when it tries, when it gives up,
// what listeners hear, and what it leaves to DB::Resume(). Time is passed by hand.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "env/periodic_timer.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // no test takes as long

class Listener final : public EventListener {
 public:
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool* is_automatic) override {
    if (!recovers) *is_automatic = false;
    begun++;
    begun.notify_all();
  }
  void OnErrorRecoveryCompleted(Status) override { completed++; }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    old_error = info.old_bg_error;
    new_error = info.new_bg_error;
    ended++;
    ended.notify_all();
  }

  bool recovers = true;
  std::atomic<int> begun{0}, completed{0}, ended{0};
  Status old_error, new_error;  // read after `ended`
};

class ErrorRetriesTest : public testing::Test {
 protected:
  ErrorRetriesTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.listeners.push_back(listener_);
    options_.statistics = CreateDBStatistics();
    options_.bgerror_resume_retry_interval = kHour;
    options_.disable_auto_compactions = true;  // one would meet the fault that a flush is to meet
    sync_.sync = true;
  }
  void Open() {
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    ASSERT_OK(db_->Put(sync_, "before", "value"));
  }
  void Fail(CallKind kind, const std::string& path_part, FaultError error, FaultMode mode) {
    FaultPlan plan;
    plan.kinds = KindBit(kind);
    plan.path_part = path_part;
    plan.mode = mode;
    plan.error = error;
    plan.first_call = sim_->CallCount();
    sim_->AddFault(plan);
  }
  // Writes are refused from here on.
  void FailFlush(FaultError error, FaultMode mode) {
    Fail(CallKind::kSync, ".sst", error, mode);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
    listener_->begun.wait(0);
  }
  // Until the recovery has ended: each call is one look of the timer.
  void PassTimeUntilItEnds() {
    while (listener_->ended == 0) PeriodicTimer::Default()->PassTime(kHour);
  }
  uint64_t Count(Tickers ticker) { return options_.statistics->getTickerCount(ticker); }
  void ExpectWorks() {
    EXPECT_OK(db_->Put(sync_, "after", "value"));
    EXPECT_OK(db_->Flush(FlushOptions()));
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), "before", &value));
    EXPECT_OK(db_->Get(ReadOptions(), "after", &value));
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  Options options_;
  WriteOptions sync_;
  std::unique_ptr<DB> db_;
};

TEST_F(ErrorRetriesTest, AFailedFlushIsResumedFrom) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_TRUE(db_->Put(sync_, "refused", "value").IsIOError());
  PassTimeUntilItEnds();
  EXPECT_TRUE(listener_->old_error.IsIOError());
  EXPECT_EQ(listener_->old_error.severity(), Status::kHardError);
  EXPECT_OK(listener_->new_error);
  EXPECT_EQ(listener_->completed, 1);
  EXPECT_EQ(Count(ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT), 1u);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_COUNT), 1u);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 1u);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, SoIsAFailedLog) {
  Open();
  Fail(CallKind::kSync, ".log", FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_TRUE(db_->Put(sync_, "failed", "value").IsIOError());
  listener_->begun.wait(0);
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, AFullDiskIsWhenThereIsRoom) {
  Open();
  sim_->SetByteQuota(sim_->UsedBytes());
  Status status;
  while (status.ok()) status = db_->Put(sync_, "filler", std::string(10000, 'v'));
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  listener_->begun.wait(0);
  for (int i = 0; i < 3; i++) PeriodicTimer::Default()->PassTime(kHour);
  EXPECT_TRUE(db_->Put(sync_, "refused", "value").IsNoSpace());
  EXPECT_EQ(listener_->ended, 0);
  sim_->SetByteQuota(uint64_t{1} << 40);
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u) << "it looked for space first";
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, ListenersHearOnceOfAllAttempts) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kNextFive);
  PassTimeUntilItEnds();
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(listener_->ended, 1);
  EXPECT_OK(listener_->new_error);
  EXPECT_GE(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 2u);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 1u);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, GivesUpAfterSoManyAttempts) {
  options_.max_bgerror_resume_count = 3;
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kSticky);
  PassTimeUntilItEnds();
  EXPECT_TRUE(listener_->new_error.IsAborted()) << listener_->new_error.ToString();
  EXPECT_EQ(listener_->completed, 0);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 3u);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 0u);
  sim_->ClearFaults();
  EXPECT_TRUE(db_->Put(sync_, "refused", "value").IsIOError());
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, AfterARecoveryTheNextErrorIsRecoveredFromToo) {
  options_.max_bgerror_resume_count = 2;
  Open();
  for (int i = 0; i < 5; i++) {
    listener_->begun = listener_->ended = 0;
    ASSERT_OK(db_->Put(sync_, "key", "value"));
    FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
    PassTimeUntilItEnds();
    EXPECT_OK(listener_->new_error);
  }
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, IsLeftToACallWithoutAttemptsOrIfAListenerSaysSo) {
  options_.max_bgerror_resume_count = 0;
  Open();
  Fail(CallKind::kSync, ".sst", FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  PeriodicTimer::Default()->PassTime(kHour);
  EXPECT_EQ(listener_->begun, 0);
  EXPECT_OK(db_->Resume());
  db_.reset();
  options_.max_bgerror_resume_count = 5;
  listener_->recovers = false;
  listener_->ended = 0;
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  PeriodicTimer::Default()->PassTime(kHour);
  EXPECT_TRUE(db_->Put(sync_, "refused", "value").IsIOError());
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 0u);
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, WhatDoesNotGoAwayIsLeftToACall) {
  Open();
  Fail(CallKind::kSync, ".sst", FaultError::kIO, FaultMode::kOnce);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  PeriodicTimer::Default()->PassTime(kHour);
  EXPECT_EQ(listener_->begun, 0);
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, ACallMayComeFirst) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_OK(db_->Resume());
  EXPECT_EQ(listener_->ended, 1);
  PeriodicTimer::Default()->PassTime(kHour);
  ExpectWorks();
  EXPECT_EQ(listener_->ended, 1);
}

TEST_F(ErrorRetriesTest, MayBeClosedWhileItWaits) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kSticky);
  IgnoreError(db_->Close(), "the error stands");
  EXPECT_EQ(listener_->ended, 1);
  EXPECT_TRUE(listener_->new_error.IsShutdownInProgress()) << listener_->new_error.ToString();
  db_.reset();
  sim_->ClearFaults();
  PeriodicTimer::Default()->PassTime(kHour);
  Open();
  ExpectWorks();
}

}  // namespace
}  // namespace ashlar
