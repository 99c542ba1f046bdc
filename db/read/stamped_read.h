// SPDX-License-Identifier: Apache-2.0
//
// Reads in families with timestamps: their checks and options, for databases and for single tables,
// and point reads. Threads: any; one at a time for each object.
#pragma once

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "db/search/stamped_search.h"

namespace ashlar {

class StampedLookup;
class SuperVersion;

// Check the options of a lookup and of an iterator, including their timestamps.
Status CheckStampedRead(const ReadOptions& options, const SuperVersion& super_version);
Status CheckStampedIterator(const ReadOptions& options, const SuperVersion& super_version);

// The options for the lookup of one key by a StampedIterator: without bounds, prefixes,
// limits and filters of tables, and without reading ahead.
ReadOptions StampedPointOptions(const ReadOptions& options);

// The read of one key as of one super version: PointRead for families with timestamps. The result
// is in the lookup, unless that has given up: then the key must be read by a StampedIterator.
class StampedRead {
 public:
  // The arguments outlive the read.
  StampedRead(const SuperVersion& super_version, const ReadOptions& options, StampedLookup* lookup);

  // Called inside an EpochGuard. True: the read has ended. False: the caller takes a reference on
  // the super version, leaves the epoch and calls Finish().
  // Hot: no lock, no reference count, no allocation for keys of usual lengths.
  [[nodiscard]] bool RunInEpoch(bool skips_memtables);
  // Ends the search in the tables, reading files. Outside of epochs.
  void Finish() { tables_.Finish(); }

 private:
  void SearchMemTables();

  const SuperVersion& super_version_;
  const ReadOptions& options_;
  StampedLookup* const lookup_;
  StampedSearch tables_;
};

}  // namespace ashlar
