// SPDX-License-Identifier: Apache-2.0
//
// One random program over transactions, compiled against the drop-in and against RocksDB: both must
// print the same. ../differential/compare.py runs them side by side. README.md lists what the
// program avoids because the two differ on purpose.
//
// Two to six transactions of one kind are stepped in turn by one thread, with lock timeouts of 0,
// among writes of the database itself, flushes, compactions and reopenings. After every step come
// the code and subcode, what was read, and the counters of the transaction.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../differential/draw.h"

namespace differential {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::Transaction;

constexpr int kSteps = 150;

// Code and subcode.
std::string Show(const Status& status);
// Ends the process unless the status is OK.
void Check(const Status& status);

// The program of one seed, which selects the kind of transactions: optimistic ones, or one of the
// three write policies. Threads: one.
class Program {
 public:
  Program(uint64_t seed, const std::string& dir);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Runs these steps, or all if there are none.
  void Run(const std::set<int>& only);

 private:
  struct Slot {
    Transaction* transaction = nullptr;
    bool has_name = false;
    bool has_unindexed = false;  // updates that are not indexed
    bool expires = false;
    bool keeps_last_batch = false;  // use_only_the_last_commit_time_batch_for_recovery
    bool has_commit_time = false;
  };

  // program.cc
  void Open(bool is_new);
  void Close();
  bool CannotClose() const;
  void Abandon();
  void Reopen();
  // Decides about the transactions that were prepared before. All of them if this is the last
  // reopening of a step.
  void DecideRecovered(bool is_last);
  void End(Slot* slot);
  void Step();

  // transaction_steps.cc
  void Begin(Slot* slot);
  void StepTransaction(Slot* slot);
  void EndStolen();
  void Finish(Slot* slot);
  void Commit(Slot* slot);
  Status RollBack(const Slot& slot);
  void SetName(Slot* slot);
  void Write(Slot* slot);
  void ReadForUpdate(Slot* slot);
  void Read(Slot* slot);
  void SavePoint(Slot* slot);
  void Other(Slot* slot);
  void WriteCommitTimeBatch(Slot* slot);

  // database_steps.cc
  void StepDatabase();
  void ShowLocks();
  void ShowPrepared();
  void StepTimestampedSnapshots();
  // "key=value ", or nothing.
  std::string Row(const rocksdb::Iterator& iterator) const;
  // All rows of a family.
  std::string Rows(rocksdb::ColumnFamilyHandle* family, const rocksdb::Snapshot* snapshot);

  static bool IsPrepared(const Slot& slot) {
    return slot.transaction != nullptr && slot.transaction->GetState() == Transaction::PREPARED;
  }
  // A step with several keys could take two of one transaction that has expired.
  bool MayStealTwice() const {
    for (const Slot& slot : slots_) {
      if (slot.expires && slot.transaction->GetNumKeys() > 1) return true;
    }
    return false;
  }
  bool IsCommitted() const {
    return pessimistic_ != nullptr && policy_ == rocksdb::WRITE_COMMITTED;
  }
  bool IsUnprepared() const { return policy_ == rocksdb::WRITE_UNPREPARED; }
  std::string AnyKey() { return "k" + std::to_string(draw_.Below(keys_)); }
  std::string AnyValue() { return "v" + std::to_string(draw_.Below(1000)); }
  rocksdb::ColumnFamilyHandle* AnyFamily() { return families_[draw_.OneIn(4) ? 1 : 0]; }
  // Mostly above those before.
  uint64_t AnyTimestamp() {
    return draw_.OneIn(4) ? draw_.Below(newest_timestamp_ + 1) : newest_timestamp_ + draw_.Below(3);
  }

  static void Tell(const char* what, const Status& status, const Transaction& transaction,
                   const std::string& more = "");
  static void TellOfDatabase(const char* what, const Status& status, const std::string& more = "");

  std::string dir_;
  std::set<std::string> with_merges_;  // names of prepared transactions, before a reopening
  // Rows of commit-time batches are not shown, see README.md.
  bool hides_commit_time_ = false;
  bool was_prepared_ = false;  // one of the transactions that a reopening has destroyed
  const uint64_t seed_;
  Draw draw_;
  bool is_optimistic_ = false, is_serial_ = false;
  rocksdb::TxnDBWritePolicy policy_ = rocksdb::WRITE_COMMITTED;
  uint64_t keys_ = 0;
  uint64_t newest_timestamp_ = 1;
  std::vector<Slot> slots_;
  rocksdb::DB* db_ = nullptr;  // one of the next two
  rocksdb::TransactionDB* pessimistic_ = nullptr;
  rocksdb::OptimisticTransactionDB* optimistic_ = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace differential
