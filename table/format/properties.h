// SPDX-License-Identifier: Apache-2.0
//
// Table properties between their struct and their block. docs/formats/block_based_table.md,
// section 8; the global sequence number of ingested files is section 8.1.
//
// Names this engine does not know are kept as user properties, so that a rewrite loses nothing.
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "table/format/block_handle.h"
#include "table/format/checksum.h"
#include "util/result.h"

namespace ashlar {

struct TableProperties;

// Name to encoded value, in the order of the block.
using EncodedProperties = std::map<std::string, std::string>;

// What a properties block holds for `properties`; user properties included, engine ones win.
EncodedProperties EncodeProperties(const TableProperties& properties);

// Parses an uncompressed, already verified block that lies at `block_offset` of the file. A
// malformed number is skipped, a block out of order is Corruption.
Result<TableProperties> ParsePropertiesBlock(const Slice& contents, uint64_t block_offset,
                                             std::string_view path);

// PropertiesView: what the reader of a table goes by, as it lies in the block. A database opens
// thousands of tables, and nothing is allocated for their properties until somebody asks for them.
struct PropertiesView {
  std::string_view db_id, db_session_id;
  std::string_view comparator_name, prefix_extractor_name, compression_name;
  uint64_t orig_file_number = 0;
  uint64_t num_entries = 0, num_deletions = 0, num_range_deletions = 0;
  uint64_t num_data_blocks = 0, data_size = 0, raw_key_size = 0, raw_value_size = 0;
  uint64_t oldest_key_time = 0;
  uint64_t index_key_is_user_key = 0, index_value_is_delta_encoded = 0;
  uint64_t user_defined_timestamps_persisted = 1;
  // Stored as they are; without data: missing.
  std::string_view index_type, whole_key_filtering, prefix_filtering;
  std::string_view external_version, global_seqno;
};

// The same as ParsePropertiesBlock(), and refuses what that refuses. The view lives as long as
// `contents`.
Result<PropertiesView> ViewProperties(const Slice& contents, uint64_t block_offset,
                                      std::string_view path);

// VerifyBlock for the properties block: old engines wrote the global sequence number into the
// finished file, so a mismatch is forgiven if it disappears when those eight bytes are zero. The
// block itself is not changed: readers want the number.
Status VerifyPropertiesBlock(const ChecksumContext& context, const BlockHandle& handle,
                             const char* block, std::string_view path);

// The single sequence number of all entries of a file, or kNoGlobalSeqno when entries have their
// own. `manifest_largest` is the largest seqno the MANIFEST records, kMaxSequenceNumber if unknown.
inline constexpr SequenceNumber kNoGlobalSeqno = ~uint64_t{0};
Result<SequenceNumber> FindGlobalSeqno(const PropertiesView& properties,
                                       SequenceNumber manifest_largest, std::string_view path);

// The property `rocksdb.compression`, section 9.4.
struct CompressionProperty {
  bool is_none = false;     // no block is compressed, a dictionary is to be ignored
  bool is_missing = false;  // any built-in type may occur
};
Result<CompressionProperty> ParseCompressionProperty(std::string_view value,
                                                     uint32_t format_version,
                                                     std::string_view path);
// The set of compression types that blocks of a file use, bit i for type i.
std::string EncodeCompressionProperty(unsigned char configured_type, uint32_t used_types,
                                      uint32_t format_version);

}  // namespace ashlar
