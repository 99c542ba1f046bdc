// SPDX-License-Identifier: Apache-2.0
//
// The heap behind the inline steps, and changes of direction.
//
// When the direction changes, the current child stays where it is and every other child is moved to
// its neighbour of the current key on the new side. A child that holds an equal key counts as being
// on the side that its index puts it.
#include "table/iterator/merging_iterator.h"

#include <string>
#include <utility>

#include "util/str_cat.h"

namespace ashlar {

MergingIterator::MergingIterator(const InternalKeyComparator* comparator, SortedRuns runs)
    : comparator_(*comparator), children_(std::move(runs.iterators)), children_home_(runs.home) {
  heap_.reserve(children_.size());
  for ([[maybe_unused]] const InternalIterator* child : children_) assert(child != nullptr);
}

MergingIterator::~MergingIterator() {
  for (InternalIterator* child : children_) DestroyIterator(child, children_home_);
}

void MergingIterator::SeekToFirst() {
  PositionAll<Direction::kForward>([](InternalIterator* child) { child->SeekToFirst(); });
}
void MergingIterator::SeekToLast() {
  PositionAll<Direction::kReverse>([](InternalIterator* child) { child->SeekToLast(); });
}
void MergingIterator::Seek(const Slice& internal_key) {
  PositionAll<Direction::kForward>([&](InternalIterator* child) { child->Seek(internal_key); });
}
void MergingIterator::SeekForPrev(const Slice& internal_key) {
  PositionAll<Direction::kReverse>(
      [&](InternalIterator* child) { child->SeekForPrev(internal_key); });
}

template <MergingIterator::Direction kDirection, typename Position>
void MergingIterator::PositionAll(const Position& position) {
  status_ = Status::OK();
  current_ = Run();
  heap_.clear();
  direction_ = kDirection;
  for (uint32_t i = 0; i < children_.size(); ++i) {
    position(children_[i]);
    if (!Admit(children_[i], i)) return;
  }
  OrderHeap<kDirection>();
  if (!heap_.empty()) TakeRunnerUp<kDirection>();
}

template <MergingIterator::Direction kDirection>
bool MergingIterator::SwitchDirection() {
  assert(Valid());
  assert(direction_ != kDirection);
  direction_ = kDirection;
  heap_.clear();
  const Run current = current_;
  const Slice current_key = current.iterator->key();
  switch_key_.assign(current_key.data(), current_key.size());
  const Slice key = switch_key_;
  const auto holds_same_key = [&](const InternalIterator* child) {
    return child->Valid() && comparator_.Compare(child->key(), key) == 0;
  };
  for (uint32_t i = 0; i < children_.size(); ++i) {
    if (i == current.index) continue;
    InternalIterator* const child = children_[i];
    if constexpr (kDirection == Direction::kForward) {
      child->Seek(key);
      if (i < current.index && holds_same_key(child)) child->Next();
    } else {
      child->SeekForPrev(key);
      if (i > current.index && holds_same_key(child)) child->Prev();
    }
    if (!Admit(child, i)) return false;
  }
  OrderHeap<kDirection>();
  return true;
}

// Puts a child into the heap, unordered, if it is on an entry. False if it failed.
bool MergingIterator::Admit(InternalIterator* child, uint32_t index) {
  assert(children_[index] == child);
  if (child->Valid()) {
    heap_.push_back({.head = Head(*child), .iterator = child, .index = index});
    return true;
  }
  Status status = child->status();
  if (status.ok()) return true;
  Fail(status);
  return false;
}

void MergingIterator::Fail(const Status& status) {
  assert(!status.ok());
  status_ = status;
  current_ = Run();
  heap_.clear();
}

template <MergingIterator::Direction kDirection>
void MergingIterator::OrderHeap() {
  for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown<kDirection>(i, Run(heap_[i]));
}

// Moves the first child of the heap out of it and makes it the current one.
template <MergingIterator::Direction kDirection>
void MergingIterator::TakeRunnerUp() {
  assert(!heap_.empty());
  current_ = heap_.front();
  const Run last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown<kDirection>(0, last);
}

// The current child has moved, or ended: makes the child that now comes first the current one.
template <MergingIterator::Direction kDirection>
void MergingIterator::Settle() {
  if (current_.iterator->Valid()) {
    if (heap_.empty() || ComesFirst<kDirection>(current_, heap_.front())) return;
    const Run moved = current_;
    current_ = heap_.front();
    SiftDown<kDirection>(0, moved);
    return;
  }
  Status status = current_.iterator->status();
  if (!status.ok()) return Fail(status);
  current_ = Run();
  if (!heap_.empty()) TakeRunnerUp<kDirection>();
}

template <MergingIterator::Direction kDirection>
bool MergingIterator::ComesFirst(const Run& a, const Run& b) const {
  assert(a.iterator != b.iterator);
  constexpr bool kForward = kDirection == Direction::kForward;
  if (a.head != b.head) return (a.head < b.head) == kForward;
  const int order = comparator_.Compare(a.iterator->key(), b.iterator->key());
  if (order != 0) return (order < 0) == kForward;
  return (a.index < b.index) == kForward;
}

// Fills the hole with `run`, after moving up the children that come before it.
template <MergingIterator::Direction kDirection>
void MergingIterator::SiftDown(size_t hole, const Run& run) {
  const size_t count = heap_.size();
  assert(hole < count);
  for (size_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
    if (child + 1 < count && ComesFirst<kDirection>(heap_[child + 1], heap_[child])) ++child;
    if (!ComesFirst<kDirection>(heap_[child], run)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = run;
}

std::string MergingIterator::DebugString() const {
  const auto describe = [](const Run& run) {
    return StrCat("  run ", run.index, " at ",
                  DescribeInternalKey(run.iterator->key(), /*hex=*/true), "\n");
  };
  std::string text = StrCat(
      children_.size(), " runs, ", direction_ == Direction::kForward ? "forwards" : "backwards",
      ", ", status_.ok() ? (Valid() ? "valid" : "at an end") : status_.ToString().c_str(), "\n");
  if (Valid()) text += describe(current_);
  for (const Run& run : heap_) text += describe(run);
  return text;
}

template bool MergingIterator::SwitchDirection<MergingIterator::Direction::kForward>();
template bool MergingIterator::SwitchDirection<MergingIterator::Direction::kReverse>();
template void MergingIterator::Settle<MergingIterator::Direction::kForward>();
template void MergingIterator::Settle<MergingIterator::Direction::kReverse>();

}  // namespace ashlar
