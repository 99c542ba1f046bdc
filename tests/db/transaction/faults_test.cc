// SPDX-License-Identifier: Apache-2.0
//
// Every file call of prepares, commits and rollbacks fails once. The state of the transaction says
// what is true, no lock is left, and after Resume() the call can be repeated.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class TransactionFaultsTest : public testing::TestWithParam<FaultEffect> {
 protected:
  void Start() {
    Close();
    faults_ = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
    env_ = NewCompositeEnv(faults_);
    Open();
  }
  void Open() {
    Options options = TransactionTestOptions(env_.get());
    options.max_bgerror_resume_count = 0;  // only the test recovers
    options.disable_auto_compactions = true;
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(options, db_options_, "/db", &opened));
    db_.reset(opened);
  }
  void Close() { db_.reset(); }
  ~TransactionFaultsTest() override { Close(); }

  std::unique_ptr<Transaction> Begin(const std::string& name, const std::string& key) {
    WriteOptions options;
    options.sync = true;
    std::unique_ptr<Transaction> transaction(db_->BeginTransaction(options));
    EXPECT_OK(transaction->SetName(name));
    EXPECT_OK(transaction->Put(key, name));
    return transaction;
  }
  // Repeats a call that has failed, behind a recovery, if the transaction still has this state.
  template <typename Call>
  void Repeat(Transaction* transaction, Transaction::TransactionState before, const Call& call) {
    const Status status = call();
    if (status.ok()) return;
    faults_->ClearFaults();
    ASSERT_OK(db_->Resume()) << status.ToString();
    if (transaction->GetState() == before) {
      ASSERT_OK(call()) << status.ToString();
    }
  }
  void PrepareAndDecide(const std::string& name, const std::string& key, bool is_commit) {
    auto transaction = Begin(name, key);
    Repeat(transaction.get(), Transaction::STARTED, [&] { return transaction->Prepare(); });
    ASSERT_EQ(transaction->GetState(), Transaction::PREPARED);
    Repeat(transaction.get(), Transaction::PREPARED,
           [&] { return is_commit ? transaction->Commit() : transaction->Rollback(); });
    EXPECT_EQ(transaction->GetState(),
              is_commit ? Transaction::COMMITTED : Transaction::ROLLEDBACK);
  }
  // The updates of a commit that fails without Prepare() are gone, or visible if only its sync has
  // failed.
  void CommitAtOnce() {
    auto transaction = Begin("at once", "c");
    const Status status = transaction->Commit();
    if (status.ok()) {
      EXPECT_EQ(transaction->GetState(), Transaction::COMMITTED);
      EXPECT_EQ(ValueOf(db_.get(), "c"), "at once");
      return;
    }
    EXPECT_EQ(transaction->GetState(), Transaction::AWAITING_COMMIT);
    faults_->ClearFaults();
    ASSERT_OK(db_->Resume()) << status.ToString();
    const std::string found = ValueOf(db_.get(), "c");
    EXPECT_TRUE(found == "at once" || found == "NotFound: ") << found;
  }

  // Write-unprepared transactions: an update writes the one before.
  void CommitParts() {
    auto transaction = Begin("in parts", "a");
    for (const char* key : {"a1", "a2"}) {
      Repeat(transaction.get(), Transaction::STARTED,
             [&] { return transaction->Put(key, "in parts"); });
    }
    transaction->SetSavePoint();
    for (const char* key : {"a1", "c1", "c2"}) {
      Repeat(transaction.get(), Transaction::STARTED,
             [&] { return transaction->Put(key, "taken back"); });
    }
    Repeat(transaction.get(), Transaction::STARTED,
           [&] { return transaction->RollbackToSavePoint(); });
    EXPECT_EQ(ValueOf(transaction.get(), "a1"), "in parts");
    EXPECT_EQ(ValueOf(db_.get(), "a"), "NotFound: ");
    Repeat(transaction.get(), Transaction::STARTED, [&] { return transaction->Commit(); });
    EXPECT_EQ(transaction->GetState(), Transaction::COMMITTED);
  }
  void RollPartsBack(bool is_prepared) {
    auto transaction = Begin("rolled back", "b");
    for (const char* key : {"b1", "b2"}) {
      Repeat(transaction.get(), Transaction::STARTED, [&] { return transaction->Put(key, "b"); });
    }
    if (is_prepared) {
      Repeat(transaction.get(), Transaction::STARTED, [&] { return transaction->Prepare(); });
    }
    Repeat(transaction.get(), is_prepared ? Transaction::PREPARED : Transaction::STARTED,
           [&] { return transaction->Rollback(); });
    EXPECT_EQ(transaction->GetState(),
              is_prepared ? Transaction::ROLLEDBACK : Transaction::STARTED);
  }
  // If the rollback fails, the database has the transaction.
  void DestroyParts() {
    auto transaction = Begin("destroyed", "b");
    Repeat(transaction.get(), Transaction::STARTED, [&] { return transaction->Put("b1", "b"); });
    transaction.reset();
    transaction.reset(db_->GetTransactionByName("destroyed"));
    if (transaction == nullptr) return;
    EXPECT_EQ(transaction->GetState(), Transaction::AWAITING_ROLLBACK);
    EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
    EXPECT_TRUE(transaction->Put("d", "d").IsInvalidArgument());
    faults_->ClearFaults();
    ASSERT_OK(db_->Resume());
    ASSERT_OK(transaction->Rollback());
  }

  // Runs work() with one file call after the other failing, and then check(), before and after a
  // reopening.
  template <typename Work, typename Check>
  void FailEveryCall(const Work& work, const Check& check) {
    for (uint64_t failing = 0;; ++failing) {
      SCOPED_TRACE(failing);
      Start();
      faults_->FailAt(faults_->CallCount() + failing, FaultError::kIO, FaultMode::kOnce,
                      GetParam());
      work();
      const bool has_failed = faults_->Stats().TotalInjected() > 0;
      faults_->ClearFaults();
      ASSERT_OK(db_->Resume());
      EXPECT_EQ(db_->GetLockStatusData().size(), 0u);
      for (const bool is_reopened : {false, true}) {
        if (is_reopened) {
          Close();
          Open();
        }
        check();
        std::vector<Transaction*> prepared;
        db_->GetAllPreparedTransactions(&prepared);
        EXPECT_TRUE(prepared.empty());
      }
      if (HasFailure() || !has_failed) break;
    }
  }
  void ExpectAbsent(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) EXPECT_EQ(ValueOf(db_.get(), key), "NotFound: ") << key;
  }

  std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<Env> env_;
  TransactionDBOptions db_options_;
  std::unique_ptr<TransactionDB> db_;
};

INSTANTIATE_TEST_SUITE_P(Effects, TransactionFaultsTest,
                         testing::Values(FaultEffect::kNone, FaultEffect::kPartial,
                                         FaultEffect::kFull));

TEST_P(TransactionFaultsTest, EveryFileCallMayFail) {
  FailEveryCall(
      [&] {
        PrepareAndDecide("committed", "a", /*is_commit=*/true);
        PrepareAndDecide("rolled back", "b", /*is_commit=*/false);
        CommitAtOnce();
      },
      [&] {
        EXPECT_EQ(ValueOf(db_.get(), "a"), "committed");
        ExpectAbsent({"b"});
      });
}

TEST_P(TransactionFaultsTest, EveryFileCallOfWriteUnpreparedOnesMayFail) {
  db_options_.write_policy = WRITE_UNPREPARED;
  db_options_.default_write_batch_flush_threshold = 1;
  FailEveryCall(
      [&] {
        CommitParts();
        ASSERT_OK(db_->Flush(FlushOptions()).ok() ? Status::OK() : db_->Resume());
        RollPartsBack(/*is_prepared=*/false);
        RollPartsBack(/*is_prepared=*/true);
        DestroyParts();
      },
      [&] {
        for (const char* key : {"a", "a1", "a2"}) EXPECT_EQ(ValueOf(db_.get(), key), "in parts");
        ExpectAbsent({"b", "b1", "b2", "c1", "c2"});
      });
}

}  // namespace
}  // namespace ashlar
