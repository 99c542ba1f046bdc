// SPDX-License-Identifier: Apache-2.0
//
// Updates of a transaction after its Prepare(), under the policy write-committed. RocksDB accepts
// them and loses them when the database is opened again; here they are as durable as the commit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ashlar/statistics.h"
#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

class LaterUpdates : public PessimisticFixture {
 protected:
  void SetUp() override {
    Open();
    ASSERT_OK(Put("old", "0"));
    ASSERT_OK(Put("gone", "0"));
    ASSERT_OK(Put("summed", "0"));
  }
  std::unique_ptr<Transaction> BeginPrepared() {
    auto transaction = Begin();
    EXPECT_OK(transaction->SetName("later"));
    EXPECT_OK(transaction->Put("old", "prepared"));
    EXPECT_OK(transaction->Put("prepared", "1"));
    EXPECT_OK(transaction->Merge("summed", "1"));
    EXPECT_OK(transaction->Prepare());
    return transaction;
  }
  void Update(Transaction* transaction) {
    ASSERT_OK(transaction->Put("old", "later"));
    ASSERT_OK(transaction->Put("new", "later"));
    ASSERT_OK(transaction->Delete("gone"));
    ASSERT_OK(transaction->Merge("summed", "2"));
  }
  // The entries, in order of their keys.
  std::string Contents() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    std::string text;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      text += it->key().ToString() + "=" + it->value().ToString() + " ";
    }
    EXPECT_OK(it->status());
    return text;
  }
  void Reopen() {
    db_.reset();
    Open();
  }

  // The log data of the batches from this number on.
  std::string LoggedBlobs(SequenceNumber first) {
    struct Blobs : WriteBatch::Handler {
      Status PutCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
      Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
      Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
      Status MarkBeginPrepare(bool) override { return Status::OK(); }
      Status MarkEndPrepare(const Slice&) override { return Status::OK(); }
      Status MarkCommit(const Slice&) override { return Status::OK(); }
      Status MarkNoop(bool) override { return Status::OK(); }
      void LogData(const Slice& blob) override { found += blob.ToString(); }
      std::string found;
    } blobs;
    std::unique_ptr<TransactionLogIterator> updates;
    EXPECT_OK(db_->GetUpdatesSince(first, &updates));
    for (; updates != nullptr && updates->Valid(); updates->Next()) {
      EXPECT_OK(updates->GetBatch().writeBatchPtr->Iterate(&blobs));
    }
    return blobs.found;
  }

  const std::string before_ = "gone=0 old=0 summed=0 ";
  const std::string prepared_ = "gone=0 old=prepared prepared=1 summed=0,1 ";
  const std::string after_ = "new=later old=later prepared=1 summed=0,1,2 ";
};

TEST_F(LaterUpdates, AreSeenByTheTransactionAndAfterItsCommit) {
  auto transaction = BeginPrepared();
  Update(transaction.get());
  EXPECT_EQ(ValueOf(transaction.get(), "old"), "later");
  EXPECT_EQ(ValueOf(transaction.get(), "new"), "later");
  EXPECT_EQ(Contents(), before_);
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Contents(), after_);
  EXPECT_EQ(LockCount(), 0u);
}

TEST_F(LaterUpdates, BelongToOneWriteInTheStatistics) {
  options_.statistics = CreateDBStatistics();
  Reopen();
  auto transaction = BeginPrepared();
  Update(transaction.get());
  const auto count = [this](Tickers ticker) { return options_.statistics->getTickerCount(ticker); };
  const uint64_t keys = count(NUMBER_KEYS_WRITTEN), writes = count(WRITE_DONE_BY_SELF);
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(count(NUMBER_KEYS_WRITTEN) - keys, 7u);
  EXPECT_EQ(count(WRITE_DONE_BY_SELF) - writes, 1u);
}

TEST_F(LaterUpdates, AreInTheLog) {
  auto transaction = BeginPrepared();
  Update(transaction.get());
  ASSERT_OK(transaction->Commit());
  transaction.reset();
  ASSERT_OK(Put("old", "last"));
  Reopen();
  const std::string last = "new=later old=last prepared=1 summed=0,1,2 ";
  EXPECT_EQ(Contents(), last);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Reopen();
  EXPECT_EQ(Contents(), last);
}

TEST_F(LaterUpdates, FollowTheSectionAlsoWithACommitTimeBatch) {
  auto transaction = BeginPrepared();
  ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put("old", "commit time"));
  ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put("z", "commit time"));
  Update(transaction.get());
  ASSERT_OK(transaction->Commit());
  transaction.reset();
  EXPECT_EQ(Contents(), after_ + "z=commit time ");
  Reopen();
  EXPECT_EQ(Contents(), after_ + "z=commit time ");
}

TEST_F(LaterUpdates, AreGoneAfterARollback) {
  auto transaction = BeginPrepared();
  Update(transaction.get());
  ASSERT_OK(transaction->Rollback());
  transaction.reset();
  EXPECT_EQ(Contents(), before_);
  EXPECT_EQ(LockCount(), 0u);
  Reopen();
  EXPECT_EQ(Contents(), before_);
}

TEST_F(LaterUpdates, LockTheirKeys) {
  auto transaction = BeginPrepared();
  Update(transaction.get());
  EXPECT_TRUE(Put("new", "other").IsTimedOut());
  EXPECT_TRUE(Begin()->Put("gone", "other").IsTimedOut());
  const auto other = Begin();
  ASSERT_OK(other->Put("taken", "1"));
  EXPECT_TRUE(transaction->Put("taken", "2").IsTimedOut());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Contents(), after_);
}

TEST_F(LaterUpdates, AreGoneIfTheDatabaseEndsBeforeTheCommit) {
  auto transaction = BeginPrepared();
  Update(transaction.get());
  transaction.reset();  // a prepared transaction stays without its object
  Reopen();
  std::unique_ptr<Transaction> recovered(db_->GetTransactionByName("later"));
  ASSERT_NE(recovered, nullptr);
  ASSERT_OK(recovered->Commit());
  EXPECT_EQ(Contents(), prepared_);
}

TEST_F(LaterUpdates, OfARecoveredTransactionAreCommittedWithIt) {
  BeginPrepared().reset();
  Reopen();
  std::unique_ptr<Transaction> recovered(db_->GetTransactionByName("later"));
  ASSERT_NE(recovered, nullptr);
  Update(recovered.get());
  ASSERT_OK(recovered->Commit());
  recovered.reset();
  EXPECT_EQ(Contents(), after_);
  Reopen();
  EXPECT_EQ(Contents(), after_);
}

// The database keeps the transaction, with all its updates.
TEST_F(LaterUpdates, OutliveTheObject) {
  auto transaction = BeginPrepared();
  Update(transaction.get());
  transaction.reset();
  std::unique_ptr<Transaction> kept(db_->GetTransactionByName("later"));
  ASSERT_NE(kept, nullptr);
  ASSERT_OK(kept->Commit());
  kept.reset();
  EXPECT_EQ(Contents(), after_);
  Reopen();
  EXPECT_EQ(Contents(), after_);
}

TEST_F(LaterUpdates, AreInNoSavePointBeforeThePrepare) {
  auto transaction = Begin();
  ASSERT_OK(transaction->SetName("later"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("prepared", "1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->Put("new", "later"));
  EXPECT_TRUE(transaction->RollbackToSavePoint().IsInvalidArgument());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "new"), "later");
  EXPECT_EQ(ValueOf(db_.get(), "prepared"), "1");
}

// The bytes of the section are those that Prepare() has logged, whatever is noted afterwards.
TEST_F(LaterUpdates, MayBeLogDataAlone) {
  for (const bool is_recovered : {false, true}) {
    SCOPED_TRACE(is_recovered);
    auto transaction = BeginPrepared();
    if (is_recovered) {
      transaction.reset();
      Reopen();
      transaction.reset(db_->GetTransactionByName("later"));
      ASSERT_NE(transaction, nullptr);
    }
    const std::string note = is_recovered ? "of a recovered one" : "of a live one";
    const SequenceNumber before = db_->GetLatestSequenceNumber();
    transaction->PutLogData(note);
    ASSERT_OK(transaction->Commit());
    transaction.reset();
    EXPECT_EQ(db_->GetLatestSequenceNumber(), before + 3) << "log data takes no number";
    const std::string after = Contents();
    EXPECT_NE(LoggedBlobs(before + 1).find(note), std::string::npos);
    Reopen();
    EXPECT_EQ(Contents(), after);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
}

// Their sections are in the memtables already.
TEST(LaterLogData, IsDroppedUnderTheOtherPolicies) {
  for (const TxnDBWritePolicy policy : {WRITE_PREPARED, WRITE_UNPREPARED}) {
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    TransactionDBOptions db_options;
    db_options.write_policy = policy;
    TransactionDB* opened = nullptr;
    ASSERT_OK(TransactionDB::Open(TransactionTestOptions(env.get()), db_options, "/db", &opened));
    const std::unique_ptr<TransactionDB> db(opened);
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    ASSERT_OK(transaction->SetName("x"));
    ASSERT_OK(transaction->Put("a", "1"));
    ASSERT_OK(transaction->Prepare());
    const size_t bytes = transaction->GetWriteBatch()->GetWriteBatch()->GetDataSize();
    transaction->PutLogData("note");
    EXPECT_EQ(transaction->GetWriteBatch()->GetWriteBatch()->GetDataSize(), bytes);
    ASSERT_OK(transaction->Commit());
    EXPECT_EQ(ValueOf(db.get(), "a"), "1");
  }
}

}  // namespace
}  // namespace ashlar
