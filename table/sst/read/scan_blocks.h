// SPDX-License-Identifier: Apache-2.0
//
// HeldBlocks keeps data blocks of one table for an iterator, by their offset in the file.
// ScanBlocks fills it: it notes the blocks of several ranges in several tables, and then reads
// those that are not in memory together. MultiScan uses both.
//
// Not inside an EpochGuard. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "table/sst/read/block_batch.h"
#include "table/sst/read/block_store.h"
#include "table/sst/read/table_objects.h"

namespace ashlar {

class TableReader;

class HeldBlocks {
 public:
  // Adds a block that has an owned reference; replaces an expected one.
  void Add(uint64_t offset, ObjectRef<DataBlock> block);
  // Marks a block that Add() will bring later, if it can be read.
  void Expect(uint64_t offset) { blocks_.try_emplace(offset); }
  // The block with a reference of its own, or null.
  ObjectRef<DataBlock> Find(uint64_t offset) const;
  // True if the block is held or expected.
  bool Contains(uint64_t offset) const { return blocks_.contains(offset); }
  void Clear() { blocks_.clear(); }
  size_t count() const { return blocks_.size(); }  // with the expected ones

 private:
  std::map<uint64_t, ObjectRef<DataBlock>> blocks_;  // by offset; null: expected
};

// The batch of reads of one scan of several ranges.
class ScanBlocks {
 public:
  // Counters of the blocks so far.
  struct Counts {
    uint64_t found = 0;  // blocks that were in memory
    uint64_t read = 0;   // blocks that were read from files
    uint64_t read_bytes = 0;
  };

  // `how` says how blocks are read. Blocks at most `max_gap_bytes` apart are read with one read,
  // together with the gap.
  ScanBlocks(const BlockRead& how, uint64_t max_gap_bytes)
      : how_(how), max_gap_bytes_(max_gap_bytes) {}

  // Notes the blocks that may have user keys in [start, limit), until `max_bytes` bytes were noted
  // in all calls. `home` gets the blocks: those in memory now, the others by Read(). `home`
  // outlives this object, and the table must stay open until Read().
  Status Note(const TableReader& table, const Slice& start, const Slice& limit, size_t max_bytes,
              HeldBlocks* home);
  // Reads the noted blocks. A block that cannot be read is left out: the iterator that needs it
  // will get the error.
  void Read();

  size_t noted_bytes() const { return noted_bytes_; }
  const Counts& counts() const { return counts_; }

 private:
  friend class TableReader;

  const BlockRead how_;
  const uint64_t max_gap_bytes_;
  std::vector<MissingBlock> missing_;
  std::vector<HeldBlocks*> homes_;             // for each of missing_, where the block goes
  std::vector<ObjectRef<IndexBlock>> leaves_;  // keep the indexes alive to which missing_ points
  size_t noted_bytes_ = 0;
  Counts counts_;
};

}  // namespace ashlar
