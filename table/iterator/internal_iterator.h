// SPDX-License-Identifier: Apache-2.0
//
// InternalIterator walks a sorted run of internal keys: a memtable, a table, a level.
//
// Steps inside a block are not virtual: a source that reads blocks lends its cursor to the base
// class, and only crossing to the next block is a call. An iterator that is not Valid() is at an
// end or has failed; status() tells which. Keys and values live until the next move. Threads: one
// at a time.
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

  bool Valid() const { return valid_; }
  Slice key() const {
    assert(valid_);
    return key_;
  }
  Slice value() const {
    assert(valid_);
    return value_;
  }
  // How the value of this entry outlives the next moves, as long as the iterator does.
  virtual ValuePin PinOfValue() const { return {}; }
  virtual Status status() const { return status_; }

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // The first entry at or after the internal key; the last one at or before it.
  virtual void Seek(const Slice& internal_key) = 0;
  virtual void SeekForPrev(const Slice& internal_key) = 0;

  // Seek() in steps, for whoever seeks in several runs: each step of all of them, then the next, so
  // that they wait for memory together. All steps in order, then EndSeek(), with the same key; in
  // between the iterator may only be positioned anew or destroyed. Those that gain nothing do it
  // all in EndSeek().
  enum class SeekStep : uint8_t { kFindBlock, kFetchBlock, kEnterBlock };
  virtual void BeginSeek(const Slice& /*internal_key*/, SeekStep /*step*/) {}
  virtual void EndSeek(const Slice& internal_key) { Seek(internal_key); }

  void Next() {
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

  // A step forwards has come to the first entry of a block that may be passed on as it is stored
  // (table/sst/write/block_passing.h). It stays so until somebody asks for the block.
  bool enters_block() const { return enters_block_; }
  // The block that begins with the current entry, if all of it lies before the user key, where
  // another run goes on; null: none does. False: there is none, or none that is worth it.
  bool OfferBlock(const Slice* next_of_others, PassedBlock* block) {
    enters_block_ = false;
    return valid_ && CopyBlock(next_of_others, block);
  }

  // The cursor whose steps are this iterator's steps until it reports an end, or null. For
  // iterators over iterators: they may drive it themselves, and call Next() or Prev() here when it
  // reports an end. It may change with every call of this object.
  BlockCursor* cursor() const { return cursor_; }

 protected:
  // The step when there is no cursor, or when the cursor met the end of its block or damage.
  virtual void NextSlow() = 0;
  virtual void PrevSlow() = 0;
  virtual bool CopyBlock(const Slice* /*next_of_others*/, PassedBlock* /*block*/) { return false; }

  bool valid_ = false;         // on an entry
  bool enters_block_ = false;  // see enters_block()
  Slice key_;                  // internal; both live until the next move
  Slice value_;
  BlockCursor* cursor_ = nullptr;  // see cursor(); null where steps are always slow
  Status status_;                  // of the last positioning; not OK implies not valid
};

// Whether an iterator was built with `new` or inside an arena.
enum class IteratorHome : bool { kHeap, kArena };

inline IteratorHome HomeOf(const Arena* arena) {
  return arena == nullptr ? IteratorHome::kHeap : IteratorHome::kArena;
}
inline void DestroyIterator(InternalIterator* iterator, IteratorHome home) {
  if (home == IteratorHome::kHeap) {
    delete iterator;
  } else if (iterator != nullptr) {
    iterator->~InternalIterator();
  }
}

// An iterator over nothing, with the given status. `arena` may be null.
InternalIterator* NewEmptyInternalIterator(Arena* arena, const Status& status = Status::OK());

}  // namespace ashlar
