// SPDX-License-Identifier: Apache-2.0
//
// TableBuilder writes one block-based table (SST). docs/formats/block_based_table.md.
//
//   data blocks | filter | index | range tombstones | properties | metaindex | footer
//
// Entries arrive as internal keys, strictly ascending. The first error sticks: every later call
// returns it, and the file must be thrown away. Nothing is synced or closed here: that is for the
// owner of the FileWriter, after Finish(). Threads: one at a time.
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
struct BlockBasedTableOptions;
struct TableProperties;

using TableCollectorFactories = std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;

// Pointers are borrowed until the builder is gone.
struct TableBuilderOptions {
  const InternalKeyComparator* icmp = nullptr;
  const BlockBasedTableOptions* table = nullptr;  // also format_version, checksum, filter policy
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  const SliceTransform* prefix_extractor = nullptr;              // null: none
  const TableCollectorFactories* collector_factories = nullptr;  // null: none
  bool has_filter = true;              // false: none, whatever the policy of `table` says
  int32_t filter_shift_millibits = 0;  // added to the bits per key of the policy

  // Facts for the properties.
  uint32_t column_family_id = 0x7fffffff;  // unknown
  std::string column_family_name;
  std::string merge_operator_name;  // empty: none
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  FileNumber file_number = 0;         // 0: unknown
  uint64_t oldest_ancestor_time = 0;  // unix seconds, 0: unknown, as all times
  uint64_t oldest_key_time = 0;
  uint64_t newest_key_time = 0;
  uint64_t file_creation_time = 0;
  int level = -1;                       // -1: unknown
  bool is_flush = false;                // a memtable becomes a file
  bool has_levels = true;               // false: the style leaves files where they are written
  uint64_t sample_for_compression = 0;  // one of so many blocks; 0: none
  uint64_t target_file_bytes = 0;       // the most a dictionary is made of; 0: unknown
  int level_count = -1;
  uint8_t block_protection_bytes = 0;  // of entries of blocks that come into the cache

  Statistics* statistics = nullptr;  // outlives the builder; null: none

  // Makes the checksums of this file differ from those of every other one (format_version >= 6).
  // 0: derived from session and file number, which is as good as a random number where both are
  // known.
  uint32_t base_context_checksum = 0;
  // A file for ingestion: its entries have sequence number 0 and the properties say so.
  bool is_external_file = false;
};

// NotSupported, naming the option, when a setting asks for bytes this builder does not write. A
// database calls it when it opens, so that no flush ever fails for this reason.
Status CheckTableOptionsWritable(const BlockBasedTableOptions& options,
                                 CompressionType compression);

class TableBuilder {
 public:
  // Appends to `file`, which must be empty and outlive the builder. Bad options are reported by the
  // first Add() or Finish().
  TableBuilder(const TableBuilderOptions& options, FileWriter* file);
  ~TableBuilder();
  TableBuilder(const TableBuilder&) = delete;
  TableBuilder& operator=(const TableBuilder&) = delete;

  // A point entry, behind all earlier ones. Range tombstones (kTypeRangeDeletion, the value is the
  // end key) may come in between, in an order of their own.
  Status Add(const Slice& internal_key, const Slice& value);
  // The next Add() is of the first entry of this block of another table, which may be stored as it
  // is there if all of its entries come next and nothing else does: see block_passing.h. Exchanges
  // the block for another one, whose memory is of use, or leaves it.
  void OfferBlock(PassedBlock* block);
  // Writes everything behind the data blocks. Once.
  Status Finish();
  // Says that the file will be thrown away; instead of Finish().
  void Abandon();

  const Status& status() const;
  uint64_t num_entries() const;
  uint64_t passed_blocks() const;  // that were taken as they were stored
  // Bytes of the file so far, including the unfinished block; exact after Finish().
  uint64_t FileSize() const;
  // FileSize() plus what index and filter will take.
  uint64_t EstimatedFileSize() const;
  // Bytes behind the data blocks, after Finish().
  uint64_t tail_size() const;
  // Over all entries, range tombstones included; kMaxSequenceNumber and 0 while there are none.
  SequenceNumber smallest_seqno() const;
  SequenceNumber largest_seqno() const;
  // True when a collector asked for the file to be compacted soon. After Finish().
  bool NeedCompact() const;
  // Complete after Finish().
  const TableProperties& properties() const;
  // What it has taken and written so far.
  std::string DebugString() const;

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace ashlar
