// SPDX-License-Identifier: Apache-2.0
//
// StatisticsHistory keeps in memory what the counters of the statistics gained from one sample to
// the next, as long as there is room: the oldest samples go first. For DB::GetStatsHistory().
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ashlar/stats_history.h"
#include "util/threads/mutex.h"

namespace ashlar {

class StatisticsHistory {
 public:
  using Counters = std::map<std::string, uint64_t>;  // by name

  // Adds what the counters gained since the last call, as of that second, and forgets the oldest
  // samples while all of them take more than `limit_bytes`. Answers it, or null: the first call
  // keeps nothing but what the next one subtracts, and two samples in one second are one, as a
  // second is what a sample is known by. A counter that was reset meanwhile counts from there.
  std::shared_ptr<const Counters> AddSample(uint64_t seconds, Counters now, size_t limit_bytes);

  // The samples in [begin, end) of seconds, in order, as they are now.
  std::unique_ptr<StatsHistoryIterator> Between(uint64_t begin, uint64_t end) const;
  size_t bytes() const;

 private:
  struct Slice {
    std::shared_ptr<const Counters> gains;  // iterators may outlive their place here
    size_t bytes;
  };
  void ForgetBeyondLocked(size_t limit_bytes) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  bool has_sampled_ GUARDED_BY(mutex_) = false;
  Counters last_ GUARDED_BY(mutex_);
  uint64_t last_seconds_ GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Slice> slices_ GUARDED_BY(mutex_);  // by second
  size_t bytes_ GUARDED_BY(mutex_) = 0;                  // of the slices
};

}  // namespace ashlar
