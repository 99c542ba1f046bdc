// SPDX-License-Identifier: Apache-2.0
//
// HashRep keeps the entries of each prefix in a bucket of its own, a skip list: lookups, and steps
// within one prefix, cost as much as the prefix has entries. The step that leaves it, also one that
// only finds the end, gets all entries sorted, which costs as much as there are entries; readers
// that want one prefix only (ReadOptions::prefix_same_as_start) are at the end there. What
// NewHashSkipListRepFactory and NewHashLinkListRepFactory stand for.
//
// Threads: inserters of one bucket wait for each other; readers take no lock.
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
  // There is a prefix extractor. The allocator outlives this; entries get checksums of so many
  // bytes.
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
  // The buckets do not fill it: else a memtable with many would be full at once.
  size_t FillBytes() const override { return entries_.MemoryBytes(); }
  size_t AllocatedBytes() const override { return FillBytes() + shape_.buckets * sizeof(Bucket); }

 private:
  class Iterator;
  struct Node;
  // The first node has no entry and the greatest height. Null until something is inserted.
  using Bucket = std::atomic<Node*>;
  static constexpr int kMostHeight = 12;
  static constexpr size_t kLocks = 64;  // a power of two

  // What decides on the bucket of a key: its prefix, or all of a key that has none.
  Slice PartOf(const Slice& user_key) const {
    return prefixes_->InDomain(user_key) ? prefixes_->Transform(user_key) : user_key;
  }
  size_t BucketOf(const Slice& user_key) const;
  bool IsBefore(const Node& node, const Slice& user_key, uint64_t trailer) const;
  // The first node of the key's bucket at or after; null: none. `before`: for each height the last
  // node before it; may be null.
  const Node* FindIn(const Node* head, const Slice& user_key, uint64_t trailer,
                     Node** before) const;
  const Node* Find(const Slice& user_key, uint64_t trailer) const;
  Node* NewNode(int height, const MemTableEntry* entry);
  int DrawHeight(uint64_t salt, uint32_t count) const;

  const InternalKeyComparator comparator_;
  const HashRepShape shape_;
  const std::shared_ptr<const SliceTransform> prefixes_;  // never null
  const size_t checksum_bytes_;
  const bool walks_buckets_;  // whether iterators may
  Allocator* const allocator_;
  const std::unique_ptr<Bucket[]> buckets_;
  SpinLock locks_[kLocks];  // of inserters, by bucket
  SortedEntries entries_;   // all of them
};

}  // namespace ashlar
