// SPDX-License-Identifier: Apache-2.0
//
// Values out of range are replaced by the nearest valid ones. Settings that cannot be written at
// all were refused by CheckTableOptionsWritable() before.
#include "table/sst/write/builder_settings.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <string_view>

#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "cache/cache_charge.h"
#include "table/format/compression.h"
#include "table/format/footer.h"
#include "util/hash/hash.h"
#include "util/interfaces/filter_policy_impl.h"
#include "util/keys/internal_key.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Never 0, because 0 means that checksums have no context. Only 31 bits, like the values of
// RocksDB.
uint32_t ChooseBaseChecksum(const TableBuilderOptions& options) {
  if (!UsesContextChecksums(options.table->format_version)) return 0;
  if (options.base_context_checksum != 0) return options.base_context_checksum;
  const uint64_t hash = XxHash64(options.db_session_id.data(), options.db_session_id.size(),
                                 options.file_number.value());
  return (static_cast<uint32_t>(hash) & INT32_MAX) | 1;
}

IndexShortening ShorteningOf(BlockBasedTableOptions::IndexShorteningMode mode) {
  using Mode = BlockBasedTableOptions::IndexShorteningMode;
  switch (mode) {
    case Mode::kNoShortening: return IndexShortening::kNone;
    case Mode::kShortenSeparators: return IndexShortening::kSeparators;
    case Mode::kShortenSeparatorsAndSuccessor: return IndexShortening::kSeparatorsAndLast;
  }
  return IndexShortening::kSeparators;
}

IndexLayout LayoutOf(BlockBasedTableOptions::IndexType type) {
  switch (type) {
    case BlockBasedTableOptions::kTwoLevelIndexSearch: return IndexLayout::kPartitioned;
    case BlockBasedTableOptions::kBinarySearchWithFirstKey: return IndexLayout::kFirstKeys;
    default: return IndexLayout::kFlat;
  }
}

// Blocks are aligned to pages, or to their own size if that is smaller.
size_t AlignmentOf(const BlockBasedTableOptions& table) {
  constexpr uint64_t kPageBytes = 4096;
  return static_cast<size_t>(std::min(table.block_size, kPageBytes));
}

// An aligned block must not cross a boundary of its size. With compression the sizes would not be
// known in advance.
Status CheckAlignment(const BlockBasedTableOptions& options, CompressionType compression) {
  const auto refuse = [](std::string_view option, std::string_view why, uint64_t found) {
    return Status::InvalidArgument(
        StrCat("BlockBasedTableOptions::", option, ": ", why, ", found ", found));
  };
  const uint64_t super_block = options.super_block_alignment_size;
  if ((super_block & (super_block - 1)) != 0) {
    return refuse("super_block_alignment_size", "expected a power of two", super_block);
  }
  if (!options.block_align) return Status::OK();
  if (compression != kNoCompression) {
    return refuse("block_align", "expected compression 0, none", compression);
  }
  if ((options.block_size & (options.block_size - 1)) != 0) {
    return refuse("block_align", "expected a power of two as block_size", options.block_size);
  }
  return Status::OK();
}

// A Ribbon filter costs more to build, which pays in files that live long. A flush counts as a
// level above the first one. A file of unknown level, made outside of a database, counts as a file
// of the last level; so does every file of a compaction style without levels, whether flushed or
// not.
FilterForm FormOf(const FilterPolicyInfo& policy, const TableBuilderOptions& options) {
  if (!UsesCacheLocalBloom(options.table->format_version)) return FilterForm::kLegacy;
  const bool is_unknown = options.level < 0 || !options.has_levels;
  const int known_level = is_unknown ? INT_MAX - 1 : options.level;
  const int level = options.is_flush && options.has_levels ? -1 : known_level;
  const bool is_ribbon = policy.kind == FilterKind::kRibbon && level >= policy.bloom_before_level;
  return is_ribbon ? FilterForm::kRibbon : FilterForm::kCacheLocal;
}

}  // namespace

// The text of the property; the order of the parts is that of RocksDB.
std::string DescribeCompression(const TableBuilderOptions& options) {
  const CompressionOptions& o = options.compression_opts;
  return StrCat("window_bits=", o.window_bits, "; level=", o.level, "; strategy=", o.strategy,
                "; max_dict_bytes=", o.max_dict_bytes,
                "; zstd_max_train_bytes=", o.zstd_max_train_bytes, "; enabled=", int{o.enabled},
                "; max_dict_buffer_bytes=", o.max_dict_buffer_bytes,
                "; use_zstd_dict_trainer=", int{o.use_zstd_dict_trainer},
                "; max_compressed_bytes_per_kb=", o.max_compressed_bytes_per_kb,
                "; checksum=", int{o.checksum}, "; _type=", int{options.compression}, "; ");
}

BlockBuilderOptions DataBlockOptions(const TableBuilderOptions& options) {
  const BlockBasedTableOptions& table = *options.table;
  // A hash index needs equal keys to have equal bytes; only the bytewise orders guarantee that.
  const bool has_hash_index =
      table.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
      options.icmp->order() != KeyOrder::kCustom && table.data_block_hash_table_util_ratio > 0;
  return {.restart_interval = std::max(1, table.block_restart_interval),
          .use_delta_encoding = table.use_delta_encoding,
          .hash_util_ratio = has_hash_index ? table.data_block_hash_table_util_ratio : 0,
          .separates_values = table.separate_key_value_in_data_block};
}

size_t NearlyFull(uint64_t bytes, int deviation_percent) {
  const auto kept = static_cast<uint64_t>(100 - std::clamp(deviation_percent, 0, 100));
  return static_cast<size_t>((bytes * kept + 99) / 100);
}

BlockBasedTableOptions::IndexType WrittenIndexType(const TableBuilderOptions& options) {
  // Readers of a hash index need the prefixes, so without a prefix extractor the index is recorded
  // as binary search.
  const auto type = options.table->index_type;
  if (type != BlockBasedTableOptions::kHashSearch) return type;
  // Keys with timestamps are read by iterators, which do not use the prefixes.
  const bool is_usable = options.prefix_extractor != nullptr && options.icmp->stamp_bytes() == 0;
  return is_usable ? type : BlockBasedTableOptions::kBinarySearch;
}

IndexBuilderOptions IndexOptions(const TableBuilderOptions& options) {
  const BlockBasedTableOptions& table = *options.table;
  const size_t partition_bytes = std::max<size_t>(1, table.metadata_block_size);
  return {.icmp = options.icmp,
          .shortening = ShorteningOf(table.index_shortening),
          .layout = LayoutOf(table.index_type),
          .format_version = table.format_version,
          .restart_interval = std::max(1, table.index_block_restart_interval),
          .has_aligned_blocks = table.block_align,
          .most_uniform_variation = table.uniform_cv_threshold,
          .partition_bytes = partition_bytes,
          .nearly_full_partition_bytes = NearlyFull(partition_bytes, table.block_size_deviation)};
}

Cache* CacheToCharge(const BlockBasedTableOptions& table, CacheEntryRole role) {
  return IsCharged(table.cache_usage_options, role) ? table.block_cache.get() : nullptr;
}

// The best sample is the whole file, but the memory for it is bounded.
size_t DictionaryBufferBytes(const TableBuilderOptions& options) {
  constexpr uint64_t kMostBytes = 64 << 20;
  const CompressionOptions& o = options.compression_opts;
  if (options.compression == kNoCompression || o.max_dict_bytes == 0) return 0;
  uint64_t bytes = kMostBytes;
  if (options.target_file_bytes != 0) bytes = std::min(bytes, options.target_file_bytes);
  if (o.max_dict_buffer_bytes != 0) bytes = std::min(bytes, o.max_dict_buffer_bytes);
  return static_cast<size_t>(bytes);
}

std::optional<FullFilterOptions> FilterOptions(const TableBuilderOptions& options) {
  const BlockBasedTableOptions& table = *options.table;
  const FilterPolicyInfo policy = DescribeFilterPolicy(table.filter_policy.get());
  if (policy.kind == FilterKind::kNone || !options.has_filter) return std::nullopt;
  // A filter with less than one bit per key would reject almost nothing.
  const int millibits = std::max(1000, policy.millibits_per_key + options.filter_shift_millibits);
  return FullFilterOptions{.kind = FormOf(policy, options),
                           .millibits_per_key = static_cast<uint32_t>(millibits),
                           .fit_probes_to_size = table.optimize_filters_for_memory,
                           .add_whole_keys = table.whole_key_filtering,
                           .prefix_extractor = options.prefix_extractor};
}

bool WritesFilterPartitions(const BlockBasedTableOptions& table) {
  return table.partition_filters &&
         table.index_type == BlockBasedTableOptions::kTwoLevelIndexSearch;
}

BlockWriterOptions WriterOptions(const TableBuilderOptions& options) {
  const BlockBasedTableOptions& table = *options.table;
  BlockWriterOptions writer{.checksum = {table.checksum, ChooseBaseChecksum(options)},
                            .compression = {.type = options.compression,
                                            .options = options.compression_opts,
                                            .is_verified = table.verify_compression,
                                            .statistics = options.statistics}};
  if (table.block_align) writer.alignment = AlignmentOf(table);
  if (table.super_block_alignment_size != 0) {
    const size_t ratio = std::max<size_t>(1, table.super_block_alignment_space_overhead_ratio);
    writer.super_block_bytes = table.super_block_alignment_size;
    writer.max_super_block_gap = table.super_block_alignment_size / ratio;
  }
  return writer;
}

Status CheckTableOptionsWritable(const BlockBasedTableOptions& options,
                                 CompressionType compression) {
  const auto refuse = [](std::string_view option) {
    return Status::NotSupported(
        StrCat("BlockBasedTableOptions::", option, ": this setting is not built yet for writing"));
  };
  if (options.format_version < kOldestFormatVersion ||
      options.format_version > kNewestFormatVersion) {
    return Status::InvalidArgument(
        StrCat("BlockBasedTableOptions::format_version expected 2 to 7, "
               "found ",
               options.format_version));
  }
  if (!IsKnownChecksumType(static_cast<uint8_t>(options.checksum))) {
    return Status::InvalidArgument(
        StrCat("BlockBasedTableOptions::checksum expected 0 to 4, found ", int{options.checksum}));
  }
  if (options.block_size > INT32_MAX) {
    return Status::InvalidArgument(StrCat(
        "BlockBasedTableOptions::block_size expected below 2 GiB, found ", options.block_size));
  }
  if (options.index_type < BlockBasedTableOptions::kBinarySearch ||
      options.index_type > BlockBasedTableOptions::kBinarySearchWithFirstKey) {
    return Status::InvalidArgument(
        StrCat("BlockBasedTableOptions::index_type expected 0 to 3, found ",
               static_cast<int>(options.index_type)));
  }
  RETURN_IF_ERROR(CheckAlignment(options, compression));
  if (options.user_defined_index_factory != nullptr) return refuse("user_defined_index_factory");
  if (!IsCompressionSupported(compression)) {
    return Status::NotSupported(
        StrCat("compression type ", int{compression}, " is not part of this build"));
  }
  if (DescribeFilterPolicy(options.filter_policy.get()).kind == FilterKind::kCustom) {
    return refuse("filter_policy");
  }
  return Status::OK();
}

}  // namespace ashlar
