// SPDX-License-Identifier: Apache-2.0
//
// Counts the work of point lookups in tables in the per-level counters of the thread's perf
// context.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/level.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

// Adds the work of the lookup in one table of the level, that is, the growth of its counters since
// `before`. Does nothing if the thread has no per-level counters.
void AddToLevel(Level level, const PointLookup& lookup, const PointLookup::Counters& before,
                uint64_t nanos);

// LevelPerf does the same for a group of probes that are searched together. It is constructed on
// the stack before the search, and only if IsWanted(). The elapsed time is divided evenly among the
// probes.
class LevelPerf {
 public:
  static bool IsWanted() { return this_thread_measures_reads; }

  // The probes outlive it.
  LevelPerf(const TableProbe* probes, size_t count);
  // Stops the clock. Call it when the search of all probes has ended.
  void End();
  // Adds the counters of the probe with this index to the level. Precondition: End() was called.
  void Add(size_t probe, Level level) const;

 private:
  const TableProbe* const probes_;
  const size_t count_;
  // Until End(): the start time. After End(): the time per probe. 0: times are not measured.
  uint64_t nanos_;
  std::array<PointLookup::Counters, TableReader::kMaxProbes> before_;
};

}  // namespace ashlar
