// SPDX-License-Identifier: Apache-2.0
//
// MemTableTombstones contains the range tombstones of a memtable; they can be searched at any time
// while more are added.
//
// The tombstones are in a few fragmented lists, each with at least kGrowth times as many tombstones
// as the next one. A new tombstone becomes a list of its own, which is merged with the lists before
// it until this condition holds again. So an addition costs, on average, a small part of a merge of
// sorted lists; a lookup searches a handful of lists; and one new tombstone does not require
// fragmenting all of them again. Merges use the original tombstones, because overlapping tombstones
// have many more sequence numbers after they were fragmented.
//
// The lists are published through one pointer, which readers load inside an epoch. Threads: any
// number may add and read at the same time; additions wait for each other. A reader sees every
// tombstone whose Add() returned before its call.
#pragma once

#include <atomic>
#include <cassert>
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
  // Keys are copied to `arena`. Both arguments outlive this object and every list from All().
  MemTableTombstones(const InternalKeyComparator& comparator, Allocator* arena)
      : comparator_(comparator), arena_(arena) {
    assert(arena != nullptr);
  }
  ~MemTableTombstones();
  MemTableTombstones(const MemTableTombstones&) = delete;
  MemTableTombstones& operator=(const MemTableTombstones&) = delete;

  // True if no tombstone was ever added. Hot: one load.
  bool empty() const { return lists_.load(std::memory_order_acquire) == nullptr; }

  // Adds a tombstone, whose end must be behind its begin. Copies the keys.
  void Add(const RangeTombstone& tombstone);

  // The greatest sequence number, not above `upper_seqno`, of the tombstones that cover the key; 0:
  // none.
  SequenceNumber MaxCoveringSeqno(const Slice& user_key, SequenceNumber upper_seqno) const;

  // All tombstones as one list; null if there are none. Merges the lists if there are several.
  std::shared_ptr<const FragmentedTombstones> All() const;

  // Bytes of the lists; the keys belong to the arena.
  size_t MemoryBytes() const { return memory_bytes_.load(std::memory_order_relaxed); }
  std::string DebugString() const;

 private:
  static constexpr size_t kGrowth = 2;
  // One list. Immutable.
  struct Run {
    Run(const InternalKeyComparator& comparator, std::vector<RangeTombstone> tombstones)
        : added(std::move(tombstones)), fragments(comparator, added) {}
    const std::vector<RangeTombstone> added;  // by begin, then the newest first
    const FragmentedTombstones fragments;
  };
  using List = std::shared_ptr<const Run>;
  // The published set of lists: the oldest and largest first; never empty. Immutable once
  // published.
  struct Lists : EpochRetired {
    std::vector<List> all;
  };

  // Merges `lists`, of which the shorter ones come first, into one list.
  List Merge(const std::vector<List>& lists) const;
  // Publishes `lists` and returns the set that it replaces, which the caller retires after
  // unlocking.
  Lists* PublishLocked(std::vector<List> lists) const REQUIRES(mutex_);

  const InternalKeyComparator comparator_;
  Allocator* const arena_;
  mutable Mutex mutex_{LockRank::kLeaf};  // held by threads that change the lists
  // Stored under mutex_ with release order, when the lists are complete. Readers load with acquire
  // order inside an epoch. Null until the first tombstone.
  mutable std::atomic<Lists*> lists_{nullptr};
  mutable std::atomic<size_t> memory_bytes_{0};  // written under mutex_
};

}  // namespace ashlar
