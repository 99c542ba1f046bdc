// SPDX-License-Identifier: Apache-2.0
//
// Checks and options of reads in families with timestamps, for databases and for single tables.
// Threads: any.
#pragma once

#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

class SuperVersion;

// Check the options of a lookup and of an iterator, including their timestamps.
Status CheckStampedRead(const ReadOptions& options, const SuperVersion& super_version);
Status CheckStampedIterator(const ReadOptions& options, const SuperVersion& super_version);

// The options for the lookup of one key, which uses a StampedIterator: without bounds, prefixes,
// limits and filters of tables, and without reading ahead.
ReadOptions StampedPointOptions(const ReadOptions& options);

}  // namespace ashlar
