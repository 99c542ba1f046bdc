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

// The moment that is `micros` after `now`; kNoDeadline if `micros` is negative, or if the sum would
// be greater than all moments.
inline uint64_t DeadlineAfter(uint64_t now, int64_t micros) {
  if (micros < 0) return kNoDeadline;
  const uint64_t span = static_cast<uint64_t>(micros);
  return span < kNoDeadline - now ? now + span : kNoDeadline;
}

// Returns when `outcome` may be something else than 0, or at `until`. The thread that sets the
// outcome wakes the word through the clock; if `mutex` and `condition` are not null, it holds
// `mutex` instead and notifies `condition`. The caller holds neither the mutex nor any other lock.
//
// An error comes from the custom condition variable and ends the wait. TimedOut before `until` is
// such an error too: by it the program's condition variable ends waits early.
Status SleepUntil(LockClock* clock, const std::atomic<uint32_t>& outcome, uint64_t until,
                  const std::shared_ptr<TransactionDBMutex>& mutex,
                  const std::shared_ptr<TransactionDBCondVar>& condition);

}  // namespace ashlar
