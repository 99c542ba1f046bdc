// SPDX-License-Identifier: Apache-2.0
//
// Two tables are used in both directions: the numbers and the strings of TableProperties, each with
// its name; for a number also the condition under which it is written.
#include "table/format/properties.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <type_traits>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/table_properties.h"
#include "table/format/compression.h"
#include "table/format/footer.h"
#include "table/format/plain_block.h"
#include "table/format/table_property_names.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

enum class Written : uint8_t {
  kAlways,
  kIfNonZero,
  kIfKnown,      // unless it is UINT64_MAX
  kIfZero,       // a missing property means 1
  kIfPartitions  // only with a two-level index
};

// A property that is a varint, and when it is written.
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

// A property that is a string; it is written if it is not empty.
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

// Programs expect these two among the user properties as well.
bool IsMirroredToUser(std::string_view name) {
  return name == "rocksdb.deleted.keys" || name == "rocksdb.merge.operands";
}

// The field for a property with this name: one of the two pointers is set.
struct PropertyRow {
  std::string_view name;
  uint64_t TableProperties::*number = nullptr;
  std::string TableProperties::*string = nullptr;
};

constexpr auto AllRows() {
  std::array<PropertyRow, std::size(kNumbers) + std::size(kStrings)> rows;
  size_t count = 0;
  for (const NumberRow& row : kNumbers) rows[count++] = {.name = row.name, .number = row.field};
  for (const StringRow& row : kStrings) rows[count++] = {.name = row.name, .string = row.field};
  return rows;
}

// A property of PropertiesView; one of the two pointers is set.
struct ViewRow {
  std::string_view name;
  uint64_t PropertiesView::*number = nullptr;
  std::string_view PropertiesView::*string = nullptr;
};

// The row of a field of the view; it has the name of the same field of TableProperties.
template <typename Whole, typename Viewed>
constexpr ViewRow RowOf(Whole TableProperties::*whole, Viewed PropertiesView::*viewed) {
  ViewRow row;
  if constexpr (std::is_same_v<Whole, uint64_t>) {
    row.name = std::ranges::find(kNumbers, whole, &NumberRow::field)->name;
    row.number = viewed;
  } else {
    row.name = std::ranges::find(kStrings, whole, &StringRow::field)->name;
    row.string = viewed;
  }
  return row;
}

constexpr std::array kViewRows = {
    RowOf(&TableProperties::db_id, &PropertiesView::db_id),
    RowOf(&TableProperties::db_session_id, &PropertiesView::db_session_id),
    RowOf(&TableProperties::comparator_name, &PropertiesView::comparator_name),
    RowOf(&TableProperties::prefix_extractor_name, &PropertiesView::prefix_extractor_name),
    RowOf(&TableProperties::compression_name, &PropertiesView::compression_name),
    RowOf(&TableProperties::orig_file_number, &PropertiesView::orig_file_number),
    RowOf(&TableProperties::num_entries, &PropertiesView::num_entries),
    RowOf(&TableProperties::num_deletions, &PropertiesView::num_deletions),
    RowOf(&TableProperties::num_range_deletions, &PropertiesView::num_range_deletions),
    RowOf(&TableProperties::num_data_blocks, &PropertiesView::num_data_blocks),
    RowOf(&TableProperties::data_size, &PropertiesView::data_size),
    RowOf(&TableProperties::raw_key_size, &PropertiesView::raw_key_size),
    RowOf(&TableProperties::raw_value_size, &PropertiesView::raw_value_size),
    RowOf(&TableProperties::oldest_key_time, &PropertiesView::oldest_key_time),
    RowOf(&TableProperties::index_key_is_user_key, &PropertiesView::index_key_is_user_key),
    RowOf(&TableProperties::index_value_is_delta_encoded,
          &PropertiesView::index_value_is_delta_encoded),
    RowOf(&TableProperties::user_defined_timestamps_persisted,
          &PropertiesView::user_defined_timestamps_persisted),
    ViewRow{kIndexTypeProperty, nullptr, &PropertiesView::index_type},
    ViewRow{kWholeKeyFilteringProperty, nullptr, &PropertiesView::whole_key_filtering},
    ViewRow{kPrefixFilteringProperty, nullptr, &PropertiesView::prefix_filtering},
    ViewRow{kExternalVersionProperty, nullptr, &PropertiesView::external_version},
    ViewRow{kGlobalSeqnoProperty, nullptr, &PropertiesView::global_seqno},
};

// At compile time, so that a search of sorted names needs one pass.
template <typename Rows>
constexpr Rows SortedByName(Rows rows) {
  std::ranges::sort(rows, {}, &Rows::value_type::name);
  return rows;
}
constexpr auto kRowsByName = SortedByName(AllRows());
constexpr auto kViewRowsByName = SortedByName(kViewRows);

// Finds the rows for names that come in ascending order, by advancing through the rows with them.
template <typename Rows>
class RowFinder {
 public:
  explicit RowFinder(const Rows& sorted) : rows_(sorted) {}

  // The row with this name, or null. Names must ascend from call to call.
  const typename Rows::value_type* Find(std::string_view name) {
    for (; next_ < rows_.size(); next_++) {
      const int order = rows_[next_].name.compare(name);
      if (order >= 0) return order == 0 ? &rows_[next_] : nullptr;
    }
    return nullptr;
  }

 private:
  const Rows& rows_;
  size_t next_ = 0;  // all rows before it are less than the last name
};

std::string_view ViewOf(const Slice& bytes) { return {bytes.data(), bytes.size()}; }

// Sets the field to a number in varint form. A malformed number is skipped, because newer writers
// may use another encoding for it.
template <typename Properties>
void SetNumber(const Slice& value, uint64_t Properties::*field, Properties* properties) {
  assert(properties != nullptr);
  Slice rest = value;
  uint64_t number = 0;
  if (GetVarint64(&rest, &number)) properties->*field = number;
}

// Calls visit(name, value, offset of the value in the file) for each property.
template <typename Visit>
Status WalkProperties(const Slice& contents, uint64_t block_offset, std::string_view path,
                      const Visit& visit) {
  PlainBlockParser block(contents);
  Slice previous;
  for (bool is_first = true; block.Next(); is_first = false) {
    const Slice name = block.key();
    // Duplicates are damage, too.
    if (!is_first && name.compare(previous) <= 0) {
      return Status::Corruption(StrCat("properties block: ", path, ", offset ", block_offset, ": '",
                                       EscapeBytes(name), "' after '", EscapeBytes(previous), "'"));
    }
    previous = name;
    visit(ViewOf(name), block.value(), block_offset + block.value_offset());
  }
  if (block.status().ok()) return Status::OK();
  return Status::Corruption(StrCat("properties block: ", path, ", offset ", block_offset),
                            block.status().ToString());
}

Status BadCompression(std::string_view value, std::string_view path, std::string_view what) {
  return Status::Corruption(StrCat("compression property: ", path, ": '", value, "' ", what));
}

// The form `<manager>;<types>;<reserved>`.
Result<CompressionProperty> ParseManagerForm(std::string_view value, std::string_view path) {
  const size_t first = value.find(';');
  const size_t second = first == std::string_view::npos ? first : value.find(';', first + 1);
  if (second == std::string_view::npos) return BadCompression(value, path, "lacks a semicolon");
  const std::string_view manager = value.substr(0, first);
  const std::string_view types = value.substr(first + 1, second - first - 1);
  if (types.size() % 2 != 0) return BadCompression(value, path, "has half a type");
  for (size_t i = 0; i < types.size(); i += 2) {
    if (!std::isxdigit(static_cast<unsigned char>(types[i])) ||
        !std::isxdigit(static_cast<unsigned char>(types[i + 1]))) {
      return BadCompression(value, path, "has types that are not hexadecimal");
    }
    const std::string_view type = types.substr(i, 2);
    // No compression is listed by no type at all.
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

// A property of fixed length, if it is present; Corruption if its length is wrong.
struct FixedProperty {
  bool is_present = false;
  uint64_t value = 0;
};
Result<FixedProperty> ParseFixed(std::string_view bytes, std::string_view name, size_t width,
                                 std::string_view path) {
  assert(width == sizeof(uint32_t) || width == sizeof(uint64_t));
  if (bytes.data() == nullptr) return FixedProperty{};
  if (bytes.size() != width) {
    return Status::Corruption(StrCat("property ", name, ": ", path, ": expected ", width,
                                     " bytes, found ", bytes.size()));
  }
  const uint64_t value =
      width == sizeof(uint32_t) ? DecodeFixed32(bytes.data()) : DecodeFixed64(bytes.data());
  return FixedProperty{true, value};
}

}  // namespace

// Encodes the properties in ascending order of their names, which the block requires.
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
    result.emplace(name, value);  // does not replace an engine property with the same name
  }
  return result;
}

Result<TableProperties> ParsePropertiesBlock(const Slice& contents, uint64_t block_offset,
                                             std::string_view path) {
  TableProperties properties;
  UserCollectedProperties& user = properties.user_collected_properties;
  RowFinder rows(kRowsByName);
  const auto take = [&](std::string_view name, const Slice& value, uint64_t offset) {
    if (name == kGlobalSeqnoProperty) properties.external_sst_file_global_seqno_offset = offset;
    const PropertyRow* const row = rows.Find(name);
    if (row != nullptr && row->string != nullptr) {
      (properties.*row->string).assign(value.data(), value.size());
      return;
    }
    if (row != nullptr) SetNumber(value, row->number, &properties);
    if (row == nullptr || IsMirroredToUser(name)) {
      user.emplace_hint(user.end(), name, value.ToString());
    }
  };
  RETURN_IF_ERROR(WalkProperties(contents, block_offset, path, take));
  return properties;
}

Result<PropertiesView> ViewProperties(const Slice& contents, uint64_t block_offset,
                                      std::string_view path) {
  PropertiesView view;
  RowFinder rows(kViewRowsByName);
  const auto take = [&](std::string_view name, const Slice& value, uint64_t /*offset*/) {
    const ViewRow* const row = rows.Find(name);
    if (row == nullptr) return;
    if (row->string != nullptr) {
      view.*row->string = ViewOf(value);
    } else {
      SetNumber(value, row->number, &view);
    }
  };
  RETURN_IF_ERROR(WalkProperties(contents, block_offset, path, take));
  return view;
}

Status VerifyPropertiesBlock(const ChecksumContext& context, const BlockHandle& handle,
                             const char* block, std::string_view path) {
  Status status = VerifyBlock(context, handle, block, {path, "properties block"});
  if (status.ok()) return status;
  // The bytes are not verified yet. This is safe: the parser only looks for eight bytes inside the
  // block, and then the checksum decides.
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

Result<SequenceNumber> FindGlobalSeqno(const PropertiesView& properties,
                                       SequenceNumber manifest_largest, std::string_view path) {
  ASSIGN_OR_RETURN(
      const FixedProperty version,
      ParseFixed(properties.external_version, kExternalVersionProperty, sizeof(uint32_t), path));
  ASSIGN_OR_RETURN(
      const FixedProperty seqno,
      ParseFixed(properties.global_seqno, kGlobalSeqnoProperty, sizeof(uint64_t), path));
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
  // The MANIFEST is unknown to tools that open a single table.
  const bool is_manifest_known = manifest_largest != kMaxSequenceNumber;
  if (seqno.value != 0 && is_manifest_known && seqno.value != manifest_largest) {
    return Status::Corruption(StrCat("properties: ", path, ": global sequence number expected ",
                                     manifest_largest, " as in the MANIFEST, found ", seqno.value));
  }
  const SequenceNumber result =
      seqno.value == 0 && is_manifest_known ? manifest_largest : seqno.value;
  return result == 0 ? kNoGlobalSeqno : result;
}

Result<CompressionProperty> ParseCompressionProperty(std::string_view value,
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
