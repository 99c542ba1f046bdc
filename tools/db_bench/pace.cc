// SPDX-License-Identifier: Apache-2.0
//
// Each amount moves the moment at which the next one may be taken.
#include "tools/db_bench/pace.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "tools/db_bench/stats.h"

namespace ashlar {
namespace bench {

Pace::Pace(RateAt rate_at, uint64_t interval_micros)
    : rate_at_(std::move(rate_at)),
      interval_micros_(static_cast<double>(interval_micros)),
      start_micros_(static_cast<double>(NowMicros())),
      per_second_(1) {}

void Pace::Take(double amount) {
  constexpr double kMostSavedMicros = 100'000;
  double turn = 0;
  const auto now = static_cast<double>(NowMicros());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rate_at_ && now >= next_rate_micros_) FollowRate(now);
    turn = std::max(next_micros_, now - kMostSavedMicros);
    next_micros_ = turn + amount / per_second_ * 1e6;
  }
  if (turn <= now) return;
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int64_t>(turn - now)));
}

void Pace::FollowRate(double now_micros) {
  per_second_ = std::max(rate_at_((now_micros - start_micros_) / 1e6), 1.0);
  next_rate_micros_ = now_micros + interval_micros_;
}

}  // namespace bench
}  // namespace ashlar
