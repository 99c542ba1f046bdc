// SPDX-License-Identifier: Apache-2.0
//
// Options of a TransactionDB that are refused, when it is opened and when a database is wrapped.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/write_batch.h"
#include "db/manifest/version_edit.h"
#include "db/write/write_batch_internal.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "tests/db/wal/log_test_util.h"

namespace ashlar {
namespace {

class NoLockManager final : public LockManagerHandle {
 public:
  LockManager* getLockManager() override { return nullptr; }
};

class RefusalsTest : public PessimisticFixture {
 protected:
  // What Open() answers; wrapping a database that is open answers the same.
  Status Answer() {
    TransactionDB* opened = nullptr;
    const Status status = TransactionDB::Open(options_, db_options_, "/db", &opened);
    EXPECT_EQ(opened, nullptr);
    std::unique_ptr<DB> base;
    EXPECT_OK(DB::Open(options_, "/base", &base));
    const Status wrapped = TransactionDB::WrapDB(base.release(), db_options_, {}, {}, &opened);
    EXPECT_EQ(opened, nullptr);
    EXPECT_EQ(wrapped.ToString(), status.ToString());
    return status;
  }
};

TEST_F(RefusalsTest, UnorderedWritesAreRefused) {
  options_.unordered_write = true;
  const Status status = Answer();
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("unordered_write"), std::string::npos) << status.ToString();
}

TEST_F(RefusalsTest, SecondaryIndicesAreRefused) {
  db_options_.secondary_indices.emplace_back(nullptr);
  const Status status = Answer();
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("secondary_indices"), std::string::npos) << status.ToString();
}

TEST_F(RefusalsTest, AHandleWithoutALockManagerIsRefused) {
  db_options_.lock_mgr_handle = std::make_shared<NoLockManager>();
  const Status status = Answer();
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("lock_mgr_handle"), std::string::npos) << status.ToString();
}

// A database whose only log holds a transaction that was prepared under this policy.
void WriteDatabase(Env* env, WriteBatchInternal::PreparePolicy policy) {
  VersionEdit edit;
  edit.comparator = BytewiseComparator()->Name();
  edit.log_number = FileNumber{100};
  edit.next_file_number = FileNumber{101};
  edit.last_sequence = 0;
  std::string record;
  edit.EncodeTo(&record);
  LogImage manifest, log;
  manifest.Add(record);
  WriteBatch batch;
  ASSERT_OK(WriteBatchInternal::InsertNoop(&batch));
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(WriteBatchInternal::MarkEndPrepare(&batch, "undecided", policy));
  WriteBatchInternal::SetSequence(&batch, 1);
  log.Add(batch.Data());
  ASSERT_OK(env->CreateDir("/db"));
  ASSERT_OK(WriteStringToFile(env, "MANIFEST-000001\n", "/db/CURRENT"));
  ASSERT_OK(WriteStringToFile(env, manifest.bytes, "/db/MANIFEST-000001"));
  ASSERT_OK(WriteStringToFile(env, log.bytes, "/db/000100.log"));
}

// Its data would be in the memtable already, or its rollback would have to write.
TEST_F(RefusalsTest, UndecidedTransactionsOfOtherPoliciesAreRefusedInEveryMode) {
  using Policy = WriteBatchInternal::PreparePolicy;
  for (const Policy policy :
       {Policy::kWriteCommitted, Policy::kWritePrepared, Policy::kWriteUnprepared}) {
    for (const WALRecoveryMode mode :
         {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
          WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
      const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
      WriteDatabase(env.get(), policy);
      options_.env = env.get();
      options_.wal_recovery_mode = mode;
      TransactionDB* opened = nullptr;
      const Status status = TransactionDB::Open(options_, db_options_, "/db", &opened);
      const std::unique_ptr<TransactionDB> db(opened);
      if (policy == Policy::kWriteCommitted) {
        ASSERT_OK(status) << int(mode);
        EXPECT_NE(db->GetTransactionByName("undecided"), nullptr);
      } else {
        EXPECT_TRUE(status.IsNotSupported()) << int(mode) << ": " << status.ToString();
        EXPECT_EQ(opened, nullptr);
      }
    }
  }
}

class PartlyLoggedTransaction : public PessimisticFixture,
                                public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  PartlyLoggedTransaction() { db_options_.write_policy = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Policies, PartlyLoggedTransaction, WritePolicies(), PolicyName);

// The log would have half of a section, and the database could not be opened any more.
TEST_P(PartlyLoggedTransaction, IsNotPrepared) {
  Open();
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->GetWriteBatch()->GetWriteBatch()->MarkWalTerminationPoint();
  ASSERT_OK(transaction->Put("b", "1"));
  const Status status = transaction->Prepare();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find("Transaction::Prepare"), std::string::npos) << status.ToString();
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  ASSERT_OK(transaction->Rollback());
  ASSERT_OK(transaction->Put("c", "1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->Commit());
  transaction.reset();
  Reopen();
  ASSERT_NE(db_, nullptr);
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  EXPECT_EQ(ValueOf(db_.get(), "c"), "1");
}

TEST_F(RefusalsTest, APartlyLoggedBatchIsNotWrittenBeforeTheCommit) {
  db_options_.write_policy = WRITE_UNPREPARED;
  db_options_.default_write_batch_flush_threshold = 1;
  Open();
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->GetWriteBatch()->GetWriteBatch()->MarkWalTerminationPoint();
  const Status status = transaction->Put("b", "1");
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  ASSERT_OK(transaction->Rollback());
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Put("c", "1"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
  EXPECT_EQ(ValueOf(db_.get(), "b"), "1");
}

}  // namespace
}  // namespace ashlar
