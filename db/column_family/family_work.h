// SPDX-License-Identifier: Apache-2.0
//
// FamilyWork counts what flushes and compactions have done in one column family since it was opened
// or its counters were reset, and how often it stalled writes. The statistics texts are made from
// it.
//
// Plain values. Threads: guarded by the DB mutex in a family.
#pragma once

#include <cstdint>
#include <vector>

#include "db/write/stall_forecast.h"
#include "db/write/write_stall.h"
#include "util/keys/level.h"

namespace ashlar {

// The sums over several flushes or compactions.
struct JobWork {
  uint64_t jobs = 0;  // without jobs that only moved tables
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;
  uint64_t upper_bytes = 0;         // read from levels above the output level
  uint64_t output_level_bytes = 0;  // read from the output level
  uint64_t written_bytes = 0;
  uint64_t moved_bytes = 0;  // of tables that were moved to another level without rewriting them
  uint64_t entries_read = 0;
  uint64_t entries_dropped = 0;

  uint64_t read_bytes() const { return upper_bytes + output_level_bytes; }
  bool IsNothing() const { return jobs == 0 && moved_bytes == 0; }
  void Add(const JobWork& other);
  // The work since `earlier`, an older value of the same counters.
  JobWork Since(const JobWork& earlier) const;
};

// How often a family began to stall writes, by cause. A change of the cause counts as a new stall.
struct StallCounts {
  uint64_t level0_delays = 0, level0_stops = 0;
  // Those among them that began while tables of level 0 were being compacted.
  uint64_t level0_delays_compacting = 0, level0_stops_compacting = 0;
  uint64_t pending_bytes_delays = 0, pending_bytes_stops = 0;
  uint64_t memtable_delays = 0, memtable_stops = 0;

  uint64_t delays() const { return level0_delays + pending_bytes_delays + memtable_delays; }
  uint64_t stops() const { return level0_stops + pending_bytes_stops + memtable_stops; }
  void Count(const StallDecision& stall, bool is_level0_compacting);
};

// All counters of a family at one moment.
struct WorkTotals {
  uint64_t micros = 0;  // since the database was opened or its counters were reset
  JobWork sum;
  uint64_t flushed_bytes = 0;
  uint64_t stalls = 0;
};

class FamilyWork {
 public:
  // Reserves space for all levels, so that counting, which is done under the mutex, allocates
  // nothing.
  explicit FamilyWork(int level_count) { levels_.reserve(static_cast<size_t>(level_count)); }

  void AddFlush(const JobWork& flush);
  void AddCompaction(Level output_level, const JobWork& compaction);

  // By output level; flushes count for level 0. Ends with the last level on which any work was
  // done.
  const std::vector<JobWork>& levels() const { return levels_; }
  JobWork Sum() const;
  const JobWork& flushes() const { return flushes_; }
  const JobWork& compactions() const { return compactions_; }
  WorkTotals At(uint64_t micros) const {
    return {micros, Sum(), flushes_.written_bytes, stalls.delays() + stalls.stops()};
  }
  StallCounts stalls;
  StallForecast forecast;
  void Clear() {
    levels_.clear();
    flushes_ = compactions_ = JobWork();
    stalls = StallCounts();
  }

 private:
  JobWork& Of(Level level);

  std::vector<JobWork> levels_;
  JobWork flushes_, compactions_;
};

}  // namespace ashlar
