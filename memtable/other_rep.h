// SPDX-License-Identifier: Apache-2.0
//
// OtherRep is a representation of a memtable's point entries beside the usual tree. Calls are
// virtual; the tree's are not.
//
// Threads: any number may insert and read at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "table/iterator/internal_iterator.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class Allocator;
class Arena;
class MemTableRepFactory;

// Of a hash representation; zero buckets: another one.
struct HashRepShape {
  size_t buckets = 0;
  int max_height = 1;                // of the towers in a bucket, at most 12
  int branching = 4;                 // one tower in so many is higher by one
  uint32_t entries_before_high = 0;  // so many entries of a bucket have towers of height 1
};

// What says which representation a memtable has.
struct RepresentationOptions {
  enum class Representation : uint8_t { kBlinkTree, kVector, kHash, kOfProgram };

  Representation representation = Representation::kBlinkTree;
  HashRepShape hash;                            // of kHash
  std::shared_ptr<MemTableRepFactory> factory;  // of kOfProgram
  // Of the family; kHash needs it. Null: none.
  std::shared_ptr<const SliceTransform> prefixes;
  std::shared_ptr<const SliceTransform> hint_prefixes;  // of kOfProgram; see UserRep
  uint32_t family = 0;
};

class OtherRep {
 public:
  OtherRep() = default;
  virtual ~OtherRep() = default;
  OtherRep(const OtherRep&) = delete;
  OtherRep& operator=(const OtherRep&) = delete;

  virtual const char* Name() const = 0;

  // Copies key and value. False, and nothing changes, if this very internal key is known to be
  // there already.
  virtual bool Insert(const Slice& user_key, uint64_t trailer, const Slice& value) = 0;
  // No insertion comes any more.
  virtual void Seal() {}

  // In whole order, or as MemTable::NewIterator() has it. With an arena it lives there.
  virtual InternalIterator* NewIterator(Arena* arena, const SliceTransform* prefixes) const = 0;
  // Calls visit(argument, internal key, value) for the versions of key.user_key at or below
  // key.trailer, newest first, until it returns true; true if it did.
  using Visit = bool (*)(void* argument, const Slice& internal_key, const Slice& value);
  virtual bool VisitVersions(const LookupKey& key, void* argument, Visit visit) const = 0;

  virtual bool IsEmpty() const = 0;
  // About how many entries have user keys in [begin, end).
  virtual uint64_t CountBetween(const Slice& begin, const Slice& end) const = 0;
  // Beside the arena of the memtable: what fills it, and what was taken from the system.
  virtual size_t FillBytes() const { return 0; }
  virtual size_t AllocatedBytes() const { return FillBytes(); }
  // False: readers of older states may not be given out.
  virtual bool SupportsSnapshots() const { return true; }
};

// Null: the tree it is. So it is if a program's factory makes nothing. The allocator outlives it;
// entries get checksums of so many bytes.
std::unique_ptr<OtherRep> NewOtherRep(const InternalKeyComparator& comparator,
                                      const RepresentationOptions& options, size_t checksum_bytes,
                                      Allocator* allocator);

}  // namespace ashlar
