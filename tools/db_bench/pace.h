// SPDX-License-Identifier: Apache-2.0
//
// Pace holds threads to a rate that they share: of bytes or of operations. Threads: any number.
#pragma once

#include <cstdint>
#include <mutex>

namespace ashlar {
namespace bench {

class Pace {
 public:
  explicit Pace(double per_second) : per_second_(per_second) {}

  // Sleeps until it is this amount's turn. What was not taken while nobody asked is lost, but for a
  // tenth of a second's worth.
  void Take(double amount);
  void SetRate(double per_second);

 private:
  std::mutex mutex_;
  double per_second_;       // guarded by mutex_
  double next_micros_ = 0;  // guarded by mutex_: when the next amount may be taken
};

}  // namespace bench
}  // namespace ashlar
