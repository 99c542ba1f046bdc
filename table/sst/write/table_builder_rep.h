// SPDX-License-Identifier: Apache-2.0
//
// The parts of a TableBuilder, and what it does with them. Data blocks: table_builder.cc; all that
// stands behind them: table_builder_tail.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/flush_block_policy.h"
#include "ashlar/table_properties.h"
#include "table/block/block_builder.h"
#include "table/format/block_handle.h"
#include "table/index/index_builder.h"
#include "table/index/prefix_blocks.h"
#include "table/sst/write/block_passing.h"
#include "table/sst/write/block_writer.h"
#include "table/sst/write/buffered_blocks.h"
#include "table/sst/write/cache_filler.h"
#include "table/sst/write/compression_pipeline.h"
#include "table/sst/write/compression_sampler.h"
#include "table/sst/write/filter_writer.h"
#include "table/sst/write/property_collectors.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class TableBuilder::Rep {
 public:
  Rep(const TableBuilderOptions& options, FileWriter* file);

  Status Add(const Slice& key, const Slice& value);
  Status Finish();
  uint64_t FileSize() const;
  uint64_t EstimateInPipeline() const;

  void StartBlock(const Slice& key, const Slice& value);
  void TellListeners(const Slice& key, const Slice& value);
  bool IsInOrder(const Slice& key) const;
  bool MustCutBefore(const Slice& key, const Slice& value) const;
  // Writes the data block; with the next block's first key, null at the end, its separator is
  // known.
  Status CutBlock(const Slice* next_key);
  // Writes a block that is cut, or has it compressed to be written soon.
  // `stored`: as it is stored elsewhere; null: it is to be compressed.
  Status SendBlock(const Slice& contents, const Slice& last_key, const Slice* next_key,
                   const StoredBlock* stored = nullptr);
  // Blocks of other tables: table_builder_passed.cc.
  void OfferBlock(PassedBlock* block);
  void BeginPassed();
  void EndPassed(size_t contents_bytes);
  bool IsPassed(const Slice& contents, StoredBlock* stored);
  size_t LackOf(size_t bytes) const {
    return bytes < nearly_full_bytes ? nearly_full_bytes - bytes : 0;
  }
  Status WriteOldestInPipeline();
  // Tells everybody of a block that has been written.
  void NoteBlock(const Slice& contents, const Slice& last_key, const Slice* next_key,
                 const BlockHandle& handle);
  Status WriteBuffered();
  Status DrainPipeline();
  Status ReplayKeys(const Slice& contents);
  bool ReplaysInPipeline() const;
  Status RefuseOrder(const Slice& key);
  Status PrepareForLarge(const Slice& key, const Slice& value);
  Status RefuseSize(const Slice& key, const Slice& value);
  Status AddRangeTombstone(const Slice& key, const Slice& value);
  void Count(const Slice& key, const Slice& value, uint64_t trailer);
  // Everything behind the data blocks, in the order of the file.
  Status WriteTail();
  Status WriteFilter();
  Status WriteIndex();
  Status WriteDictionary();
  Status WriteRangeTombstones();
  Status WriteProperties();
  Status WriteMetaindexAndFooter();

  const TableBuilderOptions options;
  FileWriter* const file;
  const size_t block_bytes;            // cut at this size, or at cut_bytes
  const size_t nearly_full_bytes;      // from here on, cut if the next entry does not fit
  const size_t aligned_trailer_bytes;  // an aligned block has its trailer in the same page
  Status status;                       // the first error, which every later call answers
  bool is_closed = false;              // finished or abandoned

  BlockWriter writer;
  BlockBuilder data_block;  // the one that is being filled
  IndexBuilder index;
  FilterWriter filter;
  BlockBuilder range_tombstones;  // in the order in which they came
  // Until the dictionary is made: data blocks, of which index and filter do not know yet.
  std::unique_ptr<BufferedBlocks> buffered;
  std::string dictionary;  // empty: none
  CompressionSampler sampler;
  std::unique_ptr<FlushBlockPolicy> flush_policy;  // the user's; null: blocks end by their size
  PropertyCollectors collectors;
  std::optional<PrefixBlocksBuilder> prefix_blocks;  // of a hash search index
  const std::unique_ptr<CacheFiller> cache_filler;   // null: blocks come into the cache when read
  const bool has_listeners;  // somebody besides block and filter is told of every entry

  const bool has_pipeline;                        // several threads compress
  std::unique_ptr<CompressionPipeline> pipeline;  // null before the first block
  // Filter and prefixes are told of a block's keys right before it is written, because they must
  // know which blocks there are by then; not of each key when it comes.
  bool replays_keys;
  bool has_cut = false;  // some block

  // Where the block that is being filled ends at the latest: block_bytes, or where the one does
  // that it may turn out to be, or at once.
  size_t cut_bytes;
  // Offered, and begun with the open block, or with the one behind it.
  struct Offer {
    PassedBlock block;
    bool is_set = false;
  } open_offer, next_offer;
  size_t spare_bytes;  // what blocks may lack, because others were full
  uint64_t passed_blocks = 0;

  TableProperties properties;  // counts while entries come, the rest at the end
  SequenceNumber smallest_seqno = kMaxSequenceNumber;
  SequenceNumber largest_seqno = 0;

  BlockHandle index_handle;
  std::map<std::string, BlockHandle> meta_blocks;  // by name, as the metaindex lists them
};

}  // namespace ashlar
