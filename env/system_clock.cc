// SPDX-License-Identifier: Apache-2.0
//
// The clock interface and the machine's own clock.
#include "ashlar/system_clock.h"

#include <time.h>

#include <cerrno>

#include "env/port_cond_var.h"

namespace ashlar {

SystemClock::~SystemClock() = default;

// The deadline is a time of day. Returns true if it has passed.
bool SystemClock::TimedWait(port::CondVar* cv, std::chrono::microseconds deadline) {
  const uint64_t now = NowMicros();
  const auto until = static_cast<uint64_t>(deadline.count());
  return now >= until || cv->WaitFor(until - now);
}

SystemClockWrapper::SystemClockWrapper(const std::shared_ptr<SystemClock>& t) : target_(t) {}
SystemClockWrapper::~SystemClockWrapper() = default;

namespace {

// The calls cannot fail for the clocks used here.
uint64_t ReadClockNanos(clockid_t clock) {
  struct timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

class PosixClock : public SystemClock {
 public:
  const char* Name() const override { return kDefaultName(); }

  uint64_t NowMicros() override { return ReadClockNanos(CLOCK_REALTIME) / 1000; }
  uint64_t NowNanos() override { return ReadClockNanos(CLOCK_MONOTONIC); }
  uint64_t CPUMicros() override { return CPUNanos() / 1000; }
  uint64_t CPUNanos() override { return ReadClockNanos(CLOCK_THREAD_CPUTIME_ID); }

  void SleepForMicroseconds(int micros) override {
    if (micros <= 0) return;
    // A signal that interrupts the sleep leaves the rest in `left`.
    struct timespec left = {micros / 1000000, (micros % 1000000) * 1000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
  }

  Status GetCurrentTime(int64_t* unix_time) override {
    const time_t now = time(nullptr);
    if (now == static_cast<time_t>(-1)) {
      return Status::IOError("time: the system has no time of day");
    }
    *unix_time = now;
    return Status::OK();
  }

  // `time` is in seconds since 1970; local time.
  std::string TimeToString(uint64_t time) override {
    const auto seconds = static_cast<time_t>(time);
    struct tm parts = {};
    localtime_r(&seconds, &parts);
    char text[64];
    const size_t size = strftime(text, sizeof(text), "%Y/%m/%d-%H:%M:%S", &parts);
    return std::string(text, size);
  }
};

}  // namespace

// Never destroyed, because threads may still read the clock while the process ends.
const std::shared_ptr<SystemClock>& SystemClock::Default() {
  static const auto* clock = new std::shared_ptr<SystemClock>(std::make_shared<PosixClock>());
  return *clock;
}

}  // namespace ashlar
