// SPDX-License-Identifier: Apache-2.0
//
// Fragments whose tombstones are all newer than the reader are stepped over.
#include "table/range_del/tombstone_iterator.h"

#include "util/str_cat.h"

namespace ashlar {

void TombstoneIterator::ForwardFrom(size_t index) {
  seqno_ = 0;
  if (tombstones_ == nullptr) return;
  for (index_ = index; index_ < tombstones_->size(); index_++) {
    seqno_ = tombstones_->MaxSeqno(index_, upper_seqno_);
    if (seqno_ != 0) return;
  }
}

void TombstoneIterator::BackwardFrom(size_t end_index) {
  seqno_ = 0;
  if (tombstones_ == nullptr) return;
  assert(end_index <= tombstones_->size());
  for (index_ = end_index; index_ > 0;) {
    seqno_ = tombstones_->MaxSeqno(--index_, upper_seqno_);
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

std::string TombstoneIterator::DebugString() const {
  if (!Valid()) return "at no tombstone";
  return StrCat("[", begin().ToString(), ", ", end().ToString(), end_is_inclusive() ? "] " : ") ",
                seqno_);
}

}  // namespace ashlar
