// SPDX-License-Identifier: Apache-2.0
//
// TableIterator walks the point entries of one table, block by block.
//
// It holds a counted reference on its block, so it needs no epoch between calls. Blocks that are
// read one after the other are read ahead. Threads: one at a time.
#pragma once

#include <cstddef>
#include <optional>

#include "table/block/block_cursor.h"
#include "table/iterator/internal_iterator.h"
#include "table/sst/read/index_cursor.h"
#include "table/sst/read/readahead.h"
#include "util/keys/level.h"

namespace ashlar {

class HeldBlocks;
class TableReader;
struct BlockPassing;
struct ReadOptions;

class TableIterator final : public InternalIterator {
 public:
  // The table outlives the iterator. `held`: blocks that were read for it beforehand, which outlive
  // it too; null: none.
  TableIterator(const TableReader* table, const ReadOptions& options, bool for_compaction,
                const HeldBlocks* held = nullptr);
  ~TableIterator() override;

  // Sets the trace that is notified of each block that is used; it outlives the iterator. Null:
  // none.
  void SetTrace(ReadTrace* trace) { read_.trace = trace; }

  // Sets the level in the thread's perf context to whose counters this iterator adds. Not set:
  // none.
  void SetLevel(Level level) { level_ = level; }

  // From now on blocks are offered to this output (see block_passing.h), which outlives the
  // iterator; null: they are not.
  void OfferBlocksTo(const BlockPassing* output);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void BeginSeek(const Slice& internal_key, SeekStep step) override;
  void EndSeek(const Slice& internal_key) override;
  ValuePin PinOfValue() const override { return PinOfBlock(block_.get()); }

  // ReadOptions::adaptive_readahead: the iterator over the next file continues with the readahead
  // distance of this one.
  size_t readahead_pace() const { return readahead_.pace(); }
  void ContinueReadahead(size_t pace) { readahead_.ContinueAt(pace); }

 private:
  void NextSlow() override;
  void PrevSlow() override;
  bool CopyBlock(const Slice* next_of_others, PassedBlock* block) override;

  // Decoding a block costs time that only later searches and backward steps earn back; forward
  // scans gain too little. So forward steps only pass a block (kPasses), and all other uses count
  // towards decoding (kCounts).
  enum class Visit : bool { kCounts, kPasses };

  // Start loading the block of index_, or the one behind it, if it is in memory.
  void FetchBlock();
  void FetchBlockBehind();
  // Loads the block of index_ and attaches the cursor to it. False after an error; the iterator is
  // at its end then.
  bool EnterBlock(Visit visit = Visit::kCounts);
  // Makes the block of index_ the current one. If that fails, the old block stays.
  Status LoadBlock(Visit visit);
  // Replaces the current block by its decoded form, if it is hot.
  void UseDecodedIfHot();
  // FirstFrom() goes to the first entry of this block or a later one; LastFrom() to the last entry
  // of this block or an earlier one.
  void FirstFrom();
  void LastFrom();
  // False if the cursor found damage; the iterator is at its end with an error then.
  bool IsIntact();
  void Fail(const Status& status);
  // Makes the iterator not Valid(). The block is kept, because the next seek may need it again.
  void End();
  // True if the next block has no entry in front of the upper bound.
  bool NextBlockIsBeyondBound();
  // Uses only members that are declared before readahead_, because the constructor initializes
  // readahead_ with it.
  Readahead::Options ReadaheadOptions(const ReadOptions& read, bool for_compaction) const;
  static uint64_t EndOfWanted(const void* iterator);
  // Adds the counters to the perf context of the level.
  void TellLevel() const;

  const TableReader* const table_;
  const HeldBlocks* const held_;          // null: none
  const BlockPassing* output_ = nullptr;  // null: no blocks are offered
  // Of the reader; blocks wholly behind it are not read. Null: no bound.
  const Slice* const upper_bound_;
  Readahead readahead_;
  const IoDeadline deadline_;
  BlockRead read_;              // how blocks are read, and counters so far
  IndexCursor index_;           // at the entry of block_
  ObjectRef<DataBlock> block_;  // owned, so no epoch is needed between calls
  BlockHandle block_handle_;    // of block_, unless that is null
  BlockCursor block_cursor_;
  std::string separator_;       // scratch memory
  std::optional<Level> level_;  // see SetLevel()
};

}  // namespace ashlar
