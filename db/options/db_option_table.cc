// SPDX-License-Identifier: Apache-2.0
//
// The options of the whole database. Options that only a program can set (env, loggers, listeners,
// statistics, rate limiter, write buffer manager) are used and have no row.
//
// The order of the rows is the order of the lines in an OPTIONS file and in the info log, so a new
// row goes to the end of its group. A row without a remark on support is honoured, and takes effect
// when the database is opened. Options with Since::kRocksDb119 are left out of files for RocksDB
// 7.8.
#include "db/options/option_table.h"
#include "db/options/other_names.h"

namespace ashlar {
namespace {

using Db = DBOptions;

constexpr OptionRow kRows[] = {
    // Opening, and what is verified.
    Option<Db, &Db::create_if_missing>({"create_if_missing",
                                        "create the database if it does not exist; if false, "
                                        "opening a missing database fails with InvalidArgument"}),
    Option<Db, &Db::create_missing_column_families>(
        {"create_missing_column_families",
         "create the families that are named in DB::Open() and do not exist"}),
    Option<Db, &Db::error_if_exists>(
        {"error_if_exists", "fail with InvalidArgument if the database exists"}),
    Option<Db, &Db::paranoid_checks>(
        {"paranoid_checks",
         "verify more while opening, and stop writes at the first sign of corruption"}),
    Option<Db, &Db::flush_verify_memtable_count>(
        {"flush_verify_memtable_count",
         "a flush fails if it reads a different number of entries than were inserted"}),
    Option<Db, &Db::compaction_verify_record_count>(
        {"compaction_verify_record_count",
         "a compaction fails if it reads a different number of entries than the table's properties "
         "say",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::track_and_verify_wals_in_manifest>(
        {"track_and_verify_wals_in_manifest",
         "record WALs in the MANIFEST in RocksDB's form too; Ashlar's own form is always written"}),
    Option<Db, &Db::track_and_verify_wals>(
        {"track_and_verify_wals",
         "each WAL records facts about the previous one in the form that RocksDB verifies",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::verify_sst_unique_id_in_manifest>(
        {"verify_sst_unique_id_in_manifest",
         "compare the unique id of a table with the MANIFEST when it is opened"}),
    ProgramOption<Db, &Db::sst_file_manager>(
        {"sst_file_manager",
         "tracks disk space, limits the rate of file deletion, resumes after a full disk"}),
    // The info log, and open files.
    Option<Db, &Db::info_log_level>({"info_log_level", "messages below this level are not logged",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_open_files>({"max_open_files",
                                     "number of table files that may be open; -1 = no limit; a new "
                                     "limit applies to tables that are opened later",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_file_opening_threads>(
        {"max_file_opening_threads", "threads that open tables while the database is opened"}),
    Option<Db, &Db::read_io_executor_threads>(
        {"read_io_executor_threads", "number of threads for GetAsync() and MultiGetAsync()",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::open_files_async>(
        {"open_files_async",
         "do not open tables while the database is opened, but when they are first read",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    // Logs, and the directories of files.
    Option<Db, &Db::max_total_wal_size>(
        {"max_total_wal_size",
         "total bytes of WAL above which the families with the oldest unflushed data are flushed; "
         "0 = chosen automatically",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::use_fsync>({"use_fsync", "use fsync() instead of fdatasync()"}),
    ProgramOption<Db, &Db::db_paths>({"db_paths",
                                      "up to four directories for tables, with target sizes; empty "
                                      "= the directory of the database"}),
    Option<Db, &Db::db_log_dir>(
        {"db_log_dir", "directory of the info log; empty = the directory of the database"}),
    Option<Db, &Db::wal_dir>(
        {"wal_dir", "directory of the WALs; empty = the directory of the database"}),
    Option<Db, &Db::delete_obsolete_files_period_micros>(
        {"delete_obsolete_files_period_micros",
         "microseconds between full scans for obsolete files", Support::kHint,
         TakesEffect::kDynamic}),
    // Background jobs. The two older options and max_background_jobs are combined by
    // GetBackgroundJobLimits().
    Option<Db, &Db::max_background_jobs>({"max_background_jobs",
                                          "number of flushes and compactions that may run at the "
                                          "same time; a quarter of them is for flushes",
                                          Support::kHonoured, TakesEffect::kDynamic,
                                          Since::kRocksDb78, 0, 1024}),
    Option<Db, &Db::max_background_compactions>(
        {"max_background_compactions",
         "older form of max_background_jobs, for compactions; -1 = derived from "
         "max_background_jobs",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_subcompactions>({"max_subcompactions",
                                         "number of parallel parts of one compaction",
                                         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_background_flushes>(
        {"max_background_flushes",
         "older form of max_background_jobs, for flushes; -1 = derived from max_background_jobs",
         Support::kHonoured, TakesEffect::kDynamic}),
    // Files of the info log, recycled logs, and the MANIFEST.
    Option<Db, &Db::max_log_file_size>(
        {"max_log_file_size", "bytes after which a new info log file begins; 0 = no limit"}),
    Option<Db, &Db::log_file_time_to_roll>(
        {"log_file_time_to_roll", "seconds after which a new info log file begins; 0 = no limit"}),
    Option<Db, &Db::keep_log_file_num>(
        {"keep_log_file_num", "number of info log files that are kept"}),
    Option<Db, &Db::recycle_log_file_num>(
        {"recycle_log_file_num",
         "number of obsolete WAL files that are kept to be overwritten by new WALs; 0 = none"}),
    Option<Db, &Db::async_wal_precreate>({"async_wal_precreate", "create the next WAL in advance",
                                          Support::kHint, TakesEffect::kAtOpen,
                                          Since::kRocksDb119}),
    Option<Db, &Db::max_manifest_file_size>({"max_manifest_file_size",
                                             "bytes after which a new MANIFEST is begun",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::verify_manifest_content_on_close>(
        {"verify_manifest_content_on_close",
         "read the MANIFEST back at close, and write it anew if it is damaged", Support::kHonoured,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Db, &Db::optimize_manifest_for_recovery>(
        {"optimize_manifest_for_recovery", "reduce the work of recovery after a clean shutdown",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::reuse_manifest_on_open>({"reuse_manifest_on_open",
                                             "append to the existing MANIFEST", Support::kHint,
                                             TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::max_manifest_space_amp_pct>(
        {"max_manifest_space_amp_pct",
         "begin a new MANIFEST depending on how much of the current one is obsolete",
         Support::kHint, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Db, &Db::table_cache_numshardbits>(
        {"table_cache_numshardbits", "number of shards of the table cache, as a power of two",
         Support::kHint}),
    Option<Db, &Db::WAL_ttl_seconds>(
        {"WAL_ttl_seconds", "seconds for which WALs that recovery does not need are archived"}),
    Option<Db, &Db::WAL_size_limit_MB>(
        {"WAL_size_limit_MB",
         "total MiB of WALs that recovery does not need and that are archived"}),
    Option<Db, &Db::manifest_preallocation_size>(
        {"manifest_preallocation_size", "bytes of disk space that are reserved for a new MANIFEST",
         Support::kHonoured, TakesEffect::kDynamic}),
    // How files are read and written.
    Option<Db, &Db::allow_mmap_reads>({"allow_mmap_reads", "read tables through memory maps"}),
    Option<Db, &Db::allow_mmap_writes>({"allow_mmap_writes",
                                        "have the file system write tables through memory maps",
                                        Support::kHint}),
    Option<Db, &Db::use_direct_reads>(
        {"use_direct_reads", "read tables without the page cache (O_DIRECT)"}),
    Option<Db, &Db::use_direct_io_for_compaction_reads>(
        {"use_direct_io_for_compaction_reads", "use O_DIRECT for the inputs of compactions only",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::use_direct_io_for_flush_and_compaction>(
        {"use_direct_io_for_flush_and_compaction",
         "write tables without the page cache (O_DIRECT)"}),
    Option<Db, &Db::allow_fallocate>(
        {"allow_fallocate", "reserve disk space for new files with fallocate()"}),
    Option<Db, &Db::is_fd_close_on_exec>({"is_fd_close_on_exec",
                                          "close files when the process calls exec(); always done",
                                          Support::kHint}),
    // Statistics.
    Option<Db, &Db::stats_dump_period_sec>(
        {"stats_dump_period_sec",
         "seconds between dumps of the statistics to the info log; 0 = no dumps",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::stats_persist_period_sec>(
        {"stats_persist_period_sec",
         "seconds between samples for GetStatsHistory(); 0 = no samples", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Db, &Db::persist_stats_to_disk>(
        {"persist_stats_to_disk", "store these samples in a hidden family"}),
    Option<Db, &Db::stats_history_buffer_size>({"stats_history_buffer_size",
                                                "bytes of memory for these samples",
                                                Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::advise_random_on_open>({"advise_random_on_open",
                                            "advise the kernel that tables are read at random",
                                            Support::kHint}),
    // Memory, buffers and syncs, in bytes.
    Option<Db, &Db::db_write_buffer_size>(
        {"db_write_buffer_size", "bytes that all memtables together may hold; 0 = no limit",
         Support::kHonoured}),
    Option<Db, &Db::memory_limit>(
        {"memory_limit",
         "Ashlar's own option: bytes of memory that the database may use in all; 0 = no such limit",
         Support::kHonoured, TakesEffect::kDynamic, Since::kAshlar}),
    Option<Db, &Db::compaction_readahead_size>({"compaction_readahead_size",
                                                "bytes that a compaction reads ahead",
                                                Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::writable_file_max_buffer_size>(
        {"writable_file_max_buffer_size", "size of the write buffer of each file in bytes",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::use_adaptive_mutex>(
        {"use_adaptive_mutex", "spin before sleeping on a mutex", Support::kHint}),
    Option<Db, &Db::bytes_per_sync>(
        {"bytes_per_sync",
         "ask the kernel to write tables to the device after each so many bytes; 0 = when finished",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::wal_bytes_per_sync>({"wal_bytes_per_sync",
                                         "the same for WALs, beginning with the next WAL",
                                         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::strict_bytes_per_sync>(
        {"strict_bytes_per_sync",
         "wait until the previous range is on the device before asking for the next one",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::enable_thread_tracking>(
        {"enable_thread_tracking", "show flushes and compactions in Env::GetThreadList()"}),
    // Writes. Options that choose between RocksDB's write paths have no effect, as there is one
    // path.
    Option<Db, &Db::delayed_write_rate>(
        {"delayed_write_rate",
         "bytes per second of writes that are slowed down; 0 = 16 MiB, or the rate of rate_limiter",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::enable_pipelined_write>(
        {"enable_pipelined_write", "selects one of RocksDB's write paths; Ashlar has only one",
         Support::kHint}),
    Option<Db, &Db::unordered_write>(
        {"unordered_write", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::allow_concurrent_memtable_write>(
        {"allow_concurrent_memtable_write", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::enable_write_thread_adaptive_yield>(
        {"enable_write_thread_adaptive_yield", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::max_write_batch_group_size_bytes>(
        {"max_write_batch_group_size_bytes", "limit of a group commit in bytes", Support::kHint}),
    Option<Db, &Db::write_thread_max_yield_usec>({"write_thread_max_yield_usec",
                                                  "microseconds that a waiting writer spins",
                                                  Support::kHint}),
    Option<Db, &Db::write_thread_slow_yield_usec>(
        {"write_thread_slow_yield_usec", "microseconds after which a yield counts as slow",
         Support::kHint}),
    Option<Db, &Db::skip_stats_update_on_db_open>({"skip_stats_update_on_db_open",
                                                   "do not load table properties while opening",
                                                   Support::kHint}),
    // Recovery, closing, and how logs are written.
    Option<Db, &Db::wal_recovery_mode>(
        {"wal_recovery_mode", "how recovery treats damaged WALs; see WALRecoveryMode"}),
    Option<Db, &Db::allow_2pc>({"allow_2pc", "keep prepared transactions during recovery"}),
    ProgramOption<Db, &Db::row_cache>(
        {"row_cache", "cache for the results of point lookups in tables"}),
    Option<Db, &Db::wal_filter>(
        {"wal_filter", "inspects and changes batches when the WAL is replayed"}),
    Option<Db, &Db::dump_malloc_stats>(
        {"dump_malloc_stats", "add statistics of malloc to the statistics dump", Support::kHint}),
    Option<Db, &Db::avoid_flush_during_recovery>(
        {"avoid_flush_during_recovery", "keep recovered data in memtables instead of flushing it"}),
    Option<Db, &Db::enforce_write_buffer_manager_during_recovery>(
        {"enforce_write_buffer_manager_during_recovery",
         "flush during replay if the shared memory limit is exceeded", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::avoid_flush_during_shutdown>(
        {"avoid_flush_during_shutdown",
         "do not flush data that was written with disableWAL when the database is closed",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::allow_ingest_behind>({"allow_ingest_behind",
                                          "reserve the last level for files that are ingested with "
                                          "ingest_behind, and keep all tombstones"}),
    Option<Db, &Db::two_write_queues>(
        {"two_write_queues", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::manual_wal_flush>(
        {"manual_wal_flush",
         "write the WAL to its file only when FlushWAL() or SyncWAL() is called"}),
    Option<Db, &Db::wal_compression>(
        {"wal_compression", "compression of WAL records: kNoCompression or kZSTD"}),
    Option<Db, &Db::background_close_inactive_wals>(
        {"background_close_inactive_wals",
         "close WALs that are no longer written in the background", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::atomic_flush>(
        {"atomic_flush",
         "flush all families together, so that a crash leaves all of this data or none"}),
    Option<Db, &Db::avoid_unnecessary_blocking_io>({"avoid_unnecessary_blocking_io",
                                                    "delete files in background threads only",
                                                    Support::kHint}),
    Option<Db, &Db::write_dbid_to_manifest>(
        {"write_dbid_to_manifest", "record the id of the database in the MANIFEST"}),
    Option<Db, &Db::write_identity_file>({"write_identity_file", "write the file IDENTITY too",
                                          Support::kHint, TakesEffect::kAtOpen,
                                          Since::kRocksDb119}),
    Option<Db, &Db::prefix_seek_opt_in_only>(
        {"prefix_seek_opt_in_only", "iterators use the total order unless they ask for prefix mode",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::log_readahead_size>(
        {"log_readahead_size", "bytes to read ahead in WALs and the MANIFEST", Support::kHint}),
    // Checksums of files, errors in the background, and texts of errors.
    Option<Db, &Db::file_checksum_gen_factory>(
        {"file_checksum_gen_factory",
         "makes checksums of whole files, which the MANIFEST records"}),
    Option<Db, &Db::best_efforts_recovery>(
        {"best_efforts_recovery",
         "if files are missing, open the newest state whose files are all there"}),
    Option<Db, &Db::max_bgerror_resume_count>(
        {"max_bgerror_resume_count",
         "how often the database tries to resume by itself after an error that may go away"}),
    Option<Db, &Db::bgerror_resume_retry_interval>(
        {"bgerror_resume_retry_interval", "microseconds between these attempts"}),
    Option<Db, &Db::allow_data_in_errors>(
        {"allow_data_in_errors",
         "show keys in error messages; holds for the whole process once a database has it"}),
    Option<Db, &Db::db_host_id>(
        {"db_host_id",
         "identifies the machine in table properties; the default is replaced by the host name"}),
    ProgramOption<Db, &Db::checksum_handoff_file_types>(
        {"checksum_handoff_file_types",
         "types of files whose checksums are passed to the file system", Support::kHint}),
    ProgramOption<Db, &Db::compaction_service>(
        {"compaction_service", "runs compactions in other processes"}),
    Option<Db, &Db::lowest_used_cache_tier>(
        {"lowest_used_cache_tier", "the lowest cache tier to use", Support::kHint}),
    Option<Db, &Db::enforce_single_del_contracts>(
        {"enforce_single_del_contracts",
         "fail a compaction that detects wrong use of SingleDelete()", Support::kHint}),
    Option<Db, &Db::daily_offpeak_time_utc>(
        {"daily_offpeak_time_utc", "daily window for low-priority work, as \"HH:mm-HH:mm\"",
         Support::kHint, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Db, &Db::max_compaction_trigger_wakeup_seconds>(
        {"max_compaction_trigger_wakeup_seconds",
         "seconds between checks for compactions that depend on time", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    // Followers, storage tiers, and our own option.
    Option<Db, &Db::follower_refresh_catchup_period_ms>(
        {"follower_refresh_catchup_period_ms", "milliseconds between refreshes of a follower",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::follower_catchup_retry_count>(
        {"follower_catchup_retry_count", "how often a follower retries to catch up",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::follower_catchup_retry_wait_ms>(
        {"follower_catchup_retry_wait_ms", "milliseconds between these retries", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::metadata_write_temperature>(
        {"metadata_write_temperature",
         "storage tier of MANIFEST, CURRENT, OPTIONS and IDENTITY files", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::wal_write_temperature>({"wal_write_temperature", "storage tier of WALs",
                                            Support::kHonoured, TakesEffect::kAtOpen,
                                            Since::kRocksDb119}),
    ProgramOption<Db, &Db::calculate_sst_write_lifetime_hint_set>(
        {"calculate_sst_write_lifetime_hint_set",
         "compaction styles whose tables get a write-lifetime hint", Support::kHint}),
    Option<Db, &Db::fast_sst_open>({"fast_sst_open",
                                    "store metadata of the file system with each table",
                                    Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::write_compatible_with>(
        {"write_compatible_with",
         "Ashlar's own option: the oldest RocksDB that must be able to read what is written; empty "
         "= as the newest OPTIONS file says",
         Support::kSomeValues, TakesEffect::kAtOpen, Since::kAshlar}),
    // Names that are not members, or other names of members.
    TextOption({"env", "the environment, by name; only the default environment has a name"},
               ParseEnv),
    TextOption({"listeners", "cannot be set as text; the listeners of the program stay"},
               ParseListeners),
    TextOption({"statistics", "creates a Statistics object by name: BasicStatistics"},
               ParseStatistics),
    TextOption({"rate_limiter_bytes_per_sec", "creates a rate_limiter with this rate"},
               ParseRateLimit),
    // Names of older releases. OPTIONS files of these releases have them, so they must be accepted.
    RetiredOption("access_hint_on_compaction_start"),
    RetiredOption("allow_os_buffer", TakesEffect::kDynamic),
    RetiredOption("base_background_compactions", TakesEffect::kDynamic),
    RetiredOption("concurrent_prepare"),
    RetiredOption("disableDataSync"),
    RetiredOption("disable_data_sync"),
    RetiredOption("experimental_allow_mempurge"),
    RetiredOption("experimental_mempurge_policy"),
    RetiredOption("experimental_mempurge_threshold"),
    RetiredOption("fail_if_options_file_error"),
    RetiredOption("new_table_reader_for_compaction_inputs"),
    RetiredOption("preserve_deletes"),
    RetiredOption("random_access_max_buffer_size"),
    RetiredOption("rate_limiter"),
    RetiredOption("seq_per_batch"),
    RetiredOption("skip_checking_sst_file_sizes_on_db_open"),
    RetiredOption("skip_log_error_on_recovery"),
    RetiredOption("use_direct_writes"),
};

}  // namespace

OptionTable DbOptionTable() { return kRows; }

}  // namespace ashlar
