// SPDX-License-Identifier: Apache-2.0
//
// Options that are structs inside another: their tables, parsing and printing.
#include "db/options/option_table.h"

#include <cassert>
#include <cstring>
#include <type_traits>

#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// RocksDB 7.8 reads and prints this 32-bit number as a signed number. The member is unsigned, so a
// negative number of an old file is taken with its bits unchanged.
constexpr OptionRow MaxDictBytes() {
  OptionRow row = Option<CompressionOptions, &CompressionOptions::max_dict_bytes>(
      {"max_dict_bytes", "bytes of dictionary; 0 = none"});
  row.parse = [](const ConfigOptions& config, std::string_view text, void* untyped) {
    uint32_t& value = *static_cast<uint32_t*>(untyped);
    int32_t with_sign;
    const Status status = ParseValue(config, text, &with_sign);
    if (!status.ok()) return ParseValue(config, text, &value);
    value = static_cast<uint32_t>(with_sign);
    return status;
  };
  row.print = [](const PrintContext& context, const void* untyped, std::string* text) {
    const uint32_t value = *static_cast<const uint32_t*>(untyped);
    if (context.newest != Since::kRocksDb78) return PrintValue(context, value, text);
    PrintValue(context, static_cast<int32_t>(value), text);
  };
  return row;
}

// The first rows have the order of Position, below.
constexpr OptionRow kCompressionRows[] = {
    Option<CompressionOptions, &CompressionOptions::window_bits>(
        {"window_bits", "zlib only: base-two logarithm of the window size"}),
    Option<CompressionOptions, &CompressionOptions::level>(
        {"level", "32767 = the algorithm's own"}),
    Option<CompressionOptions, &CompressionOptions::strategy>({"strategy", "zlib only"}),
    MaxDictBytes(),
    Option<CompressionOptions, &CompressionOptions::zstd_max_train_bytes>(
        {"zstd_max_train_bytes", "bytes of samples for the dictionary trainer"}),
    Option<CompressionOptions, &CompressionOptions::parallel_threads>(
        {"parallel_threads", "threads that compress the blocks of one table"}),
    Option<CompressionOptions, &CompressionOptions::enabled>(
        {"enabled", "for bottommost_compression_opts: whether they are used"}),
    Option<CompressionOptions, &CompressionOptions::max_dict_buffer_bytes>(
        {"max_dict_buffer_bytes", "bytes of blocks that are buffered to take samples"}),
    Option<CompressionOptions, &CompressionOptions::use_zstd_dict_trainer>(
        {"use_zstd_dict_trainer", "train the dictionary instead of only finalizing it"}),
    Option<CompressionOptions, &CompressionOptions::max_compressed_bytes_per_kb>(
        {"max_compressed_bytes_per_kb", "store blocks uncompressed above this size",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<CompressionOptions, &CompressionOptions::checksum>(
        {"checksum", "zstd frame checksum", Support::kHonoured, TakesEffect::kDynamic,
         Since::kRocksDb119}),
};

// All members of these structs can be changed on an open database, since their struct can.
constexpr OptionRow kUniversalRows[] = {
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::size_ratio>(
        {"size_ratio", "percentage by which similar sizes may differ"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::min_merge_width>(
        {"min_merge_width", "minimum number of runs that are merged"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::max_merge_width>(
        {"max_merge_width", "maximum number of runs that are merged"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::max_size_amplification_percent>(
        {"max_size_amplification_percent", "additional space from which all runs are merged"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::compression_size_percent>(
        {"compression_size_percent", "percentage of the data that is compressed; -1 = all"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::max_read_amp>(
        {"max_read_amp", "maximum number of runs", Support::kHonoured, TakesEffect::kDynamic,
         Since::kRocksDb119}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::stop_style>(
        {"stop_style", "how a compaction decides to include the next run"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::allow_trivial_move>(
        {"allow_trivial_move", "move files that overlap with no other file"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::incremental>(
        {"incremental", "merge parts of runs to limit space amplification"}),
    Option<CompactionOptionsUniversal, &CompactionOptionsUniversal::reduce_file_locking>(
        {"reduce_file_locking", "lock only the files that are being read", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
};

// Sizes are in bytes, ages in seconds.
constexpr OptionRow kFifoRows[] = {
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::max_table_files_size>(
        {"max_table_files_size", "total bytes above which the oldest files are deleted"}),
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::allow_compaction>(
        {"allow_compaction", "merge small files"}),
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::age_for_warm>(
        {"age_for_warm", "deprecated", Support::kHint}),
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::file_temperature_age_thresholds>(
        {"file_temperature_age_thresholds", "ages at which files move to another storage tier",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<CompactionOptionsFIFO,
           &CompactionOptionsFIFO::allow_trivial_copy_when_change_temperature>(
        {"allow_trivial_copy_when_change_temperature", "copy files without decoding them",
         Support::kHint, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::trivial_copy_buffer_size>(
        {"trivial_copy_buffer_size", "bytes that are copied at once", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::max_data_files_size>(
        {"max_data_files_size", "the same limit including blob files", Support::kHonoured,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<CompactionOptionsFIFO, &CompactionOptionsFIFO::use_kv_ratio_compaction>(
        {"use_kv_ratio_compaction", "choose files by the ratio of keys to values", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    RetiredOption("ttl", TakesEffect::kDynamic),
};

constexpr OptionRow kTemperatureAgeRows[] = {
    Option<FileTemperatureAge, &FileTemperatureAge::temperature>({"temperature", "storage tier"}),
    Option<FileTemperatureAge, &FileTemperatureAge::age>({"age", "age in seconds"}),
};

constexpr OptionRow kMetadataCacheRows[] = {
    Option<MetadataCacheOptions, &MetadataCacheOptions::top_level_index_pinning>(
        {"top_level_index_pinning", "pinning of the top level of partitioned indexes"}),
    Option<MetadataCacheOptions, &MetadataCacheOptions::partition_pinning>(
        {"partition_pinning", "pinning of partitions"}),
    Option<MetadataCacheOptions, &MetadataCacheOptions::unpartitioned_pinning>(
        {"unpartitioned_pinning", "pinning of indexes and filters without partitions"}),
};

// Sets the members that the text names, on top of the present values.
Status ParseStruct(OptionTable table, const ConfigOptions& config, std::string_view text,
                   void* value) {
  assert(value != nullptr);
  std::vector<NameValue> members;
  Status status = SplitOptions(text, &members);
  for (const NameValue& member : members) {
    // Members before an error keep their new values, as option_values.h says.
    if (!status.ok()) break;
    status = SetOption(table, config, member, value);
  }
  return status;
}

// Prints a struct in braces, with semicolons between the members.
void PrintStruct(OptionTable table, const PrintContext& context, const void* value,
                 std::string* text) {
  assert(text != nullptr);
  assert(value != nullptr);
  PrintContext nested = context;
  // Inside braces members are always separated by semicolons, whatever separates the outer options.
  nested.config.delimiter = ";";
  text->push_back('{');
  PrintOptions(table, nested, value, text);
  text->push_back('}');
}

// The members that the older text form, without names, can set, in its order.
enum Position : size_t {
  kWindowBits,
  kLevel,
  kStrategy,  // at least the members up to this one are present
  kDictBytes,
  kTrainBytes,
  kThreads,
  kEnabled,
  kDictBufferBytes,
  kUseTrainer,
  kPositionCount,
};

// Parses window:level:strategy[:...]. If the sixth item is the last one, it is `enabled`: the
// number of threads was inserted before it in a later release.
Status ParsePositional(const ConfigOptions& config, std::string_view text,
                       CompressionOptions* value) {
  std::vector<std::string> items;
  RETURN_IF_ERROR(SplitList(text, ':', &items));
  if (items.size() <= kStrategy || items.size() > kPositionCount) {
    return BadOptionValue("window:level:strategy[:...] or {name=value;...}", text);
  }
  const bool is_without_threads = items.size() == kThreads + 1;
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t position = is_without_threads && i == kThreads ? size_t{kEnabled} : i;
    // The row knows how to parse its member, so both text forms accept the same values.
    RETURN_IF_ERROR(kCompressionRows[position].Parse(config, items[i], value));
  }
  return Status::OK();
}

}  // namespace

OptionTable CompressionOptionTable() { return kCompressionRows; }
OptionTable UniversalOptionTable() { return kUniversalRows; }
OptionTable FifoOptionTable() { return kFifoRows; }
OptionTable TemperatureAgeTable() { return kTemperatureAgeRows; }
OptionTable MetadataCacheTable() { return kMetadataCacheRows; }

// Two forms: "name=value;..." and, from older releases, values separated by colons in a fixed
// order.
Status ParseValue(const ConfigOptions& config, std::string_view text, CompressionOptions* value) {
  assert(value != nullptr);
  // Parsed into a copy: after an error the caller's options are as they were.
  CompressionOptions parsed = *value;
  const bool is_positional = text.find('=') == std::string_view::npos && !TrimSpaces(text).empty();
  Status status = is_positional ? ParsePositional(config, text, &parsed)
                                : ParseStruct(kCompressionRows, config, text, &parsed);
  if (status.ok()) *value = parsed;
  return status;
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  CompactionOptionsUniversal* value) {
  return ParseStruct(kUniversalRows, config, text, value);
}

Status ParseValue(const ConfigOptions& config, std::string_view text,
                  CompactionOptionsFIFO* value) {
  const bool is_number = text.find('=') == std::string_view::npos && !TrimSpaces(text).empty();
  // An older text form, a number alone, is the limit of the size.
  if (is_number) return ParseValue(config, StripBraces(text), &value->max_table_files_size);
  return ParseStruct(kFifoRows, config, text, value);
}

Status ParseValue(const ConfigOptions& config, std::string_view text, FileTemperatureAge* value) {
  return ParseStruct(kTemperatureAgeRows, config, text, value);
}

Status ParseValue(const ConfigOptions& config, std::string_view text, MetadataCacheOptions* value) {
  return ParseStruct(kMetadataCacheRows, config, text, value);
}

void PrintValue(const PrintContext& context, const CompressionOptions& value, std::string* text) {
  PrintStruct(kCompressionRows, context, &value, text);
}

void PrintValue(const PrintContext& context, const CompactionOptionsUniversal& value,
                std::string* text) {
  PrintStruct(kUniversalRows, context, &value, text);
}

void PrintValue(const PrintContext& context, const CompactionOptionsFIFO& value,
                std::string* text) {
  PrintStruct(kFifoRows, context, &value, text);
}

void PrintValue(const PrintContext& context, const FileTemperatureAge& value, std::string* text) {
  PrintStruct(kTemperatureAgeRows, context, &value, text);
}

void PrintValue(const PrintContext& context, const MetadataCacheOptions& value, std::string* text) {
  PrintStruct(kMetadataCacheRows, context, &value, text);
}

namespace {

// The number is read by its bytes, because the value of an enumeration without a fixed type must
// not be loaded if it is outside the range of the enumerators.
template <typename Enum>
Status CheckEnum(std::string_view option, const Enum& value) {
  std::underlying_type_t<Enum> number;
  std::memcpy(&number, &value, sizeof(number));
  for (const EnumName& name : EnumNames(Enum{})) {
    if (name.value == static_cast<int64_t>(number)) return Status::OK();
  }
  return Status::InvalidArgument(StrCat("option ", option, ": ", static_cast<int>(number),
                                        " is not a value of its enumeration"));
}

}  // namespace

Status CheckNestedEnums(const ColumnFamilyOptions& options) {
  return CheckEnum("compaction_options_universal.stop_style",
                   options.compaction_options_universal.stop_style);
}

Status CheckNestedEnums(const BlockBasedTableOptions& options) {
  const MetadataCacheOptions& kept = options.metadata_cache_options;
  RETURN_IF_ERROR(
      CheckEnum("metadata_cache_options.top_level_index_pinning", kept.top_level_index_pinning));
  RETURN_IF_ERROR(CheckEnum("metadata_cache_options.partition_pinning", kept.partition_pinning));
  return CheckEnum("metadata_cache_options.unpartitioned_pinning", kept.unpartitioned_pinning);
}

}  // namespace ashlar
