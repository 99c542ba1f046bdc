// SPDX-License-Identifier: Apache-2.0
//
// Transactions that write their data while they run: what they see themselves and what others see,
// savepoints behind which data was written, rollbacks, the bytes in the log, recovery.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/write_unprepared_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

TEST_F(WriteUnpreparedTest, OthersSeeNothingBeforeTheCommitAndTheTransactionSeesAll) {
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("m", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Merge("m", "1"));
  ASSERT_OK(transaction->Delete("c"));
  EXPECT_EQ(BatchCount(transaction.get()), 1u);
  for (int place = 0; place < 3; place++) {
    if (place == 1) Flush();
    if (place == 2) Compact();
    EXPECT_EQ(Scan(), "a=0 m=0 ");
    EXPECT_EQ(ValueOf(db_.get(), "a"), "0");
    EXPECT_EQ(ValueOf(db_.get(), "b"), "NotFound: ");
    EXPECT_EQ(ScanOwn(transaction.get()), "a=1 b=1 m=0,1 ");
    EXPECT_EQ(ValueOf(transaction.get(), "a"), "1");
    EXPECT_EQ(ValueOf(transaction.get(), "m"), "0,1");
  }
  CommitBehindSnapshot(transaction.get(), "a=0 m=0 ", "a=1 b=1 m=0,1 ");
}

TEST_F(WriteUnpreparedTest, EveryReadSeesWhatTheTransactionHasWritten) {
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("b", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->PutEntity(db_->DefaultColumnFamily(), "e", {{"", "d"}, {"c", "1"}}));
  ASSERT_OK(transaction->Delete("b"));
  ASSERT_OK(transaction->Put("last", "1"));
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      transaction->MultiGet(ReadOptions(), {"a", "b", "e", "last"}, &values);
  EXPECT_EQ(values[0], "1");
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_EQ(values[2], "d");
  EXPECT_EQ(values[3], "1");
  const Slice keys[] = {"a", "b", "e"};
  PinnableSlice pinned[3];
  Status several[3];
  transaction->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), 3, keys, pinned, several, false);
  EXPECT_EQ(pinned[0].ToString(), "1");
  EXPECT_TRUE(several[1].IsNotFound());
  PinnableWideColumns columns;
  ASSERT_OK(transaction->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "e", &columns));
  EXPECT_EQ(columns.columns(), (WideColumns{{"", "d"}, {"c", "1"}}));
  PinnableWideColumns entities[3];
  transaction->MultiGetEntity(ReadOptions(), db_->DefaultColumnFamily(), 3, keys, entities, several,
                              false);
  EXPECT_EQ(entities[0].columns(), (WideColumns{{"", "1"}}));
  EXPECT_TRUE(several[1].IsNotFound());
  EXPECT_EQ(entities[2].columns(), (WideColumns{{"", "d"}, {"c", "1"}}));
  std::string value;
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "1");
  EXPECT_TRUE(transaction->GetForUpdate(ReadOptions(), "b", &value).IsNotFound());
}

// A snapshot limits what is seen of others, not of the transaction.
TEST_F(WriteUnpreparedTest, OwnDataIsSeenAtAnOlderSnapshotThatDoesNotSeeOthers) {
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("o", "0"));
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(Put("o", "1"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("z", "1"));
  ASSERT_OK(Put("o", "2"));
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  ASSERT_OK(transaction->Get(options, "o", &value));
  EXPECT_EQ(value, "0");
  ASSERT_OK(transaction->Get(options, "a", &value));
  EXPECT_EQ(value, "1");
  const std::unique_ptr<Iterator> it(transaction->GetIterator(options));
  EXPECT_EQ(ScanForward(it.get()), "a=1 o=0 z=1 ");
  EXPECT_EQ(ScanBackward(it.get()), "a=1 o=0 z=1 ");
  db_->ReleaseSnapshot(snapshot);
}

// Number and count of each batch, and its bytes, as RocksDB writes them, but for the commit without
// Prepare(), which RocksDB divides into the last section and the marker.
TEST_F(WriteUnpreparedTest, TheLogHasTheBytesAndNumbersOfRocksDb) {
  auto one = BeginNamed("xa");
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(one->Put("b", "2"));
  ASSERT_OK(one->Put("c", "3"));
  EXPECT_EQ(one->GetId(), 1u);
  ASSERT_OK(one->Prepare());
  EXPECT_EQ(one->GetId(), 1u);
  ASSERT_OK(one->Commit());
  auto two = BeginNamed("xb");
  ASSERT_OK(two->Put("b", "3"));
  two->SetSavePoint();
  ASSERT_OK(two->Put("a", "2"));
  ASSERT_OK(two->Put("d", "2"));
  ASSERT_OK(two->RollbackToSavePoint());
  ASSERT_OK(two->Rollback());
  auto three = BeginNamed("xc");
  ASSERT_OK(three->Put("c", "4"));
  ASSERT_OK(three->Put("c", "5"));
  ASSERT_OK(three->Commit());
  auto four = Begin();
  ASSERT_OK(four->Put("d", "3"));
  ASSERT_OK(four->Commit());
  EXPECT_EQ(LoggedBatches(), (std::vector<std::string>{
                                 "1,1 13010161013"
                                 "10A027861",
                                 "2,1 13010162013"
                                 "20A027861",
                                 "3,1 12010163013"
                                 "30A027861",
                                 "4,0 0B027861",
                                 "5,1 13010162013"
                                 "30A027862",
                                 "6,1 13010161013"
                                 "20A027862",
                                 "7,1 13010161013"
                                 "10A027862",
                                 "8,1 01016201320C027862",
                                 "9,1 13010163013"
                                 "40A027863",
                                 "10,1 01016301350D0B027863",
                                 "12,1 0D01016401330D",
                             }));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 12u);
  for (auto* transaction : {&one, &two, &three, &four}) transaction->reset();
  Reopen();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 12u);
  EXPECT_EQ(Scan(), "a=1 b=2 c=5 d=3 ");
}

TEST_F(WriteUnpreparedTest, ThresholdsAreThoseOfTheTransactionOrOfTheDatabase) {
  TransactionOptions options;
  options.write_batch_flush_threshold = 0;
  auto never = BeginNamed("never", options);
  for (int i = 0; i < 100; i++) ASSERT_OK(never->Put(StrCat("n", i), "1"));
  EXPECT_EQ(BatchCount(never.get()), 100u);
  options.write_batch_flush_threshold = 60;
  auto some = BeginNamed("some", options);
  size_t most = 0;
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(some->Put(StrCat("s", i), "1"));
    most = std::max(most, BatchCount(some.get()));
  }
  EXPECT_GT(most, 5u);
  EXPECT_LT(most, 15u);
  options.write_batch_flush_threshold = -1;
  auto each = BeginNamed("each", options);
  ASSERT_OK(each->Put("e", "1"));
  ASSERT_OK(each->Put("f", "1"));
  EXPECT_EQ(BatchCount(each.get()), 1u);
  for (Transaction* transaction : {never.get(), some.get(), each.get()}) {
    EXPECT_EQ(transaction->GetNumPuts(), transaction == each.get() ? 2u : 100u);
    ASSERT_OK(transaction->Commit());
  }
  EXPECT_EQ(ValueOf(db_.get(), "n99") + ValueOf(db_.get(), "s0") + ValueOf(db_.get(), "e"), "111");
}

TEST_F(WriteUnpreparedTest, ATransactionWithoutANameCannotWriteOut) {
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_TRUE(transaction->Put("b", "1").IsInvalidArgument());
  EXPECT_EQ(transaction->GetNumKeys(), 1u);
  ASSERT_OK(transaction->SetName("x"));
  ASSERT_OK(transaction->Put("b", "1"));
  EXPECT_EQ(BatchCount(transaction.get()), 1u);
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Scan(), "a=1 b=1 ");
}

TEST_F(WriteUnpreparedTest, WhatCannotBeRolledBackIsNotWritten) {
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->GetWriteBatch()->GetWriteBatch()->DeleteRange("a", "c"));
  EXPECT_TRUE(transaction->Put("b", "1").IsNotSupported());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  ASSERT_OK(transaction->Commit());
}

// Behind a savepoint there may be data in the batch, in parts, or both.
TEST_F(WriteUnpreparedTest, ASavePointBringsBackWhatTheTransactionSaw) {
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("m", "0"));
  for (const int64_t threshold : {1, 40, 70, 1000}) {
    SCOPED_TRACE(threshold);
    TransactionOptions options;
    options.write_batch_flush_threshold = threshold;
    auto transaction = BeginNamed("x", options);
    std::vector<std::string> seen;
    for (int i = 1; i <= 3; i++) {
      seen.push_back(ScanOwn(transaction.get()));
      transaction->SetSavePoint();
      ASSERT_OK(transaction->Put("a", std::to_string(i)));
      ASSERT_OK(transaction->Merge("m", std::to_string(i)));
      ASSERT_OK(transaction->Put(StrCat("n", i), "1"));
      if (i == 2) {
        ASSERT_OK(transaction->Delete("n1"));
      }
      if (i == 3) {
        ASSERT_OK(transaction->SingleDelete("n2"));
      }
    }
    EXPECT_EQ(ScanOwn(transaction.get()), "a=3 m=0,1,2,3 n3=1 ");
    for (int i = 3; i >= 2; i--) {
      ASSERT_OK(transaction->RollbackToSavePoint());
      EXPECT_EQ(ScanOwn(transaction.get()), seen[i - 1]);
      EXPECT_EQ(ValueOf(transaction.get(), "m"), i == 3 ? "0,1,2" : "0,1");
      EXPECT_EQ(LockCount(), i == 3 ? 4u : 3u);
      if (i == 3) Flush();
    }
    ASSERT_OK(transaction->Put("later", "1"));
    const std::string own = ScanOwn(transaction.get());
    EXPECT_EQ(own, "a=1 later=1 m=0,1 n1=1 ");
    if (threshold == 40) {
      ASSERT_OK(transaction->Rollback());
      EXPECT_EQ(Scan(), "a=0 m=0 ");
      continue;
    }
    if (threshold == 70) {
      ASSERT_OK(transaction->Prepare());
    }
    ASSERT_OK(transaction->Commit());
    EXPECT_EQ(Scan(), own);
    Compact();
    EXPECT_EQ(Scan(), own);
    transaction.reset();
    Reopen();
    EXPECT_EQ(Scan(), own);
    for (const char* key : {"later", "n1"}) ASSERT_OK(db_->Delete(WriteOptions(), key));
    ASSERT_OK(Put("a", "0"));
    ASSERT_OK(Put("m", "0"));
  }
}

TEST_F(WriteUnpreparedTest, APoppedSavePointLeavesItsDataToTheOneBefore) {
  for (const bool is_written : {false, true}) {
    TransactionOptions options;
    options.write_batch_flush_threshold = is_written ? 1 : 0;
    auto transaction = BeginNamed("x", options);
    ASSERT_OK(transaction->Put("a", "1"));
    transaction->SetSavePoint();
    ASSERT_OK(transaction->Put("b", "1"));
    transaction->SetSavePoint();
    ASSERT_OK(transaction->Put("c", "1"));
    ASSERT_OK(transaction->PopSavePoint());
    ASSERT_OK(transaction->Put("d", "1"));
    ASSERT_OK(transaction->RollbackToSavePoint());
    EXPECT_EQ(ScanOwn(transaction.get()), "a=1 ");
    EXPECT_TRUE(transaction->RollbackToSavePoint().IsNotFound());
    EXPECT_TRUE(transaction->PopSavePoint().IsNotFound());
    ASSERT_OK(transaction->Rollback());
  }
  EXPECT_EQ(Scan(), "");
}

// The key is free behind the savepoint. What somebody else commits to it then stays, whatever
// becomes of the transaction.
TEST_F(WriteUnpreparedTest, KeysThatASavePointGaveBackBelongToOthers) {
  ASSERT_OK(Put("k", "0"));
  for (const std::string end : {"commit", "rollback", "outer", "destroyed", "reopened", "both"}) {
    SCOPED_TRACE(end);
    auto transaction = BeginNamed("x");
    ASSERT_OK(transaction->Put("a", "1"));
    transaction->SetSavePoint();
    ASSERT_OK(transaction->Put("b", "1"));
    transaction->SetSavePoint();
    ASSERT_OK(transaction->Put("k", "1"));
    ASSERT_OK(transaction->Put("c", "1"));
    EXPECT_TRUE(Put("k", end).IsTimedOut());
    ASSERT_OK(transaction->RollbackToSavePoint());
    ASSERT_OK(Put("k", end));
    EXPECT_EQ(ValueOf(transaction.get(), "k"), end);
    if (end == "commit") {
      ASSERT_OK(transaction->Commit());
    }
    if (end == "rollback") {
      ASSERT_OK(transaction->Rollback());
    }
    if (end == "outer") {
      ASSERT_OK(transaction->RollbackToSavePoint());
      EXPECT_EQ(ValueOf(transaction.get(), "k"), end);
      ASSERT_OK(transaction->Commit());
    }
    if (end == "both") {
      // The other one is undecided too when the first one is rolled back at opening.
      ASSERT_OK(db_->Delete(WriteOptions(), "k"));
      auto other = BeginNamed("y");
      ASSERT_OK(other->Put("k", end));
      ASSERT_OK(other->Prepare());
      other.reset();
    }
    if (end == "reopened" || end == "both") {
      CrashAndReopen(&transaction);
      if (end == "both") {
        EXPECT_EQ(ValueOf(db_.get(), "k"), "NotFound: ");
        const std::unique_ptr<Transaction> other(db_->GetTransactionByName("y"));
        ASSERT_OK(other->Commit());
      }
    }
    transaction.reset();
    EXPECT_EQ(ValueOf(db_.get(), "k"), end);
    Compact();
    EXPECT_EQ(ValueOf(db_.get(), "k"), end);
    ASSERT_OK(db_->Delete(WriteOptions(), "a"));
    ASSERT_OK(db_->Delete(WriteOptions(), "b"));
  }
}

TEST_F(WriteUnpreparedTest, OwnDataIsNoConflict) {
  auto transaction = BeginNamed("x");
  transaction->SetSnapshot();
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->RollbackToSavePoint());
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Put("c", "1"));
  Flush();
  ASSERT_OK(transaction->Put("a", "3"));
  auto other = BeginNamed("y");
  ASSERT_OK(other->Put("b", "other"));
  ASSERT_OK(other->Commit());
  EXPECT_TRUE(transaction->Put("b", "2").IsBusy());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Scan(), "a=3 b=other c=1 ");
}

TEST_F(WriteUnpreparedTest, ARollbackBringsBackWhatWasThere) {
  FillForRollback();
  const std::string before = Scan();
  for (const std::string end : {"rollback", "prepared", "destroyed", "begun", "reopened"}) {
    for (const bool is_flushed : {false, true}) {
      SCOPED_TRACE(end);
      auto transaction = BeginNamed("x");
      ChangeAll(transaction.get());
      ASSERT_OK(transaction->Put("a", "2"));
      if (end == "prepared") {
        ASSERT_OK(transaction->Prepare());
      }
      if (is_flushed) Flush();
      if (end == "rollback" || end == "prepared") {
        ASSERT_OK(transaction->Rollback());
      }
      if (end == "begun") {
        db_->BeginTransaction(WriteOptions(), TransactionOptions(), transaction.get());
        EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
      }
      if (end == "reopened") {
        CrashAndReopen(&transaction);
      }
      transaction.reset();
      ExpectRolledBack(before);
    }
  }
  Compact();
  EXPECT_EQ(Scan(), before);
}

TEST_F(WriteUnpreparedTest, ATransactionThatWasRolledBackGoesOn) {
  auto transaction = BeginNamed("x");
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(transaction->Put("a", "1"));
    ASSERT_OK(transaction->Put("b", "1"));
    ASSERT_OK(transaction->Rollback());
    EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
    EXPECT_EQ(LockCount(), 0u);
    EXPECT_EQ(ScanOwn(transaction.get()), "");
  }
  ASSERT_OK(transaction->Put("c", "1"));
  ASSERT_OK(transaction->Put("d", "1"));
  ASSERT_OK(transaction->Commit());
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_TRUE(transaction->Rollback().IsInvalidArgument());
  EXPECT_EQ(Scan(), "c=1 d=1 ");
  transaction.reset();
  Reopen();
  EXPECT_EQ(Scan(), "c=1 d=1 ");
}

// Whoever steals locks writes behind data that is not decided.
TEST_F(WriteUnpreparedTest, LocksAreNotStolenFromOnWhatIsWritten) {
  TransactionOptions options;
  options.expiration = 3'600'000;
  auto transaction = BeginNamed("x", options);
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Commit());
  options.expiration = 0;
  auto expired = BeginNamed("y", options);
  ASSERT_OK(expired->Put("a", "2"));
  EXPECT_TRUE(expired->Put("b", "2").IsExpired());
  EXPECT_TRUE(expired->Commit().IsExpired());
  ASSERT_OK(expired->Rollback());
  EXPECT_EQ(Scan(), "a=1 b=1 ");
}

}  // namespace
}  // namespace ashlar
