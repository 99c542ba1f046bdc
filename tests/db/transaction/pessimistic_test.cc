// SPDX-License-Identifier: Apache-2.0
//
// Transactions that lock: locks, validation against snapshots, savepoints, the database's own
// writes.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

class PessimisticTest : public PessimisticFixture,
                        public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  void SetUp() override {
    db_options_.write_policy = GetParam();
    Open();
  }
};

// Timestamps go only with the policy write-committed.
class TimestampTest : public PessimisticTest {};

INSTANTIATE_TEST_SUITE_P(Policies, TimestampTest, testing::Values(WRITE_COMMITTED), PolicyName);
INSTANTIATE_TEST_SUITE_P(Policies, PessimisticTest, WritePolicies(), PolicyName);

TEST_P(PessimisticTest, UpdatesAreSeenByOwnReadsAtOnceAndByOthersAfterCommit) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "1");
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
  EXPECT_EQ(transaction->GetState(), Transaction::COMMITTED);
  EXPECT_NE(transaction->GetId(), 0u);
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(PessimisticTest, AKeyIsLockedFromItsFirstWriteToTheEnd) {
  auto holder = Begin();
  ASSERT_OK(holder->Put("a", "1"));
  auto other = Begin();
  const Status refused = other->Put("a", "2");
  EXPECT_TRUE(refused.IsTimedOut());
  EXPECT_EQ(refused.subcode(), Status::SubCode::kLockTimeout);
  EXPECT_TRUE(Put("a", "3").IsTimedOut());
  ASSERT_OK(other->Put("b", "2"));
  ASSERT_OK(holder->Commit());
  ASSERT_OK(other->Put("a", "2"));
  ASSERT_OK(other->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "2");
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(PessimisticTest, SharedLocksGoTogetherAndAreUpgradedByTheOnlyHolder) {
  ASSERT_OK(Put("a", "0"));
  std::string value;
  auto one = Begin();
  auto two = Begin();
  ASSERT_OK(one->GetForUpdate(ReadOptions(), "a", &value, /*exclusive=*/false));
  ASSERT_OK(two->GetForUpdate(ReadOptions(), "a", &value, /*exclusive=*/false));
  EXPECT_TRUE(one->Put("a", "1").IsTimedOut());
  ASSERT_OK(two->Rollback());
  ASSERT_OK(one->Put("a", "1"));
  EXPECT_TRUE(two->GetForUpdate(ReadOptions(), "a", &value, /*exclusive=*/false).IsTimedOut());
}

TEST_P(PessimisticTest, AWriteOfOthersSinceTheSnapshotIsBusyAndLeavesNoLock) {
  auto transaction = BeginWithSnapshot();
  ASSERT_OK(Put("a", "theirs"));
  EXPECT_TRUE(transaction->Put("a", "mine").IsBusy());
  EXPECT_EQ(LockCount(), 0u);
  EXPECT_EQ(transaction->GetNumKeys(), 0u);
  ASSERT_OK(transaction->Put("b", "mine"));
  ASSERT_OK(transaction->Commit());
}

TEST_P(PessimisticTest, AnUpgradeThatFindsAConflictIsTakenBack) {
  auto transaction = Begin();
  std::string value;
  auto other = Begin();
  // Read without validation behind the snapshot, then somebody else is let in and writes.
  transaction->SetSnapshot();
  ASSERT_OK(Put("a", "theirs"));
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "a", &value, /*exclusive=*/false,
                                      /*do_validate=*/false));
  EXPECT_TRUE(transaction->Put("a", "mine").IsBusy());
  ASSERT_OK(other->GetForUpdate(ReadOptions(), "a", &value, /*exclusive=*/false));
}

TEST_P(PessimisticTest, ConflictsAreFoundInTablesAndBehindCompactions) {
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("b", "0"));
  auto transaction = BeginWithSnapshot();
  ASSERT_OK(Put("a", "1"));
  ASSERT_OK(db_->Delete(WriteOptions(), "b"));
  ASSERT_OK(db_->Delete(WriteOptions(), "absent"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  EXPECT_TRUE(transaction->Put("a", "mine").IsBusy());
  EXPECT_TRUE(transaction->Put("b", "mine").IsBusy());
  EXPECT_TRUE(transaction->Delete("absent").IsBusy());
  ASSERT_OK(transaction->Put("c", "mine"));
}

TEST_P(PessimisticTest, IngestedFilesAndRangeTombstonesConflict) {
  auto transaction = BeginWithSnapshot();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/file.sst"));
  ASSERT_OK(writer.Put("a", "theirs"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions ingest;
  ingest.snapshot_consistency = false;
  ASSERT_OK(db_->IngestExternalFile({"/file.sst"}, ingest));
  EXPECT_TRUE(transaction->Put("a", "mine").IsBusy());
  ASSERT_OK(db_->GetRootDB()->DeleteRange(WriteOptions(), nullptr, "k", "m"));
  EXPECT_TRUE(transaction->Put("l", "mine").IsBusy());
  ASSERT_OK(transaction->Put("m", "mine"));
}

// A scan learns where nothing lives, and may say so by a range tombstone: that is no write.
TEST_P(PessimisticTest, AScanOverDeletedKeysIsNoConflict) {
  for (int i = 0; i < 5000; ++i) ASSERT_OK(Put("k" + std::to_string(100000 + i), "v"));
  for (int i = 0; i < 5000; ++i) {
    ASSERT_OK(db_->Delete(WriteOptions(), "k" + std::to_string(100000 + i)));
  }
  auto transaction = BeginWithSnapshot();
  ASSERT_OK(Put("z", "1"));
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<Iterator> scan(db_->NewIterator(ReadOptions()));
    scan->SeekToFirst();
    ASSERT_TRUE(scan->Valid());
  }
  ASSERT_OK(transaction->Put("k102500", "mine"));
}

TEST_P(PessimisticTest, KeysTrackedBeforeALaterSnapshotStayValid) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(Put("b", "theirs"));
  transaction->SetSnapshot();
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Put("b", "mine"));
}

TEST_P(PessimisticTest, ASavepointGivesBackUpdatesCountersAndLocksFirstTakenSince) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Put("b", "2"));
  ASSERT_OK(transaction->Delete("c"));
  EXPECT_EQ(transaction->GetNumKeys(), 3u);
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_EQ(transaction->GetNumKeys(), 1u);
  EXPECT_EQ(transaction->GetNumPuts(), 1u);
  EXPECT_EQ(transaction->GetNumDeletes(), 0u);
  EXPECT_EQ(LockCount(), 1u);
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(transaction->PopSavePoint().IsNotFound());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
  EXPECT_EQ(ValueOf(db_.get(), "b"), "NotFound: ");
}

TEST_P(PessimisticTest, APoppedSavepointLeavesItsKeysToTheOneBefore) {
  auto transaction = Begin();
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Put("b", "2"));
  ASSERT_OK(transaction->PopSavePoint());
  EXPECT_EQ(transaction->GetNumKeys(), 2u);
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_EQ(transaction->GetNumKeys(), 0u);
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(PessimisticTest, ASavepointRestoresTheSnapshotAndOneThatIsDue) {
  auto transaction = Begin();
  transaction->SetSnapshot();
  const Snapshot* const first = transaction->GetSnapshot();
  transaction->SetSavePoint();
  transaction->SetSnapshot();
  EXPECT_NE(transaction->GetSnapshot(), first);
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_EQ(transaction->GetSnapshot(), first);
  transaction->ClearSnapshot();
  transaction->SetSnapshotOnNextOperation();
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_NE(transaction->GetSnapshot(), nullptr);
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_EQ(transaction->GetSnapshot(), nullptr);
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_NE(transaction->GetSnapshot(), nullptr);
}

TEST_P(PessimisticTest, AReadForUpdateIsTakenBackUnlessTheKeyWasWritten) {
  std::string value;
  auto transaction = Begin();
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "a", &value).IsNotFound());
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "a", &value).IsNotFound());
  EXPECT_EQ(LockCount(), 1u);  // an absent key is locked
  transaction->UndoGetForUpdate("a");
  EXPECT_EQ(LockCount(), 1u);
  transaction->UndoGetForUpdate("a");
  EXPECT_EQ(LockCount(), 0u);
  transaction->UndoGetForUpdate("a");
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "b", &value).IsNotFound());
  ASSERT_OK(transaction->Put("b", "1"));
  transaction->UndoGetForUpdate("b");
  EXPECT_EQ(LockCount(), 1u);
}

TEST_P(PessimisticTest, AReadBeforeTheLatestSavepointIsNotTakenBack) {
  std::string value;
  auto transaction = Begin();
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "a", &value).IsNotFound());
  transaction->SetSavePoint();
  transaction->UndoGetForUpdate("a");
  EXPECT_EQ(LockCount(), 1u);
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "b", &value).IsNotFound());
  transaction->UndoGetForUpdate("b");
  EXPECT_EQ(LockCount(), 1u);
  ASSERT_OK(transaction->RollbackToSavePoint());
  transaction->UndoGetForUpdate("a");
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(PessimisticTest, AssumeTrackedNeedsATrackedKeyAndTakesNoLock) {
  auto transaction = Begin();
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_TRUE(transaction->Put(family, "a", "1", /*assume_tracked=*/true).IsInvalidArgument());
  EXPECT_EQ(LockCount(), 0u);
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "a", static_cast<std::string*>(nullptr)));
  ASSERT_OK(transaction->Put(family, "a", "1", /*assume_tracked=*/true));
}

TEST_P(PessimisticTest, UntrackedWritesLockAndDoNotValidate) {
  auto transaction = BeginWithSnapshot();
  ASSERT_OK(Put("a", "theirs"));
  ASSERT_OK(transaction->PutUntracked("a", "mine"));
  EXPECT_TRUE(Put("a", "others").IsTimedOut());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "mine");
}

TEST_P(PessimisticTest, MultiGetForUpdateLocksAllOrSaysWhyNotForAll) {
  ASSERT_OK(Put("a", "1"));
  auto holder = Begin();
  ASSERT_OK(holder->Put("b", "2"));
  auto transaction = Begin();
  std::vector<std::string> values;
  for (const Status& status :
       transaction->MultiGetForUpdate(ReadOptions(), {"a", "b", "c"}, &values)) {
    EXPECT_TRUE(status.IsTimedOut());
  }
  EXPECT_EQ(values, std::vector<std::string>(3));
  EXPECT_TRUE(Put("a", "x").IsTimedOut());  // locked so far
  ASSERT_OK(holder->Commit());
  const auto statuses = transaction->MultiGetForUpdate(ReadOptions(), {"a", "b", "c"}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_OK(statuses[1]);
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_EQ(values[1], "2");
}

TEST_P(PessimisticTest, CollapseKeyReplacesOperandsByTheirResult) {
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "x"));
  auto transaction = Begin();
  ASSERT_OK(transaction->Merge("a", "y"));
  ASSERT_OK(transaction->CollapseKey(ReadOptions(), "a"));
  EXPECT_EQ(transaction->GetNumPuts(), 1u);
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "x,y");
}

TEST_P(PessimisticTest, IteratorsShowOwnUpdatesOverTheDatabase) {
  ASSERT_OK(Put("a", "1"));
  ASSERT_OK(Put("b", "1"));
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("c", "2"));
  ASSERT_OK(transaction->Delete("a"));
  std::unique_ptr<Iterator> iterator(transaction->GetIterator(ReadOptions()));
  std::string seen;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    seen += iterator->key().ToString() + iterator->value().ToString();
  }
  EXPECT_EQ(seen, "b1c2");
  EXPECT_TRUE(transaction->GetCoalescingIterator(ReadOptions(), {})->status().IsInvalidArgument());
  std::unique_ptr<Iterator> coalescing =
      transaction->GetCoalescingIterator(ReadOptions(), {db_->DefaultColumnFamily()});
  coalescing->SeekToFirst();
  ASSERT_TRUE(coalescing->Valid());
  EXPECT_EQ(coalescing->key(), "b");
  coalescing.reset();
  ASSERT_OK(transaction->Commit());
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsInvalidArgument());
}

TEST_P(PessimisticTest, UnindexedWritesAreCommittedAndNotSeenBefore) {
  auto transaction = Begin();
  transaction->DisableIndexing();
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->EnableIndexing();
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "NotFound: ");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
}

TEST_P(PessimisticTest, RebuildingFromABatchLocksItsKeysAndRefusesRanges) {
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Delete("b"));
  ASSERT_OK(batch.Merge("c", "x"));
  ASSERT_OK(batch.SingleDelete("d"));
  ASSERT_OK(batch.PutEntity(db_->DefaultColumnFamily(), "e", WideColumns{{"x", "y"}}));
  auto transaction = Begin();
  ASSERT_OK(transaction->RebuildFromWriteBatch(&batch));
  EXPECT_EQ(LockCount(), 5u);
  EXPECT_EQ(transaction->GetNumDeletes(), 2u);
  EXPECT_EQ(transaction->GetNumPutEntities(), 1u);
  ASSERT_OK(transaction->Commit());
  WriteBatch range;
  ASSERT_OK(range.DeleteRange("a", "b"));
  EXPECT_TRUE(transaction->RebuildFromWriteBatch(&range).IsInvalidArgument());
}

TEST_P(PessimisticTest, ABatchOfTheDatabaseLocksEachKeyOnceSingleDeletesToo) {
  auto holder = Begin();
  ASSERT_OK(holder->Put("b", "1"));
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "2"));
  ASSERT_OK(batch.Put("a", "3"));
  ASSERT_OK(batch.SingleDelete("b"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsTimedOut());
  EXPECT_EQ(LockCount(), 1u);
  TransactionDBWriteOptimizations skip;
  skip.skip_concurrency_control = true;
  ASSERT_OK(db_->Write(WriteOptions(), skip, &batch));
  ASSERT_OK(holder->Rollback());
  WriteOptions synced;
  synced.sync = true;
  ASSERT_OK(db_->Write(synced, &batch));
  EXPECT_EQ(ValueOf(db_.get(), "a"), "3");
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(PessimisticTest, RangesAreRefusedUnlessLocksAreSkipped) {
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), nullptr, "a", "b").IsNotSupported());
  WriteBatch batch;
  ASSERT_OK(batch.DeleteRange("a", "b"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  TransactionDBWriteOptimizations skip;
  skip.skip_concurrency_control = true;
  ASSERT_OK(db_->Write(WriteOptions(), skip, &batch));
}

TEST_P(PessimisticTest, WithoutConcurrencyControlNothingIsLockedOrTracked) {
  TransactionOptions options;
  options.skip_concurrency_control = true;
  auto transaction = Begin(options);
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_EQ(LockCount(), 0u);
  ASSERT_OK(Put("a", "2"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
}

TEST_P(PessimisticTest, ATransactionBegunAnewIsTheSameObjectWithAnotherId) {
  auto transaction = Begin();
  ASSERT_OK(transaction->SetName("name"));
  ASSERT_OK(transaction->Put("a", "1"));
  const TransactionID id = transaction->GetID();
  ASSERT_EQ(db_->BeginTransaction(WriteOptions(), TransactionOptions(), transaction.get()),
            transaction.get());
  EXPECT_NE(transaction->GetID(), id);
  EXPECT_EQ(transaction->GetName(), "");
  EXPECT_EQ(db_->GetTransactionByName("name"), nullptr);
  EXPECT_EQ(LockCount(), 0u);
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "NotFound: ");
}

TEST_P(PessimisticTest, ALockCanBeTakenFromATransactionThatHasExpired) {
  TransactionOptions options;
  options.expiration = 0;
  auto expired = Begin(options);
  ASSERT_OK(expired->Put("a", "1"));
  auto thief = Begin();
  ASSERT_OK(thief->Put("a", "2"));
  EXPECT_EQ(expired->GetState(), Transaction::LOCKS_STOLEN);
  EXPECT_TRUE(expired->Commit().IsExpired());
  EXPECT_TRUE(expired->Put("b", "1").IsExpired());
  ASSERT_OK(expired->Rollback());
  ASSERT_OK(thief->Commit());
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(PessimisticTest, LimitsOfLocksAndOfTheBatchAreAborted) {
  db_.reset();
  db_options_.max_num_locks = 2;
  Open();
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  Status status = transaction->Put("c", "1");
  EXPECT_TRUE(status.IsAborted());
  EXPECT_EQ(status.subcode(), Status::SubCode::kLockLimit);
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Rollback());
  TransactionOptions options;
  options.max_write_batch_size = 40;
  auto small = Begin(options);
  status = small->Put("k", std::string(100, 'v'));
  EXPECT_TRUE(status.IsMemoryLimit());
  EXPECT_EQ(LockCount(), 1u);  // the key stays locked
  ASSERT_OK(small->Put("k", "v"));
}

TEST_P(PessimisticTest, ADroppedFamilyHasNoLocks) {
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "other", &family));
  auto transaction = Begin();
  ASSERT_OK(transaction->Put(family, "a", "1"));
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_TRUE(transaction->Put(family, "b", "1").IsInvalidArgument());
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  ASSERT_OK(Put("a", "1"));  // the database is unharmed
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_P(TimestampTest, TimestampedSnapshotsGrowWithTheirNumbers) {
  ASSERT_OK(Put("a", "1"));
  EXPECT_TRUE(db_->CreateTimestampedSnapshot(kMaxTxnTimestamp).first.IsInvalidArgument());
  const auto [status, first] = db_->CreateTimestampedSnapshot(10);
  ASSERT_OK(status);
  EXPECT_EQ(first->GetTimestamp(), 10u);
  EXPECT_EQ(db_->CreateTimestampedSnapshot(10).second, first);
  ASSERT_OK(Put("a", "2"));
  EXPECT_TRUE(db_->CreateTimestampedSnapshot(10).first.IsInvalidArgument());
  EXPECT_TRUE(db_->CreateTimestampedSnapshot(9).first.IsInvalidArgument());
  ASSERT_OK(db_->CreateTimestampedSnapshot(20).first);
  EXPECT_EQ(db_->GetLatestTimestampedSnapshot()->GetTimestamp(), 20u);
  EXPECT_EQ(db_->GetTimestampedSnapshot(10), first);
  EXPECT_EQ(db_->GetTimestampedSnapshot(11), nullptr);
  EXPECT_EQ(ValueOf(db_.get(), "a", first.get()), "1");
  std::vector<std::shared_ptr<const Snapshot>> found;
  ASSERT_OK(db_->GetTimestampedSnapshots(0, 20, found));
  EXPECT_EQ(found.size(), 1u);
  EXPECT_TRUE(db_->GetTimestampedSnapshots(20, 20, found).IsInvalidArgument());
  db_->ReleaseTimestampedSnapshotsOlderThan(20);
  EXPECT_EQ(db_->GetTimestampedSnapshot(10), nullptr);
}

TEST_P(TimestampTest, ACommitMayTakeASnapshotThatContainsIt) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_TRUE(transaction->CommitAndTryCreateSnapshot().IsInvalidArgument());
  std::shared_ptr<const Snapshot> snapshot;
  ASSERT_OK(transaction->CommitAndTryCreateSnapshot(nullptr, 5, &snapshot));
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(snapshot->GetTimestamp(), 5u);
  ASSERT_OK(Put("a", "2"));
  EXPECT_EQ(ValueOf(db_.get(), "a", snapshot.get()), "1");
  // The next one is committed, although its timestamp allows no snapshot.
  auto late = Begin();
  ASSERT_OK(late->Put("a", "3"));
  ASSERT_OK(late->CommitAndTryCreateSnapshot(nullptr, 4, &snapshot));
  EXPECT_EQ(snapshot, nullptr);
  EXPECT_EQ(ValueOf(db_.get(), "a"), "3");
  snapshot.reset();
}

TEST_P(TimestampTest, TimestampsOfATransactionGrow) {
  auto transaction = Begin();
  ASSERT_OK(transaction->SetReadTimestampForValidation(5));
  EXPECT_TRUE(transaction->SetReadTimestampForValidation(4).IsInvalidArgument());
  EXPECT_TRUE(transaction->SetCommitTimestamp(5).IsInvalidArgument());
  ASSERT_OK(transaction->SetCommitTimestamp(6));
  EXPECT_TRUE(transaction->CommitAndTryCreateSnapshot(nullptr, 7, nullptr).IsInvalidArgument());
}

TEST_P(PessimisticTest, LocksAndTransactionsAreTold) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("key", "1"));
  const auto locks = db_->GetLockStatusData();
  ASSERT_EQ(locks.size(), 1u);
  EXPECT_EQ(locks.begin()->second.key, "key");
  EXPECT_TRUE(locks.begin()->second.exclusive);
  EXPECT_EQ(locks.begin()->second.ids, std::vector<TransactionID>{transaction->GetID()});
  std::string text;
  ASSERT_TRUE(db_->GetProperty("ashlar.transactions", &text));
  EXPECT_NE(text.find("open 1"), std::string::npos) << text;
  EXPECT_NE(text.find("keys 1"), std::string::npos) << text;
}

TEST_P(PessimisticTest, ADeadlockIsFoundAndTold) {
  TransactionOptions options;
  options.deadlock_detect = true;
  options.lock_timeout = 60'000;
  options.deadlock_timeout_us = 0;
  auto one = Begin(options);
  auto two = Begin(options);
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(two->Put("b", "2"));
  // Whoever is refused lets the other one go on.
  const auto put = [](Transaction* transaction, const char* key) {
    const Status status = transaction->Put(key, "x");
    if (status.ok()) return status;
    EXPECT_EQ(status.subcode(), Status::SubCode::kDeadlock);
    EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
    EXPECT_OK(transaction->Rollback());
    return status;
  };
  Status first;
  std::thread other([&] { first = put(one.get(), "b"); });
  const Status second = put(two.get(), "a");
  other.join();
  EXPECT_NE(first.ok(), second.ok());
  ASSERT_EQ(db_->GetDeadlockInfoBuffer().size(), 1u);
  EXPECT_EQ(db_->GetDeadlockInfoBuffer()[0].path.size(), 2u);
  db_->SetDeadlockInfoBufferSize(0);
  EXPECT_TRUE(db_->GetDeadlockInfoBuffer().empty());
}

TEST_P(PessimisticTest, AnOpenDatabaseIsWrappedWithItsCompactions) {
  db_.reset();
  DBOptions db_options(options_);
  std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, options_}};
  std::vector<size_t> compacting;
  TransactionDB::PrepareWrap(&db_options, &families, &compacting);
  EXPECT_EQ(compacting, std::vector<size_t>{0});
  std::unique_ptr<DB> base;
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(db_options, "/db", families, &handles, &base));
  TransactionDB* wrapped = nullptr;
  ASSERT_OK(TransactionDB::WrapDB(base.release(), db_options_, compacting, handles, &wrapped));
  db_.reset(wrapped);
  EXPECT_FALSE(db_->GetOptions().disable_auto_compactions);
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Commit());
  transaction.reset();
  for (ColumnFamilyHandle* handle : handles) delete handle;
}

}  // namespace
}  // namespace ashlar
