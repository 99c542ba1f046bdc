// SPDX-License-Identifier: Apache-2.0
//
// The values that replace "automatic", and the nearest valid values for those that are too small or
// too large.
#include <algorithm>
#include <cassert>
#include <limits>

#include "ashlar/rate_limiter.h"
#include "ashlar/table.h"
#include "ashlar/write_buffer_manager.h"
#include "db/options/bare_factories.h"
#include "db/options/memory_limit.h"
#include "db/options/memtable_factories.h"
#include "db/options/options_check.h"

namespace ashlar {
namespace {

// The value that means "automatic" for ttl and periodic_compaction_seconds, as in RocksDB.
constexpr uint64_t kAutomaticSeconds = 0xfffffffffffffffe;
constexpr uint64_t kThirtyDays = 30 * 24 * 60 * 60;  // seconds
constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kOneGiB = 1024 * kMiB;

// Whether this build has the library.
bool HasZstd() {
  const auto& supported = GetSupportedCompressions();
  return std::find(supported.begin(), supported.end(), kZSTD) != supported.end();
}

// Moves the value to the nearest end of the range.
template <typename T>
void Clamp(T* value, uint64_t least, uint64_t greatest) {
  assert(least <= greatest);
  *value = static_cast<T>(std::clamp<uint64_t>(*value, least, greatest));
}

}  // namespace

// If one of the two older options is set, both of them are used, as in RocksDB.
BackgroundJobLimits GetBackgroundJobLimits(const DBOptions& options) {
  BackgroundJobLimits limits;
  if (options.max_background_flushes == -1 && options.max_background_compactions == -1) {
    // At least one thread of each kind, or a database could stand still.
    limits.flushes = std::max(1, options.max_background_jobs / 4);
    limits.compactions = std::max(1, options.max_background_jobs - limits.flushes);
  } else {
    limits.flushes = std::max(1, options.max_background_flushes);
    limits.compactions = std::max(1, options.max_background_compactions);
  }
  // Callers add up the limits, so that the sum must not overflow.
  constexpr int kMaxJobs = 1 << 20;
  limits.flushes = std::min(limits.flushes, kMaxJobs);
  limits.compactions = std::min(limits.compactions, kMaxJobs);
  return limits;
}

namespace {

// If the recovery mode accepts an incomplete record at the end of a log, that record must not be
// confused with older content of a recycled file. And a log that is archived is not available for
// recycling.
bool MayRecycleLogs(const DBOptions& options) {
  const WALRecoveryMode mode = options.wal_recovery_mode;
  return mode != WALRecoveryMode::kTolerateCorruptedTailRecords &&
         mode != WALRecoveryMode::kAbsoluteConsistency && options.WAL_ttl_seconds == 0 &&
         options.WAL_size_limit_MB == 0;
}

}  // namespace

// Does not fail: every value becomes a valid one.
DBOptions SanitizeDbOptions(const DBOptions& options) {
  DBOptions result = options;
  // With fewer files a database cannot keep one file of each level open.
  constexpr int kLeastOpenFiles = 20;
  if (result.max_open_files != -1) {
    result.max_open_files = std::max(result.max_open_files, kLeastOpenFiles);
  }
  // 0 means: as fast as the rate limiter allows, or a fixed rate without one.
  if (result.delayed_write_rate == 0) {
    const auto limiter = result.rate_limiter;
    const int64_t rate = limiter == nullptr ? 0 : limiter->GetBytesPerSecond();
    result.delayed_write_rate = rate > 0 ? static_cast<uint64_t>(rate) : 16 * kMiB;
  }
  // A database always has a manager, perhaps without a limit, so that users need not check.
  if (result.memory_limit != 0) {
    ApplyMemoryLimit(&result);
  } else if (result.write_buffer_manager == nullptr) {
    result.write_buffer_manager = std::make_shared<WriteBufferManager>(result.db_write_buffer_size);
  }
  // Logs support only ZSTD. Like RocksDB, any other type, or ZSTD if it is not available, becomes
  // no compression.
  if (result.wal_compression != kZSTD || !HasZstd()) {
    result.wal_compression = kNoCompression;
  }
  if (!MayRecycleLogs(result)) result.recycle_log_file_num = 0;
  // Recovered data is flushed, so that no memtable needs the log of a prepare section.
  if (result.allow_2pc) result.avoid_flush_during_recovery = false;
  // With a rate limit, a sync at the end of a file would exceed it at once.
  if (result.rate_limiter != nullptr && result.bytes_per_sync == 0) result.bytes_per_sync = kMiB;
  Clamp(&result.writable_file_max_buffer_size, 4 * kKiB, kOneGiB);
  return result;
}

namespace {

// Replaces automatic ages by fixed ones. PlainTables and CuckooTables have none, because RocksDB
// does not look at their ages: with FIFO compaction, an age would delete data that RocksDB keeps.
void SettleAutomaticAges(ColumnFamilyOptions* options) {
  assert(options != nullptr);
  const bool has_ages = !BareFormatOfFactory(options->table_factory.get()).is_bare();
  if (options->ttl == kAutomaticSeconds) options->ttl = has_ages ? kThirtyDays : 0;
  if (options->periodic_compaction_seconds != kAutomaticSeconds) return;
  // With a compaction filter, every table should meet the filter some day, even if no other
  // compaction rewrites it.
  const bool has_filter =
      options->compaction_filter != nullptr || options->compaction_filter_factory != nullptr;
  const bool is_levelled = options->compaction_style == kCompactionStyleLevel;
  const bool is_periodic = has_filter && is_levelled && has_ages;
  options->periodic_compaction_seconds = is_periodic ? kThirtyDays : 0;
}

// With universal compaction, a table that is too old causes a merge of all runs. Both options ask
// for that, so the stricter one is used.
void SettleAgesOfUniversal(ColumnFamilyOptions* options) {
  if (options->ttl == 0) return;
  uint64_t& period = options->periodic_compaction_seconds;
  period = period == 0 ? options->ttl : std::min(period, options->ttl);
}

// The hash representations need prefixes for their buckets.
void SettleMemtables(ColumnFamilyOptions* options) {
  assert(options != nullptr);
  const bool has_buckets = MemtableKindOf(options->memtable_factory.get()) == MemtableKind::kHash;
  if (options->memtable_factory == nullptr ||
      (has_buckets && options->prefix_extractor == nullptr)) {
    options->memtable_factory = std::make_shared<SkipListFactory>();
  }
}

// At least one memtable is active while another one is flushed. With atomic_flush memtables are not
// merged, because they are flushed together with those of other families.
void SanitizeWriteBuffers(const DBOptions& db_options, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  options->max_write_buffer_number = std::max(options->max_write_buffer_number, 2);
  options->min_write_buffer_number_to_merge = std::clamp(options->min_write_buffer_number_to_merge,
                                                         1, options->max_write_buffer_number - 1);
  if (db_options.atomic_flush) options->min_write_buffer_number_to_merge = 1;
}

// Keeps the three triggers in ascending order.
void SanitizeLevel0(ColumnFamilyOptions* options) {
  assert(options != nullptr);
  int& compaction = options->level0_file_num_compaction_trigger;
  compaction = std::max(compaction, 1);
  int& slowdown = options->level0_slowdown_writes_trigger;
  slowdown = std::max(slowdown, compaction);
  int& stop = options->level0_stop_writes_trigger;
  stop = std::max(stop, slowdown);
  // With FIFO the oldest tables are dropped, so writers never wait for level 0.
  if (options->compaction_style == kCompactionStyleFIFO) {
    slowdown = stop = std::numeric_limits<int>::max();
  }
  // With universal compaction one run always remains on level 0.
  if (options->compaction_style == kCompactionStyleUniversal) stop = std::max(stop, 2);
}

}  // namespace

// An eighth of the write buffer, at most 1 MiB, as a multiple of 4 KiB.
size_t AutomaticArenaBlockBytes(size_t write_buffer_size) {
  constexpr size_t kAlignment = 4 * kKiB;
  const size_t share = std::min<size_t>(kMiB, write_buffer_size / 8);
  return (share + kAlignment - 1) / kAlignment * kAlignment;
}

ColumnFamilyOptions SettleColumnFamilyOptions(const DBOptions& db_options,
                                              const ColumnFamilyOptions& options) {
  ColumnFamilyOptions result = options;
  // Ages come first, because universal compaction uses the settled values.
  SettleAutomaticAges(&result);
  if (result.compaction_style == kCompactionStyleUniversal) SettleAgesOfUniversal(&result);
  SettleMemtables(&result);
  if (result.table_factory == nullptr) result.table_factory.reset(NewBlockBasedTableFactory());
  if (db_options.memory_limit != 0) UseMemoryOfDatabase(db_options, &result);
  return result;
}

ColumnFamilyOptions SanitizeColumnFamilyOptions(const DBOptions& db_options,
                                                const ColumnFamilyOptions& options) {
  return SanitizeSettledOptions(db_options, SettleColumnFamilyOptions(db_options, options));
}

// The order matters where one option limits another.
ColumnFamilyOptions SanitizeSettledOptions(const DBOptions& db_options,
                                           const ColumnFamilyOptions& settled) {
  ColumnFamilyOptions result = settled;
  Clamp(&result.write_buffer_size, 64 * kKiB, MostWriteBufferBytes(db_options));
  if (result.arena_block_size == 0) {
    result.arena_block_size = AutomaticArenaBlockBytes(result.write_buffer_size);
  }
  // An empty list means the directories of the database.
  if (result.cf_paths.empty()) result.cf_paths = db_options.db_paths;
  const bool is_levelled = result.compaction_style == kCompactionStyleLevel;
  result.num_levels = std::max(result.num_levels, is_levelled ? 2 : 1);
  result.cf_allow_ingest_behind |= db_options.allow_ingest_behind;
  // One level for new data, one for compactions, and the last one, which is kept free.
  if (result.cf_allow_ingest_behind && result.compaction_style != kCompactionStyleFIFO) {
    result.num_levels = std::max(result.num_levels, 3);
  }
  if (!is_levelled) result.level_compaction_dynamic_level_bytes = false;
  SanitizeWriteBuffers(db_options, &result);
  SanitizeLevel0(&result);
  uint64_t& soft = result.soft_pending_compaction_bytes_limit;
  const uint64_t hard = result.hard_pending_compaction_bytes_limit;
  // 0 means no limit, which is the highest one.
  if (soft == 0 || (hard > 0 && soft > hard)) soft = hard;
  result.target_file_size_base = std::max<uint64_t>(result.target_file_size_base, 4 * kKiB);
  result.target_file_size_multiplier = std::max(result.target_file_size_multiplier, 1);
  result.max_bytes_for_level_base = std::max<uint64_t>(result.max_bytes_for_level_base, 4 * kKiB);
  // Written so that NaN is replaced, too.
  if (!(result.max_bytes_for_level_multiplier >= 1)) result.max_bytes_for_level_multiplier = 1;
  if (result.max_compaction_bytes == 0) {
    result.max_compaction_bytes = result.target_file_size_base * 25;
  }
  SettleAutomaticAges(&result);  // SetOptions() may have made them automatic again
  SettleMemtables(&result);
  return result;
}

}  // namespace ashlar
