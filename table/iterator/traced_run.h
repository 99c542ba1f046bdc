// SPDX-License-Identifier: Apache-2.0
//
// Traced() wraps one sorted run of an iterator: every call goes to the run's own iterator and
// tombstones, and a ReadTrace is notified of the entries that the run shows.
//
// Iterators that are not explained have no such layer. Threads: one at a time.
#pragma once

#include <cstddef>

#include "table/iterator/sorted_run.h"

namespace ashlar {

class Arena;
class ReadTrace;

// Takes over the objects of `run`, which must have the same home as their wrappers: `arena`, or the
// heap if that is null. The trace outlives the run; `index` is the number of the run in the trace.
SortedRun Traced(const SortedRun& run, size_t index, ReadTrace* trace, Arena* arena);

}  // namespace ashlar
