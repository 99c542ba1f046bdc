// SPDX-License-Identifier: Apache-2.0
//
// The clock of a database for locks: its SystemClock, and futexes.
//
// In a simulated database there is one thread, and time passes only if somebody sleeps. A wait
// there must advance the clock, or it would never end.
#include <algorithm>

#include "ashlar/system_clock.h"
#include "db/transaction/locks/key_locks.h"
#include "util/result.h"
#include "util/threads/futex.h"
#include "util/threads/simulated.h"

namespace ashlar {

namespace {

class SystemLockClock final : public LockClock {
 public:
  explicit SystemLockClock(SystemClock* clock) : clock_(clock) {}

  uint64_t NowMicros() override { return clock_->NowNanos() / 1000; }
  // A clock that fails gives 0, that is 1970.
  int64_t UnixSeconds() override {
    int64_t seconds = 0;
    IgnoreError(clock_->GetCurrentTime(&seconds), "a history without times is still one");
    return seconds;
  }
  void Wait(const std::atomic<uint32_t>* word, uint32_t expected, uint64_t deadline) override {
    if (deadline == kNoDeadline && !IsSimulated()) return FutexWait(*word, expected);
    const uint64_t now = NowMicros();
    if (now >= deadline) return;
    if (IsSimulated()) {  // the only thread: time must pass
      clock_->SleepForMicroseconds(static_cast<int>(std::min<uint64_t>(deadline - now, 1'000'000)));
    } else {
      FutexWaitFor(*word, expected, deadline - now);
    }
  }
  void Wake(const std::atomic<uint32_t>* word) override { FutexWakeAll(*word); }

 private:
  SystemClock* const clock_;
};

}  // namespace

std::unique_ptr<LockClock> NewLockClock(SystemClock* clock) {
  return std::make_unique<SystemLockClock>(clock);
}

}  // namespace ashlar
