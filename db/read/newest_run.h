// SPDX-License-Identifier: Apache-2.0
//
// NewestRun adds updates that are not in the database to a DBIterator: one more sorted run on top
// of all others, for the updates of a write batch that is read before it is written.
//
// Its entries have sequence numbers above all numbers that a database assigns. They are therefore
// newer than every other entry, and visible under any snapshot. Merge operands, tombstones and
// entities among them have the same meaning as in a memtable. Threads: as the iterator.
#pragma once

#include "ashlar/types.h"

namespace ashlar {

class Arena;
class InternalIterator;

class NewestRun {
 public:
  // The entries of the run have numbers in [kFirstSeqno, kMaxSequenceNumber].
  static constexpr SequenceNumber kFirstSeqno = SequenceNumber{1} << 55;

  virtual ~NewestRun() = default;

  // Creates an iterator over the run in the arena; the caller destroys it before the arena. After a
  // change of the updates, DBIterator::PlaceNewestRun() must be called before the iterator moves.
  virtual InternalIterator* NewRun(Arena* arena) = 0;
};

}  // namespace ashlar
