// SPDX-License-Identifier: Apache-2.0
//
// UserRep is a representation that the program supplies: a MemTableRep from its own
// MemTableRepFactory. Its entries have RocksDB's layout: the internal key with its length as a
// varint, the value in the same form, and perhaps a checksum.
//
// Threads: any number. If the factory does not support concurrent insertions, then insertions,
// their allocations, and queries of the memory usage are serialised by a mutex; readers run at the
// same time.
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
  // Null if the factory makes nothing. `allocator` outlives the object. Entries get checksums of
  // `checksum_bytes` bytes.
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
  // Allocates an entry in the program's representation and fills it.
  KeyHandle NewEntry(const Slice& user_key, uint64_t trailer, const Slice& value);
  // Inserts an entry, with the hint for its prefix if there is one.
  bool InsertLocked(KeyHandle handle, const Slice& user_key) REQUIRES(mutex_);

  const std::shared_ptr<MemTableRepFactory> factory_;     // not null
  const std::shared_ptr<const SliceTransform> prefixes_;  // passed to the program; may be null
  // Entries with the same prefix share a hint; null: no hints.
  const std::shared_ptr<const SliceTransform> hint_prefixes_;
  const size_t checksum_bytes_;
  const bool is_concurrent_;
  const std::unique_ptr<const KeyComparator> comparator_;
  std::unique_ptr<MemTableRep> rep_;
  std::atomic<bool> has_entries_{false};  // set when the first insertion has returned
  // For serialised insertions: the lock, the program's memory usage after the last one, and its
  // hints.
  Mutex mutex_{LockRank::kLeaf};
  std::atomic<size_t> memory_bytes_{0};
  // By prefix; the values belong to the program.
  std::unordered_map<std::string, void*> hints_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
