// SPDX-License-Identifier: Apache-2.0
//
// LockWaiter is one wait for a lock. It lives on the stack of the waiting thread, which returns as
// soon as it sees an outcome: setting the outcome is the last access of any other thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "db/transaction/locks/key_locks.h"

namespace ashlar {

class LockWaiter {
 public:
  // kWaiting is 0, the value for which SleepUntil() waits to change. The outcome changes at most
  // once.
  enum Outcome : uint32_t { kWaiting, kGranted, kDeadlock };

  // The thread of `owner` makes the object. A lock that is held already is upgraded from shared to
  // exclusive.
  LockWaiter(LockOwner* owner, KeyLock* lock, LockMode mode)
      : owner(owner),
        lock(lock),
        mode(mode),
        is_upgrade(lock->mode() != LockMode::kNone),
        detects(owner->deadlock_detect) {}
  LockWaiter(const LockWaiter&) = delete;
  LockWaiter& operator=(const LockWaiter&) = delete;

  bool IsWaiting() const { return outcome.load(std::memory_order_acquire) == kWaiting; }

  LockOwner* const owner;
  KeyLock* const lock;
  const LockMode mode;
  const bool is_upgrade;  // the owner holds the key in shared mode
  // The owner wants deadlocks to be detected, so this wait may be chosen as the victim.
  const bool detects;

  bool searches_at_once = false;  // a cycle is certain: it upgrades behind another upgrade
  bool may_be_short = false;      // the holder is ending

  // Everything below is guarded by the lock of the key's shard, but its own thread may read the
  // outcome at any time, and the rest when there is one.
  std::atomic<uint32_t> outcome{kWaiting};
  TransactionID blocker = 0;  // an owner that it has waited for, when the wait failed
  // With the outcome kDeadlock: what its own thread adds to the history before it returns.
  std::unique_ptr<DeadlockPath> deadlock;
  LockWaiter* next = nullptr;  // in the queue of the key
  LockWaiter* previous = nullptr;
  LockWaiter* next_in_shard = nullptr;
  LockWaiter* previous_in_shard = nullptr;
};

}  // namespace ashlar
