// SPDX-License-Identifier: Apache-2.0
//
// OptimisticDb hands out optimistic transactions, and lets its own writes take the buckets of their
// keys, so that none slips between the check of a commit and its write.
#pragma once

#include <memory>

#include "ashlar/utilities/optimistic_transaction_db.h"
#include "db/transaction/base/guarded_writes.h"
#include "db/transaction/locks/key_locks.h"
#include "db/transaction/optimistic/lock_buckets.h"
#include "db/write/commit_pipeline.h"
#include "util/scope_exit.h"

namespace ashlar {

class OptimisticDb final : public GuardedWrites<OptimisticDb, OptimisticTransactionDB> {
 public:
  OptimisticDb(std::unique_ptr<DB> db, const OptimisticTransactionDBOptions& options);

  Transaction* BeginTransaction(const WriteOptions& write_options,
                                const OptimisticTransactionOptions& options,
                                Transaction* old_txn) override;

 private:
  friend class GuardedWrites<OptimisticDb, OptimisticTransactionDB>;

  // The buckets of a batch, until its commit is visible.
  class HeldWrite final : public CommitHook {
   public:
    explicit HeldWrite(LockBuckets* buckets) : held(buckets) {}
    void OnVisible(SequenceNumber, SequenceNumber) override { held.Unlock(); }
    HeldBuckets held;
  };

  DBImpl* engine() { return impl_; }
  static Status RefuseRange();
  void FamilyCreated(ColumnFamilyHandle*) {}
  // The buckets of all keys. Refuses what has no key.
  Status HoldBucketsOf(const WriteBatch& batch, HeldBuckets* held) const;

  template <typename WriteOne>
  Status Guard(ColumnFamilyHandle* family, const Slice& key, const WriteOne& write) {
    if (buckets_ == nullptr) return write();
    const uint32_t id = family == nullptr ? 0 : family->GetID();
    const uint32_t bucket = buckets_->IndexOf(KeyLock::Hash(id, key));
    buckets_->Lock(bucket);
    const ScopeExit unlock([&] { buckets_->Unlock(bucket); });  // code of the program may throw
    return write();
  }
  template <typename WriteAll>
  Status GuardAll(const WriteBatch& batch, const WriteAll& write) {
    HeldWrite held(buckets_);
    RETURN_IF_ERROR(HoldBucketsOf(batch, &held.held));
    return write(&held);
  }

  // The engine under `db_`, which owns it.
  DBImpl* const impl_;
  // The program may give several databases one array, so the ownership is shared.
  std::shared_ptr<OccLockBuckets> shared_buckets_;
  LockBuckets* buckets_ = nullptr;  // null: commits are checked one at a time, against all writers
};

}  // namespace ashlar
