// SPDX-License-Identifier: Apache-2.0
//
// DeadRangeSink receives ranges of keys in which a scan found many point tombstones and no live
// key. It may write a range tombstone over the range for later scans
// (ColumnFamilyOptions::min_tombstones_for_range_conversion), or remember that later scans can pass
// the range (memtable/empty_ranges.h).
#pragma once

#include "ashlar/slice.h"

namespace ashlar {

class ReadView;

class DeadRangeSink {
 public:
  // No key in [begin, end) has a value as of the sequence number of the view. Called without locks
  // and outside of epochs; may insert a range tombstone into the active memtable.
  virtual void CoverDeadRange(const ReadView& view, const Slice& begin, const Slice& end) = 0;
  // The same fact, only to be remembered in memory. Never waits.
  virtual void LearnDeadRange(const ReadView& view, const Slice& begin, const Slice& end) = 0;

 protected:
  ~DeadRangeSink() = default;
};

}  // namespace ashlar
