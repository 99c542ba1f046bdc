// SPDX-License-Identifier: Apache-2.0
//
// StallForecast tells from how the debt of a family grew lately when its writes will be slowed down
// (StallProximity()). Debt goes up and down with each flush and compaction, so it is the peaks that
// are compared: those of the older and of the newer half of what is remembered.
//
// Threads: one at a time. Nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ashlar {

class StallForecast {
 public:
  static constexpr uint64_t kNotInSight = UINT64_MAX;

  // The debt at a moment. One before the last counts as that one: clocks may go back.
  void Note(uint64_t now_micros, double proximity);
  // With the debt of now. 0: writes are slowed down. kNotInSight: the debt does not grow, or too
  // little is known of it.
  uint64_t SecondsUntilSlowdown(uint64_t now_micros, double proximity) const;

 private:
  // A second, and the highest debt in it.
  struct Peak {
    uint64_t micros = 0;
    double proximity = 0;
  };
  const Peak& At(size_t age) const { return peaks_[(next_ + kCount - 1 - age) % kCount]; }

  static constexpr size_t kCount = 64;
  std::array<Peak, kCount> peaks_{};
  size_t next_ = 0;   // place of the next one
  size_t count_ = 0;  // of those that are filled
};

}  // namespace ashlar
