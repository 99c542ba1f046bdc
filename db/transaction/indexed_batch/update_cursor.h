// SPDX-License-Identifier: Apache-2.0
//
// UpdateCursor walks over the updates of one family of an indexed batch: keys in the family's
// order, and the updates of one key newest first.
//
// The batch may be written in between: the cursor keeps showing its update, and the next step
// continues behind it among all updates written by then. When updates are taken back, the cursor is
// cut off: it is never valid again. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/transaction/indexed_batch/indexed_batch.h"

namespace ashlar {

// The status of an iterator after updates of its batch were taken back.
Status UpdatesTakenBack();

class UpdateCursor {
 public:
  UpdateCursor(IndexedBatch* batch, uint32_t family)
      : reader_(batch), batch_(batch), family_id_(family), cuts_(batch->cuts()) {}

  bool Valid() const { return is_valid_ && !is_cut_off(); }
  bool is_cut_off() const { return batch_->cuts() != cuts_; }
  Status status() const { return is_cut_off() ? UpdatesTakenBack() : Status::OK(); }
  // Whether updates were written since the cursor was last moved.
  bool is_behind() const { return batch_->end() != seen_end_; }

  // The current update; the slices are valid as long as the cursor lives.
  const WriteBatchRecord& record() const {
    assert(Valid());
    return record_;
  }
  const Slice& key() const { return record().key; }
  // Whether the current key is equal to this one in the family's order.
  bool IsOn(const Slice& user_key) const {
    return family_->comparator().OrderWithTimestamp(key(), user_key) == 0;
  }
  // The offset of the current update in the batch; newer updates have larger offsets.
  uint64_t offset() const {
    assert(Valid());
    return shown_.offset;
  }
  const UpdateIndex::Shown& shown() const {
    assert(Valid());
    return shown_;
  }

  // Moves to the newest update of the first key, or to the oldest update of the last key.
  void SeekToFirst();
  void SeekToLast();
  // Moves to the newest update of the first key at or after `key`; SeekForPrev() to the oldest
  // update of the last key at or before it.
  void Seek(const Slice& key);
  void SeekForPrev(const Slice& key);
  // Move to the nearest key strictly after `key`, or strictly before `key`.
  void SeekAfter(const Slice& key);
  void SeekBefore(const Slice& key);
  // Moves to the next update: an older one of the same key, or the newest one of the next key.
  void Next();
  void Prev();
  // Moves to the newest update of the current, the next or the previous key.
  void ToNewest();
  void NextKey();
  void PrevKey();

 private:
  // Brings the index up to date. Returns false if there is no update to stand on.
  bool BeginSeek();
  void ShowAt(const SortedKeys::Place& place, bool is_newest);
  void Show();
  // Finds the place of the current key again after writes to the batch may have moved keys.
  void FindAgain();
  const SortedKeys& sorted() const { return family_->sorted(); }

  const IndexedBatch::Reader reader_;
  IndexedBatch* const batch_;
  const uint32_t family_id_;
  const uint64_t cuts_;  // batch_->cuts() when the cursor was created
  const UpdateIndex::Family* family_ = nullptr;
  SortedKeys::Place place_;
  UpdateIndex::Shown shown_;
  WriteBatchRecord record_;
  size_t seen_end_ = 0;  // batch_->end() at the last move
  bool is_valid_ = false;
};

}  // namespace ashlar
