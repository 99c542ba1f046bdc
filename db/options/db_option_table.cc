// SPDX-License-Identifier: Apache-2.0
//
// The options of the whole database. Those that only a program can give (env, loggers, listeners,
// statistics, rate limiter, write buffer manager) are honoured and have no row.
#include "db/options/option_table.h"
#include "db/options/other_names.h"

namespace ashlar {
namespace {

using Db = DBOptions;

constexpr OptionRow kRows[] = {
    Option<Db, &Db::create_if_missing>(
        {"create_if_missing", "make the DB when it does not exist; false gives InvalidArgument"}),
    Option<Db, &Db::create_missing_column_families>(
        {"create_missing_column_families", "create families named in Open that are missing"}),
    Option<Db, &Db::error_if_exists>({"error_if_exists", "fail when the DB exists"}),
    Option<Db, &Db::paranoid_checks>(
        {"paranoid_checks",
         "verify more while opening, and stop writes at the first sign of corruption"}),
    Option<Db, &Db::flush_verify_memtable_count>(
        {"flush_verify_memtable_count",
         "a flush that reads another number of entries than were inserted fails"}),
    Option<Db, &Db::compaction_verify_record_count>(
        {"compaction_verify_record_count", "count entries at compaction", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::track_and_verify_wals_in_manifest>(
        {"track_and_verify_wals_in_manifest",
         "record WALs in the MANIFEST in RocksDB's form, too; in our own always"}),
    Option<Db, &Db::track_and_verify_wals>(
        {"track_and_verify_wals", "each WAL says of its predecessor what RocksDB verifies, too",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::verify_sst_unique_id_in_manifest>(
        {"verify_sst_unique_id_in_manifest", "check SST ids when opened"}),
    ProgramOption<Db, &Db::sst_file_manager>(
        {"sst_file_manager", "tracks space, paces deletion, resumes after a full disk"}),
    Option<Db, &Db::info_log_level>({"info_log_level", "least severe messages that are logged",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_open_files>({"max_open_files",
                                     "table files kept open; -1 = all; changed to a limit, it "
                                     "holds for those opened from then on",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_file_opening_threads>({"max_file_opening_threads",
                                               "threads that open tables while the database is "
                                               "opened"}),
    Option<Db, &Db::read_io_executor_threads>({"read_io_executor_threads",
                                               "threads for GetAsync/MultiGetAsync", Support::kHint,
                                               TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::open_files_async>(
        {"open_files_async", "opening waits for no table: each is opened when it is read",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::max_total_wal_size>(
        {"max_total_wal_size",
         "bytes of WAL above which the families with the oldest unflushed data are flushed",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::use_fsync>({"use_fsync", "fsync instead of fdatasync"}),
    ProgramOption<Db, &Db::db_paths>(
        {"db_paths",
         "directories of tables with target sizes, four at most; empty = that of the "
         "database"}),
    Option<Db, &Db::db_log_dir>(
        {"db_log_dir", "directory of the info log; empty = that of the database"}),
    Option<Db, &Db::wal_dir>({"wal_dir", "directory of the WAL; empty = that of the database"}),
    Option<Db, &Db::delete_obsolete_files_period_micros>({"delete_obsolete_files_period_micros",
                                                          "full scan interval", Support::kHint,
                                                          TakesEffect::kDynamic}),
    Option<Db, &Db::max_background_jobs>(
        {"max_background_jobs",
         "threads for flushes and compactions together; a quarter of them is for flushes",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb78, 1, 1024}),
    Option<Db, &Db::max_background_compactions>({"max_background_compactions",
                                                 "older form: -1 = from max_background_jobs",
                                                 Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_subcompactions>({"max_subcompactions", "parallel parts of one compaction",
                                         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_background_flushes>({"max_background_flushes",
                                             "older form: -1 = from max_background_jobs",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::max_log_file_size>({"max_log_file_size", "info log rotation by size; 0 = off"}),
    Option<Db, &Db::log_file_time_to_roll>(
        {"log_file_time_to_roll", "info log rotation by seconds"}),
    Option<Db, &Db::keep_log_file_num>({"keep_log_file_num", "info logs kept"}),
    Option<Db, &Db::recycle_log_file_num>(
        {"recycle_log_file_num",
         "files of obsolete logs kept to be overwritten by new ones; 0 = each log is a new file"}),
    Option<Db, &Db::async_wal_precreate>({"async_wal_precreate", "create the next WAL ahead",
                                          Support::kHint, TakesEffect::kAtOpen,
                                          Since::kRocksDb119}),
    Option<Db, &Db::max_manifest_file_size>({"max_manifest_file_size",
                                             "bytes above which a new MANIFEST is begun",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::verify_manifest_content_on_close>(
        {"verify_manifest_content_on_close",
         "the MANIFEST is read at close, and written anew from memory if it is damaged",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Db, &Db::optimize_manifest_for_recovery>(
        {"optimize_manifest_for_recovery", "less recovery work after clean shutdown",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::reuse_manifest_on_open>({"reuse_manifest_on_open",
                                             "append to the existing manifest", Support::kHint,
                                             TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::max_manifest_space_amp_pct>({"max_manifest_space_amp_pct",
                                                 "auto-tuned manifest rotation", Support::kHint,
                                                 TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Db, &Db::table_cache_numshardbits>(
        {"table_cache_numshardbits", "shards of the table cache", Support::kHint}),
    Option<Db, &Db::WAL_ttl_seconds>(
        {"WAL_ttl_seconds", "keep logs that are not needed any more this long"}),
    Option<Db, &Db::WAL_size_limit_MB>(
        {"WAL_size_limit_MB", "keep logs that are not needed any more up to this size"}),
    Option<Db, &Db::manifest_preallocation_size>(
        {"manifest_preallocation_size", "bytes of disk space that a new MANIFEST reserves",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::allow_mmap_reads>({"allow_mmap_reads", "map tables into memory"}),
    Option<Db, &Db::allow_mmap_writes>({"allow_mmap_writes", "mmap writes", Support::kDefaultOnly}),
    Option<Db, &Db::use_direct_reads>(
        {"use_direct_reads", "tables are read past the page cache (O_DIRECT)"}),
    Option<Db, &Db::use_direct_io_for_compaction_reads>(
        {"use_direct_io_for_compaction_reads", "o_DIRECT only for compaction input",
         Support::kDefaultOnly, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::use_direct_io_for_flush_and_compaction>(
        {"use_direct_io_for_flush_and_compaction",
         "tables are written past the page cache (O_DIRECT)"}),
    Option<Db, &Db::allow_fallocate>({"allow_fallocate", "use fallocate"}),
    Option<Db, &Db::is_fd_close_on_exec>(
        {"is_fd_close_on_exec", "files are always closed on exec", Support::kHint}),
    Option<Db, &Db::stats_dump_period_sec>(
        {"stats_dump_period_sec",
         "seconds between dumps of the statistics into the info log; 0 = off", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Db, &Db::stats_persist_period_sec>({"stats_persist_period_sec",
                                               "seconds between looks for GetStatsHistory; 0 = off",
                                               Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::persist_stats_to_disk>(
        {"persist_stats_to_disk", "keep that history in a hidden family"}),
    Option<Db, &Db::stats_history_buffer_size>({"stats_history_buffer_size",
                                                "bytes of memory for what GetStatsHistory tells",
                                                Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::advise_random_on_open>({"advise_random_on_open",
                                            "tell the kernel that tables are read at random",
                                            Support::kHint}),
    Option<Db, &Db::db_write_buffer_size>(
        {"db_write_buffer_size", "bytes that all memtables together may hold; 0 = no limit",
         Support::kHonoured}),
    Option<Db, &Db::compaction_readahead_size>({"compaction_readahead_size",
                                                "how far a compaction reads ahead",
                                                Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::writable_file_max_buffer_size>({"writable_file_max_buffer_size",
                                                    "write buffer per file", Support::kHonoured,
                                                    TakesEffect::kDynamic}),
    Option<Db, &Db::use_adaptive_mutex>(
        {"use_adaptive_mutex", "spin before sleep", Support::kHint}),
    Option<Db, &Db::bytes_per_sync>({"bytes_per_sync", "incremental range sync of SSTs",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::wal_bytes_per_sync>({"wal_bytes_per_sync",
                                         "same for the WAL, from the next log on",
                                         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::strict_bytes_per_sync>({"strict_bytes_per_sync", "wait for earlier ranges",
                                            Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::enable_thread_tracking>(
        {"enable_thread_tracking", "Env::GetThreadList tells of flushes and compactions"}),
    Option<Db, &Db::delayed_write_rate>({"delayed_write_rate",
                                         "bytes/s when stalled; 0 = 16 MB/s or the rate limiter's",
                                         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::enable_pipelined_write>(
        {"enable_pipelined_write", "one commit pipeline serves all settings of this group",
         Support::kHint}),
    Option<Db, &Db::unordered_write>(
        {"unordered_write", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::allow_concurrent_memtable_write>(
        {"allow_concurrent_memtable_write", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::enable_write_thread_adaptive_yield>(
        {"enable_write_thread_adaptive_yield", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::max_write_batch_group_size_bytes>(
        {"max_write_batch_group_size_bytes", "group commit limit", Support::kHint}),
    Option<Db, &Db::write_thread_max_yield_usec>(
        {"write_thread_max_yield_usec", "spin limit", Support::kHint}),
    Option<Db, &Db::write_thread_slow_yield_usec>(
        {"write_thread_slow_yield_usec", "slow-yield threshold", Support::kHint}),
    Option<Db, &Db::skip_stats_update_on_db_open>(
        {"skip_stats_update_on_db_open", "do not load table properties at open", Support::kHint}),
    Option<Db, &Db::wal_recovery_mode>({"wal_recovery_mode", "see enum"}),
    Option<Db, &Db::allow_2pc>(
        {"allow_2pc", "keep prepared transactions at recovery", Support::kDefaultOnly}),
    ProgramOption<Db, &Db::row_cache>({"row_cache", "cache of whole entries, for point lookups"}),
    Option<Db, &Db::wal_filter>({"wal_filter", "hook at WAL replay"}),
    Option<Db, &Db::dump_malloc_stats>({"dump_malloc_stats", "with stats dump", Support::kHint}),
    Option<Db, &Db::avoid_flush_during_recovery>(
        {"avoid_flush_during_recovery", "keep recovered data in memtables"}),
    Option<Db, &Db::enforce_write_buffer_manager_during_recovery>(
        {"enforce_write_buffer_manager_during_recovery",
         "flush during replay when over the shared limit", Support::kHint, TakesEffect::kAtOpen,
         Since::kRocksDb119}),
    Option<Db, &Db::avoid_flush_during_shutdown>(
        {"avoid_flush_during_shutdown", "do not flush unpersisted (WAL-less) data at close",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Db, &Db::allow_ingest_behind>(
        {"allow_ingest_behind",
         "keep the last level, and all tombstones, for what ingest_behind brings"}),
    Option<Db, &Db::two_write_queues>(
        {"two_write_queues", "see enable_pipelined_write", Support::kHint}),
    Option<Db, &Db::manual_wal_flush>({"manual_wal_flush", "WAL only flushed by FlushWAL/SyncWAL"}),
    Option<Db, &Db::wal_compression>(
        {"wal_compression", "of the records of the WAL: kNoCompression or kZSTD"}),
    Option<Db, &Db::background_close_inactive_wals>({"background_close_inactive_wals",
                                                     "keep old WALs open longer", Support::kHint,
                                                     TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::atomic_flush>({"atomic_flush",
                                   "what no call asks for flushes all families together: a crash "
                                   "leaves all of it or nothing, "
                                   "of writes without a log too"}),
    Option<Db, &Db::avoid_unnecessary_blocking_io>({"avoid_unnecessary_blocking_io",
                                                    "leave file deletion to background threads",
                                                    Support::kHint}),
    Option<Db, &Db::write_dbid_to_manifest>(
        {"write_dbid_to_manifest", "record the identity of the database in the MANIFEST"}),
    Option<Db, &Db::write_identity_file>({"write_identity_file", "also write the IDENTITY file",
                                          Support::kHint, TakesEffect::kAtOpen,
                                          Since::kRocksDb119}),
    Option<Db, &Db::prefix_seek_opt_in_only>(
        {"prefix_seek_opt_in_only", "iterators use total order unless prefix mode is requested",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::log_readahead_size>(
        {"log_readahead_size", "readahead for WAL/manifest reading", Support::kHint}),
    Option<Db, &Db::file_checksum_gen_factory>(
        {"file_checksum_gen_factory", "makes checksums of whole files for the MANIFEST"}),
    Option<Db, &Db::best_efforts_recovery>(
        {"best_efforts_recovery",
         "open the newest state whose files are all there, from whatever MANIFEST is left"}),
    Option<Db, &Db::max_bgerror_resume_count>(
        {"max_bgerror_resume_count",
         "how often the database resumes by itself after an error that may go away"}),
    Option<Db, &Db::bgerror_resume_retry_interval>(
        {"bgerror_resume_retry_interval", "microseconds between these attempts"}),
    Option<Db, &Db::allow_data_in_errors>(
        {"allow_data_in_errors",
         "show keys in the messages of errors, of all databases of the process from then on"}),
    Option<Db, &Db::db_host_id>(
        {"db_host_id", "written to table properties; default is replaced by the host name"}),
    ProgramOption<Db, &Db::checksum_handoff_file_types>(
        {"checksum_handoff_file_types", "pass checksums to the file system", Support::kHint}),
    ProgramOption<Db, &Db::compaction_service>(
        {"compaction_service", "takes compactions to other processes"}),
    Option<Db, &Db::lowest_used_cache_tier>(
        {"lowest_used_cache_tier", "which cache tiers to use", Support::kHint}),
    Option<Db, &Db::enforce_single_del_contracts>(
        {"enforce_single_del_contracts", "fail compaction on SingleDelete misuse", Support::kHint}),
    Option<Db, &Db::daily_offpeak_time_utc>(
        {"daily_offpeak_time_utc", "\"HH:mm-HH:mm\" window for low-priority work", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Db, &Db::max_compaction_trigger_wakeup_seconds>(
        {"max_compaction_trigger_wakeup_seconds",
         "upper bound between time-based compaction checks", Support::kHint, TakesEffect::kAtOpen,
         Since::kRocksDb119}),
    Option<Db, &Db::follower_refresh_catchup_period_ms>({"follower_refresh_catchup_period_ms",
                                                         "follower mode", Support::kHint,
                                                         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::follower_catchup_retry_count>({"follower_catchup_retry_count", "follower mode",
                                                   Support::kHint, TakesEffect::kAtOpen,
                                                   Since::kRocksDb119}),
    Option<Db, &Db::follower_catchup_retry_wait_ms>({"follower_catchup_retry_wait_ms",
                                                     "follower mode", Support::kHint,
                                                     TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::metadata_write_temperature>({"metadata_write_temperature",
                                                 "tier for manifest etc", Support::kHint,
                                                 TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::wal_write_temperature>({"wal_write_temperature", "tier for WAL", Support::kHint,
                                            TakesEffect::kAtOpen, Since::kRocksDb119}),
    ProgramOption<Db, &Db::calculate_sst_write_lifetime_hint_set>(
        {"calculate_sst_write_lifetime_hint_set", "compaction styles that set write-lifetime hints",
         Support::kHint}),
    Option<Db, &Db::fast_sst_open>({"fast_sst_open", "remember file-system metadata of SSTs",
                                    Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Db, &Db::write_compatible_with>({"write_compatible_with",
                                            "ashlar's own: the oldest RocksDB that must be able to "
                                            "read what is written; empty: that of "
                                            "the directory's newest OPTIONS file",
                                            Support::kSomeValues, TakesEffect::kAtOpen,
                                            Since::kAshlar}),
    // Not members, or not by that name.
    TextOption({"env", "the environment, by name: only the machine's own has one"}, ParseEnv),
    TextOption({"listeners", "as text: none can be made by name, and those of the program stay"},
               ParseListeners),
    TextOption({"statistics", "BasicStatistics"}, ParseStatistics),
    TextOption({"rate_limiter_bytes_per_sec", "makes a rate_limiter"}, ParseRateLimit),
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
