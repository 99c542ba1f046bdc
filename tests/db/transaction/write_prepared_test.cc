// SPDX-License-Identifier: Apache-2.0
//
// Transactions whose data is in memtables and tables before they are decided: readers of every kind
// against a model, the bytes in the log, rollbacks, recovery, conflicts behind late commits.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/sst_file_writer.h"
#include "ashlar/wide_columns.h"
#include "tests/db/transaction/hidden_data_fixture.h"
#include "tests/support/set_rep.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class WritePreparedTest : public HiddenDataTest {
 protected:
  WritePreparedTest() : HiddenDataTest(WRITE_PREPARED) {}

  // "key=value " of the keys that are there, for Get(), MultiGet() and GetEntity(), which must
  // agree.
  static std::string PointReads(DB* db, const std::vector<std::string>& keys) {
    std::string got, multi_got, entities;
    std::vector<std::string> values;
    const std::vector<Slice> slices(keys.begin(), keys.end());
    const std::vector<Status> statuses = db->MultiGet(ReadOptions(), slices, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      const std::string value = ValueOf(db, keys[i]);
      if (value != "NotFound: ") StrAppend(&got, keys[i], "=", value, " ");
      const std::string found = statuses[i].ok() ? values[i] : statuses[i].ToString();
      if (!statuses[i].IsNotFound()) StrAppend(&multi_got, keys[i], "=", found, " ");
      PinnableWideColumns columns;
      const Status read =
          db->GetEntity(ReadOptions(), db->DefaultColumnFamily(), keys[i], &columns);
      if (read.IsNotFound()) continue;
      const std::string entity =
          read.ok() ? columns.columns().at(0).value().ToString() : read.ToString();
      StrAppend(&entities, keys[i], "=", entity, " ");
    }
    EXPECT_EQ(got, multi_got);
    EXPECT_EQ(got, entities);
    return got;
  }
  // The keys "a" to "z" in tables, of which "b" to "y" are deleted, and an undecided transaction
  // that writes "m" and deletes "a".
  std::unique_ptr<Transaction> PrepareAmongTombstones() {
    for (char key = 'a'; key <= 'z'; key++) EXPECT_OK(Put(std::string(1, key), "0"));
    Flush();
    for (char key = 'b'; key <= 'y'; key++) {
      EXPECT_OK(db_->Delete(WriteOptions(), std::string(1, key)));
    }
    auto transaction = BeginNamed("x");
    EXPECT_OK(transaction->Put("m", "1"));
    EXPECT_OK(transaction->Delete("a"));
    EXPECT_OK(transaction->Prepare());
    return transaction;
  }
};

TEST_F(WritePreparedTest, PreparedDataIsHiddenUntilTheCommitInMemoryAndInTables) {
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(transaction->Prepare());
  for (int place = 0; place < 3; place++) {
    if (place == 1) Flush();
    if (place == 2) Compact();
    EXPECT_EQ(ValueOf(db_.get(), "a"), "0");
    EXPECT_EQ(ValueOf(db_.get(), "b"), "NotFound: ");
    EXPECT_EQ(Scan(), "a=0 ");
    EXPECT_EQ(ValueOf(transaction.get(), "a"), "1");
  }
  CommitBehindSnapshot(transaction.get(), "a=0 ", "a=1 b=1 ");
}

// Number and count of each batch, and its bytes, as RocksDB writes them.
TEST_F(WritePreparedTest, TheLogHasTheBytesAndNumbersOfRocksDb) {
  ASSERT_OK(Put("p", "0"));
  auto one = BeginNamed("xa");
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(one->Put("b", "2"));
  ASSERT_OK(one->Prepare());
  EXPECT_EQ(one->GetId(), 2u);
  ASSERT_OK(Put("q", "0"));
  ASSERT_OK(one->Commit());
  auto two = BeginNamed("xb");
  ASSERT_OK(two->Put("b", "3"));
  ASSERT_OK(two->Prepare());
  ASSERT_OK(two->Rollback());
  auto three = Begin();
  ASSERT_OK(three->Put("d", "3"));
  ASSERT_OK(three->Put("d", "4"));
  ASSERT_OK(three->Put("d3", "4"));
  ASSERT_OK(three->Commit());
  auto four = BeginNamed("xd");
  ASSERT_OK(four->Prepare());
  ASSERT_OK(four->Rollback());
  auto five = BeginNamed("xg");
  ASSERT_OK(five->Put("m", "1"));
  ASSERT_OK(five->Put("m", "2"));
  ASSERT_OK(five->Prepare());
  ASSERT_OK(five->Commit());
  WriteBatch batch;
  ASSERT_OK(batch.Put("w", "1"));
  ASSERT_OK(batch.Put("w", "2"));
  const size_t bytes = batch.GetDataSize();
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(batch.GetDataSize(), bytes);
  TransactionOptions last_only;
  last_only.use_only_the_last_commit_time_batch_for_recovery = true;
  auto six = BeginNamed("xi", last_only);
  ASSERT_OK(six->Put("u", "1"));
  ASSERT_OK(six->GetCommitTimeWriteBatch()->Put("ct", "1"));
  ASSERT_OK(six->Prepare());
  ASSERT_OK(six->Commit());
  EXPECT_EQ(LoggedBatches(), (std::vector<std::string>{
                                 "1,1 01017001300D",
                                 "2,2 1201016101310101620132"
                                 "0A027861",
                                 "3,1 01017101300D",
                                 "4,0 0B027861",
                                 "5,1 1201016201330A027862",
                                 "6,1 01016201320C027862",
                                 "7,3 0D01016401330101640134010264330134"
                                 "0D",
                                 "9,0 120A027864",
                                 "10,0 0C027864",
                                 "11,2 12"
                                 "01016D013101016D0132"
                                 "0A027867",
                                 "13,0 0B027867",
                                 "14,2 01017701310101770132"
                                 "0D",
                                 "16,1 1201017501310A027869",
                                 "17,1 0102637401310B027869",
                             }));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 17u);
  for (auto* transaction : {&one, &two, &three, &four, &five, &six}) transaction->reset();
  Reopen();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 17u);
  EXPECT_EQ(Scan(), "a=1 b=2 ct=1 d=4 d3=4 m=2 p=0 q=0 u=1 w=2 ");
}

TEST_F(WritePreparedTest, ARollbackBringsBackWhatWasThere) {
  FillForRollback();
  const std::string before = Scan();
  for (const bool is_flushed : {false, true}) {
    auto transaction = BeginNamed("x");
    ChangeAll(transaction.get());
    ASSERT_OK(transaction->Prepare());
    if (is_flushed) Flush();
    ASSERT_OK(transaction->Rollback());
    transaction.reset();
    ExpectRolledBack(before);
  }
  Compact();
  EXPECT_EQ(Scan(), before);
}

// As in RocksDB: whoever needs it otherwise sets rollback_merge_operands.
TEST_F(WritePreparedTest, MergeOperandsOutliveARollbackByDefault) {
  ASSERT_OK(Put("m", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Merge("m", "1"));
  ASSERT_OK(transaction->Prepare());
  EXPECT_EQ(ValueOf(db_.get(), "m"), "0");
  ASSERT_OK(transaction->Rollback());
  EXPECT_EQ(ValueOf(db_.get(), "m"), "0,1");
}

TEST_F(WritePreparedTest, ALateCommitOfOldDataIsAConflict) {
  auto late = BeginNamed("late");
  ASSERT_OK(late->Put("a", "1"));
  ASSERT_OK(late->Prepare());
  for (int place = 0; place < 2; place++) {
    auto reader = BeginWithSnapshot();
    if (place == 0) {
      ASSERT_OK(late->Commit());
    }
    if (place == 0) {
      Flush();
      Compact();
      EXPECT_TRUE(reader->Put("a", "2").IsBusy());
    } else {
      ASSERT_OK(reader->Put("a", "2")) << "the commit is older than the snapshot";
    }
  }
}

TEST_F(WritePreparedTest, UndecidedTransactionsOutliveReopeningsAndStayHidden) {
  ASSERT_OK(Put("a", "0"));
  auto one = BeginNamed("one");
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(one->Put("b", "1"));
  ASSERT_OK(one->Prepare());
  auto two = BeginNamed("two");
  ASSERT_OK(two->Put("c", "2"));
  ASSERT_OK(two->Prepare());
  const uint64_t id = one->GetId();
  one.reset();
  two.reset();
  for (int i = 0; i < 3; i++) {
    Reopen();
    EXPECT_EQ(Scan(), StrCat("a=0 ", i > 0 ? "k=v " : "")) << i;
    if (i == 0) {
      ASSERT_OK(Put("k", "v"));
    }
    Compact();
    EXPECT_TRUE(Put("a", "2").IsTimedOut()) << "it has its locks";
    ASSERT_NE(db_->GetTransactionByName("one"), nullptr);
    EXPECT_EQ(db_->GetTransactionByName("one")->GetId(), id);
  }
  std::unique_ptr<Transaction> found(db_->GetTransactionByName("one"));
  ASSERT_OK(found->Commit());
  found.reset(db_->GetTransactionByName("two"));
  ASSERT_OK(found->Rollback());
  EXPECT_EQ(Scan(), "a=1 b=1 k=v ");
  found.reset();
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=1 k=v ");
}

// The policy of the log and that of the database must agree while transactions are undecided.
TEST_F(WritePreparedTest, OtherPoliciesRefuseUndecidedTransactionsAndPlainOpeningsHideThem) {
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  transaction.reset();
  db_.reset();
  db_options_.write_policy = WRITE_COMMITTED;
  TransactionDB* opened = nullptr;
  EXPECT_TRUE(TransactionDB::Open(options_, db_options_, "/db", &opened).IsNotSupported());
  std::unique_ptr<DB> plain;
  EXPECT_TRUE(DB::Open(options_, "/db", &plain).IsNotSupported());
  EXPECT_OK(DB::OpenForReadOnly(
      [&] {
        auto with = options_;
        with.allow_2pc = true;
        return with;
      }(),
      "/db", &plain));
  EXPECT_EQ(ValueOf(plain.get(), "a"), "0");
  plain.reset();
  Options with_2pc = options_;
  with_2pc.allow_2pc = true;
  ASSERT_OK(DB::Open(with_2pc, "/db", &plain));
  EXPECT_EQ(ValueOf(plain.get(), "a"), "0");
  ASSERT_OK(plain->Put(WriteOptions(), "k", "v"));
  ASSERT_OK(plain->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  plain.reset();
  db_options_.write_policy = WRITE_PREPARED;
  Open();
  EXPECT_EQ(Scan(), "a=0 k=v ");
  ASSERT_OK(std::unique_ptr<Transaction>(db_->GetTransactionByName("x"))->Commit());
  EXPECT_EQ(Scan(), "a=1 k=v ");
  Flush();
  db_.reset();
  db_options_.write_policy = WRITE_COMMITTED;
  Open();
  EXPECT_EQ(Scan(), "a=1 k=v ");
}

// The option excludes reads through a ReadCallback, but not those that skip undecided data.
TEST_F(WritePreparedTest, ReadsGoOnWhereScansMayConvertTombstones) {
  options_.min_tombstones_for_range_conversion = 8;
  Reopen();
  const auto transaction = PrepareAmongTombstones();
  const std::vector<std::string> keys = {"a", "b", "m", "n", "z"};
  for (const bool is_decided : {false, true}) {
    if (is_decided) {
      ASSERT_OK(transaction->Commit());
    }
    const std::string expected = is_decided ? "m=1 z=0 " : "a=0 z=0 ";
    for (int scans = 0; scans < 3; scans++) {  // the first one meets a row of 24 tombstones
      EXPECT_EQ(PointReads(db_.get(), keys), expected);
      EXPECT_EQ(Scan(), expected);
    }
    Flush();
    EXPECT_EQ(PointReads(db_.get(), keys), expected);
    EXPECT_EQ(Scan(), expected);
  }
}

// Such as those of a program may do. A read of several steps takes a snapshot all the same.
TEST_F(WritePreparedTest, UndecidedDataIsHiddenWhereMemtablesSupportNoSnapshots) {
  options_.memtable_factory = std::make_shared<SetRepFactory>(/*supports_snapshots=*/false);
  db_options_.rollback_merge_operands = true;
  Reopen();
  ASSERT_EQ(db_->GetSnapshot(), nullptr);
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(db_->Merge(WriteOptions(), "m", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Merge("m", "1"));
  ASSERT_OK(transaction->Prepare());
  {
    const auto it = db_->NewCoalescingIterator(ReadOptions(), {db_->DefaultColumnFamily()});
    EXPECT_EQ(ScanForward(it.get()), "a=0 m=0 ");
  }
  PinnableSlice operands[4];
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 4;
  int count = 0;
  ASSERT_OK(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "m", operands,
                                  &options, &count));
  EXPECT_EQ(count, 1);
  EXPECT_EQ(operands[0], "0");
  EXPECT_EQ(PointReads(db_.get(), {"a", "m"}), "a=0 m=0 ");
  ASSERT_OK(transaction->Rollback());
  EXPECT_EQ(Scan(), "a=0 m=0 ");
}

// A range tombstone of such a scan would be newer than the data, and hide it after its commit.
TEST_F(WritePreparedTest, APlainOpeningConvertsNoTombstonesAroundUndecidedData) {
  PrepareAmongTombstones();  // and destroyed
  db_.reset();
  Options plain_options = options_;
  plain_options.allow_2pc = true;
  plain_options.min_tombstones_for_range_conversion = 8;
  std::unique_ptr<DB> plain;
  ASSERT_OK(DB::Open(plain_options, "/db", &plain));
  // A scan converts nothing as long as the memtable is empty.
  ASSERT_OK(plain->Delete(WriteOptions(), "z"));
  for (int scans = 0; scans < 2; scans++) {
    const std::unique_ptr<Iterator> it(plain->NewIterator(ReadOptions()));
    EXPECT_EQ(ScanForward(it.get()), "a=0 ");
    EXPECT_EQ(PointReads(plain.get(), {"a", "b", "m", "n", "z"}), "a=0 ");
  }
  ASSERT_OK(plain->Flush(FlushOptions()));  // such a range tombstone is not logged
  plain.reset();
  Open();
  ASSERT_OK(std::unique_ptr<Transaction>(db_->GetTransactionByName("x"))->Commit());
  EXPECT_EQ(Scan(), "m=1 ");
}

TEST_F(WritePreparedTest, WhatCannotBeRolledBackIsNotPrepared) {
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->GetWriteBatch()->GetWriteBatch()->DeleteRange("a", "c"));
  EXPECT_TRUE(transaction->Prepare().IsNotSupported());
  EXPECT_EQ(transaction->GetState(), Transaction::STARTED);
  EXPECT_TRUE(db_->CreateTimestampedSnapshot(5).first.IsNotSupported());
  EXPECT_TRUE(transaction->SetCommitTimestamp(5).IsNotSupported());
  EXPECT_TRUE(transaction->SetReadTimestampForValidation(5).IsNotSupported());
}

// By the end of a batch in the log, recovery knows how its records are numbered.
TEST_F(WritePreparedTest, ABatchOfWhichTheLogHasOnlyAPartIsRefused) {
  ASSERT_OK(Put("a", "0"));
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("b", "1"));
  for (const bool skips_locks : {false, true}) {
    TransactionDBWriteOptimizations optimizations;
    optimizations.skip_concurrency_control = skips_locks;
    const Status status = db_->Write(WriteOptions(), optimizations, &batch);
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  }
  EXPECT_EQ(Scan(), "a=0 ");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 1u);
  ASSERT_OK(Put("c", "1"));
  Reopen();
  EXPECT_EQ(Scan(), "a=0 c=1 ");
}

// A replay would take what is before an inner Noop for a batch, with numbers of its own.
TEST_F(WritePreparedTest, BatchesOfBytesThatNoReplayWouldAcceptAreRefused) {
  TransactionDBWriteOptimizations optimizations;
  optimizations.skip_concurrency_control = true;
  std::string bytes(100, '\x7f');  // so that a count is found where a header would have it
  bytes.resize(5);
  WriteBatch brief(std::move(bytes));
  EXPECT_TRUE(db_->Write(WriteOptions(), optimizations, &brief).IsCorruption());
  EXPECT_TRUE(brief.PutLogData("data").IsCorruption());
  EXPECT_EQ(brief.GetDataSize(), 5u);

  const std::string header("\0\0\0\0\0\0\0\0\2\0\0\0", 12), noop("\x0d");
  const std::string a("\1\1a\1\61"), b("\1\1b\1\61");
  WriteBatch divided(header + a + noop + b), ended(header + noop + a + b + noop);
  const Status status = db_->Write(WriteOptions(), optimizations, &divided);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 0u);
  ASSERT_OK(db_->Write(WriteOptions(), optimizations, &ended));
  ASSERT_OK(Put("c", "1"));
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=1 c=1 ");
}

// Transactions, plain writes, snapshots and iterators of the past, flushes, compactions and
// reopenings in random order; every reader is compared with what was committed at its moment.
class WritePreparedModel : public WritePreparedTest, public testing::WithParamInterface<uint32_t> {
 protected:
  struct Past {
    const Snapshot* snapshot = nullptr;  // null: an iterator
    std::unique_ptr<Iterator> iterator;
    Rows rows;
  };

  std::string AnyKey() { return std::string(1, static_cast<char>('a' + random_() % 8)); }
  void Apply(const std::string& key, const std::string& value, bool is_merge, Rows* rows) {
    if (value.empty()) {
      rows->erase(key);
    } else if (is_merge && rows->contains(key)) {
      StrAppend(&(*rows)[key], ",", value);
    } else {
      (*rows)[key] = value;
    }
  }
  struct Update {
    std::string key, value;
    bool is_merge;
  };
  struct Running {
    std::unique_ptr<Transaction> transaction;
    std::vector<Update> updates;
    bool is_prepared = false;
  };

  void WriteIn(Running* running) {
    const std::string key = AnyKey(), value = std::to_string(next_value_++);
    const uint32_t kind = random_() % 4;
    Transaction* const transaction = running->transaction.get();
    const Status status = kind == 0   ? transaction->Delete(key)
                          : kind == 1 ? transaction->Merge(key, value)
                                      : transaction->Put(key, value);
    if (status.IsTimedOut()) return;
    ASSERT_OK(status);
    running->updates.push_back({key, kind == 0 ? "" : value, kind == 1});
  }
  void End(size_t i, bool is_commit) {
    Running& running = running_[i];
    if (is_commit) {
      ASSERT_OK(running.transaction->Commit());
      for (const Update& update : running.updates) {
        Apply(update.key, update.value, update.is_merge, &committed_);
      }
    } else {
      ASSERT_OK(running.transaction->Rollback());
    }
    running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
  }
  void CheckPoints(const Snapshot* snapshot, const Rows& rows) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::vector<std::string> names{"a", "b", "c", "d", "e", "f", "g", "h"};
    std::vector<Slice> keys(names.begin(), names.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(options, keys, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      const auto found = rows.find(names[i]);
      const std::string expected = found == rows.end() ? "NotFound: " : found->second;
      ASSERT_EQ(ValueOf(db_.get(), names[i], snapshot), expected) << names[i];
      ASSERT_EQ(statuses[i].ok() ? values[i] : statuses[i].ToString(), expected) << names[i];
    }
  }
  void CheckAll() {
    CheckPoints(nullptr, committed_);
    const std::unique_ptr<Iterator> now(db_->NewIterator(ReadOptions()));
    CheckRows(now.get(), committed_, AnyKey());
    for (Past& past : past_) {
      if (past.snapshot != nullptr) {
        CheckPoints(past.snapshot, past.rows);
        ReadOptions options;
        options.snapshot = past.snapshot;
        const std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
        CheckRows(iterator.get(), past.rows, AnyKey());
      } else {
        CheckRows(past.iterator.get(), past.rows, AnyKey());
      }
      if (HasFatalFailure()) return;
    }
  }
  void DropPast() {
    for (Past& past : past_) {
      if (past.snapshot != nullptr) db_->ReleaseSnapshot(past.snapshot);
    }
    past_.clear();
  }
  // Transactions that are not prepared are gone; the others are the database's.
  void ReopenModel() {
    DropPast();
    std::map<std::string, std::vector<Update>> prepared;
    for (Running& running : running_) {
      if (running.is_prepared) prepared[running.transaction->GetName()] = running.updates;
    }
    running_.clear();
    Reopen();
    for (auto& [name, updates] : prepared) {
      Transaction* const transaction = db_->GetTransactionByName(name);
      ASSERT_NE(transaction, nullptr) << name;
      running_.push_back({std::unique_ptr<Transaction>(transaction), updates, true});
    }
  }
  void Step() {
    const uint32_t choice = random_() % 24;
    if (choice < 3) {
      const std::string key = AnyKey(), value = std::to_string(next_value_++);
      const Status status = Put(key, value);
      if (status.ok()) committed_[key] = value;
    } else if (choice < 6 && running_.size() < 4) {
      auto transaction = BeginNamed("t" + std::to_string(next_value_++));
      running_.push_back({std::move(transaction), {}, false});
    } else if (choice < 14 && !running_.empty()) {
      Running& running = running_[random_() % running_.size()];
      if (!running.is_prepared) WriteIn(&running);
    } else if (choice < 16 && !running_.empty()) {
      Running& running = running_[random_() % running_.size()];
      if (!running.is_prepared) {
        ASSERT_OK(running.transaction->Prepare());
      }
      running.is_prepared = true;
    } else if (choice < 18 && !running_.empty()) {
      End(random_() % running_.size(), random_() % 3 != 0);
    } else if (choice == 18) {
      past_.push_back({.snapshot = db_->GetSnapshot(), .rows = committed_});
    } else if (choice == 19) {
      past_.push_back({.iterator = std::unique_ptr<Iterator>(db_->NewIterator(ReadOptions())),
                       .rows = committed_});
    } else if (choice == 20 && !past_.empty()) {
      if (past_.front().snapshot != nullptr) db_->ReleaseSnapshot(past_.front().snapshot);
      past_.erase(past_.begin());
    } else if (choice == 21) {
      Flush();
    } else if (choice == 22 && random_() % 2 == 0) {
      Compact();
    } else if (choice == 23 && random_() % 4 == 0) {
      ReopenModel();
    }
  }

  std::mt19937 random_{GetParam()};
  uint64_t next_value_ = 1;
  Rows committed_;
  std::vector<Running> running_;
  std::vector<Past> past_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, WritePreparedModel, testing::Range(0u, 24u));

TEST_P(WritePreparedModel, ReadersSeeWhatWasCommittedAtTheirMoment) {
  db_.reset();
  db_options_.rollback_merge_operands = true;
  options_.max_sequential_skip_in_iterations = GetParam() % 3 == 0   ? 0
                                               : GetParam() % 3 == 1 ? 1
                                                                     : 8;
  WritePreparedTest::Open();
  for (int i = 0; i < 400; i++) {
    Step();
    if (i % 5 == 0) CheckAll();
    ASSERT_FALSE(HasFatalFailure()) << "step " << i;
  }
  DropPast();
  running_.clear();
}

}  // namespace
}  // namespace ashlar
