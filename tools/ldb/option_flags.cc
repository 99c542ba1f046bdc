// SPDX-License-Identifier: Apache-2.0
//
// Most flags become an options string, so that their values are parsed and checked like those of an
// OPTIONS file.
#include "tools/ldb/option_flags.h"

#include <cassert>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A flag, and the name of the column family option that it sets in an options string.
struct OptionFlag {
  std::string_view flag;
  std::string_view option;
};
// Flags with a value. Most have the name of their option; the others are names that scripts for
// RocksDB's ldb use.
constexpr OptionFlag kFamilyFlags[] = {
    {"compression_type", "compression"},
    {"write_buffer_size", "write_buffer_size"},
    {"file_size", "target_file_size_base"},
    {"compression_max_dict_bytes", "compression_opts.max_dict_bytes"},
    {"min_blob_size", "min_blob_size"},
    {"blob_file_size", "blob_file_size"},
    {"blob_compression_type", "blob_compression_type"},
    {"blob_garbage_collection_age_cutoff", "blob_garbage_collection_age_cutoff"},
    {"blob_garbage_collection_force_threshold", "blob_garbage_collection_force_threshold"},
    {"blob_compaction_readahead_size", "blob_compaction_readahead_size"},
    {"blob_file_starting_level", "blob_file_starting_level"},
    {"prepopulate_blob_cache", "prepopulate_blob_cache"},
};
// A flag without a value that sets a boolean option to `value`.
struct SwitchFlag {
  std::string_view flag;
  bool ColumnFamilyOptions::*member;
  bool value;
};
constexpr SwitchFlag kSwitchFlags[] = {
    {"enable_blob_files", &ColumnFamilyOptions::enable_blob_files, true},
    {"enable_blob_garbage_collection", &ColumnFamilyOptions::enable_blob_garbage_collection, true},
    {"disable_consistency_checks", &ColumnFamilyOptions::force_consistency_checks, false},
};

// Compression names: as the flag takes them, and as an options string spells them.
constexpr std::pair<std::string_view, std::string_view> kCompressionNames[] = {
    {"no", "kNoCompression"},
    {"none", "kNoCompression"},
    {"snappy", "kSnappyCompression"},
    {"zlib", "kZlibCompression"},
    {"bzip2", "kBZip2Compression"},
    {"lz4", "kLZ4Compression"},
    {"lz4hc", "kLZ4HCCompression"},
    {"xpress", "kXpressCompression"},
    {"zstd", "kZSTD"},
};

// The option as "name=value;", the form that GetColumnFamilyOptionsFromString() parses.
// InvalidArgument for a compression or a caching mode that does not exist; other values are checked
// when the string is parsed.
Result<std::string> OptionText(const OptionFlag& flag, const std::string& value) {
  if (flag.flag == "prepopulate_blob_cache") {
    if (value == "0") return std::string("prepopulate_blob_cache=kDisable;");
    if (value == "1") return std::string("prepopulate_blob_cache=kFlushOnly;");
    return Status::InvalidArgument("--prepopulate_blob_cache is 0 or 1 (what a flush writes)");
  }
  if (!flag.flag.ends_with("compression_type")) return StrCat(flag.option, "=", value, ";");
  for (const auto& [name, full_name] : kCompressionNames) {
    if (name == value) return StrCat(flag.option, "=", full_name, ";");
  }
  return Status::InvalidArgument(StrCat("--", flag.flag, ": no compression is called \"", value,
                                        "\"; known: no, snappy, zlib, bzip2, lz4, lz4hc, zstd"));
}

// Replaces the table factory if a flag about blocks or filters is given. A factory of another table
// format has no BlockBasedTableOptions and stays as it is.
Status ApplyTableFlags(const CommandLine& line, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  auto* current = options->table_factory->GetOptions<BlockBasedTableOptions>();
  if (current == nullptr || !(line.Has("block_size") || line.Has("bloom_bits"))) {
    return Status::OK();
  }
  BlockBasedTableOptions table = *current;
  ASSIGN_OR_RETURN(const int64_t block_bytes,
                   line.Number("block_size", static_cast<int64_t>(table.block_size)));
  ASSIGN_OR_RETURN(const int64_t bloom_bits, line.Number("bloom_bits", 0));
  if (block_bytes <= 0 || bloom_bits < 0) {
    return Status::InvalidArgument("--block_size and --bloom_bits must be positive");
  }
  table.block_size = static_cast<size_t>(block_bytes);
  if (bloom_bits > 0)
    table.filter_policy.reset(NewBloomFilterPolicy(static_cast<double>(bloom_bits)));
  options->table_factory.reset(NewBlockBasedTableFactory(table));
  return Status::OK();
}

}  // namespace

// The flags that become text come first, because setting options from text begins with a copy of
// all options.
Status ApplyFamilyFlags(const CommandLine& line, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  std::string text;
  for (const OptionFlag& flag : kFamilyFlags) {
    const std::optional<std::string> value = line.Value(flag.flag);
    if (!value) continue;
    ASSIGN_OR_RETURN(const std::string option, OptionText(flag, *value));
    text += option;
  }
  if (!text.empty()) {
    const ColumnFamilyOptions base = *options;
    RETURN_IF_ERROR(GetColumnFamilyOptionsFromString(ConfigOptions(), base, text, options));
  }
  for (const SwitchFlag& flag : kSwitchFlags) {
    ASSIGN_OR_RETURN(const bool is_given, line.Bool(flag.flag));
    if (is_given) options->*flag.member = flag.value;
  }
  ASSIGN_OR_RETURN(const bool compacts,
                   line.Bool("auto_compaction", !options->disable_auto_compactions));
  options->disable_auto_compactions = !compacts;
  ASSIGN_OR_RETURN(const int64_t prefix_bytes, line.Number("fix_prefix_len", 0));
  if (prefix_bytes <= 0 && line.Value("fix_prefix_len").has_value()) {
    return Status::InvalidArgument(
        StrCat("--fix_prefix_len: expected a number above 0, found ", prefix_bytes));
  }
  if (prefix_bytes > 0) {
    options->prefix_extractor.reset(NewFixedPrefixTransform(static_cast<size_t>(prefix_bytes)));
  }
  return ApplyTableFlags(line, options);
}

// Sizes are checked here, because they are set without going through text.
Status ApplyDbFlags(const CommandLine& line, DBOptions* options) {
  assert(options != nullptr);
  const std::optional<std::string> compatible = line.Value("write_compatible_with");
  if (compatible && !compatible->empty()) options->write_compatible_with = *compatible;
  ASSIGN_OR_RETURN(
      const int64_t bytes,
      line.Number("db_write_buffer_size", static_cast<int64_t>(options->db_write_buffer_size)));
  if (bytes < 0) return Status::InvalidArgument("--db_write_buffer_size must not be negative");
  options->db_write_buffer_size = static_cast<size_t>(bytes);
  return Status::OK();
}

// They change the options with which the database is opened, or how it is opened.
const std::vector<std::string_view>& OpenFlags() {
  static const std::vector<std::string_view> flags = {"create_if_missing",
                                                      "secondary_path",
                                                      "ttl",
                                                      "try_load_options",
                                                      "ignore_unknown_options",
                                                      "write_compatible_with",
                                                      "compression_type",
                                                      "write_buffer_size",
                                                      "compression_max_dict_bytes",
                                                      "file_size",
                                                      "block_size",
                                                      "bloom_bits",
                                                      "auto_compaction",
                                                      "fix_prefix_len",
                                                      "db_write_buffer_size",
                                                      "disable_consistency_checks",
                                                      "enable_blob_files",
                                                      "min_blob_size",
                                                      "blob_file_size",
                                                      "blob_compression_type",
                                                      "enable_blob_garbage_collection",
                                                      "blob_garbage_collection_age_cutoff",
                                                      "blob_garbage_collection_force_threshold",
                                                      "blob_compaction_readahead_size",
                                                      "blob_file_starting_level",
                                                      "prepopulate_blob_cache"};
  return flags;
}

}  // namespace ashlar
