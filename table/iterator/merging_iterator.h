// SPDX-License-Identifier: Apache-2.0
//
// MergingIterator merges sorted runs into one, in internal key order.
//
// It keeps the child with the first key apart from a heap of the others. A step moves that child
// and compares it with the top of the heap, the runner-up, only: one comparison of cached key heads
// in the common case. Equal keys come in the order of the children. The first error of any child
// ends the iteration: Valid() is false and status() is that error. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/iterator/internal_iterator.h"
#include "table/iterator/sorted_run.h"
#include "util/internal_key.h"

namespace ashlar {

class MergingIterator final {
 public:
  // Owns the runs, of which none is null. The comparator outlives the iterator.
  MergingIterator(const InternalKeyComparator* comparator, SortedRuns runs);
  ~MergingIterator();
  MergingIterator(const MergingIterator&) = delete;
  MergingIterator& operator=(const MergingIterator&) = delete;

  bool Valid() const { return current_.iterator != nullptr; }
  Slice key() const {
    assert(Valid());
    return current_.iterator->key();
  }
  Slice value() const {
    assert(Valid());
    return current_.iterator->value();
  }
  // Index of the child that holds the current entry.
  uint32_t child() const { return current_.index; }
  const Status& status() const { return status_; }

  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& internal_key);
  void SeekForPrev(const Slice& internal_key);
  void Next();
  void Prev();

  // Direction, and the keys on which the current child and the heap stand.
  std::string DebugString() const;

 private:
  enum class Direction : uint8_t { kForward, kReverse };

  // A child that is on an entry. A null iterator stands for none.
  struct Run {
    uint64_t head = 0;  // of the entry's user key
    InternalIterator* iterator = nullptr;
    uint32_t index = 0;
  };

  // Whether a's entry comes before b's in this direction; equal keys in the order of the children.
  template <Direction kDirection>
  bool ComesFirst(const Run& a, const Run& b) const;
  // Moves every child by `position` and starts anew.
  template <Direction kDirection, typename Position>
  void PositionAll(const Position& position);
  // Puts the other children on the far side of the current entry. False after an error.
  template <Direction kDirection>
  bool SwitchDirection();
  template <Direction kDirection>
  void OrderHeap();
  // The front of the heap becomes current; the heap must hold something.
  template <Direction kDirection>
  void TakeRunnerUp();
  // After the current child moved: it stays, or changes places with the runner-up, or is at its
  // end.
  template <Direction kDirection>
  void Settle();
  // Puts `run` into the heap, whose place `hole` is free.
  template <Direction kDirection>
  void SiftDown(size_t hole, const Run& run);
  // A child that was moved goes into the heap if it is on an entry. False after an error.
  bool Admit(InternalIterator* child, uint32_t index);
  void Fail(const Status& status);
  uint64_t Head(const InternalIterator& child) const {
    return comparator_.Head(ExtractUserKey(child.key()));
  }

  Run current_;            // none: not valid. Its head is stale while it moves alone
  std::vector<Run> heap_;  // the other children that are on an entry; the runner-up is in front
  Direction direction_ = Direction::kForward;  // in which the children stand behind current_
  InternalKeyComparator comparator_;
  std::vector<InternalIterator*> children_;  // owned; the newer run first
  IteratorHome children_home_;
  std::string switch_key_;  // scratch: the key at which the direction changes
  Status status_;           // the first error of a child
};

inline void MergingIterator::Next() {
  assert(Valid());
  if (direction_ != Direction::kForward && !SwitchDirection<Direction::kForward>()) return;
  current_.iterator->Next();
  if (current_.iterator->Valid()) [[likely]] {
    if (heap_.empty()) return;
    current_.head = Head(*current_.iterator);
    if (current_.head < heap_.front().head) return;
  }
  Settle<Direction::kForward>();
}

inline void MergingIterator::Prev() {
  assert(Valid());
  if (direction_ != Direction::kReverse && !SwitchDirection<Direction::kReverse>()) return;
  current_.iterator->Prev();
  if (current_.iterator->Valid()) [[likely]] {
    if (heap_.empty()) return;
    current_.head = Head(*current_.iterator);
    if (current_.head > heap_.front().head) return;
  }
  Settle<Direction::kReverse>();
}

}  // namespace ashlar
