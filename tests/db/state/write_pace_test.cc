// SPDX-License-Identifier: Apache-2.0
//
// Writers are delayed by a flush that is slower than they are, or, with low priority, by
// compactions that lag.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "ashlar/file_system.h"
#include "env/sim/sim_env.h"
#include "tests/db/two_phase/two_phase_writer.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr uint64_t kPaceMiB = 1 << 20;

uint64_t MemTableBytes(DB* db) {
  uint64_t bytes = 0;
  EXPECT_TRUE(db->GetIntProperty(DB::Properties::kCurSizeAllMemTables, &bytes));
  return bytes;
}

// Lets the flush of a table proceed by single appends.
class FlushSteps {
 public:
  // Called by the flush.
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    is_waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return permits_ > 0; });
    --permits_;
    is_waiting_ = false;
  }
  void Close() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }
  // Called by the writer.
  void AwaitAppend() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_waiting_ || is_closed_; });
  }
  // Returns when the next append waits or the table is complete.
  void LetOneThrough() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (is_closed_) return;
      ++permits_;
      is_waiting_ = false;
      changed_.notify_all();
    }
    AwaitAppend();
  }
  bool is_closed() {
    std::lock_guard<std::mutex> lock(mutex_);
    return is_closed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int permits_ = 0;
  bool is_waiting_ = false, is_closed_ = false;
};

class SteppedFileSystem final : public FileSystemWrapper {
 public:
  SteppedFileSystem(const std::shared_ptr<FileSystem>& base, FlushSteps* steps)
      : FileSystemWrapper(base), steps_(steps) {}
  const char* Name() const override { return "SteppedFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, result, debug);
    if (status.ok() && path.ends_with(".sst")) {
      *result = std::make_unique<Table>(std::move(*result), steps_);
    }
    return status;
  }

 private:
  class Table final : public FSWritableFileOwnerWrapper {
   public:
    Table(std::unique_ptr<FSWritableFile>&& file, FlushSteps* steps)
        : FSWritableFileOwnerWrapper(std::move(file)), steps_(steps) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
      steps_->Pass();
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
      const IOStatus status = FSWritableFileOwnerWrapper::Close(options, debug);
      steps_->Close();
      return status;
    }

   private:
    FlushSteps* const steps_;
  };

  FlushSteps* const steps_;
};

// Instead of each sleep of the writer, the flush takes a step.
class StepsInsteadOfSleep final : public SleepReplacement {
 public:
  StepsInsteadOfSleep(DB* db, FlushSteps* steps)
      : db_(db), steps_(steps), before_(SetSleepReplacement(this)) {}
  ~StepsInsteadOfSleep() override { SetSleepReplacement(before_); }
  StepsInsteadOfSleep(const StepsInsteadOfSleep&) = delete;
  StepsInsteadOfSleep& operator=(const StepsInsteadOfSleep&) = delete;

  bool RunInsteadOfSleep(uint64_t) override {
    if (steps_->is_closed()) {
      std::this_thread::yield();  // the flush ends soon
      return false;
    }
    waits++;
    const uint64_t bytes = MemTableBytes(db_);
    lowest = std::min(lowest, bytes);
    highest = std::max(highest, bytes);
    steps_->LetOneThrough();
    return false;
  }

  int waits = 0;
  uint64_t lowest = UINT64_MAX, highest = 0;  // bytes of the memtables when the writer waited

 private:
  DB* const db_;
  FlushSteps* const steps_;
  SleepReplacement* const before_;
};

// With a flush that proceeds only when the writer waits for it.
TEST(WritePace, MemTablesTakeAQuarterMoreThanOneBuffer) {
  FlushSteps steps;
  TestDb test(std::make_shared<SteppedFileSystem>(std::make_shared<MemoryFileSystem>(), &steps));
  Options& options = test.options();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.write_buffer_size = 32 * kPaceMiB;
  test.Open();
  const std::string value(16 << 10, 'v');
  uint64_t sealed = 0, puts = 0;
  const auto put = [&] {
    ASSERT_OK(test.db()->Put(WriteOptions(), std::to_string(puts++), value));
  };
  while (sealed == 0) {
    ASSERT_NO_FATAL_FAILURE(put());
    sealed = test.Number(DB::Properties::kNumImmutableMemTable);
  }
  steps.AwaitAppend();  // the flush delays writers from its first append on
  StepsInsteadOfSleep writer(test.db(), &steps);
  while (!steps.is_closed()) ASSERT_NO_FATAL_FAILURE(put());
  EXPECT_GT(writer.waits, 10);
  constexpr uint64_t kBlockBytes = 2 * kPaceMiB;  // of an arena: memtables grow by such blocks
  EXPECT_GE(writer.lowest, options.write_buffer_size * 9 / 8 - kBlockBytes);
  EXPECT_LE(writer.highest, options.write_buffer_size * 5 / 4 + 2 * kBlockBytes);
}

// Sixteen tables on level 0, and a compaction that cannot begin.
class LowPriorityWrite : public DbTest {
 protected:
  void SetUp() override {
    Open();
    write_.low_pri = write_.no_slowdown = true;
    ASSERT_OK(db_->Put(write_, "before", "nothing lags"));
    no_compactions_.emplace(env_.get(), Env::LOW);
    for (int i = 0; i < 16; ++i) {
      Put("key", std::to_string(i));
      Flush();
    }
  }
  void TearDown() override {
    no_compactions_.reset();
    DbTest::TearDown();
  }

  std::optional<BlockedPool> no_compactions_;
  WriteOptions write_;
};

TEST_F(LowPriorityWrite, IsRefusedWithoutSlowdownWhileCompactionsLag) {
  const Status status = db_->Put(write_, "key", "low");
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_EQ(Get("key"), "15");
}

TEST_F(LowPriorityWrite, OthersAreNotHeldUp) {
  WriteOptions usual;
  usual.no_slowdown = true;
  EXPECT_OK(db_->Put(usual, "key", "usual"));
}

TEST_F(LowPriorityWrite, IsWrittenInItsTurnWithSlowdown) {
  write_.no_slowdown = false;
  ASSERT_OK(db_->Put(write_, "key", "low"));
  EXPECT_EQ(Get("key"), "low");
}

// A decision releases locks, for which others may wait.
class LowPriorityTransaction : public LowPriorityWrite {
 protected:
  LowPriorityTransaction() { options_.allow_2pc = true; }
};

TEST_F(LowPriorityTransaction, IsDecidedAtOnceWhileCompactionsLag) {
  for (const auto policy :
       {TwoPhaseWriter::Policy::kWriteCommitted, TwoPhaseWriter::Policy::kWritePrepared}) {
    TwoPhaseWriter writer(db_.get(), policy);
    ASSERT_OK(writer.PreparePuts("xa", {"a"}));
    ASSERT_OK(writer.PreparePuts("xb", {"b"}));
    const Status status = writer.PreparePuts("xc", {"c"}, write_);
    EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
    EXPECT_OK(writer.Commit("xa", write_));
    EXPECT_OK(writer.Rollback("xb", write_));
    EXPECT_EQ(writer.Undecided(), "");
    EXPECT_EQ(Get("a") + Get("b") + Get("c"), "xa(none)(none)");
    Delete("a");
  }
}

// The time of day may be set back while a database is open. The three tables on level 0 are never
// compacted, so that every write is delayed.
TEST(ClockTest, ASlowedWriterDoesNotWaitForTheTimeItWasBefore) {
  SimExecutor executor(1);
  TestDb test;
  test.UseEnv(NewSimEnv(std::make_shared<MemoryFileSystem>(executor.clock()), &executor));
  Options& options = test.options();
  options.level0_file_num_compaction_trigger = 3;
  options.level0_slowdown_writes_trigger = 3;
  options.level0_stop_writes_trigger = 100;
  options.delayed_write_rate = 100000;
  test.Open();
  for (int i = 0; i < 3; ++i) {
    test.Put(test.Key(i));
    test.Flush();
  }
  ASSERT_OK(test.db()->PauseBackgroundWork());
  const std::string value(20000, 'x');
  for (int i = 0; i < 3; ++i) test.Put("slow", value);
  constexpr int64_t kYearMicros = int64_t{365} * 86400 * 1000000;
  executor.clock()->Jump(-kYearMicros);
  const uint64_t start = test.env()->NowNanos();
  for (int i = 0; i < 3; ++i) test.Put("slow", value);
  const uint64_t seconds = (test.env()->NowNanos() - start) / 1000000000;
  EXPECT_LT(seconds, 100u);
  EXPECT_GT(test.env()->NowNanos() - start, 100000000u) << "the writes were not slowed down at all";
  ASSERT_OK(test.db()->ContinueBackgroundWork());
  test.Close();
}

}  // namespace
}  // namespace ashlar
