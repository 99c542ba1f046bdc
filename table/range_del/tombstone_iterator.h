// SPDX-License-Identifier: Apache-2.0
//
// TombstoneIterator walks the fragments of a sorted run that a reader sees: those with a tombstone
// at or below its sequence number that its callback, if it has one, does not refuse.
//
// It stands on one fragment or on none; a position is one search or one step, without allocation.
// Fragments that touch each other are given one by one. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/internal_key.h"
#include "util/keys/read_callback.h"

namespace ashlar {

class TombstoneIterator {
 public:
  // Over nothing.
  TombstoneIterator() = default;
  // Keeps the tombstones, which may be null: then it is over nothing.
  // The callback, which may be null, outlives it.
  TombstoneIterator(std::shared_ptr<const FragmentedTombstones> tombstones,
                    SequenceNumber upper_seqno, const ReadCallback* callback = nullptr)
      : tombstones_(std::move(tombstones)), upper_seqno_(upper_seqno), callback_(callback) {}

  bool Valid() const { return seqno_ != 0; }
  // What the fragment holds: [begin(), end()), and end() too if end_is_inclusive(). The keys live
  // as long as the tombstones.
  Slice begin() const { return fragment().begin; }
  Slice end() const { return fragment().end; }
  bool end_is_inclusive() const { return fragment().end_is_inclusive; }
  // With end() the internal key that separates what is covered from what is not: before all
  // versions of end(), or behind them.
  uint64_t end_trailer() const { return end_is_inclusive() ? 0 : kRangeTombstoneSentinel; }
  // Of the tombstone: hides what is below. The greatest that the reader sees.
  SequenceNumber seqno() const {
    assert(Valid());
    return seqno_;
  }

  void SeekToFirst() { ForwardFrom(0); }
  void SeekToLast();
  // The first fragment that reaches behind the key: it holds the key or lies behind it.
  void Seek(const Slice& user_key) {
    if (tombstones_ != nullptr) ForwardFrom(tombstones_->Find(user_key));
  }
  // The last fragment that begins at or before the key: it holds the key or lies before it.
  void SeekForPrev(const Slice& user_key);
  void Next() {
    assert(Valid());
    ForwardFrom(index_ + 1);
  }
  void Prev() {
    assert(Valid());
    BackwardFrom(index_);
  }

  std::string DebugString() const;

 private:
  FragmentedTombstones::Fragment fragment() const {
    assert(Valid());
    return tombstones_->fragment(index_);
  }
  // The greatest number of a fragment that the reader sees; 0: none.
  SequenceNumber SeenSeqno(size_t index) const;
  // The first visible fragment from `index` on; the last one before `end_index`.
  void ForwardFrom(size_t index);
  void BackwardFrom(size_t end_index);

  std::shared_ptr<const FragmentedTombstones> tombstones_;  // null: over nothing
  SequenceNumber upper_seqno_ = 0;
  const ReadCallback* callback_ = nullptr;  // null: sees everything up to upper_seqno_
  size_t index_ = 0;                        // of the fragment, when valid
  SequenceNumber seqno_ = 0;                // 0: not valid. No tombstone that hides anything has 0
};

}  // namespace ashlar
