// SPDX-License-Identifier: Apache-2.0
//
// Conversion of table properties between the struct and the block.
// docs/formats/block_based_table.md, section 8; the global sequence number of ingested files is
// section 8.1.
//
// Properties with unknown names are kept as user properties, so that a rewrite of the file loses
// nothing. Threads: pure functions.
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

// From name to encoded value, in the order of the block.
using EncodedProperties = std::map<std::string, std::string>;

// The entries of the properties block; includes user properties, but not those with the name of an
// engine property.
EncodedProperties EncodeProperties(const TableProperties& properties);

// Parses an uncompressed, verified block at `block_offset` of the file. A malformed number is
// skipped; wrong order is Corruption.
Result<TableProperties> ParsePropertiesBlock(const Slice& contents, uint64_t block_offset,
                                             std::string_view path);

// PropertiesView: the properties that a table reader needs, as they are in the block. A database
// opens thousands of tables, and nothing should be allocated for their properties until they are
// requested.
struct PropertiesView {
  std::string_view db_id, db_session_id;
  std::string_view comparator_name, prefix_extractor_name, compression_name;
  uint64_t orig_file_number = 0;
  uint64_t num_entries = 0, num_deletions = 0, num_range_deletions = 0;
  uint64_t num_data_blocks = 0, data_size = 0, raw_key_size = 0, raw_value_size = 0;
  uint64_t oldest_key_time = 0;
  uint64_t index_key_is_user_key = 0, index_value_is_delta_encoded = 0;
  uint64_t user_defined_timestamps_persisted = 1;
  // Properties in their encoded form; data() is null if the property is missing.
  std::string_view index_type, whole_key_filtering, prefix_filtering;
  std::string_view external_version, global_seqno;
};

// Like ParsePropertiesBlock(), with the same errors. The view is valid as long as `contents`.
Result<PropertiesView> ViewProperties(const Slice& contents, uint64_t block_offset,
                                      std::string_view path);

// VerifyBlock() for the properties block. Old engines wrote the global sequence number into the
// finished file without a new checksum, so a mismatch is accepted if the checksum matches with
// these eight bytes set to zero. The block itself is not changed, because readers need the number.
Status VerifyPropertiesBlock(const ChecksumContext& context, const BlockHandle& handle,
                             const char* block, std::string_view path);

// The single sequence number of all entries of a file, or kNoGlobalSeqno if entries have their own.
// `manifest_largest` is the largest sequence number that the MANIFEST records; kMaxSequenceNumber
// if it is unknown.
inline constexpr SequenceNumber kNoGlobalSeqno = ~uint64_t{0};
Result<SequenceNumber> FindGlobalSeqno(const PropertiesView& properties,
                                       SequenceNumber manifest_largest, std::string_view path);

// The meaning of the property `rocksdb.compression`, section 9.4.
struct CompressionProperty {
  bool is_none = false;     // no block is compressed; a dictionary is ignored
  bool is_missing = false;  // the property is missing: any built-in type may occur
};
Result<CompressionProperty> ParseCompressionProperty(std::string_view value,
                                                     uint32_t format_version,
                                                     std::string_view path);
// The value of this property. `used_types` has bit i set if a block of the file uses type i.
std::string EncodeCompressionProperty(unsigned char configured_type, uint32_t used_types,
                                      uint32_t format_version);

}  // namespace ashlar
