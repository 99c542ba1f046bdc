// SPDX-License-Identifier: Apache-2.0
//
// MergingIterator merges sorted runs into one, in internal key order, without what their range
// tombstones hide.
//
// It keeps the child with the first key apart from a heap of the others. A step moves that child
// and compares its key head with one number, the limit: the head of the runner-up or of the end of
// the tombstone slab, whatever comes first. That is all in the common case, with tombstones and
// without. Equal keys come in the order of the children. The first error of any child ends the
// iteration: Valid() is false and status() is that error.
//
// Children that a newer run's tombstone hides are parked where they meet it, or not even placed,
// until the merge comes to the tombstone's end: what they hold in between is not read. Threads: one
// at a time.
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
  // How the value outlives the next moves, as long as the children do.
  ValuePin PinOfValue() const {
    assert(Valid());
    return current_.iterator->PinOfValue();
  }
  // The current entry begins a block that its child may offer; going forward only.
  bool EntersBlock() const {
    assert(Valid());
    return current_.iterator->enters_block();
  }
  // That block, if no other child has an entry among those of it.
  bool OfferBlock(PassedBlock* block);
  // Index of the child that holds the current entry.
  uint32_t child() const { return current_.index; }
  const Status& status() const { return status_; }
  // How many entries were stepped over because a tombstone of their own run hides them.
  uint64_t hidden_steps() const { return hidden_steps_; }

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
  enum class Place : uint8_t {
    kMerged,    // current, in the heap, or at its end
    kParked,    // on an entry that may be hidden, off the heap
    kUnplaced,  // hidden where the merge is; its position means nothing
  };
  struct Child {
    InternalIterator* points;
    RunTombstones* tombstones;  // null: none
    Place place = Place::kMerged;
  };

  // Whether a's entry comes before b's in this direction; equal keys in the order of the children.
  template <Direction kDirection>
  bool ComesFirst(const Run& a, const Run& b) const;
  void Restart(Direction direction);
  // Moves every child by `position` and starts anew.
  template <Direction kDirection, typename Position>
  void PositionAll(const Position& position);
  // Seek() in the steps of all children together, after a Restart().
  void SeekTogether(const Slice& target);
  // The first step, of as many children, the newest first, as it returns. Under tombstones the slab
  // of the target is made on the way, and those that it hides wait unplaced.
  uint32_t FindBlocks(const Slice& target);
  // All children that are merged stand in the heap, in no order yet.
  template <Direction kDirection>
  void StartMerge();
  // SeekForPrev() without the children that are hidden there.
  void SeekBackUnderTombstones(const Slice& target);
  // Puts the other children on the far side of the current entry. False after an error.
  template <Direction kDirection>
  bool SwitchDirection();
  // Puts a child next to the current key, on the side where this direction goes on.
  template <Direction kDirection>
  void PlaceBesideCurrent(uint32_t index);
  template <Direction kDirection>
  void OrderHeap();
  // The front of the heap becomes current; the heap must hold something.
  template <Direction kDirection>
  void TakeRunnerUp();
  // After the current child moved: finds the entry to show.
  template <Direction kDirection>
  void Settle();
  // The current child moved: it stays, or changes places with the runner-up, or is at its end.
  // False after an error.
  template <Direction kDirection>
  bool Rank();
  template <Direction kDirection>
  void SetLimit();

  // Leaves what is hidden behind, from slab to slab, until an entry can be shown.
  template <Direction kDirection>
  void FindVisible();
  // Whether the current entry, or the lack of one, lies outside of the slab.
  template <Direction kDirection>
  bool IsPastSlab() const;
  template <Direction kDirection>
  bool EndIsOutOfBounds() const;
  // Makes the slab that begins at the position and takes back the children that it does not hide:
  // `place` is called for those that are unplaced. False after an error.
  template <Direction kDirection, typename Placement>
  bool EnterSlab(const KeyPosition& at, const Placement& place);
  template <Direction kDirection>
  bool EnterNextSlab();
  // From a parked child's entry to the first one that does not lie before the position.
  template <Direction kDirection>
  void PassHidden(InternalIterator* child, const KeyPosition& at);
  template <Direction kDirection>
  void SeekTo(InternalIterator* child, const KeyPosition& at);
  void OnTombstonesMet() override;

  // Puts `run` into the heap, whose place `hole` is free.
  template <Direction kDirection>
  void SiftDown(size_t hole, const Run& run);
  // A child that was moved goes into the heap if it is on an entry. False after an error.
  bool Admit(uint32_t index);
  void Fail(const Status& status);
  uint64_t Head(const InternalIterator& child) const {
    return comparator_.Head(ExtractUserKey(child.key()));
  }

  Run current_;            // none: not valid. Its head is stale while it moves alone
  std::vector<Run> heap_;  // the other children that are on an entry; the runner-up is in front
  // Forward, a step to an entry whose head is below needs no second look; backward, above.
  uint64_t limit_ = 0;
  bool is_alone_ = false;                      // no other child and no tombstone: no step needs one
  Direction direction_ = Direction::kForward;  // in which the children stand behind current_

  // Under range tombstones only.
  bool has_tombstones_ = false;  // of any child, as far as is known
  bool is_stale_ = false;        // a child has met tombstones that slab_ does not know
  TombstoneSlab slab_;           // around the current entry
  uint64_t hidden_steps_ = 0;    // since it was made

  InternalKeyComparator comparator_;
  std::vector<Child> children_;  // owned; the newer run first
  IteratorHome children_home_;
  const Slice* lower_bound_;  // null: none
  const Slice* upper_bound_;
  std::string position_key_;  // scratch: the key at which the direction changes or a slab ends
  std::string target_;        // scratch
  Status status_;             // the first error of a child
};

inline void MergingIterator::Next() {
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
