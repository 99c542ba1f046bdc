// SPDX-License-Identifier: Apache-2.0
//
// How a waiter sleeps until it has an outcome, by the clock's own means or by a custom mutex and
// condition variable.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "db/transaction/locks/key_locks.h"

namespace ashlar {

// Negative: kNoDeadline.
inline uint64_t DeadlineAfter(uint64_t now, int64_t micros) {
  if (micros < 0) return kNoDeadline;
  const uint64_t span = static_cast<uint64_t>(micros);
  return span < kNoDeadline - now ? now + span : kNoDeadline;
}

// Returns when `outcome` may be something else than 0, or at `until`. Whoever sets the outcome
// wakes the word through the clock, or holds `mutex` and notifies `condition` if these are not
// null. Neither the mutex nor another lock is held.
//
// An error is one of the custom condition variable and ends the wait. TimedOut before the time is
// such an error: the program ends waits by it.
Status SleepUntil(LockClock* clock, const std::atomic<uint32_t>& outcome, uint64_t until,
                  const std::shared_ptr<TransactionDBMutex>& mutex,
                  const std::shared_ptr<TransactionDBCondVar>& condition);

}  // namespace ashlar
