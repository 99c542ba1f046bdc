// SPDX-License-Identifier: Apache-2.0
//
// The one point read there is: memtables, newest first, then the version. Get, MultiGet and
// KeyMayExist all end here.
#pragma once

#include "ashlar/status.h"

namespace ashlar {

class PointLookup;
class Statistics;
class SuperVersion;
struct ReadOptions;

// Within an epoch, or while holding a reference on the super version. The result is in `lookup`.
// Hot: no lock, no reference count, no allocation if everything is in memory.
void ReadPoint(const SuperVersion& super_version, const ReadOptions& options, bool skips_memtables,
               PointLookup* lookup);

// What the user is told about a lookup that has run.
Status StatusOf(const PointLookup& lookup);

// Adds what one lookup did; calls and the bytes they returned are counted by whoever was called.
// `statistics` may be null.
void CountPointRead(const PointLookup& lookup, size_t value_bytes, Statistics* statistics);

}  // namespace ashlar
