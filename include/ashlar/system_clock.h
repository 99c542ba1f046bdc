// SPDX-License-Identifier: Apache-2.0
//
// SystemClock is the only source of time in the engine: replace it and the engine lives in your
// time. All members may be called from any thread.
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

class ASHLAR_EXPORT SystemClock : public Customizable {
 public:
  ~SystemClock() override;

  static const char* Type() { return "SystemClock"; }
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<SystemClock>* result);
  const char* Name() const override = 0;
  static const char* kDefaultName() { return "DefaultClock"; }

  // The machine's clock; lives for ever.
  static const std::shared_ptr<SystemClock>& Default();

  // Microseconds since some fixed point (the Unix epoch for the default clock). May jump when the
  // machine's time is set: good for stamps, not for intervals.
  virtual uint64_t NowMicros() = 0;

  // Nanoseconds since some fixed point; never goes back in the default clock.
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }

  // CPU time of the calling thread; 0 where it is not known.
  virtual uint64_t CPUMicros() { return 0; }
  virtual uint64_t CPUNanos() { return CPUMicros() * 1000; }

  virtual void SleepForMicroseconds(int micros) = 0;

  // Waits on `cv` until it is signalled or NowMicros() reaches `deadline`. True = timed out.
  virtual bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline);

  // Seconds since the Unix epoch.
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;

  // `time`: seconds since the Unix epoch; answers like 2024/02/29-12:34:56, local time.
  virtual std::string TimeToString(uint64_t time) = 0;
};

// Forwards everything to another clock: derive from it to change a few members.
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
