// SPDX-License-Identifier: Apache-2.0
//
// Optimistic transactions: what is a conflict and what is not, under both policies.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "ashlar/table_properties.h"
#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

class OptimisticTest : public OptimisticFixture,
                       public testing::WithParamInterface<OccValidationPolicy> {
 protected:
  OptimisticTest() : OptimisticFixture(GetParam()) {}
  void SetUp() override { Open(); }
};

INSTANTIATE_TEST_SUITE_P(Policies, OptimisticTest,
                         testing::Values(OccValidationPolicy::kValidateSerial,
                                         OccValidationPolicy::kValidateParallel));

TEST_P(OptimisticTest, UpdatesAreSeenByOwnReadsAtOnceAndByOthersAfterCommit) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "1");
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
}

TEST_P(OptimisticTest, AWriteOfOthersBehindTheFirstUseIsBusyUntilRollback) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "mine"));
  ASSERT_OK(Put("a", "theirs"));
  EXPECT_TRUE(transaction->Commit().IsBusy());
  EXPECT_TRUE(transaction->Commit().IsBusy());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "theirs");
  ASSERT_OK(transaction->Rollback());
  EXPECT_EQ(transaction->GetNumKeys(), 0u);
  ASSERT_OK(transaction->Put("a", "again"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "again");
}

// A blob of the log is no update, but it is to reach the log.
TEST_P(OptimisticTest, ATransactionWithLogDataAloneIsWritten) {
  auto transaction = Begin();
  transaction->PutLogData("note");
  ASSERT_OK(transaction->Commit());
  std::unique_ptr<TransactionLogIterator> updates;
  ASSERT_OK(Put("a", "1"));
  ASSERT_OK(db_->GetUpdatesSince(0, &updates));
  struct Blobs : WriteBatch::Handler {
    Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
    void LogData(const Slice& blob) override { found += blob.ToString(); }
    std::string found;
  } blobs;
  for (; updates->Valid(); updates->Next()) {
    ASSERT_OK(updates->GetBatch().writeBatchPtr->Iterate(&blobs));
  }
  EXPECT_EQ(blobs.found, "note");
}

// Values that are overwritten in place keep their sequence numbers: a check would miss the write.
TEST(TransactionFamilies, WithUpdatesInPlaceAreRefused) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.inplace_update_support = true;
  options.allow_concurrent_memtable_write = false;
  TransactionDB* locking = nullptr;
  EXPECT_TRUE(
      TransactionDB::Open(options, TransactionDBOptions(), "/db", &locking).IsNotSupported());
  OptimisticTransactionDB* optimistic = nullptr;
  EXPECT_TRUE(OptimisticTransactionDB::Open(options, "/db", &optimistic).IsNotSupported());
}

TEST_P(OptimisticTest, WithASnapshotWritesSinceThenConflict) {
  auto transaction = Begin(/*set_snapshot=*/true);
  ASSERT_OK(Put("a", "theirs"));
  ASSERT_OK(transaction->Put("a", "mine"));
  EXPECT_TRUE(transaction->Commit().IsBusy());

  auto late = Begin();
  ASSERT_OK(Put("b", "theirs"));
  ASSERT_OK(late->Put("b", "mine"));
  ASSERT_OK(late->Commit());
}

TEST_P(OptimisticTest, ReadsForUpdateAreCheckedPlainReadsAreNot) {
  ASSERT_OK(Put("a", "0"));
  std::string value;
  auto reader = Begin();
  ASSERT_OK(reader->GetForUpdate(ReadOptions(), "a", &value));
  auto plain = Begin();
  ASSERT_OK(plain->Get(ReadOptions(), "a", &value));
  ASSERT_OK(Put("a", "1"));
  EXPECT_TRUE(reader->Commit().IsBusy());
  ASSERT_OK(plain->Put("b", "1"));
  ASSERT_OK(plain->Commit());
}

TEST_P(OptimisticTest, UntrackedWritesAndUndoneReadsAreNotChecked) {
  std::string value;
  auto transaction = Begin();
  ASSERT_OK(transaction->PutUntracked("a", "mine"));
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "b", &value).IsNotFound());
  transaction->UndoGetForUpdate("b");
  EXPECT_EQ(transaction->GetNumKeys(), 0u);
  ASSERT_OK(Put("a", "theirs"));
  ASSERT_OK(Put("b", "theirs"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "mine");
}

TEST_P(OptimisticTest, WhatARollbackToASavepointTookBackIsNotChecked) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("b", "2"));
  ASSERT_OK(transaction->RollbackToSavePoint());
  ASSERT_OK(Put("b", "theirs"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
  EXPECT_EQ(ValueOf(db_.get(), "b"), "theirs");
}

TEST_P(OptimisticTest, ConflictsAreFoundBehindFlushesAndCompactions) {
  auto untouched = Begin();
  auto deleted = Begin(/*set_snapshot=*/true);
  auto written = Begin();
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("b", "0"));
  ASSERT_OK(written->Put("c", "mine"));
  ASSERT_OK(untouched->Put("d", "mine"));
  ASSERT_OK(deleted->Put("b", "mine"));
  ASSERT_OK(db_->Delete(WriteOptions(), "b"));
  ASSERT_OK(Put("c", "theirs"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(deleted->Commit().IsBusy());
  EXPECT_TRUE(written->Commit().IsBusy());
  ASSERT_OK(untouched->Commit());
}

// The bottommost compaction would give its versions the number 0.
TEST_P(OptimisticTest, EvidenceIsKeptWhenTheSnapshotOfTheFirstKeyIsGivenUp) {
  auto transaction = Begin(/*set_snapshot=*/true);
  ASSERT_OK(transaction->Put("a", "mine"));
  ASSERT_OK(Put("a", "theirs"));
  transaction->ClearSnapshot();
  ASSERT_OK(db_->Flush(FlushOptions()));
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  EXPECT_TRUE(transaction->Commit().IsBusy());
}

// Each way gives the transaction a number to keep evidence from that is newer than the snapshot
// that the rollback brings back.
TEST_P(OptimisticTest, EvidenceIsKeptForASnapshotThatASavepointBringsBack) {
  for (const bool has_newer_snapshot : {false, true}) {
    auto transaction = Begin(/*set_snapshot=*/true);
    ASSERT_OK(Put("a", "theirs"));
    transaction->SetSavePoint();
    transaction->ClearSnapshot();
    if (has_newer_snapshot) transaction->SetSnapshot();
    ASSERT_OK(transaction->Put("b", "mine"));
    ASSERT_OK(transaction->RollbackToSavePoint());
    ASSERT_OK(transaction->Put("a", "mine"));
    transaction->ClearSnapshot();
    ASSERT_OK(db_->Flush(FlushOptions()));
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
    EXPECT_TRUE(transaction->Commit().IsBusy()) << has_newer_snapshot;
  }
}

// A transaction without a snapshot keeps tombstones for its check, as a snapshot would.
TEST_P(OptimisticTest, WhatWasKeptForATransactionIsDroppedAfterItsEnd) {
  ASSERT_OK(Put("a", "1"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const auto deletions = [this] {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    uint64_t sum = 0;
    for (const auto& [name, table] : tables) sum += table->num_deletions;
    return sum;
  };
  for (const bool is_deleted : {false, true}) {
    auto transaction = Begin();
    ASSERT_OK(transaction->Put("b", "mine"));
    ASSERT_OK(db_->Delete(WriteOptions(), "a"));
    ASSERT_OK(Put("c", "1"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(deletions(), 1u);
    if (is_deleted) {
      transaction.reset();
    } else {
      ASSERT_OK(transaction->Commit());
    }
    EXPECT_EQ(deletions(), 0u);
    ASSERT_OK(Put("a", "1"));
  }
}

TEST_P(OptimisticTest, ARangeTombstoneOfTheBaseConflicts) {
  ASSERT_OK(Put("k", "0"));
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("k", "mine"));
  auto absent = Begin();
  ASSERT_OK(absent->Put("l", "mine"));
  auto outside = Begin();
  ASSERT_OK(outside->Put("z", "mine"));
  ASSERT_OK(db_->GetBaseDB()->DeleteRange(WriteOptions(), nullptr, "k", "m"));
  EXPECT_TRUE(transaction->Commit().IsBusy());
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_TRUE(absent->Commit().IsBusy());
  ASSERT_OK(outside->Commit());
}

TEST_P(OptimisticTest, AFileThatIsIngestedConflicts) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "mine"));
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/file.sst"));
  ASSERT_OK(writer.Put("a", "theirs"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions ingest;
  ingest.snapshot_consistency = false;
  ASSERT_OK(db_->IngestExternalFile({"/file.sst"}, ingest));
  EXPECT_TRUE(transaction->Commit().IsBusy());
}

TEST_P(OptimisticTest, RangesAndTwoPhaseCommitAreRefused) {
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), nullptr, "a", "b").IsNotSupported());
  WriteBatch batch;
  ASSERT_OK(batch.DeleteRange("a", "b"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupported());
  auto transaction = Begin();
  EXPECT_TRUE(transaction->SetName("name").IsInvalidArgument());
  EXPECT_TRUE(transaction->Prepare().IsInvalidArgument());
  EXPECT_TRUE(transaction->GetRangeLock(nullptr, Endpoint("a"), Endpoint("b")).IsNotSupported());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
}

TEST_P(OptimisticTest, ACommitToADroppedFamilyIsRefusedAndHarmsNothing) {
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "other", &family));
  auto transaction = Begin();
  ASSERT_OK(transaction->Put(family, "a", "1"));
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  ASSERT_OK(Put("a", "2"));
}

TEST_P(OptimisticTest, IteratorsOverFamiliesEndWithTheTransaction) {
  for (const bool commits : {true, false}) {
    auto transaction = Begin();
    ASSERT_OK(transaction->Put("a", "1"));
    const auto it = transaction->GetCoalescingIterator(ReadOptions(), {db_->DefaultColumnFamily()});
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), "1");
    ASSERT_OK(commits ? transaction->Commit() : transaction->Rollback());
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsInvalidArgument());
    it->Next();
    EXPECT_FALSE(it->Valid());
  }
}

TEST_P(OptimisticTest, ATransactionBegunAnewIsTheSameObjectAndEmpty) {
  std::unique_ptr<Transaction> transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_EQ(
      db_->BeginTransaction(WriteOptions(), OptimisticTransactionOptions(), transaction.get()),
      transaction.get());
  EXPECT_EQ(transaction->GetNumKeys(), 0u);
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "NotFound: ");
}

TEST_P(OptimisticTest, ASnapshotThatIsDueIsTakenByTheNextWrite) {
  struct Notifier : TransactionNotifier {
    void SnapshotCreated(const Snapshot* snapshot) override { taken = snapshot; }
    const Snapshot* taken = nullptr;
  };
  auto notifier = std::make_shared<Notifier>();
  auto transaction = Begin();
  transaction->SetSnapshotOnNextOperation(notifier);
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "NotFound: ");
  EXPECT_EQ(transaction->GetSnapshot(), nullptr);
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_NE(transaction->GetSnapshot(), nullptr);
  EXPECT_EQ(notifier->taken, transaction->GetSnapshot());
}

// Each thread adds to counters; a lost update would show in the sums.
TEST_P(OptimisticTest, NoUpdateOfManyThreadsIsLost) {
  constexpr int kThreads = 4, kRounds = 150, kKeys = 3;
  std::vector<std::thread> threads;
  std::atomic<int> direct{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto transaction = Begin();
      for (int i = 0; i < kRounds; ++i) {
        const std::string key(1, static_cast<char>('a' + (i + t) % kKeys));
        while (true) {
          std::string value;
          const Status read = transaction->GetForUpdate(ReadOptions(), key, &value);
          ASSERT_TRUE(read.ok() || read.IsNotFound());
          const int before = read.ok() ? std::stoi(value) : 0;
          ASSERT_OK(transaction->Put(key, std::to_string(before + 1)));
          const Status status = transaction->Commit();
          if (status.ok()) break;
          ASSERT_TRUE(status.IsBusy()) << status.ToString();
          ASSERT_OK(transaction->Rollback());
        }
        // A write of the wrapper itself, of a key that conflicts with nobody's sum.
        if (i % 16 == 0) {
          ASSERT_OK(Put("w" + std::to_string(t), std::to_string(++direct)));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (int k = 0; k < kKeys; ++k) {
    sum += std::stoi(ValueOf(db_.get(), std::string(1, static_cast<char>('a' + k))));
  }
  EXPECT_EQ(sum, kThreads * kRounds);
}

TEST(SharedBuckets, AreCountedAndServeSeveralDatabases) {
  EXPECT_EQ(MakeSharedOccLockBuckets(1)->ApproximateMemoryUsage(), 16 * 4u);
  const auto shared = MakeSharedOccLockBuckets(100, /*cache_aligned=*/true);
  EXPECT_EQ(shared->ApproximateMemoryUsage(), 128 * 64u);
}

}  // namespace
}  // namespace ashlar
