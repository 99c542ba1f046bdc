// SPDX-License-Identifier: Apache-2.0
//
// DB::Resume() after errors of logs, flushes and MANIFESTs: acknowledged writes survive a stop of
// the process or of the machine at any time, and the database works again without being reopened.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "ashlar/listener.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ErrorHandlingListener final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    if (on_flush_begin) on_flush_begin(db);
  }
  void OnBackgroundError(BackgroundErrorReason reason, Status* error) override {
    errors.push_back(StrCat(int(reason), " ", error->ToString()));
    was_told = true;
    was_told.notify_all();
    if (on_error) on_error();
  }
  void OnErrorRecoveryCompleted(Status old_error) override {
    completed.push_back(old_error.ToString());
  }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    ended.push_back(StrCat(info.old_bg_error.ToString(), " -> ", info.new_bg_error.ToString()));
  }

  std::function<void(DB*)> on_flush_begin;
  std::function<void()> on_error;
  std::vector<std::string> errors, completed, ended;
  std::atomic<bool> was_told{
      false};  // of an error; a job may report it after its waiters have returned
};

class ErrorRecoveryTest : public DbTest {
 protected:
  ErrorRecoveryTest() : DbTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;  // only Resume() recovers
    options_.listeners.push_back(listener_);
  }

  void Open(int families) {
    std::vector<std::string> names{"default"};
    for (int i = 1; i < families; i++) names.push_back(StrCat("family", i));
    DbTest::Open(names);
    for (int i = 0; i < 10; i++) ASSERT_OK(PutToAll(StrCat("k", i), WriteOptions()));
  }
  // In one batch.
  Status PutToAll(const std::string& key, const WriteOptions& options) {
    WriteBatch batch;
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(batch.Put(handle, key, "value"));
    return db_->Write(options, &batch);
  }
  void Fail(CallKind kind, const std::string& path_part, FaultMode mode = FaultMode::kOnce) {
    DbTest::Fail(kind, path_part, mode, FaultError::kNoSpace,
                 kind == CallKind::kAppend ? FaultEffect::kPartial : FaultEffect::kNone);
  }
  // A call on the log fails while a writer makes it.
  void FailWrite(CallKind kind) {
    Fail(kind, ".log");
    EXPECT_TRUE(PutToAll("failed", Synced()).IsNoSpace());
    sim_->ClearFaults();
  }
  void ExpectWhole() {
    EXPECT_OK(PutToAll("after", WriteOptions()));
    EXPECT_OK(PutToAll("after, synced", Synced()));
    EXPECT_OK(db_->SyncWAL());
    Flush();
    EXPECT_OK(PutToAll("in the end", Synced()));
  }
  // All rows of the files that a crash leaves.
  static Contents ContentsOf(const std::shared_ptr<SimFS>& image) {
    TestDb opened(image);
    opened.OpenAll();
    return opened.ReadAll();
  }

  const std::shared_ptr<ErrorHandlingListener> listener_ =
      std::make_shared<ErrorHandlingListener>();
};

// The number of families, and which call of the log fails.
class LogErrors : public ErrorRecoveryTest,
                  public testing::WithParamInterface<std::tuple<int, CallKind>> {};

}  // namespace

TEST_P(LogErrors, AreRecoveredFromByOneResume) {
  const auto [families, kind] = GetParam();
  Open(families);
  FailWrite(kind);
  EXPECT_FALSE(PutToAll("refused", WriteOptions()).ok());
  EXPECT_FALSE(db_->SyncWAL().ok()) << "unsynced records may be lost";
  EXPECT_OK(db_->Resume());
  ExpectWhole();
  const Contents contents = ContentsOf(CrashImage(CrashPolicy::kStrict));
  EXPECT_EQ(contents.size(), size_t(families));
  for (const auto& [family, rows] : contents) {
    for (int i = 0; i < 10; i++) EXPECT_TRUE(rows.contains(StrCat("k", i))) << family;
    EXPECT_TRUE(rows.contains("in the end")) << family;
    EXPECT_FALSE(rows.contains("refused")) << family;
  }
}

TEST_P(LogErrors, LeaveAFileThatIsNeverTouchedAgain) {
  const auto [families, kind] = GetParam();
  Open(families);
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_EQ(logs.size(), 1u);
  Fail(CallKind::kSync, logs[0]->PathName(), FaultMode::kSticky);
  Fail(CallKind::kAppend, logs[0]->PathName(), FaultMode::kSticky);
  EXPECT_FALSE(PutToAll("failed", Synced()).ok());
  sim_->KeepCalls(true);
  EXPECT_OK(db_->Resume());
  ExpectWhole();
  for (const FileCall& call : sim_->Calls()) {
    if (call.path.find(logs[0]->PathName()) == std::string::npos) continue;
    EXPECT_TRUE(call.kind == CallKind::kClose || call.kind == CallKind::kUnlink ||
                call.kind == CallKind::kTruncate || call.kind == CallKind::kQuery)
        << NameOf(call.kind);
  }
}

// Every image holds a prefix of the writes, the same in all families, with all synced writes.
TEST_P(LogErrors, LoseNothingWhateverCallOfTheRecoveryIsTheLast) {
  const auto [families, kind] = GetParam();
  Open(families);
  ASSERT_OK(PutToAll("synced", Synced()));
  for (int i = 0; i < 10; i++) ASSERT_OK(PutToAll(StrCat("unsynced", i), WriteOptions()));
  FailWrite(kind);
  const uint64_t first_call = sim_->CallCount();
  ASSERT_OK(db_->Resume());
  ASSERT_OK(PutToAll("after", Synced()));
  for (const FileCall& call : sim_->MutatingCalls()) {
    if (call.index < first_call) continue;
    for (CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
      const Contents contents = ContentsOf(sim_->CrashImage(call.index, policy));
      const Rows& first = contents.begin()->second;
      EXPECT_TRUE(first.contains("synced")) << call.index;
      for (const auto& [family, rows] : contents) {
        EXPECT_EQ(rows, first) << family << " at call " << call.index;
      }
      // A failed sync drops the unsynced bytes, as kernels do.
      if (policy == CrashPolicy::kAll && kind == CallKind::kAppend) {
        EXPECT_TRUE(first.contains("unsynced9")) << call.index;
      }
    }
  }
  const Contents contents = ContentsOf(CrashImage(CrashPolicy::kStrict));
  EXPECT_TRUE(contents.begin()->second.contains("after"));
}

INSTANTIATE_TEST_SUITE_P(All, LogErrors,
                         testing::Combine(testing::Values(1, 2),
                                          testing::Values(CallKind::kSync, CallKind::kAppend)));

// A listener of the flush that Resume() runs writes to the database.
TEST_F(ErrorRecoveryTest, AWriteThatIsAcknowledgedMeanwhileSurvivesAKill) {
  Open(1);
  FailWrite(CallKind::kAppend);
  std::vector<std::string> acknowledged;
  std::shared_ptr<SimFS> image;
  listener_->on_flush_begin = [&](DB* db) {
    for (int i = 0; i < 5; i++) {
      if (db->Put(WriteOptions(), StrCat("meanwhile", i), "v").ok()) {
        acknowledged.push_back(StrCat("meanwhile", i));
      }
    }
    image = CrashImage(CrashPolicy::kAll);
  };
  EXPECT_OK(db_->Resume());
  listener_->on_flush_begin = nullptr;
  ASSERT_NE(image, nullptr);
  Contents contents = ContentsOf(image);
  for (const std::string& key : acknowledged) EXPECT_TRUE(contents["default"].contains(key)) << key;
  ExpectWhole();
}

// Nothing that is left has a table then, but the change of the MANIFEST is made all the same.
TEST_F(ErrorRecoveryTest, TheOnlyFamilyThatIsFlushedMayBeDroppedMeanwhile) {
  Open(2);
  Flush(handles_[0]);
  FailWrite(CallKind::kAppend);
  int flushes = 0;
  listener_->on_flush_begin = [&](DB* db) {
    flushes++;
    EXPECT_OK(db->DropColumnFamily(handles_[1]));
  };
  EXPECT_OK(db_->Resume());
  listener_->on_flush_begin = nullptr;
  EXPECT_EQ(flushes, 1);
  EXPECT_OK(db_->Put(Synced(), "after", "value"));
  Contents contents = ContentsOf(CrashImage(CrashPolicy::kStrict));
  EXPECT_EQ(contents.size(), 1u);
  EXPECT_EQ(contents["default"].size(), 11u);
}

TEST_F(ErrorRecoveryTest, ALogSyncThatFailsInsideAFlushIsAnErrorOfTheLog) {
  Open(2);
  Fail(CallKind::kSync, ".log");
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsNoSpace());
  sim_->ClearFaults();
  listener_->was_told.wait(false);
  ASSERT_EQ(listener_->errors.size(), 1u);
  EXPECT_EQ(listener_->errors[0].front(), char('0' + int(BackgroundErrorReason::kWriteCallback)));
  EXPECT_OK(db_->Resume());
  ExpectWhole();
}

TEST_F(ErrorRecoveryTest, NeedsNoDeletionOfFiles) {
  Open(1);
  ASSERT_OK(db_->DisableFileDeletions());
  FailWrite(CallKind::kSync);
  EXPECT_OK(db_->Resume());
  ExpectWhole();
  FailWrite(CallKind::kSync);
  EXPECT_OK(db_->Resume());
  ExpectWhole();
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_GE(logs.size(), 3u) << "they are kept";
  EXPECT_OK(db_->EnableFileDeletions());
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  for (const auto& log : logs) {
    EXPECT_OK(sim_->FileExists("/db" + log->PathName(), IOOptions(), nullptr));
  }
  EXPECT_LE(logs.size(), 2u);
}

TEST_F(ErrorRecoveryTest, NeedsNoBackgroundWork) {
  Open(2);
  FailWrite(CallKind::kSync);
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_OK(db_->Resume());
  EXPECT_OK(PutToAll("after", Synced()));
  ASSERT_OK(db_->ContinueBackgroundWork());
}

TEST_F(ErrorRecoveryTest, WorksBesideWritersWithSync) {
  Open(1);
  std::atomic<bool> stops{false};
  std::atomic<int> succeeded{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; w++) {
    writers.emplace_back([&, w] {
      while (!stops) succeeded += db_->Put(Synced(), StrCat("w", w), "v").ok();
    });
  }
  for (int round = 0; round < 20; round++) {
    Fail(CallKind::kSync, ".log");
    while (db_->Put(Synced(), "until it fails", "v").ok()) {
    }
    sim_->ClearFaults();
    EXPECT_OK(db_->Resume());
    // A late writer that reports the error of the old log does not stop writes again.
    const int before = succeeded;
    while (succeeded < before + 10) {
      const Status status = db_->Put(Synced(), "goes on", "v");
      if (!status.ok()) {
        ADD_FAILURE() << round << ": " << status.ToString();
        break;
      }
    }
  }
  stops = true;
  for (std::thread& writer : writers) writer.join();
}

// The memtables were not flushed, and the log has a torn end.
TEST_F(ErrorRecoveryTest, WhereItFailsNoWriteIsTakenUntilItSucceeds) {
  Open(2);
  FailWrite(CallKind::kAppend);
  for (const CallKind kind : {CallKind::kAppend, CallKind::kSync}) {
    for (const char* part : {"MANIFEST", ".sst"}) {
      Fail(kind, part);
      EXPECT_TRUE(db_->Resume().IsNoSpace());
      sim_->ClearFaults();
      EXPECT_FALSE(PutToAll("refused", WriteOptions()).ok());
      EXPECT_FALSE(db_->SyncWAL().ok());
      Contents contents = ContentsOf(CrashImage(CrashPolicy::kAll));
      EXPECT_EQ(contents["default"].size(), 10u);
      EXPECT_EQ(contents["default"], contents["family1"]);
    }
  }
  EXPECT_OK(db_->Resume());
  ExpectWhole();
}

TEST_F(ErrorRecoveryTest, AFailedFlushIsDoneAgain) {
  Open(2);
  Fail(CallKind::kAppend, ".sst");
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsNoSpace());
  sim_->ClearFaults();
  EXPECT_OK(db_->Resume());
  ExpectWhole();
  EXPECT_OK(db_->Resume()) << "there is nothing to do";
}

TEST_F(ErrorRecoveryTest, ListenersHearOfALogThatFailedOnceAndMayUseTheDatabase) {
  Open(1);
  listener_->on_error = [this] {
    EXPECT_FALSE(db_->Put(WriteOptions(), "from a listener", "v").ok());
    EXPECT_EQ(Get("k1"), "value");
    EXPECT_NE(Property("rocksdb.stats"), "");
  };
  Fail(CallKind::kSync, ".log");
  const Status failed = db_->Put(Synced(), "x", "y");
  sim_->ClearFaults();
  EXPECT_FALSE(db_->Put(Synced(), "x", "y").ok());
  EXPECT_FALSE(db_->SyncWAL().ok());
  ASSERT_EQ(listener_->errors.size(), 1u);
  EXPECT_EQ(listener_->errors[0],
            StrCat(int(BackgroundErrorReason::kWriteCallback), " ", failed.ToString()));
  EXPECT_TRUE(listener_->ended.empty());
  ASSERT_OK(db_->Resume());
  EXPECT_EQ(listener_->completed, (std::vector<std::string>{failed.ToString()}));
  EXPECT_EQ(listener_->ended, (std::vector<std::string>{failed.ToString() + " -> OK"}));
}

TEST_F(ErrorRecoveryTest, ListenersHearOfARecoveryThatFailed) {
  Open(1);
  FailWrite(CallKind::kSync);
  Fail(CallKind::kAppend, ".sst");
  EXPECT_FALSE(db_->Resume().ok());
  sim_->ClearFaults();
  EXPECT_TRUE(listener_->completed.empty());
  ASSERT_EQ(listener_->ended.size(), 1u);
  EXPECT_NE(listener_->ended[0].find(".sst"), std::string::npos) << listener_->ended[0];
}

TEST_F(ErrorRecoveryTest, AnErrorOfASyncOfTheLogAloneIsTold) {
  Open(1);
  Fail(CallKind::kSync, ".log");
  EXPECT_FALSE(db_->SyncWAL().ok());
  sim_->ClearFaults();
  EXPECT_EQ(listener_->errors.size(), 1u);
  EXPECT_OK(db_->Resume());
  ExpectWhole();
}

namespace {

// Keeps all calls in one list, and lets a test wait for them.
class RecoveryListener final : public EventListener {
 public:
  explicit RecoveryListener(bool is_automatic) : is_automatic_(is_automatic) {}
  void OnErrorRecoveryBegin(BackgroundErrorReason reason, Status error,
                            bool* auto_recovery) override {
    EXPECT_TRUE(*auto_recovery);
    *auto_recovery = is_automatic_;
    EXPECT_FALSE(error.ok());
    Add(StrCat("begin ", int(reason)));
  }
  void OnErrorRecoveryCompleted(Status old_error) override {
    EXPECT_FALSE(old_error.ok());
    Add("completed");
  }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    EXPECT_FALSE(info.old_bg_error.ok());
    Add(StrCat("end: ", info.new_bg_error.ToString()));
  }
  void Await(const std::string& event) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return !heard_.empty() && heard_.back() == event; });
  }
  void AwaitCount(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return heard_.size() >= count; });
  }
  std::vector<std::string> heard() {
    std::lock_guard<std::mutex> lock(mutex_);
    return heard_;
  }

 private:
  void Add(const std::string& event) {
    std::lock_guard<std::mutex> lock(mutex_);
    heard_.push_back(event);
    changed_.notify_all();
  }
  const bool is_automatic_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> heard_;
};

const std::string kBegin = StrCat("begin ", int(BackgroundErrorReason::kCompaction));

class FailingCompaction : public ErrorRecoveryTest {
 protected:
  // Level 0 is due for compaction, and no table can be written.
  void Begin(bool is_automatic) {
    recovery_ = std::make_shared<RecoveryListener>(is_automatic);
    options_.listeners = {recovery_};
    options_.disable_auto_compactions = true;
    options_.level0_file_num_compaction_trigger = 2;
    Open(1);
    for (int i = 0; i < 2; i++) {
      ASSERT_OK(PutToAll("k", WriteOptions()));
      Flush();
    }
    Fail(CallKind::kAppend, ".sst", FaultMode::kSticky);
    ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
    recovery_->Await(kBegin);
  }
  std::shared_ptr<RecoveryListener> recovery_;
};

}  // namespace

TEST_F(FailingCompaction, IsTriedAgainAndListenersHearTheBeginningAndTheEnd) {
  ASSERT_NO_FATAL_FAILURE(Begin(/*is_automatic=*/true));
  EXPECT_OK(PutToAll("goes on", WriteOptions()));
  sim_->ClearFaults();
  recovery_->Await("end: OK");
  EXPECT_EQ(recovery_->heard(), (std::vector<std::string>{kBegin, "completed", "end: OK"}));
  WaitForJobs();
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(FailingCompaction, IsLeftToResumeIfAListenerSaysSo) {
  ASSERT_NO_FATAL_FAILURE(Begin(/*is_automatic=*/false));
  sim_->ClearFaults();
  EXPECT_TRUE(db_->WaitForCompact(WaitForCompactOptions()).IsNoSpace());
  EXPECT_EQ(TableCount(0), 2);
  EXPECT_OK(PutToAll("goes on", WriteOptions()));
  EXPECT_EQ(recovery_->heard(), std::vector<std::string>{kBegin});
  ASSERT_OK(db_->Resume());
  EXPECT_EQ(recovery_->heard(), (std::vector<std::string>{kBegin, "completed", "end: OK"}));
  WaitForJobs();
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(FailingCompaction, OfACallRunsWhileTheOthersWaitForResume) {
  ASSERT_NO_FATAL_FAILURE(Begin(/*is_automatic=*/false));
  sim_->ClearFaults();
  Compact();
  EXPECT_EQ(TableCount(0), 0);
  EXPECT_TRUE(db_->WaitForCompact(WaitForCompactOptions()).IsNoSpace()) << "no call of Resume()";
}

TEST_F(FailingCompaction, IsGivenUpWhenTheDatabaseCloses) {
  ASSERT_NO_FATAL_FAILURE(Begin(/*is_automatic=*/true));
  ASSERT_OK(db_->Close());
  EXPECT_EQ(recovery_->heard().size(), 2u);
  EXPECT_EQ(recovery_->heard().back(), "end: " + Status::ShutdownInProgress().ToString());
}

TEST_F(FailingCompaction, EndsInAWorseError) {
  ASSERT_NO_FATAL_FAILURE(Begin(/*is_automatic=*/true));
  ASSERT_OK(PutToAll("k", WriteOptions()));
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  // The error of the flush may be reported before or after that of the compaction.
  recovery_->AwaitCount(2);
  const std::vector<std::string> heard = recovery_->heard();
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_TRUE(heard[1].starts_with("end: IO error: No space")) << heard[1];
  sim_->ClearFaults();
  ASSERT_OK(db_->Resume());
}

}  // namespace ashlar
