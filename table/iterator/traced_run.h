// SPDX-License-Identifier: Apache-2.0
//
// Traced() puts an observer around one sorted run of an iterator: it passes every call on to the
// run's own iterator and tombstones and tells a ReadTrace which entries come by.
//
// An iterator that nobody explains has no such layer. Threads: one at a time.
#pragma once

#include <cstddef>

#include "table/iterator/sorted_run.h"

namespace ashlar {

class Arena;
class ReadTrace;

// Takes over what the run points to, which lives where its observers will: in `arena`, or on the
// heap if that is null. The trace outlives the run; `index` is the run's number in it.
SortedRun Traced(const SortedRun& run, size_t index, ReadTrace* trace, Arena* arena);

}  // namespace ashlar
