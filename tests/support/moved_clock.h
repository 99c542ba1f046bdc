// SPDX-License-Identifier: Apache-2.0
//
// MovedClock is the system clock plus an offset that the test sets.
#pragma once

#include <atomic>
#include <cstdint>

#include "ashlar/system_clock.h"

namespace ashlar {

class MovedClock final : public SystemClockWrapper {
 public:
  MovedClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "MovedClock"; }
  Status GetCurrentTime(int64_t* seconds) override {
    times_asked++;
    const Status status = SystemClockWrapper::GetCurrentTime(seconds);
    *seconds += moved_by_seconds;
    return status;
  }
  uint64_t NowMicros() override {
    return SystemClockWrapper::NowMicros() + static_cast<uint64_t>(moved_by_seconds) * 1'000'000;
  }
  std::atomic<int64_t> moved_by_seconds{0};
  std::atomic<uint64_t> times_asked{0};  // by GetCurrentTime()
};

}  // namespace ashlar
