// SPDX-License-Identifier: Apache-2.0
//
// A ring of peaks, at most one per second, searched from the newest.
#include "db/write/stall_forecast.h"

#include <algorithm>
#include <cassert>

namespace ashlar {
namespace {

constexpr uint64_t kSecondMicros = 1'000'000;
// Older history is irrelevant for the present; a shorter history is dominated by chance.
constexpr uint64_t kLongestMicros = 300 * kSecondMicros;
constexpr uint64_t kShortestMicros = 4 * kSecondMicros;

}  // namespace

void StallForecast::Note(uint64_t now_micros, double proximity) {
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

uint64_t StallForecast::SecondsUntilSlowdown(uint64_t now_micros, double proximity) const {
  if (proximity >= 1) return 0;
  size_t used = 0;
  while (used < count_ && At(used).micros + kLongestMicros >= now_micros) used++;
  if (used == 0 || now_micros < At(used - 1).micros + kShortestMicros) return kNotInSight;
  const uint64_t begin = At(used - 1).micros, middle = begin + (now_micros - begin) / 2;
  double older = 0, newer = proximity;
  for (size_t age = 0; age < used; age++) {
    double& half = At(age).micros < middle ? older : newer;
    half = std::max(half, At(age).proximity);
  }
  if (newer <= older) return kNotInSight;
  if (newer >= 1) return 0;
  // The two peaks are about half of the recorded time apart.
  const double growth = (newer - older) / (static_cast<double>(now_micros - begin) / 2 / 1e6);
  return static_cast<uint64_t>(std::min((1 - newer) / growth, 1e12));
}

}  // namespace ashlar
