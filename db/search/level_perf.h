// SPDX-License-Identifier: Apache-2.0
//
// What point lookups do in tables, for the thread's perf context by levels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/level.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

// Adds what the lookup did in a table of the level, since its counters were `before`, if the thread
// counts by levels.
void AddToLevel(Level level, const PointLookup& lookup, const PointLookup::Counters& before,
                uint64_t nanos);

// LevelPerf does the same for probes that go through their tables together. It lives on the stack
// around that, and only where it is wanted. What they took is shared out evenly.
class LevelPerf {
 public:
  static bool IsWanted() { return this_thread_measures_reads; }

  // The probes outlive it.
  LevelPerf(const TableProbe* probes, size_t count);
  // They are through: no time passes for them any more.
  void End();
  // Of the probe, after End().
  void Add(size_t probe, Level level) const;

 private:
  const TableProbe* const probes_;
  const size_t count_;
  uint64_t nanos_;  // when it began; once ended, what each probe took. 0: times are not measured
  std::array<PointLookup::Counters, TableReader::kMaxProbes> before_;
};

}  // namespace ashlar
