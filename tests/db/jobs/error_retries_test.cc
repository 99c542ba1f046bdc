// SPDX-License-Identifier: Apache-2.0
//
// A database that resumes by itself after errors that may go away: when it tries, when it gives up,
// what listeners hear, what becomes of writers meanwhile, and what it leaves to DB::Resume(). Time
// is passed by hand.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "ashlar/write_buffer_manager.h"
#include "env/periodic_timer.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // no test takes as long

class Listener final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo&) override {
    flushes++;
    on_flush_begin();
  }
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
  std::function<void()> on_flush_begin = [] {};
  std::atomic<int> flushes{0}, begun{0}, completed{0}, ended{0};
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
  // No flush begins from here on.
  void FailFlush(FaultError error, FaultMode mode) {
    Fail(CallKind::kSync, ".sst", error, mode);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
    listener_->begun.wait(0);
  }
  // Until the recovery has ended: each call is one look of the timer.
  void PassTimeUntilItEnds() {
    while (listener_->ended == 0) PeriodicTimer::Default()->PassTime(kHour);
  }
  std::string Property(const std::string& name) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(name, &value));
    return value;
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

TEST_F(ErrorRetriesTest, WritesGoOnUntilAFailedFlushIsTriedAgain) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_OK(db_->Put(sync_, "meanwhile", "value"));
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_TRUE(db_->WaitForCompact(WaitForCompactOptions()).IsIOError());
  EXPECT_EQ(Property("rocksdb.num-immutable-mem-table"), "1");
  PassTimeUntilItEnds();
  EXPECT_EQ(Property("rocksdb.num-immutable-mem-table"), "0");
  EXPECT_EQ(Property("rocksdb.num-files-at-level0"), "1");
  EXPECT_TRUE(listener_->old_error.IsIOError());
  EXPECT_EQ(listener_->old_error.severity(), Status::kSoftError);
  EXPECT_OK(listener_->new_error);
  EXPECT_EQ(listener_->completed, 1);
  EXPECT_EQ(listener_->flushes, 2);
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
  EXPECT_EQ(listener_->flushes, 1 + 3) << "no other begins meanwhile";
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 3u);
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 0u);
  sim_->ClearFaults();
  EXPECT_OK(db_->Put(sync_, "goes on", "value"));
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
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
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 0u);
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, WhatDoesNotGoAwayIsLeftToACall) {
  Open();
  Fail(CallKind::kSync, ".sst", FaultError::kIO, FaultMode::kOnce);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_TRUE(db_->Put(sync_, "refused", "value").IsIOError());
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

// Neither a flush that failed nor a log, which needs a flush of everything, is tried for.
TEST_F(ErrorRetriesTest, WaitsWhileBackgroundWorkIsPaused) {
  for (const char* failing : {".sst", ".log"}) {
    Open();
    ASSERT_OK(options_.statistics->Reset());
    listener_->begun = listener_->ended = 0;
    Fail(CallKind::kSync, failing, FaultError::kInterrupted, FaultMode::kOnce);
    EXPECT_TRUE(failing == std::string(".sst") ? db_->Flush(FlushOptions()).IsIOError()
                                               : db_->Put(sync_, "failed", "v").IsIOError());
    listener_->begun.wait(0);
    const int flushes_before = listener_->flushes;
    ASSERT_OK(db_->PauseBackgroundWork());
    for (int i = 0; i < 10; i++) PeriodicTimer::Default()->PassTime(kHour);
    EXPECT_EQ(listener_->flushes, flushes_before) << failing;
    EXPECT_EQ(listener_->ended, 0) << failing;
    ASSERT_OK(db_->ContinueBackgroundWork());
    PassTimeUntilItEnds();
    EXPECT_OK(listener_->new_error);
    EXPECT_EQ(Count(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u) << "none was used up";
    ExpectWorks();
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_F(ErrorRetriesTest, MayBeClosedWhileBackgroundWorkIsPaused) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kSticky);
  ASSERT_OK(db_->PauseBackgroundWork());
  PeriodicTimer::Default()->PassTime(kHour);
  IgnoreError(db_->Close(), "the error stands");
  EXPECT_TRUE(listener_->new_error.IsShutdownInProgress()) << listener_->new_error.ToString();
}

// A pause waits for the attempt that runs, as for any job.
TEST_F(ErrorRetriesTest, APauseWaitsForTheAttemptThatRuns) {
  Open();
  Fail(CallKind::kSync, ".log", FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_TRUE(db_->Put(sync_, "failed", "value").IsIOError());
  listener_->begun.wait(0);
  std::atomic<bool> may_go_on{false};
  listener_->on_flush_begin = [&] { may_go_on.wait(false); };
  while (listener_->flushes == 0) PeriodicTimer::Default()->PassTime(kHour);
  std::thread pauses([&] {
    may_go_on = true;
    may_go_on.notify_all();
    EXPECT_OK(db_->PauseBackgroundWork());
    EXPECT_OK(db_->Put(sync_, "accepted", "value")) << "the attempt is over";
  });
  pauses.join();
  ASSERT_OK(db_->ContinueBackgroundWork());
  PassTimeUntilItEnds();
  ExpectWorks();
}

// An attempt may meet what is no mere hitch: writes are refused then, and it is tried for all the
// same.
TEST_F(ErrorRetriesTest, AFlushErrorMayBecomeWorse) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  Fail(CallKind::kSync, ".sst", FaultError::kNoSpace, FaultMode::kSticky);
  Status status;
  while (status.ok()) {
    PeriodicTimer::Default()->PassTime(kHour);
    status = db_->Put(sync_, "until it is worse", "value");
  }
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_EQ(listener_->ended, 0);
  sim_->ClearFaults();
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(listener_->ended, 1);
  ExpectWorks();
}

// Both memtables are full, and one cannot be flushed: the next writer has to wait.
class StalledWriters : public ErrorRetriesTest {
 protected:
  void FillMemTables(FaultMode mode) {
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 2;
    Open();
    FailFlush(FaultError::kInterrupted, mode);
    WriteOptions at_once;
    at_once.no_slowdown = true;
    Status status;
    while (status.ok()) status = db_->Put(at_once, "filler", std::string(10000, 'v'));
    EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  }
};

TEST_F(StalledWriters, WaitForTheAttemptThatSucceeds) {
  FillMemTables(FaultMode::kOnce);
  std::thread writer([this] { EXPECT_OK(db_->Put(WriteOptions(), "waits", "value")); });
  PassTimeUntilItEnds();
  writer.join();
  EXPECT_EQ(Property("rocksdb.is-write-stopped"), "0");
  ExpectWorks();
}

TEST_F(StalledWriters, AreToldWhenItIsGivenUp) {
  options_.max_bgerror_resume_count = 1;
  FillMemTables(FaultMode::kSticky);
  std::thread writer(
      [this] { EXPECT_TRUE(db_->Put(WriteOptions(), "waits in vain", "value").IsIOError()); });
  PassTimeUntilItEnds();
  writer.join();
  sim_->ClearFaults();
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(StalledWriters, AreToldWhereNobodyTries) {
  listener_->recovers = false;
  FillMemTables(FaultMode::kOnce);
  EXPECT_TRUE(db_->Put(WriteOptions(), "refused", "value").IsIOError());
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(StalledWriters, OfAWriteBufferManagerAreTreatedAlike) {
  options_.write_buffer_manager =
      std::make_shared<WriteBufferManager>(64 << 10, nullptr, /*allow_stall=*/true);
  for (const bool recovers : {true, false}) {
    SCOPED_TRACE(recovers);
    listener_->recovers = recovers;
    listener_->begun = listener_->ended = 0;
    Open();
    FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
    const auto fill = [this] {  // beyond the limit
      Status status;
      for (int i = 0; i < 100 && status.ok(); i++) {
        status = db_->Put(WriteOptions(), "filler", std::string(10000, 'v'));
      }
      return status;
    };
    if (recovers) {
      std::thread writer([&] { EXPECT_OK(fill()); });
      PassTimeUntilItEnds();
      writer.join();
    } else {
      EXPECT_TRUE(fill().IsIOError());
      EXPECT_OK(db_->Resume());
    }
    ExpectWorks();
    db_.reset();
  }
}

// Whether families are flushed together, and what fails.
class FamiliesWithAFailedFlush : public ErrorRetriesTest,
                                 public testing::WithParamInterface<std::tuple<bool, const char*>> {
 protected:
  Status PutToBoth(const WriteOptions& options, const std::string& key) {
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, "value"));
    EXPECT_OK(batch.Put(second_.get(), key, "value"));
    return db_->Write(options, &batch);
  }
  Contents ContentsAt(uint64_t call, CrashPolicy policy) {
    const std::unique_ptr<Env> env = NewCompositeEnv(sim_->CrashImage(call, policy));
    Options options;
    options.env = env.get();
    OpenedDb opened;
    Contents contents;
    EXPECT_OK(opened.Open(options, "/db"));
    EXPECT_OK(opened.ReadAll(&contents));
    return contents;
  }

  std::unique_ptr<ColumnFamilyHandle> second_;
};

// What was synced is there whatever call is the last, and both families have the same rows.
TEST_P(FamiliesWithAFailedFlush, LoseNothing) {
  const auto [is_atomic, part] = GetParam();
  options_.atomic_flush = is_atomic;
  Open();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "second", &handle));
  second_.reset(handle);
  ASSERT_OK(db_->Delete(sync_, "before"));
  ASSERT_OK(PutToBoth(sync_, "first"));
  const uint64_t first_call = sim_->CallCount();
  Fail(CallKind::kSync, part, FaultError::kInterrupted, FaultMode::kSticky);
  const std::vector<ColumnFamilyHandle*> both = {db_->DefaultColumnFamily(), second_.get()};
  EXPECT_TRUE(db_->Flush(FlushOptions(), both).IsIOError());
  listener_->begun.wait(0);
  ASSERT_OK(PutToBoth(sync_, "synced"));
  const uint64_t synced_call = sim_->CallCount();
  ASSERT_OK(PutToBoth(WriteOptions(), "unsynced"));
  sim_->ClearFaults();
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  for (const auto& family : both) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(family, "rocksdb.num-files-at-level0", &value));
    EXPECT_EQ(value, "1") << family->GetName();
  }
  ASSERT_OK(PutToBoth(sync_, "after"));
  for (const FileCall& call : sim_->MutatingCalls()) {
    if (call.index < first_call) continue;
    for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
      const Contents contents = ContentsAt(call.index, policy);
      const Rows& rows = contents.at("default");
      EXPECT_EQ(rows, contents.at("second")) << call.index;
      EXPECT_TRUE(rows.contains("first")) << call.index;
      EXPECT_TRUE(call.index < synced_call || rows.contains("synced")) << call.index;
    }
  }
  EXPECT_TRUE(ContentsAt(sim_->CallCount(), CrashPolicy::kStrict)["default"].contains("after"));
  second_.reset();
}

INSTANTIATE_TEST_SUITE_P(All, FamiliesWithAFailedFlush,
                         testing::Combine(testing::Bool(), testing::Values(".sst", "MANIFEST")));

}  // namespace
}  // namespace ashlar
