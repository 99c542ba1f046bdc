// SPDX-License-Identifier: Apache-2.0
//
// Flushes: the reason that listeners receive, counters, waiting for room on level 0, and pools
// without threads.
#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <tuple>

#include "ashlar/listener.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class ReasonListener : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo& info) override { begun = info.flush_reason; }
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override { completed = info.flush_reason; }

  std::atomic<FlushReason> begun{FlushReason::kOthers};
  std::atomic<FlushReason> completed{FlushReason::kOthers};
};

class FlushReasonTest : public DbTest {
 protected:
  FlushReasonTest() {
    options_.disable_auto_compactions = true;
    options_.write_buffer_size = 64 << 10;
    options_.max_total_wal_size = 1 << 30;
    options_.memtable_max_range_deletions = 3;
    options_.listeners = {listener_};
    Open();
  }
  // The last flush had this reason.
  void Expect(FlushReason reason) {
    WaitForJobs();
    EXPECT_STREQ(GetFlushReasonString(listener_->begun), GetFlushReasonString(reason));
    EXPECT_STREQ(GetFlushReasonString(listener_->completed), GetFlushReasonString(reason));
    listener_->begun = listener_->completed = FlushReason::kOthers;
  }
  void Put(const std::string& key, size_t bytes) { DbTest::Put(key, std::string(bytes, 'x')); }

  const std::shared_ptr<ReasonListener> listener_ = std::make_shared<ReasonListener>();
};

TEST_F(FlushReasonTest, OfACall) {
  Put("a", 1);
  Flush();
  Expect(FlushReason::kManualFlush);
}

TEST_F(FlushReasonTest, OfCallsThatNeedOne) {
  Put("a", 1);
  Compact();
  Expect(FlushReason::kManualCompaction);
  Put("a", 1);
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  Expect(FlushReason::kGetLiveFiles);
  ASSERT_OK(db_->Put(Unlogged(), "a", "v"));
  ASSERT_OK(db_->Close());
  EXPECT_STREQ(GetFlushReasonString(listener_->completed),
               GetFlushReasonString(FlushReason::kShutDown));
}

TEST_F(FlushReasonTest, OfAFullMemTable) {
  for (int i = 0; i < 3; i++) Put(std::to_string(i), 60 << 10);
  Expect(FlushReason::kWriteBufferFull);
}

TEST_F(FlushReasonTest, OfTooManyRangeTombstones) {
  for (int i = 0; i < 4; i++) DeleteRange("a", "b");
  Expect(FlushReason::kMemtableMaxRangeDeletions);
  for (int i = 0; i < 2; i++) DeleteRange("a", "b");
  Expect(FlushReason::kOthers);  // not yet
}

TEST_F(FlushReasonTest, OfTooMuchLog) {
  ASSERT_OK(db_->SetDBOptions({{"max_total_wal_size", "20000"}}));
  for (int i = 0; i < 30; i++) Put("a", 1000);
  Expect(FlushReason::kWalFull);
}

// Stops the flush job after it has counted.
class StallHolder final : public EventListener {
 public:
  void OnStallConditionsChanged(const WriteStallInfo&) override {
    // The thread that waits for the flush may be the one that calls the listener.
    std::ignore = may_go_on.try_acquire_for(std::chrono::seconds(2));
  }
  std::counting_semaphore<> may_go_on{0};
};

TEST(FlushCounters, AreThereWhenTheCallReturns) {
  const auto holder = std::make_shared<StallHolder>();
  TestDb test;
  test.options().level0_file_num_compaction_trigger = 1;
  test.options().level0_slowdown_writes_trigger = 1;  // reached by the flush
  test.options().listeners = {holder};
  test.options().statistics = CreateDBStatistics();
  test.Open();
  test.Put("key", std::string(100, 'v'));
  test.Flush();
  EXPECT_GT(test.Ticks(FLUSH_WRITE_BYTES), 0u);
  EXPECT_GT(test.Ticks(MEMTABLE_PAYLOAD_BYTES_AT_FLUSH), 100u);
  HistogramData times;
  test.options().statistics->histogramData(FLUSH_TIME, &times);
  EXPECT_EQ(times.count, 1u);
  holder->may_go_on.release(8);
  test.Close();
}

// A flush on request does not make level 0 so full that writers are slowed down, if a compaction is
// about to make room.
class Level0Listener : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    std::string files;
    EXPECT_TRUE(db->GetProperty("rocksdb.num-files-at-level0", &files));
    level0_files = std::stoi(files);
  }

  std::atomic<int> level0_files{-1};  // when the last flush began
};

class FlushRoomTest : public DbTest {
 protected:
  static constexpr int kSlowdown = 3;

  FlushRoomTest() {
    options_.level0_file_num_compaction_trigger = 2;
    options_.level0_slowdown_writes_trigger = kSlowdown;
    options_.level0_stop_writes_trigger = 100;
    options_.listeners = {listener_};
    at_once_.allow_write_stall = true;
    Open();
  }
  // So many tables on level 0 that the next one slows writers down. Compactions must be blocked.
  void FillLevel0() {
    for (int i = 1; i < kSlowdown; i++) {
      Put("k");
      ASSERT_OK(db_->Flush(at_once_));
      EXPECT_EQ(listener_->level0_files, i - 1);
    }
    Put("k");
  }

  const std::shared_ptr<Level0Listener> listener_ = std::make_shared<Level0Listener>();
  FlushOptions at_once_;
};

TEST_F(FlushRoomTest, WaitsForTheCompaction) {
  auto compactions = std::make_unique<BlockedPool>(env_.get(), Env::Priority::LOW);
  FillLevel0();
  std::thread flush([&] { Flush(); });
  compactions.reset();
  flush.join();
  EXPECT_EQ(listener_->level0_files, 0);
}

TEST_F(FlushRoomTest, DoesNotWaitIfWritersMayBeSlowedDown) {
  const BlockedPool compactions(env_.get(), Env::Priority::LOW);
  FillLevel0();
  ASSERT_OK(db_->Flush(at_once_));
  EXPECT_EQ(listener_->level0_files, kSlowdown - 1);
}

TEST_F(FlushRoomTest, DoesNotWaitForWhatWillNotCome) {
  ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
  FillLevel0();
  Flush();
  EXPECT_EQ(listener_->level0_files, kSlowdown - 1);
}

// The program has removed all threads from the pool in which flushes run.
class NoFlushThreadsTest : public DbTest {
 protected:
  NoFlushThreadsTest() {
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 8;
    Open();
    high_ = env_->GetBackgroundThreads(Env::Priority::HIGH);
    low_ = env_->GetBackgroundThreads(Env::Priority::LOW);
    env_->SetBackgroundThreads(0, Env::Priority::HIGH);
  }
  // The pools are shared by the process.
  void TearDown() override {
    env_->SetBackgroundThreads(high_, Env::Priority::HIGH);
    env_->SetBackgroundThreads(low_, Env::Priority::LOW);
    DbTest::TearDown();
  }
  void FillMoreThanAMemTable() { Fill(40, 4 << 10); }

  int high_ = 0, low_ = 0;
};

TEST_F(NoFlushThreadsTest, FlushesRunAmongCompactions) {
  FillMoreThanAMemTable();
  WaitForCompactOptions wait;
  wait.timeout = std::chrono::seconds(60);
  ASSERT_OK(db_->WaitForCompact(wait));
  EXPECT_GT(TableCount(0), 0);
  Close();
}

TEST_F(NoFlushThreadsTest, ClosingTakesBackWhatNobodyRuns) {
  env_->SetBackgroundThreads(0, Env::Priority::LOW);
  FillMoreThanAMemTable();
  EXPECT_EQ(Number("rocksdb.mem-table-flush-pending"), 1u);
  Close();
}

}  // namespace
}  // namespace ashlar
