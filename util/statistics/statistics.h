// SPDX-License-Identifier: Apache-2.0
//
// Recording into an optional Statistics object, and the tables of its names.
//
// `statistics` may always be nullptr: then nothing is recorded. Hot paths count in local variables
// and record once at the end of an operation.
#pragma once

#include <cstdint>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"

namespace ashlar {

inline void RecordTick(Statistics* statistics, uint32_t ticker, uint64_t count = 1) {
  if (statistics != nullptr) statistics->recordTick(ticker, count);
}

// For sizes and counts.
inline void RecordInHistogram(Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics != nullptr) statistics->recordInHistogram(histogram, value);
}

// For times, in the unit that the name of the histogram says.
inline void RecordTime(Statistics* statistics, uint32_t histogram, uint64_t value) {
  if (statistics != nullptr) statistics->reportTimeToHistogram(histogram, value);
}

// Whether times are measured, so that the clock must be read.
inline bool WantsTimers(const Statistics* statistics) {
  return statistics != nullptr && statistics->get_stats_level() > StatsLevel::kExceptTimers;
}

// Records the microseconds between its construction and destruction in a histogram.
class StopWatch {
 public:
  StopWatch(SystemClock* clock, Statistics* statistics, uint32_t histogram)
      : clock_(clock),
        statistics_(WantsTimers(statistics) ? statistics : nullptr),
        histogram_(histogram),
        start_micros_(statistics_ != nullptr ? clock->NowMicros() : 0) {}
  ~StopWatch() {
    if (statistics_ == nullptr) return;
    statistics_->reportTimeToHistogram(histogram_, clock_->NowMicros() - start_micros_);
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  SystemClock* clock_;
  Statistics* statistics_;
  uint32_t histogram_;
  uint64_t start_micros_;
};

}  // namespace ashlar
