// SPDX-License-Identifier: Apache-2.0
//
// What transactions cost beside each other: counters, a key that all threads want, locks alone,
// deadlocks, optimistic commits, large transactions, transactions that read their own writes,
// two-phase commits, a snapshot that is held for long, and an opening that finds prepared
// transactions.
//
//   transactions --db=FOLDER [--threads=4] [--sync=0]
//       [--counters=100000] [--hot_key=20000] [--locks=200000] [--deadlocks=20000]
//       [--optimistic=50000]
//       [--large=100000]
//       [--own=5000] [--two_phase=20000] [--snapshot=100000] [--recovery=10000]
//
// The numbers are operations of all threads together; 0 leaves a part out. `--sync=1` syncs the
// commits of the hot key and of the two-phase commits.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"

#include "benchmarks/clients/client.h"
#include "benchmarks/ycsb/generators.h"

namespace {

using client::Clock;
using client::Fail;
using client::Flags;
using client::KeyOf;
using client::Micros;
using client::Report;
using client::Require;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::TransactionDB;
using rocksdb::TransactionOptions;

constexpr uint64_t kLockKeys = 1'000'000;
const std::string kValue(100, 'v');

std::string FolderOf(const Flags& flags, const char* part) { return flags.db() + "/" + part; }

rocksdb::Options DbOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  return options;
}

std::unique_ptr<TransactionDB> Open(const std::string& folder,
                                    rocksdb::TxnDBWritePolicy policy = rocksdb::WRITE_COMMITTED) {
  rocksdb::TransactionDBOptions locking;
  locking.write_policy = policy;
  locking.transaction_lock_timeout = 10'000;
  TransactionDB* db = nullptr;
  Require(TransactionDB::Open(DbOptions(), locking, folder, &db), "open");
  return std::unique_ptr<TransactionDB>(db);
}

double Seconds(Clock::duration time) { return static_cast<double>(Micros(time)) * 1e-6; }

// Calls work(thread) in each thread, and returns the seconds that all took together.
double InThreads(uint64_t count, const std::function<void(uint64_t)>& work) {
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < count; i++) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  return Seconds(Clock::now() - begin);
}

void ReportRate(const std::string& name, uint64_t count, double seconds) {
  Report(name.c_str(), static_cast<double>(count) / seconds, "ops/sec");
}

// One transaction object for each thread, used again and again.
class Reused {
 public:
  Reused(TransactionDB* db, const TransactionOptions& options, bool syncs = false)
      : db_(db), options_(options) {
    write_.sync = syncs;
  }
  Transaction* Begin() {
    Transaction* const old = transaction_.release();
    transaction_.reset(db_->BeginTransaction(write_, options_, old));
    return transaction_.get();
  }

 private:
  TransactionDB* const db_;
  const TransactionOptions options_;
  rocksdb::WriteOptions write_;
  std::unique_ptr<Transaction> transaction_;
};

// Transactions that add one to a counter of each of `sets` sets of 100,000. The sums of all sets
// must be equal at the end. db_bench's randomtransaction is the same load, but RocksDB's opens a
// std::random_device in each transaction, which takes longer than the transaction.
void Counters(const Flags& flags, uint64_t sets, bool sets_snapshot) {
  constexpr uint64_t kCounters = 100'000;
  const uint64_t threads = flags["threads"], count = flags["counters"] / threads / sets;
  const std::string name =
      "counters of " + std::to_string(sets) + " sets" + (sets_snapshot ? ", a snapshot" : "");
  const std::string folder = FolderOf(flags, "counters") + std::to_string(2 * sets + sets_snapshot);
  const auto db = Open(folder);
  const double seconds = InThreads(threads, [&](uint64_t thread) {
    TransactionOptions options;
    options.set_snapshot = sets_snapshot;
    Reused reused(db.get(), options);
    client::Random random(thread);
    std::string value;
    for (uint64_t i = 0; i < count;) {
      Transaction* const transaction = reused.Begin();
      Status status;
      // Sets are locked in one order, so there are no deadlocks.
      for (uint64_t set = 0; set < sets && status.ok(); set++) {
        const std::string key = KeyOf(set * kCounters + random.Uniform(kCounters));
        status = transaction->GetForUpdate({}, key, &value);
        const uint64_t before = status.ok() ? std::stoull(value) : 0;
        if (status.ok() || status.IsNotFound()) {
          status = transaction->Put(key, std::to_string(before + 1));
        }
      }
      if (status.ok()) status = transaction->Commit();
      i += status.ok() ? 1 : 0;
      // With a snapshot, a counter that was changed since is Busy.
      if (!status.ok() && !status.IsBusy()) Require(status, "counters");
      if (!status.ok()) Require(transaction->Rollback(), "rollback");
    }
  });
  ReportRate(name, count * threads, seconds);
  std::vector<uint64_t> sums(sets);
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const uint64_t set = std::stoull(it->key().ToString().substr(3)) / kCounters;
    sums[set] += std::stoull(it->value().ToString());
  }
  Require(it->status(), "sums");
  for (const uint64_t sum : sums) {
    if (sum != count * threads) Fail("the sums of the sets differ");
  }
}

// All threads want one key, until so many transactions have committed. Fairness: how many the
// thread with the fewest had, as a part of the mean.
void HotKey(const Flags& flags) {
  const uint64_t count = flags["hot_key"], threads = flags["threads"];
  const auto db = Open(FolderOf(flags, "hot_key"));
  Require(db->Put({}, "hot", "0"), "put");
  std::atomic<uint64_t> left{count};
  std::vector<uint64_t> commits(threads);
  const double seconds = InThreads(threads, [&](uint64_t thread) {
    Reused reused(db.get(), TransactionOptions(), flags["sync"] != 0);
    std::string value;
    uint64_t done = 0;
    while (left.fetch_sub(1) - 1 < count) {
      Transaction* const transaction = reused.Begin();
      Require(transaction->GetForUpdate({}, "hot", &value), "read");
      Require(transaction->Put("hot", std::to_string(std::stoull(value) + 1)), "put");
      Require(transaction->Commit(), "commit");
      done++;
    }
    commits[thread] = done;
  });
  std::string value;
  Require(db->Get({}, "hot", &value), "get");
  if (std::stoull(value) != count) Fail("updates were lost");
  ReportRate("hot key", count, seconds);
  const uint64_t fewest = *std::min_element(commits.begin(), commits.end());
  Report("hot key, fairness",
         100.0 * static_cast<double>(fewest * threads) / static_cast<double>(count), "%");
}

// Reads for update of ten keys each, which are given back; nothing is written.
void Locks(const Flags& flags, bool is_zipf) {
  const uint64_t count = flags["locks"] / 10, threads = flags["threads"];
  const auto db = Open(FolderOf(flags, is_zipf ? "locks_zipf" : "locks"));
  const double seconds = InThreads(threads, [&](uint64_t thread) {
    TransactionOptions options;
    options.deadlock_detect = is_zipf;
    Reused reused(db.get(), options);
    ycsb::Random random(thread);
    ycsb::Zipfian zipf;
    const uint64_t begin = kLockKeys / threads * thread;
    uint64_t next = 0;
    for (uint64_t i = 0; i < count / threads; i++) {
      Transaction* const transaction = reused.Begin();
      for (int n = 0; n < 10; n++) {
        const uint64_t key = is_zipf ? ycsb::Scatter(zipf.Next(kLockKeys, random)) % kLockKeys
                                     : begin + next++ % (kLockKeys / threads);
        const Status status =
            transaction->GetForUpdate({}, KeyOf(key), static_cast<std::string*>(nullptr));
        if (!status.IsNotFound() && !status.IsBusy()) Require(status, "lock");
        if (status.IsBusy()) break;
      }
      Require(transaction->Rollback(), "rollback");
    }
  });
  ReportRate(is_zipf ? "locks by Zipf" : "locks of disjoint keys", count * 10, seconds);
}

// Pairs of a hundred keys in any order, with detection.
void Deadlocks(const Flags& flags) {
  const uint64_t threads = flags["threads"], count = flags["deadlocks"] / threads;
  const auto db = Open(FolderOf(flags, "deadlocks"));
  std::atomic<uint64_t> found{0}, timeouts{0};
  const double seconds = InThreads(threads, [&](uint64_t thread) {
    TransactionOptions options;
    options.deadlock_detect = true;
    Reused reused(db.get(), options);
    client::Random random(thread);
    for (uint64_t i = 0; i < count;) {
      Transaction* const transaction = reused.Begin();
      Status status = transaction->Put(KeyOf(random.Uniform(100)), kValue);
      if (status.ok()) status = transaction->Put(KeyOf(random.Uniform(100)), kValue);
      if (status.ok()) status = transaction->Commit();
      i += status.ok() ? 1 : 0;
      found += status.IsBusy() ? 1 : 0;
      timeouts += status.IsTimedOut() ? 1 : 0;
      if (!status.ok()) Require(transaction->Rollback(), "rollback");
    }
  });
  ReportRate("deadlock storm, commits", count * threads, seconds);
  Report("deadlock storm, deadlocks", static_cast<double>(found), "count");
  Report("deadlock storm, timeouts", static_cast<double>(timeouts), "count");
}

// A read for update and a write of one key.
void Optimistic(const Flags& flags, bool is_zipf) {
  const uint64_t threads = flags["threads"], count = flags["optimistic"] / threads;
  rocksdb::OptimisticTransactionDB* opened = nullptr;
  Require(rocksdb::OptimisticTransactionDB::Open(
              DbOptions(), FolderOf(flags, is_zipf ? "optimistic_zipf" : "optimistic"), &opened),
          "open");
  const std::unique_ptr<rocksdb::OptimisticTransactionDB> db(opened);
  std::atomic<uint64_t> aborts{0};
  const double seconds = InThreads(threads, [&](uint64_t thread) {
    std::unique_ptr<Transaction> transaction;
    ycsb::Random random(thread);
    ycsb::Zipfian zipf;
    std::string value;
    for (uint64_t i = 0; i < count;) {
      transaction.reset(db->BeginTransaction({}, {}, transaction.release()));
      const std::string key = KeyOf(is_zipf ? zipf.Next(100'000, random) : thread * 1'000'000 + i);
      const Status read = transaction->GetForUpdate({}, key, &value);
      if (!read.IsNotFound()) Require(read, "read");
      Require(transaction->Put(key, kValue), "put");
      const Status status = transaction->Commit();
      if (!status.IsBusy() && !status.IsTryAgain()) Require(status, "commit");
      i += status.ok() ? 1 : 0;
      aborts += status.ok() ? 0 : 1;
    }
  });
  const std::string name = is_zipf ? "optimistic by Zipf" : "optimistic of disjoint keys";
  ReportRate(name, count * threads, seconds);
  Report((name + ", aborts").c_str(), static_cast<double>(aborts), "count");
}

// Puts, then a walk over them, then the commit; of a thousand updates and of ten times as many each
// further time.
void Large(const Flags& flags) {
  const auto db = Open(FolderOf(flags, "large"));
  for (uint64_t count = 1000; count <= flags["large"]; count *= 10) {
    const std::string name = std::to_string(count) + " puts";
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}));
    client::Random random(count);
    auto begin = Clock::now();
    for (uint64_t i = 0; i < count; i++) {
      Require(transaction->Put(KeyOf(random.Uniform(10 * count)), kValue), "put");
    }
    ReportRate(name, count, Seconds(Clock::now() - begin));
    begin = Clock::now();
    const std::unique_ptr<rocksdb::Iterator> it(transaction->GetIterator({}));
    uint64_t rows = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) rows++;
    Require(it->status(), "walk");
    ReportRate(name + ", walk", rows, Seconds(Clock::now() - begin));
    begin = Clock::now();
    Require(transaction->Commit(), "commit");
    ReportRate(name + ", commit", count, Seconds(Clock::now() - begin));
  }
}

// Ten puts, a hundred reads of which ten are its own, and a scan of twenty rows.
void OwnWrites(const Flags& flags) {
  constexpr uint64_t kRows = 200'000;
  const auto db = Open(FolderOf(flags, "own"));
  for (uint64_t i = 0; i < kRows; i++) Require(db->Put({}, KeyOf(i), kValue), "fill");
  Require(db->Flush({}), "flush");
  Reused reused(db.get(), TransactionOptions());
  client::Random random(3);
  std::string value;
  const auto begin = Clock::now();
  for (uint64_t i = 0; i < flags["own"]; i++) {
    Transaction* const transaction = reused.Begin();
    const uint64_t own = random.Uniform(kRows - 100);
    for (uint64_t n = 0; n < 10; n++) Require(transaction->Put(KeyOf(own + 7 * n), kValue), "put");
    for (uint64_t n = 0; n < 100; n++) {
      const uint64_t key = n % 10 == 0 ? own + 7 * (n / 10) : random.Uniform(kRows);
      Require(transaction->Get({}, KeyOf(key), &value), "get");
    }
    const std::unique_ptr<rocksdb::Iterator> it(transaction->GetIterator({}));
    it->Seek(KeyOf(own));
    for (int rows = 0; rows < 20 && it->Valid(); rows++) it->Next();
    Require(it->status(), "scan");
    Require(transaction->Rollback(), "rollback");
  }
  ReportRate("transactions that read their writes", flags["own"], Seconds(Clock::now() - begin));
}

void TwoPhase(const Flags& flags) {
  const uint64_t threads = flags["threads"], count = flags["two_phase"] / threads;
  const auto db = Open(FolderOf(flags, "two_phase"));
  std::vector<std::vector<uint64_t>> latencies(threads);
  const double seconds = InThreads(threads, [&](uint64_t thread) {
    Reused reused(db.get(), TransactionOptions(), flags["sync"] != 0);
    for (uint64_t i = 0; i < count; i++) {
      const auto begin = Clock::now();
      Transaction* const transaction = reused.Begin();
      Require(transaction->SetName(std::to_string(thread) + "/" + std::to_string(i)), "name");
      Require(transaction->Put(KeyOf(thread * 1'000'000 + i), kValue), "put");
      Require(transaction->Prepare(), "prepare");
      Require(transaction->Commit(), "commit");
      latencies[thread].push_back(Micros(Clock::now() - begin));
    }
  });
  ReportRate("prepare and commit", count * threads, seconds);
  std::vector<uint64_t> all;
  for (const auto& some : latencies) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  const auto at = [&](size_t percent) {
    return static_cast<double>(all[std::min(all.size() - 1, all.size() * percent / 100)]);
  };
  Report("prepare and commit, 50 %", at(50), "us");
  Report("prepare and commit, 99 %", at(99), "us");
}

// Write-prepared: commits and reads before and while somebody holds a snapshot.
void LongSnapshot(const Flags& flags) {
  const uint64_t count = flags["snapshot"];
  const auto db = Open(FolderOf(flags, "snapshot"), rocksdb::WRITE_PREPARED);
  const rocksdb::Snapshot* snapshot = nullptr;
  for (const char* when : {"without a snapshot", "with a snapshot"}) {
    Reused reused(db.get(), TransactionOptions());
    auto begin = Clock::now();
    for (uint64_t i = 0; i < count; i++) {
      Transaction* const transaction = reused.Begin();
      Require(transaction->Put(KeyOf(i % 1000), kValue), "put");
      Require(transaction->Commit(), "commit");
    }
    ReportRate(std::string("write-prepared commits ") + when, count, Seconds(Clock::now() - begin));
    begin = Clock::now();
    std::string value;
    client::Random random(5);
    for (uint64_t i = 0; i < count; i++) {
      Require(db->Get({}, KeyOf(random.Uniform(std::min<uint64_t>(count, 1000))), &value), "get");
    }
    ReportRate(std::string("write-prepared reads ") + when, count, Seconds(Clock::now() - begin));
    if (snapshot == nullptr) snapshot = db->GetSnapshot();
  }
  db->ReleaseSnapshot(snapshot);
}

// An opening that finds so many prepared transactions of ten updates of a kilobyte each.
void Recovery(const Flags& flags) {
  const std::string folder = FolderOf(flags, "recovery");
  const uint64_t count = flags["recovery"];
  {
    rocksdb::Options options = DbOptions();
    options.write_buffer_size = uint64_t{4} << 30;
    TransactionDB* opened = nullptr;
    Require(TransactionDB::Open(options, {}, folder, &opened), "open");
    const std::unique_ptr<TransactionDB> db(opened);
    const std::string value(1000, 'v');
    for (uint64_t i = 0; i < count; i++) {
      const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}));
      Require(transaction->SetName(std::to_string(i)), "name");
      for (uint64_t n = 0; n < 10; n++) Require(transaction->Put(KeyOf(10 * i + n), value), "put");
      Require(transaction->Prepare(), "prepare");
    }
  }
  const auto begin = Clock::now();
  const auto db = Open(folder);
  Report("opening with prepared transactions",
         static_cast<double>(Micros(Clock::now() - begin)) * 1e-3, "ms");
  std::vector<Transaction*> prepared;
  db->GetAllPreparedTransactions(&prepared);
  if (prepared.size() != count) Fail("prepared transactions were lost");
  for (Transaction* transaction : prepared) {
    Require(transaction->Rollback(), "rollback");
    delete transaction;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"threads", 4},
                     {"sync", 0},
                     {"counters", 100'000},
                     {"hot_key", 20'000},
                     {"locks", 200'000},
                     {"deadlocks", 20'000},
                     {"optimistic", 50'000},
                     {"large", 100'000},
                     {"own", 5'000},
                     {"two_phase", 20'000},
                     {"snapshot", 100'000},
                     {"recovery", 10'000}},
                    argc, argv);
  rocksdb::Env::Default()->CreateDirIfMissing(flags.db()).PermitUncheckedError();
  for (const uint64_t sets : {1, 2, 10, 100}) {
    if (flags["counters"] == 0) break;
    for (const bool sets_snapshot : {false, true}) Counters(flags, sets, sets_snapshot);
  }
  if (flags["hot_key"] != 0) HotKey(flags);
  for (const bool is_zipf : {false, true}) {
    if (flags["locks"] != 0) Locks(flags, is_zipf);
  }
  if (flags["deadlocks"] != 0) Deadlocks(flags);
  for (const bool is_zipf : {false, true}) {
    if (flags["optimistic"] != 0) Optimistic(flags, is_zipf);
  }
  if (flags["large"] != 0) Large(flags);
  if (flags["own"] != 0) OwnWrites(flags);
  if (flags["two_phase"] != 0) TwoPhase(flags);
  if (flags["snapshot"] != 0) LongSnapshot(flags);
  if (flags["recovery"] != 0) Recovery(flags);
  return 0;
}
