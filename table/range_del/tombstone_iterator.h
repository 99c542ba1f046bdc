// SPDX-License-Identifier: Apache-2.0
//
// TombstoneIterator iterates over the fragments that are visible to a reader: those with a
// tombstone at or below its sequence number that its callback, if it has one, calls visible.
//
// Each move is one search or one step and allocates nothing. Fragments that touch are returned
// separately. Threads: one at a time.
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
  // An iterator without fragments.
  TombstoneIterator() = default;
  // Shares the tombstones, which may be null: then there are no fragments. The callback, which may
  // be null, outlives the iterator.
  // `upper_stamp`: the timestamp at which a stamped family is read, which outlives the iterator;
  // null: tombstones of all timestamps are visible.
  TombstoneIterator(std::shared_ptr<const FragmentedTombstones> tombstones,
                    SequenceNumber upper_seqno, const ReadCallback* callback = nullptr,
                    const Slice* upper_stamp = nullptr)
      : tombstones_(std::move(tombstones)),
        upper_seqno_(upper_seqno),
        callback_(callback),
        upper_stamp_(upper_stamp) {}

  // True if the iterator is on a fragment.
  bool Valid() const { return seqno_ != 0; }
  // The fragment: [begin(), end()), and also end() if end_is_inclusive(). The keys are valid as
  // long as the tombstones exist.
  Slice begin() const { return fragment().begin; }
  Slice end() const { return fragment().end; }
  bool end_is_inclusive() const { return fragment().end_is_inclusive; }
  // With end(), the internal key at the end of the fragment: before all versions of end(), or
  // behind them if the end is inclusive.
  uint64_t end_trailer() const { return end_is_inclusive() ? 0 : kRangeTombstoneSentinel; }
  // The greatest sequence number of the fragment that the reader sees; it hides entries with
  // smaller numbers.
  SequenceNumber seqno() const {
    assert(Valid());
    return seqno_;
  }

  void SeekToFirst() { ForwardFrom(0); }
  void SeekToLast();
  // Moves to the first visible fragment that contains the key or lies behind it.
  void Seek(const Slice& user_key) {
    if (tombstones_ != nullptr) ForwardFrom(tombstones_->Find(user_key));
  }
  // Moves to the last visible fragment that contains the key or lies before it.
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
  // Move to the first visible fragment from `index` on, or to the last one before `end_index`.
  void ForwardFrom(size_t index);
  void BackwardFrom(size_t end_index);

  std::shared_ptr<const FragmentedTombstones> tombstones_;  // null: there are no fragments
  SequenceNumber upper_seqno_ = 0;
  const ReadCallback* callback_ = nullptr;  // null: everything up to upper_seqno_ is visible
  const Slice* upper_stamp_ = nullptr;      // null: all timestamps
  size_t index_ = 0;                        // of the current fragment, if Valid()
  SequenceNumber seqno_ = 0;  // 0: not Valid(). No tombstone with number 0 hides anything
};

}  // namespace ashlar
