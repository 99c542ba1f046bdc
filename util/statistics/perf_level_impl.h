// SPDX-License-Identifier: Apache-2.0
//
// Counting and timing into the calling thread's PerfContext, as its PerfLevel asks. A hot operation
// keeps its own counts and adds them here once.
#pragma once

#include <cstdint>

#include "ashlar/iostats_context.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/system_clock.h"

namespace ashlar {

extern constinit thread_local PerfLevel this_thread_perf_level;
// Whether a point read has more to do for the thread's PerfContext than to add its own counters:
// times, or counters by level.
extern constinit thread_local bool this_thread_measures_reads;

inline bool CountsPerf() { return this_thread_perf_level >= kEnableCount; }
inline bool TimesPerf() { return this_thread_perf_level >= kEnableTimeExceptForMutex; }
inline bool TimesCpu() { return this_thread_perf_level >= kEnableTimeAndCPUTimeExceptForMutex; }

// The thread's counters of a level, which enters the map when something is first counted there;
// null where they are not counted. A hot operation looks at this_thread_measures_reads first.
PerfContextByLevel* PerfOfLevel(int level);

inline void AddPerfCount(uint64_t PerfContextBase::*counter, uint64_t count = 1) {
  if (CountsPerf() && count != 0) get_perf_context()->*counter += count;
}

// Adds the nanoseconds of its own life to a counter, if times are measured. `Nanos` is the clock's.
template <uint64_t (SystemClock::*Nanos)()>
class LifeTimer {
 public:
  LifeTimer(const LifeTimer&) = delete;
  LifeTimer& operator=(const LifeTimer&) = delete;

 protected:
  // No clock, no measurement.
  LifeTimer(SystemClock* clock, uint64_t PerfContextBase::*counter)
      : clock_(clock), counter_(counter), start_(clock != nullptr ? (clock->*Nanos)() : 0) {}
  ~LifeTimer() {
    if (clock_ != nullptr) get_perf_context()->*counter_ += (clock_->*Nanos)() - start_;
  }

 private:
  SystemClock* clock_;
  uint64_t PerfContextBase::*counter_;
  uint64_t start_;
};

class PerfTimer : LifeTimer<&SystemClock::NowNanos> {
 public:
  explicit PerfTimer(uint64_t PerfContextBase::*counter)
      : LifeTimer(TimesPerf() ? SystemClock::Default().get() : nullptr, counter) {}
  PerfTimer(SystemClock* clock, uint64_t PerfContextBase::*counter)
      : LifeTimer(TimesPerf() ? clock : nullptr, counter) {}
};

// The same for the CPU time of the thread.
class CpuTimer : LifeTimer<&SystemClock::CPUNanos> {
 public:
  explicit CpuTimer(uint64_t PerfContextBase::*counter)
      : LifeTimer(TimesCpu() ? SystemClock::Default().get() : nullptr, counter) {}
};

// Bytes that went to or came from a file, for the thread's IOStatsContext.
inline void AddIoBytes(uint64_t IOStatsContext::*counter, uint64_t bytes) {
  if (!CountsPerf()) return;
  IOStatsContext* const context = get_iostats_context();
  if (!context->disable_iostats) context->*counter += bytes;
}

// Adds the nanoseconds of its own life to a counter of it, and the CPU time of the thread to
// another one, if times are measured.
class IoTimer {
 public:
  explicit IoTimer(uint64_t IOStatsContext::*counter,
                   uint64_t IOStatsContext::*cpu_counter = nullptr)
      : clock_(TimesPerf() ? SystemClock::Default().get() : nullptr),
        counter_(counter),
        cpu_counter_(TimesCpu() ? cpu_counter : nullptr),
        start_nanos_(clock_ != nullptr ? clock_->NowNanos() : 0),
        start_cpu_nanos_(cpu_counter_ != nullptr ? clock_->CPUNanos() : 0) {}
  ~IoTimer() {
    if (clock_ == nullptr) return;
    IOStatsContext* const context = get_iostats_context();
    if (context->disable_iostats) return;
    context->*counter_ += clock_->NowNanos() - start_nanos_;
    if (cpu_counter_ != nullptr) context->*cpu_counter_ += clock_->CPUNanos() - start_cpu_nanos_;
  }
  IoTimer(const IoTimer&) = delete;
  IoTimer& operator=(const IoTimer&) = delete;

 private:
  SystemClock* clock_;
  uint64_t IOStatsContext::*counter_;
  uint64_t IOStatsContext::*cpu_counter_;
  uint64_t start_nanos_;
  uint64_t start_cpu_nanos_;
};

}  // namespace ashlar
