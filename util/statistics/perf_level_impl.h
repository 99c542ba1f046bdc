// SPDX-License-Identifier: Apache-2.0
//
// Counts and times for the calling thread's PerfContext, according to its PerfLevel. A hot
// operation counts in local variables and adds them once at the end.
#pragma once

#include <cstdint>

#include "ashlar/iostats_context.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/system_clock.h"

namespace ashlar {

// The level of SetPerfLevel().
extern constinit thread_local PerfLevel this_thread_perf_level;
// Whether a point read must record more in the thread's PerfContext than its own counters: times,
// or counters by level.
extern constinit thread_local bool this_thread_measures_reads;

inline bool CountsPerf() { return this_thread_perf_level >= kEnableCount; }
inline bool TimesPerf() { return this_thread_perf_level >= kEnableTimeExceptForMutex; }
inline bool TimesCpu() { return this_thread_perf_level >= kEnableTimeAndCPUTimeExceptForMutex; }

// The thread's counters of a level, or null if they are not enabled. The level is added to the map
// when something is first counted for it. Hot operations check this_thread_measures_reads first.
PerfContextByLevel* PerfOfLevel(int level);

// Does nothing at levels that count nothing. One thread-local load and branch then.
inline void AddPerfCount(uint64_t PerfContextBase::*counter, uint64_t count = 1) {
  if (CountsPerf() && count != 0) get_perf_context()->*counter += count;
}

// Adds the nanoseconds between its construction and destruction to a counter, if times are
// measured. `Nanos` is the function of the clock.
template <uint64_t (SystemClock::*Nanos)()>
class LifeTimer {
 public:
  LifeTimer(const LifeTimer&) = delete;
  LifeTimer& operator=(const LifeTimer&) = delete;

 protected:
  // Without a clock nothing is measured.
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

// The same, with real time, at perf levels that measure time.
class PerfTimer : LifeTimer<&SystemClock::NowNanos> {
 public:
  explicit PerfTimer(uint64_t PerfContextBase::*counter)
      : LifeTimer(TimesPerf() ? SystemClock::Default().get() : nullptr, counter) {}
  PerfTimer(SystemClock* clock, uint64_t PerfContextBase::*counter)
      : LifeTimer(TimesPerf() ? clock : nullptr, counter) {}
};

// The same with the CPU time of the thread.
class CpuTimer : LifeTimer<&SystemClock::CPUNanos> {
 public:
  explicit CpuTimer(uint64_t PerfContextBase::*counter)
      : LifeTimer(TimesCpu() ? SystemClock::Default().get() : nullptr, counter) {}
};

// Adds bytes that were written to or read from a file to the thread's IOStatsContext.
inline void AddIoBytes(uint64_t IOStatsContext::*counter, uint64_t bytes) {
  if (!CountsPerf()) return;
  IOStatsContext* const context = get_iostats_context();
  if (!context->disable_iostats) context->*counter += bytes;
}

// Adds the nanoseconds between its construction and destruction to a counter of the thread's
// IOStatsContext, and the CPU time of the thread to another counter, if times are measured.
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
