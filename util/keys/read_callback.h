// SPDX-License-Identifier: Apache-2.0
//
// ReadCallback says which versions a reader sees where one sequence number does not: of
// transactions whose writes are in the memtables before they are committed, and the reader's own
// among them.
//
// Families in which scans make range tombstones (min_tombstones_for_range_conversion) are not read
// so. A reader without one pays nothing. One with it looks up and seeks at bound() instead of its
// own number, and asks for every version it meets. Threads: any may ask at once.
#pragma once

#include <cassert>

#include "ashlar/types.h"

namespace ashlar {

class ReadCallback {
 public:
  // All versions below `all_visible_below` are visible, none above `bound`: the reader's number or,
  // if that is greater, the greatest one of its own that is not prepared yet.
  ReadCallback(SequenceNumber all_visible_below, SequenceNumber bound)
      : all_visible_below_(all_visible_below), bound_(bound) {}
  virtual ~ReadCallback() = default;

  SequenceNumber bound() const { return bound_; }
  bool IsVisible(SequenceNumber seqno) const {
    if (seqno < all_visible_below_) return true;
    return seqno <= bound_ && IsCommitted(seqno);
  }

 private:
  // Whether a version in between is visible. Called inside epochs, so it may neither wait nor read
  // a file, and must always answer the same for one reader.
  virtual bool IsCommitted(SequenceNumber seqno) const = 0;

  const SequenceNumber all_visible_below_;
  const SequenceNumber bound_;
};

}  // namespace ashlar
