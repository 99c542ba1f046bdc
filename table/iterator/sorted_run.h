// SPDX-License-Identifier: Apache-2.0
//
// SortedRuns: what the sources of a reader or a job (memtables, tables of level 0, levels) give to
// whoever merges them.
//
// A source hands out its point entries and its range tombstones together, because both must be of
// one moment and neither means anything without the other: a merge that took the points alone would
// show what the tombstones hide. A job that keeps tombstones takes them from its inputs itself.
#pragma once

#include <vector>

#include "table/iterator/internal_iterator.h"
#include "table/iterator/run_tombstones.h"

namespace ashlar {

struct SortedRun {
  SortedRun(InternalIterator* entries, RunTombstones* hidden = nullptr)  // NOLINT: a run of points
      : points(entries), tombstones(hidden) {}

  InternalIterator* points;
  RunTombstones* tombstones;  // null: nothing is hidden by this run
};

// Newest first. Whoever gets them owns all that the runs point to; the memory it lives in outlives
// it.
struct SortedRuns {
  std::vector<SortedRun> runs;
  IteratorHome home = IteratorHome::kHeap;
  // User keys, null for none, that outlive the runs: entries outside of them need not be shown.
  const Slice* lower_bound = nullptr;  // inclusive
  const Slice* upper_bound = nullptr;  // exclusive
};

void DestroyRun(const SortedRun& run, IteratorHome home);

}  // namespace ashlar
