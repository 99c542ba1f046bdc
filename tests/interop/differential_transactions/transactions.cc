// SPDX-License-Identifier: Apache-2.0
//
// One random program over transactions, compiled against the drop-in and against RocksDB: both must
// print the same. ../differential/compare.py runs them side by side.
//
//   differential_transactions run DIR FIRST LAST    the programs of seeds FIRST to LAST
//
// Two to six transactions of one kind are stepped in turn by one thread, with lock timeouts of 0,
// among writes of the database itself, flushes and compactions. After every step come the code and
// subcode, what was read, and the counters of the transaction.
//
// What the program avoids, because RocksDB 7.8.3 (first) and Ashlar (second) differ on purpose:
//
// - a write of a prepared transaction: OK, and lost in a crash; InvalidArgument
// - assume_tracked for a key that is not tracked: the lock stays for ever; no lock
// - SingleDelete in a batch of the database: written over locks of others; locks the key
// - ingested files: no conflict; a conflict
// - range tombstones of the base database: conflicts for existing keys; for all keys they cover
// - destroying a prepared transaction: its locks and its name are gone; they stay
// - rolling back a transaction whose locks were stolen: InvalidArgument; OK
// - two holders of a shared lock that both upgrade, with deadlock_detect: Busy for both; for one
// - max_num_locks is reached: Busy; Aborted
// - a shared lock without validation that is made exclusive with validation: not validated;
// validated
// - an optimistic commit after a flush without memtable history: TryAgain; decided
// - iterators after a commit or rollback: dangling; InvalidArgument
// - a commit while a snapshot is due: the transaction is useless afterwards; it goes on
// - RollbackToSavePoint() after updates that were not indexed: indexes them; does not
// - write-prepared and write-unprepared, an update that is not indexed of a key that the batch has:
// an assertion in the commit, as the sub-batches were counted without it; counted
// - write-unprepared, RebuildFromWriteBatch(): tracks the keys without locks and drops the updates,
// after which the process may end by an assertion; as under the other policies
// - write-unprepared, reads of a prepared transaction: own merge operands count twice, and updates
// that were not indexed are seen; neither
// - write-unprepared, the rollback of a prepared transaction: writes keys that the transaction has
// only read for update once more, which conflicts with older snapshots; those that it has written
//
// Transactions of the policy write-unprepared do not write out their batches here, as many of these
// programs end by assertions of RocksDB then. transactions_test.cc compares the logs, and
// tests/db/transaction/unprepared_model_test.cc has a model.
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "../differential/draw.h"

namespace differential {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::Transaction;

constexpr int kSteps = 220;

class Joiner final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             rocksdb::Logger*) const override {
    *result =
        existing == nullptr ? value.ToString() : existing->ToString() + "," + value.ToString();
    return true;
  }
  const char* Name() const override { return "differential.Joiner"; }
};

std::string Show(const Status& status) {
  return std::to_string(status.code()) + "." + std::to_string(status.subcode());
}

class Program {
 public:
  Program(uint64_t seed, const std::string& dir) : dir_(dir), seed_(seed), draw_(seed, 0, 0) {
    is_optimistic_ = draw_.OneIn(3);
    is_serial_ = draw_.OneIn(2);
    keys_ = draw_.Of<uint64_t>({3, 6, 40});
    slots_.resize(2 + draw_.Below(5));
    if (!is_optimistic_) policy_ = static_cast<rocksdb::TxnDBWritePolicy>(draw_.Below(3));
    std::printf("seed %llu\noptimistic %d serial %d keys %d transactions %d policy %d\n",
                static_cast<unsigned long long>(seed), is_optimistic_, is_serial_,
                static_cast<int>(keys_), static_cast<int>(slots_.size()),
                static_cast<int>(policy_));
  }
  ~Program() {
    for (Slot& slot : slots_) End(&slot);
    for (size_t i = 1; i < families_.size(); i++) db_->DestroyColumnFamilyHandle(families_[i]);
    delete db_;
    rocksdb::DestroyDB(dir_, rocksdb::Options());
  }

  void Run() {
    Open();
    for (int step = 1; step <= kSteps; step++) {
      draw_ = Draw(seed_, 0, static_cast<uint64_t>(step));
      std::printf("%d ", step);
      Step();
    }
  }

 private:
  struct Slot {
    Transaction* transaction = nullptr;
    int save_points = 0;
    bool has_name = false;
    bool has_unindexed = false;  // updates that are not indexed
  };

  void Open() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.merge_operator = std::make_shared<Joiner>();
    options.max_write_buffer_size_to_maintain = 64 << 20;  // so that nothing is TryAgain
    std::vector<rocksdb::ColumnFamilyDescriptor> families{
        {rocksdb::kDefaultColumnFamilyName, options}};
    if (is_optimistic_) {
      rocksdb::OptimisticTransactionDBOptions occ;
      occ.validate_policy = is_serial_ ? rocksdb::OccValidationPolicy::kValidateSerial
                                       : rocksdb::OccValidationPolicy::kValidateParallel;
      occ.occ_lock_buckets = 1024;
      std::vector<rocksdb::ColumnFamilyHandle*> handles;
      Check(rocksdb::OptimisticTransactionDB::Open(rocksdb::DBOptions(options), occ, dir_, families,
                                                   &handles, &optimistic_));
      for (rocksdb::ColumnFamilyHandle* handle : handles) delete handle;
      db_ = optimistic_;
    } else {
      rocksdb::TransactionDBOptions locking;
      locking.transaction_lock_timeout = 0;
      locking.default_lock_timeout = 0;
      locking.write_policy = policy_;
      Check(rocksdb::TransactionDB::Open(options, locking, dir_, &pessimistic_));
      db_ = pessimistic_;
    }
    families_.push_back(db_->DefaultColumnFamily());
    families_.push_back(nullptr);
    rocksdb::ColumnFamilyOptions reverse(options);
    reverse.comparator = rocksdb::ReverseBytewiseComparator();
    Check(db_->CreateColumnFamily(reverse, "reverse", &families_[1]));
  }
  static void Check(const Status& status) {
    if (status.ok()) return;
    std::printf("unexpected: %s\n", status.ToString().c_str());
    std::fflush(stdout);
    std::exit(1);
  }

  std::string AnyKey() { return "k" + std::to_string(draw_.Below(keys_)); }
  std::string AnyValue() { return "v" + std::to_string(draw_.Below(1000)); }
  rocksdb::ColumnFamilyHandle* AnyFamily() { return families_[draw_.OneIn(4) ? 1 : 0]; }

  static bool IsPrepared(const Slot& slot) {
    return slot.transaction != nullptr && slot.transaction->GetState() == Transaction::PREPARED;
  }

  Status RollBack(const Slot& slot) {
    if (policy_ == rocksdb::WRITE_UNPREPARED && IsPrepared(slot)) {
      for (const Slot& other : slots_) {
        if (other.transaction != nullptr) other.transaction->ClearSnapshot();
      }
    }
    return slot.transaction->Rollback();
  }

  void End(Slot* slot) {
    if (IsPrepared(*slot)) Check(RollBack(*slot));
    delete slot->transaction;
    *slot = Slot();
  }

  void Begin(Slot* slot) {
    const bool is_reused = slot->transaction != nullptr && draw_.OneIn(2);
    if (!is_reused) {
      End(slot);
    } else if (IsPrepared(*slot)) {
      Check(RollBack(*slot));
    }
    Transaction* const old = slot->transaction;
    const bool with_snapshot = draw_.OneIn(2);
    rocksdb::WriteOptions write;
    if (is_optimistic_) {
      rocksdb::OptimisticTransactionOptions options;
      options.set_snapshot = with_snapshot;
      slot->transaction = optimistic_->BeginTransaction(write, options, old);
    } else {
      rocksdb::TransactionOptions options;
      options.set_snapshot = with_snapshot;
      options.skip_prepare = !draw_.OneIn(16);
      options.skip_concurrency_control = draw_.OneIn(24);
      if (draw_.OneIn(16)) options.max_write_batch_size = 60;
      slot->transaction = pessimistic_->BeginTransaction(write, options, old);
    }
    slot->save_points = 0;
    slot->has_name = slot->has_unindexed = false;
    std::printf("begin snapshot %d same %d\n", with_snapshot, slot->transaction == old);
  }

  void Tell(const char* what, const Status& status, const Transaction& transaction,
            const std::string& more = "") {
    std::printf(
        "%s %s %s keys %d puts %d deletes %d merges %d state %d\n", what, Show(status).c_str(),
        more.c_str(), static_cast<int>(transaction.GetNumKeys()),
        static_cast<int>(transaction.GetNumPuts()), static_cast<int>(transaction.GetNumDeletes()),
        static_cast<int>(transaction.GetNumMerges()), static_cast<int>(transaction.GetState()));
  }

  void Step() {
    if (draw_.OneIn(4)) return StepDatabase();
    Slot* const slot = &slots_[draw_.Below(slots_.size())];
    std::printf("t%d ", static_cast<int>(slot - slots_.data()));
    if (slot->transaction == nullptr || draw_.OneIn(20)) return Begin(slot);
    const Transaction::TransactionState state = slot->transaction->GetState();
    if (state == Transaction::COMMITTED || state == Transaction::ROLLEDBACK ||
        state == Transaction::AWAITING_COMMIT || draw_.OneIn(9)) {
      return Finish(slot);
    }
    if (state == Transaction::PREPARED) return Read(slot);
    switch (draw_.Below(8)) {
      case 0:
      case 1:
      case 2: return Write(slot);
      case 3:
      case 4: return ReadForUpdate(slot);
      case 5: return Read(slot);
      case 6: return SavePoint(slot);
      default: return Other(slot);
    }
  }

  void Finish(Slot* slot) {
    Transaction& transaction = *slot->transaction;
    switch (draw_.Below(6)) {
      case 0:
      case 1:
      case 2: Tell("commit", transaction.Commit(), transaction); break;
      case 3: Tell("rollback", RollBack(*slot), transaction); break;
      case 4: {
        if (!slot->has_name && draw_.OneIn(2)) {
          SetName(slot);
          break;
        }
        Tell("prepare", transaction.Prepare(), transaction);
        break;
      }
      default: Begin(slot);
    }
    const Transaction::TransactionState state = slot->transaction->GetState();
    if (state == Transaction::AWAITING_COMMIT) End(slot);
  }

  void SetName(Slot* slot) {
    const std::string name = draw_.OneIn(8) ? "" : "name" + std::to_string(draw_.Below(5));
    const Status status = slot->transaction->SetName(name);
    slot->has_name = slot->has_name || status.ok();
    Tell("name", status, *slot->transaction, slot->transaction->GetName());
  }

  void Write(Slot* slot) {
    Transaction& transaction = *slot->transaction;
    rocksdb::ColumnFamilyHandle* const family = AnyFamily();
    const std::string key = AnyKey(), value = AnyValue();
    switch (draw_.Below(9)) {
      case 0:
      case 1:
      case 2: return Tell("put", transaction.Put(family, key, value), transaction, key);
      case 3: return Tell("merge", transaction.Merge(family, key, value), transaction, key);
      case 4: return Tell("delete", transaction.Delete(family, key), transaction, key);
      case 5:
        return Tell("put untracked", transaction.PutUntracked(family, key, value), transaction,
                    key);
      case 6:
        return Tell("delete untracked", transaction.DeleteUntracked(family, key), transaction, key);
      case 7:
        return Tell("merge untracked", transaction.MergeUntracked(family, key, value), transaction,
                    key);
      default: {
        if (policy_ == rocksdb::WRITE_UNPREPARED) return Tell("none", Status(), transaction);
        rocksdb::WriteBatch batch;
        Check(batch.Put(family, key, value));
        Check(batch.Delete(AnyFamily(), AnyKey()));
        if (draw_.OneIn(4)) Check(batch.DeleteRange(AnyKey(), AnyKey()));
        return Tell("rebuild", transaction.RebuildFromWriteBatch(&batch), transaction, key);
      }
    }
  }

  void ReadForUpdate(Slot* slot) {
    Transaction& transaction = *slot->transaction;
    rocksdb::ColumnFamilyHandle* const family = AnyFamily();
    const std::string key = AnyKey();
    rocksdb::ReadOptions read;
    if (draw_.OneIn(3)) read.snapshot = transaction.GetSnapshot();
    std::string value;
    switch (draw_.Below(6)) {
      case 0: {
        const Status status = transaction.GetForUpdate(read, family, key, &value, false);
        return Tell("get shared", status, transaction, key + " " + value);
      }
      case 1: {
        const Status status =
            transaction.GetForUpdate(read, family, key, &value, /*exclusive=*/true, false);
        return Tell("get unvalidated", status, transaction, key + " " + value);
      }
      case 2: {
        std::vector<std::string> values;
        const std::vector<std::string> keys{key, AnyKey()};
        std::vector<Status> statuses = transaction.MultiGetForUpdate(
            read, {family, families_[0]}, {Slice(keys[0]), Slice(keys[1])}, &values);
        values.resize(2);
        return Tell(
            "multiget", statuses[0], transaction,
            keys[0] + " " + keys[1] + " " + Show(statuses[1]) + " " + values[0] + " " + values[1]);
      }
      case 3:
        transaction.UndoGetForUpdate(family, key);
        return Tell("undo", Status(), transaction, key);
      default: {
        const Status status = transaction.GetForUpdate(read, family, key, &value);
        return Tell("get for update", status, transaction, key + " " + value);
      }
    }
  }

  void Read(Slot* slot) {
    Transaction& transaction = *slot->transaction;
    rocksdb::ColumnFamilyHandle* const family = AnyFamily();
    rocksdb::ReadOptions read;
    const bool is_prepared = transaction.GetState() == Transaction::PREPARED;
    if (policy_ == rocksdb::WRITE_UNPREPARED && (is_prepared || slot->has_unindexed)) {
      return Tell("none", Status(), transaction);
    }
    if (draw_.OneIn(3)) read.snapshot = transaction.GetSnapshot();
    if (draw_.OneIn(2)) {
      const std::string key = AnyKey();
      std::string value;
      const Status status = transaction.Get(read, family, key, &value);
      return Tell("get", status, transaction, key + " " + value);
    }
    std::unique_ptr<rocksdb::Iterator> iterator(transaction.GetIterator(read, family));
    std::string seen;
    if (draw_.OneIn(2)) {
      for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
        seen += iterator->key().ToString() + "=" + iterator->value().ToString() + " ";
      }
    } else {
      for (iterator->SeekToLast(); iterator->Valid(); iterator->Prev()) {
        seen += iterator->key().ToString() + "=" + iterator->value().ToString() + " ";
      }
    }
    Tell("scan", iterator->status(), transaction, seen);
  }

  void SavePoint(Slot* slot) {
    Transaction& transaction = *slot->transaction;
    switch (draw_.Below(4)) {
      case 0:
        if (slot->has_unindexed) return Tell("none", Status(), transaction);
        return Tell("rollback to savepoint", transaction.RollbackToSavePoint(), transaction);
      case 1: return Tell("pop savepoint", transaction.PopSavePoint(), transaction);
      default: transaction.SetSavePoint(); return Tell("savepoint", Status(), transaction);
    }
  }

  void Other(Slot* slot) {
    Transaction& transaction = *slot->transaction;
    switch (draw_.Below(5)) {
      case 0: transaction.SetSnapshot(); break;
      case 1: transaction.ClearSnapshot(); break;
      case 2:
        // Taken by the write or cancelled: no commit meets one that is due, and no read one that
        // replaces its own.
        transaction.ClearSnapshot();
        transaction.SetSnapshotOnNextOperation();
        Write(slot);
        if (transaction.GetSnapshot() == nullptr) transaction.ClearSnapshot();
        break;
      case 3:
        if (policy_ != rocksdb::WRITE_COMMITTED) break;
        transaction.DisableIndexing();
        Write(slot);
        transaction.EnableIndexing();
        slot->has_unindexed = true;
        break;
      default: return SetName(slot);
    }
    Tell("set", Status(), transaction, transaction.GetSnapshot() == nullptr ? "-" : "snapshot");
  }

  void StepDatabase() {
    const rocksdb::WriteOptions write;
    rocksdb::ColumnFamilyHandle* const family = AnyFamily();
    const std::string key = AnyKey(), value = AnyValue();
    const auto tell = [](const char* what, const Status& status, const std::string& more = "") {
      std::printf("db %s %s %s\n", what, Show(status).c_str(), more.c_str());
    };
    switch (draw_.Below(12)) {
      case 0:
      case 1:
      case 2: return tell("put", db_->Put(write, family, key, value), key);
      case 3: return tell("delete", db_->Delete(write, family, key), key);
      case 4: return tell("merge", db_->Merge(write, family, key, value), key);
      case 5: {
        rocksdb::WriteBatch batch;
        Check(batch.Put(family, key, value));
        const std::string other = AnyKey();
        Check(batch.Put(families_[0], other, value));
        if (draw_.OneIn(6)) Check(batch.DeleteRange(families_[0], "a", "b"));
        return tell("write", db_->Write(write, &batch), key + " " + other);
      }
      case 6: return tell("delete range", db_->DeleteRange(write, family, "a", "b"));
      case 7: return tell("flush", db_->Flush(rocksdb::FlushOptions(), family));
      case 8:
        if (!draw_.OneIn(3)) break;
        return tell("compact",
                    db_->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr));
      case 9: {
        if (pessimistic_ == nullptr) break;
        std::vector<std::string> lines;
        for (const auto& [id, lock] : pessimistic_->GetLockStatusData()) {
          lines.push_back(std::to_string(id) + lock.key + (lock.exclusive ? "x" : "s") +
                          std::to_string(lock.ids.size()));
        }
        std::sort(lines.begin(), lines.end());
        std::string all;
        for (const std::string& line : lines) all += line + " ";
        return tell("locks", Status(), all);
      }
      case 10: {
        if (pessimistic_ == nullptr) break;
        std::vector<Transaction*> prepared;
        pessimistic_->GetAllPreparedTransactions(&prepared);
        std::vector<std::string> names;
        for (Transaction* transaction : prepared) names.push_back(transaction->GetName());
        std::sort(names.begin(), names.end());
        std::string all;
        for (const std::string& name : names) all += name + " ";
        return tell("prepared", Status(), all);
      }
      default: break;
    }
    std::string found;
    const Status status = db_->Get(rocksdb::ReadOptions(), family, key, &found);
    tell("get", status, key + " " + found);
  }

  const std::string dir_;
  const uint64_t seed_;
  Draw draw_;
  bool is_optimistic_ = false, is_serial_ = false;
  rocksdb::TxnDBWritePolicy policy_ = rocksdb::WRITE_COMMITTED;
  uint64_t keys_ = 0;
  std::vector<Slot> slots_;
  rocksdb::DB* db_ = nullptr;  // one of the next two
  rocksdb::TransactionDB* pessimistic_ = nullptr;
  rocksdb::OptimisticTransactionDB* optimistic_ = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace
}  // namespace differential

int main(int argc, char** argv) {
  if (argc != 5 || std::strcmp(argv[1], "run") != 0) {
    std::fprintf(stderr, "usage: %s run DIR FIRST LAST\n", argv[0]);
    return 2;
  }
  const std::string dir = argv[2];
  const uint64_t first = std::strtoull(argv[3], nullptr, 10);
  const uint64_t last = std::strtoull(argv[4], nullptr, 10);
  for (uint64_t seed = first; seed <= last; seed++) {
    differential::Program(seed, dir + "/" + std::to_string(seed)).Run();
  }
  return 0;
}
