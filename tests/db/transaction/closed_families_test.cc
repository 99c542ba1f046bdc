// SPDX-License-Identifier: Apache-2.0
//
// Families with disallow_memtable_writes in databases with transactions. What a prepare has
// accepted can be decided, although the option was set since. Updates that come with the decision
// are new ones and are refused, and the transaction stays as it was.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/transaction_fixture.h"
#include "util/result.h"

namespace ashlar {
namespace {

class ClosedFamilies : public PessimisticFixture,
                       public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  ~ClosedFamilies() override { Close(); }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }
  // The default family takes writes, "closed" does so only if asked.
  void OpenBoth(bool takes_writes) {
    Close();
    db_options_.write_policy = GetParam();
    options_.create_missing_column_families = true;
    ColumnFamilyOptions closed = options_;
    closed.disallow_memtable_writes = !takes_writes;
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(options_, db_options_, "/db",
                                  {{kDefaultColumnFamilyName, options_}, {"closed", closed}},
                                  &handles_, &opened));
    db_.reset(opened);
  }
  ColumnFamilyHandle* closed() { return handles_[1]; }
  std::string ClosedValue(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), closed(), key, &value);
    return status.ok() ? value : status.ToString();
  }
  // A transaction with an update of "closed", prepared before the family was closed.
  std::unique_ptr<Transaction> PrepareThenClose() {
    OpenBoth(/*takes_writes=*/true);
    auto transaction = Begin();
    EXPECT_OK(transaction->SetName("a"));
    EXPECT_OK(transaction->Put(closed(), "prepared", "1"));
    EXPECT_OK(transaction->Prepare());
    transaction.reset();
    OpenBoth(/*takes_writes=*/false);
    return std::unique_ptr<Transaction>(db_->GetTransactionByName("a"));
  }

  std::vector<ColumnFamilyHandle*> handles_;
};

INSTANTIATE_TEST_SUITE_P(Policies, ClosedFamilies, WritePolicies(), PolicyName);

TEST_P(ClosedFamilies, UpdatesSincePrepareAreRefused) {
  auto transaction = PrepareThenClose();
  const Status put = transaction->Put(closed(), "later", "1");
  if (GetParam() != WRITE_COMMITTED) {
    EXPECT_TRUE(put.IsInvalidArgument());
    return;
  }
  ASSERT_OK(put);
  const Status commit = transaction->Commit();
  EXPECT_TRUE(commit.IsInvalidArgument()) << commit.ToString();
  EXPECT_NE(commit.ToString().find("disallow_memtable_writes"), std::string::npos);
  EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
  EXPECT_EQ(ClosedValue("prepared"), "NotFound: ") << "nothing of it is applied";
  transaction.reset();
  OpenBoth(/*takes_writes=*/false);
  transaction.reset(db_->GetTransactionByName("a"));
  ASSERT_NE(transaction, nullptr);
  ASSERT_OK(transaction->Put("elsewhere", "1"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ClosedValue("prepared"), "1");
  EXPECT_EQ(ClosedValue("later"), "NotFound: ");
  EXPECT_EQ(ValueOf(db_.get(), "elsewhere"), "1");
}

TEST_P(ClosedFamilies, CommitTimeBatchesAreRefused) {
  OpenBoth(/*takes_writes=*/false);
  TransactionOptions options;
  options.use_only_the_last_commit_time_batch_for_recovery = true;
  auto transaction = Begin(options);
  ASSERT_OK(transaction->SetName("a"));
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put(closed(), "with_commit", "1"));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
  EXPECT_EQ(ClosedValue("with_commit"), "NotFound: ");
  ASSERT_OK(transaction->Rollback());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
}

// Under the policy write-unprepared the commit writes what the batch still has.
TEST_P(ClosedFamilies, TheRestOfAnUnpreparedTransactionIsRefused) {
  OpenBoth(/*takes_writes=*/false);
  TransactionOptions options;
  options.write_batch_flush_threshold = 1;
  auto transaction = Begin(options);
  ASSERT_OK(transaction->SetName("a"));
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));  // writes "a" out, if the policy does so
  ASSERT_OK(transaction->Put("c", "1"));
  IgnoreError(transaction->Put(closed(), "rest", "1"), "the update before may be written out now");
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(ClosedValue("rest"), "NotFound: ");
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  // Otherwise nothing was written, and the refused transaction is empty.
  if (GetParam() == WRITE_UNPREPARED) {
    ASSERT_OK(transaction->Rollback());
  }
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
}

TEST_P(ClosedFamilies, WritesOfTheDatabaseAreRefused) {
  OpenBoth(/*takes_writes=*/false);
  EXPECT_TRUE(db_->Put(WriteOptions(), closed(), "a", "1").IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put(closed(), "a", "1"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  auto transaction = Begin();
  ASSERT_OK(transaction->PutUntracked(closed(), "a", "1"));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  transaction = Begin();
  ASSERT_OK(transaction->RebuildFromWriteBatch(&batch));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  EXPECT_EQ(ClosedValue("a"), "NotFound: ");
}

TEST(ClosedFamiliesOptimistic, CommitsAreRefused) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options = TransactionTestOptions(env.get());
  options.disallow_memtable_writes = true;
  OptimisticTransactionDB* opened = nullptr;
  ASSERT_OK(OptimisticTransactionDB::Open(options, "/db", &opened));
  const std::unique_ptr<OptimisticTransactionDB> db(opened);
  const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(ValueOf(db.get(), "a"), "NotFound: ");
}

}  // namespace
}  // namespace ashlar
