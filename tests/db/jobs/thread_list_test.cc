// SPDX-License-Identifier: Apache-2.0
//
// Env::GetThreadList() says of the flushes and compactions of a database what they are, how far
// they have come, and nothing of a database that does not ask for it. Asked from within the jobs.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/thread_status.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

using Properties = std::map<std::string, uint64_t>;

// What the list said of the thread of a job when the listener heard of the job.
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

  // Of the last job that told of `moment`.
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

class ThreadListTest : public testing::Test {
 protected:
  ThreadListTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.enable_thread_tracking = true;
    options_.disable_auto_compactions = true;
    options_.listeners.push_back(watcher_);
  }

  void Open() {
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options_, "family", &handle));
    family_.reset(handle);
  }
  void WriteTable() {
    for (int i = 0; i < 3000; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), family_.get(), std::to_string(i), std::string(100, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions(), family_.get()));
  }
  static Properties PropertiesOf(const ThreadStatus& thread) {
    return ThreadStatus::InterpretOperationProperties(thread.operation_type, thread.op_properties);
  }
  static std::string StageOf(const std::optional<ThreadStatus>& thread) {
    return thread.has_value() ? ThreadStatus::GetOperationStageName(thread->operation_stage)
                              : "not in the list";
  }

  const std::unique_ptr<Env> env_ = NewCompositeEnv(SimFS::Create());
  const std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<ColumnFamilyHandle> family_;  // goes before the database
};

TEST_F(ThreadListTest, TellsOfAFlush) {
  Open();
  WriteTable();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // the listener has heard of the end
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
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  watcher_->Forget();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), family_.get(), nullptr, nullptr));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
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
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  const std::optional<ThreadStatus> begin = watcher_->At("begin");
  ASSERT_TRUE(begin.has_value());
  EXPECT_EQ(begin->operation_type, ThreadStatus::OP_UNKNOWN);
  EXPECT_EQ(begin->db_name, "");
}

TEST_F(ThreadListTest, AThreadThatHasDoneItsJobIsIdle) {
  Open();
  WriteTable();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::vector<ThreadStatus> threads;
  ASSERT_OK(env_->GetThreadList(&threads));
  ASSERT_FALSE(threads.empty());
  for (const ThreadStatus& thread : threads) {
    EXPECT_EQ(thread.operation_type, ThreadStatus::OP_UNKNOWN) << thread.db_name;
  }
}

}  // namespace
}  // namespace ashlar
