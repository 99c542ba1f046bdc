// SPDX-License-Identifier: Apache-2.0
//
// Values are looked at after each move, so that a damaged value ends the iteration where it is.
#include "db/utilities/ttl/ttl_iterator.h"

#include <cassert>
#include <utility>

namespace ashlar {

TtlIterator::TtlIterator(std::unique_ptr<Iterator> source, bool leaves_values_unread,
                         std::shared_ptr<const TtlSetting> hidden_after,
                         std::shared_ptr<SystemClock> clock, int64_t now)
    : source_(std::move(source)),
      leaves_values_unread_(leaves_values_unread),
      hidden_after_(std::move(hidden_after)),
      clock_(std::move(clock)),
      now_(now) {
  assert(source_ != nullptr);
  assert(hidden_after_ == nullptr || !leaves_values_unread_);
}

// Takes the time off the value at which the source stands. False if the value is damaged; status_
// then says so.
bool TtlIterator::TakeValue() {
  assert(source_->Valid());
  const WideColumns& stored = source_->columns();
  write_time_ = 0;
  // Columns have no time, so they are shown as they are.
  if (!IsPlainValue(stored)) {
    value_ = source_->value();
    columns_ = stored;
    return true;
  }
  const Slice value = source_->value();
  status_ = CheckWriteTime(value);
  if (!status_.ok()) return is_valid_ = false;
  write_time_ = WriteTimeOf(value);
  value_ = WithoutWriteTime(value);
  assert(value_.size() + kWriteTimeBytes == value.size());
  columns_.assign(1, WideColumn(kDefaultWideColumnName, value_));
  return true;
}

bool TtlIterator::IsHidden() const {
  return hidden_after_ != nullptr && write_time_ != 0 &&
         IsExpired(write_time_, hidden_after_->seconds.load(std::memory_order_relaxed), now_);
}

// Moves on over expired entries, if these are to be hidden.
void TtlIterator::Settle(bool is_forward) {
  status_ = Status::OK();
  // The slices belong to the entry before, which the source has left.
  value_.clear();
  columns_.clear();
  // Ends at the end of the source, at an entry to show, or at a damaged value.
  while (true) {
    is_valid_ = source_->Valid();
    // An unread value is looked at by PrepareValue().
    if (!is_valid_ || leaves_values_unread_) return;
    if (!TakeValue() || !IsHidden()) return;
    is_forward ? source_->Next() : source_->Prev();
  }
}

void TtlIterator::SeekToFirst() {
  source_->SeekToFirst();
  Settle(true);
}
void TtlIterator::SeekToLast() {
  source_->SeekToLast();
  Settle(false);
}
void TtlIterator::Seek(const Slice& target) {
  source_->Seek(target);
  Settle(true);
}
void TtlIterator::SeekForPrev(const Slice& target) {
  source_->SeekForPrev(target);
  Settle(false);
}
void TtlIterator::Next() {
  assert(Valid());
  source_->Next();
  Settle(true);
}
void TtlIterator::Prev() {
  assert(Valid());
  source_->Prev();
  Settle(false);
}

void TtlIterator::BeginRefresh() {
  is_valid_ = false;
  status_ = Status::OK();
  if (hidden_after_ != nullptr) now_ = PresentSeconds(clock_.get());
}
Status TtlIterator::Refresh() {
  BeginRefresh();
  return source_->Refresh();
}
Status TtlIterator::Refresh(const Snapshot* snapshot) {
  BeginRefresh();
  return source_->Refresh(snapshot);
}

bool TtlIterator::PrepareValue() {
  assert(Valid());
  if (!leaves_values_unread_) return true;
  if (source_->PrepareValue()) return TakeValue();
  // The source has ended or failed; its status is this iterator's status.
  return is_valid_ = false;
}

Status TtlIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("prop is nullptr");
  if (prop_name != "ashlar.ttl.write-time") return source_->GetProperty(prop_name, prop);
  if (!is_valid_) return Status::InvalidArgument("Iterator::GetProperty: not at an entry");
  if (write_time_ == 0) return Status::NotFound("DBWithTTL: the value has no time or is not read");
  *prop = std::to_string(write_time_);
  return Status::OK();
}

}  // namespace ashlar
