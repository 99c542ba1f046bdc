// SPDX-License-Identifier: Apache-2.0
//
// TwoWayIterator merges an indexed batch with any other iterator of the same family: an iterator of
// the program's own class, or one of ours whose bounds differ from those of the batch.
//
// Both cursors stand at the key that is shown or beyond it in the direction of travel. If the batch
// has updates of a key, the newest one decides. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/iterator.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "db/read/plain_column.h"
#include "db/transaction/indexed_batch/batch_reads.h"
#include "db/transaction/indexed_batch/update_cursor.h"

namespace ashlar {

class TwoWayIterator final : public Iterator {
 public:
  struct Setting {
    IndexedBatch* batch;
    uint32_t family = 0;
    ColumnFamilyHandle* handle = nullptr;  // for its merge operator; null: merges fail
    const Comparator* comparator;          // of the family; outlives the iterator
    const Slice* lower_bound = nullptr;    // of the batch's keys; both bounds outlive the iterator
    const Slice* upper_bound = nullptr;
    // Not null: the iteration ends with the prefix that was sought (prefix_same_as_start).
    std::shared_ptr<const SliceTransform> prefixes;
  };
  TwoWayIterator(const Setting& setting, std::unique_ptr<Iterator> base);

  bool Valid() const override { return shown_ != Shown::kNothing && !own_.is_cut_off(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override;
  Slice value() const override;
  const WideColumns& columns() const override;
  Slice timestamp() const override { return base_->timestamp(); }
  bool PrepareValue() override;
  Status status() const override;
  void Prepare(const MultiScanArgs& scan_opts) override { base_->Prepare(scan_opts); }

 private:
  enum class Direction : uint8_t { kForward, kReverse };
  enum class Shown : uint8_t { kNothing, kBase, kOwn };

  // Forgets the entry that is shown, the prefix and an earlier misuse.
  void BeginSeek(Direction direction);
  // False if there is no position to step from; the status then names the step.
  bool BeginStep(const char* step);
  // Position the cursor of the batch alone, within the bounds.
  void SeekOwn(const Slice& target);
  void SeekOwnForPrev(const Slice& target);
  // Positions the batch's cursor next to the key shown, in the direction of travel.
  void PlaceOwn();
  // Changes the direction.
  void Turn(Direction direction);
  // Moves the cursors that stand on the current key past it.
  void StepPast();
  // Finds the key to show, beginning at the positions of the cursors.
  void Settle();
  // Whether the batch's cursor has not passed the bound in the direction of travel.
  bool OwnIsInBounds() const;
  bool IsBelowBounds(const Slice& key) const;
  bool IsAboveBounds(const Slice& key) const;
  // Limits the iteration to keys with the prefix of this key.
  void RememberPrefix(const Slice& key);
  bool LeftPrefix(const Slice& key) const;
  // Shows the updates of the current key in the batch. Returns false if they hide the key.
  bool ShowOwn();
  // Parts of ShowOwn(). False with an error in `status_` if the entry cannot be shown.
  bool ShowEntity(const Slice& entity);
  bool ShowFolded(const OwnState& state);
  void Fail(Status status);

  const std::unique_ptr<Iterator> base_;
  UpdateCursor own_;
  IndexedBatch* const batch_;
  ColumnFamilyHandle* const handle_;
  const InternalKeyComparator comparator_;
  const Slice* const lower_bound_;
  const Slice* const upper_bound_;
  const std::shared_ptr<const SliceTransform> prefixes_;

  std::optional<std::string> prefix_;  // empty: the keys need no certain prefix
  Direction direction_ = Direction::kForward;
  Shown shown_ = Shown::kNothing;
  bool base_is_on_key_ = false;  // whether this cursor stands on the current key
  bool own_is_on_key_ = false;
  Status status_;  // a failure or a misuse since the last seek

  // The entry from the batch that is shown.
  Slice value_;
  bool shows_entity_ = false;
  WideColumns entity_columns_;
  std::string folded_;      // the result of merge operands
  std::string base_space_;  // the stored form of the base's columns
  mutable PlainColumn plain_column_;
};

}  // namespace ashlar
