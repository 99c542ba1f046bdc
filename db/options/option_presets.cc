// SPDX-License-Identifier: Apache-2.0
//
// Constructors of the option structs (the one of DBOptions is in env/options_of_files.cc), and
// functions that set many options at once.
#include <algorithm>

#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "db/options/option_table.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kPresetMiB = 1024 * 1024;

// Whether this build has the library.
bool IsLinked(CompressionType type) {
  const auto& supported = GetSupportedCompressions();
  return std::find(supported.begin(), supported.end(), type) != supported.end();
}

// LZ4 if it is linked, then Snappy, then none.
CompressionType DefaultCompression() {
  if (IsLinked(kLZ4Compression)) return kLZ4Compression;
  return IsLinked(kSnappyCompression) ? kSnappyCompression : kNoCompression;
}

// Levels 0 and 1 are rewritten too often for compression to pay off.
std::vector<CompressionType> CompressionFromLevelTwo(int level_count) {
  std::vector<CompressionType> types(static_cast<size_t>(level_count), DefaultCompression());
  for (size_t level = 0; level < std::min<size_t>(2, types.size()); ++level) {
    types[level] = kNoCompression;
  }
  return types;
}

// major.minor as one number.
int VersionNumber(int major, int minor) { return major * 1000 + minor; }

// The cache that OptimizeForSmallDb() shares between structs: *cache, created if it is null.
std::shared_ptr<Cache> SmallCache(std::shared_ptr<Cache>* cache) {
  if (cache != nullptr && *cache != nullptr) return *cache;
  // 16 MiB for blocks and, if the options of the database share it, for memtables too.
  std::shared_ptr<Cache> made = NewLRUCache(16 * kPresetMiB);
  if (cache != nullptr) *cache = made;
  return made;
}

// Logs all rows in one message, because each message costs a system call.
void DumpRows(OptionTable table, const void* options, Logger* log) {
  PrintContext context;
  // The log shows all options, also those that are never written to OPTIONS files.
  context.newest = Since::kAshlar;
  std::string text;
  for (const OptionRow& row : table) {
    if (row.print == nullptr) continue;
    StrAppend(&text, "\n    Options.", row.name(), ": ");
    row.Print(context, options, &text);
  }
  Header(log, "%s", text.c_str());
}

}  // namespace

// The set is fixed when the library is built.
const std::vector<CompressionType>& GetSupportedCompressions() {
  // Never deleted: options may be constructed by static objects, in any order.
  static const auto* supported = new std::vector<CompressionType>{
      kNoCompression,
#ifdef ASHLAR_WITH_SNAPPY
      kSnappyCompression,
#endif
#ifdef ASHLAR_WITH_ZLIB
      kZlibCompression,
#endif
#ifdef ASHLAR_WITH_BZIP2
      kBZip2Compression,
#endif
#ifdef ASHLAR_WITH_LZ4
      kLZ4Compression,
      kLZ4HCCompression,
#endif
#ifdef ASHLAR_WITH_ZSTD
      kZSTD,
#endif
  };
  return *supported;
}

AdvancedColumnFamilyOptions::AdvancedColumnFamilyOptions() = default;
AdvancedColumnFamilyOptions::AdvancedColumnFamilyOptions(const Options& options)
    : AdvancedColumnFamilyOptions(static_cast<const AdvancedColumnFamilyOptions&>(options)) {}

ColumnFamilyOptions::ColumnFamilyOptions()
    : compression(DefaultCompression()), table_factory(NewBlockBasedTableFactory()) {}
ColumnFamilyOptions::ColumnFamilyOptions(const Options& options)
    : ColumnFamilyOptions(static_cast<const ColumnFamilyOptions&>(options)) {}

// ---- defaults of older releases

// Each condition restores the defaults from before the release that changed them.
ColumnFamilyOptions* ColumnFamilyOptions::OldDefaults(int rocksdb_major_version,
                                                      int rocksdb_minor_version) {
  const int version = VersionNumber(rocksdb_major_version, rocksdb_minor_version);
  if (version < VersionNumber(11, 0)) {
    compression = IsLinked(kSnappyCompression) ? kSnappyCompression : kNoCompression;
  }
  if (version < VersionNumber(8, 4)) level_compaction_dynamic_level_bytes = false;
  if (version < VersionNumber(5, 19)) compaction_pri = kByCompensatedSize;
  if (version < VersionNumber(5, 2)) level0_stop_writes_trigger = 30;
  if (version < VersionNumber(5, 0)) level0_stop_writes_trigger = 24;
  if (version < VersionNumber(4, 7)) {
    write_buffer_size = 4 * kPresetMiB;
    target_file_size_base = 2 * kPresetMiB;
    max_bytes_for_level_base = 10 * kPresetMiB;
    soft_pending_compaction_bytes_limit = 0;
    hard_pending_compaction_bytes_limit = 0;
  }
  return this;
}

// Like RocksDB, this sets the limit of open files and the recovery mode of releases before 4.7 for
// every version, even a later one.
DBOptions* DBOptions::OldDefaults(int rocksdb_major_version, int rocksdb_minor_version) {
  const int version = VersionNumber(rocksdb_major_version, rocksdb_minor_version);
  if (version < VersionNumber(11, 0)) write_dbid_to_manifest = false;
  if (version < VersionNumber(8, 0)) compaction_readahead_size = 0;
  if (version < VersionNumber(5, 6)) delayed_write_rate = 16 * kPresetMiB;
  if (version < VersionNumber(5, 2)) delayed_write_rate = 2 * kPresetMiB;
  if (version < VersionNumber(4, 7)) {
    max_file_opening_threads = 1;
    table_cache_numshardbits = 4;
    max_open_files = 5000;
    wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  }
  return this;
}

Options* Options::OldDefaults(int rocksdb_major_version, int rocksdb_minor_version) {
  ColumnFamilyOptions::OldDefaults(rocksdb_major_version, rocksdb_minor_version);
  DBOptions::OldDefaults(rocksdb_major_version, rocksdb_minor_version);
  return this;
}

// ---- presets by purpose

// For databases of some hundred MiB: small memtables and tables, and one small cache for all
// memory.
ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  write_buffer_size = 2 * kPresetMiB;
  target_file_size_base = 2 * kPresetMiB;
  max_bytes_for_level_base = 10 * kPresetMiB;
  soft_pending_compaction_bytes_limit = 256 * kPresetMiB;
  hard_pending_compaction_bytes_limit = 1024 * kPresetMiB;
  BlockBasedTableOptions table_options;
  table_options.block_cache = SmallCache(cache);
  table_options.cache_index_and_filter_blocks = true;
  table_factory.reset(NewBlockBasedTableFactory(table_options));
  return this;
}

// For databases of less than a GiB: few threads and one small budget of memory.
DBOptions* DBOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  max_file_opening_threads = 1;
  max_open_files = 5000;
  // Memtables are charged to the cache, so that one budget limits both.
  // With a limit of 0 the manager only charges the cache.
  std::shared_ptr<Cache> charged = cache != nullptr ? SmallCache(cache) : nullptr;
  write_buffer_manager = std::make_shared<WriteBufferManager>(0, std::move(charged));
  return this;
}

Options* Options::OptimizeForSmallDb() {
  std::shared_ptr<Cache> cache;
  ColumnFamilyOptions::OptimizeForSmallDb(&cache);
  DBOptions::OptimizeForSmallDb(&cache);
  return this;
}

// A hash index in data blocks and whole-key filters speed up Get() at the cost of a little space.
ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForPointLookup(uint64_t block_cache_size_mb) {
  BlockBasedTableOptions table_options;
  table_options.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table_options.data_block_hash_table_util_ratio = 0.75;
  table_options.filter_policy.reset(NewBloomFilterPolicy(10));
  // In MiB.
  table_options.block_cache = NewLRUCache(static_cast<size_t>(block_cache_size_mb * kPresetMiB));
  table_factory.reset(NewBlockBasedTableFactory(table_options));
  memtable_prefix_bloom_size_ratio = 0.02;
  memtable_whole_key_filtering = true;
  return this;
}

// Sizes follow from the memory for memtables: four of them, and L1 as large as all together.
ColumnFamilyOptions* ColumnFamilyOptions::OptimizeLevelStyleCompaction(
    uint64_t memtable_memory_budget) {
  write_buffer_size = static_cast<size_t>(memtable_memory_budget / 4);
  // A flush merges two memtables, while the others accept writes.
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  // L0 is as large as L1 when it is compacted, so the merge is balanced.
  level0_file_num_compaction_trigger = 2;
  target_file_size_base = memtable_memory_budget / 8;
  max_bytes_for_level_base = memtable_memory_budget;
  compaction_style = kCompactionStyleLevel;
  compression_per_level = CompressionFromLevelTwo(num_levels);
  return this;
}

// Divides the memory as the function above does, but for size-tiered compaction.
ColumnFamilyOptions* ColumnFamilyOptions::OptimizeUniversalStyleCompaction(
    uint64_t memtable_memory_budget) {
  write_buffer_size = static_cast<size_t>(memtable_memory_budget / 4);
  min_write_buffer_number_to_merge = 2;
  max_write_buffer_number = 6;
  compaction_style = kCompactionStyleUniversal;
  compaction_options_universal.compression_size_percent = 80;
  return this;
}

// One thread is enough for flushes, which are short.
DBOptions* DBOptions::IncreaseParallelism(int total_threads) {
  max_background_jobs = total_threads;
  // The pools belong to the Env, and so to all databases that use it.
  env->SetBackgroundThreads(total_threads, Env::LOW);
  env->SetBackgroundThreads(1, Env::HIGH);
  return this;
}

// No compaction and no stall until the program calls CompactRange().
Options* Options::PrepareForBulkLoad() {
  constexpr int kNever = 1 << 30;
  level0_file_num_compaction_trigger = kNever;
  level0_slowdown_writes_trigger = kNever;
  level0_stop_writes_trigger = kNever;
  soft_pending_compaction_bytes_limit = 0;
  hard_pending_compaction_bytes_limit = 0;
  disable_auto_compactions = true;
  // One manual compaction moves everything from L0 to L1.
  max_compaction_bytes = uint64_t{1} << 60;
  num_levels = 2;
  memtable_factory = std::make_shared<VectorRepFactory>();
  allow_concurrent_memtable_write = false;
  max_write_buffer_number = 6;
  min_write_buffer_number_to_merge = 1;
  max_background_flushes = 4;
  max_background_compactions = 2;
  target_file_size_base = 256 * kPresetMiB;
  return this;
}

// Checks that cost time on every flush and compaction.
Options* Options::DisableExtraChecks() {
  force_consistency_checks = false;
  flush_verify_memtable_count = false;
  compaction_verify_record_count = false;
  return this;
}

// ---- output to the info log

void DBOptions::Dump(Logger* log) const {
  DumpRows(DbOptionTable(), static_cast<const DBOptions*>(this), log);
}

void ColumnFamilyOptions::Dump(Logger* log) const {
  DumpRows(ColumnFamilyOptionTable(), static_cast<const ColumnFamilyOptions*>(this), log);
  std::string collectors;
  for (const auto& factory : table_properties_collector_factories) {
    StrAppend(&collectors, factory->ToString(), ";");
  }
  Header(log, "    Options.table_properties_collectors: %s", collectors.c_str());
  if (table_factory != nullptr) {
    Header(log, "%50s:\n%s", "table factory options", table_factory->GetPrintableOptions().c_str());
  }
}

void Options::Dump(Logger* log) const {
  DBOptions::Dump(log);
  DumpCFOptions(log);
}

void Options::DumpCFOptions(Logger* log) const { ColumnFamilyOptions::Dump(log); }

// ---- ranges of multi scans

// Whether every range has both bounds.
bool MultiScanArgs::HasBoundedScanRanges() const {
  return !original_ranges_.empty() &&
         std::all_of(original_ranges_.begin(), original_ranges_.end(), [](const ScanOptions& scan) {
           return scan.range.start.has_value() && scan.range.limit.has_value();
         });
}

// Copies everything except the ranges.
void MultiScanArgs::CopyConfigFrom(const MultiScanArgs& other) {
  io_coalesce_threshold = other.io_coalesce_threshold;
  max_prefetch_size = other.max_prefetch_size;
  use_async_io = other.use_async_io;
  reverse = other.reverse;
  io_dispatcher = other.io_dispatcher;
}

}  // namespace ashlar
