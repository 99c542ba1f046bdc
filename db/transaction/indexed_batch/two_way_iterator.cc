// SPDX-License-Identifier: Apache-2.0
//
// Forward:    base    a       c   d           The base stands on the key shown or on the first key
//             own         b   c'      e       behind it, and so does the cursor of the batch.
//             shown   a   b   c'  d   e
//
// Backward it is the same in the other direction. When the direction changes, each cursor moves
// from one side of the key shown to the other side.
#include "db/transaction/indexed_batch/two_way_iterator.h"

#include <cassert>
#include <utility>

#include "db/transaction/indexed_batch/batch_iterators.h"
#include "util/keys/wide_column_encoding.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

TwoWayIterator::TwoWayIterator(const Setting& setting, std::unique_ptr<Iterator> base)
    : base_(std::move(base)),
      own_(setting.batch, setting.family),
      batch_(setting.batch),
      handle_(setting.handle),
      comparator_(setting.comparator),
      lower_bound_(setting.lower_bound),
      upper_bound_(setting.upper_bound),
      prefixes_(setting.prefixes) {
  assert(base_ != nullptr);
}

void TwoWayIterator::BeginSeek(Direction direction) {
  direction_ = direction;
  shown_ = Shown::kNothing;
  status_ = Status::OK();
  prefix_.reset();
}

// As an iterator of a database does it: the prefix of the key that was sought, or, if none was, of
// the first key that is shown.
void TwoWayIterator::RememberPrefix(const Slice& key) {
  if (prefixes_ != nullptr && prefixes_->InDomain(key))
    prefix_ = prefixes_->Transform(key).ToString();
}

// Keys with the same prefix are adjacent, so the iteration ends at the first key with another.
bool TwoWayIterator::LeftPrefix(const Slice& key) const {
  if (!prefix_.has_value()) return false;
  return !prefixes_->InDomain(key) || prefixes_->Transform(key) != Slice(*prefix_);
}

// The batch is positioned first, because the target may be the key that is shown, whose memory may
// be freed when the base moves.
void TwoWayIterator::Seek(const Slice& target) {
  BeginSeek(Direction::kForward);
  RememberPrefix(target);
  SeekOwn(target);
  base_->Seek(target);
  Settle();
}

void TwoWayIterator::SeekToFirst() {
  BeginSeek(Direction::kForward);
  if (lower_bound_ != nullptr) RememberPrefix(*lower_bound_);
  lower_bound_ != nullptr ? own_.Seek(*lower_bound_) : own_.SeekToFirst();
  base_->SeekToFirst();
  Settle();
  if (Valid() && !prefix_.has_value()) RememberPrefix(key());
}

void TwoWayIterator::SeekForPrev(const Slice& target) {
  BeginSeek(Direction::kReverse);
  RememberPrefix(target);
  SeekOwnForPrev(target);
  base_->SeekForPrev(target);
  Settle();
}

void TwoWayIterator::SeekToLast() {
  BeginSeek(Direction::kReverse);
  upper_bound_ != nullptr ? own_.SeekBefore(*upper_bound_) : own_.SeekToLast();
  if (own_.Valid()) own_.ToNewest();
  base_->SeekToLast();
  Settle();
  if (Valid()) RememberPrefix(key());
}

bool TwoWayIterator::IsBelowBounds(const Slice& key) const {
  return lower_bound_ != nullptr && comparator_.OrderWithTimestamp(key, *lower_bound_) < 0;
}

bool TwoWayIterator::IsAboveBounds(const Slice& key) const {
  return upper_bound_ != nullptr && comparator_.OrderWithTimestamp(key, *upper_bound_) >= 0;
}

void TwoWayIterator::SeekOwn(const Slice& target) {
  own_.Seek(IsBelowBounds(target) ? *lower_bound_ : target);
}

void TwoWayIterator::SeekOwnForPrev(const Slice& target) {
  IsAboveBounds(target) ? own_.SeekBefore(*upper_bound_) : own_.SeekForPrev(target);
  if (own_.Valid()) own_.ToNewest();
}

bool TwoWayIterator::BeginStep(const char* step) {
  if (Valid()) return true;
  if (!own_.is_cut_off()) status_ = RefuseStep(step);
  return false;
}

void TwoWayIterator::Next() {
  if (!BeginStep("Next")) return;
  if (direction_ != Direction::kForward) {
    Turn(Direction::kForward);
  } else {
    if (own_.is_behind()) PlaceOwn();
    StepPast();
  }
  Settle();
}

void TwoWayIterator::Prev() {
  if (!BeginStep("Prev")) return;
  if (direction_ != Direction::kReverse) {
    Turn(Direction::kReverse);
  } else {
    if (own_.is_behind()) PlaceOwn();
    StepPast();
  }
  Settle();
}

// A base that has passed all its keys in one direction must be positioned by a seek for the other
// direction.
void TwoWayIterator::Turn(Direction direction) {
  assert(direction != direction_);
  direction_ = direction;
  const bool is_forward = direction == Direction::kForward;
  const std::string shown = key().ToString();
  PlaceOwn();
  if (base_->Valid()) {
    is_forward ? base_->Next() : base_->Prev();
  } else {
    is_forward ? base_->Seek(shown) : base_->SeekForPrev(shown);
  }
}

// Called if the batch has changed since the last move: finds the place of the batch's cursor again
// from the key that is shown.
void TwoWayIterator::PlaceOwn() {
  const Slice shown = key();
  if (direction_ == Direction::kForward) {
    IsBelowBounds(shown) ? own_.Seek(*lower_bound_) : own_.SeekAfter(shown);
  } else {
    own_.SeekBefore(IsAboveBounds(shown) ? *upper_bound_ : shown);
    if (own_.Valid()) own_.ToNewest();
  }
  own_is_on_key_ = false;
}

void TwoWayIterator::StepPast() {
  const bool is_forward = direction_ == Direction::kForward;
  if (base_is_on_key_) is_forward ? base_->Next() : base_->Prev();
  if (own_is_on_key_) is_forward ? own_.NextKey() : own_.PrevKey();
}

// The bound in the direction of travel. A seek has applied the other bound.
bool TwoWayIterator::OwnIsInBounds() const {
  return direction_ == Direction::kForward ? !IsAboveBounds(own_.key())
                                           : !IsBelowBounds(own_.key());
}

// Keys that the batch deletes are passed.
void TwoWayIterator::Settle() {
  shown_ = Shown::kNothing;
  for (;; StepPast()) {
    const bool has_base = base_->Valid();
    if (!has_base && !base_->status().ok()) return;
    const bool has_own = own_.Valid() && OwnIsInBounds();
    if (!has_base && !has_own) return;
    int order = has_own ? -1 : +1;
    if (has_base && has_own) {
      order = comparator_.OrderWithTimestamp(own_.key(), base_->key());
      if (direction_ == Direction::kReverse) order = -order;
    }
    own_is_on_key_ = order <= 0;
    base_is_on_key_ = order >= 0;
    // A base without the option, and the batch, do not end with the prefix by themselves.
    if (LeftPrefix(own_is_on_key_ ? own_.key() : base_->key())) return;
    if (!own_is_on_key_) {
      shown_ = Shown::kBase;
      return;
    }
    if (ShowOwn()) {
      shown_ = Shown::kOwn;
      return;
    }
    if (!status_.ok()) return;
  }
}

// The newest update of the key decides; a tombstone hides it.
bool TwoWayIterator::ShowOwn() {
  shows_entity_ = false;
  const WriteBatchRecord& record = own_.record();
  switch (record.type) {
    case kTypeValue: value_ = record.value; return true;
    case kTypeWideColumnEntity: return ShowEntity(record.value);
    case kTypeMerge: return ShowFolded(OwnStateFrom(batch_->Indexed(), own_.shown()));
    default: return false;
  }
}

bool TwoWayIterator::ShowEntity(const Slice& entity) {
  Status status = DecodeColumns(entity, &entity_columns_);
  if (!status.ok()) {
    Fail(Status::CopyAppendMessage(status, "; of key ", KeyInError(own_.key())));
    return false;
  }
  value_ = DefaultColumnOf(entity_columns_);
  shows_entity_ = true;
  return true;
}

// Folds operands. The operands stay valid because the batch keeps its bytes, and the base value
// because the base does not move meanwhile.
bool TwoWayIterator::ShowFolded(const OwnState& state) {
  MergeBase base;
  const bool has_base = state.NeedsDatabase() && base_is_on_key_;
  if (has_base) {
    if (!base_->PrepareValue()) {
      Fail(base_->status());
      return false;
    }
    const WideColumns& columns = base_->columns();
    Status status;
    std::string time;  // known to the iterators of a DBWithTTL, which show values without times
    if (StoresTimes(handle_) && !base_->GetProperty("ashlar.ttl.write-time", &time).ok()) {
      Fail(RefuseTimes());
      return false;
    }
    base = {.value = base_->value(), .is_entity = false};
    if (!columns.empty()) status = BaseOfColumns(columns, &base_space_, &base);
    if (!status.ok()) {
      Fail(status);
      return false;
    }
  }
  Merged merged;
  Status status = FoldOwnState(handle_, own_.key(), state, has_base ? &base : nullptr, &merged);
  if (!status.ok()) {
    Fail(std::move(status));
    return false;
  }
  const bool is_input = merged.input.data() != nullptr;
  if (!is_input) folded_.swap(merged.value);
  if (merged.is_entity) return ShowEntity(folded_);
  value_ = is_input ? merged.input : Slice(folded_);
  return true;
}

void TwoWayIterator::Fail(Status status) {
  assert(!status.ok());
  status_ = std::move(status);
  shown_ = Shown::kNothing;
}

Slice TwoWayIterator::key() const {
  assert(Valid());
  return shown_ == Shown::kBase ? base_->key() : own_.key();
}

Slice TwoWayIterator::value() const {
  assert(Valid());
  return shown_ == Shown::kBase ? base_->value() : value_;
}

const WideColumns& TwoWayIterator::columns() const {
  assert(Valid());
  if (shown_ == Shown::kBase) return base_->columns();
  return shows_entity_ ? entity_columns_ : plain_column_.Of(value_);
}

bool TwoWayIterator::PrepareValue() {
  assert(Valid());
  if (shown_ != Shown::kBase || base_->PrepareValue()) return true;
  shown_ = Shown::kNothing;
  return false;
}

Status TwoWayIterator::status() const {
  if (own_.is_cut_off()) return UpdatesTakenBack();
  return status_.ok() ? base_->status() : status_;
}

}  // namespace ashlar
