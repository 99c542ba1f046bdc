// SPDX-License-Identifier: Apache-2.0
//
// The part that all iterators over keys have in common: position, key and status.
//
// A new iterator has no position. Threads: one at a time per iterator; const members may be called
// from many threads as long as no thread moves the iterator.
#pragma once

#include "ashlar/cleanable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class Snapshot;

// A position in a sorted sequence of keys.
class ASHLAR_EXPORT IteratorBase : public Cleanable {
 public:
  IteratorBase() {}
  IteratorBase(const IteratorBase&) = delete;
  IteratorBase& operator=(const IteratorBase&) = delete;
  virtual ~IteratorBase() {}

  // Whether the iterator is on an entry. False at both ends and after an error; status() tells
  // these cases apart.
  virtual bool Valid() const = 0;

  // Move to the first or the last key.
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // Moves to the first key at or after `target`. Keys are passed and returned without timestamps.
  virtual void Seek(const Slice& target) = 0;
  // Moves to the last key at or before `target`.
  virtual void SeekForPrev(const Slice& target) = 0;

  // Move by one entry. Only allowed while Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // Lets the iterator show the newest state, or the state of the snapshot. Afterwards it has no
  // position. NotSupported if this kind of iterator cannot do it.
  virtual Status Refresh() { return Refresh(nullptr); }
  virtual Status Refresh(const Snapshot* /*snapshot*/) {
    return Status::NotSupported("Iterator::Refresh: this kind of iterator cannot be refreshed");
  }

  // With ReadOptions::allow_unprepared_value: loads the value of the current entry. Call it once
  // before reading the value. If it returns false, loading has failed and the iterator is no longer
  // Valid(). Only allowed while Valid().
  virtual bool PrepareValue() { return true; }

  // The key of the current entry. Valid until the iterator moves, or longer if keys are pinned.
  // Only allowed while Valid().
  virtual Slice key() const = 0;

  // The error that ended the iteration; OK at a normal end. Incomplete if a read was necessary that
  // ReadOptions::read_tier does not allow.
  virtual Status status() const = 0;
};

}  // namespace ashlar
