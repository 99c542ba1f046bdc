// SPDX-License-Identifier: Apache-2.0
//
// The log that follows the current one is made before it is needed, and not by a writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Who has made logs. While it is shut, whoever is not `patient` waits before he makes one.
class LogMakers {
 public:
  explicit LogMakers(std::thread::id patient) : patient_(patient) {}

  IOStatus Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool is_patient = std::this_thread::get_id() == patient_;
    if (!is_patient) {
      arrived_++;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !is_shut_; });
      if (fails_) return IOStatus::IOError("this one is not made");
    }
    (is_patient ? by_patient_ : by_others_)++;
    return IOStatus::OK();
  }
  void Shut() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_shut_ = true;
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_shut_ = false;
    changed_.notify_all();
  }
  void FailOthers() {
    std::lock_guard<std::mutex> lock(mutex_);
    fails_ = true;
  }
  void FailSyncs(bool fails) {
    std::lock_guard<std::mutex> lock(mutex_);
    fails_syncs_ = fails;
  }
  IOStatus Sync() {
    std::lock_guard<std::mutex> lock(mutex_);
    return fails_syncs_ ? IOStatus::IOError("the log is not synced") : IOStatus::OK();
  }
  void AwaitOther(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }
  int by_patient() {
    std::lock_guard<std::mutex> lock(mutex_);
    return by_patient_;
  }
  int by_others() {
    std::lock_guard<std::mutex> lock(mutex_);
    return by_others_;
  }

 private:
  const std::thread::id patient_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_shut_ = false, fails_ = false, fails_syncs_ = false;
  int arrived_ = 0, by_patient_ = 0, by_others_ = 0;
};

class WatchedLogs final : public FileSystemWrapper {
 public:
  WatchedLogs(const std::shared_ptr<FileSystem>& base, LogMakers* makers)
      : FileSystemWrapper(base), makers_(makers) {}
  const char* Name() const override { return "WatchedLogs"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* debug) override {
    if (!path.ends_with(".log"))
      return FileSystemWrapper::NewWritableFile(path, options, result, debug);
    IOStatus status = makers_->Pass();
    if (status.ok()) status = FileSystemWrapper::NewWritableFile(path, options, result, debug);
    if (status.ok()) *result = std::make_unique<Log>(std::move(*result), makers_);
    return status;
  }

 private:
  class Log final : public FSWritableFileOwnerWrapper {
   public:
    Log(std::unique_ptr<FSWritableFile>&& file, LogMakers* makers)
        : FSWritableFileOwnerWrapper(std::move(file)), makers_(makers) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
      const IOStatus status = makers_->Sync();
      return status.ok() ? FSWritableFileOwnerWrapper::Sync(options, debug) : status;
    }

   private:
    LogMakers* const makers_;
  };

  LogMakers* const makers_;
};

class LogAheadTest : public testing::Test {
 protected:
  static constexpr uint64_t kBufferBytes = 1 << 20;

  void SetUp() override {
    memory_.reset(NewMemEnv(Env::Default()));
    env_ = NewCompositeEnv(std::make_shared<WatchedLogs>(memory_->GetFileSystem(), &makers_));
    options_.env = env_.get();
    options_.statistics = CreateDBStatistics();
    options_.create_if_missing = true;
    options_.write_buffer_size = kBufferBytes;
    options_.arena_block_size = 16 << 10;
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    ASSERT_EQ(makers_.by_patient(), 1);  // by opening
  }

  uint64_t MemTableBytes() {
    uint64_t bytes = 0;
    EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kCurSizeActiveMemTable, &bytes));
    return bytes;
  }
  void Put() {
    ASSERT_OK(db_->Put(write_options_, std::to_string(puts_++), std::string(1000, 'v')));
  }
  void FillTo(uint64_t bytes) {
    while (MemTableBytes() < bytes) ASSERT_NO_FATAL_FAILURE(Put());
  }
  // Up to the write that finds the memtable full and switches it.
  void FillBeyond() {
    const int before = puts_;
    uint64_t bytes = MemTableBytes();
    while (MemTableBytes() >= bytes) {
      bytes = MemTableBytes();
      ASSERT_NO_FATAL_FAILURE(Put());
      ASSERT_LT(puts_, before + 10'000);
    }
  }
  // Names of the logs in the directory, ascending.
  std::vector<std::string> Logs() {
    std::vector<std::string> names;
    EXPECT_OK(memory_->GetChildren("/db", &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
    std::sort(names.begin(), names.end());
    return names;
  }
  // Returns when the background thread has left the log to whoever wants it.
  void AwaitJob() { const BlockedPool after(env_.get(), Env::USER); }
  void Reopen() {
    ASSERT_OK(db_->Close());
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void ExpectAll() {
    std::string value;
    for (int i = 0; i < puts_; ++i) {
      EXPECT_OK(db_->Get(ReadOptions(), std::to_string(i), &value)) << i;
    }
  }

  LogMakers makers_{std::this_thread::get_id()};
  std::unique_ptr<Env> memory_, env_;
  Options options_;
  WriteOptions write_options_;
  std::unique_ptr<DB> db_;
  int puts_ = 0;
};

TEST_F(LogAheadTest, AWriterThatFindsItsMemTableFullMakesNoLog) {
  for (int round = 1; round <= 4; ++round) {
    ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
    AwaitJob();
    EXPECT_EQ(makers_.by_others(), round);
    ASSERT_NO_FATAL_FAILURE(FillBeyond());
  }
  EXPECT_EQ(makers_.by_patient(), 1);
  EXPECT_EQ(makers_.by_others(), 4);
  EXPECT_EQ(options_.statistics->getTickerCount(WAL_PRECREATE_HIT), 4u);
  EXPECT_EQ(options_.statistics->getTickerCount(WAL_PRECREATE_MISS), 0u);
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectAll();
}

TEST_F(LogAheadTest, NoneIsMadeForAMemTableThatIsHalfFullOrWithoutRecords) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 2));
  AwaitJob();
  EXPECT_EQ(makers_.by_others(), 0);
  ASSERT_OK(db_->Flush(FlushOptions()));
  write_options_.disableWAL = true;
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  EXPECT_EQ(makers_.by_others(), 0);
  ASSERT_NO_FATAL_FAILURE(FillBeyond());
  EXPECT_EQ(makers_.by_patient(), 2);  // that of the flush; the current one is empty still
  write_options_.disableWAL = false;
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  EXPECT_EQ(makers_.by_others(), 1);
}

TEST_F(LogAheadTest, OneThatWasNotUsedGoesWithTheDatabase) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  ASSERT_EQ(Logs().size(), 2u);
  const std::string ahead = Logs().back();
  ASSERT_OK(db_->Close());
  EXPECT_EQ(Logs().size(), 1u);
  EXPECT_NE(Logs().back(), ahead);
  db_.reset();
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  ExpectAll();
}

// As a crash leaves the directory: the log is there, and empty.
TEST_F(LogAheadTest, AnEmptyLogBehindAllOthersIsNoDamageInAnyMode) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  ASSERT_EQ(Logs().size(), 2u);
  const std::vector<std::string> names = [&] {
    std::vector<std::string> all;
    EXPECT_OK(memory_->GetChildren("/db", &all));
    return all;
  }();
  std::map<std::string, std::string> files;
  for (const std::string& name : names) {
    if (name == "LOCK" || name == "." || name == "..") continue;
    EXPECT_OK(ReadFileToString(memory_.get(), "/db/" + name, &files[name]));
  }
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    const std::string dir = "/copy" + std::to_string(static_cast<int>(mode));
    ASSERT_OK(memory_->CreateDirIfMissing(dir));
    for (const auto& [name, contents] : files) {
      ASSERT_OK(WriteStringToFile(memory_.get(), contents, dir + "/" + name));
    }
    Options options = options_;
    options.wal_recovery_mode = mode;
    std::unique_ptr<DB> copy;
    ASSERT_OK(DB::Open(options, dir, &copy));
    std::string value;
    for (int i = 0; i < puts_; ++i) {
      ASSERT_OK(copy->Get(ReadOptions(), std::to_string(i), &value)) << i;
    }
  }
}

TEST_F(LogAheadTest, TheSwitchMakesItWhereTheThreadCouldNot) {
  makers_.FailOthers();
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  makers_.AwaitOther(1);
  AwaitJob();
  ASSERT_NO_FATAL_FAILURE(FillBeyond());
  EXPECT_EQ(makers_.by_patient(), 2);
  EXPECT_EQ(makers_.by_others(), 0);
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectAll();
}

TEST_F(LogAheadTest, TheSwitchMakesItWhereNoThreadHasCome) {
  std::optional<BlockedPool> no_thread(std::in_place, env_.get(), Env::USER);
  ASSERT_NO_FATAL_FAILURE(FillBeyond());
  EXPECT_EQ(makers_.by_patient(), 2);
  no_thread.reset();
  AwaitJob();  // the job finds that it comes too late
  EXPECT_EQ(makers_.by_others(), 0);
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectAll();
}

// It was made before what failed, and its number is below that of the log that replaces all others.
TEST_F(LogAheadTest, RecoveryFromAnErrorUsesANewOne) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  ASSERT_EQ(Logs().size(), 2u);
  const std::string ahead = Logs().back();
  makers_.FailSyncs(true);
  WriteOptions synced;
  synced.sync = true;
  EXPECT_TRUE(db_->Put(synced, "unsynced", "").IsIOError());
  EXPECT_TRUE(db_->Put(WriteOptions(), "refused", "").IsIOError());
  makers_.FailSyncs(false);
  ASSERT_OK(db_->Resume());
  EXPECT_EQ(makers_.by_patient(), 2);
  const std::vector<std::string> logs = Logs();
  EXPECT_EQ(std::count(logs.begin(), logs.end(), ahead), 0);
  for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(FillBeyond());
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectAll();
}

TEST_F(LogAheadTest, ASwitchWaitsForTheOneThatIsBeingMade) {
  makers_.Shut();
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  makers_.AwaitOther(1);
  std::thread flush([&] { EXPECT_OK(db_->Flush(FlushOptions())); });
  makers_.Open();
  flush.join();
  EXPECT_EQ(makers_.by_patient(), 1);
  EXPECT_EQ(makers_.by_others(), 1);  // not by the one who flushed
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectAll();
}

TEST_F(LogAheadTest, ClosingWaitsForTheOneThatIsBeingMade) {
  makers_.Shut();
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  makers_.AwaitOther(1);
  std::thread close([&] { EXPECT_OK(db_->Close()); });
  makers_.Open();
  close.join();
  EXPECT_EQ(Logs().size(), 1u);
  db_.reset();
  ASSERT_OK(DB::Open(options_, "/db", &db_));
  ExpectAll();
}

}  // namespace
}  // namespace ashlar
