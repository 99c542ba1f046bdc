// SPDX-License-Identifier: Apache-2.0
//
// States of pessimistic transactions: what each call answers in each state, names, two-phase
// commit, and what is left of a prepared transaction whose object or database goes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ashlar/statistics.h"
#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

class StatesTest : public PessimisticFixture, public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  void SetUp() override {
    db_options_.write_policy = GetParam();
    Open();
  }
  std::unique_ptr<Transaction> BeginPrepared(const std::string& name, const std::string& key) {
    auto transaction = BeginNamed(name);
    EXPECT_OK(transaction->Put(key, name));
    EXPECT_OK(transaction->Prepare());
    EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
    return transaction;
  }
  std::vector<std::string> PreparedNames() {
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    std::vector<std::string> names;
    for (Transaction* transaction : prepared) names.push_back(transaction->GetName());
    return names;
  }
};

using Names = std::vector<std::string>;

INSTANTIATE_TEST_SUITE_P(Policies, StatesTest, WritePolicies(), PolicyName);

TEST_P(StatesTest, PrepareNeedsANameAndTheStateStarted) {
  auto unnamed = Begin();
  EXPECT_TRUE(unnamed->Prepare().IsInvalidArgument());
  auto prepared = BeginPrepared("a", "a");
  EXPECT_TRUE(prepared->Prepare().IsInvalidArgument());
  ASSERT_OK(prepared->Commit());
  EXPECT_TRUE(prepared->Prepare().IsInvalidArgument());
  auto rolled_back = BeginPrepared("b", "b");
  ASSERT_OK(rolled_back->Rollback());
  EXPECT_TRUE(rolled_back->Prepare().IsInvalidArgument());
  TransactionOptions options;
  options.expiration = 0;
  EXPECT_TRUE(BeginNamed("c", options)->Prepare().IsExpired());
}

TEST_P(StatesTest, AnEmptyTransactionCanBePrepared) {
  auto transaction = BeginNamed("empty");
  ASSERT_OK(transaction->Prepare());
  EXPECT_EQ(PreparedNames(), Names{"empty"});
  ASSERT_OK(transaction->Commit());
  EXPECT_TRUE(PreparedNames().empty());
}

TEST_P(StatesTest, CommitAnswersByState) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Commit());
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_TRUE(transaction->Rollback().IsInvalidArgument());
  auto rolled_back = BeginPrepared("b", "b");
  ASSERT_OK(rolled_back->Rollback());
  EXPECT_EQ(rolled_back->GetState(), Transaction::ROLLEDBACK);
  EXPECT_TRUE(rolled_back->Commit().IsInvalidArgument());
  EXPECT_TRUE(rolled_back->Rollback().IsInvalidArgument());
  TransactionOptions options;
  options.expiration = 0;
  auto expired = Begin(options);
  ASSERT_OK(expired->Put("x", "1"));
  EXPECT_TRUE(expired->Commit().IsExpired());
  EXPECT_EQ(expired->GetState(), Transaction::STARTED);
  options.expiration = -1;
  options.skip_prepare = false;
  auto strict = Begin(options);
  EXPECT_EQ(strict->Commit().subcode(), Status::SubCode::kTxnNotPrepared);
}

TEST_P(StatesTest, ARollbackLeavesAStartedTransactionEmptyAndUsable) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Rollback());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_EQ(transaction->GetNumPuts(), 0u);
  EXPECT_EQ(LockCount(), 0u);
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "2");
}

// After Prepare() writes are accepted under the policy write-committed only: later_updates_test.cc.
TEST_P(StatesTest, WritesAreRefusedInOtherStates) {
  auto transaction = BeginPrepared("a", "a");
  if (GetParam() != WRITE_COMMITTED) {
    std::string value;
    EXPECT_TRUE(transaction->Put("b", "1").IsInvalidArgument());
    EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "b", &value).IsInvalidArgument());
  }
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsInvalidArgument());
  EXPECT_TRUE(transaction->SetName("b").IsInvalidArgument());
  EXPECT_EQ(ValueOf(transaction.get(), "a"), "a");
  EXPECT_EQ(LockCount(), 1u);
  ASSERT_OK(transaction->Commit());
  EXPECT_TRUE(transaction->Put("b", "1").IsInvalidArgument());
}

// As in RocksDB: what is prepared is decided as a whole.
TEST_P(StatesTest, APrepareForgetsTheSavePointsBeforeIt) {
  auto transaction = Begin();
  ASSERT_OK(transaction->SetName("a"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Prepare());
  EXPECT_TRUE(transaction->PopSavePoint().IsNotFound());
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsInvalidArgument());
  transaction->SetSavePoint();
  ASSERT_OK(transaction->PopSavePoint());
  EXPECT_TRUE(transaction->PopSavePoint().IsNotFound());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a") + ValueOf(db_.get(), "b"), "11");
  EXPECT_EQ(LockCount(), 0u);
}

TEST_P(StatesTest, NamesAreUniqueSetOnceAndOfSomeBytes) {
  auto transaction = Begin();
  EXPECT_TRUE(transaction->SetName("").IsInvalidArgument());
  EXPECT_TRUE(transaction->SetName(std::string(513, 'n')).IsInvalidArgument());
  ASSERT_OK(transaction->SetName(std::string(512, 'n')));
  EXPECT_TRUE(transaction->SetName("other").IsInvalidArgument());
  auto second = Begin();
  EXPECT_TRUE(second->SetName(std::string(512, 'n')).IsInvalidArgument());
  EXPECT_EQ(db_->GetTransactionByName(std::string(512, 'n')), transaction.get());
  EXPECT_EQ(db_->GetTransactionByName("other"), nullptr);
}

TEST_P(StatesTest, ACommitFreesTheNameARollbackOfAPreparedOneDoesNot) {
  auto committed = BeginPrepared("a", "a");
  ASSERT_OK(committed->Commit());
  ASSERT_OK(Begin()->SetName("a"));
  auto rolled_back = BeginPrepared("b", "b");
  ASSERT_OK(rolled_back->Rollback());
  EXPECT_TRUE(Begin()->SetName("b").IsInvalidArgument());
  rolled_back.reset();
  ASSERT_OK(Begin()->SetName("b"));
}

TEST_P(StatesTest, APreparedTransactionDoesNotExpire) {
  TransactionOptions options;
  options.expiration = 3'600'000;
  auto transaction = BeginNamed("a", options);
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  EXPECT_TRUE(Put("a", "2").IsTimedOut());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
}

TEST_P(StatesTest, UpdatesOfTheCommitTimeBatchNeedPrepare) {
  TransactionOptions options;
  options.use_only_the_last_commit_time_batch_for_recovery = GetParam() != WRITE_COMMITTED;
  auto transaction = Begin(options);
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put("b", "1"));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  ASSERT_OK(transaction->SetName("a"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
  EXPECT_EQ(ValueOf(db_.get(), "b"), "1");
  transaction.reset();
  Reopen();
  EXPECT_EQ(ValueOf(db_.get(), "b"), "1");
}

// A commit whose marker is not in the log would be undone.
TEST_P(StatesTest, AWalTerminationPointInTheCommitTimeBatchCutsNothingOff) {
  TransactionOptions options;
  options.use_only_the_last_commit_time_batch_for_recovery = GetParam() != WRITE_COMMITTED;
  for (const bool has_updates : {false, true}) {
    SCOPED_TRACE(has_updates);
    const std::string value = has_updates ? "2" : "1";
    auto transaction = BeginNamed("x", options);
    ASSERT_OK(transaction->Put("a", value));
    WriteBatch* const at_commit = transaction->GetCommitTimeWriteBatch();
    if (has_updates) {
      ASSERT_OK(at_commit->Put("b", "1"));
    }
    at_commit->MarkWalTerminationPoint();
    if (has_updates) {
      ASSERT_OK(at_commit->Put("c", "1"));
    }
    ASSERT_OK(transaction->Prepare());
    ASSERT_OK(transaction->Commit());
    transaction.reset();
    Reopen();
    EXPECT_EQ(ValueOf(db_.get(), "a"), value);
    EXPECT_EQ(ValueOf(db_.get(), "b"), has_updates ? "1" : "NotFound: ");
    EXPECT_EQ(ValueOf(db_.get(), "c"), has_updates ? "1" : "NotFound: ");
    EXPECT_TRUE(PreparedNames().empty());
  }
}

TEST_P(StatesTest, ATimedPutIsPreparedAndRecoveredAsAPut) {
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  WriteBatch* const batch = transaction->GetWriteBatch()->GetWriteBatch();
  ASSERT_OK(batch->TimedPut(db_->DefaultColumnFamily(), "t", "1", 1700000000));
  ASSERT_OK(transaction->Prepare());
  transaction.reset();
  Reopen();
  ASSERT_EQ(PreparedNames(), Names{"x"});
  transaction.reset(db_->GetTransactionByName("x"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "t"), "1");
  transaction.reset();
  Reopen();
  EXPECT_EQ(ValueOf(db_.get(), "a") + ValueOf(db_.get(), "t"), "11");
}

// It locks nothing, so it is added to the batch alone. What Prepare() takes an opening must take.
TEST_P(StatesTest, APreparedRangeDeletionIsDecidedAfterReopening) {
  if (GetParam() != WRITE_COMMITTED) return;  // Prepare() refuses it
  for (const bool is_committed : {false, true}) {
    SCOPED_TRACE(is_committed);
    for (const char* key : {"a", "b", "c"}) ASSERT_OK(Put(key, "0"));
    auto transaction = BeginNamed("x");
    ASSERT_OK(transaction->Put("a", "1"));
    WriteBatch* const batch = transaction->GetWriteBatch()->GetWriteBatch();
    ASSERT_OK(batch->DeleteRange(db_->DefaultColumnFamily(), "b", "c"));
    ASSERT_OK(transaction->Prepare());
    transaction.reset();
    ASSERT_NO_FATAL_FAILURE(Reopen());
    ASSERT_EQ(PreparedNames(), Names{"x"});
    transaction.reset(db_->GetTransactionByName("x"));
    EXPECT_EQ(LockCount(), 1u);
    ASSERT_OK(is_committed ? transaction->Commit() : transaction->Rollback());
    transaction.reset();
    for (int i = 0; i < 2; i++) {
      EXPECT_EQ(ValueOf(db_.get(), "a"), is_committed ? "1" : "0");
      EXPECT_EQ(ValueOf(db_.get(), "b"), is_committed ? "NotFound: " : "0");
      EXPECT_EQ(ValueOf(db_.get(), "c"), "0");
      ASSERT_NO_FATAL_FAILURE(Reopen());
    }
  }
}

TEST_P(StatesTest, AnUnpreparedTransactionThatIsDestroyedLeavesNothing) {
  {
    auto transaction = BeginNamed("a");
    ASSERT_OK(transaction->Put("a", "1"));
  }
  EXPECT_EQ(LockCount(), 0u);
  EXPECT_EQ(db_->GetTransactionByName("a"), nullptr);
}

TEST_P(StatesTest, APreparedTransactionOutlivesItsObjectWithNameAndLocks) {
  BeginPrepared("a", "a");  // and destroyed
  EXPECT_EQ(PreparedNames(), Names{"a"});
  EXPECT_EQ(LockCount(), 1u);
  EXPECT_TRUE(Put("a", "2").IsTimedOut());
  Transaction* const shell = db_->GetTransactionByName("a");
  ASSERT_NE(shell, nullptr);
  EXPECT_EQ(shell->GetNumPuts(), 1u);
  EXPECT_EQ(ValueOf(shell, "a"), "a");
  ASSERT_OK(shell->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "a");
  EXPECT_EQ(LockCount(), 0u);
  EXPECT_EQ(db_->GetTransactionByName("a"), nullptr);
  delete shell;
}

TEST_P(StatesTest, PreparedTransactionsAreThereAgainAfterReopening) {
  BeginPrepared("a", "a");
  BeginPrepared("b", "b");
  ASSERT_OK(Put("c", "1"));
  Reopen();
  EXPECT_EQ(PreparedNames(), (Names{"a", "b"}));
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  EXPECT_EQ(LockCount(), 2u);
  EXPECT_TRUE(Put("a", "2").IsTimedOut());
  Transaction* const first = db_->GetTransactionByName("a");
  Transaction* const second = db_->GetTransactionByName("b");
  EXPECT_NE(first->GetLogNumber(), 0u);
  ASSERT_OK(first->Commit());
  ASSERT_OK(second->Rollback());
  delete first;
  delete second;
  EXPECT_EQ(ValueOf(db_.get(), "a"), "a");
  EXPECT_EQ(ValueOf(db_.get(), "b"), "NotFound: ");
  Reopen();
  EXPECT_TRUE(PreparedNames().empty());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "a");
  EXPECT_EQ(ValueOf(db_.get(), "c"), "1");
}

TEST_P(StatesTest, APreparedTransactionMayBeDestroyedAfterTheDatabaseIsClosed) {
  auto transaction = BeginPrepared("a", "a");
  ASSERT_OK(db_->Close());
  transaction.reset();
  EXPECT_TRUE(PreparedNames().empty());
  Reopen();
  EXPECT_EQ(PreparedNames(), Names{"a"});
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  EXPECT_EQ(LockCount(), 1u);
}

// What is prepared was accepted, so both decisions about it are, and nothing else.
TEST_P(StatesTest, AFamilyThatTakesNoWritesAnyMoreTakesDecisions) {
  ASSERT_OK(Put("b", "0"));
  BeginPrepared("a", "a");
  BeginPrepared("b", "b");
  options_.disallow_memtable_writes = true;
  Reopen();
  std::unique_ptr<Transaction> decided(db_->GetTransactionByName("a"));
  ASSERT_OK(decided->Commit());
  decided.reset(db_->GetTransactionByName("b"));
  ASSERT_OK(decided->Rollback());
  decided = BeginNamed("c");
  ASSERT_OK(decided->Put("c", "1"));
  EXPECT_TRUE(decided->Prepare().IsInvalidArgument());
  EXPECT_TRUE(decided->Commit().IsInvalidArgument());
  decided.reset();
  EXPECT_TRUE(Put("d", "1").IsInvalidArgument());
  EXPECT_TRUE(PreparedNames().empty());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "a");
  EXPECT_EQ(ValueOf(db_.get(), "b"), "0");
  EXPECT_EQ(ValueOf(db_.get(), "c"), "NotFound: ");
}

TEST_P(StatesTest, ACommitCountsTheOperationsOfTheTransaction) {
  options_.statistics = CreateDBStatistics();
  Reopen();
  auto transaction = BeginNamed("a");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Merge("a", "2"));
  ASSERT_OK(transaction->Delete("b"));
  ASSERT_OK(transaction->Prepare());
  HistogramData operations;
  options_.statistics->histogramData(NUM_OP_PER_TRANSACTION, &operations);
  EXPECT_EQ(operations.count, 0u) << "not committed yet";
  ASSERT_OK(transaction->Commit());
  ASSERT_OK(Begin()->Rollback());
  options_.statistics->histogramData(NUM_OP_PER_TRANSACTION, &operations);
  EXPECT_EQ(operations.count, 1u);
  EXPECT_EQ(operations.sum, 3u);
}

// Without it the snapshots are released in an engine that is gone, which a sanitizer reports.
TEST_P(StatesTest, SnapshotsOfATransactionOfTheDatabaseAreGivenBackBeforeItCloses) {
  BeginPrepared("a", "a");
  Reopen();
  Transaction* const transaction = db_->GetTransactionByName("a");
  ASSERT_NE(transaction, nullptr);
  transaction->SetSnapshot();
  transaction->SetSavePoint();
  transaction->SetSnapshot();
  Reopen();
  EXPECT_EQ(PreparedNames(), Names{"a"});
}

TEST_P(StatesTest, OpeningTwiceWithoutADecisionChangesNothing) {
  BeginPrepared("a", "a");
  Reopen();
  ASSERT_OK(db_->Flush(FlushOptions()));
  Reopen();
  EXPECT_EQ(PreparedNames(), Names{"a"});
  Transaction* const transaction = db_->GetTransactionByName("a");
  ASSERT_OK(transaction->Commit());
  delete transaction;
  EXPECT_EQ(ValueOf(db_.get(), "a"), "a");
}

TEST_P(StatesTest, PreparedAndCommittedWithoutTheLogIsCommittedAfterReopening) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  std::unique_ptr<Transaction> transaction(db_->BeginTransaction(unlogged));
  ASSERT_OK(transaction->SetName("a"));
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->Commit());
  transaction.reset();
  Reopen();
  EXPECT_TRUE(PreparedNames().empty());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
}

TEST_P(StatesTest, ATransactionBegunAnewCanBePreparedWhateverItsLimitWas) {
  TransactionOptions options;
  options.max_write_batch_size = 1;
  auto transaction = Begin(options);
  ASSERT_OK(transaction->Rollback());
  db_->BeginTransaction(WriteOptions(), TransactionOptions(), transaction.get());
  ASSERT_OK(transaction->SetName("a"));
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
}

TEST_P(StatesTest, BeginningAPreparedTransactionAnewLeavesAShell) {
  auto transaction = BeginPrepared("a", "a");
  ASSERT_EQ(db_->BeginTransaction(WriteOptions(), TransactionOptions(), transaction.get()),
            transaction.get());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_EQ(PreparedNames(), Names{"a"});
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Commit());
}

}  // namespace
}  // namespace ashlar
