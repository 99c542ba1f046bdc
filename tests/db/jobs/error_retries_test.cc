// SPDX-License-Identifier: Apache-2.0
//
// Automatic recovery from errors that may go away: when the database retries, when it gives up,
// which calls listeners receive, what writers experience meanwhile, and which errors need
// DB::Resume(). The tests advance the time by hand.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>

#include "ashlar/listener.h"
#include "ashlar/write_buffer_manager.h"
#include "env/periodic_timer.h"
#include "tests/support/test_db.h"
#include "util/result.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // longer than any test runs

class RetryListener final : public EventListener {
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

class ErrorRetriesTest : public DbTest {
 protected:
  ErrorRetriesTest() : DbTest(TestFiles::kSim) {
    options_.listeners.push_back(listener_);
    options_.statistics = CreateDBStatistics();
    options_.bgerror_resume_retry_interval = kHour;
    options_.disable_auto_compactions =
        true;  // a compaction could hit the fault that is meant for a flush
  }
  void Open() {
    DbTest::Open();
    ASSERT_OK(db_->Put(Synced(), "before", "value"));
  }
  void Fail(CallKind kind, const std::string& path_part, FaultError error, FaultMode mode) {
    DbTest::Fail(kind, path_part, mode, error);
  }
  // No other flush begins after this one.
  void FailFlush(FaultError error, FaultMode mode) {
    Fail(CallKind::kSync, ".sst", error, mode);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
    listener_->begun.wait(0);
  }
  // Until the recovery has ended. Each call makes the timer run once.
  void PassTimeUntilItEnds() {
    while (listener_->ended == 0) PeriodicTimer::Default()->PassTime(kHour);
  }
  void ExpectWorks() {
    EXPECT_OK(db_->Put(Synced(), "after", "value"));
    Flush();
    EXPECT_EQ(Get("before"), "value");
    EXPECT_EQ(Get("after"), "value");
  }

  const std::shared_ptr<RetryListener> listener_ = std::make_shared<RetryListener>();
};

TEST_F(ErrorRetriesTest, WritesGoOnUntilAFailedFlushIsTriedAgain) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_OK(db_->Put(Synced(), "meanwhile", "value"));
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
  EXPECT_EQ(Ticks(ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT), 1u);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_COUNT), 1u);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 1u);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, SoIsAFailedLog) {
  Open();
  Fail(CallKind::kSync, ".log", FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_TRUE(db_->Put(Synced(), "failed", "value").IsIOError());
  listener_->begun.wait(0);
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, AFullDiskIsWhenThereIsRoom) {
  Open();
  sim_->SetByteQuota(sim_->UsedBytes());
  Status status;
  while (status.ok()) status = db_->Put(Synced(), "filler", std::string(10000, 'v'));
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  listener_->begun.wait(0);
  for (int i = 0; i < 3; i++) PeriodicTimer::Default()->PassTime(kHour);
  EXPECT_TRUE(db_->Put(Synced(), "refused", "value").IsNoSpace());
  EXPECT_EQ(listener_->ended, 0);
  sim_->SetByteQuota(uint64_t{1} << 40);
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u)
      << "it waits for free space before the first attempt";
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, ListenersHearOnceOfAllAttempts) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kNextFive);
  PassTimeUntilItEnds();
  EXPECT_EQ(listener_->begun, 1);
  EXPECT_EQ(listener_->ended, 1);
  EXPECT_OK(listener_->new_error);
  EXPECT_GE(Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 2u);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 1u);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, GivesUpAfterSoManyAttempts) {
  options_.max_bgerror_resume_count = 3;
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kSticky);
  PassTimeUntilItEnds();
  EXPECT_TRUE(listener_->new_error.IsAborted()) << listener_->new_error.ToString();
  EXPECT_EQ(listener_->completed, 0);
  EXPECT_EQ(listener_->flushes, 1 + 3) << "no other flush begins meanwhile";
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 3u);
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT), 0u);
  sim_->ClearFaults();
  EXPECT_OK(db_->Put(Synced(), "goes on", "value"));
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, AfterARecoveryTheNextErrorIsRecoveredFromToo) {
  options_.max_bgerror_resume_count = 2;
  Open();
  for (int i = 0; i < 5; i++) {
    listener_->begun = listener_->ended = 0;
    ASSERT_OK(db_->Put(Synced(), "key", "value"));
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
  Close();
  options_.max_bgerror_resume_count = 5;
  listener_->recovers = false;
  listener_->ended = 0;
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kOnce);
  PeriodicTimer::Default()->PassTime(kHour);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 0u);
  EXPECT_OK(db_->Resume());
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, WhatDoesNotGoAwayIsLeftToACall) {
  Open();
  Fail(CallKind::kSync, ".sst", FaultError::kIO, FaultMode::kOnce);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  EXPECT_TRUE(db_->Put(Synced(), "refused", "value").IsIOError());
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

// Nothing is left to flush then.
TEST_F(ErrorRetriesTest, TheOnlyFamilyThatIsFlushedMayBeDroppedMeanwhile) {
  listener_->recovers = false;
  DbTest::Open({"default", "second"});
  Put("before", "value");
  Flush();
  Put(handles_[1], "key", "value");
  Fail(CallKind::kSync, ".sst", FaultError::kInterrupted, FaultMode::kOnce);
  EXPECT_TRUE(db_->Flush(FlushOptions(), handles_[1]).IsIOError());
  listener_->begun.wait(0);
  listener_->on_flush_begin = [this] { EXPECT_OK(db_->DropColumnFamily(handles_[1])); };
  EXPECT_OK(db_->Resume());
  listener_->on_flush_begin = [] {};
  EXPECT_EQ(listener_->flushes, 3);
  EXPECT_EQ(listener_->old_error.severity(), Status::kSoftError);
  EXPECT_OK(listener_->new_error);
  ExpectWorks();
}

TEST_F(ErrorRetriesTest, MayBeClosedWhileItWaits) {
  Open();
  FailFlush(FaultError::kInterrupted, FaultMode::kSticky);
  IgnoreError(db_->Close(), "the error of the flush is still there");
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
                                               : db_->Put(Synced(), "failed", "v").IsIOError());
    listener_->begun.wait(0);
    const int flushes_before = listener_->flushes;
    ASSERT_OK(db_->PauseBackgroundWork());
    for (int i = 0; i < 10; i++) PeriodicTimer::Default()->PassTime(kHour);
    EXPECT_EQ(listener_->flushes, flushes_before) << failing;
    EXPECT_EQ(listener_->ended, 0) << failing;
    ASSERT_OK(db_->ContinueBackgroundWork());
    PassTimeUntilItEnds();
    EXPECT_OK(listener_->new_error);
    EXPECT_EQ(Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT), 1u) << "none was used up";
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
  EXPECT_TRUE(db_->Put(Synced(), "failed", "value").IsIOError());
  listener_->begun.wait(0);
  std::atomic<bool> may_go_on{false};
  listener_->on_flush_begin = [&] { may_go_on.wait(false); };
  while (listener_->flushes == 0) PeriodicTimer::Default()->PassTime(kHour);
  std::thread pauses([&] {
    may_go_on = true;
    may_go_on.notify_all();
    EXPECT_OK(db_->PauseBackgroundWork());
    EXPECT_OK(db_->Put(Synced(), "accepted", "value")) << "the attempt is over";
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
    status = db_->Put(Synced(), "until it is worse", "value");
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

// Both memtables are full and one of them cannot be flushed, so the next writer has to wait.
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
  std::thread writer([this] { Put("waits", "value"); });
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
    const auto fill = [this] {  // more than the limit
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
    Close();
  }
}

// Whether families are flushed atomically, and which file fails.
class FamiliesWithAFailedFlush : public ErrorRetriesTest,
                                 public testing::WithParamInterface<std::tuple<bool, const char*>> {
 protected:
  Status PutToBoth(const WriteOptions& options, const std::string& key) {
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, "value"));
    EXPECT_OK(batch.Put(handles_[1], key, "value"));
    return db_->Write(options, &batch);
  }
  Contents ContentsAt(uint64_t call, CrashPolicy policy) {
    TestDb opened(sim_->CrashImage(call, policy));
    opened.OpenAll();
    return opened.ReadAll();
  }
};

// Wherever the machine stops, synced writes are there, and both families have the same rows.
TEST_P(FamiliesWithAFailedFlush, LoseNothing) {
  const auto [is_atomic, part] = GetParam();
  options_.atomic_flush = is_atomic;
  DbTest::Open({"default", "second"});
  ASSERT_OK(PutToBoth(Synced(), "first"));
  const uint64_t first_call = sim_->CallCount();
  Fail(CallKind::kSync, part, FaultError::kInterrupted, FaultMode::kSticky);
  EXPECT_TRUE(db_->Flush(FlushOptions(), handles_).IsIOError());
  listener_->begun.wait(0);
  ASSERT_OK(PutToBoth(Synced(), "synced"));
  const uint64_t synced_call = sim_->CallCount();
  ASSERT_OK(PutToBoth(WriteOptions(), "unsynced"));
  sim_->ClearFaults();
  PassTimeUntilItEnds();
  EXPECT_OK(listener_->new_error);
  for (ColumnFamilyHandle* family : handles_) EXPECT_EQ(TableCount(0, family), 1);
  ASSERT_OK(PutToBoth(Synced(), "after"));
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
}

INSTANTIATE_TEST_SUITE_P(All, FamiliesWithAFailedFlush,
                         testing::Combine(testing::Bool(), testing::Values(".sst", "MANIFEST")));

}  // namespace
}  // namespace ashlar
