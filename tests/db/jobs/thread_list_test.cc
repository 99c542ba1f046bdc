// SPDX-License-Identifier: Apache-2.0
//
// Env::GetThreadList() lists the flushes and compactions of a database with their progress, but
// only of databases with enable_thread_tracking. The tests call it from within the jobs.
#include <optional>

#include "ashlar/listener.h"
#include "ashlar/thread_status.h"
#include "tests/support/test_db.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

using Properties = std::map<std::string, uint64_t>;

// Keeps the entry of the thread of a job from the list, at the time of each call of the listener.
class Watcher final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    Look(db, "begin", info.thread_id);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    Look(db, "end", info.thread_id);
  }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    Look(db, "begin", info.thread_id);
  }
  void OnCompactionPreCommit(DB* db, const CompactionJobInfo& info) override {
    Look(db, "written", info.thread_id);
  }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override {
    Look(db, "end", info.thread_id);
  }

  // Of the last job that reached `moment`.
  std::optional<ThreadStatus> At(const std::string& moment) {
    MutexLock lock(&mutex_);
    const auto found = seen_.find(moment);
    return found == seen_.end() ? std::nullopt : std::optional<ThreadStatus>(found->second);
  }
  void Forget() {
    MutexLock lock(&mutex_);
    seen_.clear();
  }

 private:
  void Look(DB* db, const std::string& moment, uint64_t thread_id) {
    std::vector<ThreadStatus> threads;
    EXPECT_OK(db->GetEnv()->GetThreadList(&threads));
    MutexLock lock(&mutex_);
    seen_.erase(moment);
    for (const ThreadStatus& thread : threads) {
      if (thread.thread_id == thread_id) seen_.emplace(moment, thread);
    }
  }

  Mutex mutex_{LockRank::kUtility};
  std::map<std::string, ThreadStatus> seen_ GUARDED_BY(mutex_);
};

class ThreadListTest : public DbTest {
 protected:
  ThreadListTest() {
    options_.enable_thread_tracking = true;
    options_.disable_auto_compactions = true;
    options_.listeners.push_back(watcher_);
  }

  void Open() { DbTest::Open({"default", "family"}); }
  void WriteTable() {
    for (int i = 0; i < 3000; i++) Put(handles_[1], std::to_string(i), std::string(100, 'v'));
    Flush(handles_[1]);
  }
  static Properties PropertiesOf(const ThreadStatus& thread) {
    return ThreadStatus::InterpretOperationProperties(thread.operation_type, thread.op_properties);
  }
  static std::string StageOf(const std::optional<ThreadStatus>& thread) {
    return thread.has_value() ? ThreadStatus::GetOperationStageName(thread->operation_stage)
                              : "not in the list";
  }

  const std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();
};

TEST_F(ThreadListTest, TellsOfAFlush) {
  Open();
  WriteTable();
  WaitForJobs();  // the listener has been called for the end
  const std::optional<ThreadStatus> begin = watcher_->At("begin"), end = watcher_->At("end");
  ASSERT_TRUE(begin.has_value() && end.has_value());
  EXPECT_EQ(begin->thread_type, ThreadStatus::HIGH_PRIORITY);
  EXPECT_EQ(begin->db_name, "/db");
  EXPECT_EQ(begin->cf_name, "family");
  EXPECT_EQ(begin->operation_type, ThreadStatus::OP_FLUSH);
  EXPECT_EQ(StageOf(begin), "FlushJob::Run");
  EXPECT_EQ(StageOf(end), "MemTableList::TryInstallMemtableFlushResults");
  EXPECT_GT(PropertiesOf(*begin)["BytesMemtables"], 300000u);
  EXPECT_EQ(PropertiesOf(*begin)["BytesWritten"], 0u);
  EXPECT_GT(PropertiesOf(*end)["BytesWritten"], 1000u);
  EXPECT_GT(PropertiesOf(*end)["JobID"], 0u);
}

TEST_F(ThreadListTest, TellsOfACompaction) {
  options_.max_subcompactions = 2;
  Open();
  WriteTable();
  WriteTable();
  WaitForJobs();
  watcher_->Forget();
  Compact(handles_[1]);
  WaitForJobs();
  const std::optional<ThreadStatus> begin = watcher_->At("begin"), end = watcher_->At("end");
  ASSERT_TRUE(begin.has_value() && end.has_value());
  EXPECT_EQ(begin->thread_type, ThreadStatus::LOW_PRIORITY);
  EXPECT_EQ(begin->cf_name, "family");
  EXPECT_EQ(StageOf(begin), "CompactionJob::Prepare");
  EXPECT_EQ(StageOf(watcher_->At("written")), "CompactionJob::FinishCompactionOutputFile");
  EXPECT_EQ(StageOf(end), "CompactionJob::Install");
  Properties properties = PropertiesOf(*end);
  EXPECT_EQ(properties["BaseInputLevel"], 0u);
  EXPECT_GT(properties["OutputLevel"], 0u);
  EXPECT_EQ(properties["IsManual"], 1u);
  EXPECT_EQ(properties["IsDeletion"], 0u);
  EXPECT_EQ(properties["IsTrivialMove"], 0u);
  EXPECT_GT(properties["TotalInputBytes"], 1000u);
  EXPECT_GT(properties["BytesRead"], 1000u);
  EXPECT_GT(properties["BytesWritten"], 1000u);
  EXPECT_EQ(PropertiesOf(*begin)["BytesWritten"], 0u);
}

TEST_F(ThreadListTest, SaysNothingOfADatabaseThatDoesNotAsk) {
  options_.enable_thread_tracking = false;
  Open();
  WriteTable();
  WaitForJobs();
  const std::optional<ThreadStatus> begin = watcher_->At("begin");
  ASSERT_TRUE(begin.has_value());
  EXPECT_EQ(begin->operation_type, ThreadStatus::OP_UNKNOWN);
  EXPECT_EQ(begin->db_name, "");
}

TEST_F(ThreadListTest, AThreadThatHasDoneItsJobIsIdle) {
  Open();
  WriteTable();
  WaitForJobs();
  std::vector<ThreadStatus> threads;
  ASSERT_OK(env_->GetThreadList(&threads));
  ASSERT_FALSE(threads.empty());
  for (const ThreadStatus& thread : threads) {
    EXPECT_EQ(thread.operation_type, ThreadStatus::OP_UNKNOWN) << thread.db_name;
  }
}

}  // namespace
}  // namespace ashlar
