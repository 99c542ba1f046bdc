// SPDX-License-Identifier: Apache-2.0
//
// randomtransaction: transactions that add the same random number to one key of each of
// --transaction_sets sets of keys. So the values of every set have the same sum, which is compared
// at the end: a lost or a half-applied transaction makes a difference.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "ashlar/write_batch.h"
#include "tools/db_bench/workloads.h"

DEFINE_bool(transaction_db, false,
            "open a TransactionDB; randomtransaction then uses pessimistic transactions");
DEFINE_bool(optimistic_transaction_db, false,
            "open an OptimisticTransactionDB; randomtransaction then uses optimistic transactions");
DEFINE_uint64(transaction_sets, 2, "sets of keys, each of which a transaction changes one key");
DEFINE_bool(transaction_set_snapshot, false, "transactions begin with a snapshot");
DEFINE_uint64(transaction_lock_timeout, 100,
              "milliseconds for which a pessimistic transaction waits for a lock");

namespace ashlar {
namespace bench {
namespace {

constexpr size_t kSetDigits = 4;  // a key begins with the number of its set
constexpr uint64_t kMaxSets = 9999;
constexpr uint64_t kMaxIncrement = 100;

std::string PrefixOfSet(uint64_t set) {
  char digits[kSetDigits + 1];
  std::snprintf(digits, sizeof(digits), "%04u", static_cast<unsigned>(set));
  return digits;
}

// 0 for a key that does not exist.
Status ParseSum(const Status& read, const Slice& key, const Slice& text, uint64_t* value) {
  *value = 0;
  if (read.IsNotFound()) return Status::OK();
  if (!read.ok()) return read;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, *value).ptr == end) return Status::OK();
  return Status::Corruption("randomtransaction: the value is no number at key", key);
}

// Whether an error is one by which transactions tell each other to try again.
bool IsConflict(const Status& status) {
  return status.IsBusy() || status.IsTimedOut() || status.IsTryAgain();
}

// The transactions of one thread.
class Incrementer {
 public:
  explicit Incrementer(ThreadContext* thread)
      : thread_(thread),
        sets_(FLAGS_transaction_sets),
        write_options_(MakeWriteOptions(FLAGS_sync)) {
    std::iota(sets_.begin(), sets_.end(), uint64_t{1});
    transaction_options_.lock_timeout = static_cast<int64_t>(FLAGS_transaction_lock_timeout);
    transaction_options_.set_snapshot = FLAGS_transaction_set_snapshot;
    optimistic_options_.set_snapshot = FLAGS_transaction_set_snapshot;
  }

  // One transaction. A conflict ends it without effect.
  Status Run() {
    // Transactions that lock in different orders can meet in a deadlock, which is part of the work.
    std::shuffle(sets_.begin(), sets_.end(), thread_->random);
    const uint64_t increment = 1 + thread_->random() % kMaxIncrement;
    if (!FLAGS_transaction_db && !FLAGS_optimistic_transaction_db) return RunAsBatch(increment);
    Begin();
    Status status;
    for (size_t i = 0; i < sets_.size() && status.ok(); i++) {
      status = Increment(NextKey(sets_[i]), increment);
    }
    if (status.ok()) status = transaction_->Commit();
    if (!status.ok()) RequireOk(transaction_->Rollback(), "rollback");
    return status;
  }
  // Of the last transaction.
  uint64_t bytes() const { return bytes_; }

 private:
  // The object of the transaction before is used again.
  void Begin() {
    bytes_ = 0;
    Transaction* const old = transaction_.release();
    transaction_.reset(FLAGS_transaction_db
                           ? static_cast<TransactionDB*>(thread_->db)
                                 ->BeginTransaction(write_options_, transaction_options_, old)
                           : static_cast<OptimisticTransactionDB*>(thread_->db)
                                 ->BeginTransaction(write_options_, optimistic_options_, old));
  }

  std::string NextKey(uint64_t set) {
    return PrefixOfSet(set) + std::to_string(thread_->random() % static_cast<uint64_t>(FLAGS_num));
  }

  // Adds to a number that is stored as text. The key stays locked until the transaction ends.
  Status Increment(const std::string& key, uint64_t increment) {
    const Status read = transaction_->GetForUpdate(MakeReadOptions(), key, &value_);
    uint64_t sum = 0;
    Status status = ParseSum(read, key, value_, &sum);
    if (!status.ok()) return status;
    const std::string text = std::to_string(sum + increment);
    bytes_ += key.size() + text.size();
    return transaction_->Put(key, text);
  }

  // Without transactions: the sums are right for one thread only.
  Status RunAsBatch(uint64_t increment) {
    bytes_ = 0;
    WriteBatch batch;
    for (const uint64_t set : sets_) {
      const std::string key = NextKey(set);
      const Status read = thread_->db->Get(MakeReadOptions(), key, &value_);
      uint64_t sum = 0;
      Status status = ParseSum(read, key, value_, &sum);
      const std::string text = std::to_string(sum + increment);
      bytes_ += key.size() + text.size();
      if (status.ok()) status = batch.Put(key, text);
      if (!status.ok()) return status;
    }
    return thread_->db->Write(write_options_, &batch);
  }

  ThreadContext* const thread_;
  std::vector<uint64_t> sets_;  // their numbers, from 1
  const WriteOptions write_options_;
  TransactionOptions transaction_options_;
  OptimisticTransactionOptions optimistic_options_;
  std::unique_ptr<Transaction> transaction_;
  std::string value_;
  uint64_t bytes_ = 0;
};

}  // namespace

bool IsTransactionSetsValid() {
  return FLAGS_transaction_sets >= 1 && FLAGS_transaction_sets <= kMaxSets;
}
bool IsTransactionKindValid() { return !FLAGS_transaction_db || !FLAGS_optimistic_transaction_db; }

// Each transaction adds the same number to one key of each set, so at any moment all sets have the
// same sum.
void RandomTransaction(ThreadContext* thread) {
  Incrementer incrementer(thread);
  uint64_t transactions = 0, aborts = 0;
  for (Duration duration(FLAGS_duration, ReadOrWriteCount()); !duration.Done(1);) {
    const Status status = incrementer.Run();
    if (status.ok()) {
      transactions++;
    } else if (IsConflict(status)) {
      aborts++;
    } else {
      RequireOk(status, "transaction");
    }
    thread->stats.Finished(Operation::kOther, 1, incrementer.bytes());
  }
  thread->stats.AddMessage("( transactions:" + std::to_string(transactions) +
                           " aborts:" + std::to_string(aborts) + ")");
}

// Checks that all sets have the same sum. A difference means that a transaction was applied in
// part.
void VerifyTransactions(DB* db) {
  const bool is_safe = FLAGS_transaction_db || FLAGS_optimistic_transaction_db;
  // Plain batches of several threads overwrite each other's sums.
  if (!is_safe && FLAGS_threads > 1) return;
  ReadOptions options;
  // All sets are added up at one moment.
  options.snapshot = db->GetSnapshot();
  uint64_t first_sum = 0;
  Status status;
  for (uint64_t set = 1; set <= FLAGS_transaction_sets && status.ok(); set++) {
    const std::string prefix = PrefixOfSet(set);
    uint64_t sum = 0;
    const std::unique_ptr<Iterator> it(db->NewIterator(options));
    for (it->Seek(prefix); status.ok() && it->Valid() && it->key().starts_with(prefix);
         it->Next()) {
      uint64_t value = 0;
      status = ParseSum(Status::OK(), it->key(), it->value(), &value);
      sum += value;
    }
    if (status.ok()) status = it->status();
    if (set == 1) first_sum = sum;
    if (status.ok() && sum != first_sum) {
      status = Status::Corruption("the sums of the first set and of set " + prefix + " differ",
                                  std::to_string(first_sum) + " and " + std::to_string(sum));
    }
  }
  db->ReleaseSnapshot(options.snapshot);
  RequireOk(status, "randomtransaction: verification");
  std::printf("randomtransaction: the values of each set have the sum %llu\n",
              static_cast<unsigned long long>(first_sum));
}

}  // namespace bench
}  // namespace ashlar
