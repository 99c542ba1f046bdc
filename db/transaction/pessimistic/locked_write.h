// SPDX-License-Identifier: Apache-2.0
//
// LockedWrite owns the locks of one write of the database itself, until the write is visible or the
// object is destroyed. Threads: one.
#pragma once

#include <memory>

#include "ashlar/write_batch.h"
#include "db/transaction/locks/key_locks.h"
#include "db/transaction/pessimistic/pessimistic_state.h"
#include "db/write/commit_pipeline.h"

namespace ashlar {

class LockedWrite final : public LockOwner, public CommitHook {
 public:
  explicit LockedWrite(const PessimisticState& state);
  // Releases what OnVisible() has not released: all locks, if the write has failed before it was
  // visible.
  ~LockedWrite() override { locks_->ReleaseAll(this); }

  Status Lock(KeyLock* lock) { return locks_->Acquire(this, lock, LockMode::kExclusive); }
  // Locks all keys of the batch, whose bytes the locks refer to: the batch outlives the locks. The
  // locks are in *key_locks, which must outlive this object. InvalidArgument if the batch deletes a
  // range.
  Status LockAll(const WriteBatch& batch, std::unique_ptr<KeyLock[]>* key_locks);
  void OnVisible(SequenceNumber, SequenceNumber) override { locks_->ReleaseAll(this); }

 private:
  // The table of the database, which outlives the write.
  KeyLocks* const locks_;
};

}  // namespace ashlar
