// SPDX-License-Identifier: Apache-2.0
//
// The implementation of TableBuilder. Data blocks are in table_builder.cc, blocks of other tables
// in table_builder_passed.cc, the part behind the data blocks in table_builder_tail.cc, and tables
// without blocks in table_builder_bare.cc.
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
#include "table/plain/bare_table_writer.h"
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

// Members are public because the class is visible to these files only.
class TableBuilder::Rep {
 public:
  Rep(const TableBuilderOptions& options, FileWriter* file);

  Status Add(const Slice& key, const Slice& value);
  Status Finish();
  uint64_t FileSize() const;
  // About the bytes that the blocks in the pipeline will have in the file.
  uint64_t EstimateInPipeline() const;

  // Called for the first entry of a block that did not begin with a cut.
  void StartBlock(const Slice& key, const Slice& value);
  // Passes an entry to the collectors and, for a hash index, to the prefix blocks.
  void TellListeners(const Slice& key, const Slice& value);
  void NoteStamp(const Slice& internal_key);
  // True if `key` sorts behind the last key of the open block.
  bool IsInOrder(const Slice& key) const;
  // True if the open block ends before this entry.
  bool MustCutBefore(const Slice& key, const Slice& value) const;
  // Ends the open data block and sends it on. `next_key` is the first key behind it, from which its
  // separator is made; null: the table ends here.
  Status CutBlock(const Slice* next_key);
  // Writes a block that was cut, or gives it to the pipeline, which compresses it before it is
  // written. `stored`: the stored form of an equal block of another table; null: the block is
  // compressed.
  Status SendBlock(const Slice& contents, const Slice& last_key, const Slice* next_key,
                   const StoredBlock* stored = nullptr);
  // Blocks of other tables; see table_builder_passed.cc.
  void OfferBlock(PassedBlock* block);
  void BeginPassed();
  void EndPassed(size_t contents_bytes);
  bool IsPassed(const Slice& contents, StoredBlock* stored);
  // The bytes that a block of this size lacks to count as full.
  size_t LackOf(size_t bytes) const {
    return bytes < nearly_full_bytes ? nearly_full_bytes - bytes : 0;
  }
  // Takes the oldest block from the pipeline and writes it.
  Status WriteOldestInPipeline();
  // Adds a block that was just written to the index, the cache and the counts.
  void NoteBlock(const Slice& contents, const Slice& last_key, const Slice* next_key,
                 const BlockHandle& handle);
  // Trains the dictionary and writes the buffered blocks.
  Status WriteBuffered();
  // Writes all blocks that are still in the pipeline.
  Status DrainPipeline();
  Status ReplayKeys(const Slice& contents);
  bool ReplaysInPipeline() const;
  // Tables without blocks; see table_builder_bare.cc.
  Status AddBare(const Slice& key, const Slice& value, uint64_t trailer);
  Status WriteBareTail();
  Status WriteBareProperties();
  Status InBareTable(const Status& error) const;
  // These set `status` and return it.
  Status RefuseOrder(const Slice& last_key, const Slice& key);
  Status PrepareForLarge(const Slice& key, const Slice& value);
  Status RefuseSize(const Slice& key, const Slice& value);
  Status AddRangeTombstone(const Slice& key, const Slice& value);
  void Count(const Slice& key, const Slice& value, uint64_t trailer);
  // The part behind the data blocks, in the order of the file.
  Status WriteTail();
  Status WriteFilter();
  Status WriteIndex();
  Status WriteDictionary();
  Status WriteRangeTombstones();
  Status WriteProperties();
  Status WriteMetaindexAndFooter();

  const TableBuilderOptions options;
  FileWriter* const file;
  const size_t block_bytes;        // a block ends at this size, or at cut_bytes
  const size_t nearly_full_bytes;  // from this size on a block ends if the next entry does not fit
  // An aligned block must fit into its page together with its trailer; else 0.
  const size_t aligned_trailer_bytes;
  Status status;           // the first error, which every later call returns
  bool is_closed = false;  // finished or abandoned

  BlockWriter writer;
  BlockBuilder data_block;  // the block that is being filled
  IndexBuilder index;
  FilterWriter filter;
  BlockBuilder range_tombstones;  // in the order in which they were added
  // Data blocks that wait for the dictionary; index and filter do not have their keys yet. Null:
  // none wait.
  std::unique_ptr<BufferedBlocks> buffered;
  std::string dictionary;  // empty: none
  CompressionSampler sampler;
  // The program's policy; null: blocks end by their size.
  std::unique_ptr<FlushBlockPolicy> flush_policy;
  PropertyCollectors collectors;
  std::optional<PrefixBlocksBuilder> prefix_blocks;  // for a hash index only
  // Null: blocks come into the cache when they are read.
  const std::unique_ptr<CacheFiller> cache_filler;
  const bool has_listeners;  // collectors, prefix blocks or min_stamp need every entry

  const bool has_pipeline;                        // several threads compress
  std::unique_ptr<CompressionPipeline> pipeline;  // null before the first block
  // The filter and the prefix blocks get the keys of a block right before the block is written, not
  // when each key is added. They need this if they must know how many blocks precede the key.
  bool replays_keys;
  bool has_cut = false;  // at least one block was cut

  // Null: the table has blocks. Else no data block is ever begun.
  const std::unique_ptr<BareTableWriter> bare;
  std::string bare_rows;      // the bytes of one entry; reused
  std::string bare_last_key;  // the last internal key

  // The size at which the open block ends at the latest: block_bytes, or the size of the offered
  // block that it may become equal to, or 0 to end it before the next entry.
  size_t cut_bytes;
  // A block that was offered. open_offer began together with the open block; next_offer will begin
  // with the next one.
  struct Offer {
    PassedBlock block;
    bool is_set = false;
  } open_offer, next_offer;
  size_t spare_bytes;  // budget of bytes that small blocks may lack; see table_builder_passed.cc
  uint64_t passed_blocks = 0;  // see TableBuilder::passed_blocks()

  TableProperties properties;  // counts are kept as entries come; Finish() adds the rest
  SequenceNumber smallest_seqno = kMaxSequenceNumber;
  SequenceNumber largest_seqno = 0;
  std::string min_stamp, max_stamp;  // see TableBuilder::min_stamp()

  BlockHandle index_handle;
  std::map<std::string, BlockHandle> meta_blocks;  // by name, in the order of the metaindex
};

}  // namespace ashlar
