// SPDX-License-Identifier: Apache-2.0
//
// SystemClock is the only source of time for the engine. A program can replace it, for example in
// tests. Thread safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/port_defs.h"
#include "ashlar/status.h"

namespace ashlar {

struct ConfigOptions;

namespace port {
class CondVar;
}  // namespace port

// The source of time for the engine.
class ASHLAR_EXPORT SystemClock : public Customizable {
 public:
  ~SystemClock() override;

  static const char* Type() { return "SystemClock"; }
  // Returns the built-in clock with this name.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<SystemClock>* result);
  const char* Name() const override = 0;
  static const char* kDefaultName() { return "DefaultClock"; }

  // The clock of the machine. Never destroyed.
  static const std::shared_ptr<SystemClock>& Default();

  // Microseconds since a fixed point in time; for the default clock, since the Unix epoch. May jump
  // when the time of the machine is set: use it for timestamps, not for intervals.
  virtual uint64_t NowMicros() = 0;

  // Nanoseconds since a fixed point in time. The default clock never goes back.
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }

  // CPU time of the calling thread; 0 if unknown.
  virtual uint64_t CPUMicros() { return 0; }
  virtual uint64_t CPUNanos() { return CPUMicros() * 1000; }

  virtual void SleepForMicroseconds(int micros) = 0;

  // Waits on `cv` until it is signalled or until NowMicros() reaches `deadline`. Returns true if
  // the deadline was reached.
  virtual bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline);

  // Returns the seconds since the Unix epoch.
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;

  // Formats a time, given in seconds since the Unix epoch, as local time: 2024/02/29-12:34:56.
  virtual std::string TimeToString(uint64_t time) = 0;
};

// Forwards all calls to another clock. Derive from it to override some of the functions.
class ASHLAR_EXPORT SystemClockWrapper : public SystemClock {
 public:
  explicit SystemClockWrapper(const std::shared_ptr<SystemClock>& t);
  ~SystemClockWrapper() override;

  uint64_t NowMicros() override { return target_->NowMicros(); }
  uint64_t NowNanos() override { return target_->NowNanos(); }
  uint64_t CPUMicros() override { return target_->CPUMicros(); }
  uint64_t CPUNanos() override { return target_->CPUNanos(); }
  void SleepForMicroseconds(int micros) override { target_->SleepForMicroseconds(micros); }
  bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline) override {
    return target_->TimedWait(cv, deadline);
  }
  Status GetCurrentTime(int64_t* unix_time) override { return target_->GetCurrentTime(unix_time); }
  std::string TimeToString(uint64_t time) override { return target_->TimeToString(time); }
  const Customizable* Inner() const override { return target_.get(); }

 protected:
  std::shared_ptr<SystemClock> target_;
};

}  // namespace ashlar
