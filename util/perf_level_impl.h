// SPDX-License-Identifier: Apache-2.0
//
// Counting and timing into the calling thread's PerfContext, as its PerfLevel asks. A hot operation
// keeps its own counts and adds them here once.
#pragma once

#include <cstdint>

#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/system_clock.h"

namespace ashlar {

extern thread_local PerfLevel this_thread_perf_level;

inline bool CountsPerf() { return this_thread_perf_level >= kEnableCount; }
inline bool TimesPerf() { return this_thread_perf_level >= kEnableTimeExceptForMutex; }

inline void AddPerfCount(uint64_t PerfContextBase::*counter, uint64_t count = 1) {
  if (CountsPerf() && count != 0) get_perf_context()->*counter += count;
}

// Adds the nanoseconds of its own life to a counter, if times are measured.
class PerfTimer {
 public:
  PerfTimer(SystemClock* clock, uint64_t PerfContextBase::*counter)
      : clock_(TimesPerf() ? clock : nullptr),
        counter_(counter),
        start_nanos_(clock_ != nullptr ? clock_->NowNanos() : 0) {}
  ~PerfTimer() {
    if (clock_ != nullptr) get_perf_context()->*counter_ += clock_->NowNanos() - start_nanos_;
  }
  PerfTimer(const PerfTimer&) = delete;
  PerfTimer& operator=(const PerfTimer&) = delete;

 private:
  SystemClock* clock_;
  uint64_t PerfContextBase::*counter_;
  uint64_t start_nanos_;
};

}  // namespace ashlar
