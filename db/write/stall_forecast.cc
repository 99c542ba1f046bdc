// SPDX-License-Identifier: Apache-2.0
//
// A ring of peaks, at most one per second, searched from the newest.
#include "db/write/stall_forecast.h"

#include <algorithm>
#include <cassert>

namespace ashlar {
namespace {

constexpr uint64_t kSecondMicros = 1'000'000;
// Growth over more than 5 minutes says nothing about the present. In less than 4 seconds a single
// flush or compaction would decide the result.
constexpr uint64_t kLongestMicros = 300 * kSecondMicros;
constexpr uint64_t kShortestMicros = 4 * kSecondMicros;

}  // namespace

// Keeps the highest proximity of each second; older seconds are overwritten.
void StallForecast::Note(uint64_t now_micros, double proximity) {
  assert(count_ <= kCount);
  assert(next_ < kCount);
  assert(proximity >= 0);
  if (count_ > 0) {
    Peak& last = peaks_[(next_ + kCount - 1) % kCount];
    if (now_micros < last.micros + kSecondMicros) {
      last.proximity = std::max(last.proximity, proximity);
      return;
    }
  }
  peaks_[next_] = {now_micros, proximity};
  next_ = (next_ + 1) % kCount;
  count_ = std::min(count_ + 1, kCount);
}

// Compares the highest peaks of the older and of the newer half of the recorded time, and extends
// the growth in a straight line.
uint64_t StallForecast::SecondsUntilSlowdown(uint64_t now_micros, double proximity) const {
  assert(proximity >= 0);
  if (proximity >= 1) return 0;
  size_t used = 0;
  // Counts the peaks that are young enough; they are visited from the newest to the oldest.
  while (used < count_ && At(used).micros + kLongestMicros >= now_micros) used++;
  if (used == 0 || now_micros < At(used - 1).micros + kShortestMicros) return kNotInSight;
  // Splits the recorded time in the middle and takes the highest peak of each half.
  const uint64_t begin = At(used - 1).micros, middle = begin + (now_micros - begin) / 2;
  double older = 0, newer = proximity;
  for (size_t age = 0; age < used; age++) {
    double& half = At(age).micros < middle ? older : newer;
    half = std::max(half, At(age).proximity);
  }
  // The debt does not grow, so a slow-down is not in sight.
  if (newer <= older) return kNotInSight;
  if (newer >= 1) return 0;
  // The highest peaks of the two halves are on average half of the recorded time apart.
  const double growth = (newer - older) / (static_cast<double>(now_micros - begin) / 2 / 1e6);
  return static_cast<uint64_t>(std::min((1 - newer) / growth, 1e12));
}

}  // namespace ashlar
