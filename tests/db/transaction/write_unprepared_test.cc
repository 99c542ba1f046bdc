// SPDX-License-Identifier: Apache-2.0
//
// Transactions that write their data while they run: what they see themselves and what others see,
// savepoints behind which data was written, rollbacks, the bytes in the log, recovery.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "env/sim/sim_fs.h"
#include "tests/db/transaction/hidden_data_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class WriteUnpreparedTest : public HiddenDataTest {
 protected:
  // By default each update writes those before it.
  WriteUnpreparedTest() : HiddenDataTest(WRITE_UNPREPARED) {
    db_options_.default_write_batch_flush_threshold = 1;
    UseFiles(SimFS::Create());
  }
  ~WriteUnpreparedTest() override { db_.reset(); }

  void UseFiles(const std::shared_ptr<SimFS>& files) {
    sim_ = files;
    env_ = NewCompositeEnv(files);
    options_.env = env_.get();
  }
  // The process is killed while a transaction is running.
  void Crash(std::unique_ptr<Transaction>* running) {
    const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kAll);
    running->reset();
    db_.reset();
    UseFiles(image);
  }
  void CrashAndReopen(std::unique_ptr<Transaction>* running) {
    Crash(running);
    Open();
  }
  static size_t BatchCount(Transaction* transaction) {
    return transaction->GetWriteBatch()->GetWriteBatch()->Count();
  }
  std::string ScanOwn(Transaction* transaction) {
    const std::unique_ptr<Iterator> it(transaction->GetIterator(ReadOptions()));
    const std::string forward = ScanForward(it.get());
    EXPECT_EQ(ScanBackward(it.get()), forward);
    return forward;
  }

  std::shared_ptr<SimFS> sim_;
};

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
  const Snapshot* const before = db_->GetSnapshot();
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Scan(), "a=1 b=1 m=0,1 ");
  Compact();
  EXPECT_EQ(Scan(before), "a=0 m=0 ");
  db_->ReleaseSnapshot(before);
  Compact();
  EXPECT_EQ(Scan(), "a=1 b=1 m=0,1 ");
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
  db_.reset();
  db_options_.rollback_deletion_type_callback = [](TransactionDB*, ColumnFamilyHandle*,
                                                   const Slice& key) { return key == Slice("s"); };
  Open();
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(db_->Merge(WriteOptions(), "m", "0"));
  ASSERT_OK(
      db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "e", {{"", "d"}, {"c", "0"}}));
  const std::string before = Scan();
  for (const std::string end : {"rollback", "prepared", "destroyed", "begun", "reopened"}) {
    for (const bool is_flushed : {false, true}) {
      SCOPED_TRACE(end);
      auto transaction = BeginNamed("x");
      ASSERT_OK(transaction->Put("a", "1"));
      ASSERT_OK(transaction->Delete("e"));
      ASSERT_OK(transaction->Merge("m", "1"));
      ASSERT_OK(transaction->Merge("m", "2"));
      ASSERT_OK(transaction->Put("n", "1"));
      ASSERT_OK(transaction->Put("s", "1"));
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
      EXPECT_EQ(LockCount(), 0u);
      EXPECT_EQ(Scan(), before);
      PinnableWideColumns columns;
      ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "e", &columns));
      EXPECT_EQ(columns.columns(), (WideColumns{{"", "d"}, {"c", "0"}}));
      Reopen();
      EXPECT_EQ(Scan(), before);
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

TEST_F(WriteUnpreparedTest, SnapshotsThatWereTakenInBetweenAreRepeatable) {
  ASSERT_OK(Put("a", "0"));
  std::vector<const Snapshot*> snapshots;
  const auto take = [&] { snapshots.push_back(db_->GetSnapshot()); };
  take();
  auto transaction = BeginNamed("x");
  for (int i = 1; i <= 6; i++) {
    ASSERT_OK(transaction->Put("a", std::to_string(i)));
    ASSERT_OK(transaction->Put(StrCat("n", i), "1"));
    ASSERT_OK(Put("o", std::to_string(i)));
    take();
    if (i == 2) Flush();
    if (i == 4) Compact();
  }
  const auto check = [&] {
    for (size_t i = 0; i < snapshots.size(); i++) {
      EXPECT_EQ(Scan(snapshots[i]), i == 0 ? "a=0 " : StrCat("a=0 o=", i, " ")) << i;
    }
  };
  check();
  ASSERT_OK(transaction->Commit());
  check();
  Compact();
  check();
  for (size_t i = 0; i < snapshots.size(); i += 2) db_->ReleaseSnapshot(snapshots[i]);
  Compact();
  for (size_t i = 1; i < snapshots.size(); i += 2) {
    EXPECT_EQ(Scan(snapshots[i]), StrCat("a=0 o=", i, " ")) << i;
    db_->ReleaseSnapshot(snapshots[i]);
  }
  EXPECT_EQ(ValueOf(db_.get(), "a"), "6");
}

// Also while the iterator is open its transaction writes out.
TEST_F(WriteUnpreparedTest, AnOpenIteratorGoesOnBehindItsKey) {
  for (const char* key : {"b", "d", "f", "h"}) ASSERT_OK(Put(key, "0"));
  auto transaction = BeginNamed("x");
  const std::unique_ptr<Iterator> it(transaction->GetIterator(ReadOptions()));
  ASSERT_OK(Put("c", "others"));
  it->SeekToFirst();
  std::string seen;
  for (; it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    StrAppend(&seen, key, "=", it->value().ToString(), " ");
    if (key == "z") break;
    ASSERT_OK(transaction->Put(key, "seen"));
    ASSERT_OK(transaction->Put(StrCat(key, "1"), "new"));  // ahead
    ASSERT_OK(transaction->Put("a", key));                 // behind
    if (key == "d") {
      ASSERT_OK(transaction->Delete("f"));
      ASSERT_OK(transaction->Delete("d"));
    }
    EXPECT_EQ(it->key().ToString(), key) << "until it moves";
    EXPECT_EQ(it->value().ToString(), key == "b1" || key.size() > 1 ? "new" : "0");
    if (key.size() > 2) break;
    if (key == "d") Flush();
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(seen, "b=0 b1=new b11=new ");
  it->Seek("b2");
  EXPECT_EQ(it->key().ToString(), "d");
  ASSERT_OK(transaction->Delete("d"));
  ASSERT_OK(transaction->Put("e", "new"));
  it->Next();
  EXPECT_EQ(it->key().ToString(), "e");
  ASSERT_OK(transaction->Put("f", "new"));
  ASSERT_OK(transaction->Put("z", "new"));
  it->Prev();
  EXPECT_EQ(it->key().ToString(), "b111") << "the committed c is newer than the iterator";
  it->Next();
  EXPECT_EQ(it->key().ToString(), "e");
  it->Next();
  EXPECT_EQ(it->key().ToString() + it->value().ToString(), "fnew");
  it->SeekForPrev("g");
  EXPECT_EQ(it->key().ToString(), "f");
  it->SeekToLast();
  EXPECT_EQ(it->key().ToString(), "z");
  it->Next();
  EXPECT_FALSE(it->Valid());
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(ScanForward(it.get()),
            "a=b11 b=seen b1=seen b11=seen b111=new c=others e=new f=new h=0 z=new ");
  ASSERT_OK(transaction->Commit());
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument());
  it->SeekToFirst();
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST_F(WriteUnpreparedTest, IteratorsEndWhenUpdatesAreTakenBack) {
  auto transaction = BeginNamed("x");
  const auto open = [&] {
    std::unique_ptr<Iterator> it(transaction->GetIterator(ReadOptions()));
    it->SeekToFirst();
    EXPECT_OK(it->status());
    return it;
  };
  ASSERT_OK(transaction->Put("a", "1"));
  transaction->SetSavePoint();
  auto nothing = open();
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_TRUE(nothing->Valid()) << "nothing was taken back";
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("b", "1"));
  auto batch_only = open();
  ASSERT_OK(transaction->Put("c", "1"));
  ASSERT_OK(transaction->RollbackToSavePoint());
  EXPECT_TRUE(batch_only->status().IsInvalidArgument());
  auto prepared = open();
  ASSERT_OK(transaction->Prepare());
  EXPECT_EQ(ScanForward(prepared.get()), "a=1 ");
  transaction.reset();
  EXPECT_TRUE(prepared->status().IsInvalidArgument());
  const std::unique_ptr<Transaction> shell(db_->GetTransactionByName("x"));
  const std::unique_ptr<Iterator> of_shell(shell->GetIterator(ReadOptions()));
  EXPECT_EQ(ScanForward(of_shell.get()), "a=1 ");
  ASSERT_OK(shell->Rollback());
  EXPECT_TRUE(of_shell->status().IsInvalidArgument());
}

TEST_F(WriteUnpreparedTest, IteratorsOfAllKindsSeeOwnData) {
  ColumnFamilyHandle* second = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "second", &second));
  const std::vector<ColumnFamilyHandle*> families{db_->DefaultColumnFamily(), second};
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Put(second, "b", "2"));
  ASSERT_OK(transaction->Put(second, "c", "2"));
  {
    const auto coalescing = transaction->GetCoalescingIterator(ReadOptions(), families);
    EXPECT_EQ(ScanForward(coalescing.get()), "a=0 b=2 c=2 ");
    const auto groups = transaction->GetAttributeGroupIterator(ReadOptions(), families);
    groups->Seek("b");
    ASSERT_TRUE(groups->Valid());
    EXPECT_EQ(groups->attribute_groups().size(), 2u);
    ReadOptions upper;
    const Slice end("b1");
    upper.iterate_upper_bound = &end;
    upper.pin_data = true;
    const std::unique_ptr<Iterator> bounded(transaction->GetIterator(upper, second));
    EXPECT_EQ(ScanForward(bounded.get()), "b=2 ");
    ReadOptions tail;
    tail.tailing = true;
    const std::unique_ptr<Iterator> tailing(transaction->GetIterator(tail, second));
    tailing->SeekToFirst();
    ASSERT_OK(transaction->Put(second, "a", "2"));
    ASSERT_OK(transaction->Put(second, "aa", "2"));
    EXPECT_EQ(ScanForward(tailing.get()), "a=2 aa=2 b=2 c=2 ");
    EXPECT_EQ(ScanForward(coalescing.get()), "a=2 aa=2 b=2 c=2 ");
  }
  ASSERT_OK(transaction->Rollback());
  transaction.reset();
  ASSERT_OK(db_->DestroyColumnFamilyHandle(second));
}

TEST_F(WriteUnpreparedTest, APreparedOneIsThereAgainAfterReopeningAndOthersAreGone) {
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

TEST_F(WriteUnpreparedTest, APreparedOneThatWasFoundAtOpeningIsRolledBack) {
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

TEST_F(WriteUnpreparedTest, OtherOpeningsHideOrRefuseWhatIsUndecided) {
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
TEST_F(WriteUnpreparedTest, PreparedTransactionsOfTheOtherPolicyAreTakenOver) {
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

TEST_F(WriteUnpreparedTest, CommitTimeBatchesNeedPrepareAndTheirOption) {
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
TEST_F(WriteUnpreparedTest, AnUpdateWhosePartCannotBeWrittenIsRefused) {
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

TEST_F(WriteUnpreparedTest, PicturesCountWhatIsWritten) {
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
