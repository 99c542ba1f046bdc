// SPDX-License-Identifier: Apache-2.0
//
// What listeners are told beside the facts of jobs (listener_facts_test.cc): flushes that calls ask
// for, handles and databases that come to their end, how busy background threads are, and, if they
// ask, the operations on files.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "env/fault/fault_file_system.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

class Recorder final : public EventListener {
 public:
  explicit Recorder(bool asks_for_io) : asks_for_io_(asks_for_io) {}

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
  // "what kind-of-file" and how often; bytes by path.
  std::map<std::string, int> Counts() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }
  std::map<std::string, uint64_t> Written() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return written_;
  }

 private:
  // Would never return if the caller held the DB mutex.
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

class ListenerCallsTest : public testing::Test {
 protected:
  ListenerCallsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.disable_auto_compactions = true;
  }
  ~ListenerCallsTest() override {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
  }
  void Open(bool asks_for_io = false) {
    told_ = std::make_shared<Recorder>(asks_for_io);
    options_.listeners = {told_};
    ASSERT_OK(
        DB::Open(options_, "/db", {{"default", options_}, {"other", options_}}, &handles_, &db_));
  }
  void Put(int family) { ASSERT_OK(db_->Put(WriteOptions(), handles_[size_t(family)], "a", "1")); }

  const std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  const std::shared_ptr<FaultFileSystem> fs_ =
      std::make_shared<FaultFileSystem>(memory_->GetFileSystem());
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  std::shared_ptr<Recorder> told_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

TEST_F(ListenerCallsTest, OfFlushesThatCallsAskFor) {
  Open();
  Put(0);
  Put(1);
  ASSERT_OK(db_->Flush(FlushOptions(), handles_));
  EXPECT_EQ(told_->TakeNotes(),
            (Notes{"asked for default 0: Manual Flush", "asked for other 1: Manual Flush"}));
  ASSERT_OK(db_->Flush(FlushOptions(), handles_));
  EXPECT_TRUE(told_->TakeNotes().empty()) << "there was nothing to flush";
  Put(1);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), handles_[1], nullptr, nullptr));
  EXPECT_EQ(told_->TakeNotes(), (Notes{"asked for other 1: Manual Compaction"}));
}

// Told before it is waited for.
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
  for (ColumnFamilyHandle* handle : handles_) delete handle;
  handles_.clear();
  EXPECT_EQ(told_->TakeNotes(), (Notes{"handle of default 0", "handle of other 1"}));
  ASSERT_OK(db_->Close());
  EXPECT_EQ(told_->TakeNotes(), (Notes{"shutdown, a = 1", "handle of default 0"}));
  db_.reset();
  EXPECT_TRUE(told_->TakeNotes().empty()) << "it was closed";
}

TEST_F(ListenerCallsTest, TheEndComesBeforeTheLastFlush) {
  Open();
  WriteOptions without_log;
  without_log.disableWAL = true;
  ASSERT_OK(db_->Put(without_log, "a", "2"));
  for (ColumnFamilyHandle* handle : handles_) delete handle;
  handles_.clear();
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
      ASSERT_OK(db_->Flush(FlushOptions(), handles_[1]));
    }
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
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
  EXPECT_EQ(most_proximity, 50) << "two tables, slow at four; or a memtable of two";
  EXPECT_EQ(most_flushes, 1);
  EXPECT_EQ(most_compactions, 1);
  EXPECT_EQ(most_scheduled, 1);
  EXPECT_TRUE(pressures.back() == BackgroundJobPressure()) << "all is done";
}

TEST_F(ListenerCallsTest, OfOperationsOnFilesIfTheyAsk) {
  options_.bytes_per_sync = 1;
  options_.compression = kNoCompression;
  for (const bool asks : {false, true}) {
    Open(asks);
    EXPECT_EQ(db_->GetFileSystem(), env_->GetFileSystem().get());
    WriteOptions durable;
    durable.sync = true;
    ASSERT_OK(db_->Put(durable, handles_[0], "a", std::string(4 << 20, 'v')));
    ASSERT_OK(db_->Flush(FlushOptions(), handles_[0]));
    std::string value;
    ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
    std::vector<LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    ASSERT_OK(db_->Close());
    if (!asks) {
      EXPECT_TRUE(told_->Counts().empty());
      continue;
    }
    const auto counts = told_->Counts();
    for (const char* what : {"write sst", "sync sst", "close sst", "range sync sst", "read sst",
                             "write log", "flush log", "flush sst", "sync log", "close log",
                             "read log", "write MANIFEST", "sync MANIFEST", "read MANIFEST"}) {
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
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = ".sst";
  plan.first_call = fs_->CallCount();
  fs_->AddFault(plan);
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
