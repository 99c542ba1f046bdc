// SPDX-License-Identifier: Apache-2.0
//
// VectorRep is the memtable representation for bulk loads: insertion appends, and order is made
// when somebody first reads, as a rule the flush.
//
// Threads: any. A reader works on a sorted copy of the list of entries, which it shares with other
// readers until something is inserted; reading between insertions therefore costs a merge each
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memtable/entry.h"
#include "util/arena.h"
#include "util/internal_key.h"
#include "util/mutex.h"

namespace ashlar {

class VectorRep {
 public:
  using Entries = std::vector<const MemTableEntry*>;

  // Entries get checksums of so many bytes.
  VectorRep(const InternalKeyComparator& comparator, ConcurrentArena* arena, size_t checksum_bytes)
      : comparator_(comparator), arena_(arena), checksum_bytes_(checksum_bytes) {}

  const InternalKeyComparator& comparator() const { return comparator_; }

  void Insert(const Slice& user_key, uint64_t trailer, const Slice& value);

  // All entries whose Insert() has returned, in internal-key order; equal internal keys in the
  // order of insertion.
  std::shared_ptr<const Entries> Sorted() const;

  // Index in `entries` of the first one at or after (user_key, trailer).
  size_t LowerBound(const Entries& entries, const Slice& user_key, uint64_t trailer) const;

 private:
  bool IsLess(const MemTableEntry* a, const MemTableEntry* b) const {
    return comparator_.Compare(a->internal_key(), b->internal_key()) < 0;
  }

  const InternalKeyComparator comparator_;
  ConcurrentArena* const arena_;
  const size_t checksum_bytes_;
  mutable Mutex mutex_{LockRank::kLeaf};
  Entries entries_ GUARDED_BY(mutex_);                                // in the order of insertion
  mutable std::shared_ptr<const Entries> sorted_ GUARDED_BY(mutex_);  // of a prefix of entries_
};

}  // namespace ashlar
