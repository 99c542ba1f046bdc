// SPDX-License-Identifier: Apache-2.0
//
// ReadTrace is notified by one read of the places in which it searches and of what it finds there,
// to explain the read.
//
// A read enters a place (a memtable, a table) and reports blocks and tombstones until it enters the
// next place. If a read leaves a place because something is not in memory, and enters it again, the
// earlier reports of this place do not count. Reads that are not explained have a null pointer;
// they check it when they enter a place or get a block, never at an entry.
//
// Calls may come inside epochs, so they must not wait. Threads: one at a time.
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
  // Where the block was found: in its pointer slot, in the hash table of the cache, or in the file.
  enum class Origin : uint8_t { kSlot, kCache, kFile };

  struct MemTablePlace {
    uint64_t id = 0;            // chosen by the database
    bool is_immutable = false;  // the memtable is immutable
  };
  struct Table {
    FileNumber number;
    Level level;
    uint64_t file_bytes = 0;
    Slice smallest;  // user keys, inclusive
    Slice largest;
    bool is_open = false;
    SampledReads* sampled = nullptr;  // the samples of the table; for db/read/read_sampler.h
  };
  struct Block {
    BlockKind kind = BlockKind::kData;
    Origin origin = Origin::kSlot;
    uint64_t file_id = 0;  // of the file in the cache; the key of the block is this and the offset
    uint64_t offset = 0;
    uint64_t bytes = 0;  // bytes in the file without the trailer
    uint64_t nanos = 0;  // the time that it took to get the block
  };
  // A range tombstone of the current place, for the keys in [begin, end) that matter for the read.
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
  // A seek asked the filter of the table, for a prefix or for a key.
  virtual void OnFilter(bool let_through, bool is_of_prefixes) = 0;

  // For point reads: before the read begins, and after the last place was searched.
  virtual void BeginLookup(const PointLookup& lookup) = 0;
  virtual void EndLookup(const PointLookup& lookup) = 0;

  // For iterators: called for each run in the order of the merge while the iterator is built. Run 0
  // starts a new report. `memtable` is null for runs of tables.
  virtual void AddRun(size_t run, const MemTablePlace* memtable) = 0;
  // A run begins to move, and the following reports belong to it; the run is now on an entry; the
  // run leaves an entry.
  virtual void EnterRun(size_t run) = 0;
  virtual void OnEntryShown(const Slice& internal_key) = 0;
  virtual void OnEntryLeft(const Slice& internal_key) = 0;
};

// Reports the newest tombstone of the list that covers the key, if there is one. `tombstones` may
// be null.
void TraceCover(const FragmentedTombstones* tombstones, const LookupKey& key, ReadTrace* trace);

}  // namespace ashlar
