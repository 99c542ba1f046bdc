// SPDX-License-Identifier: Apache-2.0
// HashRep stores the entries of each prefix in its own bucket, a skip list. The cost of lookups and
// of steps within one prefix depends only on the number of entries with that prefix. A step that
// leaves the prefix, even if it only finds the end, sorts all entries, which costs as much as there
// are entries. Readers that need only one prefix (ReadOptions::prefix_same_as_start) end there
// instead. NewHashSkipListRepFactory and NewHashLinkListRepFactory select this representation.
//
// Threads: inserters into one bucket wait for each other; readers take no lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ashlar/slice_transform.h"
#include "memtable/other_rep.h"
#include "memtable/vector_rep.h"
#include "util/memory/allocator.h"
#include "util/threads/mutex.h"

namespace ashlar {

class HashRep final : public OtherRep {
 public:
  // `options` must have a prefix extractor. `allocator` outlives this object. Entries get checksums
  // of `checksum_bytes` bytes.
  HashRep(const InternalKeyComparator& comparator, const RepresentationOptions& options,
          size_t checksum_bytes, Allocator* allocator);
  ~HashRep() override;

  const char* Name() const override { return "hash"; }
  bool Insert(const Slice& user_key, uint64_t trailer, const Slice& value) override;
  InternalIterator* NewIterator(Arena* arena, const SliceTransform* prefixes) const override;
  bool VisitVersions(const LookupKey& key, void* argument, Visit visit) const override;
  bool IsEmpty() const override { return entries_.IsEmpty(); }
  uint64_t CountBetween(const Slice& begin, const Slice& end) const override {
    return entries_.CountBetween(begin, end);
  }
  // The memory of the buckets does not count as fill, because a memtable with many buckets would be
  // full at once.
  size_t FillBytes() const override { return entries_.MemoryBytes(); }
  size_t AllocatedBytes() const override { return FillBytes() + shape_.buckets * sizeof(Bucket); }

 private:
  class Iterator;
  struct Node;
  // A bucket points to its head node, which has no entry and the greatest height. Null until
  // something is inserted.
  using Bucket = std::atomic<Node*>;
  static constexpr int kMostHeight = 12;
  static constexpr size_t kLocks = 64;  // a power of two

  // The part of a key that selects its bucket: its prefix, or the whole key if it has none.
  Slice PartOf(const Slice& user_key) const {
    return prefixes_->InDomain(user_key) ? prefixes_->Transform(user_key) : user_key;
  }
  size_t BucketOf(const Slice& user_key) const;
  // True if the entry of the node sorts before (user_key, trailer).
  bool IsBefore(const Node& node, const Slice& user_key, uint64_t trailer) const;
  // The first node of the bucket at or after (user_key, trailer); null: none. `before` gets for
  // each height the last node before that; it may be null.
  const Node* FindIn(const Node* head, const Slice& user_key, uint64_t trailer,
                     Node** before) const;
  const Node* Find(const Slice& user_key, uint64_t trailer) const;
  Node* NewNode(int height, const MemTableEntry* entry);
  // A random height for a node of a bucket with `count` nodes.
  int DrawHeight(uint64_t salt, uint32_t count) const;

  const InternalKeyComparator comparator_;
  const HashRepShape shape_;
  const std::shared_ptr<const SliceTransform> prefixes_;  // not null
  const size_t checksum_bytes_;
  const bool walks_buckets_;  // true if iterators may walk in buckets
  Allocator* const allocator_;
  const std::unique_ptr<Bucket[]> buckets_;
  SpinLock locks_[kLocks];  // of inserters; a bucket uses lock number (bucket % kLocks)
  SortedEntries entries_;   // all entries of all buckets
};

}  // namespace ashlar
