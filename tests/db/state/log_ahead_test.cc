// SPDX-License-Identifier: Apache-2.0
//
// A background thread creates the next log before a writer needs it.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "ashlar/file_system.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// Counts the logs that the thread `patient` and other threads create. While this is shut, the other
// threads wait before they create one.
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

class LogAheadTest : public DbTest {
 protected:
  static constexpr uint64_t kBufferBytes = 1 << 20;

  void SetUp() override {
    UseFiles(std::make_shared<WatchedLogs>(memory_, &makers_));
    options_.statistics = CreateDBStatistics();
    options_.write_buffer_size = kBufferBytes;
    options_.arena_block_size = 16 << 10;
    Open();
    ASSERT_EQ(makers_.by_patient(), 1);  // by opening
  }

  uint64_t MemTableBytes() {
    uint64_t bytes = 0;
    EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kCurSizeActiveMemTable, &bytes));
    return bytes;
  }
  void Put() { ASSERT_OK(db_->Put(write_options_, std::to_string(puts_++), value_)); }
  void FillTo(uint64_t bytes) {
    while (MemTableBytes() < bytes) ASSERT_NO_FATAL_FAILURE(Put());
  }
  // Writes until a write finds the memtable full and switches it.
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
    EXPECT_OK(env_->GetChildren("/db", &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
    std::sort(names.begin(), names.end());
    return names;
  }
  // Returns when the background thread has published its log.
  void AwaitJob() { const BlockedPool after(env_.get(), Env::USER); }
  void ExpectAll() {
    for (int i = 0; i < puts_; ++i) EXPECT_EQ(Get(std::to_string(i)), value_) << i;
  }

  LogMakers makers_{std::this_thread::get_id()};
  const std::string value_ = std::string(1000, 'v');
  WriteOptions write_options_;
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
  EXPECT_EQ(Ticks(WAL_PRECREATE_HIT), 4u);
  EXPECT_EQ(Ticks(WAL_PRECREATE_MISS), 0u);
  Reopen();
  ExpectAll();
}

TEST_F(LogAheadTest, NoneIsMadeForAMemTableThatIsHalfFullOrWithoutRecords) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 2));
  AwaitJob();
  EXPECT_EQ(makers_.by_others(), 0);
  Flush();
  write_options_.disableWAL = true;
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  EXPECT_EQ(makers_.by_others(), 0);
  ASSERT_NO_FATAL_FAILURE(FillBeyond());
  EXPECT_EQ(makers_.by_patient(), 2);  // one by the flush; the current log is empty still
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
  Close();
  EXPECT_EQ(Logs().size(), 1u);
  EXPECT_NE(Logs().back(), ahead);
  Open();
  ExpectAll();
}

// A crash can leave the next log, empty, in the directory.
TEST_F(LogAheadTest, AnEmptyLogBehindAllOthersIsNoDamageInAnyMode) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  ASSERT_EQ(Logs().size(), 2u);
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren("/db", &names));
  std::map<std::string, std::string> files;
  for (const std::string& name : names) {
    if (name == "LOCK" || name == "." || name == "..") continue;
    EXPECT_OK(ReadFileToString(env_.get(), "/db/" + name, &files[name]));
  }
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    TestDb copy(std::make_shared<MemoryFileSystem>(), options_);
    copy.options().wal_recovery_mode = mode;
    ASSERT_OK(copy.env()->CreateDirIfMissing("/db"));
    for (const auto& [name, contents] : files) {
      ASSERT_OK(WriteStringToFile(copy.env(), contents, "/db/" + name));
    }
    copy.Open();
    for (int i = 0; i < puts_; ++i) ASSERT_EQ(copy.Get(std::to_string(i)), value_) << i;
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
  Reopen();
  ExpectAll();
}

TEST_F(LogAheadTest, TheSwitchMakesItWhereNoThreadHasCome) {
  auto no_thread = std::make_unique<BlockedPool>(env_.get(), Env::USER);
  ASSERT_NO_FATAL_FAILURE(FillBeyond());
  EXPECT_EQ(makers_.by_patient(), 2);
  no_thread.reset();
  AwaitJob();  // the job finds that the log exists already
  EXPECT_EQ(makers_.by_others(), 0);
  Reopen();
  ExpectAll();
}

// The next log was created before the error, and its number is below that of the log which replaces
// all older ones.
TEST_F(LogAheadTest, RecoveryFromAnErrorUsesANewOne) {
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  AwaitJob();
  ASSERT_EQ(Logs().size(), 2u);
  const std::string ahead = Logs().back();
  makers_.FailSyncs(true);
  EXPECT_TRUE(db_->Put(Synced(), "unsynced", "").IsIOError());
  EXPECT_TRUE(db_->Put(WriteOptions(), "refused", "").IsIOError());
  makers_.FailSyncs(false);
  ASSERT_OK(db_->Resume());
  EXPECT_EQ(makers_.by_patient(), 2);
  const std::vector<std::string> logs = Logs();
  EXPECT_EQ(std::count(logs.begin(), logs.end(), ahead), 0);
  for (int round = 0; round < 2; ++round) ASSERT_NO_FATAL_FAILURE(FillBeyond());
  Reopen();
  ExpectAll();
}

TEST_F(LogAheadTest, ASwitchWaitsForTheOneThatIsBeingMade) {
  makers_.Shut();
  ASSERT_NO_FATAL_FAILURE(FillTo(kBufferBytes / 8 * 7));
  makers_.AwaitOther(1);
  std::thread flush([&] { Flush(); });
  makers_.Open();
  flush.join();
  EXPECT_EQ(makers_.by_patient(), 1);
  EXPECT_EQ(makers_.by_others(), 1);  // not by the thread that flushes
  Reopen();
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
  Open();
  ExpectAll();
}

}  // namespace
}  // namespace ashlar
