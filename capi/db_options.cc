// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of a database. Made by tools/make_c_options.py.
#include "ashlar/c/db_options.h"

#include "capi/members.h"
#include "capi/option_handles.h"

using ashlar::capi::Get;
using ashlar::capi::Set;

// One line for each function.
// clang-format off

// ---- DBOptions

void ashlar_options_set_create_if_missing(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.create_if_missing, v); }
unsigned char ashlar_options_get_create_if_missing(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.create_if_missing); }
void ashlar_options_set_create_missing_column_families(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.create_missing_column_families, v); }
unsigned char ashlar_options_get_create_missing_column_families(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.create_missing_column_families); }
void ashlar_options_set_error_if_exists(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.error_if_exists, v); }
unsigned char ashlar_options_get_error_if_exists(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.error_if_exists); }
void ashlar_options_set_paranoid_checks(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.paranoid_checks, v); }
unsigned char ashlar_options_get_paranoid_checks(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.paranoid_checks); }
void ashlar_options_set_flush_verify_memtable_count(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.flush_verify_memtable_count, v); }
unsigned char ashlar_options_get_flush_verify_memtable_count(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.flush_verify_memtable_count); }
void ashlar_options_set_compaction_verify_record_count(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.compaction_verify_record_count, v); }
unsigned char ashlar_options_get_compaction_verify_record_count(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.compaction_verify_record_count); }
void ashlar_options_set_track_and_verify_wals_in_manifest(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.track_and_verify_wals_in_manifest, v); }
unsigned char ashlar_options_get_track_and_verify_wals_in_manifest(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.track_and_verify_wals_in_manifest); }
void ashlar_options_set_track_and_verify_wals(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.track_and_verify_wals, v); }
unsigned char ashlar_options_get_track_and_verify_wals(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.track_and_verify_wals); }
void ashlar_options_set_verify_sst_unique_id_in_manifest(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.verify_sst_unique_id_in_manifest, v); }
unsigned char ashlar_options_get_verify_sst_unique_id_in_manifest(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.verify_sst_unique_id_in_manifest); }
void ashlar_options_set_info_log_level(ashlar_options_t* opt, int v) { Set(opt->rep.info_log_level, v); }
int ashlar_options_get_info_log_level(ashlar_options_t* opt) { return Get<int>(opt->rep.info_log_level); }
void ashlar_options_set_max_open_files(ashlar_options_t* opt, int v) { Set(opt->rep.max_open_files, v); }
int ashlar_options_get_max_open_files(ashlar_options_t* opt) { return Get<int>(opt->rep.max_open_files); }
void ashlar_options_set_max_file_opening_threads(ashlar_options_t* opt, int v) { Set(opt->rep.max_file_opening_threads, v); }
int ashlar_options_get_max_file_opening_threads(ashlar_options_t* opt) { return Get<int>(opt->rep.max_file_opening_threads); }
void ashlar_options_set_read_io_executor_threads(ashlar_options_t* opt, int v) { Set(opt->rep.read_io_executor_threads, v); }
int ashlar_options_get_read_io_executor_threads(ashlar_options_t* opt) { return Get<int>(opt->rep.read_io_executor_threads); }
void ashlar_options_set_open_files_async(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.open_files_async, v); }
unsigned char ashlar_options_get_open_files_async(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.open_files_async); }
void ashlar_options_set_max_total_wal_size(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.max_total_wal_size, v); }
uint64_t ashlar_options_get_max_total_wal_size(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.max_total_wal_size); }
void ashlar_options_set_use_fsync(ashlar_options_t* opt, int v) { Set(opt->rep.use_fsync, v); }
int ashlar_options_get_use_fsync(ashlar_options_t* opt) { return Get<int>(opt->rep.use_fsync); }
void ashlar_options_set_db_log_dir(ashlar_options_t* opt, const char* v) { Set(opt->rep.db_log_dir, v); }
const char* ashlar_options_get_db_log_dir(ashlar_options_t* opt, size_t* size) { return Get(opt->rep.db_log_dir, size); }
void ashlar_options_set_wal_dir(ashlar_options_t* opt, const char* v) { Set(opt->rep.wal_dir, v); }
const char* ashlar_options_get_wal_dir(ashlar_options_t* opt, size_t* size) { return Get(opt->rep.wal_dir, size); }
void ashlar_options_set_delete_obsolete_files_period_micros(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.delete_obsolete_files_period_micros, v); }
uint64_t ashlar_options_get_delete_obsolete_files_period_micros(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.delete_obsolete_files_period_micros); }
void ashlar_options_set_max_background_jobs(ashlar_options_t* opt, int v) { Set(opt->rep.max_background_jobs, v); }
int ashlar_options_get_max_background_jobs(ashlar_options_t* opt) { return Get<int>(opt->rep.max_background_jobs); }
void ashlar_options_set_max_background_compactions(ashlar_options_t* opt, int v) { Set(opt->rep.max_background_compactions, v); }
int ashlar_options_get_max_background_compactions(ashlar_options_t* opt) { return Get<int>(opt->rep.max_background_compactions); }
void ashlar_options_set_max_subcompactions(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.max_subcompactions, v); }
uint32_t ashlar_options_get_max_subcompactions(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.max_subcompactions); }
void ashlar_options_set_max_background_flushes(ashlar_options_t* opt, int v) { Set(opt->rep.max_background_flushes, v); }
int ashlar_options_get_max_background_flushes(ashlar_options_t* opt) { return Get<int>(opt->rep.max_background_flushes); }
void ashlar_options_set_max_log_file_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.max_log_file_size, v); }
size_t ashlar_options_get_max_log_file_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.max_log_file_size); }
void ashlar_options_set_log_file_time_to_roll(ashlar_options_t* opt, size_t v) { Set(opt->rep.log_file_time_to_roll, v); }
size_t ashlar_options_get_log_file_time_to_roll(ashlar_options_t* opt) { return Get<size_t>(opt->rep.log_file_time_to_roll); }
void ashlar_options_set_keep_log_file_num(ashlar_options_t* opt, size_t v) { Set(opt->rep.keep_log_file_num, v); }
size_t ashlar_options_get_keep_log_file_num(ashlar_options_t* opt) { return Get<size_t>(opt->rep.keep_log_file_num); }
void ashlar_options_set_recycle_log_file_num(ashlar_options_t* opt, size_t v) { Set(opt->rep.recycle_log_file_num, v); }
size_t ashlar_options_get_recycle_log_file_num(ashlar_options_t* opt) { return Get<size_t>(opt->rep.recycle_log_file_num); }
void ashlar_options_set_async_wal_precreate(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.async_wal_precreate, v); }
unsigned char ashlar_options_get_async_wal_precreate(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.async_wal_precreate); }
void ashlar_options_set_max_manifest_file_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.max_manifest_file_size, v); }
size_t ashlar_options_get_max_manifest_file_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.max_manifest_file_size); }
void ashlar_options_set_verify_manifest_content_on_close(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.verify_manifest_content_on_close, v); }
unsigned char ashlar_options_get_verify_manifest_content_on_close(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.verify_manifest_content_on_close); }
void ashlar_options_set_optimize_manifest_for_recovery(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.optimize_manifest_for_recovery, v); }
unsigned char ashlar_options_get_optimize_manifest_for_recovery(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.optimize_manifest_for_recovery); }
void ashlar_options_set_reuse_manifest_on_open(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.reuse_manifest_on_open, v); }
unsigned char ashlar_options_get_reuse_manifest_on_open(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.reuse_manifest_on_open); }
void ashlar_options_set_max_manifest_space_amp_pct(ashlar_options_t* opt, int v) { Set(opt->rep.max_manifest_space_amp_pct, v); }
int ashlar_options_get_max_manifest_space_amp_pct(ashlar_options_t* opt) { return Get<int>(opt->rep.max_manifest_space_amp_pct); }
void ashlar_options_set_table_cache_numshardbits(ashlar_options_t* opt, int v) { Set(opt->rep.table_cache_numshardbits, v); }
int ashlar_options_get_table_cache_numshardbits(ashlar_options_t* opt) { return Get<int>(opt->rep.table_cache_numshardbits); }
void ashlar_options_set_WAL_ttl_seconds(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.WAL_ttl_seconds, v); }
uint64_t ashlar_options_get_WAL_ttl_seconds(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.WAL_ttl_seconds); }
void ashlar_options_set_WAL_size_limit_MB(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.WAL_size_limit_MB, v); }
uint64_t ashlar_options_get_WAL_size_limit_MB(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.WAL_size_limit_MB); }
void ashlar_options_set_manifest_preallocation_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.manifest_preallocation_size, v); }
size_t ashlar_options_get_manifest_preallocation_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.manifest_preallocation_size); }
void ashlar_options_set_allow_mmap_reads(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_mmap_reads, v); }
unsigned char ashlar_options_get_allow_mmap_reads(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_mmap_reads); }
void ashlar_options_set_allow_mmap_writes(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_mmap_writes, v); }
unsigned char ashlar_options_get_allow_mmap_writes(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_mmap_writes); }
void ashlar_options_set_use_direct_reads(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.use_direct_reads, v); }
unsigned char ashlar_options_get_use_direct_reads(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.use_direct_reads); }
void ashlar_options_set_use_direct_io_for_compaction_reads(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.use_direct_io_for_compaction_reads, v); }
unsigned char ashlar_options_get_use_direct_io_for_compaction_reads(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.use_direct_io_for_compaction_reads); }
void ashlar_options_set_use_direct_io_for_flush_and_compaction(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.use_direct_io_for_flush_and_compaction, v); }
unsigned char ashlar_options_get_use_direct_io_for_flush_and_compaction(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.use_direct_io_for_flush_and_compaction); }
void ashlar_options_set_allow_fallocate(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_fallocate, v); }
unsigned char ashlar_options_get_allow_fallocate(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_fallocate); }
void ashlar_options_set_is_fd_close_on_exec(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.is_fd_close_on_exec, v); }
unsigned char ashlar_options_get_is_fd_close_on_exec(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.is_fd_close_on_exec); }
void ashlar_options_set_stats_dump_period_sec(ashlar_options_t* opt, unsigned int v) { Set(opt->rep.stats_dump_period_sec, v); }
unsigned int ashlar_options_get_stats_dump_period_sec(ashlar_options_t* opt) { return Get<unsigned int>(opt->rep.stats_dump_period_sec); }
void ashlar_options_set_stats_persist_period_sec(ashlar_options_t* opt, unsigned int v) { Set(opt->rep.stats_persist_period_sec, v); }
unsigned int ashlar_options_get_stats_persist_period_sec(ashlar_options_t* opt) { return Get<unsigned int>(opt->rep.stats_persist_period_sec); }
void ashlar_options_set_persist_stats_to_disk(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.persist_stats_to_disk, v); }
unsigned char ashlar_options_get_persist_stats_to_disk(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.persist_stats_to_disk); }
void ashlar_options_set_stats_history_buffer_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.stats_history_buffer_size, v); }
size_t ashlar_options_get_stats_history_buffer_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.stats_history_buffer_size); }
void ashlar_options_set_advise_random_on_open(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.advise_random_on_open, v); }
unsigned char ashlar_options_get_advise_random_on_open(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.advise_random_on_open); }
void ashlar_options_set_db_write_buffer_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.db_write_buffer_size, v); }
size_t ashlar_options_get_db_write_buffer_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.db_write_buffer_size); }
void ashlar_options_set_memory_limit(ashlar_options_t* opt, size_t v) { Set(opt->rep.memory_limit, v); }
size_t ashlar_options_get_memory_limit(ashlar_options_t* opt) { return Get<size_t>(opt->rep.memory_limit); }
void ashlar_options_compaction_readahead_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.compaction_readahead_size, v); }
size_t ashlar_options_get_compaction_readahead_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.compaction_readahead_size); }
void ashlar_options_set_writable_file_max_buffer_size(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.writable_file_max_buffer_size, v); }
uint64_t ashlar_options_get_writable_file_max_buffer_size(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.writable_file_max_buffer_size); }
void ashlar_options_set_use_adaptive_mutex(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.use_adaptive_mutex, v); }
unsigned char ashlar_options_get_use_adaptive_mutex(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.use_adaptive_mutex); }
void ashlar_options_set_bytes_per_sync(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.bytes_per_sync, v); }
uint64_t ashlar_options_get_bytes_per_sync(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.bytes_per_sync); }
void ashlar_options_set_wal_bytes_per_sync(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.wal_bytes_per_sync, v); }
uint64_t ashlar_options_get_wal_bytes_per_sync(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.wal_bytes_per_sync); }
void ashlar_options_set_strict_bytes_per_sync(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.strict_bytes_per_sync, v); }
unsigned char ashlar_options_get_strict_bytes_per_sync(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.strict_bytes_per_sync); }
void ashlar_options_set_enable_thread_tracking(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enable_thread_tracking, v); }
unsigned char ashlar_options_get_enable_thread_tracking(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enable_thread_tracking); }
void ashlar_options_set_delayed_write_rate(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.delayed_write_rate, v); }
uint64_t ashlar_options_get_delayed_write_rate(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.delayed_write_rate); }
void ashlar_options_set_enable_pipelined_write(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enable_pipelined_write, v); }
unsigned char ashlar_options_get_enable_pipelined_write(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enable_pipelined_write); }
void ashlar_options_set_unordered_write(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.unordered_write, v); }
unsigned char ashlar_options_get_unordered_write(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.unordered_write); }
void ashlar_options_set_allow_concurrent_memtable_write(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_concurrent_memtable_write, v); }
unsigned char ashlar_options_get_allow_concurrent_memtable_write(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_concurrent_memtable_write); }
void ashlar_options_set_enable_write_thread_adaptive_yield(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enable_write_thread_adaptive_yield, v); }
unsigned char ashlar_options_get_enable_write_thread_adaptive_yield(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enable_write_thread_adaptive_yield); }
void ashlar_options_set_max_write_batch_group_size_bytes(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.max_write_batch_group_size_bytes, v); }
uint64_t ashlar_options_get_max_write_batch_group_size_bytes(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.max_write_batch_group_size_bytes); }
void ashlar_options_set_write_thread_max_yield_usec(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.write_thread_max_yield_usec, v); }
uint64_t ashlar_options_get_write_thread_max_yield_usec(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.write_thread_max_yield_usec); }
void ashlar_options_set_write_thread_slow_yield_usec(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.write_thread_slow_yield_usec, v); }
uint64_t ashlar_options_get_write_thread_slow_yield_usec(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.write_thread_slow_yield_usec); }
void ashlar_options_set_skip_stats_update_on_db_open(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.skip_stats_update_on_db_open, v); }
unsigned char ashlar_options_get_skip_stats_update_on_db_open(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.skip_stats_update_on_db_open); }
void ashlar_options_set_wal_recovery_mode(ashlar_options_t* opt, int v) { Set(opt->rep.wal_recovery_mode, v); }
int ashlar_options_get_wal_recovery_mode(ashlar_options_t* opt) { return Get<int>(opt->rep.wal_recovery_mode); }
void ashlar_options_set_allow_2pc(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_2pc, v); }
unsigned char ashlar_options_get_allow_2pc(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_2pc); }
void ashlar_options_set_dump_malloc_stats(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.dump_malloc_stats, v); }
unsigned char ashlar_options_get_dump_malloc_stats(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.dump_malloc_stats); }
void ashlar_options_set_avoid_flush_during_recovery(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.avoid_flush_during_recovery, v); }
unsigned char ashlar_options_get_avoid_flush_during_recovery(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.avoid_flush_during_recovery); }
void ashlar_options_set_enforce_write_buffer_manager_during_recovery(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enforce_write_buffer_manager_during_recovery, v); }
unsigned char ashlar_options_get_enforce_write_buffer_manager_during_recovery(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enforce_write_buffer_manager_during_recovery); }
void ashlar_options_set_avoid_flush_during_shutdown(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.avoid_flush_during_shutdown, v); }
unsigned char ashlar_options_get_avoid_flush_during_shutdown(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.avoid_flush_during_shutdown); }
void ashlar_options_set_allow_ingest_behind(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_ingest_behind, v); }
unsigned char ashlar_options_get_allow_ingest_behind(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_ingest_behind); }
void ashlar_options_set_two_write_queues(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.two_write_queues, v); }
unsigned char ashlar_options_get_two_write_queues(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.two_write_queues); }
void ashlar_options_set_manual_wal_flush(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.manual_wal_flush, v); }
unsigned char ashlar_options_get_manual_wal_flush(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.manual_wal_flush); }
void ashlar_options_set_wal_compression(ashlar_options_t* opt, int v) { Set(opt->rep.wal_compression, v); }
int ashlar_options_get_wal_compression(ashlar_options_t* opt) { return Get<int>(opt->rep.wal_compression); }
void ashlar_options_set_background_close_inactive_wals(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.background_close_inactive_wals, v); }
unsigned char ashlar_options_get_background_close_inactive_wals(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.background_close_inactive_wals); }
void ashlar_options_set_atomic_flush(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.atomic_flush, v); }
unsigned char ashlar_options_get_atomic_flush(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.atomic_flush); }
void ashlar_options_set_avoid_unnecessary_blocking_io(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.avoid_unnecessary_blocking_io, v); }
unsigned char ashlar_options_get_avoid_unnecessary_blocking_io(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.avoid_unnecessary_blocking_io); }
void ashlar_options_set_write_dbid_to_manifest(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.write_dbid_to_manifest, v); }
unsigned char ashlar_options_get_write_dbid_to_manifest(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.write_dbid_to_manifest); }
void ashlar_options_set_write_identity_file(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.write_identity_file, v); }
unsigned char ashlar_options_get_write_identity_file(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.write_identity_file); }
void ashlar_options_set_prefix_seek_opt_in_only(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.prefix_seek_opt_in_only, v); }
unsigned char ashlar_options_get_prefix_seek_opt_in_only(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.prefix_seek_opt_in_only); }
void ashlar_options_set_log_readahead_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.log_readahead_size, v); }
size_t ashlar_options_get_log_readahead_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.log_readahead_size); }
void ashlar_options_set_best_efforts_recovery(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.best_efforts_recovery, v); }
unsigned char ashlar_options_get_best_efforts_recovery(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.best_efforts_recovery); }
void ashlar_options_set_max_bgerror_resume_count(ashlar_options_t* opt, int v) { Set(opt->rep.max_bgerror_resume_count, v); }
int ashlar_options_get_max_bgerror_resume_count(ashlar_options_t* opt) { return Get<int>(opt->rep.max_bgerror_resume_count); }
void ashlar_options_set_bgerror_resume_retry_interval(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.bgerror_resume_retry_interval, v); }
uint64_t ashlar_options_get_bgerror_resume_retry_interval(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.bgerror_resume_retry_interval); }
void ashlar_options_set_allow_data_in_errors(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.allow_data_in_errors, v); }
unsigned char ashlar_options_get_allow_data_in_errors(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.allow_data_in_errors); }
void ashlar_options_set_db_host_id(ashlar_options_t* opt, const char* v) { Set(opt->rep.db_host_id, v); }
const char* ashlar_options_get_db_host_id(ashlar_options_t* opt, size_t* size) { return Get(opt->rep.db_host_id, size); }
void ashlar_options_set_lowest_used_cache_tier(ashlar_options_t* opt, int v) { Set(opt->rep.lowest_used_cache_tier, v); }
int ashlar_options_get_lowest_used_cache_tier(ashlar_options_t* opt) { return Get<int>(opt->rep.lowest_used_cache_tier); }
void ashlar_options_set_enforce_single_del_contracts(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enforce_single_del_contracts, v); }
unsigned char ashlar_options_get_enforce_single_del_contracts(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enforce_single_del_contracts); }
void ashlar_options_set_daily_offpeak_time_utc(ashlar_options_t* opt, const char* v) { Set(opt->rep.daily_offpeak_time_utc, v); }
const char* ashlar_options_get_daily_offpeak_time_utc(ashlar_options_t* opt, size_t* size) { return Get(opt->rep.daily_offpeak_time_utc, size); }
void ashlar_options_set_max_compaction_trigger_wakeup_seconds(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.max_compaction_trigger_wakeup_seconds, v); }
uint64_t ashlar_options_get_max_compaction_trigger_wakeup_seconds(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.max_compaction_trigger_wakeup_seconds); }
void ashlar_options_set_follower_refresh_catchup_period_ms(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.follower_refresh_catchup_period_ms, v); }
uint64_t ashlar_options_get_follower_refresh_catchup_period_ms(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.follower_refresh_catchup_period_ms); }
void ashlar_options_set_follower_catchup_retry_count(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.follower_catchup_retry_count, v); }
uint64_t ashlar_options_get_follower_catchup_retry_count(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.follower_catchup_retry_count); }
void ashlar_options_set_follower_catchup_retry_wait_ms(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.follower_catchup_retry_wait_ms, v); }
uint64_t ashlar_options_get_follower_catchup_retry_wait_ms(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.follower_catchup_retry_wait_ms); }
void ashlar_options_set_metadata_write_temperature(ashlar_options_t* opt, int v) { Set(opt->rep.metadata_write_temperature, v); }
int ashlar_options_get_metadata_write_temperature(ashlar_options_t* opt) { return Get<int>(opt->rep.metadata_write_temperature); }
void ashlar_options_set_wal_write_temperature(ashlar_options_t* opt, int v) { Set(opt->rep.wal_write_temperature, v); }
int ashlar_options_get_wal_write_temperature(ashlar_options_t* opt) { return Get<int>(opt->rep.wal_write_temperature); }
void ashlar_options_set_fast_sst_open(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.fast_sst_open, v); }
unsigned char ashlar_options_get_fast_sst_open(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.fast_sst_open); }
void ashlar_options_set_write_compatible_with(ashlar_options_t* opt, const char* v) { Set(opt->rep.write_compatible_with, v); }
const char* ashlar_options_get_write_compatible_with(ashlar_options_t* opt, size_t* size) { return Get(opt->rep.write_compatible_with, size); }
void ashlar_options_set_access_hint_on_compaction_start(ashlar_options_t* opt, int v) { Set(opt->rep.access_hint_on_compaction_start, v); }
int ashlar_options_get_access_hint_on_compaction_start(ashlar_options_t* opt) { return Get<int>(opt->rep.access_hint_on_compaction_start); }
void ashlar_options_set_skip_checking_sst_file_sizes_on_db_open(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.skip_checking_sst_file_sizes_on_db_open, v); }
unsigned char ashlar_options_get_skip_checking_sst_file_sizes_on_db_open(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.skip_checking_sst_file_sizes_on_db_open); }
