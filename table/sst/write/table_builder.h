// SPDX-License-Identifier: Apache-2.0
//
// TableBuilder writes one table (SST), usually a block-based one:
// docs/formats/block_based_table.md.
//
//   data blocks | filter | index | range tombstones | properties | metaindex | footer
//
// With TableBuilderOptions::bare it writes a PlainTable or a CuckooTable (table/plain).
//
// Entries arrive as internal keys in strictly ascending order. The first error is final: every
// later call returns it, and the file must be deleted. TableBuilder neither syncs nor closes the
// file; the owner of the FileWriter does that after Finish(). Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "util/keys/file_number.h"

namespace ashlar {

class FileWriter;
class InternalKeyComparator;
class PassedBlock;
class SliceTransform;
class Statistics;
class TablePropertiesCollectorFactory;
struct BareTableFormat;
struct BlockBasedTableOptions;
struct TableProperties;

using TableCollectorFactories = std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;

// All pointers are borrowed and must stay valid until the builder is destroyed.
struct TableBuilderOptions {
  const InternalKeyComparator* icmp = nullptr;
  // The table's options, with format_version, checksum and filter policy.
  const BlockBasedTableOptions* table = nullptr;
  // A format without blocks; `table` then has the default options, and nothing is compressed. Null:
  // a table with blocks.
  const BareTableFormat* bare = nullptr;
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  const SliceTransform* prefix_extractor = nullptr;              // null: none
  const TableCollectorFactories* collector_factories = nullptr;  // null: none
  bool has_filter = true;  // false: no filter, whatever filter policy `table` has
  // Added to the policy's bits per key, in thousandths of a bit.
  int32_t filter_shift_millibits = 0;

  // Values that are only recorded in the properties.
  uint32_t column_family_id = 0x7fffffff;  // the default means unknown
  std::string column_family_name;
  std::string merge_operator_name;  // empty: none
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  FileNumber file_number = 0;         // 0: unknown
  uint64_t oldest_ancestor_time = 0;  // Unix seconds, like all times here; 0: unknown
  uint64_t oldest_key_time = 0;
  uint64_t newest_key_time = 0;
  uint64_t file_creation_time = 0;
  int level = -1;                       // -1: unknown
  bool is_flush = false;                // the entries come from a memtable
  bool has_levels = true;               // false: the compaction style has no levels
  uint64_t sample_for_compression = 0;  // one of this many data blocks is sampled; 0: none
  // Upper bound of the bytes from which a dictionary is trained; 0: unknown.
  uint64_t target_file_bytes = 0;
  int level_count = -1;  // number of levels of the column family; -1: unknown
  // Checksum bytes per entry of blocks that are put into the cache.
  uint8_t block_protection_bytes = 0;

  Statistics* statistics = nullptr;  // outlives the builder; null: none

  // Makes the block checksums of this file differ from those of every other file (format_version >=
  // 6). 0: the value is derived from session id and file number, which is as good as a random
  // number if both are known.
  uint32_t base_context_checksum = 0;
  // The file is made for ingestion: its entries have sequence number 0, and the properties record
  // that.
  bool is_external_file = false;
};

// InvalidArgument or NotSupported, naming the option, if a setting asks for a format that this
// builder cannot write. A database checks this when it opens, so that no flush fails for this
// reason later.
Status CheckTableOptionsWritable(const BlockBasedTableOptions& options,
                                 CompressionType compression);

class TableBuilder {
 public:
  // Appends to `file`, which must be empty and outlive the builder. Invalid options are reported by
  // the first Add() or Finish().
  TableBuilder(const TableBuilderOptions& options, FileWriter* file);
  ~TableBuilder();
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  // Adds a point entry, which must sort behind all earlier point entries. Range tombstones
  // (kTypeRangeDeletion; the value is the end key) may come at any time, in an order of their own.
  // Corruption if the order is wrong, InvalidArgument if the entry is too large, or an error of the
  // file; NotSupported or InvalidArgument if a format without blocks cannot hold the entry.
  Status Add(const Slice& internal_key, const Slice& value);
  // Announces that the next Add() is the first entry of this block of another table. If the
  // following entries are exactly those of the block, its stored form is written instead of
  // compressing again: see block_passing.h. May swap the contents of `block` with an older block,
  // whose memory the caller can reuse, or leave it unchanged.
  void OfferBlock(PassedBlock* block);
  // Writes the last data block and everything behind the data blocks. Called at most once.
  Status Finish();
  // Sets the property about the times of sequence numbers, before Finish(). Tables without blocks
  // have no such property.
  void SetSeqnoTimes(std::string encoded);
  // Called instead of Finish() when the file will be deleted.
  void Abandon();

  // The first error, or OK.
  const Status& status() const;
  // Entries so far, range tombstones included.
  uint64_t num_entries() const;
  uint64_t passed_blocks() const;  // offered blocks that were taken in stored form
  // The size of the file so far, in bytes, with an estimate for blocks that are not written yet;
  // exact after Finish().
  uint64_t FileSize() const;
  // FileSize() plus estimates for index and filter.
  uint64_t EstimatedFileSize() const;
  // After Finish(): the bytes behind the data blocks; 0 for a table without blocks.
  uint64_t tail_size() const;
  // The bounds of the sequence numbers of all entries, range tombstones included;
  // kMaxSequenceNumber and 0 if there are none.
  SequenceNumber smallest_seqno() const;
  SequenceNumber largest_seqno() const;
  // The oldest and the newest timestamp of all entries, range tombstones included; empty if there
  // are no entries or the keys have no timestamps.
  const std::string& min_stamp() const;
  const std::string& max_stamp() const;
  // After Finish(): true if a collector asks for the file to be compacted soon.
  bool NeedCompact() const;
  // Complete after Finish().
  const TableProperties& properties() const;
  // A few lines about the state of the builder, for debugging.
  std::string DebugString() const;

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar
