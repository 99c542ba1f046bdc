// SPDX-License-Identifier: Apache-2.0
//
// SortedRuns: what the sources of a read or a job (memtables, tables of level 0, levels) give to
// the code that merges them.
//
// A source returns its point entries and its range tombstones together, because both must be from
// the same moment, and each is useless without the other: the points alone would show entries that
// the tombstones hide. A job that keeps tombstones gets them from its inputs itself.
#pragma once

#include <vector>

#include "table/iterator/internal_iterator.h"
#include "table/iterator/run_tombstones.h"

namespace ashlar {

// One run. Its holder must destroy it with DestroyRun().
struct SortedRun {
  SortedRun(InternalIterator* entries, RunTombstones* hidden = nullptr)  // NOLINT: a run of points
      : points(entries), tombstones(hidden) {}

  InternalIterator* points;
  RunTombstones* tombstones;  // null: this run hides nothing
};

// All runs of a read, newest first. The receiver owns the objects to which they point; the memory
// of these objects (an arena) outlives them.
struct SortedRuns {
  std::vector<SortedRun> runs;
  IteratorHome home = IteratorHome::kHeap;
  // User keys that outlive the runs; null: no bound. Entries outside of the bounds do not need to
  // be shown.
  const Slice* lower_bound = nullptr;  // inclusive
  const Slice* upper_bound = nullptr;  // exclusive
};

// Destroys the iterator and the tombstones of a run.
void DestroyRun(const SortedRun& run, IteratorHome home);

}  // namespace ashlar
