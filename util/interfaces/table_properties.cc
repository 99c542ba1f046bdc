// SPDX-License-Identifier: Apache-2.0
//
// Names and texts of table properties, and sums over them. The table code encodes and decodes the
// properties block.
#include "ashlar/table_properties.h"

#include <algorithm>
#include <cassert>

#include "ashlar/convenience.h"
#include "ashlar/table.h"
#include "util/keys/coding.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A field that is a number. `is_summed`: the sum over several tables has a meaning.
struct NumberRow {
  const char* name;  // of the field
  uint64_t TableProperties::*member;
  bool is_summed = false;
};

constexpr NumberRow kNumbers[] = {
    {"orig_file_number", &TableProperties::orig_file_number},
    {"data_size", &TableProperties::data_size, true},
    {"uncompressed_data_size", &TableProperties::uncompressed_data_size, true},
    {"index_size", &TableProperties::index_size, true},
    {"index_partitions", &TableProperties::index_partitions, true},
    {"top_level_index_size", &TableProperties::top_level_index_size, true},
    {"index_key_is_user_key", &TableProperties::index_key_is_user_key, true},
    {"index_value_is_delta_encoded", &TableProperties::index_value_is_delta_encoded, true},
    {"udi_is_primary_index", &TableProperties::udi_is_primary_index},
    {"filter_size", &TableProperties::filter_size, true},
    {"raw_key_size", &TableProperties::raw_key_size, true},
    {"raw_value_size", &TableProperties::raw_value_size, true},
    {"num_data_blocks", &TableProperties::num_data_blocks, true},
    {"num_data_blocks_compression_rejected", &TableProperties::num_data_blocks_compression_rejected,
     true},
    {"num_data_blocks_compression_bypassed", &TableProperties::num_data_blocks_compression_bypassed,
     true},
    {"num_uniform_blocks", &TableProperties::num_uniform_blocks, true},
    {"num_entries", &TableProperties::num_entries, true},
    {"num_filter_entries", &TableProperties::num_filter_entries, true},
    {"num_deletions", &TableProperties::num_deletions, true},
    {"num_merge_operands", &TableProperties::num_merge_operands, true},
    {"num_range_deletions", &TableProperties::num_range_deletions, true},
    {"format_version", &TableProperties::format_version},
    {"fixed_key_len", &TableProperties::fixed_key_len},
    {"column_family_id", &TableProperties::column_family_id},
    {"creation_time", &TableProperties::creation_time},
    {"oldest_key_time", &TableProperties::oldest_key_time},
    {"newest_key_time", &TableProperties::newest_key_time},
    {"file_creation_time", &TableProperties::file_creation_time},
    {"slow_compression_estimated_data_size", &TableProperties::slow_compression_estimated_data_size,
     true},
    {"fast_compression_estimated_data_size", &TableProperties::fast_compression_estimated_data_size,
     true},
    {"external_sst_file_global_seqno_offset",
     &TableProperties::external_sst_file_global_seqno_offset},
    {"tail_start_offset", &TableProperties::tail_start_offset},
    {"user_defined_timestamps_persisted", &TableProperties::user_defined_timestamps_persisted},
    {"key_largest_seqno", &TableProperties::key_largest_seqno},
    {"key_smallest_seqno", &TableProperties::key_smallest_seqno},
    {"data_block_restart_interval", &TableProperties::data_block_restart_interval},
    {"index_block_restart_interval", &TableProperties::index_block_restart_interval},
    {"separate_key_value_in_data_block", &TableProperties::separate_key_value_in_data_block},
};

// A field that is a text or bytes.
struct StringRow {
  const char* name;
  std::string TableProperties::*member;
};

constexpr StringRow kStrings[] = {
    {"db_id", &TableProperties::db_id},
    {"db_session_id", &TableProperties::db_session_id},
    {"db_host_id", &TableProperties::db_host_id},
    {"column_family_name", &TableProperties::column_family_name},
    {"filter_policy_name", &TableProperties::filter_policy_name},
    {"comparator_name", &TableProperties::comparator_name},
    {"merge_operator_name", &TableProperties::merge_operator_name},
    {"prefix_extractor_name", &TableProperties::prefix_extractor_name},
    {"property_collectors_names", &TableProperties::property_collectors_names},
    {"compression_name", &TableProperties::compression_name},
    {"compression_options", &TableProperties::compression_options},
    {"seqno_to_time_mapping", &TableProperties::seqno_to_time_mapping},
};

// The fields that are maps from names to bytes. Both tables have the same order.
constexpr UserCollectedProperties TableProperties::*kMaps[] = {
    &TableProperties::user_collected_properties, &TableProperties::readable_properties};
constexpr const char* kMapNames[] = {"user_collected_properties", "readable_properties"};

// The names in properties of tables below format version 7, by number.
constexpr const char* kCompressionNames[] = {"NoCompression", "Snappy", "Zlib",   "BZip2",
                                             "LZ4",           "LZ4HC",  "Xpress", "ZSTD"};

// Appends "name=value; " with the names that sst_dump prints. Scripts parse them, so that they do
// not change.
class Describer {
 public:
  Describer(const std::string& property_delimiter, const std::string& value_delimiter)
      : property_delimiter_(property_delimiter), value_delimiter_(value_delimiter) {}

  template <typename T>
  void Add(std::string_view name, const T& value) {
    StrAppend(&text_, name, value_delimiter_, value, property_delimiter_);
  }
  // A text; an empty one is shown as N/A.
  void AddName(std::string_view name, const std::string& value) {
    Add(name, value.empty() ? std::string("N/A") : value);
  }
  // 0 if there is nothing to divide by.
  void AddAverage(std::string_view name, uint64_t total, uint64_t count) {
    const double average = count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count);
    Add(name, DoubleText(average));
  }
  // The describer is empty afterwards.
  std::string Take() { return std::move(text_); }

 private:
  const std::string& property_delimiter_;
  const std::string& value_delimiter_;
  std::string text_;
};

// What the table contains: counts and sizes in bytes.
void DescribeContents(const TableProperties& p, Describer* out) {
  assert(out != nullptr);
  out->Add("# data blocks", p.num_data_blocks);
  out->Add("# entries", p.num_entries);
  out->Add("# deletions", p.num_deletions);
  out->Add("# merge operands", p.num_merge_operands);
  out->Add("# range deletions", p.num_range_deletions);
  out->Add("raw key size", p.raw_key_size);
  out->AddAverage("raw average key size", p.raw_key_size, p.num_entries);
  out->Add("raw value size", p.raw_value_size);
  out->AddAverage("raw average value size", p.raw_value_size, p.num_entries);
  out->Add("data block size", p.data_size);
  const std::string index_name = StrCat("index block size (user-key? ", p.index_key_is_user_key,
                                        ", delta-value? ", p.index_value_is_delta_encoded, ")");
  out->Add(index_name, p.index_size);
  if (p.index_partitions != 0) {
    out->Add("# index partitions", p.index_partitions);
    out->Add("top-level index size", p.top_level_index_size);
  }
  out->Add("filter block size", p.filter_size);
  out->Add("# entries for filter", p.num_filter_entries);
  out->Add("(estimated) table size", p.data_size + p.index_size + p.filter_size);
}

// Where the table comes from: database, family, and the objects with which it was written.
void DescribeOrigin(const TableProperties& p, Describer* out) {
  assert(out != nullptr);
  constexpr uint64_t kNoFamily = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  out->AddName("filter policy name", p.filter_policy_name);
  out->AddName("prefix extractor name", p.prefix_extractor_name);
  out->Add("column family ID",
           p.column_family_id == kNoFamily ? std::string("N/A") : StrCat(p.column_family_id));
  out->AddName("column family name", p.column_family_name);
  out->AddName("comparator name", p.comparator_name);
  out->Add("user defined timestamps persisted", p.user_defined_timestamps_persisted != 0);
  if (p.HasKeyLargestSeqno()) out->Add("largest sequence number in file", p.key_largest_seqno);
  out->AddName("merge operator name", p.merge_operator_name);
  out->AddName("property collectors names", p.property_collectors_names);
  out->AddName("SST file compression algo", p.compression_name);
  out->AddName("SST file compression options", p.compression_options);
  out->Add("creation time", p.creation_time);
  out->Add("time stamp of earliest key", p.oldest_key_time);
  out->Add("time stamp of newest key", p.newest_key_time);
  out->Add("file creation time", p.file_creation_time);
  out->Add("slow compression estimated data size", p.slow_compression_estimated_data_size);
  out->Add("fast compression estimated data size", p.fast_compression_estimated_data_size);
  out->AddName("DB identity", p.db_id);
  out->AddName("DB session identity", p.db_session_id);
  out->AddName("DB host id", p.db_host_id);
  out->Add("original file number", p.orig_file_number);
}

// The properties of the two deprecated collectors are varints.
uint64_t CountIn(const UserCollectedProperties& properties, const std::string& name,
                 bool* is_present) {
  assert(is_present != nullptr);
  const auto found = properties.find(name);
  *is_present = found != properties.end();
  uint64_t count = 0;
  if (!*is_present) return 0;
  Slice value(found->second);
  return GetVarint64(&value, &count) ? count : 0;
}

std::string HexText(const std::string& bytes) { return Slice(bytes).ToString(/*hex=*/true); }

// "key:value:" pairs in hexadecimal, so that no byte of them is taken for syntax.
std::string MapText(const UserCollectedProperties& map) {
  std::string text;
  for (const auto& [key, value] : map) StrAppend(&text, HexText(key), ":", HexText(value), ":");
  return text;
}

// Returns false for an odd number of items or for anything but hexadecimal digits; `*map` may be
// changed then.
bool ParseMapText(std::string_view text, UserCollectedProperties* map) {
  assert(map != nullptr);
  std::vector<std::string> items;
  if (!SplitList(text, ':', &items).ok() || items.size() % 2 != 0) return false;
  for (size_t i = 0; i < items.size(); i += 2) {
    std::string key;
    if (!Slice(items[i]).DecodeHex(&key)) return false;
    if (!Slice(items[i + 1]).DecodeHex(&(*map)[key])) return false;
  }
  return true;
}

// Returns false if the field is unknown or its value is invalid.
bool ParseField(const NameValue& field, TableProperties* properties) {
  assert(properties != nullptr);
  for (const NumberRow& row : kNumbers) {
    if (field.first == row.name) return ParseUint64Text(field.second, &(properties->*row.member));
  }
  for (const StringRow& row : kStrings) {
    if (field.first != row.name) continue;
    return Slice(field.second).DecodeHex(&(properties->*row.member));
  }
  for (size_t i = 0; i < std::size(kMaps); ++i) {
    if (field.first == kMapNames[i]) return ParseMapText(field.second, &(properties->*kMaps[i]));
  }
  return false;
}

}  // namespace

std::string TableProperties::ToString(const std::string& prop_delim,
                                      const std::string& kv_delim) const {
  Describer describer(prop_delim, kv_delim);
  DescribeContents(*this, &describer);
  DescribeOrigin(*this, &describer);
  return describer.Take();
}

void TableProperties::Add(const TableProperties& tp) {
  for (const NumberRow& row : kNumbers) {
    if (row.is_summed) this->*row.member += tp.*row.member;
  }
}

std::map<std::string, uint64_t> TableProperties::GetAggregatablePropertiesAsMap() const {
  std::map<std::string, uint64_t> result;
  for (const NumberRow& row : kNumbers) {
    if (row.is_summed) result[row.name] = this->*row.member;
  }
  return result;
}

// In bytes. Counts the nodes of the maps, but not the rounding of the allocator.
std::size_t TableProperties::ApproximateMemoryUsage() const {
  size_t usage = sizeof(*this);
  for (const StringRow& row : kStrings) usage += (this->*row.member).size();
  // Two strings, three pointers, and the color.
  constexpr size_t kMapNodeBytes = 2 * sizeof(std::string) + 4 * sizeof(void*);
  for (auto member : kMaps) {
    for (const auto& [key, value] : this->*member) {
      usage += kMapNodeBytes + key.size() + value.size();
    }
  }
  return usage;
}

// Parse() reads it. Binary values are hexadecimal.
Status TableProperties::Serialize(const ConfigOptions& opts, std::string* output) const {
  assert(output != nullptr);
  output->clear();
  for (const NumberRow& row : kNumbers) {
    StrAppend(output, row.name, "=", this->*row.member, opts.delimiter);
  }
  for (const StringRow& row : kStrings) {
    StrAppend(output, row.name, "=", HexText(this->*row.member), opts.delimiter);
  }
  for (size_t i = 0; i < std::size(kMaps); ++i) {
    StrAppend(output, kMapNames[i], "=", MapText(this->*kMaps[i]), opts.delimiter);
  }
  return Status::OK();
}

// `*table_properties` is changed only on success.
Status TableProperties::Parse(const ConfigOptions& opts, const std::string& serialized,
                              TableProperties* table_properties) {
  std::vector<NameValue> fields;
  Status status = SplitOptions(serialized, &fields);
  if (!status.ok()) return status;
  TableProperties parsed;
  for (const NameValue& field : fields) {
    if (ParseField(field, &parsed) || opts.ignore_unknown_options) continue;
    return Status::InvalidArgument("table properties: unknown field or bad value", field.first);
  }
  *table_properties = std::move(parsed);
  return Status::OK();
}

// `*mismatch`: the name of the first field that differs.
bool TableProperties::AreEqual(const ConfigOptions& /*opts*/,
                               const TableProperties* other_table_properties,
                               std::string* mismatch) const {
  for (const NumberRow& row : kNumbers) {
    if (this->*row.member == other_table_properties->*row.member) continue;
    *mismatch = row.name;
    return false;
  }
  for (const StringRow& row : kStrings) {
    if (this->*row.member == other_table_properties->*row.member) continue;
    *mismatch = row.name;
    return false;
  }
  for (size_t i = 0; i < std::size(kMaps); ++i) {
    if (this->*kMaps[i] == other_table_properties->*kMaps[i]) continue;
    *mismatch = kMapNames[i];
    return false;
  }
  return true;
}

// From format version 7 on the property is "manager;types;", with two hexadecimal digits for each
// type.
std::string ParseCompressionNameForDisplay(const std::string& compression_name) {
  const size_t types_begin = compression_name.find(';') + 1;
  // Older tables have the plain name, without a semicolon.
  if (types_begin == 0) return compression_name;
  const size_t types_end =
      std::min(compression_name.find(';', types_begin), compression_name.size());
  std::string bytes;
  const Slice hex(compression_name.data() + types_begin, types_end - types_begin);
  if (!hex.DecodeHex(&bytes)) return compression_name;
  std::string display;
  for (char byte : bytes) {
    const auto type = static_cast<uint8_t>(byte);
    if (!display.empty()) display += ',';
    display += type < std::size(kCompressionNames) ? kCompressionNames[type] : Hex(type);
  }
  return display.empty() ? kCompressionNames[kNoCompression] : display;
}

std::string ParseCompressionNameForDisplay(const std::string& compression_name,
                                           std::shared_ptr<CompressionManager>) {
  return ParseCompressionNameForDisplay(compression_name);
}

uint64_t GetDeletedKeys(const UserCollectedProperties& props) {
  bool is_present;
  return CountIn(props, TablePropertiesNames::kDeletedKeys, &is_present);
}

uint64_t GetMergeOperands(const UserCollectedProperties& props, bool* property_present) {
  return CountIn(props, TablePropertiesNames::kMergeOperands, property_present);
}

}  // namespace ashlar
