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
  ~LockedWrite() override { locks_->ReleaseAll(this); }

  Status Lock(KeyLock* lock) { return locks_->Acquire(this, lock, LockMode::kExclusive); }
  // All keys of the batch, which outlives the locks. *key_locks outlives this object.
  // InvalidArgument if the batch deletes a range.
  Status LockAll(const WriteBatch& batch, std::unique_ptr<KeyLock[]>* key_locks);
  void OnVisible(SequenceNumber, SequenceNumber) override { locks_->ReleaseAll(this); }

 private:
  KeyLocks* const locks_;
};

}  // namespace ashlar
