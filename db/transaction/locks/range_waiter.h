// SPDX-License-Identifier: Apache-2.0
//
// RangeWaiter is one wait for a range. It lives on the stack of the waiting thread, which returns
// as soon as it sees an outcome: setting that is the last access of any other thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "db/transaction/locks/range_tree.h"

namespace ashlar {

class RangeWaiter {
 public:
  // kWaiting is 0, the value for which SleepUntil() waits to change. The outcome changes at most
  // once.
  enum Outcome : uint32_t { kWaiting, kGranted, kDeadlock };

  RangeWaiter() = default;
  RangeWaiter(const RangeWaiter&) = delete;
  RangeWaiter& operator=(const RangeWaiter&) = delete;

  bool IsWaiting() const { return outcome.load(std::memory_order_acquire) == kWaiting; }

  // The request. It is moved into the tree when it is granted, and is null then. Like all members
  // it is guarded by the mutex of the RangeLocks; only the outcome may be read at any time by the
  // waiter's own thread.
  std::unique_ptr<RangeLock> wanted;  // null: granted
  std::atomic<uint32_t> outcome{kWaiting};
  TransactionID blocker = 0;  // an owner that it waits for
  // With the outcome kGranted: the range as it was granted. It may have been joined with others of
  // its owner since, and be gone.
  const RangeLock* granted = nullptr;
  // With the outcome kDeadlock: what its own thread adds to the history before it returns.
  std::unique_ptr<RangeDeadlockPath> deadlock;
};

}  // namespace ashlar
