// SPDX-License-Identifier: Apache-2.0
//
// SortedRuns: what the sources of a reader or a job (memtables, tables of level 0, levels) give to
// whoever merges them.
//
// A source hands out its point entries and its range tombstones together, because both must be of
// one moment and neither means anything without the other: a merge that took the points alone would
// show what the tombstones hide. Range tombstones are not built yet; theirs is a second list, run by
// run, beside the first.
#pragma once

#include <vector>

#include "table/iterator/internal_iterator.h"

namespace ashlar {

// Newest first. Whoever gets them owns the iterators; the memory they live in outlives them.
struct SortedRuns {
  std::vector<InternalIterator*> iterators;  // over the point entries of one run each
  IteratorHome home = IteratorHome::kHeap;
};

}  // namespace ashlar
