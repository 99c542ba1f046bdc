// SPDX-License-Identifier: Apache-2.0
#include "db/transaction/locks/lock_sleep.h"

#include "util/scope_exit.h"

namespace ashlar {

namespace {

// A condition variable of a custom factory may measure time a little differently.
constexpr uint64_t kClockDifferenceMicros = 1000;

}  // namespace

// With a custom factory the outcome is read again under the mutex: who sets it holds this mutex, so
// the wake-up cannot come between the look and the wait.
Status SleepUntil(LockClock* clock, const std::atomic<uint32_t>& outcome, uint64_t until,
                  const std::shared_ptr<TransactionDBMutex>& mutex,
                  const std::shared_ptr<TransactionDBCondVar>& condition) {
  if (mutex == nullptr) {
    clock->Wait(&outcome, 0, until);
    return Status::OK();
  }
  Status status = mutex->Lock();
  if (!status.ok()) return status;
  {
    // The program's condition variable may throw, with the mutex locked.
    const ScopeExit unlock([&mutex] { mutex->UnLock(); });
    if (outcome.load(std::memory_order_acquire) == 0) {
      const uint64_t now = clock->NowMicros();
      if (until == kNoDeadline) {
        status = condition->Wait(mutex);
      } else if (now < until) {
        status = condition->WaitFor(mutex, static_cast<int64_t>(until - now));
      }
    }
  }
  if (!status.IsTimedOut() || until == kNoDeadline) return status;
  return clock->NowMicros() + kClockDifferenceMicros >= until ? Status::OK() : status;
}

}  // namespace ashlar
