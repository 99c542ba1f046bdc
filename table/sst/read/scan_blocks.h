// SPDX-License-Identifier: Apache-2.0
//
// HeldBlocks: data blocks of one table that are kept for an iterator, by their place in the file.
// ScanBlocks fills them: the blocks of several ranges in several tables are noted first, and those
// that are not in memory are then read together. MultiScan stands on it.
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
  void Add(uint64_t offset, ObjectRef<DataBlock> block);
  // The block is going to be added, if it can be read.
  void Expect(uint64_t offset) { blocks_.try_emplace(offset); }
  // The block with a reference of its own, or null.
  ObjectRef<DataBlock> Find(uint64_t offset) const;
  // Whether it is here or expected.
  bool Contains(uint64_t offset) const { return blocks_.contains(offset); }
  void Clear() { blocks_.clear(); }
  size_t count() const { return blocks_.size(); }  // with those expected

 private:
  std::map<uint64_t, ObjectRef<DataBlock>> blocks_;  // null: expected
};

class ScanBlocks {
 public:
  // What it met so far.
  struct Counts {
    uint64_t found = 0;  // blocks in memory
    uint64_t read = 0;   // blocks from files
    uint64_t read_bytes = 0;
  };

  // Blocks at most `max_gap_bytes` apart are read at once, with what lies in between.
  ScanBlocks(const BlockRead& how, uint64_t max_gap_bytes)
      : how_(how), max_gap_bytes_(max_gap_bytes) {}

  // Notes the blocks with user keys in [start, limit), until `max_bytes` were noted in all. `home`,
  // which outlives this, gets them: those in memory now, the others by Read(). The table stays open
  // until then.
  Status Note(const TableReader& table, const Slice& start, const Slice& limit, size_t max_bytes,
              HeldBlocks* home);
  // A block that cannot be read is left out: whoever needs it will meet the error.
  void Read();

  size_t noted_bytes() const { return noted_bytes_; }
  const Counts& counts() const { return counts_; }

 private:
  friend class TableReader;

  const BlockRead how_;
  const uint64_t max_gap_bytes_;
  std::vector<MissingBlock> missing_;
  std::vector<HeldBlocks*> homes_;             // of missing_
  std::vector<ObjectRef<IndexBlock>> leaves_;  // that missing_ points into
  size_t noted_bytes_ = 0;
  Counts counts_;
};

}  // namespace ashlar
