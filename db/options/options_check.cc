// SPDX-License-Identifier: Apache-2.0
//
// Most checks follow from the tables: rows that must have their default, and bounds. The checks
// here are for options of which only some values are supported, and for pairs that exclude each
// other.
#include "db/options/options_check.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "ashlar/rate_limiter.h"
#include "cache/cache_charge.h"
#include "db/options/bare_factories.h"
#include "db/options/memory_limit.h"
#include "db/options/memtable_factories.h"
#include "db/options/table_factory.h"
#include "env/space/sst_file_manager_impl.h"
#include "util/interfaces/filter_policy_impl.h"
#include "util/result.h"
#include "util/text/str_cat.h"
#include "util/threads/concurrent_task_limiter.h"

namespace ashlar {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// Errors that name the option, and say what to do instead or why.
// NotSupported: a later version may accept the value. Contradiction(): no version will.
Status NotBuilt(std::string_view option, std::string_view advice) {
  return Status::NotSupported(StrCat("option ", option, ": not built yet; ", advice));
}

Status Contradiction(std::string_view option, std::string_view why) {
  return Status::InvalidArgument(StrCat("option ", option, ": ", why));
}

// Whether this build has the library.
bool IsCompressionAvailable(CompressionType type) {
  const auto& supported = GetSupportedCompressions();
  return std::find(supported.begin(), supported.end(), type) != supported.end();
}

// All compression types that a family may write must be linked. Only bottommost_compression may be
// kDisableCompressionOption, which stands for another option there.
Status CheckCompressionTypes(const ColumnFamilyOptions& options) {
  std::vector<CompressionType> types = options.compression_per_level;
  types.push_back(options.compression);
  types.push_back(options.blob_compression_type);
  if (options.bottommost_compression != kDisableCompressionOption) {
    types.push_back(options.bottommost_compression);
  }
  for (CompressionType type : types) {
    if (type == kDisableCompressionOption) {
      return Contradiction("compression",
                           "kDisableCompressionOption is for bottommost_compression only");
    }
    if (IsCompressionAvailable(type)) continue;
    std::string name = std::to_string(static_cast<int>(type));
    IgnoreError(GetStringFromCompressionType(&name, type), "a number will do");
    return Status::InvalidArgument(
        StrCat("option compression: ", name, " is not linked into this library"));
  }
  return Status::OK();
}

// The table builder checks what it writes again; here the user gets the error at open.
Status CheckAlignedBlocks(const ColumnFamilyOptions& options, const BlockBasedTableOptions& table) {
  if (!table.block_align) return Status::OK();
  if ((table.block_size & (table.block_size - 1)) != 0) {
    return Contradiction("block_align", "block_size must be a power of two");
  }
  std::vector<CompressionType> types = options.compression_per_level;
  types.push_back(options.compression);
  types.push_back(options.bottommost_compression);
  for (const CompressionType type : types) {
    if (type == kNoCompression || type == kDisableCompressionOption) continue;
    return Contradiction("block_align", "compression must be kNoCompression at every level");
  }
  return Status::OK();
}

// False also for NaN.
bool IsShare(double number) { return number >= 0 && number <= 1; }

// The two fractions matter only if garbage collection is on.
Status CheckBlobGarbage(const ColumnFamilyOptions& options) {
  if (!options.enable_blob_garbage_collection) return Status::OK();
  if (!IsShare(options.blob_garbage_collection_age_cutoff)) {
    return Contradiction("blob_garbage_collection_age_cutoff", "it must be from 0 to 1");
  }
  if (!IsShare(options.blob_garbage_collection_force_threshold)) {
    return Contradiction("blob_garbage_collection_force_threshold", "it must be from 0 to 1");
  }
  return Status::OK();
}

// Options that a family whose keys have timestamps cannot have.
Status CheckStampedFamily(const ColumnFamilyOptions& options) {
  if (options.comparator->timestamp_size() == 0) return Status::OK();
  constexpr std::string_view kExcluded = "the comparator has timestamps, which exclude it";
  if (options.inplace_update_support) return Contradiction("inplace_update_support", kExcluded);
  if (options.min_tombstones_for_range_conversion != 0) {
    return Contradiction("min_tombstones_for_range_conversion", kExcluded);
  }
  if (options.memtable_factory != nullptr) {
    const std::string_view rep = options.memtable_factory->Name();
    if (rep != "SkipListFactory" && rep != "VectorRepFactory") {
      return Contradiction("memtable_factory", kExcluded);
    }
  }
  return Status::OK();
}

// Objects of the program that must have a certain type.
Status CheckPlugIns(const ColumnFamilyOptions& options) {
  if (options.comparator == nullptr) return Contradiction("comparator", "it must not be nullptr");
  RETURN_IF_ERROR(CheckStampedFamily(options));
  ConcurrentTaskLimiter* const limiter = options.compaction_thread_limiter.get();
  if (limiter != nullptr && TaskLimiter::From(limiter) == nullptr) {
    return Contradiction("compaction_thread_limiter",
                         "it must be one that NewConcurrentTaskLimiter() has made");
  }
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(options.table_factory.get());
  if (table == nullptr) {
    return NotBuilt("table_factory", "a class of the program; use NewBlockBasedTableFactory()");
  }
  RETURN_IF_ERROR(CheckBareFamily(options));
  return CheckTableOfFamily(*table, options);
}

// The lengths that the checksums of single entries can have.
Status CheckProtectionBytes(std::string_view option, uint32_t bytes) {
  if (bytes == 0 || bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) return Status::OK();
  return Status::NotSupported(
      StrCat("option ", option, ": expected 0, 1, 2, 4 or 8, found ", bytes));
}

Status CheckProtection(const ColumnFamilyOptions& options) {
  RETURN_IF_ERROR(CheckProtectionBytes("memtable_protection_bytes_per_key",
                                       options.memtable_protection_bytes_per_key));
  return CheckProtectionBytes("block_protection_bytes_per_key",
                              options.block_protection_bytes_per_key);
}

constexpr size_t kMostPaths = 4;  // the MANIFEST stores the path id in two bits

// Also used for the paths of the database.
Status CheckPathList(std::string_view option, const std::vector<DbPath>& paths) {
  if (paths.size() > kMostPaths) {
    return Status::NotSupported(StrCat("option ", option, ": at most ", kMostPaths,
                                       " directories are supported, found ", paths.size()));
  }
  for (const DbPath& path : paths) {
    if (path.path.empty()) return Contradiction(option, "a directory has no name");
  }
  return Status::OK();
}

// The other styles do not move tables between directories by level.
Status CheckPaths(const ColumnFamilyOptions& options) {
  RETURN_IF_ERROR(CheckPathList("cf_paths", options.cf_paths));
  const bool is_merged = options.compaction_style == kCompactionStyleLevel ||
                         options.compaction_style == kCompactionStyleUniversal;
  if (options.cf_paths.size() <= 1 || is_merged) return Status::OK();
  return Status::NotSupported(
      "option cf_paths: several directories go with compaction_style levelled or universal only");
}

}  // namespace

// The order: rows and bounds first, then options of which only some values are valid, then pairs.
Status CheckDbOptionsSupported(const DBOptions& options) {
  // Never destroyed, because databases may be opened by static objects.
  static const auto* defaults = new DBOptions();
  Status status = CheckRows(DbOptionTable(), &options, defaults);
  if (!status.ok()) return status;
  RETURN_IF_ERROR(CheckPathList("db_paths", options.db_paths));
  if (options.env == nullptr) return Contradiction("env", "it must not be nullptr");
  SstFileManager* const space = options.sst_file_manager.get();
  if (space != nullptr && SstFileManagerImpl::From(space) == nullptr) {
    return Contradiction("sst_file_manager", "it must be one that NewSstFileManager() has made");
  }
  // The two releases whose readers are tested.
  const std::string& compatible = options.write_compatible_with;
  if (!compatible.empty() && compatible != "7.8" && compatible != "11.9") {
    return Contradiction("write_compatible_with",
                         StrCat("expected \"\", \"7.8\" or \"11.9\", found \"", compatible, "\""));
  }
  if (options.unordered_write && !options.allow_concurrent_memtable_write) {
    return Contradiction("unordered_write", "it needs allow_concurrent_memtable_write");
  }
  if (options.unordered_write && options.enable_pipelined_write) {
    return Contradiction("unordered_write", "it excludes enable_pipelined_write");
  }
  if (options.allow_mmap_reads && options.use_direct_reads) {
    return Contradiction("allow_mmap_reads", "it excludes use_direct_reads");
  }
  if (options.use_direct_io_for_flush_and_compaction &&
      options.writable_file_max_buffer_size == 0) {
    return Contradiction("use_direct_io_for_flush_and_compaction",
                         "it needs a writable_file_max_buffer_size");
  }
  if (options.track_and_verify_wals && compatible == "7.8") {
    return Contradiction("track_and_verify_wals",
                         "write_compatible_with 7.8 excludes it, which cannot read its records");
  }
  if (options.keep_log_file_num == 0)
    return Contradiction("keep_log_file_num", "it must be above 0");
  return options.memory_limit != 0 ? CheckMemoryLimit(options) : Status::OK();
}

namespace {

// Bounds that depend on other options.
Status CheckUniversal(const ColumnFamilyOptions& options) {
  if (options.compaction_style != kCompactionStyleUniversal) return Status::OK();
  const CompactionOptionsUniversal& universal = options.compaction_options_universal;
  const int most = universal.max_read_amp;
  if (most < -1 || (most > 0 && most < options.level0_file_num_compaction_trigger)) {
    return Contradiction(
        "compaction_options_universal.max_read_amp",
        StrCat("it must be -1, 0, or at least level0_file_num_compaction_trigger (",
               options.level0_file_num_compaction_trigger, "), found ", most));
  }
  if (universal.max_merge_width < universal.min_merge_width) {
    // Both numbers are within their bounds, which the row has checked.
    return Contradiction("compaction_options_universal.max_merge_width",
                         StrCat("it must not be below min_merge_width (", universal.min_merge_width,
                                "), found ", universal.max_merge_width));
  }
  return Status::OK();
}

}  // namespace

// The checks of a family by itself. It need not exist.
Status CheckColumnFamilyOptionsSupported(const ColumnFamilyOptions& options) {
  static const auto* defaults = new ColumnFamilyOptions();
  Status status = CheckRows(ColumnFamilyOptionTable(), &options, defaults);
  if (status.ok()) status = CheckNestedEnums(options);
  if (status.ok()) status = CheckPlugIns(options);
  if (status.ok()) status = CheckProtection(options);
  if (status.ok()) status = CheckPaths(options);
  if (status.ok()) status = CheckCompressionTypes(options);
  if (status.ok()) status = CheckBlobGarbage(options);
  if (!status.ok()) return status;
  return CheckUniversal(options);
}

// Checks that depend on both the table format and the family.
Status CheckTableOfFamily(const BlockBasedTableOptions& table, const ColumnFamilyOptions& options) {
  if (table.index_type == BlockBasedTableOptions::kHashSearch &&
      options.prefix_extractor == nullptr) {
    return Contradiction("index_type", "kHashSearch needs a prefix_extractor");
  }
  RETURN_IF_ERROR(CheckAlignedBlocks(options, table));
  return CheckTableOptionsSupported(table);
}

// Checks of the table format alone.
Status CheckTableOptionsSupported(const BlockBasedTableOptions& options) {
  static const auto* defaults = new BlockBasedTableOptions();
  Status status = CheckRows(BlockBasedOptionTable(), &options, defaults);
  if (status.ok()) status = CheckNestedEnums(options);
  if (!status.ok()) return status;
  if (DescribeFilterPolicy(options.filter_policy.get()).kind == FilterKind::kCustom) {
    return NotBuilt("filter_policy", "use NewBloomFilterPolicy() or NewRibbonFilterPolicy()");
  }
  if (options.no_block_cache && options.block_cache != nullptr) {
    return Contradiction("no_block_cache", "a block_cache is given as well");
  }
  if (options.no_block_cache && options.cache_index_and_filter_blocks) {
    return Contradiction("cache_index_and_filter_blocks", "no_block_cache leaves it no cache");
  }
  if (options.no_block_cache && options.pin_l0_filter_and_index_blocks_in_cache) {
    return Contradiction("pin_l0_filter_and_index_blocks_in_cache",
                         "no_block_cache leaves it no cache");
  }
  if (options.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash &&
      !(options.data_block_hash_table_util_ratio > 0)) {
    return Contradiction("data_block_hash_table_util_ratio",
                         "it must be above 0 for a data_block_index_type with hash");
  }
  RETURN_IF_ERROR(CheckCacheUsage(options.cache_usage_options));
  if (options.no_block_cache && AsksForCharges(options.cache_usage_options)) {
    return Contradiction("cache_usage_options", "no_block_cache leaves no cache to charge");
  }
  if (options.metadata_block_size == 0 || options.metadata_block_size >= 2 * kGiB) {
    return Contradiction("metadata_block_size", "it must be above 0 and below 2 GiB");
  }
  // A power of two has one bit; 0 has none.
  const size_t super_block = options.super_block_alignment_size;
  if ((super_block & (super_block - 1)) != 0) {
    return Contradiction("super_block_alignment_size", "it must be 0 or a power of two");
  }
  if (options.block_size == 0 || options.block_size >= 2 * kGiB) {
    return Contradiction("block_size", "it must be above 0 and below 2 GiB");
  }
  return Status::OK();
}

// All checks for one family of one database.
Status CheckOptionsSupported(const DBOptions& db_options, const ColumnFamilyOptions& cf_options) {
  RETURN_IF_ERROR(CheckDbOptionsSupported(db_options));
  RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(cf_options));
  return CheckFamilyFits(db_options, cf_options);
}

// An update in place overwrites a value in the memtable, so that only one thread may write.
Status CheckFamilyFits(const DBOptions& db_options, const ColumnFamilyOptions& cf_options) {
  if (db_options.memory_limit != 0) RETURN_IF_ERROR(CheckMemoryOfFamily(db_options, cf_options));
  if (!cf_options.inplace_update_support || !db_options.allow_concurrent_memtable_write) {
    return Status::OK();
  }
  return Contradiction("inplace_update_support", "it excludes allow_concurrent_memtable_write");
}

// Called for every read, so it compares only pointers. Each of these options belongs to a feature
// that is not built.
Status CheckReadOptionsSupported(const ReadOptions& options) {
  const bool asks_for_unbuilt = options.timestamp != nullptr || options.iter_start_ts != nullptr ||
                                options.table_index_factory != nullptr ||
                                options.read_scoped_block_buffer_provider != nullptr;
  if (!asks_for_unbuilt) [[likely]]
    return Status::OK();
  if (options.timestamp != nullptr || options.iter_start_ts != nullptr) {
    return Status::InvalidArgument(
        "ReadOptions::timestamp or iter_start_ts: the keys of the column family have no "
        "timestamps");
  }
  return CheckStampedReadOptionsSupported(options);
}

Status CheckStampedReadOptionsSupported(const ReadOptions& options) {
  if (options.table_index_factory == nullptr &&
      options.read_scoped_block_buffer_provider == nullptr) [[likely]]
    return Status::OK();
  const char* name = options.table_index_factory != nullptr ? "table_index_factory"
                                                            : "read_scoped_block_buffer_provider";
  return NotBuilt(StrCat("ReadOptions::", name), "it must be nullptr");
}

// Iterators have fewer possibilities than point reads.
Status CheckIteratorOptionsSupported(const ReadOptions& options) {
  if (options.read_tier == kPersistedTier) [[unlikely]] {
    return NotBuilt("ReadOptions::read_tier", "kPersistedTier is for point reads only");
  }
  return CheckReadOptionsSupported(options);
}

// In tables that the filter excludes, point tombstones may have been converted into a range
// tombstone of another table or of the memtable, which hides entries of all tables. So the filter
// cannot be combined with that option.
Status CheckIteratorFits(const ReadOptions& options, const ColumnFamilyOptions& family) {
  if (options.table_filter == nullptr || family.min_tombstones_for_range_conversion == 0) [[likely]]
    return Status::OK();
  return Contradiction("ReadOptions::table_filter",
                       "it excludes min_tombstones_for_range_conversion");
}

// Called for every write. The default priority, IO_TOTAL, means that the write is not limited.
Status CheckWriteOptionsSupported(const WriteOptions& options) {
  if (options.sync && options.disableWAL) {
    return Contradiction("WriteOptions::sync", "it needs the WAL, which disableWAL turns off");
  }
  if (options.protection_bytes_per_key != 0 && options.protection_bytes_per_key != 8) {
    return Status::NotSupported("option WriteOptions::protection_bytes_per_key: it must be 0 or 8");
  }
  if (options.rate_limiter_priority == Env::IO_TOTAL) [[likely]]
    return Status::OK();
  if (options.rate_limiter_priority != Env::IO_USER) {
    return Contradiction("WriteOptions::rate_limiter_priority", "it must be IO_USER or IO_TOTAL");
  }
  if (options.disableWAL) {
    return Contradiction("WriteOptions::rate_limiter_priority",
                         "it needs the WAL, which disableWAL turns off");
  }
  return Status::OK();
}

bool WritesForRocksDb78(const DBOptions& options) { return options.write_compatible_with == "7.8"; }

// Only what is written changes; all formats can be read.
BlockBasedTableOptions WrittenTableOptions(const DBOptions& db_options,
                                           const BlockBasedTableOptions& options) {
  return WritesForRocksDb78(db_options) ? ReadableByRocksDb78(options) : options;
}

// Compares the printed texts, so options without a text form are not compared.
std::string FirstDifference(OptionTable table, const ConfigOptions& config, const void* a,
                            const void* b) {
  PrintContext context;
  context.config = config;
  assert(a != nullptr && b != nullptr);
  for (const OptionRow& row : table) {
    if (row.print == nullptr) continue;
    std::string text_a, text_b;
    row.Print(context, a, &text_a);
    row.Print(context, b, &text_b);
    if (text_a != text_b) return row.name();
  }
  return "";
}

}  // namespace ashlar
