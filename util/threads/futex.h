// SPDX-License-Identifier: Apache-2.0
//
// Waits for a number to change, directly in the kernel. std::atomic's wait() first yields several
// times, so that the thread is scheduled after all threads that compute; threads that wait for the
// disk should not do that. Threads: any.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace ashlar {

// Returns when another thread has called FutexWakeAll(), immediately if the number is not
// `expected`, and sometimes without reason.
inline void FutexWait(const std::atomic<uint32_t>& number, uint32_t expected) {
  static_assert(sizeof(number) == sizeof(uint32_t));
  syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
// The same; also returns after `micros` microseconds.
inline void FutexWaitFor(const std::atomic<uint32_t>& number, uint32_t expected, uint64_t micros) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(micros / 1'000'000);
  timeout.tv_nsec = static_cast<long>(micros % 1'000'000 * 1000);
  syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0);
}
// Called after the number was changed.
inline void FutexWakeAll(const std::atomic<uint32_t>& number) {
  syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ashlar
