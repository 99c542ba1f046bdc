// SPDX-License-Identifier: Apache-2.0
//
// StatisticsHistory keeps the gains of the statistics counters between samples in memory, as long
// as there is room: the oldest samples are dropped first. For DB::GetStatsHistory().
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

// One per database. Samples are shared with iterators, so that dropping one never waits.
class StatisticsHistory {
 public:
  using Counters = std::map<std::string, uint64_t>;  // by name

  // Adds the gains since the last call as the sample of that second, and drops the oldest samples
  // while all of them take more than `limit_bytes`. Returns the sample, or null: the first call
  // only stores the values from which the next one subtracts, and a second sample in the same
  // second is not added, because samples are identified by their second. A counter that was reset
  // meanwhile counts from there.
  std::shared_ptr<const Counters> AddSample(uint64_t seconds, Counters now, size_t limit_bytes);

  // The samples in [begin, end), in seconds, in order, as they are now.
  std::unique_ptr<StatsHistoryIterator> Between(uint64_t begin, uint64_t end) const;
  // The memory of all samples; an estimate.
  size_t bytes() const;

 private:
  // One sample. (Not the Slice of bytes.)
  struct Slice {
    std::shared_ptr<const Counters> gains;  // shared with iterators, which may outlive the slice
    size_t bytes;
  };
  // Drops the oldest samples, perhaps all, until the limit holds.
  void ForgetBeyondLocked(size_t limit_bytes) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  bool has_sampled_ GUARDED_BY(mutex_) = false;
  // The values at the last call, from which the next gains are computed.
  Counters last_ GUARDED_BY(mutex_);
  uint64_t last_seconds_ GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Slice> slices_ GUARDED_BY(mutex_);  // by second
  size_t bytes_ GUARDED_BY(mutex_) = 0;                  // of the slices
};

}  // namespace ashlar
