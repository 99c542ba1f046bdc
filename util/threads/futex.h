// SPDX-License-Identifier: Apache-2.0
//
// Waiting for a number to change, at once in the kernel. std::atomic's wait() yields some times
// first, by which a thread falls behind all that compute: many that wait for the disk should not.
//
// Threads: any.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace ashlar {

// Returns when somebody has woken those who wait; also at once, where the number is another one,
// and at times for no reason.
inline void FutexWait(const std::atomic<uint32_t>& number, uint32_t expected) {
  static_assert(sizeof(number) == sizeof(uint32_t));
  syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
// The same; also when so many microseconds have passed.
inline void FutexWaitFor(const std::atomic<uint32_t>& number, uint32_t expected, uint64_t micros) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(micros / 1'000'000);
  timeout.tv_nsec = static_cast<long>(micros % 1'000'000 * 1000);
  syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}
// After the number was changed.
inline void FutexWakeAll(const std::atomic<uint32_t>& number) {
  syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ashlar
