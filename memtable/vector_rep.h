// SPDX-License-Identifier: Apache-2.0
//
// VectorRep is the memtable representation for bulk loads: insertion appends, and the entries are
// sorted when they are first read, usually by the flush.
//
// Threads: any number. A reader works on a sorted copy of the list of entries, which it shares with
// other readers until something is inserted. So reading between insertions costs a merge each time.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "memtable/entry.h"
#include "memtable/other_rep.h"
#include "util/keys/internal_key.h"
#include "util/memory/allocator.h"
#include "util/threads/mutex.h"

namespace ashlar {

// SortedEntries is a list of entries that is sorted when it is read. It does not own the entries.
class SortedEntries {
 public:
  using Entries = std::vector<const MemTableEntry*>;

  explicit SortedEntries(const InternalKeyComparator& comparator) : comparator_(comparator) {}

  const InternalKeyComparator& comparator() const { return comparator_; }

  // Appends an entry, which must outlive this object.
  void Add(const MemTableEntry* entry);

  // All entries whose Add() has returned, in internal-key order; entries with equal internal keys
  // in the order of their insertion.
  std::shared_ptr<const Entries> Sorted() const;

  // Index in `entries` of the first entry at or after (user_key, trailer).
  size_t LowerBound(const Entries& entries, const Slice& user_key, uint64_t trailer) const;

  // An iterator over Sorted(). With an arena it lives there.
  InternalIterator* NewIterator(Arena* arena) const;
  // Like the functions of OtherRep.
  bool VisitVersions(const LookupKey& key, void* argument, OtherRep::Visit visit) const;
  bool IsEmpty() const;
  uint64_t CountBetween(const Slice& begin, const Slice& end) const;
  // Bytes of the lists without the entries.
  size_t MemoryBytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  void CountMemoryLocked() const REQUIRES(mutex_) {
    const size_t sorted = sorted_ == nullptr ? 0 : sorted_->capacity();
    memory_bytes_.store((entries_.capacity() + sorted) * sizeof(entries_[0]),
                        std::memory_order_relaxed);
  }
  bool IsLess(const MemTableEntry* a, const MemTableEntry* b) const {
    return comparator_.Compare(a->internal_key(), b->internal_key()) < 0;
  }

  const InternalKeyComparator comparator_;
  mutable Mutex mutex_{LockRank::kLeaf};
  Entries entries_ GUARDED_BY(mutex_);  // in the order of insertion
  // The first part of entries_, sorted.
  mutable std::shared_ptr<const Entries> sorted_ GUARDED_BY(mutex_);
  // Stored under the lock; read without it.
  mutable std::atomic<size_t> memory_bytes_{0};
};

class VectorRep final : public OtherRep {
 public:
  // Entries are allocated from `allocator`, which outlives this object, and get checksums of
  // `checksum_bytes` bytes.
  VectorRep(const InternalKeyComparator& comparator, Allocator* allocator, size_t checksum_bytes)
      : entries_(comparator), allocator_(allocator), checksum_bytes_(checksum_bytes) {
    assert(allocator != nullptr);
  }

  const char* Name() const override { return "vector"; }
  bool Insert(const Slice& user_key, uint64_t trailer, const Slice& value) override;
  InternalIterator* NewIterator(Arena* arena, const SliceTransform* /*prefixes*/) const override {
    return entries_.NewIterator(arena);
  }
  bool VisitVersions(const LookupKey& key, void* argument, Visit visit) const override {
    return entries_.VisitVersions(key, argument, visit);
  }
  bool IsEmpty() const override { return entries_.IsEmpty(); }
  uint64_t CountBetween(const Slice& begin, const Slice& end) const override {
    return entries_.CountBetween(begin, end);
  }
  size_t FillBytes() const override { return entries_.MemoryBytes(); }

 private:
  SortedEntries entries_;
  Allocator* const allocator_;
  const size_t checksum_bytes_;
};

}  // namespace ashlar
