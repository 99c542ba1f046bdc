// SPDX-License-Identifier: Apache-2.0
//
// Writers that are held up: by a flush that is slower than they are, or, with low priority, by
// compactions that lag.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr uint64_t kMiB = 1 << 20;

uint64_t MemTableBytes(DB* db) {
  uint64_t bytes = 0;
  EXPECT_TRUE(db->GetIntProperty(DB::Properties::kCurSizeAllMemTables, &bytes));
  return bytes;
}

// Where the flush of a table stands: each of its appends waits until it is let through.
class FlushSteps {
 public:
  // The flush.
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
  // The writer.
  void AwaitAppend() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_waiting_ || is_closed_; });
  }
  // Returns when the next append waits, or the table is written.
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

// The writer, when it would wait for the flush: lets that take a step.
class StepsInsteadOfSleep final : public SleepReplacement {
 public:
  StepsInsteadOfSleep(DB* db, FlushSteps* steps)
      : db_(db), steps_(steps), before_(SetSleepReplacement(this)) {}
  ~StepsInsteadOfSleep() override { SetSleepReplacement(before_); }
  StepsInsteadOfSleep(const StepsInsteadOfSleep&) = delete;
  StepsInsteadOfSleep& operator=(const StepsInsteadOfSleep&) = delete;

  bool RunInsteadOfSleep(uint64_t) override {
    if (steps_->is_closed()) {
      std::this_thread::yield();  // the flush is about to end
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
  uint64_t lowest = UINT64_MAX, highest = 0;  // of the memtables, when the writer waited

 private:
  DB* const db_;
  FlushSteps* const steps_;
  SleepReplacement* const before_;
};

// Beside a flush that goes on only when the writer waits for it.
TEST(WritePace, MemTablesTakeAQuarterMoreThanOneBuffer) {
  FlushSteps steps;
  const std::unique_ptr<Env> memory(NewMemEnv(Env::Default()));
  const std::unique_ptr<Env> env =
      NewCompositeEnv(std::make_shared<SteppedFileSystem>(memory->GetFileSystem(), &steps));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.write_buffer_size = 32 * kMiB;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  const std::string value(16 << 10, 'v');
  uint64_t sealed = 0, puts = 0;
  const auto put = [&] { ASSERT_OK(db->Put(WriteOptions(), std::to_string(puts++), value)); };
  while (sealed == 0) {
    ASSERT_NO_FATAL_FAILURE(put());
    ASSERT_TRUE(db->GetIntProperty(DB::Properties::kNumImmutableMemTable, &sealed));
  }
  steps.AwaitAppend();  // from its first steps on the flush holds writers back
  {
    StepsInsteadOfSleep writer(db.get(), &steps);
    while (!steps.is_closed()) ASSERT_NO_FATAL_FAILURE(put());
    EXPECT_GT(writer.waits, 10);
    constexpr uint64_t kBlockBytes = 2 * kMiB;  // memtables grow by such steps
    EXPECT_GE(writer.lowest, options.write_buffer_size * 9 / 8 - kBlockBytes);
    EXPECT_LE(writer.highest, options.write_buffer_size * 5 / 4 + 2 * kBlockBytes);
  }
}

// Sixteen level-0 files, and a compaction that cannot begin.
class LowPriorityWrite : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    DB* raw = nullptr;
    ASSERT_OK(DB::Open(options, "/db", &raw));
    db_.reset(raw);
    options_.low_pri = options_.no_slowdown = true;
    ASSERT_OK(db_->Put(options_, "before", "nothing lags"));
    no_compactions_.emplace(env_.get(), Env::LOW);
    FlushOptions flush;
    for (int i = 0; i < 16; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "key", std::to_string(i)));
      ASSERT_OK(db_->Flush(flush));
    }
  }
  void TearDown() override {
    no_compactions_.reset();
    db_.reset();
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  std::unique_ptr<DB> db_;
  std::optional<BlockedPool> no_compactions_;
  WriteOptions options_;
};

TEST_F(LowPriorityWrite, IsRefusedWithoutSlowdownWhileCompactionsLag) {
  const Status status = db_->Put(options_, "key", "low");
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "15");
}

TEST_F(LowPriorityWrite, OthersAreNotHeldUp) {
  WriteOptions usual;
  usual.no_slowdown = true;
  EXPECT_OK(db_->Put(usual, "key", "usual"));
}

TEST_F(LowPriorityWrite, IsWrittenInItsTurnWithSlowdown) {
  options_.no_slowdown = false;
  ASSERT_OK(db_->Put(options_, "key", "low"));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "low");
}

}  // namespace
}  // namespace ashlar
