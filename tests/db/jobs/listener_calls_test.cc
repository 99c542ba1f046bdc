// SPDX-License-Identifier: Apache-2.0
//
// Calls of listeners besides those of jobs (listener_facts_test.cc): flushes on request, the end of
// handles and databases, the pressure on background threads and, on request, operations on files.
#include <algorithm>
#include <mutex>
#include <utility>

#include "ashlar/listener.h"
#include "env/fault/fault_file_system.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

class CallRecorder final : public EventListener {
 public:
  explicit CallRecorder(bool asks_for_io) : asks_for_io_(asks_for_io) {}

  void OnManualFlushScheduled(DB* db, const std::vector<ManualFlushInfo>& flushes) override {
    CallBack(db);
    for (const ManualFlushInfo& flush : flushes) {
      Note(StrCat("asked for ", flush.cf_name, " ", flush.cf_id, ": ",
                  GetFlushReasonString(flush.flush_reason)));
    }
  }
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* handle) override {
    Note(StrCat("handle of ", handle->GetName(), " ", handle->GetID()));
  }
  void OnDBShutdownBegin(DB* db) override {
    CallBack(db);
    std::string value;
    Note(StrCat("shutdown, a = ", db->Get(ReadOptions(), "a", &value).ok() ? value : "none"));
  }
  void OnBackgroundJobPressureChanged(DB* db, const BackgroundJobPressure& pressure) override {
    CallBack(db);
    const std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_FALSE(is_telling_) << "one call at a time";
    is_telling_ = true;
    pressures_.push_back(pressure);
    is_telling_ = false;
  }
  bool ShouldBeNotifiedOnFileIO() override { return asks_for_io_; }
  void OnFileReadFinish(const FileOperationInfo& info) override { Count("read", info); }
  void OnFileWriteFinish(const FileOperationInfo& info) override {
    Count("write", info);
    const std::lock_guard<std::mutex> lock(mutex_);
    written_[info.path] += info.length;
  }
  void OnFileFlushFinish(const FileOperationInfo& info) override { Count("flush", info); }
  void OnFileSyncFinish(const FileOperationInfo& info) override { Count("sync", info); }
  void OnFileRangeSyncFinish(const FileOperationInfo& info) override { Count("range sync", info); }
  void OnFileTruncateFinish(const FileOperationInfo& info) override { Count("truncate", info); }
  void OnFileCloseFinish(const FileOperationInfo& info) override { Count("close", info); }
  void OnIOError(const IOErrorInfo& info) override {
    Note(StrCat("error of ", static_cast<int>(info.operation), " ", info.file_path));
    info.io_status.PermitUncheckedError();
  }

  std::vector<std::string> TakeNotes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(notes_, {});
  }
  std::vector<BackgroundJobPressure> Pressures() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pressures_;
  }
  // How often each "operation kind-of-file" ran; bytes by path.
  std::map<std::string, int> Counts() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }
  std::map<std::string, uint64_t> Written() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return written_;
  }

 private:
  // Would not return if the caller held the DB mutex.
  static void CallBack(DB* db) {
    ASSERT_NE(db, nullptr);
    EXPECT_FALSE(InEpoch());
    uint64_t number = 0;
    EXPECT_TRUE(db->GetIntProperty("rocksdb.num-live-versions", &number));
  }
  void Note(const std::string& note) {
    const std::lock_guard<std::mutex> lock(mutex_);
    notes_.push_back(note);
  }
  void Count(const std::string& what, const FileOperationInfo& info) {
    EXPECT_FALSE(InEpoch());
    const std::string kind = info.path.find("MANIFEST") != std::string::npos
                                 ? "MANIFEST"
                                 : info.path.substr(info.path.find('.') + 1);
    info.status.PermitUncheckedError();
    const std::lock_guard<std::mutex> lock(mutex_);
    counts_[StrCat(what, " ", kind)]++;
  }

  const bool asks_for_io_;
  std::mutex mutex_;
  bool is_telling_ = false;
  std::vector<std::string> notes_;
  std::vector<BackgroundJobPressure> pressures_;
  std::map<std::string, int> counts_;
  std::map<std::string, uint64_t> written_;
};

using Notes = std::vector<std::string>;

class ListenerCallsTest : public DbTest {
 protected:
  ListenerCallsTest() {
    UseFiles(fs_);
    options_.disable_auto_compactions = true;
  }
  void Open(bool asks_for_io = false) {
    told_ = std::make_shared<CallRecorder>(asks_for_io);
    options_.listeners = {told_};
    DbTest::Open({"default", "other"});
  }
  void Put(size_t family) { DbTest::Put(handles_[family], "a", "1"); }

  const std::shared_ptr<FaultFileSystem> fs_ = std::make_shared<FaultFileSystem>(memory_);
  std::shared_ptr<CallRecorder> told_;
};

TEST_F(ListenerCallsTest, OfFlushesThatCallsAskFor) {
  Open();
  Put(0);
  Put(1);
  Flush(handles_);
  EXPECT_EQ(told_->TakeNotes(),
            (Notes{"asked for default 0: Manual Flush", "asked for other 1: Manual Flush"}));
  Flush(handles_);
  EXPECT_TRUE(told_->TakeNotes().empty()) << "there was nothing to flush";
  Put(1);
  Compact(handles_[1]);
  EXPECT_EQ(told_->TakeNotes(), (Notes{"asked for other 1: Manual Compaction"}));
}

// The listener is called before the call waits for the flush.
TEST_F(ListenerCallsTest, OfAFlushThatHasNotBegun) {
  Open();
  Put(1);
  const BlockedPool no_flushes(env_.get(), Env::Priority::HIGH);
  FlushOptions at_once;
  at_once.wait = false;
  ASSERT_OK(db_->Flush(at_once, handles_[1]));
  EXPECT_EQ(told_->TakeNotes(), (Notes{"asked for other 1: Manual Flush"}));
}

TEST_F(ListenerCallsTest, OfHandlesAndOfTheEnd) {
  Open();
  Put(0);
  ColumnFamilyHandle* third = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "third", &third));
  ASSERT_OK(db_->DropColumnFamily(third));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(third));
  EXPECT_EQ(told_->TakeNotes(), (Notes{"handle of third 2"}));
  DestroyHandles();
  EXPECT_EQ(told_->TakeNotes(), (Notes{"handle of default 0", "handle of other 1"}));
  ASSERT_OK(db_->Close());
  EXPECT_EQ(told_->TakeNotes(), (Notes{"shutdown, a = 1", "handle of default 0"}));
  db_.reset();
  EXPECT_TRUE(told_->TakeNotes().empty()) << "it was closed already";
}

TEST_F(ListenerCallsTest, TheEndComesBeforeTheLastFlush) {
  Open();
  ASSERT_OK(db_->Put(Unlogged(), "a", "2"));
  DestroyHandles();
  told_->TakeNotes();
  db_.reset();
  EXPECT_EQ(told_->TakeNotes(),
            (Notes{"shutdown, a = 2", "asked for default 0: Shut down", "handle of default 0"}));
}

TEST_F(ListenerCallsTest, OfPressure) {
  options_.level0_slowdown_writes_trigger = 4;
  options_.level0_stop_writes_trigger = 8;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  {
    const BlockedPool no_compactions(env_.get(), Env::Priority::LOW);
    for (int i = 0; i < 2; i++) {
      Put(1);
      Flush(handles_[1]);
    }
  }
  WaitForJobs();
  const auto pressures = told_->Pressures();
  ASSERT_GE(pressures.size(), 4u);
  int most_proximity = 0, most_flushes = 0, most_compactions = 0, most_scheduled = 0;
  for (size_t i = 0; i < pressures.size(); i++) {
    const BackgroundJobPressure& now = pressures[i];
    EXPECT_TRUE(now != (i == 0 ? BackgroundJobPressure() : pressures[i - 1])) << i;
    EXPECT_EQ(now.compaction_running, now.compaction_low_running);
    EXPECT_EQ(now.compaction_bottom_running, 0);
    most_proximity = std::max(most_proximity, now.write_stall_proximity_pct);
    most_flushes = std::max(most_flushes, now.flush_running);
    most_compactions = std::max(most_compactions, now.compaction_running);
    most_scheduled = std::max(most_scheduled, now.compaction_scheduled);
  }
  EXPECT_EQ(most_proximity, 50)
      << "two tables of the four that slow writes down, or one memtable of two";
  EXPECT_EQ(most_flushes, 1);
  EXPECT_EQ(most_compactions, 1);
  EXPECT_EQ(most_scheduled, 1);
  EXPECT_TRUE(pressures.back() == BackgroundJobPressure()) << "all is done";
}

TEST_F(ListenerCallsTest, OfOperationsOnFilesIfTheyAsk) {
  options_.bytes_per_sync = 1;
  options_.compression = kNoCompression;
  options_.recycle_log_file_num = 1;
  for (const bool asks : {false, true}) {
    Open(asks);
    EXPECT_EQ(db_->GetFileSystem(), env_->GetFileSystem().get());
    ASSERT_OK(db_->Put(Synced(), handles_[0], "a", std::string(4 << 20, 'v')));
    Flush(handles_[0]);
    EXPECT_EQ(Get("a").size(), size_t{4 << 20});
    for (int i = 0; i < 3; i++) {  // then the log is an obsolete one, of which a rest is left
      Put(0);
      Flush(handles_[0]);
      WaitForJobs();
    }
    const std::vector<LiveFileMetaData> tables = Tables();
    DestroyHandles();
    ASSERT_OK(db_->Close());
    if (!asks) {
      EXPECT_TRUE(told_->Counts().empty());
      continue;
    }
    const auto counts = told_->Counts();
    for (const char* what :
         {"write sst", "sync sst", "close sst", "range sync sst", "read sst", "write log",
          "flush log", "flush sst", "sync log", "close log", "read log", "truncate log",
          "write MANIFEST", "sync MANIFEST", "read MANIFEST"}) {
      EXPECT_TRUE(counts.contains(what)) << what;
    }
    const LiveFileMetaData& newest = *std::max_element(
        tables.begin(), tables.end(),
        [](const auto& a, const auto& b) { return a.file_number < b.file_number; });
    EXPECT_EQ(told_->Written()[newest.directory + "/" + newest.relative_filename], newest.size);
  }
}

TEST_F(ListenerCallsTest, OfOperationsThatFail) {
  Open(/*asks_for_io=*/true);
  Put(0);
  fs_->AddFault({.kinds = KindBit(CallKind::kSync), .path_part = ".sst"});
  EXPECT_TRUE(db_->Flush(FlushOptions(), handles_[0]).IsIOError());
  Notes errors;
  for (const std::string& note : told_->TakeNotes()) {
    if (note.starts_with("error")) errors.push_back(note);
  }
  ASSERT_EQ(errors.size(), 1u);
  const std::string expected =
      StrCat("error of ", static_cast<int>(FileOperationType::kSync), " /db/0");
  EXPECT_TRUE(errors[0].starts_with(expected) && errors[0].ends_with(".sst")) << errors[0];
}

}  // namespace
}  // namespace ashlar
