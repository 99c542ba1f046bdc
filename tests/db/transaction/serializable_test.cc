// SPDX-License-Identifier: Apache-2.0
//
// Histories of many threads: money that is moved stays the same in every snapshot, counters have no
// gap, and lists to which transactions append admit one order of all transactions.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

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

// A transaction reads some lists for update and appends its number to others that it has read. The
// lists at the end give the order of writers of each key, what it read the writer before it; the
// edges between transactions must not close a circle.
TEST_P(SerializableTest, ListsAdmitOneOrderOfAllTransactions) {
  constexpr int kLists = 4;
  struct Seen {
    std::map<std::string, std::string> reads;
    std::set<std::string> appended;
  };
  std::mutex mutex;
  std::map<int, Seen> committed;
  for (int i = 0; i < kLists; ++i) ASSERT_OK(db_->Put(WriteOptions(), Numbered("l", i), ""));
  const int commits = Commits(120);
  RunThreads(3, commits, [&](Transaction* transaction, std::mt19937* random, int thread, int i) {
    Seen seen;
    const int number = thread * 100'000 + i;
    for (int n = 0; n < 3; ++n) {
      const std::string list = Numbered("l", (*random)() % kLists);
      std::string value;
      Status status = transaction->GetForUpdate(ReadOptions(), list, &value);
      if (!status.ok()) return status;
      if (!seen.appended.contains(list)) seen.reads[list] = value;
      if ((*random)() % 2 != 0) continue;
      status = transaction->Put(list, value + std::to_string(number) + ",");
      if (!status.ok()) return status;
      seen.appended.insert(list);
    }
    // The last attempt of a number is the one that commits.
    const std::lock_guard<std::mutex> lock(mutex);
    committed[number] = seen;
    return Status::OK();
  });
  const auto parse = [](const std::string& list) {
    std::vector<int> numbers;
    for (size_t at = 0; at < list.size();) {
      const size_t comma = list.find(',', at);
      numbers.push_back(std::stoi(list.substr(at, comma - at)));
      at = comma + 1;
    }
    return numbers;
  };
  std::map<int, std::set<int>> before;  // by transaction, those that come before it
  for (int i = 0; i < kLists; ++i) {
    const std::string list = Numbered("l", i);
    const std::string final_list = ValueOf(db_, list);
    const std::vector<int> writers = parse(final_list);
    for (size_t n = 1; n < writers.size(); ++n) {
      if (writers[n - 1] != writers[n]) before[writers[n]].insert(writers[n - 1]);
    }
    for (const auto& [number, seen] : committed) {
      const auto read = seen.reads.find(list);
      if (read == seen.reads.end()) continue;
      ASSERT_EQ(final_list.substr(0, read->second.size()), read->second) << "a dirty or lost read";
      const size_t length = parse(read->second).size();
      if (length > 0 && writers[length - 1] != number) before[number].insert(writers[length - 1]);
      if (length < writers.size() && writers[length] != number) {
        before[writers[length]].insert(number);
      }
    }
  }
  // Removes transactions with nothing before them until none is left.
  std::set<int> left;
  for (const auto& [number, seen] : committed) left.insert(number);
  for (bool is_progress = true; is_progress;) {
    is_progress = false;
    for (auto it = left.begin(); it != left.end();) {
      bool is_first = true;
      for (const int other : before[*it]) is_first = is_first && !left.contains(other);
      it = is_first ? (is_progress = true, left.erase(it)) : std::next(it);
    }
  }
  EXPECT_TRUE(left.empty()) << left.size() << " transactions are in circles";
}

}  // namespace
}  // namespace ashlar
