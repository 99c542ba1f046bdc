// SPDX-License-Identifier: Apache-2.0
//
// ManualClock is a clock that only a test moves. Sleeps and timed waits move it and return, so that
// no test waits for real time. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "ashlar/system_clock.h"

namespace ashlar {

class ManualClock : public SystemClock {
 public:
  explicit ManualClock(uint64_t now_micros) : now_(now_micros) {}

  const char* Name() const override { return "ManualClock"; }
  uint64_t NowMicros() override { return now_.load(); }
  void SleepForMicroseconds(int micros) override { Advance(static_cast<uint64_t>(micros)); }
  bool TimedWait(port::CondVar*, std::chrono::microseconds deadline) override {
    const auto until = static_cast<uint64_t>(deadline.count());
    if (now_.load() < until) now_.store(until);
    return true;
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    *unix_time = static_cast<int64_t>(now_.load() / 1000000);
    return Status::OK();
  }
  std::string TimeToString(uint64_t time) override { return std::to_string(time); }

  void Advance(uint64_t micros) { now_.fetch_add(micros); }

 private:
  std::atomic<uint64_t> now_;
};

}  // namespace ashlar
