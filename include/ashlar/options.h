// SPDX-License-Identifier: Apache-2.0
//
// Options: how a database is opened, read, written and maintained. All are plain structs: set the
// fields that should differ from their defaults. The default of a field is its initializer.
//
//   ashlar::Options options;
//   options.create_if_missing = true;
//   options.write_buffer_size = 256 << 20;
//   std::unique_ptr<ashlar::DB> db;
//   ashlar::Status status = ashlar::DB::Open(options, path, &db);
//
// Three remarks recur in the comments:
//   "Dynamic"                the option can be changed on an open database with DB::SetOptions() or
//   DB::SetDBOptions(). All others are fixed until the database is closed.
//   "A hint without effect"  any value is accepted and ignored.
//   "Not built yet"          any value but the stated one is refused with NotSupported, which names
//   the option, when the database is opened.
//
// Threads: a struct is not synchronized. DB::Open() and the other calls copy the options that they
// get, but not the objects that raw pointers in them refer to: those must outlive the database (or
// the read or write), unless the comment says otherwise.
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

// A directory for table files, and the number of bytes that it should hold at most.
struct DbPath {
  std::string path;
  uint64_t target_size;

  DbPath() : target_size(0) {}
  DbPath(const std::string& p, uint64_t t) : path(p), target_size(t) {}
};

// Options of one column family.
struct ASHLAR_EXPORT ColumnFamilyOptions : public AdvancedColumnFamilyOptions {
  // Sets the options whose defaults have changed since that RocksDB version to the defaults it had.
  // Returns `this`, like the functions below.
  ColumnFamilyOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  // Settings for a small database: memtables of 2 MiB and a block cache of 16 MiB. If `cache` is
  // not null, *cache is used as the block cache, or receives the new one if it is empty.
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);
  // Settings for a workload of Get() calls without scans: Bloom filters, in-block hash indexes and
  // a block cache of `block_cache_size_mb` MiB.
  ColumnFamilyOptions* OptimizeForPointLookup(uint64_t block_cache_size_mb);
  // Sizes memtables and levels for the given number of bytes of memtables.
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(uint64_t memtable_memory_budget = 512 * 1024 *
                                                                                      1024);
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(uint64_t memtable_memory_budget = 512 *
                                                                                          1024 *
                                                                                          1024);

  // The order of user keys. Its name is recorded: a family can be opened only with the comparator
  // that it was created with. Not owned; must outlive the database. If it has timestamps, every
  // write and every read of the family needs one.
  const Comparator* comparator = BytewiseComparator();
  // Combines the operands that Merge() writes. Its name is recorded in the files. nullptr = Merge()
  // returns NotSupported.
  std::shared_ptr<MergeOperator> merge_operator = nullptr;
  // One filter object for all compactions of the family. Not owned. Flushes do not use it.
  const CompactionFilter* compaction_filter = nullptr;
  // Makes a new filter object for each compaction, and for each flush if it asks for flushes. Used
  // only if compaction_filter is nullptr.
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory = nullptr;
  // Bytes that a memtable may hold before it becomes immutable and is flushed. At least 64 KiB.
  // Takes effect at once, also for the active memtable. Dynamic.
  size_t write_buffer_size = 64 << 20;
  // Compression of the levels that neither bottommost_compression nor compression_per_level sets.
  // Default: LZ4 if it is linked in, else Snappy, else none. Dynamic.
  CompressionType compression;
  // Compression of the last level that holds data; kDisableCompressionOption = the same as
  // `compression`. Dynamic.
  CompressionType bottommost_compression = kDisableCompressionOption;
  // Parameters of bottommost_compression, used if its `enabled` is true. Dynamic.
  CompressionOptions bottommost_compression_opts;
  // Parameters of `compression` and compression_per_level. Dynamic.
  CompressionOptions compression_opts;
  // Compression algorithms of the program. Not built yet: must be the default.
  std::shared_ptr<CompressionManager> compression_manager;
  // Number of L0 files that starts a compaction. While the level below is too large, up to twice as
  // many are allowed. Dynamic.
  int level0_file_num_compaction_trigger = 4;
  // Extracts the prefix of a key. If it is set, filters hold prefixes besides whole keys. Its name
  // is recorded in the files. Dynamic.
  std::shared_ptr<const SliceTransform> prefix_extractor = nullptr;
  // Target size of L1 in bytes. Dynamic.
  uint64_t max_bytes_for_level_base = 256 * 1048576;
  // If true, only manual compactions run. Dynamic.
  bool disable_auto_compactions = false;
  // Format of new tables: see table.h. nullptr = block-based tables with default options. Factories
  // of the program's own are refused with NotSupported.
  std::shared_ptr<TableFactory> table_factory;
  // Directories for the tables of this family; empty = DBOptions::db_paths. Blob files are written
  // to the first one.
  std::vector<DbPath> cf_paths;
  // Limits how many compactions run at the same time in all families that share this object. Made
  // by NewConcurrentTaskLimiter(); nullptr = no limit.
  std::shared_ptr<ConcurrentTaskLimiter> compaction_thread_limiter = nullptr;
  // Adds boundaries at which compactions end an output file; nullptr = none.
  std::shared_ptr<SstPartitionerFactory> sst_partitioner_factory = nullptr;
  // Flush a memtable after this many DeleteRange() calls; 0 = no limit. Dynamic.
  uint32_t memtable_max_range_deletions = 0;
  // Evict blocks of obsolete files from the cache. A hint without effect.
  uint32_t uncache_aggressiveness = 0;

  // Options of older releases: kept so that programs which set them compile. Ignored.
  uint64_t snap_refresh_nanos = 0;

  ColumnFamilyOptions();
  explicit ColumnFamilyOptions(const Options& options);

  // Writes all options to `log`, as text.
  void Dump(Logger* log) const;
};

// How recovery treats a damaged WAL.
enum class WALRecoveryMode : char {
  // An incomplete record at the end of the last WAL is taken for the result of a crash and ignored.
  // Any other damage makes opening fail.
  kTolerateCorruptedTailRecords = 0x00,
  // Any damage makes opening fail. An unsynced tail that a crash has lost is not damage, unless
  // later WALs hold data.
  kAbsoluteConsistency = 0x01,
  // Replay stops before the first damaged record: the database has the state that it had at that
  // point in time.
  kPointInTimeRecovery = 0x02,
  // Damaged records are skipped and everything else is replayed. Use it only to salvage data.
  kSkipAnyCorruptedRecords = 0x03,
};

// Default of DBOptions::db_host_id: replaced by the name of the host.
ASHLAR_EXPORT extern const char* kHostnameForDbHostId;

// Result of a compaction that was handed to a CompactionService.
//   kSuccess   the worker has written the output
//   kFailure   the worker has failed: the compaction runs in this process instead
//   kAborted   the compaction is given up for now; it may be picked again later
//   kUseLocal  the service does not take the job: the compaction runs in this process
// An output that turns out to be unusable is dropped, and the compaction runs in this process.
enum class CompactionServiceJobStatus : char {
  kSuccess,
  kFailure,
  kAborted,
  kUseLocal,
};

// Facts about a compaction that is offered to a CompactionService.
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

// Answer of CompactionService::Schedule().
struct CompactionServiceScheduleResponse {
  // Chosen by the service; identifies the job in Wait() and OnInstallation().
  std::string scheduled_job_id;
  CompactionServiceJobStatus status;
  CompactionServiceScheduleResponse(std::string scheduled_job_id_,
                                    CompactionServiceJobStatus status_)
      : scheduled_job_id(std::move(scheduled_job_id_)), status(status_) {}
  explicit CompactionServiceScheduleResponse(CompactionServiceJobStatus status_)
      : status(status_) {}
};

// Runs compactions in other processes. Implemented by the program; see DB::OpenAndCompact() for the
// worker's half. Threads: called from background threads, possibly several at a time, without
// locks. Exceptions count as kFailure.
class ASHLAR_EXPORT CompactionService : public Customizable {
 public:
  static const char* Type() { return "CompactionService"; }
  const char* Name() const override = 0;
  // Offers a compaction. `compaction_service_input` must be passed to DB::OpenAndCompact() in the
  // worker. Default: kUseLocal, which declines.
  virtual CompactionServiceScheduleResponse Schedule(
      const CompactionServiceJobInfo& /*info*/, const std::string& /*compaction_service_input*/) {
    return CompactionServiceScheduleResponse(CompactionServiceJobStatus::kUseLocal);
  }
  // Blocks until the job has ended. *result receives the output of DB::OpenAndCompact().
  virtual CompactionServiceJobStatus Wait(const std::string& /*scheduled_job_id*/,
                                          std::string* /*result*/) {
    return CompactionServiceJobStatus::kUseLocal;
  }
  // Asks the service to end all jobs, because the database is being closed. Wait() should return
  // soon.
  virtual void CancelAwaitingJobs() {}
  // Reports what became of a scheduled job: kSuccess if its output is part of the database now,
  // kUseLocal if the compaction runs in this process, kFailure if installing the output failed,
  // kAborted if the compaction was given up: the service has aborted it, or it was stopped, for
  // example because the database is being closed.
  virtual void OnInstallation(const std::string& /*scheduled_job_id*/,
                              CompactionServiceJobStatus /*status*/) {}
};

// Options of the whole database.
struct ASHLAR_EXPORT DBOptions {
  // Sets the options whose defaults have changed since that RocksDB version to the defaults it had.
  // Returns `this`, like the functions below.
  DBOptions* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);
  // Settings for a small database: few open files, and memtables that are charged to a cache.
  // `cache` as in ColumnFamilyOptions::OptimizeForSmallDb().
  DBOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // Sets max_background_jobs, and the thread pools of `env`, to `total_threads` threads in all.
  DBOptions* IncreaseParallelism(int total_threads = 16);
  // Create the database if it does not exist. If false, opening a missing database fails with
  // InvalidArgument.
  bool create_if_missing = false;
  // Create the families that are named in DB::Open() and do not exist.
  bool create_missing_column_families = false;
  // Fail with InvalidArgument if the database exists.
  bool error_if_exists = false;
  // Verify more while opening, and stop writes at the first sign of corruption. If false, a
  // database with missing or damaged tables can be opened; reads that need those tables fail. Block
  // checksums are verified in both cases.
  bool paranoid_checks = true;
  // A flush fails with Corruption if it reads a different number of entries from a memtable than
  // were inserted.
  bool flush_verify_memtable_count = true;
  // A compaction fails with Corruption if it reads a different number of entries from a table than
  // the table's properties say.
  bool compaction_verify_record_count = true;
  // The MANIFEST always records the WALs, so that recovery can check them. If true, it records them
  // in RocksDB's form too.
  bool track_and_verify_wals_in_manifest = false;
  // Each WAL records where the previous one ends, and recovery checks that. If true, it records
  // that in RocksDB's form too, which RocksDB verifies since 9.11.
  bool track_and_verify_wals = false;
  // Compare the unique id of a table with the one in the MANIFEST when the table is opened.
  bool verify_sst_unique_id_in_manifest = true;
  // Access to files, threads and the clock. Not owned; must outlive the database.
  Env* env = Env::Default();
  // Limits the I/O of flushes and compactions. nullptr = no limit.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;
  // Tracks the disk space in use and limits the rate of file deletion. Must be made by
  // NewSstFileManager(). nullptr = none.
  std::shared_ptr<SstFileManager> sst_file_manager = nullptr;
  // Receives the messages of the info log. nullptr = the file LOG in the directory of the database,
  // or in db_log_dir.
  std::shared_ptr<Logger> info_log = nullptr;
  // Messages below this level are not logged. Dynamic.
  InfoLogLevel info_log_level = Logger::kDefaultLogLevel;
  // Number of table files that may be open at the same time; -1 = no limit. Dynamic, but a new
  // limit applies only to tables that are opened later.
  int max_open_files = -1;
  // Threads that open tables while the database is opened. Fewer are used if there are few tables.
  int max_file_opening_threads = 16;
  // Number of threads for GetAsync() and MultiGetAsync(). A hint without effect.
  int read_io_executor_threads = 1;
  // Do not open tables while the database is opened: each table is opened by the first read that
  // needs it.
  bool open_files_async = false;
  // Total bytes of WAL above which the families with the oldest unflushed data are flushed.
  // Dynamic. 0 = four times the sum of all memtable budgets, but at most 1 GiB or four times the
  // largest budget, whichever is more.
  uint64_t max_total_wal_size = 0;
  // Counts events and durations; see statistics.h. nullptr = nothing is counted.
  std::shared_ptr<Statistics> statistics = nullptr;
  // Use fsync() instead of fdatasync().
  bool use_fsync = false;
  // Up to four directories for tables; more than one only with levelled and universal compaction.
  // Compactions fill each up to its target size, as far as it is known, before the next one is
  // used; flushes use the first. Empty = the directory of the database.
  std::vector<DbPath> db_paths;
  // Directory of the info log; empty = the directory of the database.
  std::string db_log_dir = "";
  // Directory of the WALs; empty = the directory of the database.
  std::string wal_dir = "";
  // Microseconds between full scans for obsolete files. A hint without effect.
  uint64_t delete_obsolete_files_period_micros = 6ULL * 60 * 60 * 1000000;
  // Number of flushes and compactions that may run at the same time. A quarter of them is for
  // flushes. Dynamic.
  int max_background_jobs = 2;
  // Older form of max_background_jobs, for compactions alone. If it or max_background_flushes is
  // set, max_background_jobs does not count and -1 means 1. Dynamic.
  int max_background_compactions = -1;
  // Number of parts into which one compaction may be divided; the parts run in parallel. Dynamic.
  uint32_t max_subcompactions = 1;
  // Older form of max_background_jobs, for flushes alone; see max_background_compactions. Dynamic.
  int max_background_flushes = -1;
  // Bytes after which a new info log file begins; 0 = no limit.
  size_t max_log_file_size = 0;
  // Seconds after which a new info log file begins; 0 = no limit.
  size_t log_file_time_to_roll = 0;
  // Number of info log files that are kept.
  size_t keep_log_file_num = 1000;
  // Number of obsolete WAL files that are kept so that new WALs can overwrite them; see
  // docs/mapped_log.md. 0 = none; also with an archive of WALs, and with the recovery modes
  // kTolerateCorruptedTailRecords and kAbsoluteConsistency. Otherwise writes with disableWAL are
  // refused.
  size_t recycle_log_file_num = 0;
  // Create the next WAL in advance. A hint without effect.
  bool async_wal_precreate = false;
  // Bytes after which a new MANIFEST is begun. Dynamic.
  uint64_t max_manifest_file_size = 1024 * 1024 * 1024;
  // Read the MANIFEST back when the database is closed, and write it anew if it is damaged.
  // Dynamic.
  bool verify_manifest_content_on_close = false;
  // Reduce the work of recovery after a clean shutdown. A hint without effect.
  bool optimize_manifest_for_recovery = false;
  // Append to the existing MANIFEST instead of writing a new one at open. A hint without effect.
  bool reuse_manifest_on_open = false;
  // Begin a new MANIFEST depending on how much of the current one is obsolete. A hint without
  // effect.
  int max_manifest_space_amp_pct = 500;
  // Number of shards of the table cache, as a power of two. A hint without effect.
  int table_cache_numshardbits = 6;
  // WALs that recovery does not need any more are moved to the folder "archive" in wal_dir, where
  // GetUpdatesSince() can still read them. They stay for WAL_ttl_seconds, and the newest ones up to
  // a total of WAL_size_limit_MB MiB. 0 = no such limit; if both are 0, nothing is archived.
  uint64_t WAL_ttl_seconds = 0;
  uint64_t WAL_size_limit_MB = 0;
  // Bytes of disk space that are reserved for a new MANIFEST. Dynamic; takes effect with the next
  // one.
  size_t manifest_preallocation_size = 4 * 1024 * 1024;
  // Read tables through memory maps. Must not be combined with use_direct_reads.
  bool allow_mmap_reads = false;
  // Write tables through memory maps. A hint without effect in the POSIX file system.
  bool allow_mmap_writes = false;
  // Read tables without the page cache (O_DIRECT). Opening fails if the file system does not
  // support it.
  bool use_direct_reads = false;
  // Read tables in compactions alone with O_DIRECT. A hint without effect.
  bool use_direct_io_for_compaction_reads = false;
  // Write tables without the page cache (O_DIRECT). Opening fails if the file system does not
  // support it.
  bool use_direct_io_for_flush_and_compaction = false;
  // Reserve disk space for new files with fallocate().
  bool allow_fallocate = true;
  // Close files when the process calls exec(); always done. A hint without effect.
  bool is_fd_close_on_exec = true;
  // Seconds between dumps of the statistics to the info log; 0 = no dumps. Dynamic.
  unsigned int stats_dump_period_sec = 600;
  // Seconds between two samples of the counters of `statistics`, which GetStatsHistory() returns; 0
  // = no samples. Dynamic.
  unsigned int stats_persist_period_sec = 600;
  // Store these samples in the hidden family kPersistentStatsColumnFamilyName instead of in memory.
  bool persist_stats_to_disk = false;
  // Bytes of memory for these samples; the oldest ones are dropped first. Dynamic.
  size_t stats_history_buffer_size = 1024 * 1024;
  // Advise the kernel that tables are read at random. A hint without effect.
  bool advise_random_on_open = true;
  // Bytes that all memtables of the database may hold together; 0 = no limit. The largest memtable
  // is flushed before the limit is reached. Ignored if write_buffer_manager is set.
  size_t db_write_buffer_size = 0;
  // A limit on memtable memory that several databases may share; each database flushes its own
  // memtables. See write_buffer_manager.h. nullptr = a manager for this database alone, with
  // db_write_buffer_size as its limit.
  std::shared_ptr<WriteBufferManager> write_buffer_manager = nullptr;
  // Ashlar's own option: bytes of memory that the database may use in all; 0 = no such limit,
  // otherwise at least 8 MiB. All families get one block cache, which has most of it. Memtables,
  // indexes, filters (also those under construction) and metadata of tables are charged to this
  // cache, and blobs are cached in it; the rest is for buffers of jobs and for small objects.
  // Memtables use at most a quarter, one of them at most an eighth; writers wait for a flush if
  // they would use more. The cache is GetOptions().write_buffer_manager->cache(); a database that
  // is opened with this manager shares the limit. InvalidArgument if another manager, a block
  // cache, a blob cache or a row cache is given. Dynamic, but it cannot be switched on or off, and
  // memtables of open families keep their size.
  size_t memory_limit = 0;
  // Bytes that a compaction reads ahead: into the page cache, or into a buffer of its own with
  // direct I/O. Dynamic.
  size_t compaction_readahead_size = 2 * 1024 * 1024;
  // Size of the write buffer of each file, in bytes. Dynamic; takes effect with files that are
  // begun later.
  size_t writable_file_max_buffer_size = 1024 * 1024;
  // Spin before sleeping on a mutex. A hint without effect.
  bool use_adaptive_mutex = false;
  // While a table is written, ask the kernel to write it to the device after each `bytes_per_sync`
  // bytes; 0 = only when the table is finished, or 1 MiB with a rate_limiter. Dynamic; takes effect
  // with tables that are begun later.
  uint64_t bytes_per_sync = 0;
  // The same for WALs. Dynamic; takes effect with one of the next two WALs.
  uint64_t wal_bytes_per_sync = 0;
  // Before asking for the next range, wait until the previous one is on the device. Takes effect
  // with the next table, and for WALs at the next open.
  bool strict_bytes_per_sync = false;
  // Objects whose functions are called on events; see listener.h.
  std::vector<std::shared_ptr<EventListener>> listeners;
  // Show this database's flushes and compactions in Env::GetThreadList().
  bool enable_thread_tracking = false;
  // Bytes per second that writes may use while they are slowed down; 0 = 16 MiB, or the rate of
  // rate_limiter. Dynamic.
  uint64_t delayed_write_rate = 0;
  // RocksDB has several write paths, which the options of this group select. Ashlar has one, which
  // inserts into memtables in parallel and shares syncs. A hint without effect.
  bool enable_pipelined_write = false;
  // See enable_pipelined_write. A hint without effect.
  bool unordered_write = false;
  // See enable_pipelined_write. A hint without effect, except that inplace_update_support requires
  // false.
  bool allow_concurrent_memtable_write = true;
  // See enable_pipelined_write. A hint without effect.
  bool enable_write_thread_adaptive_yield = true;
  // Limit of a group commit in bytes. A hint without effect.
  uint64_t max_write_batch_group_size_bytes = 1 << 20;
  // Microseconds that a waiting writer spins. A hint without effect.
  uint64_t write_thread_max_yield_usec = 100;
  // Microseconds after which a yield counts as slow. A hint without effect.
  uint64_t write_thread_slow_yield_usec = 3;
  // Do not load table properties while opening. A hint without effect.
  bool skip_stats_update_on_db_open = false;
  // How recovery treats damaged WALs.
  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  // Keep the transactions that are prepared and not decided when WALs are recovered; without it a
  // database with such transactions is refused (NotSupported). TransactionDB::Open() sets it. With
  // DB::Open() they stay prepared and invisible until a TransactionDB decides them. Turns
  // avoid_flush_during_recovery off.
  bool allow_2pc = false;
  // Caches the results of point lookups in tables. Only point lookups use it. May be shared between
  // databases; nullptr = no row cache.
  std::shared_ptr<RowCache> row_cache = nullptr;
  // Can inspect, change and drop each batch when the WAL is replayed. Not owned; must live until
  // the database is open.
  WalFilter* wal_filter = nullptr;
  // Add statistics of malloc to the statistics dump. A hint without effect.
  bool dump_malloc_stats = false;
  // Keep the data that is recovered from WALs in memtables instead of flushing it.
  bool avoid_flush_during_recovery = false;
  // Flush during replay if the shared memory limit is exceeded. A hint without effect.
  bool enforce_write_buffer_manager_during_recovery = true;
  // Do not flush when the database is closed, although data that was written with disableWAL is
  // lost then. Dynamic.
  bool avoid_flush_during_shutdown = false;
  // Reserve the last level for files that are ingested with ingest_behind. Needs num_levels of at
  // least 3.
  bool allow_ingest_behind = false;
  // See enable_pipelined_write. A hint without effect.
  bool two_write_queues = false;
  // Write the WAL to its file only when FlushWAL() or SyncWAL() is called.
  bool manual_wal_flush = false;
  // Compression of WAL records: kZSTD compresses, all other types mean no compression. Recovery
  // reads WALs of both kinds.
  CompressionType wal_compression = kNoCompression;
  // Close WALs that are no longer written in the background. A hint without effect.
  bool background_close_inactive_wals = false;
  // Flush all families together (a call of Flush(): the families that it names), so that after a
  // crash either all of this data or none of it is there, including writes with disableWAL. Implies
  // min_write_buffer_number_to_merge = 1.
  bool atomic_flush = false;
  // Delete files in background threads only. A hint without effect.
  bool avoid_unnecessary_blocking_io = false;
  // Record the id of the database in the MANIFEST.
  bool write_dbid_to_manifest = true;
  // Write the file IDENTITY too. A hint without effect.
  bool write_identity_file = true;
  // Let iterators use the total order unless they ask for prefix mode. A hint without effect.
  bool prefix_seek_opt_in_only = false;
  // Bytes to read ahead in WALs and the MANIFEST. A hint without effect.
  size_t log_readahead_size = 0;
  // Makes checksums of whole tables, which are recorded in the MANIFEST; nullptr = none.
  std::shared_ptr<FileChecksumGenFactory> file_checksum_gen_factory = nullptr;
  // If files are missing, open the newest state whose files are all there. All other files, WALs
  // included, are renamed to *.orphan.
  bool best_efforts_recovery = false;
  // How often the database tries to resume by itself after a full disk or a retryable error; 0 =
  // only DB::Resume() resumes.
  int max_bgerror_resume_count = INT_MAX;
  // Microseconds between these attempts.
  uint64_t bgerror_resume_retry_interval = 1000000;
  // Show keys in error messages, instead of only their lengths. Once one database has been opened
  // with this option, it holds for the whole process.
  bool allow_data_in_errors = false;
  // Identifies the machine in table properties. The default is replaced by the host name.
  std::string db_host_id = kHostnameForDbHostId;
  // Types of files whose checksums are passed to the file system. A hint without effect.
  FileTypeSet checksum_handoff_file_types;
  // Runs compactions in other processes; nullptr = all compactions run in this process.
  std::shared_ptr<CompactionService> compaction_service = nullptr;
  // The lowest cache tier to use. A hint without effect.
  CacheTier lowest_used_cache_tier = CacheTier::kNonVolatileBlockTier;
  // Fail a compaction that detects wrong use of SingleDelete(). A hint without effect.
  bool enforce_single_del_contracts = true;
  // Daily window for low-priority work, as "HH:mm-HH:mm" in UTC. A hint without effect.
  std::string daily_offpeak_time_utc = "";
  // Seconds between checks for compactions that depend on time. A hint without effect.
  uint64_t max_compaction_trigger_wakeup_seconds = 43200;
  // Milliseconds between the catch-ups of a follower.
  uint64_t follower_refresh_catchup_period_ms = 10000;
  // How often a follower tries again at once if the leader was faster (TryAgain).
  uint64_t follower_catchup_retry_count = 10;
  // Milliseconds between these retries.
  uint64_t follower_catchup_retry_wait_ms = 100;
  // Storage tier of MANIFEST, CURRENT, OPTIONS and IDENTITY files, passed on to the file system.
  Temperature metadata_write_temperature = Temperature::kUnknown;
  // Storage tier of WALs, passed on to the file system.
  Temperature wal_write_temperature = Temperature::kUnknown;
  // Compaction styles whose tables get a write-lifetime hint. A hint without effect.
  CompactionStyleSet calculate_sst_write_lifetime_hint_set = {
      CompactionStyle::kCompactionStyleLevel};
  // Store metadata of the file system with each table. A hint without effect.
  bool fast_sst_open = false;

  // Ashlar's own option: the oldest RocksDB version that must be able to read what is written,
  // "7.8" or "11.9". "7.8" restricts the table format to version 5 and writes no newer record
  // types, fields or option names. "" = 11.9; or 7.8, if the OPTIONS file in the directory was
  // written by an older RocksDB and no option newer than 7.8 is set. Opening fails with
  // InvalidArgument for other values, and if another option asks for something that this version
  // cannot read.
  std::string write_compatible_with = "";

  // Options of older releases: kept so that programs which set them compile. Ignored.
  enum AccessHint { NONE, NORMAL, SEQUENTIAL, WILLNEED };
  AccessHint access_hint_on_compaction_start = NORMAL;
  size_t random_access_max_buffer_size = 1024 * 1024;
  bool skip_checking_sst_file_sizes_on_db_open = false;
  bool fail_if_options_file_error = false;

  DBOptions();
  explicit DBOptions(const Options& options);

  // Writes all options to `log`, as text.
  void Dump(Logger* log) const;
};

// Options of a database together with options of a column family: for a database with one family.
struct ASHLAR_EXPORT Options : public DBOptions, public ColumnFamilyOptions {
  Options() : DBOptions(), ColumnFamilyOptions() {}
  Options(const DBOptions& db_options, const ColumnFamilyOptions& column_family_options)
      : DBOptions(db_options), ColumnFamilyOptions(column_family_options) {}

  // What a database is for. Ashlar's own.
  enum Intent {
    kServer,    // the machine is for this database: half of its memory, all of its cores
    kEmbedded,  // a part of a program: 64 MiB of memory, two background jobs
    kBulkLoad,  // the first load of much data, as kServer, without compactions: call
                // DB::CompactRange() after it, and open the database with another intent
    kLowMemory  // a small device: 16 MiB of memory, one job of each kind, at most 64 open files
  };
  // The defaults with what fits the intent: memory_limit (half of the machine's memory, or of what
  // its control group may use, for the first and the third), max_background_jobs, Bloom filters,
  // sizes of memtables, tables and levels, compression. Every member can be changed afterwards.
  static Options for_intent(Intent intent);

  // Both functions of the same name together.
  Options* OldDefaults(int rocksdb_major_version = 4, int rocksdb_minor_version = 6);

  // Write the options to `log`, as text: all of them, or those of the column family.
  void Dump(Logger* log) const;
  void DumpCFOptions(Logger* log) const;

  // Settings for loading a large amount of data before anything is read: no automatic compaction
  // and no write stalls. Call DB::CompactRange() afterwards.
  Options* PrepareForBulkLoad();
  // Settings for a small database: one cache of 16 MiB for blocks and memtables, few open files.
  Options* OptimizeForSmallDb();
  // Turns off checks that cost time. Not recommended: they are what detects damage early.
  Options* DisableExtraChecks();
};

// Where a read may look for data.
enum ReadTier {
  kReadAllTier = 0x0,
  kBlockCacheTier = 0x1,  // memtables and block cache; Incomplete if I/O would be needed
  kPersistedTier = 0x2,   // no memtables once a write has skipped the WAL (point reads only);
                          // what is in a WAL counts, synced or not
  kMemtableTier = 0x3     // memtables only
};

// The half-open range of keys [start, limit). Does not own the bytes.
struct Range {
  Slice start;
  Slice limit;

  Range() {}
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}
};

// A half-open range of keys like Range; a missing `start` or `limit` means that the range is
// unbounded there. Does not own the bytes.
struct RangeOpt {
  OptSlice start;
  OptSlice limit;

  RangeOpt() {}
  RangeOpt(const OptSlice& s, const OptSlice& l) : start(s), limit(l) {}
};

// One range of a multi scan.
struct ScanOptions {
  RangeOpt range;
  // Parameters for custom tables and indexes. A hint without effect.
  std::optional<std::unordered_map<std::string, std::string>> property_bag;

  explicit ScanOptions(const Slice& _start) : range(_start, OptSlice()) {}
  ScanOptions(const Slice& _start, const Slice& _upper_bound) : range(_start, _upper_bound) {}
};

// The ranges of a multi scan, in ascending order, and its settings. See DB::NewMultiScan(). Keys
// are not copied: they must live as long as the scan.
class ASHLAR_EXPORT MultiScanArgs {
 public:
  using PropertyBag = std::unordered_map<std::string, std::string>;

  explicit MultiScanArgs(const Comparator* comparator = BytewiseComparator()) : comp_(comparator) {}
  MultiScanArgs(const MultiScanArgs& other) = default;
  MultiScanArgs(MultiScanArgs&& other) noexcept = default;
  MultiScanArgs& operator=(const MultiScanArgs& other) = default;
  MultiScanArgs& operator=(MultiScanArgs&& other) noexcept = default;

  // Adds the range [s, b), or all keys from `s` on. Ranges must be added in ascending order and
  // must not overlap.
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
  // Whether every range has an end.
  bool HasBoundedScanRanges() const;
  void reserve(size_t size) { original_ranges_.reserve(size); }
  operator std::vector<ScanOptions>*() { return &original_ranges_; }
  operator const std::vector<ScanOptions>*() const { return &original_ranges_; }
  const std::vector<ScanOptions>& GetScanRanges() const { return original_ranges_; }
  const Comparator* GetComparator() const { return comp_; }
  // Copies the settings below from `other`, but not its ranges.
  void CopyConfigFrom(const MultiScanArgs& other);

  // Two blocks that are at most this many bytes apart in a file are read with one request.
  uint64_t io_coalesce_threshold = 16 << 10;
  // Bytes of blocks that are read ahead and kept in memory at the same time; 0 = a built-in limit.
  uint64_t max_prefetch_size = 0;
  // The next three are hints without effect.
  bool use_async_io = false;
  bool reverse = false;
  std::shared_ptr<IODispatcher> io_dispatcher = nullptr;

 private:
  const Comparator* comp_;
  std::vector<ScanOptions> original_ranges_;
};

// Options of one read. Pointers must stay valid until the read ends, or until the iterator is
// deleted.
struct ReadOptions {
  // The state to read; nullptr = the newest state at the time of the call.
  const Snapshot* snapshot = nullptr;
  // Timestamps up to, and (iterators) from which versions are read; copied. nullptr without them.
  const Slice* timestamp = nullptr;
  const Slice* iter_start_ts = nullptr;
  // Deadline of the read, in microseconds since the epoch of the Env's clock; zero = none. After
  // it, the read fails with TimedOut as soon as it needs a file. Data in memory is still found.
  std::chrono::microseconds deadline = std::chrono::microseconds::zero();
  // Longest time that one file read may take; zero = no limit. Only file systems that support it
  // enforce it.
  std::chrono::microseconds io_timeout = std::chrono::microseconds::zero();
  // Where to look for data. With kBlockCacheTier a read does no I/O.
  ReadTier read_tier = kReadAllTier;
  // Priority of table reads in the rate limiter, if that limits reads. IO_TOTAL = not limited.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  // MultiGet() stops after this many bytes of values; the remaining keys get the status Aborted.
  uint64_t value_size_soft_limit = std::numeric_limits<uint64_t>::max();
  // A point read that merges more operands than this succeeds with the subcode
  // kMergeOperandThresholdExceeded.
  std::optional<size_t> merge_operand_count_threshold;
  // Has no influence: block checksums are always verified when a block is read from a file.
  bool verify_checksums = true;
  // Insert blocks that are read into the block cache.
  bool fill_cache = true;
  // Do not look for range tombstones: keys that DeleteRange() deleted are there until a compaction
  // drops them. Without effect in a family with min_tombstones_for_range_conversion.
  bool ignore_range_deletions = false;
  // While an iterator works on the data that it has read ahead, let the file system fetch the next
  // piece in the background.
  bool async_io = false;
  // Let MultiGet() read from the files of several levels at the same time. If false, it reads level
  // by level.
  bool optimize_multiget_for_io = true;
  // Bytes that iterators read ahead; 0 = chosen automatically.
  size_t readahead_size = 0;
  // An iterator fails with Incomplete after it has skipped this many hidden entries in a row; 0 =
  // no limit.
  uint64_t max_skippable_internal_keys = 0;
  // Inclusive lower bound of an iterator; nullptr = none. Must outlive the iterator.
  const Slice* iterate_lower_bound = nullptr;
  // Exclusive upper bound of an iterator; nullptr = none. Must outlive the iterator.
  const Slice* iterate_upper_bound = nullptr;
  // Each seek, and each Next() that comes to the end, sees the newest data.
  bool tailing = false;
  // Do not use prefix filters, so that the iterator shows all keys in order.
  bool total_order_seek = false;
  // Use prefix filters only if that does not change the result.
  bool auto_prefix_mode = false;
  // The iterator ends after the last key with the prefix of the key that was sought.
  bool prefix_same_as_start = false;
  // Keys and values stay valid until the iterator is deleted: it keeps a copy of each entry that it
  // shows. The iterator's property "rocksdb.iterator.is-key-pinned" is then 1.
  bool pin_data = false;
  // When an iterator moves to the next file of a level, it reads ahead as much as it did in the
  // previous file.
  bool adaptive_readahead = false;
  // If the iterator was the last user of obsolete files, delete them in a background thread instead
  // of in its destructor.
  bool background_purge_on_iterator_cleanup = false;
  // Return false to let iterators skip a table, by its properties: its rows and its tombstones of
  // single keys. Its range tombstones still hide older rows. InvalidArgument in a family with
  // min_tombstones_for_range_conversion.
  const std::function<bool(const TableProperties&)>* table_filter = nullptr;
  // Do not read ahead beyond iterate_upper_bound.
  bool auto_readahead_size = true;
  // The iterator may postpone loading a value until PrepareValue() is called.
  bool allow_unprepared_value = false;
  // At each seek, an iterator with a snapshot releases the files and memtables that it pinned and
  // uses the current ones, which show the same data.
  bool auto_refresh_iterator_with_snapshot = false;
  // The index to use, and the allocator of blocks. Not built yet: must be nullptr.
  const UserDefinedIndexFactory* table_index_factory = nullptr;
  ReadScopedBlockBufferProvider* read_scoped_block_buffer_provider = nullptr;
  // Set by the engine; programs leave it unchanged.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;
  // The program's name for this request. A hint without effect.
  const std::string* request_id = nullptr;

  // Option of older releases: kept so that programs which set it compile. Ignored.
  bool managed = false;

  ReadOptions() {}
  ReadOptions(bool _verify_checksums, bool _fill_cache)
      : verify_checksums(_verify_checksums), fill_cache(_fill_cache) {}
  explicit ReadOptions(Env::IOActivity _io_activity) : io_activity(_io_activity) {}
};

// Options of one write.
struct WriteOptions {
  // Return only when the WAL record is on the storage device. If false, a crash of the process
  // loses nothing, but a crash of the machine may lose the last writes.
  bool sync = false;
  // Do not write to the WAL: after a crash the write is lost unless it was flushed. InvalidArgument
  // together with `sync`.
  bool disableWAL = false;
  // Skip updates of families that do not exist, instead of failing with InvalidArgument.
  bool ignore_missing_column_families = false;
  // Fail with Incomplete if the write would have to wait in a stall.
  bool no_slowdown = false;
  // While compactions lag behind, limit all writes with this option to 1 MiB per second together;
  // with no_slowdown, such a write fails with Incomplete instead.
  bool low_pri = false;
  // Remember the insertion position per batch; the engine always does so per thread. A hint without
  // effect.
  bool memtable_insert_hint_per_batch = false;
  // Priority of the WAL write in the rate limiter: IO_TOTAL = not limited, or IO_USER. IO_USER
  // needs the WAL: InvalidArgument with disableWAL or manual_wal_flush.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  // 8 = protect each update of the batch with a checksum until it is in the memtable (see
  // WriteBatch::VerifyChecksum()); 0 = no checksums. Other values are refused.
  size_t protection_bytes_per_key = 0;
  // Set by the engine; programs leave it unchanged.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;

  WriteOptions() {}
  explicit WriteOptions(Env::IOActivity _io_activity) : io_activity(_io_activity) {}
  explicit WriteOptions(Env::IOPriority _rate_limiter_priority,
                        Env::IOActivity _io_activity = Env::IOActivity::kUnknown)
      : rate_limiter_priority(_rate_limiter_priority), io_activity(_io_activity) {}
};

// Options of DB::Flush().
struct FlushOptions {
  // Return only when the flush is done.
  bool wait = true;
  // Flush at once even if that stalls writes. If false, wait until it does not.
  bool allow_write_stall = false;
  // Flush all given families together, as DBOptions::atomic_flush does.
  bool force_atomic_flush = false;
  // Also wait until OnFlushCompleted() of the listeners has returned. A hint without effect.
  bool listener_wait = false;

  FlushOptions() {}
};

// Options of DB::FlushWAL(): whether the WAL is synced too. The priority is a hint without effect.
struct FlushWALOptions {
  bool sync = false;
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;

  FlushWALOptions() {}
};

// Creates the logger that DB::Open() would create for these options, and returns it in *logger.
ASHLAR_EXPORT Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                                             std::shared_ptr<Logger>* logger);

// Options of DB::CompactFiles(). A temperature other than kUnknown overrides the family's.
struct CompactionOptions {
  // Compression of the outputs; kDisableCompressionOption = as the options of the family say.
  CompressionType compression = kDisableCompressionOption;
  // Target size of an output file in bytes.
  uint64_t output_file_size_limit = std::numeric_limits<uint64_t>::max();
  // Number of parallel parts; 0 = DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;
  // Another thread may set it to true to stop the compaction. nullptr = cannot be stopped this way.
  std::atomic<bool>* canceled = nullptr;
  Temperature output_temperature_override = Temperature::kUnknown;
  // Allow files to be moved to the output level without being rewritten, if that is possible.
  bool allow_trivial_move = false;

  CompactionOptions() {}
};

// Whether DB::CompactRange() rewrites files that are already on the last level.
enum class BottommostLevelCompaction {
  kSkip,                    // never
  kIfHaveCompactionFilter,  // only if the family has a compaction filter
  kForce,                   // always
  kForceOptimized,          // always, except for files that this compaction has just written
};

// Whether DB::CompactRange() moves values out of old blob files.
enum class BlobGarbageCollectionPolicy {
  kForce,       // always
  kDisable,     // never
  kUseDefault,  // as enable_blob_garbage_collection says
};

// Options of DB::CompactRange().
struct CompactRangeOptions {
  // Let no other compaction run at the same time.
  bool exclusive_manual_compaction = false;
  // Afterwards move the files to target_level; if that is -1, to the highest level that can take
  // them without overlaps.
  bool change_level = false;
  // Used only with change_level.
  int target_level = -1;
  // Index of the directory for the outputs, in cf_paths or db_paths.
  uint32_t target_path_id = 0;
  // Whether files that are already on the last level are rewritten.
  BottommostLevelCompaction bottommost_level_compaction =
      BottommostLevelCompaction::kIfHaveCompactionFilter;
  // Flush first even if that stalls writes. If false, wait until it does not.
  bool allow_write_stall = false;
  // Number of parallel parts of each compaction; 0 = DBOptions::max_subcompactions.
  uint32_t max_subcompactions = 0;
  // Raises the family's limit before, as DB::IncreaseFullHistoryTsLow() does; without a range only.
  const Slice* full_history_ts_low = nullptr;
  // Another thread may set it to true to stop the compaction. nullptr = cannot be stopped this way.
  std::atomic<bool>* canceled = nullptr;
  // Whether values are moved out of old blob files, and out of which share of them, from 0 to 1. A
  // cutoff outside this range means blob_garbage_collection_age_cutoff.
  BlobGarbageCollectionPolicy blob_garbage_collection_policy =
      BlobGarbageCollectionPolicy::kUseDefault;
  double blob_garbage_collection_age_cutoff = -1;
};

// Options of DB::IngestExternalFile() and the other calls for ingestion.
struct IngestExternalFileOptions {
  // By default files are copied. move_files links them into the database and deletes the source
  // afterwards; link_files links them and leaves the source in place. InvalidArgument if both are
  // set.
  bool move_files = false;
  bool link_files = false;
  // If the file system does not support links, copy the files.
  bool failed_move_fall_back_to_copy = true;
  // Existing snapshots do not see the ingested data.
  bool snapshot_consistency = true;
  // If false, ingestion fails with InvalidArgument when it would need a sequence number for a file,
  // that is, if keys overlap with keys of the database or a snapshot exists.
  bool allow_global_seqno = true;
  // If false, ingestion fails with InvalidArgument when a memtable would have to be flushed first.
  bool allow_blocking_flush = true;
  // Place the files below all existing data, so that existing keys hide the ingested ones. Needs
  // DBOptions::allow_ingest_behind.
  bool ingest_behind = false;
  // Write the sequence number into the file, which older releases of RocksDB need.
  bool write_global_seqno = false;
  // Read the files and verify all block checksums before they are ingested.
  bool verify_checksums_before_ingest = false;
  // Bytes to read ahead while doing so; 0 = automatic.
  size_t verify_checksums_readahead_size = 0;
  // Compare each file with its checksum in IngestExternalFileArg::files_checksums.
  bool verify_file_checksum = true;
  // Fail with TryAgain if a file cannot be placed on the last level.
  bool fail_if_not_bottommost_level = false;
  // Accept files that were not written by an SstFileWriter but by a database.
  bool allow_db_generated_files = false;
  // The next three are hints without effect.
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

// The files for one family in DB::IngestExternalFiles().
struct IngestExternalFileArg {
  ColumnFamilyHandle* column_family = nullptr;
  // Paths of the files. Without allow_db_generated_files they must be made by SstFileWriter.
  std::vector<std::string> external_files;
  IngestExternalFileOptions options;
  // Expected checksum of each file, and the name of the function that computes it. Either both are
  // empty, or both have one element per file.
  std::vector<std::string> files_checksums;
  std::vector<std::string> files_checksum_func_names;
  // Storage tier of the files: it is recorded, and told to the file system with each copy. Without
  // effect on small files whose entries are written to the memtable instead.
  Temperature file_temperature = Temperature::kUnknown;
  // Removes all existing data of the family in this range in the same step. All files must lie
  // within it.
  std::optional<RangeOpt> atomic_replace_range;
  std::vector<const PreparedFileInfo*> file_infos;  // of the tables, or empty; may have nulls
};

// Operations that a trace omits, combined with bitwise or.
enum TraceFilterType : uint64_t {
  kTraceFilterNone = 0x0,
  kTraceFilterGet = 0x1 << 0,
  kTraceFilterWrite = 0x1 << 1,
  kTraceFilterIteratorSeek = 0x1 << 2,
  kTraceFilterIteratorSeekForPrev = 0x1 << 3,
  kTraceFilterMultiGet = 0x1 << 4,
};

// Options of DB::StartTrace(), DB::StartIOTrace() and DB::StartBlockCacheTrace().
struct TraceOptions {
  // No record is written once the trace has more bytes than this. That is not an error.
  uint64_t max_trace_file_size = uint64_t{64} * 1024 * 1024 * 1024;
  // Trace each n-th operation; 0 counts as 1. Block cache traces choose blocks instead, see
  // BlockCacheTraceOptions.
  uint64_t sampling_frequency = 1;
  // The operations that a query trace omits: a combination of TraceFilterType values. Omitted
  // operations do not count for sampling_frequency.
  uint64_t filter = kTraceFilterNone;
  // A query trace has the writes in the order of their sequence numbers, not of the moments at
  // which the calls began. A write that fails in the middle is recorded as well.
  bool preserve_write_order = false;
};

// Options of DB::CreateColumnFamilyWithImport().
struct ImportColumnFamilyOptions {
  // Move the files into the database instead of copying them.
  bool move_files = false;
};

// Options of DB::GetApproximateSizes(). At least one of include_memtables and include_files must be
// true.
struct SizeApproximationOptions {
  bool include_memtables = false;
  bool include_files = true;
  bool include_blob_files = false;
  // Acceptable relative error, from 0 to 1; negative = as exact as possible. A hint without effect.
  double files_size_error_margin = -1.0;
};

// For DB::OpenAndCompact(): objects that the OPTIONS file cannot describe, and options_map with the
// names and values of options that override those of the OPTIONS file.
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

// Options of DB::OpenAndCompact().
struct OpenAndCompactOptions {
  // Another thread may set it to true to stop the compaction. nullptr = cannot be stopped this way.
  std::atomic<bool>* canceled = nullptr;
  // Continue a job that was interrupted. A hint without effect: such a job begins anew.
  bool allow_resumption = false;
};

// Options of DB::GetLiveFilesStorageInfo().
struct LiveFilesStorageInfoOptions {
  // Return the recorded checksum of each table too.
  bool include_checksum_info = false;
  // Flush first if the WALs hold at least this many bytes; 0 = always. With DBOptions::allow_2pc
  // the flush always happens.
  uint64_t wal_size_for_flush = 0;
  // If it flushes, flush all families together, as with DBOptions::atomic_flush.
  bool atomic_flush = false;
};

// Options of DB::WaitForCompact().
struct WaitForCompactOptions {
  // Return Aborted instead of waiting while background work is paused.
  bool abort_on_pause = false;
  // Flush all families before waiting.
  bool flush = false;
  // Also wait until obsolete files are deleted. A hint without effect: they always are.
  bool wait_for_purge = false;
  // Close the database afterwards, even if the flush has failed or there is a background error.
  bool close_db = false;
  // Return TimedOut after this long; zero = no limit.
  std::chrono::microseconds timeout = std::chrono::microseconds::zero();
};

}  // namespace ashlar
