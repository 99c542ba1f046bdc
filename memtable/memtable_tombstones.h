// SPDX-License-Identifier: Apache-2.0
//
// MemTableTombstones holds the range tombstones of a memtable, searchable at any time while more
// are added.
//
// They are kept in a few fragmented lists, each of at least kGrowth times as many as the next: a
// new tombstone is a list of its own, and is merged with those before it until that holds again. So
// an addition costs what merging sorted lists costs, spread over many; a lookup searches a handful
// of lists; and nobody has to fragment everything because one tombstone came. Lists are merged as
// they were before fragmenting: tombstones that lie on each other make many more of fragments'
// numbers.
//
// The lists are published through one pointer, which readers load inside an epoch. Threads: any
// number may add and read at once; additions wait for each other. A reader sees every tombstone
// whose Add() happened before its call.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "table/range_del/fragmented_tombstones.h"
#include "util/keys/internal_key.h"
#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

class Allocator;

class MemTableTombstones {
 public:
  // Keys go into `arena`. Both outlive this and every list it gave out.
  MemTableTombstones(const InternalKeyComparator& comparator, Allocator* arena)
      : comparator_(comparator), arena_(arena) {}
  ~MemTableTombstones();
  MemTableTombstones(const MemTableTombstones&) = delete;
  MemTableTombstones& operator=(const MemTableTombstones&) = delete;

  // Whether none was ever added. Hot: one load.
  bool empty() const { return lists_.load(std::memory_order_acquire) == nullptr; }

  // Copies the keys. The end must lie behind the begin.
  void Add(const RangeTombstone& tombstone);

  // The greatest sequence number, at most `upper_seqno`, of those that cover the key; 0 if none.
  SequenceNumber MaxCoveringSeqno(const Slice& user_key, SequenceNumber upper_seqno) const;

  // All of them as one list, null if there are none. Merges what was added since the last call.
  std::shared_ptr<const FragmentedTombstones> All() const;

  // Bytes of the lists; the keys are the arena's.
  size_t MemoryBytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  std::string DebugString() const;

 private:
  static constexpr size_t kGrowth = 2;
  struct Run {
    Run(const InternalKeyComparator& comparator, std::vector<RangeTombstone> tombstones)
        : added(std::move(tombstones)), fragments(comparator, added) {}
    const std::vector<RangeTombstone> added;  // by begin, the newest first
    const FragmentedTombstones fragments;
  };
  using List = std::shared_ptr<const Run>;
  // Immutable once published. The oldest, and largest, first; never empty.
  struct Lists : EpochRetired {
    std::vector<List> all;
  };

  // One list of everything in `lists`, of which the shorter ones come first.
  List Merge(const std::vector<List>& lists) const;
  // Makes `lists` what readers see. Answers what they saw before; the caller retires that after
  // unlocking.
  Lists* PublishLocked(std::vector<List> lists) const REQUIRES(mutex_);

  const InternalKeyComparator comparator_;
  Allocator* const arena_;
  mutable Mutex mutex_{LockRank::kLeaf};  // of those who change the lists
  // Written under mutex_ with release, after the lists are complete; readers load with acquire,
  // inside an epoch. Null until the first tombstone.
  mutable std::atomic<Lists*> lists_{nullptr};
  mutable std::atomic<size_t> memory_bytes_{0};  // written under mutex_
};

}  // namespace ashlar
