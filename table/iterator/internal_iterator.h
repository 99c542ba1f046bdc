// SPDX-License-Identifier: Apache-2.0
//
// InternalIterator iterates over a sorted run of internal keys: a memtable, a table, a level.
//
// Steps inside a block need no virtual call: a source that reads blocks lends its cursor to the
// base class, and only a step to the next block is a virtual call. An iterator that is not Valid()
// is at an end or has failed; status() tells which. Keys and values are valid until the next move.
// Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/block/block_cursor.h"
#include "table/iterator/value_pin.h"

namespace ashlar {

class Arena;
class PassedBlock;

class InternalIterator {
 public:
  InternalIterator() = default;
  virtual ~InternalIterator();
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;

  // True if the iterator is on an entry.
  bool Valid() const { return valid_; }
  // The internal key and, below, the value of the current entry. Only if Valid().
  Slice key() const {
    assert(valid_);
    return key_;
  }
  Slice value() const {
    assert(valid_);
    return value_;
  }
  // How to keep the value of the current entry after the next move, as long as the iterator exists.
  virtual ValuePin PinOfValue() const { return {}; }
  // OK, or the error that ended the iteration.
  virtual Status status() const { return status_; }

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the first entry at or after the internal key, or to the last entry at or before it.
  virtual void Seek(const Slice& internal_key) = 0;
  virtual void SeekForPrev(const Slice& internal_key) = 0;

  // Seek() in steps, for a caller that seeks in several runs: it does one step in all runs, then
  // the next one, so that the cache misses of all runs overlap. The caller does all steps in order,
  // then EndSeek(), all with the same key. In between the iterator may only be positioned again or
  // destroyed. An iterator that gains nothing from steps does all the work in EndSeek().
  enum class SeekStep : uint8_t { kFindBlock, kFetchBlock, kEnterBlock };
  virtual void BeginSeek(const Slice& /*internal_key*/, SeekStep /*step*/) {}
  virtual void EndSeek(const Slice& internal_key) { Seek(internal_key); }

  // Moves to the next entry. Only if Valid(). Hot: usually one step of the cursor.
  [[gnu::always_inline]] void Next() {
    assert(valid_);
    if (cursor_ != nullptr && cursor_->Next(&key_, &value_)) [[likely]]
      return;
    NextSlow();
    assert(!valid_ || status_.ok());
  }
  void Prev() {
    assert(valid_);
    if (cursor_ != nullptr && cursor_->Prev(&key_, &value_)) [[likely]]
      return;
    PrevSlow();
    assert(!valid_ || status_.ok());
  }

  // True if a forward step came to the first entry of a block that may be passed on in its stored
  // form (table/sst/write/block_passing.h). Stays true until OfferBlock().
  bool enters_block() const { return enters_block_; }
  // Copies the block that begins with the current entry to `block`, provided that the whole block
  // lies before `next_of_others`, the next user key of the other runs (null: they have none). False
  // if there is no such block, or none that is worth copying.
  bool OfferBlock(const Slice* next_of_others, PassedBlock* block) {
    enters_block_ = false;
    return valid_ && CopyBlock(next_of_others, block);
  }

  // The cursor whose steps are the steps of this iterator until it reports an end; may be null. An
  // iterator over iterators may move the cursor itself, and calls Next() or Prev() here when the
  // cursor reports an end. Any call of this object may change the cursor.
  BlockCursor* cursor() const { return cursor_; }

 protected:
  // A step without a cursor, or after the cursor found the end of its block or damage.
  virtual void NextSlow() = 0;
  virtual void PrevSlow() = 0;
  // Implements OfferBlock().
  virtual bool CopyBlock(const Slice* /*next_of_others*/, PassedBlock* /*block*/) { return false; }

  bool valid_ = false;         // on an entry
  bool enters_block_ = false;  // see enters_block()
  Slice key_;                  // an internal key; both are valid until the next move
  Slice value_;
  // See cursor(); null: every step is a call of NextSlow() or PrevSlow().
  BlockCursor* cursor_ = nullptr;
  Status status_;  // of the last move; an error implies that valid_ is false
};

// Where an iterator was constructed: with `new`, or inside an arena.
enum class IteratorHome : bool { kHeap, kArena };

inline IteratorHome HomeOf(const Arena* arena) {
  return arena == nullptr ? IteratorHome::kHeap : IteratorHome::kArena;
}
// Destroys an iterator, which may be null. Memory in an arena is not freed.
inline void DestroyIterator(InternalIterator* iterator, IteratorHome home) {
  if (home == IteratorHome::kHeap) {
    delete iterator;
  } else if (iterator != nullptr) {
    iterator->~InternalIterator();
  }
}

// An iterator without entries and with the given status. `arena` may be null: then it is on the
// heap.
InternalIterator* NewEmptyInternalIterator(Arena* arena, const Status& status = Status::OK());

}  // namespace ashlar
