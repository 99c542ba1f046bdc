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
  // The table outlives the iterator, as do blocks that are held for it; null: none are.
  TableIterator(const TableReader* table, const ReadOptions& options, bool for_compaction,
                const HeldBlocks* held = nullptr);
  ~TableIterator() override;

  // Who is told which blocks are used; outlives the iterator. Null: nobody.
  void SetTrace(ReadTrace* trace) { read_.trace = trace; }

  // Whose counters of the thread's perf context it adds to; without it, to none.
  void SetLevel(Level level) { level_ = level; }

  // Blocks are offered to an output, which outlives the iterator; null: to nobody.
  void OfferBlocksTo(const BlockPassing* output);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_key) override;
  void SeekForPrev(const Slice& internal_key) override;
  void BeginSeek(const Slice& internal_key, SeekStep step) override;
  void EndSeek(const Slice& internal_key) override;
  ValuePin PinOfValue() const override { return PinOfBlock(block_.get()); }

  // ReadOptions::adaptive_readahead: the iterator over the next file reads on at the pace of this.
  size_t readahead_pace() const { return readahead_.pace(); }
  void ContinueReadahead(size_t pace) { readahead_.ContinueAt(pace); }

 private:
  void NextSlow() override;
  void PrevSlow() override;
  bool CopyBlock(const Slice* next_of_others, PassedBlock* block) override;

  // What it takes to decode a block comes back with searches and steps backwards. Those forwards
  // gain too little: scans would pay for what only others gain from.
  enum class Visit : bool { kCounts, kPasses };

  // Starts bringing in the block of index_, or the one behind it, if it is in memory.
  void FetchBlock();
  void FetchBlockBehind();
  // Loads the block of index_ and attaches the cursor to it. False, and ended, after an error.
  bool EnterBlock(Visit visit = Visit::kCounts);
  Status LoadBlock(Visit visit);
  void UseDecodedIfHot();
  // The first entry of this block or a later one; the last of this or an earlier one.
  void FirstFrom();
  void LastFrom();
  // False, and ended with an error, if the cursor met damage.
  bool IsIntact();
  void Fail(const Status& status);
  void End();
  bool NextBlockIsBeyondBound();
  // From members in front of readahead_ alone.
  Readahead::Options ReadaheadOptions(const ReadOptions& read, bool for_compaction) const;
  static uint64_t EndOfWanted(const void* iterator);
  void TellLevel() const;

  const TableReader* const table_;
  const HeldBlocks* const held_;          // null: none
  const BlockPassing* output_ = nullptr;  // null: no blocks are offered
  const Slice* const upper_bound_;        // the reader's; blocks wholly behind it are not read
  Readahead readahead_;
  const IoDeadline deadline_;
  BlockRead read_;              // how blocks are read, and what it cost so far
  IndexCursor index_;           // on the entry of block_
  ObjectRef<DataBlock> block_;  // owned, so that no epoch is needed between calls
  BlockHandle block_handle_;    // of block_, if there is one
  BlockCursor block_cursor_;
  std::string separator_;  // scratch
  std::optional<Level> level_;
};

}  // namespace ashlar
