// SPDX-License-Identifier: Apache-2.0
//
// ReadTrace is told by one read where it looks and what it meets there, for explaining reads.
//
// A read enters a place (a memtable, a table) and reports blocks and tombstones until it enters the
// next one. A place that a read leaves for lack of memory and enters again begins anew: what was
// reported of it does not count. Reads have a null pointer instead, which they look at where a
// place is entered or a block is got, and never at an entry.
//
// Calls come inside epochs too, so they do not wait. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

class FragmentedTombstones;
class PointLookup;
struct LookupKey;
struct SampledReads;

class ReadTrace {
 public:
  enum class BlockKind : uint8_t { kData, kIndex, kFilter };
  // From the pointer slot of the block, the cache's hash table, or the file.
  enum class Origin : uint8_t { kSlot, kCache, kFile };

  struct MemTablePlace {
    uint64_t id = 0;
    bool is_sealed = false;
  };
  struct Table {
    FileNumber number;
    Level level;
    uint64_t file_bytes = 0;
    Slice smallest;  // user keys, inclusive
    Slice largest;
    bool is_open = false;
    SampledReads* sampled = nullptr;  // of the table; for db/read/read_sampler.h
  };
  struct Block {
    BlockKind kind = BlockKind::kData;
    Origin origin = Origin::kSlot;
    uint64_t offset = 0;
    uint64_t bytes = 0;  // as stored, without the trailer
    uint64_t nanos = 0;  // to get hold of it
  };
  // Of the place, over the keys [begin, end) that the read is concerned with.
  struct Tombstone {
    Slice begin;
    Slice end;
    SequenceNumber seqno = 0;
  };

  virtual ~ReadTrace() = default;

  virtual void EnterMemTable(const MemTablePlace& place) = 0;
  virtual void EnterTable(const Table& table) = 0;
  virtual void OnRowFound() = 0;  // the row cache answered for the table
  virtual void OnBlock(const Block& block) = 0;
  virtual void OnTombstone(const Tombstone& tombstone) = 0;
  // A seek asked the filter of the table for the prefix that it wants.
  virtual void OnPrefixFilter(bool let_through) = 0;

  // A point read: before it begins, and when no place is left to look at.
  virtual void BeginLookup(const PointLookup& lookup) = 0;
  virtual void EndLookup(const PointLookup& lookup) = 0;

  // An iterator: it is built, run by run in the order of the merge; the first one begins everything
  // anew. `memtable` is null for runs of tables.
  virtual void AddRun(size_t run, const MemTablePlace* memtable) = 0;
  // A run begins to move, and whatever is reported from here on is the run's; it shows an entry; it
  // leaves one.
  virtual void EnterRun(size_t run) = 0;
  virtual void OnEntryShown(const Slice& internal_key) = 0;
  virtual void OnEntryLeft(const Slice& internal_key) = 0;
};

// Reports the newest tombstone of the list that covers the key, if there is one. `tombstones` may
// be null.
void TraceCover(const FragmentedTombstones* tombstones, const LookupKey& key, ReadTrace* trace);

}  // namespace ashlar
