// SPDX-License-Identifier: Apache-2.0
//
// MergingIterator merges sorted runs into one run in internal key order, and leaves out the entries
// that range tombstones of the runs hide.
//
// The child with the first key is kept apart from a heap of the other children. A step moves that
// child and compares its key head with one number, the limit: the head of the runner-up's key or of
// the end of the tombstone slab, whichever comes first. Usually nothing else is needed, with or
// without tombstones. Equal keys come in the order of the children. The first error of any child
// ends the iteration: Valid() is false and status() is that error.
//
// A child that a tombstone of a newer run hides is parked at the entry where it met the tombstone,
// or not even positioned, until the merge reaches the end of the tombstone. The entries in between
// are not read. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/iterator/internal_iterator.h"
#include "table/iterator/sorted_run.h"
#include "table/iterator/tombstone_slab.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class MergingIterator final : private TombstoneWatcher {
 public:
  // Owns the runs, none of which is null. The comparator outlives the iterator.
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
  // How to keep the value after the next moves, as long as the children exist.
  ValuePin PinOfValue() const {
    assert(Valid());
    return current_.iterator->PinOfValue();
  }
  // True if the current entry begins a block that its child can offer; only while moving forwards.
  bool EntersBlock() const {
    assert(Valid());
    return current_.iterator->enters_block();
  }
  // Copies that block to `block`, unless another child has an entry between the keys of the block.
  bool OfferBlock(PassedBlock* block);
  // Index of the child that holds the current entry.
  uint32_t child() const { return current_.index; }
  const Status& status() const { return status_; }
  // The number of entries that were skipped because a tombstone of their own run hides them.
  uint64_t hidden_steps() const { return hidden_steps_; }

  // Each moves all children and finds the first entry to show. SeekForPrev() finds the last entry
  // at or before the key.
  void SeekToFirst();
  void SeekToLast();
  void Seek(const Slice& internal_key);
  void SeekForPrev(const Slice& internal_key);
  // One step. Only if Valid().
  void Next();
  void Prev();

  // Adds one more child, which is newer than all others and has no tombstones. It must have the
  // same home as they have. The iterator has no position afterwards.
  void AddNewest(InternalIterator* child);
  // Called when the newest child, which has no tombstones, has other entries than before. Moves it
  // to the first entry at or after the key (backwards: at or before it), and the merge continues
  // from there. The other children are not moved, so none of their entries may lie between the key
  // and the current entry.
  void PlaceNewest(const Slice& internal_key);

  // The direction, and the current keys of all children that are on an entry.
  std::string DebugString() const;

 private:
  enum class Direction : uint8_t { kForward, kReverse };

  // A child that is on an entry. A null iterator means that there is no such child.
  struct Run {
    uint64_t head = 0;  // key head of the entry's user key
    InternalIterator* iterator = nullptr;
    uint32_t index = 0;  // index of the child
  };
  enum class Place : uint8_t {
    kMerged,    // current, in the heap, or at its end
    kParked,    // on an entry that may be hidden, not in the heap
    kUnplaced,  // hidden at the position of the merge; its own position has no meaning
  };
  // A run and its state in the merge.
  struct Child {
    InternalIterator* points;
    RunTombstones* tombstones;  // null: none
    Place place = Place::kMerged;
  };

  // True if the entry of `a` comes before that of `b` in this direction; equal keys come in the
  // order of the children.
  template <Direction kDirection>
  bool ComesFirst(const Run& a, const Run& b) const;
  // Forgets all positions before a move of all children.
  void Restart(Direction direction);
  template <Direction kDirection>
  void PlaceNewest(const Slice& internal_key);
  // Moves every child with `position` and starts the merge.
  template <Direction kDirection, typename Position>
  void PositionAll(const Position& position);
  // Seek() with the steps of all children interleaved, after Restart().
  void SeekTogether(const Slice& target);
  // Does the first step for the newest children and returns their number. With tombstones, the slab
  // around the target is built on the way, and children that the slab hides stay unplaced and are
  // not counted.
  uint32_t FindBlocks(const Slice& target);
  // Starts the merge: all merged children are in the heap, but not ordered yet.
  template <Direction kDirection>
  void StartMerge();
  // SeekForPrev() that does not move the children that are hidden there.
  void SeekBackUnderTombstones(const Slice& target);
  // Moves all other children to the other side of the current entry. False after an error.
  template <Direction kDirection>
  bool SwitchDirection();
  // Moves a child next to the current key, to the side in which this direction continues.
  template <Direction kDirection>
  void PlaceBesideCurrent(uint32_t index);
  // Makes a heap of the children in heap_.
  template <Direction kDirection>
  void OrderHeap();
  // The front of the heap becomes the current child; the heap must not be empty.
  template <Direction kDirection>
  void TakeRunnerUp();
  // Finds the entry to show after the current child has moved.
  template <Direction kDirection>
  void Settle();
  // Orders the current child again after it has moved: it stays current, is exchanged with the
  // runner-up, or is at its end. False after an error.
  template <Direction kDirection>
  bool Rank();
  // Computes limit_ and is_alone_.
  template <Direction kDirection>
  void SetLimit();

  // Passes hidden entries, from slab to slab, until an entry can be shown or the end is reached.
  template <Direction kDirection>
  void FindVisible();
  // True if the current entry lies outside of the slab, or if there is no current entry.
  template <Direction kDirection>
  bool IsPastSlab() const;
  // True if everything behind the end of the slab is outside of the bounds.
  template <Direction kDirection>
  bool EndIsOutOfBounds() const;
  // Builds the slab that begins at the position and merges the children that it does not hide;
  // `place` is called for unplaced ones. False after an error.
  template <Direction kDirection, typename Placement>
  bool EnterSlab(const KeyPosition& at, const Placement& place);
  template <Direction kDirection>
  bool EnterNextSlab();
  // Moves a parked child to the first entry that does not lie before the position.
  template <Direction kDirection>
  void PassHidden(InternalIterator* child, const KeyPosition& at);
  // Moves a child to the first entry at or behind the position, in this direction.
  template <Direction kDirection>
  void SeekTo(InternalIterator* child, const KeyPosition& at);
  // TombstoneWatcher: a child has found its first tombstones.
  void OnTombstonesMet() override;

  // Puts `run` into the heap, where the element at `hole` is free.
  template <Direction kDirection>
  void SiftDown(size_t hole, const Run& run);
  // Adds a child that was moved to heap_, without ordering, if it is on an entry. False if the
  // child failed.
  bool Admit(uint32_t index);
  void Fail(const Status& status);
  uint64_t Head(const InternalIterator& child) const {
    return comparator_.Head(ExtractUserKey(child.key()));
  }

  Run current_;  // not Valid() if its iterator is null. Its head is out of date while is_alone_
  std::vector<Run> heap_;  // the other children that are on an entry; the runner-up is first
  // Forwards, a step to an entry whose head is below the limit needs no further check; backwards,
  // above it.
  uint64_t limit_ = 0;
  // There is no other child and no tombstone, so a step needs no check at all.
  bool is_alone_ = false;
  // The direction for which the children are placed around current_.
  Direction direction_ = Direction::kForward;

  // Used only with range tombstones.
  bool has_tombstones_ = false;  // at least one child has tombstones, as far as is known
  bool is_stale_ = false;        // a child has found tombstones that slab_ does not contain
  TombstoneSlab slab_;           // contains the current entry
  uint64_t hidden_steps_ = 0;    // see hidden_steps()

  InternalKeyComparator comparator_;
  std::vector<Child> children_;  // owned; newest first
  IteratorHome children_home_;
  const Slice* lower_bound_;  // null: none
  const Slice* upper_bound_;
  // Scratch: the key at which the direction changes, or at which a slab ends.
  std::string position_key_;
  std::string target_;  // scratch: the target of SeekTo()
  Status status_;       // the first error of a child
};

[[gnu::always_inline]] inline void MergingIterator::Next() {
  assert(Valid());
  if (direction_ != Direction::kForward && !SwitchDirection<Direction::kForward>()) return;
  current_.iterator->Next();
  if (current_.iterator->Valid()) [[likely]] {
    if (is_alone_) return;
    current_.head = Head(*current_.iterator);
    if (current_.head < limit_) return;
  }
  Settle<Direction::kForward>();
}

inline void MergingIterator::Prev() {
  assert(Valid());
  if (direction_ != Direction::kReverse && !SwitchDirection<Direction::kReverse>()) return;
  current_.iterator->Prev();
  if (current_.iterator->Valid()) [[likely]] {
    if (is_alone_) return;
    current_.head = Head(*current_.iterator);
    if (current_.head > limit_) return;
  }
  Settle<Direction::kReverse>();
}

}  // namespace ashlar
