// SPDX-License-Identifier: Apache-2.0
//
// The transaction as the lock table sees it. It keeps its address when the transaction is handed
// over to another object, and decides between a thief and a transaction that leaves STARTED.
#pragma once

#include <atomic>
#include <cstdint>

#include "ashlar/utilities/transaction.h"
#include "db/transaction/locks/key_locks.h"

namespace ashlar {

class TransactionOwner final : public LockOwner {
 public:
  explicit TransactionOwner(TransactionID id) : LockOwner(id) {}

  // From now on locks may be stolen, of which the transaction is told by its state: the caller has
  // set that to STARTED if locks are held.
  void Open(Transaction* transaction) {
    transaction_ = transaction;
    phase_.store(Phase::kOpen, std::memory_order_release);
  }
  // Locks cannot be stolen any more. False: they were.
  [[nodiscard]] bool Close() {
    Phase open = Phase::kOpen;
    return phase_.compare_exchange_strong(open, Phase::kClosed, std::memory_order_acq_rel) ||
           open == Phase::kClosed;
  }

  bool StealLocks() override {
    Phase open = Phase::kOpen;
    if (!phase_.compare_exchange_strong(open, Phase::kStolen, std::memory_order_acq_rel)) {
      return open == Phase::kStolen;
    }
    transaction_->SetState(Transaction::LOCKS_STOLEN);
    return true;
  }

 private:
  // kOpen: locks may be stolen. kClosed: they may not (not begun, prepared, or ending). kStolen:
  // they were; this is final until the next Open().
  enum class Phase : uint8_t { kOpen, kClosed, kStolen };

  // Decides the race: both sides try to change kOpen, and only one of them succeeds.
  std::atomic<Phase> phase_{Phase::kClosed};
  Transaction* transaction_ = nullptr;  // used by a thief only while the phase was kOpen
};

}  // namespace ashlar
