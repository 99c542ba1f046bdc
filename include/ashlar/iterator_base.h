// SPDX-License-Identifier: Apache-2.0
//
// What all iterators over keys have in common: positioning, the key, and an error state.
//
// An iterator is unpositioned when new. Threads: one at a time per iterator; const members may be
// called from many threads while nobody moves it.
#pragma once

#include "ashlar/cleanable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class Snapshot;

class ASHLAR_EXPORT IteratorBase : public Cleanable {
 public:
  IteratorBase() {}
  IteratorBase(const IteratorBase&) = delete;
  IteratorBase& operator=(const IteratorBase&) = delete;
  virtual ~IteratorBase() {}

  // Whether the iterator stands on an entry. False at either end and after every error: then
  // status() tells which.
  virtual bool Valid() const = 0;

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // To the first key at or after target. Keys are given and returned without timestamps.
  virtual void Seek(const Slice& target) = 0;
  // To the last key at or before target.
  virtual void SeekForPrev(const Slice& target) = 0;

  // One step. Only while Valid().
  virtual void Next() = 0;
  virtual void Prev() = 0;

  // Moves the view of the iterator to the newest state, or to that of the snapshot; it is
  // unpositioned afterwards. NotSupported from iterators that cannot.
  virtual Status Refresh() { return Refresh(nullptr); }
  virtual Status Refresh(const Snapshot* /*snapshot*/) {
    return Status::NotSupported("Iterator::Refresh: this kind of iterator cannot be refreshed");
  }

  // With ReadOptions::allow_unprepared_value: loads the value of the present entry, once before it
  // is read. On failure false, and the iterator is no longer Valid(). Only while Valid().
  virtual bool PrepareValue() { return true; }

  // Valid until the next move, or longer if the key is pinned. Only while Valid().
  virtual Slice key() const = 0;

  // OK also at a normal end; Incomplete if ReadOptions::read_tier forbade a needed read.
  virtual Status status() const = 0;
};

}  // namespace ashlar
