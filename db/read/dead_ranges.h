// SPDX-License-Identifier: Apache-2.0
//
// DeadRangeSink receives ranges of keys in which a scan found many point tombstones and no live
// key. It may leave a range tombstone there for the scans that come
// (ColumnFamilyOptions::min_tombstones_for_range_conversion), or keep in mind that they need not
// look (memtable/empty_ranges.h).
#pragma once

#include "ashlar/slice.h"

namespace ashlar {

class ReadView;

class DeadRangeSink {
 public:
  // As of the view's number no key in [begin, end) has a value. Without locks and outside of
  // epochs.
  virtual void CoverDeadRange(const ReadView& view, const Slice& begin, const Slice& end) = 0;
  // The same, only to be kept in mind. Never waits.
  virtual void LearnDeadRange(const ReadView& view, const Slice& begin, const Slice& end) = 0;

 protected:
  ~DeadRangeSink() = default;
};

}  // namespace ashlar
