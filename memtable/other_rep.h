// SPDX-License-Identifier: Apache-2.0
//
// OtherRep is a representation of a memtable's point entries other than the usual tree. Its calls
// are virtual; those of the tree are not.
//
// Threads: any number may insert and read at the same time.
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

// The parameters of a hash representation; zero buckets: it is another one.
struct HashRepShape {
  size_t buckets = 0;
  int max_height = 1;                // greatest height of the towers in a bucket, at most 12
  int branching = 4;                 // one tower in this many is higher by one
  uint32_t entries_before_high = 0;  // this many entries of a bucket have towers of height 1
};

// Selects the representation of a memtable.
struct RepresentationOptions {
  enum class Representation : uint8_t { kBlinkTree, kVector, kHash, kOfProgram };

  Representation representation = Representation::kBlinkTree;
  HashRepShape hash;                            // for kHash
  std::shared_ptr<MemTableRepFactory> factory;  // for kOfProgram
  // The prefix extractor of the family, which kHash needs. Null: none.
  std::shared_ptr<const SliceTransform> prefixes;
  std::shared_ptr<const SliceTransform> hint_prefixes;  // for kOfProgram; see UserRep
  uint32_t family = 0;                                  // id of the column family
};

class OtherRep {
 public:
  OtherRep() = default;
  virtual ~OtherRep() = default;
  OtherRep(const OtherRep&) = delete;
  OtherRep& operator=(const OtherRep&) = delete;

  virtual const char* Name() const = 0;

  // Inserts an entry and copies key and value. False, and nothing changes, if the same internal key
  // is known to be there already.
  virtual bool Insert(const Slice& user_key, uint64_t trailer, const Slice& value) = 0;
  // Called when no insertion will follow.
  virtual void Seal() {}

  // An iterator over all entries, or as `prefixes` permits (see MemTable::NewIterator()). With an
  // arena it lives there.
  virtual InternalIterator* NewIterator(Arena* arena, const SliceTransform* prefixes) const = 0;
  // Calls visit(argument, internal key, value) for the versions of key.user_key at or below
  // key.trailer, newest first, until it returns true. True if it did.
  using Visit = bool (*)(void* argument, const Slice& internal_key, const Slice& value);
  virtual bool VisitVersions(const LookupKey& key, void* argument, Visit visit) const = 0;

  virtual bool IsEmpty() const = 0;
  // About how many entries have user keys in [begin, end).
  virtual uint64_t CountBetween(const Slice& begin, const Slice& end) const = 0;
  // Bytes outside of the memtable's arena: in use, and allocated from the system.
  virtual size_t FillBytes() const { return 0; }
  virtual size_t AllocatedBytes() const { return FillBytes(); }
  // False: the representation cannot keep older versions for snapshots.
  virtual bool SupportsSnapshots() const { return true; }
};

// Null if the options select the tree, or if the program's factory makes nothing. `allocator`
// outlives the representation. Entries get checksums of `checksum_bytes` bytes.
std::unique_ptr<OtherRep> NewOtherRep(const InternalKeyComparator& comparator,
                                      const RepresentationOptions& options, size_t checksum_bytes,
                                      Allocator* allocator);

}  // namespace ashlar
