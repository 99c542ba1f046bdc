// SPDX-License-Identifier: Apache-2.0
//
// What a commit holds while it writes the log, and what it has released before it syncs the log.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "db/transaction/locks/key_locks.h"
#include "db/transaction/optimistic/lock_buckets.h"
#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

// Called in the thread that writes or syncs a log, before it does.
struct LogMoments {
  std::function<void()> at_append = [] {};
  std::function<void()> at_sync = [] {};
};

class WatchedLog final : public FSWritableFileOwnerWrapper {
 public:
  WatchedLog(std::unique_ptr<FSWritableFile> file, const LogMoments* moments)
      : FSWritableFileOwnerWrapper(std::move(file)), moments_(moments) {}
  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    moments_->at_append();
    return FSWritableFileOwnerWrapper::Append(data, options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    moments_->at_sync();
    return FSWritableFileOwnerWrapper::Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    moments_->at_sync();
    return FSWritableFileOwnerWrapper::Fsync(options, dbg);
  }

 private:
  const LogMoments* const moments_;
};

class WatchedLogs final : public FileSystemWrapper {
 public:
  WatchedLogs(const std::shared_ptr<FileSystem>& target, const LogMoments* moments)
      : FileSystemWrapper(target), moments_(moments) {}
  const char* Name() const override { return "WatchedLogs"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, result, dbg);
    if (status.ok() && name.ends_with(".log")) {
      *result = std::make_unique<WatchedLog>(std::move(*result), moments_);
    }
    return status;
  }

 private:
  const LogMoments* const moments_;
};

WriteOptions Synced() {
  WriteOptions options;
  options.sync = true;
  return options;
}

class PessimisticLogTest : public PessimisticFixture {
 protected:
  PessimisticLogTest()
      : watched_env_(
            NewCompositeEnv(std::make_shared<WatchedLogs>(env_->GetFileSystem(), &moments_))) {
    options_.env = watched_env_.get();
    Open();
  }
  ~PessimisticLogTest() override { db_.reset(); }
  // The call syncs the log; at that moment another transaction reads the value and can lock "a".
  void ExpectFreeAtSync(const std::string& value, const std::function<Status()>& commit) {
    int syncs = 0;
    moments_.at_sync = [&] {
      ++syncs;
      auto other = Begin();
      std::string found;
      EXPECT_OK(other->GetForUpdate(ReadOptions(), "a", &found));
      EXPECT_EQ(found, value);
    };
    EXPECT_OK(commit());
    EXPECT_EQ(syncs, 1);
    moments_.at_sync = [] {};
  }

  LogMoments moments_;
  std::unique_ptr<Env> watched_env_;
};

TEST_F(PessimisticLogTest, LocksAreReleasedBeforeTheSync) {
  auto transaction = std::unique_ptr<Transaction>(db_->BeginTransaction(Synced()));
  ASSERT_OK(transaction->Put("a", "1"));
  ExpectFreeAtSync("1", [&] { return transaction->Commit(); });

  transaction.reset(db_->BeginTransaction(Synced()));
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->SetName("name"));
  ASSERT_OK(transaction->Prepare());
  ExpectFreeAtSync("2", [&] { return transaction->Commit(); });

  ExpectFreeAtSync("3", [&] { return db_->Put(Synced(), "a", "3"); });
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "4"));
  ExpectFreeAtSync("4", [&] { return db_->Write(Synced(), &batch); });
}

class OptimisticLogTest : public OptimisticFixture {
 protected:
  OptimisticLogTest()
      : watched_env_(
            NewCompositeEnv(std::make_shared<WatchedLogs>(env_->GetFileSystem(), &moments_))),
        shared_(MakeSharedOccLockBuckets(1024)),
        buckets_(static_cast<LockBuckets*>(shared_.get())) {
    options_.env = watched_env_.get();
    occ_options_.shared_lock_buckets = shared_;
    Open();
  }
  ~OptimisticLogTest() override { Close(); }
  bool IsHeld(const std::string& key) {
    const uint32_t bucket = buckets_->IndexOf(KeyLock::Hash(/*family=*/0, key));
    if (!buckets_->TryLock(bucket)) return true;
    buckets_->Unlock(bucket);
    return false;
  }
  // The call holds the bucket of the key while it writes the log, and not while it syncs the log.
  void ExpectBucketHeld(const std::string& key, const std::function<Status()>& commit) {
    int appends = 0, syncs = 0;
    moments_.at_append = [&] {
      ++appends;
      EXPECT_TRUE(IsHeld(key)) << key;
    };
    moments_.at_sync = [&] {
      ++syncs;
      EXPECT_FALSE(IsHeld(key)) << key;
    };
    EXPECT_OK(commit());
    EXPECT_GT(appends, 0);
    EXPECT_EQ(syncs, 1);
    EXPECT_FALSE(IsHeld(key)) << key;
    moments_ = LogMoments();
  }

  LogMoments moments_;
  std::unique_ptr<Env> watched_env_;
  std::shared_ptr<OccLockBuckets> shared_;
  LockBuckets* const buckets_;
};

TEST_F(OptimisticLogTest, BucketsAreHeldUntilTheCommitIsVisible) {
  auto transaction = std::unique_ptr<Transaction>(db_->BeginTransaction(Synced()));
  ASSERT_OK(transaction->Put("a", "1"));
  ExpectBucketHeld("a", [&] { return transaction->Commit(); });
}

// A key that is read for update is checked as well, and must not be written in between.
TEST_F(OptimisticLogTest, KeysThatAreOnlyReadHaveTheirBuckets) {
  auto transaction = std::unique_ptr<Transaction>(db_->BeginTransaction(Synced()));
  std::string value;
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "read", &value).IsNotFound());
  ASSERT_OK(transaction->Put("a", "1"));
  ExpectBucketHeld("read", [&] { return transaction->Commit(); });
}

// They are not checked, but another commit may have checked them and not written yet.
TEST_F(OptimisticLogTest, KeysThatAreWrittenUntrackedHaveTheirBuckets) {
  auto transaction = std::unique_ptr<Transaction>(db_->BeginTransaction(Synced()));
  ASSERT_OK(transaction->PutUntracked("a", "1"));
  ExpectBucketHeld("a", [&] { return transaction->Commit(); });
}

}  // namespace
}  // namespace ashlar
