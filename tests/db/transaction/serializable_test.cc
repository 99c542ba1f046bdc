// SPDX-License-Identifier: Apache-2.0
//
// Histories of many threads: money that is moved stays the same in every snapshot, counters have no
// gap, and lists to which transactions append admit one order of all transactions.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/db/transaction/list_history.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "tests/support/suite.h"

namespace ashlar {
namespace {

enum class Kind {
  kLocking,
  kLockingWithSnapshots,
  kPrepared,
  kPreparedWithSnapshots,
  kUnprepared,
  kUnpreparedWithSnapshots,
  kSerial,
  kParallel
};

std::string NameOf(const testing::TestParamInfo<Kind>& info) {
  switch (info.param) {
    case Kind::kLocking: return "Locking";
    case Kind::kLockingWithSnapshots: return "LockingWithSnapshots";
    case Kind::kPrepared: return "Prepared";
    case Kind::kPreparedWithSnapshots: return "PreparedWithSnapshots";
    case Kind::kUnprepared: return "Unprepared";
    case Kind::kUnpreparedWithSnapshots: return "UnpreparedWithSnapshots";
    case Kind::kSerial: return "Serial";
    default: return "Parallel";
  }
}

// Threads that run transactions until each has committed a number of them.
class SerializableTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    env_.reset(NewMemEnv(Env::Default()));
    Options options = TransactionTestOptions(env_.get());
    options.write_buffer_size = 64 << 10;  // flushes and compactions go on meanwhile
    if (IsLocking()) {
      TransactionDBOptions locking;
      locking.transaction_lock_timeout = 20'000;
      if (IsPrepared()) locking.write_policy = WRITE_PREPARED;
      if (IsUnprepared()) {
        locking.write_policy = WRITE_UNPREPARED;
        locking.default_write_batch_flush_threshold = 1;  // each update writes the one before
      }
      TransactionDB* opened = nullptr;
      ASSERT_OK(TransactionDB::Open(options, locking, "/db", &opened));
      locking_.reset(opened);
      db_ = opened;
    } else {
      OptimisticTransactionDBOptions occ;
      occ.validate_policy = GetParam() == Kind::kSerial ? OccValidationPolicy::kValidateSerial
                                                        : OccValidationPolicy::kValidateParallel;
      OptimisticTransactionDB* opened = nullptr;
      std::vector<ColumnFamilyHandle*> handles;
      ASSERT_OK(OptimisticTransactionDB::Open(DBOptions(options), occ, "/db",
                                              {{kDefaultColumnFamilyName, options}}, &handles,
                                              &opened));
      for (ColumnFamilyHandle* handle : handles) delete handle;
      optimistic_.reset(opened);
      db_ = opened;
    }
  }
  bool IsLocking() const { return GetParam() < Kind::kSerial; }
  // Transactions are prepared before each commit.
  bool IsPrepared() const {
    return GetParam() == Kind::kPrepared || GetParam() == Kind::kPreparedWithSnapshots;
  }
  // Half of them are, and write their data before.
  bool IsUnprepared() const {
    return GetParam() == Kind::kUnprepared || GetParam() == Kind::kUnpreparedWithSnapshots;
  }

  Transaction* Begin(Transaction* old) {
    if (!IsLocking()) {
      return optimistic_->BeginTransaction(WriteOptions(), OptimisticTransactionOptions(), old);
    }
    TransactionOptions options;
    options.deadlock_detect = true;
    options.deadlock_timeout_us = 100;
    options.set_snapshot = GetParam() == Kind::kLockingWithSnapshots ||
                           GetParam() == Kind::kPreparedWithSnapshots ||
                           GetParam() == Kind::kUnpreparedWithSnapshots;
    Transaction* const begun = locking_->BeginTransaction(WriteOptions(), options, old);
    if (IsPrepared() || IsUnprepared()) {
      EXPECT_OK(begun->SetName("t" + std::to_string(begun->GetID())));
    }
    return begun;
  }

  // Calls step(txn, random), which reads for update and writes, until it is committed; as often as
  // asked for in each of the threads.
  template <typename Step>
  void RunThreads(int thread_count, int commits, const Step& step) {
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        std::unique_ptr<Transaction> transaction;
        for (int i = 0; i < commits; ++i) {
          while (true) {
            transaction.reset(Begin(transaction.release()));
            Status status = step(transaction.get(), &random, t, i);
            const bool is_prepared = IsPrepared() || (IsUnprepared() && random() % 2 == 0);
            if (status.ok() && (is_prepared || IsUnprepared())) {
              if (is_prepared) status = transaction->Prepare();
              // Some are rolled back, and done again.
              if (status.ok() && random() % 4 == 0) {
                ASSERT_OK(transaction->Rollback());
                continue;
              }
            }
            if (status.ok()) status = transaction->Commit();
            if (status.ok()) break;
            ASSERT_TRUE(status.IsBusy() || status.IsTimedOut()) << status.ToString();
            ASSERT_OK(transaction->Rollback());
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (IsLocking()) {
      EXPECT_TRUE(locking_->GetLockStatusData().empty());
    }
  }
  static constexpr int kLists = 4;
  template <typename Read>
  void AppendToLists(ListHistory* history, const Read& read);
  static int Commits(int most) { return std::max(10, static_cast<int>(most * SuiteScale())); }

  std::unique_ptr<Env> env_;
  std::unique_ptr<TransactionDB> locking_;  // one of the two
  std::unique_ptr<OptimisticTransactionDB> optimistic_;
  DB* db_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Kinds, SerializableTest,
                         testing::Values(Kind::kLocking, Kind::kLockingWithSnapshots,
                                         Kind::kPrepared, Kind::kPreparedWithSnapshots,
                                         Kind::kUnprepared, Kind::kUnpreparedWithSnapshots,
                                         Kind::kSerial, Kind::kParallel),
                         NameOf);

std::string Numbered(const char* name, uint64_t number) { return name + std::to_string(number); }

TEST_P(SerializableTest, TheSumOfAllAccountsIsTheSameInEverySnapshot) {
  constexpr int kAccounts = 6, kEach = 100;
  for (int i = 0; i < kAccounts; ++i) {
    ASSERT_OK(db_->Put(WriteOptions(), Numbered("a", i), std::to_string(kEach)));
  }
  std::atomic<bool> is_done{false};
  std::thread auditor([&] {
    do {
      ManagedSnapshot snapshot(db_);
      ReadOptions options;
      options.snapshot = snapshot.snapshot();
      std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
      int sum = 0;
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
        sum += std::stoi(iterator->value().ToString());
      }
      EXPECT_EQ(sum, kAccounts * kEach);
    } while (!is_done);
  });
  RunThreads(3, Commits(200), [&](Transaction* transaction, std::mt19937* random, int, int) {
    const std::string from = Numbered("a", (*random)() % kAccounts);
    const std::string to = Numbered("a", (*random)() % kAccounts);
    if (from == to) return Status::OK();
    std::string source, target;
    Status status = transaction->GetForUpdate(ReadOptions(), from, &source);
    if (status.ok()) status = transaction->GetForUpdate(ReadOptions(), to, &target);
    const int amount = static_cast<int>((*random)() % 5);
    if (status.ok()) status = transaction->Put(from, std::to_string(std::stoi(source) - amount));
    if (status.ok()) status = transaction->Put(to, std::to_string(std::stoi(target) + amount));
    if (!status.ok() || !IsUnprepared()) return status;
    // Written out, and taken back: others may lock the account afterwards.
    transaction->SetSavePoint();
    for (int i = 0; i < 3 && status.ok(); ++i) {
      status = transaction->Put(Numbered("a", (*random)() % kAccounts), "1000");
    }
    return status.ok() ? transaction->RollbackToSavePoint() : status;
  });
  is_done = true;
  auditor.join();
}

TEST_P(SerializableTest, NumbersThatAreTakenHaveNoGapAndComeOnce) {
  constexpr int kThreads = 3;
  const int commits = Commits(150);
  ASSERT_OK(db_->Put(WriteOptions(), "next", "0"));
  RunThreads(kThreads, commits, [&](Transaction* transaction, std::mt19937*, int thread, int i) {
    std::string next;
    Status status = transaction->GetForUpdate(ReadOptions(), "next", &next);
    if (status.ok()) status = transaction->Put("next", std::to_string(std::stoi(next) + 1));
    if (status.ok())
      status = transaction->Put("taken" + next, Numbered("t", thread) + Numbered("-", i));
    return status;
  });
  std::set<std::string> takers;
  for (int i = 0; i < kThreads * commits; ++i) {
    takers.insert(ValueOf(db_, Numbered("taken", i)));
  }
  EXPECT_EQ(takers.size(), static_cast<size_t>(kThreads * commits));
  EXPECT_EQ(ValueOf(db_, "next"), std::to_string(kThreads * commits));
}

// Reads up to three lists and appends the number to some of them, as often as asked for in each of
// three threads. `read` reads one list.
template <typename Read>
void SerializableTest::AppendToLists(ListHistory* history, const Read& read) {
  for (int i = 0; i < kLists; ++i) ASSERT_OK(db_->Put(WriteOptions(), Numbered("l", i), ""));
  const auto step = [&](Transaction* transaction, std::mt19937* random, int thread, int i) {
    ListHistory::Seen seen;
    const int number = thread * 100'000 + i;
    for (int n = 0; n < 3; ++n) {
      const std::string list = Numbered("l", (*random)() % kLists);
      std::string value;
      Status status = read(transaction, list, &value);
      if (!status.ok()) return status;
      if (seen.appended.contains(list)) continue;
      seen.reads[list] = value;
      if ((*random)() % 2 != 0) continue;
      status = transaction->Put(list, value + std::to_string(number) + ",");
      if (!status.ok()) return status;
      seen.appended.insert(list);
    }
    history->Note(number, std::move(seen));
    return Status::OK();
  };
  RunThreads(3, Commits(120), step);
  for (int i = 0; i < kLists; ++i) {
    const std::string list = Numbered("l", i);
    history->AddList(list, ValueOf(db_, list));
  }
}

TEST_P(SerializableTest, ListsAdmitOneOrderOfAllTransactions) {
  ListHistory history;
  AppendToLists(&history,
                [](Transaction* transaction, const std::string& list, std::string* value) {
                  return transaction->GetForUpdate(ReadOptions(), list, value);
                });
  EXPECT_EQ(history.InCircles(), 0u);
}

// Transactions with snapshots whose reads may be plain ones.
class SnapshotTest : public SerializableTest {
 protected:
  static ReadOptions AtSnapshot(Transaction* transaction) {
    if (transaction->GetSnapshot() == nullptr) transaction->SetSnapshot();
    ReadOptions options;
    options.snapshot = transaction->GetSnapshot();
    return options;
  }
  static Status PlainRead(Transaction* transaction, const std::string& key, std::string* value) {
    return transaction->Get(AtSnapshot(transaction), key, value);
  }
  static Status ReadForUpdate(Transaction* transaction, const std::string& key,
                              std::string* value) {
    return transaction->GetForUpdate(AtSnapshot(transaction), key, value);
  }
  // Reads whether both doctors are on call, and sends one of them home if so.
  template <typename Read>
  static Status GoHome(Transaction* transaction, const std::string& who, const Read& read) {
    std::string x, y;
    Status status = read(transaction, "x", &x);
    if (status.ok()) status = read(transaction, "y", &y);
    if (status.ok() && x == "on" && y == "on") status = transaction->Put(who, "off");
    return status;
  }
  std::unique_ptr<Transaction> BeginAtSnapshot() {
    std::unique_ptr<Transaction> transaction(Begin(nullptr));
    transaction->SetSnapshot();
    transaction->SetLockTimeout(0);
    return transaction;
  }
  void BothOn() {
    for (const char* who : {"x", "y"}) ASSERT_OK(db_->Put(WriteOptions(), who, "on"));
  }
  // Whoever was refused is rolled back.
  static bool Committed(Transaction* transaction, Status status) {
    if (status.ok()) status = transaction->Commit();
    if (status.ok()) return true;
    EXPECT_TRUE(status.IsBusy() || status.IsTimedOut()) << status.ToString();
    EXPECT_OK(transaction->Rollback());
    return false;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, SnapshotTest,
                         testing::Values(Kind::kLockingWithSnapshots, Kind::kPreparedWithSnapshots,
                                         Kind::kUnpreparedWithSnapshots, Kind::kSerial,
                                         Kind::kParallel),
                         NameOf);

TEST_P(SnapshotTest, PlainReadsOfSnapshotsAdmitNothingButWriteSkew) {
  ListHistory history;
  AppendToLists(&history, PlainRead);
  EXPECT_EQ(history.InCirclesOfSnapshots(), 0u);
}

TEST_P(SnapshotTest, ReadsForUpdateOfSnapshotsAdmitOneOrderOfAllTransactions) {
  ListHistory history;
  AppendToLists(&history, ReadForUpdate);
  EXPECT_EQ(history.InCircles(), 0u);
}

// Both have read both keys, and each writes the key that the other one has not written: no order
// of the two gives this result.
TEST_P(SnapshotTest, PlainReadsAllowWriteSkew) {
  BothOn();
  auto one = BeginAtSnapshot(), two = BeginAtSnapshot();
  const Status first = GoHome(one.get(), "x", PlainRead);
  const Status second = GoHome(two.get(), "y", PlainRead);
  EXPECT_TRUE(Committed(one.get(), first));
  EXPECT_TRUE(Committed(two.get(), second));
  EXPECT_EQ(ValueOf(db_, "x") + ValueOf(db_, "y"), "offoff");
}

TEST_P(SnapshotTest, ReadsForUpdateRefuseWriteSkew) {
  BothOn();
  auto one = BeginAtSnapshot(), two = BeginAtSnapshot();
  const Status first = GoHome(one.get(), "x", ReadForUpdate);
  const Status second = GoHome(two.get(), "y", ReadForUpdate);
  EXPECT_TRUE(Committed(one.get(), first));
  EXPECT_FALSE(Committed(two.get(), second));
  EXPECT_EQ(ValueOf(db_, "x") + ValueOf(db_, "y"), "offon");
}

// The first one has committed before the second one reads, so that no lock is in the way: the
// snapshot is.
TEST_P(SnapshotTest, ReadsForUpdateRefuseWriteSkewBehindACommit) {
  BothOn();
  auto one = BeginAtSnapshot(), two = BeginAtSnapshot();
  EXPECT_TRUE(Committed(one.get(), GoHome(one.get(), "x", ReadForUpdate)));
  EXPECT_FALSE(Committed(two.get(), GoHome(two.get(), "y", ReadForUpdate)));
  EXPECT_EQ(ValueOf(db_, "x") + ValueOf(db_, "y"), "offon");
}

TEST_P(SnapshotTest, SharedReadsForUpdateRefuseWriteSkew) {
  if (!IsLocking()) return;  // without locks all reads for update are alike
  BothOn();
  const auto read = [](Transaction* transaction, const std::string& key, std::string* value) {
    return transaction->GetForUpdate(AtSnapshot(transaction), key, value, /*exclusive=*/false);
  };
  auto one = BeginAtSnapshot(), two = BeginAtSnapshot();
  std::string value;
  for (const char* key : {"x", "y"}) ASSERT_OK(read(two.get(), key, &value));
  const Status first = GoHome(one.get(), "x", read);
  EXPECT_TRUE(first.IsTimedOut()) << "the other one has read the key";
  ASSERT_OK(two->Rollback());
  EXPECT_FALSE(Committed(one.get(), first));
  EXPECT_EQ(ValueOf(db_, "x") + ValueOf(db_, "y"), "onon");
}

}  // namespace
}  // namespace ashlar
