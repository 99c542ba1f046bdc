// SPDX-License-Identifier: Apache-2.0
//
// StallForecast estimates from the recent growth of a family's debt (StallProximity()) when its
// writes will be slowed down. The debt rises and falls with each flush and compaction, so only
// peaks are compared: the peak of the older half of the recorded time with that of the newer half.
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

  // Records the debt at a time. A time before the last one counts as the last one, since clocks may
  // go back.
  void Note(uint64_t now_micros, double proximity);
  // Seconds until writes are slowed down, given the current debt. 0: they are slowed down already.
  // kNotInSight: the debt does not grow, or the history is too short.
  uint64_t SecondsUntilSlowdown(uint64_t now_micros, double proximity) const;

 private:
  // The start of a one-second interval, and the highest debt in it.
  struct Peak {
    uint64_t micros = 0;
    double proximity = 0;
  };
  // The peak with this age in entries; 0 is the newest. `age` is below count_.
  const Peak& At(size_t age) const { return peaks_[(next_ + kCount - 1 - age) % kCount]; }

  static constexpr size_t kCount = 64;
  std::array<Peak, kCount> peaks_{};
  size_t next_ = 0;   // index of the next peak to write
  size_t count_ = 0;  // number of filled entries
};

}  // namespace ashlar
