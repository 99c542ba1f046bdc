// SPDX-License-Identifier: Apache-2.0
//
// Each amount moves the moment at which the next one may be taken.
#include "tools/db_bench/pace.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tools/db_bench/stats.h"

namespace ashlar {
namespace bench {

void Pace::Take(double amount) {
  constexpr double kMostSavedMicros = 100'000;
  double turn = 0;
  const auto now = static_cast<double>(NowMicros());
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    turn = std::max(next_micros_, now - kMostSavedMicros);
    next_micros_ = turn + amount / per_second_ * 1e6;
  }
  if (turn <= now) return;
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int64_t>(turn - now)));
}

void Pace::SetRate(double per_second) {
  const std::lock_guard<std::mutex> lock(mutex_);
  per_second_ = per_second;
}

}  // namespace bench
}  // namespace ashlar
