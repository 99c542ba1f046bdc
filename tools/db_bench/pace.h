// SPDX-License-Identifier: Apache-2.0
//
// Pace holds threads to a rate that they share: of bytes or of operations. Threads: any number.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace ashlar {
namespace bench {

class Pace {
 public:
  // What the rate is so many seconds after the pace was made.
  using RateAt = std::function<double(double seconds)>;

  explicit Pace(double per_second) : per_second_(per_second) {}
  // `rate_at` is asked every `interval_micros`, and by the first amount; below 1 it counts as 1.
  Pace(RateAt rate_at, uint64_t interval_micros);

  // Sleeps until it is this amount's turn. What was not taken while nobody asked is lost, but for a
  // tenth of a second's worth.
  void Take(double amount);

 private:
  void FollowRate(double now_micros);

  const RateAt rate_at_;  // empty: the rate does not change; called with mutex_
  const double interval_micros_ = 0;
  const double start_micros_ = 0;
  std::mutex mutex_;
  double per_second_;            // guarded by mutex_
  double next_micros_ = 0;       // guarded by mutex_: when the next amount may be taken
  double next_rate_micros_ = 0;  // guarded by mutex_: when the rate is to be asked for
};

}  // namespace bench
}  // namespace ashlar
