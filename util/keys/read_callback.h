// SPDX-License-Identifier: Apache-2.0
//
// ReadCallback decides which versions a reader sees if a sequence number alone does not tell. That
// is the case for transactions that write into the memtables before they commit, and for the
// uncommitted writes of the reader's own transaction.
//
// It cannot be combined with scans that create range tombstones
// (min_tombstones_for_range_conversion). A reader without a callback has no extra cost. A reader
// with one looks up and seeks at bound() instead of its own sequence number, and calls IsVisible()
// for every version. Threads: any, at the same time.
#pragma once

#include <cassert>

#include "ashlar/types.h"

namespace ashlar {

// Made by the reader, on its stack or in its iterator, and outlives the reads.
class ReadCallback {
 public:
  // All versions below `all_visible_below` are visible, and none above `bound`. That is the
  // sequence number of the reader or, if greater, the greatest number of its own unprepared writes.
  ReadCallback(SequenceNumber all_visible_below, SequenceNumber bound)
      : all_visible_below_(all_visible_below), bound_(bound) {}
  virtual ~ReadCallback() = default;

  SequenceNumber bound() const { return bound_; }
  bool IsVisible(SequenceNumber seqno) const {
    if (seqno < all_visible_below_) return true;
    return seqno <= bound_ && IsCommitted(seqno);
  }

 private:
  // Whether a version between the two limits is visible. Called within epochs, so that it must not
  // wait or read files. For one reader it must always return the same answer.
  virtual bool IsCommitted(SequenceNumber seqno) const = 0;

  const SequenceNumber all_visible_below_;
  const SequenceNumber bound_;
};

}  // namespace ashlar
