// SPDX-License-Identifier: Apache-2.0
//
// Options: how a database is opened, read, written and maintained. Plain structs: fill in what
// should differ from the default.
//
//   ashlar::Options options;
//   options.create_if_missing = true;
//   options.write_buffer_size = 256 << 20;
//   ashlar::DB* db;
//   ashlar::Status status = ashlar::DB::Open(options, path, &db);
//
// "Dynamic" options may be changed on an open database with DB::SetOptions() or SetDBOptions(). "A
// hint without effect" may have any value. "Not built yet" means that another value than the
// stated one is refused at open with NotSupported, naming the option.
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/advanced_options.h"
#include "ashlar/comparator.h"
#include "ashlar/compression_type.h"
#include "ashlar/customizable.h"
#include "ashlar/data_structure.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/file_checksum.h"
#include "ashlar/listener.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/types.h"
#include "ashlar/universal_compaction.h"
#include "ashlar/version.h"
#include "ashlar/write_buffer_manager.h"

#ifdef max
#undef max
#endif

namespace ashlar {

class Cache;
class ColumnFamilyHandle;
class CompactionFilter;
class CompactionFilterFactory;
class Comparator;
class CompressionManager;
class ConcurrentTaskLimiter;
class FileSystem;
class IODispatcher;
class InternalKeyComparator;
class Iterator;
class Logger;
class MergeOperator;
class RateLimiter;
class ReadScopedBlockBufferProvider;
class Slice;
class SliceTransform;
class Snapshot;
class SstFileManager;
class Statistics;
class TableFactory;
class UserDefinedIndexFactory;
class WalFilter;
enum class CacheTier : uint8_t;
struct Options;
struct DbPath;
struct PreparedFileInfo;

using FileTypeSet = SmallEnumSet<FileType, FileType::kBlobFile>;
using CompactionStyleSet = SmallEnumSet<CompactionStyle, CompactionStyle::kCompactionStyleNone>;

// A directory for table files, with the bytes it should hold at most.
struct DbPath {
  std::string path;
  uint64_t target_size;

  DbPath() : target_size(0) {}
  DbPath(const std::string& p, uint64_t t) : path(p), target_size(t) {}
};

// Options of one column family.
struct ASHLAR_EXPORT ColumnFamilyOptions : public AdvancedColumnFamilyOptions {
  // The defaults that RocksDB of that version had.
  ColumnFamilyOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  // Small memtables, and a small block cache that *cache, if given, receives or provides.
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);
  // For Get() without scans: Bloom filter, in-block hash index, block cache of that many MiB.
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);
  // Memtable and level sizes for that many bytes of memtables.
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(uint64_t memtable_memory_budget = 512 * 1024 *
                                                                                      1024);
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(uint64_t memtable_memory_budget = 512 *
                                                                                          1024 *
                                                                                          1024);

  // Order of user keys. Its name is recorded: a family opens only with the comparator it was
  // made with. Not owned. Comparators with timestamps are not built yet: NotSupported.
  const Comparator* comparator = BytewiseComparator();
  // Combines values of Merge(). Its name is recorded in the files.
  std::shared_ptr<MergeOperator> merge_operator = nullptr;
  // One filter object for all compactions; not owned. Flushes do not use it.
  const CompactionFilter* compaction_filter = nullptr;
  // New filter object per compaction, or flush if it wants them; if compaction_filter is not set.
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;
  // Bytes a memtable may hold before it is sealed and flushed. At least 64 KiB. Takes effect
  // with the next memtable. Dynamic.
  size_t write_buffer_size = 64 << 20;
  // Of all levels that the two options below do not set. LZ4 if it is linked in, else Snappy,
  // else none. Dynamic.
  CompressionType compression;
  // Of the last level that has data; kDisableCompressionOption = as `compression`. Dynamic.
  CompressionType bottommost_compression = kDisableCompressionOption;
  // For bottommost_compression, if its .enabled is true. Dynamic.
  CompressionOptions bottommost_compression_opts;
  // Tuning of `compression` and compression_per_level. Dynamic.
  CompressionOptions compression_opts;
  // Plug-in compression. Not built yet: must be the default.
  std::shared_ptr<CompressionManager> compression_manager;
  // L0 files that start a compaction; up to twice as many above a level that is too large. Dynamic.
  int level0_file_num_compaction_trigger = 4;
  // The prefix of a key. Filters hold prefixes besides whole keys, and its name is recorded in
  // the files. Dynamic.
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;
  // Size target of L1. Dynamic.
  uint64_t max_bytes_for_level_base = 256 * 1048576;
  // Manual compaction only. Dynamic.
  bool disable_auto_compactions = false;
  // nullptr = block based with default options. Other formats, and factories of one's own, are
  // refused with NotSupported.
  std::shared_ptr<TableFactory> table_factory;
  // Own directories for tables; empty = db_paths. Blob files lie in the first one.
  std::vector<DbPath> cf_paths;
  // Limit, made by NewConcurrentTaskLimiter(), on compactions at once of all families that share it.
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter = nullptr;
  // Extra file boundaries, of what compactions write.
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;
  // Flush after this many range deletes; 0 = off.
  uint32_t memtable_max_range_deletions = 0;
  // Evict blocks of obsolete files from the cache. A hint without effect.
  uint32_t uncache_aggressiveness = 0;

  // Ignored; kept so that programs which set it compile. Older releases had it.
  uint64_t snap_refresh_nanos = 0;

  ColumnFamilyOptions();
  explicit ColumnFamilyOptions(const Options& options);

  // Writes all options to the log.
  void Dump(Logger* log) const;
};

// What recovery makes of a damaged WAL.
enum class WALRecoveryMode : char {
  // An incomplete record at the end of the last log is taken for the mark of a crash and ignored.
  kTolerateCorruptedTailRecords = 0x00,
  // Any damage fails the open. An unsynced tail lost with nothing in later logs is no damage.
  kAbsoluteConsistency = 0x01,
  // Replay stops before the first damage: the database is as it was at some moment.
  kPointInTimeRecovery = 0x02,
  // Damaged records are skipped: salvage.
  kSkipAnyCorruptedRecords = 0x03,
};

// Value of DBOptions::db_host_id that stands for the host's name.
ASHLAR_EXPORT extern const char* kHostnameForDbHostId;

// A worker elsewhere runs DB::OpenAndCompact() on the input of Schedule(); Wait() returns its output.
// kUseLocal, kFailure, a useless result: the job is done here; kAborted: it is given up for now.
enum class CompactionServiceJobStatus : char {
  kSuccess,
  kFailure,
  kAborted,
  kUseLocal,
};

struct CompactionServiceJobInfo {
  std::string db_name;
  std::string db_id;
  std::string db_session_id;
  uint32_t cf_id = 0;
  std::string cf_name;
  uint64_t job_id = 0;
  Env::Priority priority = Env::LOW;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  bool is_full_compaction = false;
  bool is_manual_compaction = false;
  bool bottommost_level = false;
  int base_input_level = 0;
  int output_level = 0;
  CompactionServiceJobInfo() {}
  CompactionServiceJobInfo(std::string db_name_, std::string db_id_, std::string db_session_id_,
                           uint32_t cf_id_, std::string cf_name_, uint64_t job_id_,
                           Env::Priority priority_, CompactionReason compaction_reason_,
                           bool is_full_compaction_, bool is_manual_compaction_,
                           bool bottommost_level_, int base_input_level_, int output_level_)
      : db_name(std::move(db_name_)),
        db_id(std::move(db_id_)),
        db_session_id(std::move(db_session_id_)),
        cf_id(cf_id_),
        cf_name(std::move(cf_name_)),
        job_id(job_id_),
        priority(priority_),
        compaction_reason(compaction_reason_),
        is_full_compaction(is_full_compaction_),
        is_manual_compaction(is_manual_compaction_),
        bottommost_level(bottommost_level_),
        base_input_level(base_input_level_),
        output_level(output_level_) {}
};

struct CompactionServiceScheduleResponse {
  std::string scheduled_job_id;
  CompactionServiceJobStatus status;
  CompactionServiceScheduleResponse(std::string scheduled_job_id_,
                                    CompactionServiceJobStatus status_)
      : scheduled_job_id(std::move(scheduled_job_id_)), status(status_) {}
  explicit CompactionServiceScheduleResponse(CompactionServiceJobStatus status_)
      : status(status_) {}
};

class ASHLAR_EXPORT CompactionService : public Customizable {
 public:
  static const char* Type() { return "CompactionService"; }
  const char* Name() const override = 0;
  virtual CompactionServiceScheduleResponse Schedule(
      const CompactionServiceJobInfo& /*info*/, const std::string& /*compaction_service_input*/) {
    return CompactionServiceScheduleResponse(CompactionServiceJobStatus::kUseLocal);
  }
  virtual CompactionServiceJobStatus Wait(const std::string& /*scheduled_job_id*/,
                                          std::string* /*result*/) {
    return CompactionServiceJobStatus::kUseLocal;
  }
  virtual void CancelAwaitingJobs() {}
  virtual void OnInstallation(const std::string& /*scheduled_job_id*/,
                              CompactionServiceJobStatus /*status*/) {}
};

// Options of the whole database.
struct ASHLAR_EXPORT DBOptions {
  // The defaults that RocksDB of that version had.
  DBOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  // Few open files, little memory. `cache` as in ColumnFamilyOptions.
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Sets max_background_jobs and the thread pools of `env` for this many threads in all.
  DBOptions* IncreaseParallelism(int total_threads = 16);
  // Make the DB when it does not exist; false gives InvalidArgument.
  bool create_if_missing = false;
  // Create families named in Open that are missing.
  bool create_missing_column_families = false;
  // Fail when the DB exists.
  bool error_if_exists = false;
  // Verify more while opening, and stop writes at the first sign of corruption; else a database with
  // missing or damaged tables opens, and reads of those fail. Blocks are always checked.
  bool paranoid_checks = true;
  // A flush that reads another number of entries than were inserted fails with Corruption.
  bool flush_verify_memtable_count = true;
  // Count entries at compaction.
  bool compaction_verify_record_count = true;
  // The MANIFEST always records WALs, for recovery to check; true: in RocksDB's form, too.
  bool track_and_verify_wals_in_manifest = false;
  // Each WAL says where the one before ends: always; true: as RocksDB since 9.11 verifies it, too.
  bool track_and_verify_wals = false;
  // Check SST ids when opened.
  bool verify_sst_unique_id_in_manifest = true;
  // Files, threads and clock. Not owned; outlives the database.
  Env* env = Env::Default();
  // Limits the I/O of flushes and compactions; nullptr = no limit.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;
  // Tracks space and paces deletion. One that NewSstFileManager() has made.
  std::shared_ptr<SstFileManager> sst_file_manager = nullptr;
  // nullptr = the file LOG in the directory of the database.
  std::shared_ptr<Logger> info_log = nullptr;
  // Least severe messages that are logged. Dynamic.
  InfoLogLevel info_log_level = Logger::kDefaultLogLevel;
  // Table files kept open; -1 = all. Dynamic, but tables opened without a limit stay open.
  int max_open_files = -1;
  // Threads that open tables while the database is opened; fewer where tables are few.
  int max_file_opening_threads = 16;
  // Threads for GetAsync/MultiGetAsync. A hint without effect.
  int read_io_executor_threads = 1;
  // Opening waits for no table: each is opened by whoever reads it first.
  bool open_files_async = false;
  // Bytes of WAL above which the families with the oldest unflushed data are flushed. Dynamic. 0 =
  // four times the sum of all memtable budgets; at most 1 GiB, or four times the largest budget.
  uint64_t max_total_wal_size = 0;
  // nullptr = nothing is counted.
  std::shared_ptr<Statistics> statistics = nullptr;
  // fsync instead of fdatasync.
  bool use_fsync = false;
  // Up to four directories of tables, filled in order to their target sizes; none = the database's.
  std::vector<DbPath> db_paths;
  // Directory of the info log; empty = that of the database.
  std::string db_log_dir = "";
  // Directory of the WAL; empty = that of the database.
  std::string wal_dir = "";
  // Full scan interval. A hint without effect.
  uint64_t delete_obsolete_files_period_micros = 6ULL * 60 * 60 * 1000000;
  // Threads for flushes and compactions together; a quarter of them is for flushes. Dynamic.
  int max_background_jobs = 2;
  // Older form: -1 = from max_background_jobs. Dynamic.
  int max_background_compactions = -1;
  // Parallel parts of one compaction. Dynamic.
  uint32_t max_subcompactions = 1;
  // Older form: -1 = from max_background_jobs. Dynamic.
  int max_background_flushes = -1;
  // Info log rotation by size; 0 = off.
  size_t max_log_file_size = 0;
  // Info log rotation by seconds.
  size_t log_file_time_to_roll = 0;
  // Info logs kept.
  size_t keep_log_file_num = 1000;
  // Old logs kept, to be written over: docs/mapped_log.md. Refuses disableWAL. 0 = off.
  size_t recycle_log_file_num = 0;
  // Create the next WAL ahead. A hint without effect.
  bool async_wal_precreate = false;
  // Bytes above which a new MANIFEST is begun. Dynamic.
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;
  // The MANIFEST is read at close, and written anew from memory if it is damaged. Dynamic.
  bool verify_manifest_content_on_close = false;
  // Less recovery work after clean shutdown. A hint without effect.
  bool optimize_manifest_for_recovery = false;
  // Append to the existing manifest. A hint without effect.
  bool reuse_manifest_on_open = false;
  // Auto-tuned manifest rotation. A hint without effect.
  int max_manifest_space_amp_pct = 500;
  // Shards of the table cache. A hint without effect.
  int table_cache_numshardbits = 6;
  // Logs that recovery needs no more stay in wal_dir's folder "archive", for GetUpdatesSince: for
  // so many seconds, and the newest of up to so many MB. 0: no such limit; both 0: nothing stays.
  uint64_t WAL_ttl_seconds = 0;
  uint64_t WAL_size_limit_MB = 0;
  // Bytes of disk space a new MANIFEST reserves. Dynamic, for the next one.
  size_t manifest_preallocation_size = 4 * 1024 * 1024;
  // Map tables into memory to read them; excludes use_direct_reads.
  bool allow_mmap_reads = false;
  // mmap writes. Not built yet: must be the default.
  bool allow_mmap_writes = false;
  // Read tables past the page cache (O_DIRECT). Opening fails where the file system refuses.
  bool use_direct_reads = false;
  // O_DIRECT only for compaction input. Not built yet: must be the default.
  bool use_direct_io_for_compaction_reads = false;
  // Write tables past the page cache (O_DIRECT). Opening fails where the file system refuses.
  bool use_direct_io_for_flush_and_compaction = false;
  // Use fallocate.
  bool allow_fallocate = true;
  // Files are always closed on exec. A hint without effect.
  bool is_fd_close_on_exec = true;
  // Seconds between dumps of the statistics into the info log; 0 = off. Dynamic.
  unsigned int stats_dump_period_sec = 600;
  // Seconds between looks at the counters of `statistics`, for GetStatsHistory; 0 = off. Dynamic.
  unsigned int stats_persist_period_sec = 600;
  // Keep that history in a hidden family, kPersistentStatsColumnFamilyName, instead of in memory.
  bool persist_stats_to_disk = false;
  // Bytes of memory for what GetStatsHistory tells: the oldest looks go first. Dynamic.
  size_t stats_history_buffer_size = 1024 * 1024;
  // Tell the kernel that tables are read at random. A hint without effect.
  bool advise_random_on_open = true;
  // Bytes that all memtables together may hold; 0 = no limit. The largest is flushed in time. Where
  // there is a write_buffer_manager, that one's limit holds instead.
  size_t db_write_buffer_size = 0;
  // Shared limit over databases, each of which flushes its own memtables; see there. Null: one of
  // this database alone, with db_write_buffer_size.
  std::shared_ptr<WriteBufferManager> write_buffer_manager = nullptr;
  // How far a compaction reads ahead: into the page cache, or into memory of its own with direct
  // I/O. Dynamic.
  size_t compaction_readahead_size = 2 * 1024 * 1024;
  // Write buffer per file, in bytes. Dynamic, for files that are begun later.
  size_t writable_file_max_buffer_size = 1024 * 1024;
  // Spin before sleep. A hint without effect.
  bool use_adaptive_mutex = false;
  // Tables are written out to the device each time this many bytes have come; 0 = when finished.
  // Dynamic, for tables that are begun later.
  uint64_t bytes_per_sync = 0;
  // The same for logs, from the next one on. Dynamic.
  uint64_t wal_bytes_per_sync = 0;
  // Wait for the ranges asked for before. Tables from the next one on, logs from opening on.
  bool strict_bytes_per_sync = false;
  // Event callbacks.
  std::vector<std::shared_ptr<EventListener>> listeners;
  // Env::GetThreadList tells of this database's flushes and compactions.
  bool enable_thread_tracking = false;
  // Bytes/s when stalled; 0 = 16 MB/s or the rate limiter's. Dynamic.
  uint64_t delayed_write_rate = 0;
  // One commit pipeline serves all settings of this group; it inserts into memtables in parallel
  // and shares syncs. A hint without effect.
  bool enable_pipelined_write = false;
  // See enable_pipelined_write. A hint without effect.
  bool unordered_write = false;
  // See enable_pipelined_write. A hint without effect; but inplace_update_support needs false.
  bool allow_concurrent_memtable_write = true;
  // See enable_pipelined_write. A hint without effect.
  bool enable_write_thread_adaptive_yield = true;
  // Group commit limit. A hint without effect.
  uint64_t max_write_batch_group_size_bytes = 1 << 20;
  // Spin limit. A hint without effect.
  uint64_t write_thread_max_yield_usec = 100;
  // Slow-yield threshold. A hint without effect.
  uint64_t write_thread_slow_yield_usec = 3;
  // Do not load table properties at open. A hint without effect.
  bool skip_stats_update_on_db_open = false;
  // See enum.
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  // Keep prepared transactions at recovery. Not built yet: must be the default.
  bool allow_2pc = false;
  // What tables answered to point lookups, which alone use it; null = none. May be shared.
  std::shared_ptr<RowCache> row_cache = nullptr;
  // Sees, changes and drops batches when the WAL is replayed. Not owned; outlives the open.
  WalFilter* wal_filter = nullptr;
  // With stats dump. A hint without effect.
  bool dump_malloc_stats = false;
  // Keep recovered data in memtables.
  bool avoid_flush_during_recovery = false;
  // Flush during replay when over the shared limit. A hint without effect.
  bool enforce_write_buffer_manager_during_recovery = true;
  // Do not flush unpersisted (WAL-less) data at close. Dynamic.
  bool avoid_flush_during_shutdown = false;
  // Reserve the last level for ingest_behind. Needs three levels.
  bool allow_ingest_behind = false;
  // See enable_pipelined_write. A hint without effect.
  bool two_write_queues = false;
  // WAL only flushed by FlushWAL/SyncWAL.
  bool manual_wal_flush = false;
  // Of the records of the WAL: kZSTD, or none for all other types. Logs of both kinds are read.
  CompressionType wal_compression = kNoCompression;
  // Keep old WALs open longer. A hint without effect.
  bool background_close_inactive_wals = false;
  // Flush all families (Flush(): those it names) together: a crash leaves all of it or nothing, also
  // of writes that skip the log. min_write_buffer_number_to_merge is 1 then.
  bool atomic_flush = false;
  // Leave file deletion to background threads. A hint without effect.
  bool avoid_unnecessary_blocking_io = false;
  // Record the identity of the database in the MANIFEST.
  bool write_dbid_to_manifest = true;
  // Also write the IDENTITY file. A hint without effect.
  bool write_identity_file = true;
  // Iterators use total order unless prefix mode is requested. A hint without effect.
  bool prefix_seek_opt_in_only = false;
  // Readahead for WAL/manifest reading. A hint without effect.
  size_t log_readahead_size = 0;
  // Makes checksums of whole tables, which the MANIFEST keeps; nullptr = none.
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;
  // The newest state whose files are all there; the rest, logs too, becomes *.orphan.
  bool best_efforts_recovery = false;
  // Attempts to resume by itself from a full disk or a retryable error; 0: DB::Resume() is needed.
  int max_bgerror_resume_count = INT_MAX;
  // Microseconds between these attempts.
  uint64_t bgerror_resume_retry_interval = 1000000;
  // Errors show keys, not their lengths; in the whole process, once a database of it has this.
  bool allow_data_in_errors = false;
  // Written to table properties; default is replaced by the host name.
  std::string db_host_id = kHostnameForDbHostId;
  // Pass checksums to the file system. A hint without effect.
  FileTypeSet checksum_handoff_file_types;
  // Takes compactions to other processes; null = all are done in this one.
  std::shared_ptr<CompactionService> compaction_service = nullptr;
  // Which cache tiers to use. A hint without effect.
  CacheTier lowest_used_cache_tier = CacheTier::kNonVolatileBlockTier;
  // Fail compaction on SingleDelete misuse. A hint without effect.
  bool enforce_single_del_contracts = true;
  // "HH:mm-HH:mm" window for low-priority work. A hint without effect.
  std::string daily_offpeak_time_utc = "";
  // Upper bound between time-based compaction checks. A hint without effect.
  uint64_t max_compaction_trigger_wakeup_seconds = 43200;
  // Follower mode. A hint without effect.
  uint64_t follower_refresh_catchup_period_ms = 10000;
  // Follower mode. A hint without effect.
  uint64_t follower_catchup_retry_count = 10;
  // Follower mode. A hint without effect.
  uint64_t follower_catchup_retry_wait_ms = 100;
  // Tier for manifest etc. A hint without effect.
  Temperature metadata_write_temperature = Temperature::kUnknown;
  // Tier for WAL. A hint without effect.
  Temperature wal_write_temperature = Temperature::kUnknown;
  // Compaction styles that set write-lifetime hints. A hint without effect.
  CompactionStyleSet calculate_sst_write_lifetime_hint_set = {
      CompactionStyle::kCompactionStyleLevel};
  // Remember file-system metadata of SSTs. A hint without effect.
  bool fast_sst_open = false;

  // Ashlar's own: the oldest RocksDB that must be able to read what is written: "7.8" (table format
  // up to 5, no newer record types, fields and option names) or "11.9". "" = 11.9, or 7.8 where the
  // directory's OPTIONS file is of an older RocksDB and no option newer than 7.8 is set.
  // InvalidArgument for other values, or if another option asks for what that version cannot read.
  std::string write_compatible_with = "";

  // Ignored; kept so that programs which set them compile. Older releases had them.
  enum AccessHint { NONE, NORMAL, SEQUENTIAL, WILLNEED };
  AccessHint access_hint_on_compaction_start = NORMAL;
  size_t random_access_max_buffer_size = 1024 * 1024;
  bool skip_checking_sst_file_sizes_on_db_open = false;
  bool fail_if_options_file_error = false;

  DBOptions();
  explicit DBOptions(const Options& options);

  // Writes all options to the log.
  void Dump(Logger* log) const;
};

// Both, for a database with one family.
struct ASHLAR_EXPORT Options : public DBOptions, public ColumnFamilyOptions {
  Options() : DBOptions(), ColumnFamilyOptions() {}
  Options(const DBOptions& db_options, const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  Options* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);

  void Dump(Logger* log) const;
  void DumpCFOptions(Logger* log) const;

  // For loading much data before anything is read: no automatic compaction, no stalls. Call
  // CompactRange() afterwards.
  Options* PrepareForBulkLoad();
  // One cache of 16 MiB for blocks and memtables, few open files.
  Options* OptimizeForSmallDb();
  // Turns off checks that cost time while nothing is damaged. Not recommended.
  Options* DisableExtraChecks();
};

// How deep a read may go.
enum ReadTier {
  kReadAllTier = 0x0,
  kBlockCacheTier = 0x1,  // memtables and block cache: Incomplete where I/O would be needed
  kPersistedTier = 0x2,   // not what would be lost in a crash (point reads only)
  kMemtableTier = 0x3     // memtables only
};

// Half-open. Borrows the bytes.
struct Range {
  Slice start;
  Slice limit;

  Range() {}
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}
};

// Half-open, and open-ended where an end is missing. Borrows the bytes.
struct RangeOpt {
  OptSlice start;
  OptSlice limit;

  RangeOpt() {}
  RangeOpt(const OptSlice& s, const OptSlice& l) : start(s), limit(l) {}
};

// One range of a multi scan.
struct ScanOptions {
  RangeOpt range;
  // For plug-in tables and indexes.
  std::optional<std::unordered_map<std::string, std::string>> property_bag;

  explicit ScanOptions(const Slice& _start) : range(_start, OptSlice()) {}
  ScanOptions(const Slice& _start, const Slice& _upper_bound) : range(_start, _upper_bound) {}
};

// Ranges of a multi scan, in ascending order, and settings for it.
class ASHLAR_EXPORT MultiScanArgs {
 public:
  using PropertyBag = std::unordered_map<std::string, std::string>;

  explicit MultiScanArgs(const Comparator* comparator = BytewiseComparator()) : comp_(comparator) {}
  MultiScanArgs(const MultiScanArgs& other) = default;
  MultiScanArgs(MultiScanArgs&& other) noexcept = default;
  MultiScanArgs& operator=(const MultiScanArgs& other) = default;
  MultiScanArgs& operator=(MultiScanArgs&& other) noexcept = default;

  // [s, b), or from s on.
  void insert(const Slice& s, const Slice& b) { original_ranges_.emplace_back(s, b); }
  void insert(const Slice& s, const Slice& b, const std::optional<PropertyBag>& property_bag) {
    original_ranges_.emplace_back(s, b);
    original_ranges_.back().property_bag = property_bag;
  }
  void insert(const Slice& s) { original_ranges_.emplace_back(s); }
  void insert(const Slice& s, const std::optional<PropertyBag>& property_bag) {
    original_ranges_.emplace_back(s);
    original_ranges_.back().property_bag = property_bag;
  }

  size_t size() const { return original_ranges_.size(); }
  bool empty() const { return original_ranges_.empty(); }
  bool HasBoundedScanRanges() const;
  void reserve(size_t size) { original_ranges_.reserve(size); }
  operator std::vector<ScanOptions>*() { return &original_ranges_; }
  operator const std::vector<ScanOptions>*() const { return &original_ranges_; }
  const std::vector<ScanOptions>& GetScanRanges() const { return original_ranges_; }
  const Comparator* GetComparator() const { return comp_; }
  // The settings below, not the ranges.
  void CopyConfigFrom(const MultiScanArgs& other);

  // Reads of blocks at most this many bytes apart are joined.
  uint64_t io_coalesce_threshold = 16 << 10;
  // Bytes of blocks that are read ahead and held at a time; 0 = as much as is sensible.
  uint64_t max_prefetch_size = 0;
  bool use_async_io = false;
  bool reverse = false;
  std::shared_ptr<IODispatcher> io_dispatcher = nullptr;

 private:
  const Comparator* comp_;
  std::vector<ScanOptions> original_ranges_;
};

// Options of one read. What they point to must live as long as the read, or the iterator.
struct ReadOptions {
  // The state to read; nullptr = that of the moment of the call.
  const Snapshot* snapshot = nullptr;
  // Upper and lower bound of user-defined timestamps. Not built yet: must be nullptr.
  const Slice* timestamp = nullptr;
  const Slice* iter_start_ts = nullptr;
  // Time since the epoch of the clock after which a read does not go to a file any more but fails
  // with TimedOut; 0 = never. What is in memory is found.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  // The longest that one file read may take, for file systems that heed it; 0 = no limit.
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();
  // kBlockCacheTier never does I/O.
  ReadTier read_tier = kReadAllTier;
  // IO_TOTAL = not limited. Else reads of tables wait their turn, if the limiter limits reads.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  // MultiGet gives the keys Aborted that come after this many bytes of values.
  uint64_t value_size_soft_limit = std::numeric_limits<uint64_t>::max();
  // Point reads that combine more operands say so in the subcode of OK.
  std::optional<size_t> merge_operand_count_threshold;
  // Blocks are verified when they are read from a file, whatever this says.
  bool verify_checksums = true;
  // Put blocks that are read into the block cache.
  bool fill_cache = true;
  // Do not look for range tombstones: keys that DeleteRange() deleted are there until a compaction
  // drops them. Without effect in a family with min_tombstones_for_range_conversion.
  bool ignore_range_deletions = false;
  // While an iterator uses what it has read ahead, the file system fetches the next piece.
  bool async_io = false;
  // MultiGet reads from several levels at once what is not in memory; else level by level.
  bool optimize_multiget_for_io = true;
  // Bytes that iterators read ahead; 0 = automatic.
  size_t readahead_size = 0;
  // Iterators fail with Incomplete after skipping this many hidden entries in a row; 0 = never.
  uint64_t max_skippable_internal_keys = 0;
  // Inclusive bound of an iterator; must outlive it.
  const Slice* iterate_lower_bound = nullptr;
  // Exclusive bound of an iterator; must outlive it.
  const Slice* iterate_upper_bound = nullptr;
  // The iterator sees newer data after each seek.
  bool tailing = false;
  // Do not use prefix filters.
  bool total_order_seek = false;
  // Use prefix filters only where the result is the same.
  bool auto_prefix_mode = false;
  // The iterator ends where the prefix of the sought key ends.
  bool prefix_same_as_start = false;
  // Keys and values stay valid for the life of the iterator, which keeps a copy of each that it
  // shows: "rocksdb.iterator.is-key-pinned" says 1.
  bool pin_data = false;
  // Iterators read ahead in the next file of a level as far as in the one before.
  bool adaptive_readahead = false;
  // Files that only an iterator needed are deleted by a background thread, not by its destructor.
  bool background_purge_on_iterator_cleanup = false;
  // Return false to let iterators skip a table, by its properties: its rows and its tombstones.
  // InvalidArgument in a family with min_tombstones_for_range_conversion.
  const std::function<bool(const TableProperties&)>* table_filter = nullptr;
  // Do not read ahead beyond the upper bound.
  bool auto_readahead_size = true;
  // The iterator may leave values to be loaded by PrepareValue().
  bool allow_unprepared_value = false;
  // With a snapshot: at each seek an iterator gives up old files and memtables.
  bool auto_refresh_iterator_with_snapshot = false;
  // Which index to use, and where blocks are allocated. Not built yet: must be nullptr.
  const UserDefinedIndexFactory* table_index_factory = nullptr;
  ReadScopedBlockBufferProvider* read_scoped_block_buffer_provider = nullptr;
  // Set by the engine.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
  // The program's name for this request, passed to the file system. A hint without effect.
  const std::string* request_id = nullptr;

  // Ignored; kept so that programs which set it compile. Older releases had it.
  bool managed = false;

  ReadOptions() {}
  ReadOptions(bool _verify_checksums, bool _fill_cache)
      : verify_checksums(_verify_checksums), fill_cache(_fill_cache) {}
  explicit ReadOptions(Env::IOActivity _io_activity) : io_activity(_io_activity) {}
};

// Options of one write.
struct WriteOptions {
  // Return only when the WAL is on disk.
  bool sync = false;
  // Write no WAL: lost in a crash before the next flush. InvalidArgument together with sync.
  bool disableWAL = false;
  // Skip entries of families that do not exist, instead of failing.
  bool ignore_missing_column_families = false;
  // Fail with Incomplete instead of waiting in a stall.
  bool no_slowdown = false;
  // Go slowly while compactions lag (1 MiB a second together); with no_slowdown fail with
  // Incomplete then.
  bool low_pri = false;
  // Remember where the keys of this batch went: a hint without effect, as each thread always does.
  bool memtable_insert_hint_per_batch = false;
  // IO_TOTAL = not limited. IO_USER: the bytes wait their turn; needs a log that writes go to.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  // 8: each update has a checksum until it is in the memtable (WriteBatch::VerifyChecksum); or 0.
  size_t protection_bytes_per_key = 0;
  // Set by the engine.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;

  WriteOptions() {}
  explicit WriteOptions(Env::IOActivity _io_activity) : io_activity(_io_activity) {}
  explicit WriteOptions(Env::IOPriority _rate_limiter_priority,
                        Env::IOActivity _io_activity = Env::IOActivity::kUnknown)
      : rate_limiter_priority(_rate_limiter_priority), io_activity(_io_activity) {}
};

struct FlushOptions {
  // Return when the flush is done.
  bool wait = true;
  // Flush even if that stalls writes; otherwise wait until it does not.
  bool allow_write_stall = false;
  // Flush all given families as one, as DBOptions::atomic_flush does.
  bool force_atomic_flush = false;
  // Also wait for the listeners' OnFlushCompleted(). A hint without effect.
  bool listener_wait = false;

  FlushOptions() {}
};

struct FlushWALOptions {
  bool sync = false;
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  FlushWALOptions() {}
};

// Makes the logger that DB::Open() would make for these options.
ASHLAR_EXPORT Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                                             std::shared_ptr<Logger>* logger);

// For DB::CompactFiles(). The temperature is a hint without effect.
struct CompactionOptions {
  // kDisableCompressionOption = as the family's options say.
  CompressionType compression = kDisableCompressionOption;
  uint64_t output_file_size_limit = std::numeric_limits<uint64_t>::max();
  // 0 = DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;
  // Set to true by another thread to stop.
  std::atomic<bool>* canceled = nullptr;
  Temperature output_temperature_override = Temperature::kUnknown;
  bool allow_trivial_move = false;

  CompactionOptions() {}
};

// Whether DB::CompactRange() rewrites the last level.
enum class BottommostLevelCompaction {
  kSkip,
  kIfHaveCompactionFilter,
  kForce,
  kForceOptimized,  // but not the files that this compaction has just written
};

enum class BlobGarbageCollectionPolicy {
  kForce,
  kDisable,
  kUseDefault,
};

// For DB::CompactRange().
struct CompactRangeOptions {
  // Let no other compaction run meanwhile.
  bool exclusive_manual_compaction = false;
  // Move the result to target_level, or up to the highest level that is free for it (-1).
  bool change_level = false;
  // Only with change_level.
  int target_level = -1;
  // Index of the directory, in cf_paths or db_paths, that takes the outputs.
  uint32_t target_path_id = 0;
  // Whether what lies on the last level already is rewritten.
  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;
  // Flush first even if that stalls writes.
  bool allow_write_stall = false;
  // 0 = DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;
  // Of user-defined timestamps, which are not built yet: must be nullptr.
  const Slice* full_history_ts_low = nullptr;
  // Set to true by another thread to stop.
  std::atomic<bool>* canceled = nullptr;
  // What of the blob files is moved; a cutoff below 0 or above 1 means that of the options.
  BlobGarbageCollectionPolicy blob_garbage_collection_policy =
      BlobGarbageCollectionPolicy::kUseDefault;
  double blob_garbage_collection_age_cutoff = -1;
};

// For DB::IngestExternalFile(), which is not built yet.
struct IngestExternalFileOptions {
  // Move the files, rather than copy them; or link them and keep the source.
  bool move_files = false;
  bool link_files = false;
  bool failed_move_fall_back_to_copy = true;
  // Hide the data from snapshots that exist already.
  bool snapshot_consistency = true;
  // false: fail if the keys overlap with the database's.
  bool allow_global_seqno = true;
  // false: fail if a memtable must be flushed first.
  bool allow_blocking_flush = true;
  // Put the data below all other. Needs DBOptions::allow_ingest_behind.
  bool ingest_behind = false;
  // Write the sequence number into the file, as older releases need.
  bool write_global_seqno = false;
  // Read all blocks first.
  bool verify_checksums_before_ingest = false;
  size_t verify_checksums_readahead_size = 0;
  // Compare the given whole-file checksums.
  bool verify_file_checksum = true;
  // TryAgain, rather than use another level than the last.
  bool fail_if_not_bottommost_level = false;
  // Accept files of another database.
  bool allow_db_generated_files = false;
  bool fill_cache = true;
  bool prefetch_lmax_index_and_filter_blocks = true;
  int file_opening_threads = 1;

  bool operator==(const IngestExternalFileOptions& rhs) const {
    return move_files == rhs.move_files && link_files == rhs.link_files &&
           failed_move_fall_back_to_copy == rhs.failed_move_fall_back_to_copy &&
           snapshot_consistency == rhs.snapshot_consistency &&
           allow_global_seqno == rhs.allow_global_seqno &&
           allow_blocking_flush == rhs.allow_blocking_flush && ingest_behind == rhs.ingest_behind &&
           write_global_seqno == rhs.write_global_seqno &&
           verify_checksums_before_ingest == rhs.verify_checksums_before_ingest &&
           verify_checksums_readahead_size == rhs.verify_checksums_readahead_size &&
           verify_file_checksum == rhs.verify_file_checksum &&
           fail_if_not_bottommost_level == rhs.fail_if_not_bottommost_level &&
           allow_db_generated_files == rhs.allow_db_generated_files &&
           fill_cache == rhs.fill_cache &&
           prefetch_lmax_index_and_filter_blocks == rhs.prefetch_lmax_index_and_filter_blocks &&
           file_opening_threads == rhs.file_opening_threads;
  }
  bool operator!=(const IngestExternalFileOptions& rhs) const { return !(*this == rhs); }
};

// One family's part of DB::IngestExternalFiles().
struct IngestExternalFileArg {
  ColumnFamilyHandle* column_family = nullptr;
  std::vector<std::string> external_files;
  IngestExternalFileOptions options;
  std::vector<std::string> files_checksums;
  std::vector<std::string> files_checksum_func_names;
  Temperature file_temperature = Temperature::kUnknown;
  // Replaces all data in this range.
  std::optional<RangeOpt> atomic_replace_range;
  std::vector<const PreparedFileInfo*> file_infos;
};

// Operations that a trace leaves out, or-ed.
enum TraceFilterType : uint64_t {
  kTraceFilterNone = 0x0,
  kTraceFilterGet = 0x1 << 0,
  kTraceFilterWrite = 0x1 << 1,
  kTraceFilterIteratorSeek = 0x1 << 2,
  kTraceFilterIteratorSeekForPrev = 0x1 << 3,
  kTraceFilterMultiGet = 0x1 << 4,
};

// For DB::StartTrace(), which is not built yet.
struct TraceOptions {
  uint64_t max_trace_file_size = uint64_t{64} * 1024 * 1024 * 1024;
  // One operation of so many is traced.
  uint64_t sampling_frequency = 1;
  uint64_t filter = kTraceFilterNone;
  bool preserve_write_order = false;
};

struct ImportColumnFamilyOptions {
  bool move_files = false;
};

// For DB::GetApproximateSizes(). At least one of the first two must be true.
struct SizeApproximationOptions {
  bool include_memtables = false;
  bool include_files = true;
  bool include_blob_files = false;
  // From 0 to 1: relative error that is acceptable; negative = as exact as possible.
  double files_size_error_margin = -1.0;
};

// For DB::OpenAndCompact(), which is not built yet: objects that do not travel as text.
struct CompactionServiceOptionsOverride {
  Env* env = Env::Default();
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;
  const Comparator* comparator = BytewiseComparator();
  std::shared_ptr<MergeOperator> merge_operator = nullptr;
  const CompactionFilter* compaction_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;
  std::shared_ptr<TableFactory> table_factory;
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;
  std::vector<std::shared_ptr<EventListener>> listeners;
  std::shared_ptr<Statistics> statistics = nullptr;
  std::shared_ptr<Logger> info_log = nullptr;
  std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>
      table_properties_collector_factories;
  std::unordered_map<std::string, std::string> options_map;
};

struct OpenAndCompactOptions {
  std::atomic<bool>* canceled = nullptr;
  bool allow_resumption = false;
};

// For DB::GetLiveFilesStorageInfo().
struct LiveFilesStorageInfoOptions {
  bool include_checksum_info = false;
  // Flush first if the WAL has at least this many bytes; 0 = always.
  uint64_t wal_size_for_flush = 0;
  bool atomic_flush = false;
};

// For DB::WaitForCompact().
struct WaitForCompactOptions {
  // Return Aborted, rather than wait, while background work is paused.
  bool abort_on_pause = false;
  // Flush all families first.
  bool flush = false;
  // Wait until obsolete files are deleted.
  bool wait_for_purge = false;
  // Close the database afterwards, in spite of a background error.
  bool close_db = false;
  // TimedOut after this long; 0 = no limit.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
};

}  // namespace ashlar
