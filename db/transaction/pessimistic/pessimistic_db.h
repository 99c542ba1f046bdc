// SPDX-License-Identifier: Apache-2.0
//
// PessimisticDb is a TransactionDB: it hands out transactions, locks the keys of its own writes,
// and owns the transactions that were prepared before it was opened.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/utilities/transaction_db.h"
#include "db/state/prepared_logs.h"
#include "db/transaction/base/guarded_writes.h"
#include "db/transaction/pessimistic/locked_write.h"
#include "db/transaction/pessimistic/pessimistic_state.h"

namespace ashlar {

class PessimisticDb final : public GuardedWrites<PessimisticDb, TransactionDB> {
 public:
  // Refuses options of transactions that are not built, or that do not go together with the options
  // of the database. OK means that all of them have their documented effect.
  static Status CheckOptions(const TransactionDBOptions& options, const DBOptions& db_options);
  // Takes the database over, on failure too: then it is closed, behind close_handles().
  static Status Wrap(DB* db, const TransactionDBOptions& options,
                     const std::vector<size_t>& compaction_enabled_cf_indices,
                     const std::vector<ColumnFamilyHandle*>& handles,
                     const std::function<void()>& close_handles, TransactionDB** dbptr);
  // Takes the database over, whose engine is `impl`.
  PessimisticDb(DB* db, DBImpl* impl, const TransactionDBOptions& options);
  ~PessimisticDb() override;
  // Makes the undecided sections that were found in the logs transactions again.
  Status Recover();

  Transaction* BeginTransaction(const WriteOptions& write_options,
                                const TransactionOptions& options, Transaction* old_txn) override;
  Transaction* GetTransactionByName(const TransactionName& name) override;
  void GetAllPreparedTransactions(std::vector<Transaction*>* transactions) override;
  std::unordered_multimap<uint32_t, KeyLockInfo> GetLockStatusData() override;
  std::vector<DeadlockPath> GetDeadlockInfoBuffer() override;
  void SetDeadlockInfoBufferSize(uint32_t target_size) override;

  std::pair<Status, std::shared_ptr<const Snapshot>> CreateTimestampedSnapshot(
      TxnTimestamp ts) override;
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot(TxnTimestamp ts) const override;
  void ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) override;
  Status GetTimestampedSnapshots(
      TxnTimestamp ts_lb, TxnTimestamp ts_ub,
      std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const override;

  using GuardedWrites::Write;
  Status Write(const WriteOptions& options, const TransactionDBWriteOptimizations& optimizations,
               WriteBatch* updates) override;

  using TransactionDB::DropColumnFamily;
  using TransactionDB::GetProperty;
  Status DropColumnFamily(ColumnFamilyHandle* family) override;
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families) override;
  bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) override;

 private:
  friend class GuardedWrites<PessimisticDb, TransactionDB>;

  DBImpl* engine() { return state_->db; }
  static Status RefuseRange() {
    return Status::NotSupported("TransactionDB::DeleteRange: the keys of a range cannot be locked");
  }
  // Called when a family was created: a manager of range locks needs its comparator.
  void FamilyCreated(ColumnFamilyHandle* family) { AddFamilies({family}); }
  // Holds the exclusive lock of the key while `write` runs. The lock belongs to an owner that
  // exists for this call only.
  template <typename WriteOne>
  Status Guard(ColumnFamilyHandle* family, const Slice& key, const WriteOne& write) {
    if (state_->options.skip_concurrency_control) return write();
    KeyLock lock(family == nullptr ? 0 : family->GetID(), key);
    LockedWrite owner(*state_);
    RETURN_IF_ERROR(owner.Lock(&lock));
    return write();
  }
  // The same for all keys of a batch; the hook of `write` is the owner, which releases the locks
  // when the commit is visible.
  template <typename WriteAll>
  Status GuardAll(const WriteBatch& batch, const WriteAll& write) {
    if (state_->options.skip_concurrency_control) return write(nullptr);
    std::unique_ptr<KeyLock[]> key_locks;
    LockedWrite owner(*state_);
    RETURN_IF_ERROR(owner.LockAll(batch, &key_locks));
    return write(&owner);
  }

  void AddFamilies(const std::vector<ColumnFamilyHandle*>& families);
  // The text of the property "ashlar.transactions".
  std::string DescribeTransactions() const;

  const std::unique_ptr<PessimisticState> state_;
  // Sections that no transaction has taken over, as opening failed.
  std::vector<std::unique_ptr<OwnedSection>> recovered_;
};

}  // namespace ashlar
