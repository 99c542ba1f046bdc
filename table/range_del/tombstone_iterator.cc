// SPDX-License-Identifier: Apache-2.0
//
// Moves skip fragments of which the reader sees no tombstone.
#include "table/range_del/tombstone_iterator.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

// The greatest number of the fragment that the reader sees; 0 if it sees none. With a callback,
// numbers that it hides are passed over from the greatest down.
SequenceNumber TombstoneIterator::SeenSeqno(size_t index) const {
  if (upper_stamp_ != nullptr) [[unlikely]] {
    assert(callback_ == nullptr);
    return tombstones_->MaxSeqnoAt(index, upper_seqno_, *upper_stamp_);
  }
  SequenceNumber seqno = tombstones_->MaxSeqno(index, upper_seqno_);
  if (callback_ == nullptr) [[likely]]
    return seqno;
  while (seqno != 0 && !callback_->IsVisible(seqno))
    seqno = tombstones_->MaxSeqno(index, seqno - 1);
  return seqno;
}

void TombstoneIterator::ForwardFrom(size_t index) {
  seqno_ = 0;
  if (tombstones_ == nullptr) return;
  for (index_ = index; index_ < tombstones_->size(); index_++) {
    seqno_ = SeenSeqno(index_);
    if (seqno_ != 0) return;
  }
}

void TombstoneIterator::BackwardFrom(size_t end_index) {
  seqno_ = 0;
  if (tombstones_ == nullptr) return;
  assert(end_index <= tombstones_->size());
  for (index_ = end_index; index_ > 0;) {
    seqno_ = SeenSeqno(--index_);
    if (seqno_ != 0) return;
  }
}

void TombstoneIterator::SeekToLast() {
  if (tombstones_ != nullptr) BackwardFrom(tombstones_->size());
}

void TombstoneIterator::SeekForPrev(const Slice& user_key) {
  if (tombstones_ == nullptr) return;
  const size_t index = tombstones_->Find(user_key);
  const bool holds_it =
      index < tombstones_->size() && tombstones_->BeginsAtOrBefore(index, user_key);
  BackwardFrom(holds_it ? index + 1 : index);
}

[[gnu::cold]] std::string TombstoneIterator::DebugString() const {
  if (!Valid()) return "at no tombstone";
  return StrCat("[", begin().ToString(), ", ", end().ToString(), end_is_inclusive() ? "] " : ") ",
                seqno_);
}

}  // namespace ashlar
