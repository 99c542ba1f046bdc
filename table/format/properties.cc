// SPDX-License-Identifier: Apache-2.0
//
// Two tables drive both directions: the numbers and the strings of TableProperties, each with its
// name and the condition under which it is written.
#include "table/format/properties.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/table_properties.h"
#include "table/format/compression.h"
#include "table/format/footer.h"
#include "table/format/plain_block.h"
#include "table/format/table_property_names.h"
#include "util/coding.h"
#include "util/internal_key.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

enum class Written : uint8_t {
  kAlways,
  kIfNonZero,
  kIfKnown,      // unless it is UINT64_MAX
  kIfZero,       // a missing one means 1
  kIfPartitions  // with a two-level index
};

struct NumberRow {
  std::string_view name;
  uint64_t TableProperties::*field;
  Written written;
};

constexpr NumberRow kNumbers[] = {
    {"rocksdb.original.file.number", &TableProperties::orig_file_number, Written::kAlways},
    {"rocksdb.data.size", &TableProperties::data_size, Written::kAlways},
    {"rocksdb.index.size", &TableProperties::index_size, Written::kAlways},
    {"rocksdb.index.partitions", &TableProperties::index_partitions, Written::kIfPartitions},
    {"rocksdb.top-level.index.size", &TableProperties::top_level_index_size,
     Written::kIfPartitions},
    {"rocksdb.index.key.is.user.key", &TableProperties::index_key_is_user_key, Written::kAlways},
    {"rocksdb.index.value.is.delta.encoded", &TableProperties::index_value_is_delta_encoded,
     Written::kAlways},
    {"rocksdb.udi.is.primary.index", &TableProperties::udi_is_primary_index, Written::kIfNonZero},
    {"rocksdb.filter.size", &TableProperties::filter_size, Written::kAlways},
    {"rocksdb.raw.key.size", &TableProperties::raw_key_size, Written::kAlways},
    {"rocksdb.raw.value.size", &TableProperties::raw_value_size, Written::kAlways},
    {"rocksdb.num.data.blocks", &TableProperties::num_data_blocks, Written::kAlways},
    {"rocksdb.num.data.blocks.compression.rejected",
     &TableProperties::num_data_blocks_compression_rejected, Written::kIfNonZero},
    {"rocksdb.num.data.blocks.compression.bypassed",
     &TableProperties::num_data_blocks_compression_bypassed, Written::kIfNonZero},
    {"rocksdb.num.uniform.blocks", &TableProperties::num_uniform_blocks, Written::kAlways},
    {"rocksdb.num.entries", &TableProperties::num_entries, Written::kAlways},
    {"rocksdb.num.filter_entries", &TableProperties::num_filter_entries, Written::kAlways},
    {"rocksdb.deleted.keys", &TableProperties::num_deletions, Written::kAlways},
    {"rocksdb.merge.operands", &TableProperties::num_merge_operands, Written::kAlways},
    {"rocksdb.num.range-deletions", &TableProperties::num_range_deletions, Written::kAlways},
    {"rocksdb.format.version", &TableProperties::format_version, Written::kAlways},
    {"rocksdb.fixed.key.length", &TableProperties::fixed_key_len, Written::kAlways},
    {"rocksdb.column.family.id", &TableProperties::column_family_id, Written::kAlways},
    {"rocksdb.creation.time", &TableProperties::creation_time, Written::kAlways},
    {"rocksdb.oldest.key.time", &TableProperties::oldest_key_time, Written::kAlways},
    {"rocksdb.newest.key.time", &TableProperties::newest_key_time, Written::kAlways},
    {"rocksdb.file.creation.time", &TableProperties::file_creation_time, Written::kIfNonZero},
    {"rocksdb.sample_for_compression.slow.data.size",
     &TableProperties::slow_compression_estimated_data_size, Written::kIfNonZero},
    {"rocksdb.sample_for_compression.fast.data.size",
     &TableProperties::fast_compression_estimated_data_size, Written::kIfNonZero},
    {"rocksdb.tail.start.offset", &TableProperties::tail_start_offset, Written::kAlways},
    {"rocksdb.user.defined.timestamps.persisted",
     &TableProperties::user_defined_timestamps_persisted, Written::kIfZero},
    {"rocksdb.key.largest.seqno", &TableProperties::key_largest_seqno, Written::kIfKnown},
    {"rocksdb.key.smallest.seqno", &TableProperties::key_smallest_seqno, Written::kIfKnown},
    {"rocksdb.data.block.restart.interval", &TableProperties::data_block_restart_interval,
     Written::kIfNonZero},
    {"rocksdb.index.block.restart.interval", &TableProperties::index_block_restart_interval,
     Written::kIfNonZero},
    {"rocksdb.separate.key.value.in.data.block", &TableProperties::separate_key_value_in_data_block,
     Written::kIfNonZero},
};

// Strings are written unless they are empty.
struct StringRow {
  std::string_view name;
  std::string TableProperties::*field;
};

constexpr StringRow kStrings[] = {
    {"rocksdb.creating.db.identity", &TableProperties::db_id},
    {"rocksdb.creating.session.identity", &TableProperties::db_session_id},
    {"rocksdb.creating.host.identity", &TableProperties::db_host_id},
    {"rocksdb.column.family.name", &TableProperties::column_family_name},
    {"rocksdb.filter.policy", &TableProperties::filter_policy_name},
    {"rocksdb.comparator", &TableProperties::comparator_name},
    {"rocksdb.merge.operator", &TableProperties::merge_operator_name},
    {"rocksdb.prefix.extractor.name", &TableProperties::prefix_extractor_name},
    {"rocksdb.property.collectors", &TableProperties::property_collectors_names},
    {"rocksdb.compression", &TableProperties::compression_name},
    {"rocksdb.compression_options", &TableProperties::compression_options},
    {"rocksdb.seqno.time.map", &TableProperties::seqno_to_time_mapping},
};

bool IsWritten(const NumberRow& row, const TableProperties& properties) {
  const uint64_t value = properties.*row.field;
  switch (row.written) {
    case Written::kAlways: return true;
    case Written::kIfNonZero: return value != 0;
    case Written::kIfKnown: return value != UINT64_MAX;
    case Written::kIfZero: return value == 0;
    case Written::kIfPartitions: return properties.index_partitions != 0;
  }
  return true;
}

// Users of the public API look for these two among the user properties as well.
bool IsMirroredToUser(std::string_view name) {
  return name == "rocksdb.deleted.keys" || name == "rocksdb.merge.operands";
}

// A database opens thousands of tables, and each has most of them: they are found by name.
template <typename Row, size_t kCount>
constexpr std::array<Row, kCount> SortedByName(const Row (&rows)[kCount]) {
  std::array<Row, kCount> sorted = std::to_array(rows);
  std::ranges::sort(sorted, {}, &Row::name);
  return sorted;
}
constexpr auto kNumbersByName = SortedByName(kNumbers);
constexpr auto kStringsByName = SortedByName(kStrings);

// Null: none is called so.
template <typename Rows>
const typename Rows::value_type* FindRow(const Rows& sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &Rows::value_type::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

void TakeProperty(const Slice& name, const Slice& value, TableProperties* properties) {
  const std::string_view wanted(name.data(), name.size());
  if (const NumberRow* row = FindRow(kNumbersByName, wanted); row != nullptr) {
    Slice rest = value;
    uint64_t number = 0;
    if (GetVarint64(&rest, &number)) properties->*row->field = number;
    if (!IsMirroredToUser(wanted)) return;
  } else if (const StringRow* string = FindRow(kStringsByName, wanted); string != nullptr) {
    (properties->*string->field).assign(value.data(), value.size());
    return;
  }
  properties->user_collected_properties.emplace(name.ToString(), value.ToString());
}

Status BadCompression(const std::string& value, std::string_view path, std::string_view what) {
  return Status::Corruption(StrCat("compression property: ", path, ": '", value, "' ", what));
}

// `<manager>;<types>;<reserved>`
Result<CompressionProperty> ParseManagerForm(const std::string& value, std::string_view path) {
  const size_t first = value.find(';');
  const size_t second = first == std::string::npos ? first : value.find(';', first + 1);
  if (second == std::string::npos) return BadCompression(value, path, "lacks a semicolon");
  const std::string_view manager = std::string_view(value).substr(0, first);
  const std::string_view types = std::string_view(value).substr(first + 1, second - first - 1);
  if (types.size() % 2 != 0) return BadCompression(value, path, "has half a type");
  for (size_t i = 0; i < types.size(); i += 2) {
    if (!std::isxdigit(static_cast<unsigned char>(types[i])) ||
        !std::isxdigit(static_cast<unsigned char>(types[i + 1]))) {
      return BadCompression(value, path, "has types that are not hexadecimal");
    }
    const std::string_view type = types.substr(i, 2);
    if (type == "00" || type == "FF" || type == "ff") {
      return BadCompression(value, path, "lists a type that cannot occur");
    }
  }
  if (!manager.empty() && manager != "BuiltinV2") {
    return Status::NotSupported(StrCat("compression property: ", path, ": compression manager '",
                                       manager, "' is not known; rewrite the file without it"));
  }
  return CompressionProperty{.is_none = manager.empty(), .is_missing = false};
}

// One fixed-width user property, if present; Corruption when its size is wrong.
struct FixedProperty {
  bool is_present = false;
  uint64_t value = 0;
};
Result<FixedProperty> FindFixed(const TableProperties& properties, std::string_view name,
                                size_t width, std::string_view path) {
  const auto found = properties.user_collected_properties.find(std::string(name));
  if (found == properties.user_collected_properties.end()) return FixedProperty{};
  const std::string& bytes = found->second;
  if (bytes.size() != width) {
    return Status::Corruption(StrCat("property ", name, ": ", path, ": expected ", width,
                                     " bytes, found ", bytes.size()));
  }
  const uint64_t value =
      width == sizeof(uint32_t) ? DecodeFixed32(bytes.data()) : DecodeFixed64(bytes.data());
  return FixedProperty{true, value};
}

}  // namespace

EncodedProperties EncodeProperties(const TableProperties& properties) {
  EncodedProperties result;
  for (const NumberRow& row : kNumbers) {
    if (!IsWritten(row, properties)) continue;
    PutVarint64(&result[std::string(row.name)], properties.*row.field);
  }
  for (const StringRow& row : kStrings) {
    const std::string& value = properties.*row.field;
    if (!value.empty()) result.emplace(row.name, value);
  }
  for (const auto& [name, value] : properties.user_collected_properties) {
    result.emplace(name, value);  // keeps an engine property of the same name
  }
  return result;
}

Result<TableProperties> ParsePropertiesBlock(const Slice& contents, uint64_t block_offset,
                                             std::string_view path) {
  TableProperties properties;
  PlainBlockParser block(contents);
  std::string previous;
  for (bool is_first = true; block.Next(); is_first = false) {
    if (!is_first && block.key().compare(previous) <= 0) {
      return Status::Corruption(StrCat("properties block: ", path, ", offset ", block_offset, ": '",
                                       EscapeBytes(block.key()), "' after '", EscapeBytes(previous),
                                       "'"));
    }
    previous.assign(block.key().data(), block.key().size());
    if (previous == kGlobalSeqnoProperty) {
      properties.external_sst_file_global_seqno_offset = block_offset + block.value_offset();
    }
    TakeProperty(block.key(), block.value(), &properties);
  }
  if (!block.status().ok()) {
    return Status::Corruption(StrCat("properties block: ", path, ", offset ", block_offset),
                              block.status().ToString());
  }
  return properties;
}

Status VerifyPropertiesBlock(const ChecksumContext& context, const BlockHandle& handle,
                             const char* block, std::string_view path) {
  Status status = VerifyBlock(context, handle, block, {path, "properties block"});
  if (status.ok()) return status;
  // The bytes are not trusted yet: the parser only finds eight bytes inside the block, and the
  // checksum decides.
  PlainBlockParser parser(Slice(block, static_cast<size_t>(handle.size)));
  while (parser.Next()) {
    if (parser.key() != Slice(kGlobalSeqnoProperty.data(), kGlobalSeqnoProperty.size())) continue;
    if (parser.value().size() != sizeof(uint64_t)) break;
    std::string zeroed(block, static_cast<size_t>(handle.size) + kBlockTrailerBytes);
    EncodeFixed64(zeroed.data() + parser.value_offset(), 0);
    return VerifyBlock(context, handle, zeroed.data(), {path, "properties block"});
  }
  return status;
}

Result<SequenceNumber> FindGlobalSeqno(const TableProperties& properties,
                                       SequenceNumber manifest_largest, std::string_view path) {
  ASSIGN_OR_RETURN(const FixedProperty version,
                   FindFixed(properties, kExternalVersionProperty, sizeof(uint32_t), path));
  ASSIGN_OR_RETURN(const FixedProperty seqno,
                   FindFixed(properties, kGlobalSeqnoProperty, sizeof(uint64_t), path));
  if (seqno.is_present && (!version.is_present || version.value == kOldExternalTableVersion)) {
    return Status::Corruption(
        StrCat("properties: ", path, ": a global sequence number without file version 2"));
  }
  if (!version.is_present || version.value == kOldExternalTableVersion) return kNoGlobalSeqno;
  if (version.value != kExternalTableVersion) {
    return Status::Corruption(StrCat("properties: ", path,
                                     ": external file version expected 1 or "
                                     "2, found ",
                                     version.value));
  }
  const bool is_manifest_known = manifest_largest != kMaxSequenceNumber;
  if (seqno.value != 0 && is_manifest_known && seqno.value != manifest_largest) {
    return Status::Corruption(StrCat("properties: ", path, ": global sequence number expected ",
                                     manifest_largest, " as in the MANIFEST, found ", seqno.value));
  }
  const SequenceNumber result =
      seqno.value == 0 && is_manifest_known ? manifest_largest : seqno.value;
  return result == 0 ? kNoGlobalSeqno : result;
}

Result<CompressionProperty> ParseCompressionProperty(const std::string& value,
                                                     uint32_t format_version,
                                                     std::string_view path) {
  if (value.empty()) return CompressionProperty{.is_none = false, .is_missing = true};
  if (UsesCompressionManagerName(format_version)) return ParseManagerForm(value, path);
  constexpr unsigned kTypeCount = 0x41;  // up to "ZSTDNotFinal"
  for (unsigned type = 0; type < kTypeCount; ++type) {
    if (value != CompressionPropertyName(static_cast<CompressionType>(type))) continue;
    return CompressionProperty{.is_none = type == kNoCompression, .is_missing = false};
  }
  return Status::NotSupported(
      StrCat("compression property: ", path, ": compression '", value, "' is not known"));
}

std::string EncodeCompressionProperty(unsigned char configured_type, uint32_t used_types,
                                      uint32_t format_version) {
  const auto configured = static_cast<CompressionType>(configured_type);
  if (!UsesCompressionManagerName(format_version)) {
    return std::string(CompressionPropertyName(configured));
  }
  if (configured == kNoCompression) return ";;";
  std::string result = "BuiltinV2;";
  for (unsigned type = 1; type <= kLastBuiltinCompression; ++type) {
    if ((used_types >> type & 1) == 0) continue;
    result += '0';
    result += static_cast<char>('0' + type);
  }
  return result + ';';
}

}  // namespace ashlar
