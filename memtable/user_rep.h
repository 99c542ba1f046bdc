// SPDX-License-Identifier: Apache-2.0
//
// UserRep is a representation that the program brings along: a MemTableRep of its own
// MemTableRepFactory. It is given entries as RocksDB lays them out: the internal key with its
// length as a varint, then the value likewise; a checksum may follow.
//
// Threads: any. Unless the factory says that insertions may come at once, they, the allocations for
// them and questions for the memory in use come one at a time; readers come beside them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/memtablerep.h"
#include "ashlar/slice_transform.h"
#include "memtable/other_rep.h"
#include "util/memory/allocator.h"
#include "util/threads/mutex.h"

namespace ashlar {

class UserRep final : public OtherRep {
 public:
  // Null if the factory makes none. The allocator outlives this; entries get checksums of so many
  // bytes.
  static std::unique_ptr<UserRep> Make(const InternalKeyComparator& comparator,
                                       const RepresentationOptions& options, size_t checksum_bytes,
                                       Allocator* allocator);
  ~UserRep() override;

  const char* Name() const override { return factory_->Name(); }
  bool Insert(const Slice& user_key, uint64_t trailer, const Slice& value) override;
  void Seal() override { rep_->MarkReadOnly(); }
  InternalIterator* NewIterator(Arena* arena, const SliceTransform* prefixes) const override;
  bool VisitVersions(const LookupKey& key, void* argument, Visit visit) const override;
  bool IsEmpty() const override { return !has_entries_.load(std::memory_order_acquire); }
  uint64_t CountBetween(const Slice& begin, const Slice& end) const override;
  size_t FillBytes() const override {
    return is_concurrent_ ? rep_->ApproximateMemoryUsage()
                          : memory_bytes_.load(std::memory_order_relaxed);
  }
  bool SupportsSnapshots() const override { return rep_->IsSnapshotSupported(); }

 private:
  class KeyComparator;
  class Iterator;

  UserRep(const InternalKeyComparator& comparator, const RepresentationOptions& options,
          size_t checksum_bytes);
  KeyHandle NewEntry(const Slice& user_key, uint64_t trailer, const Slice& value);
  bool InsertLocked(KeyHandle handle, const Slice& user_key) REQUIRES(mutex_);

  const std::shared_ptr<MemTableRepFactory> factory_;          // never null
  const std::shared_ptr<const SliceTransform> prefixes_;       // what the program is told, or null
  const std::shared_ptr<const SliceTransform> hint_prefixes_;  // keys of one share a hint; or null
  const size_t checksum_bytes_;
  const bool is_concurrent_;
  const std::unique_ptr<const KeyComparator> comparator_;
  std::unique_ptr<MemTableRep> rep_;
  std::atomic<bool> has_entries_{false};  // set once an insertion has returned
  // What insertions that come one at a time have, and what the program's answered after the last.
  Mutex mutex_{LockRank::kLeaf};
  std::atomic<size_t> memory_bytes_{0};
  std::unordered_map<std::string, void*> hints_ GUARDED_BY(mutex_);  // by prefix; the program's
};

}  // namespace ashlar
