// SPDX-License-Identifier: Apache-2.0
//
// Most of the answer comes from the tables: rows that must have their default, and bounds. What is
// left here are options of which some values work, and pairs that exclude each other.
#include "db/options/options_check.h"

#include <algorithm>

#include "ashlar/flush_block_policy.h"
#include "ashlar/rate_limiter.h"
#include "db/options/memtable_factories.h"
#include "db/options/table_factory.h"
#include "util/filter_policy_impl.h"
#include "util/result.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kAutomaticSeconds = 0xfffffffffffffffe;
constexpr uint64_t kThirtyDays = 30 * 24 * 60 * 60;
constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;

Status NotBuilt(std::string_view option, std::string_view advice) {
  return Status::NotSupported(StrCat("option ", option, ": not built yet; ", advice));
}

Status Contradiction(std::string_view option, std::string_view why) {
  return Status::InvalidArgument(StrCat("option ", option, ": ", why));
}

// Dictionaries are read, but not written.
Status CheckCompression(std::string_view option, const CompressionOptions& options) {
  if (options.max_dict_bytes == 0) return Status::OK();
  return NotBuilt(StrCat(option, ".max_dict_bytes"), "it must be 0");
}

bool IsCompressionAvailable(CompressionType type) {
  if (type == kDisableCompressionOption) return true;
  const auto& supported = GetSupportedCompressions();
  return std::find(supported.begin(), supported.end(), type) != supported.end();
}

Status CheckCompressionTypes(const ColumnFamilyOptions& options) {
  std::vector<CompressionType> types = options.compression_per_level;
  types.push_back(options.compression);
  types.push_back(options.bottommost_compression);
  for (CompressionType type : types) {
    if (IsCompressionAvailable(type)) continue;
    std::string name = std::to_string(static_cast<int>(type));
    IgnoreError(GetStringFromCompressionType(&name, type), "a number will do");
    return Status::InvalidArgument(
        StrCat("option compression: ", name, " is not linked into this library"));
  }
  return Status::OK();
}

Status CheckPlugIns(const ColumnFamilyOptions& options) {
  if (options.comparator == nullptr) return Contradiction("comparator", "it must not be nullptr");
  if (options.comparator->timestamp_size() > 0) {
    return NotBuilt("comparator", "comparators with timestamps cannot be used");
  }
  if (MemtableKindOf(options.memtable_factory.get()) == MemtableKind::kUnsupported) {
    return NotBuilt("memtable_factory", "use SkipListFactory or VectorRepFactory");
  }
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(options.table_factory.get());
  if (table == nullptr) return NotBuilt("table_factory", "use NewBlockBasedTableFactory()");
  return CheckTableOptionsSupported(*table);
}

Status CheckAges(const ColumnFamilyOptions& options) {
  if (options.ttl != 0 && options.ttl != kAutomaticSeconds && options.ttl != kThirtyDays) {
    return NotBuilt("ttl", "use 0 or the default");
  }
  if (options.periodic_compaction_seconds != 0 &&
      options.periodic_compaction_seconds != kAutomaticSeconds) {
    return NotBuilt("periodic_compaction_seconds", "use 0 or the default");
  }
  return Status::OK();
}

template <typename T>
void Clamp(T* value, uint64_t least, uint64_t greatest) {
  *value = static_cast<T>(std::clamp<uint64_t>(*value, least, greatest));
}

}  // namespace

Status CheckDbOptionsSupported(const DBOptions& options) {
  static const auto* defaults = new DBOptions();
  Status status = CheckRows(DbOptionTable(), &options, defaults);
  if (!status.ok()) return status;
  if (options.env == nullptr) return Contradiction("env", "it must not be nullptr");
  if (options.write_buffer_manager != nullptr && options.write_buffer_manager->enabled()) {
    return NotBuilt("write_buffer_manager", "one with a limit cannot be used; leave it unset");
  }
  if (!options.write_compatible_with.empty() && options.write_compatible_with != "7.8") {
    return Contradiction("write_compatible_with", StrCat("expected \"\" or \"7.8\", found \"",
                                                         options.write_compatible_with, "\""));
  }
  if (options.unordered_write && !options.allow_concurrent_memtable_write) {
    return Contradiction("unordered_write", "it needs allow_concurrent_memtable_write");
  }
  if (options.unordered_write && options.enable_pipelined_write) {
    return Contradiction("unordered_write", "it excludes enable_pipelined_write");
  }
  if (options.keep_log_file_num == 0)
    return Contradiction("keep_log_file_num", "it must be above 0");
  return Status::OK();
}

Status CheckColumnFamilyOptionsSupported(const ColumnFamilyOptions& options) {
  static const auto* defaults = new ColumnFamilyOptions();
  Status status = CheckRows(ColumnFamilyOptionTable(), &options, defaults);
  if (status.ok()) status = CheckPlugIns(options);
  if (status.ok()) status = CheckAges(options);
  if (status.ok()) status = CheckCompressionTypes(options);
  if (status.ok()) status = CheckCompression("compression_opts", options.compression_opts);
  if (status.ok() && options.bottommost_compression_opts.enabled) {
    status = CheckCompression("bottommost_compression_opts", options.bottommost_compression_opts);
  }
  if (!status.ok()) return status;
  if (options.compaction_style != kCompactionStyleLevel) {
    return NotBuilt("compaction_style", "it must be kCompactionStyleLevel");
  }
  return Status::OK();
}

Status CheckTableOptionsSupported(const BlockBasedTableOptions& options) {
  static const auto* defaults = new BlockBasedTableOptions();
  Status status = CheckRows(BlockBasedOptionTable(), &options, defaults);
  if (!status.ok()) return status;
  const auto* policy = options.flush_block_policy_factory.get();
  if (policy != nullptr && policy->CheckedCast<FlushBlockBySizePolicyFactory>() == nullptr) {
    return NotBuilt("flush_block_policy_factory", "leave it unset");
  }
  if (options.index_type != BlockBasedTableOptions::kBinarySearch) {
    return NotBuilt("index_type", "only kBinarySearch is written so far");
  }
  const FilterKind filter = DescribeFilterPolicy(options.filter_policy.get()).kind;
  if (filter != FilterKind::kNone && filter != FilterKind::kBloom) {
    return NotBuilt("filter_policy", "use NewBloomFilterPolicy()");
  }
  if (options.no_block_cache && options.block_cache != nullptr) {
    return Contradiction("no_block_cache", "a block_cache is given as well");
  }
  if (options.no_block_cache && options.cache_index_and_filter_blocks) {
    return Contradiction("cache_index_and_filter_blocks", "no_block_cache leaves it no cache");
  }
  if (options.block_size == 0 || options.block_size >= 2 * kGiB) {
    return Contradiction("block_size", "it must be above 0 and below 2 GiB");
  }
  return Status::OK();
}

Status CheckOptionsSupported(const DBOptions& db_options, const ColumnFamilyOptions& cf_options) {
  Status status = CheckDbOptionsSupported(db_options);
  return status.ok() ? CheckColumnFamilyOptionsSupported(cf_options) : status;
}

Status CheckReadOptionsSupported(const ReadOptions& options) {
  const bool asks_for_unbuilt = options.timestamp != nullptr || options.iter_start_ts != nullptr ||
                                options.table_index_factory != nullptr ||
                                options.read_scoped_block_buffer_provider != nullptr;
  if (!asks_for_unbuilt) [[likely]]
    return Status::OK();
  const char* name = options.timestamp != nullptr             ? "timestamp"
                     : options.iter_start_ts != nullptr       ? "iter_start_ts"
                     : options.table_index_factory != nullptr ? "table_index_factory"
                                                              : "read_scoped_block_buffer_provider";
  return NotBuilt(StrCat("ReadOptions::", name), "it must be nullptr");
}

Status CheckIteratorOptionsSupported(const ReadOptions& options) {
  if (options.read_tier == kPersistedTier) [[unlikely]] {
    return NotBuilt("ReadOptions::read_tier", "kPersistedTier is for point reads only");
  }
  return CheckReadOptionsSupported(options);
}

Status CheckWriteOptionsSupported(const WriteOptions& options) {
  if (options.sync && options.disableWAL) {
    return Contradiction("WriteOptions::sync", "it needs the WAL, which disableWAL turns off");
  }
  if (options.protection_bytes_per_key != 0) {
    return NotBuilt("WriteOptions::protection_bytes_per_key", "it must be 0");
  }
  if (options.rate_limiter_priority != Env::IO_TOTAL) {
    return NotBuilt("WriteOptions::rate_limiter_priority", "it must be IO_TOTAL");
  }
  return Status::OK();
}

bool WritesForRocksDb78(const DBOptions& options) { return options.write_compatible_with == "7.8"; }

uint32_t WrittenFormatVersion(const DBOptions& db_options, const BlockBasedTableOptions& options) {
  constexpr uint32_t kNewestOfRocksDb78 = 5;
  if (!WritesForRocksDb78(db_options)) return options.format_version;
  return std::min(options.format_version, kNewestOfRocksDb78);
}

BackgroundJobLimits GetBackgroundJobLimits(const DBOptions& options) {
  BackgroundJobLimits limits;
  if (options.max_background_flushes == -1 && options.max_background_compactions == -1) {
    limits.flushes = std::max(1, options.max_background_jobs / 4);
    limits.compactions = std::max(1, options.max_background_jobs - limits.flushes);
  } else {
    limits.flushes = std::max(1, options.max_background_flushes);
    limits.compactions = std::max(1, options.max_background_compactions);
  }
  return limits;
}

DBOptions SanitizeDbOptions(const DBOptions& options) {
  DBOptions result = options;
  // Below this a database cannot keep one file per level open.
  constexpr int kLeastOpenFiles = 20;
  if (result.max_open_files != -1) {
    result.max_open_files = std::max(result.max_open_files, kLeastOpenFiles);
  }
  if (result.delayed_write_rate == 0) {
    const auto limiter = result.rate_limiter;
    const int64_t rate = limiter == nullptr ? 0 : limiter->GetBytesPerSecond();
    result.delayed_write_rate = rate > 0 ? static_cast<uint64_t>(rate) : 16 * kMiB;
  }
  if (result.write_buffer_manager == nullptr) {
    result.write_buffer_manager = std::make_shared<WriteBufferManager>(result.db_write_buffer_size);
  }
  if (result.rate_limiter != nullptr && result.bytes_per_sync == 0) result.bytes_per_sync = kMiB;
  Clamp(&result.writable_file_max_buffer_size, 4 * kKiB, kGiB);
  return result;
}

ColumnFamilyOptions SanitizeColumnFamilyOptions(const DBOptions& /*db_options*/,
                                                const ColumnFamilyOptions& options) {
  ColumnFamilyOptions result = options;
  Clamp(&result.write_buffer_size, 64 * kKiB, 64 * kGiB);
  if (result.arena_block_size == 0) {
    constexpr size_t kAlignment = 4 * kKiB;
    const size_t share = std::min<size_t>(kMiB, result.write_buffer_size / 8);
    result.arena_block_size = (share + kAlignment - 1) / kAlignment * kAlignment;
  }
  result.num_levels = std::max(result.num_levels, 2);
  result.max_write_buffer_number = std::max(result.max_write_buffer_number, 2);
  result.min_write_buffer_number_to_merge =
      std::clamp(result.min_write_buffer_number_to_merge, 1, result.max_write_buffer_number - 1);
  // The triggers must not overtake each other.
  int& compaction = result.level0_file_num_compaction_trigger;
  compaction = std::max(compaction, 1);
  int& slowdown = result.level0_slowdown_writes_trigger;
  slowdown = std::max(slowdown, compaction);
  result.level0_stop_writes_trigger = std::max(result.level0_stop_writes_trigger, slowdown);
  uint64_t& soft = result.soft_pending_compaction_bytes_limit;
  const uint64_t hard = result.hard_pending_compaction_bytes_limit;
  if (soft == 0 || (hard > 0 && soft > hard)) soft = hard;
  result.target_file_size_base = std::max<uint64_t>(result.target_file_size_base, 4 * kKiB);
  result.target_file_size_multiplier = std::max(result.target_file_size_multiplier, 1);
  result.max_bytes_for_level_base = std::max<uint64_t>(result.max_bytes_for_level_base, 4 * kKiB);
  if (!(result.max_bytes_for_level_multiplier >= 1)) result.max_bytes_for_level_multiplier = 1;
  if (result.max_compaction_bytes == 0) {
    result.max_compaction_bytes = result.target_file_size_base * 25;
  }
  if (result.ttl == kAutomaticSeconds) result.ttl = kThirtyDays;
  if (result.periodic_compaction_seconds == kAutomaticSeconds) {
    result.periodic_compaction_seconds = 0;
  }
  if (result.memtable_factory == nullptr) {
    result.memtable_factory = std::make_shared<SkipListFactory>();
  }
  if (result.table_factory == nullptr) result.table_factory.reset(NewBlockBasedTableFactory());
  return result;
}

std::string FirstDifference(OptionTable table, const ConfigOptions& config, const void* a,
                            const void* b) {
  PrintContext context;
  context.config = config;
  for (const OptionRow& row : table) {
    if (row.print == nullptr) continue;
    std::string text_a, text_b;
    row.print(context, a, &text_a);
    row.print(context, b, &text_b);
    if (text_a != text_b) return row.name();
  }
  return "";
}

}  // namespace ashlar
