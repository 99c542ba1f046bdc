// SPDX-License-Identifier: Apache-2.0
//
// Openings that find write-unprepared transactions, prepared or not, and writes of them that fail.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/write_unprepared_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class UnpreparedRecoveryTest : public WriteUnpreparedTest {};

TEST_F(UnpreparedRecoveryTest, APreparedOneIsThereAgainAfterReopeningAndOthersAreGone) {
  ASSERT_OK(Put("a", "0"));
  auto prepared = BeginNamed("prepared");
  auto running = BeginNamed("running");
  for (int i = 1; i <= 4; i++) {  // over several logs
    ASSERT_OK(prepared->Put(i % 2 == 0 ? "a" : "b", std::to_string(i)));
    ASSERT_OK(running->Put(StrCat("r", i), "1"));
    ASSERT_OK(Put("o", std::to_string(i)));
    if (i < 4) Flush();
  }
  ASSERT_OK(prepared->Prepare());
  EXPECT_NE(prepared->GetLogNumber(), 0u);
  const uint64_t id = prepared->GetId();
  prepared.reset();
  CrashAndReopen(&running);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(Scan(), "a=0 o=4 ");
    std::vector<Transaction*> all;
    db_->GetAllPreparedTransactions(&all);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0]->GetName(), "prepared");
    EXPECT_EQ(all[0]->GetId(), id);
    EXPECT_EQ(all[0]->GetNumKeys(), 2u);
    EXPECT_EQ(all[0]->GetNumPuts(), 0u);
    EXPECT_EQ(db_->GetTransactionByName("running"), nullptr);
    EXPECT_EQ(LockCount(), 2u);
    EXPECT_TRUE(Put("b", "2").IsTimedOut());
    EXPECT_EQ(ScanOwn(all[0]), "a=4 b=3 o=4 ");
    EXPECT_EQ(ValueOf(all[0], "b"), "3");
    if (i == 0) Compact();
    Reopen();
  }
  ASSERT_OK(std::unique_ptr<Transaction>(db_->GetTransactionByName("prepared"))->Commit());
  EXPECT_EQ(Scan(), "a=4 b=3 o=4 ");
  Reopen();
  EXPECT_EQ(Scan(), "a=4 b=3 o=4 ");
}

TEST_F(UnpreparedRecoveryTest, ThoseThatAreDestroyedAfterTheCloseAreFoundByTheNextOpening) {
  ASSERT_OK(Put("a", "0"));
  auto prepared = BeginNamed("prepared");
  auto running = BeginNamed("running");
  for (const char* key : {"1", "2", "3"}) {
    ASSERT_OK(prepared->Put(StrCat("p", key), "1"));
    ASSERT_OK(running->Put(StrCat("r", key), "1"));
  }
  ASSERT_LT(BatchCount(running.get()), 3u) << "parts of it are written";
  ASSERT_OK(prepared->Prepare());
  WaitForCompactOptions closing;
  closing.close_db = true;
  ASSERT_OK(db_->WaitForCompact(closing));
  prepared.reset();
  running.reset();
  Reopen();
  EXPECT_EQ(Scan(), "a=0 ");
  EXPECT_EQ(LockCount(), 3u);
  EXPECT_EQ(db_->GetTransactionByName("running"), nullptr);
  ASSERT_OK(std::unique_ptr<Transaction>(db_->GetTransactionByName("prepared"))->Commit());
  EXPECT_EQ(Scan(), "a=0 p1=1 p2=1 p3=1 ");
}

TEST_F(UnpreparedRecoveryTest, APreparedOneThatWasFoundAtOpeningIsRolledBack) {
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("k", "1"));
  ASSERT_OK(transaction->Put("l", "1"));
  ASSERT_OK(transaction->RollbackToSavePoint());
  ASSERT_OK(Put("k", "others"));
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Prepare());
  transaction.reset();
  Reopen();
  ASSERT_OK(std::unique_ptr<Transaction>(db_->GetTransactionByName("x"))->Rollback());
  EXPECT_EQ(Scan(), "a=0 k=others ");
  Reopen();
  EXPECT_EQ(Scan(), "a=0 k=others ");
}

TEST_F(UnpreparedRecoveryTest, OtherOpeningsHideOrRefuseWhatIsUndecided) {
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  Flush();
  ASSERT_OK(transaction->Put("c", "1"));
  std::unique_ptr<DB> other;
  Options with_2pc = options_;
  with_2pc.allow_2pc = true;
  ASSERT_OK(DB::OpenForReadOnly(with_2pc, "/db", &other));
  EXPECT_EQ(ValueOf(other.get(), "a"), "0");
  EXPECT_EQ(ValueOf(other.get(), "b"), "NotFound: ");
  other.reset();
  ASSERT_OK(DB::OpenAsSecondary(with_2pc, "/db", "/secondary", &other));
  ASSERT_OK(other->TryCatchUpWithPrimary());
  EXPECT_EQ(ValueOf(other.get(), "a"), "0");
  ASSERT_OK(Put("d", "1"));
  ASSERT_OK(other->TryCatchUpWithPrimary());
  EXPECT_EQ(ValueOf(other.get(), "a") + ValueOf(other.get(), "d"), "01");
  other.reset();
  Crash(&transaction);
  with_2pc.env = options_.env;
  for (const auto policy : {WRITE_COMMITTED, WRITE_PREPARED}) {
    db_options_.write_policy = policy;
    TransactionDB* opened = nullptr;
    EXPECT_TRUE(TransactionDB::Open(options_, db_options_, "/db", &opened).IsNotSupported());
  }
  EXPECT_TRUE(DB::Open(options_, "/db", &other).IsNotSupported());
  ASSERT_OK(DB::Open(with_2pc, "/db", &other));
  EXPECT_EQ(ValueOf(other.get(), "a"), "0");
  ASSERT_OK(other->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(ValueOf(other.get(), "b"), "NotFound: ");
  other.reset();
  db_options_.write_policy = WRITE_UNPREPARED;
  Open();
  EXPECT_EQ(Scan(), "a=0 d=1 ");
  Flush();
  db_.reset();
  db_options_.write_policy = WRITE_COMMITTED;
  Open();
  EXPECT_EQ(Scan(), "a=0 d=1 ");
}

// What a write-prepared database has prepared is the last section of a write-unprepared one.
TEST_F(UnpreparedRecoveryTest, PreparedTransactionsOfTheOtherPolicyAreTakenOver) {
  db_.reset();
  db_options_.write_policy = WRITE_PREPARED;
  Open();
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  transaction.reset();
  db_.reset();
  db_options_.write_policy = WRITE_UNPREPARED;
  Open();
  EXPECT_EQ(Scan(), "");
  const std::unique_ptr<Transaction> found(db_->GetTransactionByName("x"));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(ValueOf(found.get(), "a"), "1");
  ASSERT_OK(found->Commit());
  EXPECT_EQ(Scan(), "a=1 ");
}

TEST_F(UnpreparedRecoveryTest, CommitTimeBatchesNeedPrepareAndTheirOption) {
  TransactionOptions options;
  for (const bool is_allowed : {false, true}) {
    options.use_only_the_last_commit_time_batch_for_recovery = is_allowed;
    auto transaction = BeginNamed("x", options);
    ASSERT_OK(transaction->Put("a", "1"));
    ASSERT_OK(transaction->Put("b", "1"));
    ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put("t", "1"));
    EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
    ASSERT_OK(transaction->Prepare());
    if (is_allowed) {
      ASSERT_OK(transaction->Commit());
    } else {
      EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
      ASSERT_OK(transaction->Rollback());
    }
  }
  EXPECT_EQ(Scan(), "a=1 b=1 t=1 ");
}

// A part is not written where that would wait: the update is refused, and nothing is lost.
TEST_F(UnpreparedRecoveryTest, AnUpdateWhosePartCannotBeWrittenIsRefused) {
  ASSERT_OK(Put("k", "v"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  WriteOptions invalid;
  invalid.sync = invalid.disableWAL = true;
  transaction->SetWriteOptions(invalid);
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_TRUE(transaction->Prepare().IsInvalidArgument());
  EXPECT_TRUE(transaction->Rollback().IsInvalidArgument());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_EQ(ScanOwn(transaction.get()), "a=1 b=1 k=v ");
  transaction->SetWriteOptions(WriteOptions());
  ASSERT_OK(transaction->Put("c", "1"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Scan(), "a=1 b=1 c=1 k=v ");
}

TEST_F(UnpreparedRecoveryTest, PicturesCountWhatIsWritten) {
  auto transaction = BeginNamed("x");
  const std::string value(1000, 'v');
  for (int i = 0; i < 10; i++) ASSERT_OK(transaction->Put(StrCat("k", i), value));
  std::string text;
  ASSERT_TRUE(db_->GetProperty("ashlar.transactions", &text));
  const size_t at = text.find("batch bytes ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stoi(text.substr(at + 12)), 9'000);
  ASSERT_OK(transaction->Rollback());
}

}  // namespace
}  // namespace ashlar
