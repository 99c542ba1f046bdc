// SPDX-License-Identifier: Apache-2.0
//
// An error of one family is an error of the whole iterator, because the next key or one of its
// columns may be in that family.
#include "db/api/family_iterators.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

FamilyCursors::FamilyCursors(std::vector<Cursor> cursors, const Comparator* order,
                             const ReadOptions& options)
    : cursors_(std::move(cursors)),
      order_(order),
      leaves_values_unread_(options.allow_unprepared_value),
      is_tailing_(options.tailing) {
  assert(!cursors_.empty() && order_ != nullptr);
}

// An iterator of a transaction may have ended since it was found to be a holder.
bool FamilyCursors::Valid() const {
  const auto is_valid = [](const Cursor* holder) { return holder->iterator->Valid(); };
  return !holders_.empty() && std::all_of(holders_.begin(), holders_.end(), is_valid);
}

Status FamilyCursors::status() const {
  if (!status_.ok()) return status_;
  for (const Cursor& cursor : cursors_) RETURN_IF_ERROR(cursor.iterator->status());
  return Status::OK();
}

Status FamilyCursors::GetProperty(std::string name, std::string* value) const {
  return cursors_.front().iterator->GetProperty(std::move(name), value);
}

// No key is shown after an error.
void FamilyCursors::Fail(const Status& status) {
  assert(!status.ok());
  status_ = status;
  holders_.clear();
}

// Performs a movement that is independent of the present key, so it also ends an error.
template <typename Move>
void FamilyCursors::MoveAll(Direction direction, Move&& move) {
  direction_ = direction;
  status_ = Status::OK();
  for (Cursor& cursor : cursors_) move(cursor.iterator.get());
  FindHolders();
}

// There are few families, so a linear search is fast enough.
void FamilyCursors::FindHolders() {
  holders_.clear();
  for (Cursor& cursor : cursors_) {
    const Iterator& iterator = *cursor.iterator;
    if (!iterator.Valid()) {
      const Status status = iterator.status();
      if (!status.ok()) return Fail(status);
      continue;
    }
    const int order =
        holders_.empty() ? 0 : order_->CompareWithoutTimestamp(iterator.key(), false, key(), false);
    const bool is_nearer = direction_ == Direction::kForward ? order < 0 : order > 0;
    if (is_nearer) holders_.clear();
    if (is_nearer || order == 0) holders_.push_back(&cursor);
  }
}

void FamilyCursors::SeekToFirst() {
  MoveAll(Direction::kForward, [](Iterator* iterator) { iterator->SeekToFirst(); });
}
void FamilyCursors::SeekToLast() {
  MoveAll(Direction::kReverse, [](Iterator* iterator) { iterator->SeekToLast(); });
}
// `target` may be a key that one of the iterators owns and that the first seek overwrites, so it is
// copied.
void FamilyCursors::Seek(const Slice& target) {
  const std::string kept = target.ToString();
  MoveAll(Direction::kForward, [&](Iterator* iterator) { iterator->Seek(kept); });
}
void FamilyCursors::SeekForPrev(const Slice& target) {
  const std::string kept = target.ToString();
  MoveAll(Direction::kReverse, [&](Iterator* iterator) { iterator->SeekForPrev(kept); });
}

// Iterators that are not at the present key are on the wrong side of it for the new direction. The
// present key does not change, unless it was deleted in a transaction or behind a tailing iterator:
// then all iterators are already beyond it.
bool FamilyCursors::TurnAround(Direction direction) {
  assert(Valid() && direction != direction_);
  const std::string present = key().ToString();
  MoveAll(direction, [&](Iterator* iterator) {
    direction == Direction::kForward ? iterator->Seek(present) : iterator->SeekForPrev(present);
  });
  return !holders_.empty() && order_->CompareWithoutTimestamp(key(), false, present, false) == 0;
}

// Only the iterators that are at the present key move. TurnAround() has moved all of them if it was
// needed. There is no position to move from if the iterators have ended with their transaction, and
// then nothing is held.
void FamilyCursors::Next() {
  assert(Valid() || !status().ok());
  if (!Valid()) return holders_.clear();
  if (direction_ != Direction::kForward && !TurnAround(Direction::kForward)) return;
  if (is_tailing_) [[unlikely]]
    return NextTailing();
  for (Cursor* holder : holders_) holder->iterator->Next();
  FindHolders();
}

// A tailing iterator looks for new rows when its own Next() comes to the end. When all have ended,
// those that had ended before look behind the key that was shown last.
void FamilyCursors::NextTailing() {
  assert(direction_ == Direction::kForward && !holders_.empty());
  const std::string last = key().ToString();
  const std::vector<Cursor*> moved = holders_;
  for (Cursor* holder : moved) holder->iterator->Next();
  FindHolders();
  if (!holders_.empty() || !status_.ok()) return;
  for (Cursor& cursor : cursors_) {
    if (std::find(moved.begin(), moved.end(), &cursor) != moved.end()) continue;
    Iterator* const iterator = cursor.iterator.get();
    iterator->Seek(last);
    const bool is_at_last = iterator->Valid() && order_->CompareWithoutTimestamp(
                                                     iterator->key(), false, last, false) == 0;
    if (is_at_last) iterator->Next();
  }
  FindHolders();
}

void FamilyCursors::Prev() {
  assert(Valid() || !status().ok());
  if (!Valid()) return holders_.clear();
  if (direction_ != Direction::kReverse && !TurnAround(Direction::kReverse)) return;
  for (Cursor* holder : holders_) holder->iterator->Prev();
  FindHolders();
}

// Reads the values of the holders only; the other iterators will be moved before they are read.
bool FamilyCursors::PrepareValues() {
  assert(Valid());
  for (Cursor* holder : holders_) {
    if (holder->iterator->PrepareValue()) continue;
    Fail(holder->iterator->status());
    return false;
  }
  return true;
}

namespace {

// Keys of different orders cannot be merged.
Status CheckOneOrder(const std::vector<ColumnFamilyHandle*>& families) {
  if (families.empty()) {
    return Status::InvalidArgument("an iterator over several families needs at least one");
  }
  for (ColumnFamilyHandle* const family : families) {
    if (family == nullptr) {
      return Status::InvalidArgument("an iterator over several families: a handle is null");
    }
    const Comparator* const order = family->GetComparator();
    const Comparator* const first = families.front()->GetComparator();
    if (order->GetId() == first->GetId() && std::string(order->Name()) == first->Name()) continue;
    return Status::InvalidArgument(
        StrCat("an iterator over several families: ", family->GetName(), " is in the order of ",
               order->Name(), ", ", families.front()->GetName(), " in that of ", first->Name()));
  }
  return Status::OK();
}

}  // namespace

// The iterators are opened by the caller, which may be a database or a transaction.
Status OpenFamilyCursors(const ReadOptions& options,
                         const std::vector<ColumnFamilyHandle*>& families,
                         const OpenIterators& make, FamilyCursors* cursors) {
  assert(cursors != nullptr);
  RETURN_IF_ERROR(CheckOneOrder(families));
  if (options.iter_start_ts != nullptr) {
    return Status::NotSupported(
        "an iterator over several families: ReadOptions::iter_start_ts shows versions, which "
        "cannot be merged by key");
  }
  std::vector<std::unique_ptr<Iterator>> iterators;
  RETURN_IF_ERROR(make(&iterators));
  assert(iterators.size() == families.size());
  std::vector<FamilyCursors::Cursor> opened(families.size());
  for (size_t i = 0; i < families.size(); ++i) {
    opened[i].family = families[i];
    opened[i].iterator = std::move(iterators[i]);
  }
  *cursors = FamilyCursors(std::move(opened), families.front()->GetComparator(), options);
  return Status::OK();
}

Status OpenFamilyCursors(DB* db, const ReadOptions& options,
                         const std::vector<ColumnFamilyHandle*>& families, FamilyCursors* cursors) {
  const auto make = [&](std::vector<std::unique_ptr<Iterator>>* iterators) {
    std::vector<Iterator*> opened;
    const Status status = db->NewIterators(options, families, &opened);
    for (Iterator* iterator : opened) iterators->emplace_back(iterator);
    return status;
  };
  return OpenFamilyCursors(options, families, make, cursors);
}

// Each move places all cursors first, and then makes the result for the new key.
void CoalescingIterator::SeekToFirst() {
  cursors_.SeekToFirst();
  Arrive();
}
void CoalescingIterator::SeekToLast() {
  cursors_.SeekToLast();
  Arrive();
}
void CoalescingIterator::Seek(const Slice& target) {
  cursors_.Seek(target);
  Arrive();
}
void CoalescingIterator::SeekForPrev(const Slice& target) {
  cursors_.SeekForPrev(target);
  Arrive();
}
void CoalescingIterator::Next() {
  cursors_.Next();
  Arrive();
}
void CoalescingIterator::Prev() {
  cursors_.Prev();
  Arrive();
}

// With allow_unprepared_value the columns are read by PrepareValue(). The move has just found that
// the holders are valid.
void CoalescingIterator::Arrive() {
  columns_.clear();
  value_ = Slice();
  if (!cursors_.holders().empty() && !cursors_.leaves_values_unread()) Coalesce();
}

bool CoalescingIterator::PrepareValue() {
  assert(Valid());
  if (!cursors_.leaves_values_unread()) return true;
  if (!cursors_.PrepareValues()) return false;
  Coalesce();
  return true;
}

// The slices of the result are those of the iterators, so they are pinned where those are.
[[gnu::cold]] Status CoalescingIterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop_name == "rocksdb.iterator.is-key-pinned" ||
      prop_name == "rocksdb.iterator.is-value-pinned") {
    return cursors_.GetProperty(std::move(prop_name), prop);
  }
  return Iterator::GetProperty(std::move(prop_name), prop);
}

// A stable sort keeps columns of the same name in the order of the families.
void CoalescingIterator::Coalesce() {
  assert(Valid());
  columns_.clear();
  for (const FamilyCursors::Cursor* holder : cursors_.holders()) {
    const WideColumns& columns = holder->iterator->columns();
    columns_.insert(columns_.end(), columns.begin(), columns.end());
  }
  if (cursors_.holders().size() > 1) {
    std::stable_sort(
        columns_.begin(), columns_.end(),
        [](const WideColumn& a, const WideColumn& b) { return a.name().compare(b.name()) < 0; });
    size_t kept = 0;
    for (const WideColumn& column : columns_) {
      // Of columns with the same name the one of the last family counts.
      const bool replaces = kept > 0 && columns_[kept - 1].name() == column.name();
      columns_[replaces ? kept - 1 : kept++] = column;
    }
    columns_.resize(kept);
  }
  value_ = DefaultColumnOf(columns_);
}

void GroupingIterator::SeekToFirst() {
  cursors_.SeekToFirst();
  Arrive();
}
void GroupingIterator::SeekToLast() {
  cursors_.SeekToLast();
  Arrive();
}
void GroupingIterator::Seek(const Slice& target) {
  cursors_.Seek(target);
  Arrive();
}
void GroupingIterator::SeekForPrev(const Slice& target) {
  cursors_.SeekForPrev(target);
  Arrive();
}
void GroupingIterator::Next() {
  cursors_.Next();
  Arrive();
}
void GroupingIterator::Prev() {
  cursors_.Prev();
  Arrive();
}

// With allow_unprepared_value the groups are made by PrepareValue().
void GroupingIterator::Arrive() {
  groups_.clear();
  if (!cursors_.holders().empty() && !cursors_.leaves_values_unread()) Group();
}

bool GroupingIterator::PrepareValue() {
  assert(Valid());
  if (!cursors_.leaves_values_unread()) return true;
  if (!cursors_.PrepareValues()) return false;
  Group();
  return true;
}

// The groups refer to the columns of the iterators, so they are valid until the next move.
void GroupingIterator::Group() {
  assert(Valid());
  groups_.clear();
  for (const FamilyCursors::Cursor* holder : cursors_.holders()) {
    groups_.emplace_back(holder->family, &holder->iterator->columns());
  }
}

}  // namespace ashlar
