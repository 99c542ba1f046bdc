// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of caches, files, transactions and backups. Made by tools/make_c_options.py.
#include "ashlar/c/object_options.h"

#include "capi/members.h"
#include "capi/option_handles.h"

using ashlar::capi::Get;
using ashlar::capi::Set;

// One line for each function.
// clang-format off

// ---- ShardedCacheOptions

ashlar_lru_cache_options_t* ashlar_lru_cache_options_create() { return new ashlar_lru_cache_options_t; }
void ashlar_lru_cache_options_destroy(ashlar_lru_cache_options_t* opt) { delete opt; }
void ashlar_lru_cache_options_set_capacity(ashlar_lru_cache_options_t* opt, size_t v) { Set(opt->rep.capacity, v); }
void ashlar_lru_cache_options_set_num_shard_bits(ashlar_lru_cache_options_t* opt, int v) { Set(opt->rep.num_shard_bits, v); }

// ---- ShardedCacheOptions

void ashlar_hyper_clock_cache_options_set_capacity(ashlar_hyper_clock_cache_options_t* opt, size_t v) { Set(opt->rep.capacity, v); }
void ashlar_hyper_clock_cache_options_set_num_shard_bits(ashlar_hyper_clock_cache_options_t* opt, int v) { Set(opt->rep.num_shard_bits, v); }

// ---- HyperClockCacheOptions

void ashlar_hyper_clock_cache_options_destroy(ashlar_hyper_clock_cache_options_t* opt) { delete opt; }
void ashlar_hyper_clock_cache_options_set_estimated_entry_charge(ashlar_hyper_clock_cache_options_t* opt, size_t v) { Set(opt->rep.estimated_entry_charge, v); }

// ---- EnvOptions

ashlar_envoptions_t* ashlar_envoptions_create() { return new ashlar_envoptions_t; }
void ashlar_envoptions_destroy(ashlar_envoptions_t* opt) { delete opt; }
void ashlar_envoptions_set_use_mmap_reads(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.use_mmap_reads, v); }
unsigned char ashlar_envoptions_get_use_mmap_reads(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.use_mmap_reads); }
void ashlar_envoptions_set_use_mmap_writes(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.use_mmap_writes, v); }
unsigned char ashlar_envoptions_get_use_mmap_writes(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.use_mmap_writes); }
void ashlar_envoptions_set_use_direct_reads(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.use_direct_reads, v); }
unsigned char ashlar_envoptions_get_use_direct_reads(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.use_direct_reads); }
void ashlar_envoptions_set_use_direct_writes(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.use_direct_writes, v); }
unsigned char ashlar_envoptions_get_use_direct_writes(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.use_direct_writes); }
void ashlar_envoptions_set_allow_fallocate(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.allow_fallocate, v); }
unsigned char ashlar_envoptions_get_allow_fallocate(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.allow_fallocate); }
void ashlar_envoptions_set_fd_cloexec(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.set_fd_cloexec, v); }
unsigned char ashlar_envoptions_get_fd_cloexec(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.set_fd_cloexec); }
void ashlar_envoptions_set_bytes_per_sync(ashlar_envoptions_t* opt, uint64_t v) { Set(opt->rep.bytes_per_sync, v); }
uint64_t ashlar_envoptions_get_bytes_per_sync(ashlar_envoptions_t* opt) { return Get<uint64_t>(opt->rep.bytes_per_sync); }
void ashlar_envoptions_set_strict_bytes_per_sync(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.strict_bytes_per_sync, v); }
unsigned char ashlar_envoptions_get_strict_bytes_per_sync(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.strict_bytes_per_sync); }
void ashlar_envoptions_set_fallocate_with_keep_size(ashlar_envoptions_t* opt, unsigned char v) { Set(opt->rep.fallocate_with_keep_size, v); }
unsigned char ashlar_envoptions_get_fallocate_with_keep_size(ashlar_envoptions_t* opt) { return Get<unsigned char>(opt->rep.fallocate_with_keep_size); }
void ashlar_envoptions_set_compaction_readahead_size(ashlar_envoptions_t* opt, size_t v) { Set(opt->rep.compaction_readahead_size, v); }
size_t ashlar_envoptions_get_compaction_readahead_size(ashlar_envoptions_t* opt) { return Get<size_t>(opt->rep.compaction_readahead_size); }
void ashlar_envoptions_set_writable_file_max_buffer_size(ashlar_envoptions_t* opt, size_t v) { Set(opt->rep.writable_file_max_buffer_size, v); }
size_t ashlar_envoptions_get_writable_file_max_buffer_size(ashlar_envoptions_t* opt) { return Get<size_t>(opt->rep.writable_file_max_buffer_size); }

// ---- TransactionDBOptions

ashlar_transactiondb_options_t* ashlar_transactiondb_options_create() { return new ashlar_transactiondb_options_t; }
void ashlar_transactiondb_options_destroy(ashlar_transactiondb_options_t* opt) { delete opt; }
void ashlar_transactiondb_options_set_max_num_locks(ashlar_transactiondb_options_t* opt, int64_t v) { Set(opt->rep.max_num_locks, v); }
int64_t ashlar_transactiondb_options_get_max_num_locks(ashlar_transactiondb_options_t* opt) { return Get<int64_t>(opt->rep.max_num_locks); }
void ashlar_transactiondb_options_set_max_num_deadlocks(ashlar_transactiondb_options_t* opt, uint32_t v) { Set(opt->rep.max_num_deadlocks, v); }
uint32_t ashlar_transactiondb_options_get_max_num_deadlocks(ashlar_transactiondb_options_t* opt) { return Get<uint32_t>(opt->rep.max_num_deadlocks); }
void ashlar_transactiondb_options_set_num_stripes(ashlar_transactiondb_options_t* opt, size_t v) { Set(opt->rep.num_stripes, v); }
size_t ashlar_transactiondb_options_get_num_stripes(ashlar_transactiondb_options_t* opt) { return Get<size_t>(opt->rep.num_stripes); }
void ashlar_transactiondb_options_set_transaction_lock_timeout(ashlar_transactiondb_options_t* opt, int64_t v) { Set(opt->rep.transaction_lock_timeout, v); }
int64_t ashlar_transactiondb_options_get_transaction_lock_timeout(ashlar_transactiondb_options_t* opt) { return Get<int64_t>(opt->rep.transaction_lock_timeout); }
void ashlar_transactiondb_options_set_default_lock_timeout(ashlar_transactiondb_options_t* opt, int64_t v) { Set(opt->rep.default_lock_timeout, v); }
int64_t ashlar_transactiondb_options_get_default_lock_timeout(ashlar_transactiondb_options_t* opt) { return Get<int64_t>(opt->rep.default_lock_timeout); }
void ashlar_transactiondb_options_set_write_policy(ashlar_transactiondb_options_t* opt, int v) { Set(opt->rep.write_policy, v); }
int ashlar_transactiondb_options_get_write_policy(ashlar_transactiondb_options_t* opt) { return Get<int>(opt->rep.write_policy); }
void ashlar_transactiondb_options_set_rollback_merge_operands(ashlar_transactiondb_options_t* opt, unsigned char v) { Set(opt->rep.rollback_merge_operands, v); }
unsigned char ashlar_transactiondb_options_get_rollback_merge_operands(ashlar_transactiondb_options_t* opt) { return Get<unsigned char>(opt->rep.rollback_merge_operands); }
void ashlar_transactiondb_options_set_use_per_key_point_lock_mgr(ashlar_transactiondb_options_t* opt, unsigned char v) { Set(opt->rep.use_per_key_point_lock_mgr, v); }
unsigned char ashlar_transactiondb_options_get_use_per_key_point_lock_mgr(ashlar_transactiondb_options_t* opt) { return Get<unsigned char>(opt->rep.use_per_key_point_lock_mgr); }
void ashlar_transactiondb_options_set_skip_concurrency_control(ashlar_transactiondb_options_t* opt, unsigned char v) { Set(opt->rep.skip_concurrency_control, v); }
unsigned char ashlar_transactiondb_options_get_skip_concurrency_control(ashlar_transactiondb_options_t* opt) { return Get<unsigned char>(opt->rep.skip_concurrency_control); }
void ashlar_transactiondb_options_set_default_write_batch_flush_threshold(ashlar_transactiondb_options_t* opt, int64_t v) { Set(opt->rep.default_write_batch_flush_threshold, v); }
int64_t ashlar_transactiondb_options_get_default_write_batch_flush_threshold(ashlar_transactiondb_options_t* opt) { return Get<int64_t>(opt->rep.default_write_batch_flush_threshold); }
void ashlar_transactiondb_options_set_enable_udt_validation(ashlar_transactiondb_options_t* opt, unsigned char v) { Set(opt->rep.enable_udt_validation, v); }
unsigned char ashlar_transactiondb_options_get_enable_udt_validation(ashlar_transactiondb_options_t* opt) { return Get<unsigned char>(opt->rep.enable_udt_validation); }
void ashlar_transactiondb_options_set_txn_commit_bypass_memtable_threshold(ashlar_transactiondb_options_t* opt, uint32_t v) { Set(opt->rep.txn_commit_bypass_memtable_threshold, v); }
uint32_t ashlar_transactiondb_options_get_txn_commit_bypass_memtable_threshold(ashlar_transactiondb_options_t* opt) { return Get<uint32_t>(opt->rep.txn_commit_bypass_memtable_threshold); }

// ---- TransactionOptions

ashlar_transaction_options_t* ashlar_transaction_options_create() { return new ashlar_transaction_options_t; }
void ashlar_transaction_options_destroy(ashlar_transaction_options_t* opt) { delete opt; }
void ashlar_transaction_options_set_set_snapshot(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.set_snapshot, v); }
unsigned char ashlar_transaction_options_get_set_snapshot(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.set_snapshot); }
void ashlar_transaction_options_set_deadlock_detect(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.deadlock_detect, v); }
unsigned char ashlar_transaction_options_get_deadlock_detect(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.deadlock_detect); }
void ashlar_transaction_options_set_use_only_the_last_commit_time_batch_for_recovery(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.use_only_the_last_commit_time_batch_for_recovery, v); }
unsigned char ashlar_transaction_options_get_use_only_the_last_commit_time_batch_for_recovery(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.use_only_the_last_commit_time_batch_for_recovery); }
void ashlar_transaction_options_set_lock_timeout(ashlar_transaction_options_t* opt, int64_t v) { Set(opt->rep.lock_timeout, v); }
int64_t ashlar_transaction_options_get_lock_timeout(ashlar_transaction_options_t* opt) { return Get<int64_t>(opt->rep.lock_timeout); }
void ashlar_transaction_options_set_deadlock_timeout_us(ashlar_transaction_options_t* opt, int64_t v) { Set(opt->rep.deadlock_timeout_us, v); }
int64_t ashlar_transaction_options_get_deadlock_timeout_us(ashlar_transaction_options_t* opt) { return Get<int64_t>(opt->rep.deadlock_timeout_us); }
void ashlar_transaction_options_set_expiration(ashlar_transaction_options_t* opt, int64_t v) { Set(opt->rep.expiration, v); }
int64_t ashlar_transaction_options_get_expiration(ashlar_transaction_options_t* opt) { return Get<int64_t>(opt->rep.expiration); }
void ashlar_transaction_options_set_deadlock_detect_depth(ashlar_transaction_options_t* opt, int64_t v) { Set(opt->rep.deadlock_detect_depth, v); }
int64_t ashlar_transaction_options_get_deadlock_detect_depth(ashlar_transaction_options_t* opt) { return Get<int64_t>(opt->rep.deadlock_detect_depth); }
void ashlar_transaction_options_set_max_write_batch_size(ashlar_transaction_options_t* opt, size_t v) { Set(opt->rep.max_write_batch_size, v); }
size_t ashlar_transaction_options_get_max_write_batch_size(ashlar_transaction_options_t* opt) { return Get<size_t>(opt->rep.max_write_batch_size); }
void ashlar_transaction_options_set_skip_concurrency_control(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.skip_concurrency_control, v); }
unsigned char ashlar_transaction_options_get_skip_concurrency_control(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.skip_concurrency_control); }
void ashlar_transaction_options_set_skip_prepare(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.skip_prepare, v); }
unsigned char ashlar_transaction_options_get_skip_prepare(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.skip_prepare); }
void ashlar_transaction_options_set_write_batch_flush_threshold(ashlar_transaction_options_t* opt, int64_t v) { Set(opt->rep.write_batch_flush_threshold, v); }
int64_t ashlar_transaction_options_get_write_batch_flush_threshold(ashlar_transaction_options_t* opt) { return Get<int64_t>(opt->rep.write_batch_flush_threshold); }
void ashlar_transaction_options_set_write_batch_track_timestamp_size(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.write_batch_track_timestamp_size, v); }
unsigned char ashlar_transaction_options_get_write_batch_track_timestamp_size(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.write_batch_track_timestamp_size); }
void ashlar_transaction_options_set_commit_bypass_memtable(ashlar_transaction_options_t* opt, unsigned char v) { Set(opt->rep.commit_bypass_memtable, v); }
unsigned char ashlar_transaction_options_get_commit_bypass_memtable(ashlar_transaction_options_t* opt) { return Get<unsigned char>(opt->rep.commit_bypass_memtable); }
void ashlar_transaction_options_set_large_txn_commit_optimize_threshold(ashlar_transaction_options_t* opt, uint32_t v) { Set(opt->rep.large_txn_commit_optimize_threshold, v); }
uint32_t ashlar_transaction_options_get_large_txn_commit_optimize_threshold(ashlar_transaction_options_t* opt) { return Get<uint32_t>(opt->rep.large_txn_commit_optimize_threshold); }
void ashlar_transaction_options_set_large_txn_commit_optimize_byte_threshold(ashlar_transaction_options_t* opt, uint64_t v) { Set(opt->rep.large_txn_commit_optimize_byte_threshold, v); }
uint64_t ashlar_transaction_options_get_large_txn_commit_optimize_byte_threshold(ashlar_transaction_options_t* opt) { return Get<uint64_t>(opt->rep.large_txn_commit_optimize_byte_threshold); }

// ---- OptimisticTransactionDBOptions

ashlar_optimistictransactiondb_options_t* ashlar_optimistictransactiondb_options_create() { return new ashlar_optimistictransactiondb_options_t; }
void ashlar_optimistictransactiondb_options_destroy(ashlar_optimistictransactiondb_options_t* opt) { delete opt; }
void ashlar_optimistictransactiondb_options_set_validate_policy(ashlar_optimistictransactiondb_options_t* opt, int v) { Set(opt->rep.validate_policy, v); }
int ashlar_optimistictransactiondb_options_get_validate_policy(ashlar_optimistictransactiondb_options_t* opt) { return Get<int>(opt->rep.validate_policy); }
void ashlar_optimistictransactiondb_options_set_occ_lock_buckets(ashlar_optimistictransactiondb_options_t* opt, uint32_t v) { Set(opt->rep.occ_lock_buckets, v); }
uint32_t ashlar_optimistictransactiondb_options_get_occ_lock_buckets(ashlar_optimistictransactiondb_options_t* opt) { return Get<uint32_t>(opt->rep.occ_lock_buckets); }

// ---- OptimisticTransactionOptions

ashlar_optimistictransaction_options_t* ashlar_optimistictransaction_options_create() { return new ashlar_optimistictransaction_options_t; }
void ashlar_optimistictransaction_options_destroy(ashlar_optimistictransaction_options_t* opt) { delete opt; }
void ashlar_optimistictransaction_options_set_set_snapshot(ashlar_optimistictransaction_options_t* opt, unsigned char v) { Set(opt->rep.set_snapshot, v); }
unsigned char ashlar_optimistictransaction_options_get_set_snapshot(ashlar_optimistictransaction_options_t* opt) { return Get<unsigned char>(opt->rep.set_snapshot); }

// ---- CheckpointOrBackupEngineOptions

void ashlar_backup_engine_options_set_io_buffer_size(ashlar_backup_engine_options_t* opt, uint64_t v) { Set(opt->rep.io_buffer_size, v); }
uint64_t ashlar_backup_engine_options_get_io_buffer_size(ashlar_backup_engine_options_t* opt) { return Get<uint64_t>(opt->rep.io_buffer_size); }
void ashlar_backup_engine_options_set_backup_rate_limit(ashlar_backup_engine_options_t* opt, uint64_t v) { Set(opt->rep.backup_rate_limit, v); }
uint64_t ashlar_backup_engine_options_get_backup_rate_limit(ashlar_backup_engine_options_t* opt) { return Get<uint64_t>(opt->rep.backup_rate_limit); }
void ashlar_backup_engine_options_set_max_background_operations(ashlar_backup_engine_options_t* opt, int v) { Set(opt->rep.max_background_operations, v); }
int ashlar_backup_engine_options_get_max_background_operations(ashlar_backup_engine_options_t* opt) { return Get<int>(opt->rep.max_background_operations); }

// ---- BackupEngineOptions

void ashlar_backup_engine_options_destroy(ashlar_backup_engine_options_t* opt) { delete opt; }
void ashlar_backup_engine_options_set_backup_dir(ashlar_backup_engine_options_t* opt, const char* v) { Set(opt->rep.backup_dir, v); }
const char* ashlar_backup_engine_options_get_backup_dir(ashlar_backup_engine_options_t* opt, size_t* size) { return Get(opt->rep.backup_dir, size); }
void ashlar_backup_engine_options_set_share_table_files(ashlar_backup_engine_options_t* opt, unsigned char v) { Set(opt->rep.share_table_files, v); }
unsigned char ashlar_backup_engine_options_get_share_table_files(ashlar_backup_engine_options_t* opt) { return Get<unsigned char>(opt->rep.share_table_files); }
void ashlar_backup_engine_options_set_sync(ashlar_backup_engine_options_t* opt, unsigned char v) { Set(opt->rep.sync, v); }
unsigned char ashlar_backup_engine_options_get_sync(ashlar_backup_engine_options_t* opt) { return Get<unsigned char>(opt->rep.sync); }
void ashlar_backup_engine_options_set_destroy_old_data(ashlar_backup_engine_options_t* opt, unsigned char v) { Set(opt->rep.destroy_old_data, v); }
unsigned char ashlar_backup_engine_options_get_destroy_old_data(ashlar_backup_engine_options_t* opt) { return Get<unsigned char>(opt->rep.destroy_old_data); }
void ashlar_backup_engine_options_set_backup_log_files(ashlar_backup_engine_options_t* opt, unsigned char v) { Set(opt->rep.backup_log_files, v); }
unsigned char ashlar_backup_engine_options_get_backup_log_files(ashlar_backup_engine_options_t* opt) { return Get<unsigned char>(opt->rep.backup_log_files); }
void ashlar_backup_engine_options_set_restore_rate_limit(ashlar_backup_engine_options_t* opt, uint64_t v) { Set(opt->rep.restore_rate_limit, v); }
uint64_t ashlar_backup_engine_options_get_restore_rate_limit(ashlar_backup_engine_options_t* opt) { return Get<uint64_t>(opt->rep.restore_rate_limit); }
void ashlar_backup_engine_options_set_share_files_with_checksum(ashlar_backup_engine_options_t* opt, unsigned char v) { Set(opt->rep.share_files_with_checksum, v); }
unsigned char ashlar_backup_engine_options_get_share_files_with_checksum(ashlar_backup_engine_options_t* opt) { return Get<unsigned char>(opt->rep.share_files_with_checksum); }
void ashlar_backup_engine_options_set_callback_trigger_interval_size(ashlar_backup_engine_options_t* opt, uint64_t v) { Set(opt->rep.callback_trigger_interval_size, v); }
uint64_t ashlar_backup_engine_options_get_callback_trigger_interval_size(ashlar_backup_engine_options_t* opt) { return Get<uint64_t>(opt->rep.callback_trigger_interval_size); }
void ashlar_backup_engine_options_set_max_valid_backups_to_open(ashlar_backup_engine_options_t* opt, int v) { Set(opt->rep.max_valid_backups_to_open, v); }
int ashlar_backup_engine_options_get_max_valid_backups_to_open(ashlar_backup_engine_options_t* opt) { return Get<int>(opt->rep.max_valid_backups_to_open); }
void ashlar_backup_engine_options_set_share_files_with_checksum_naming(ashlar_backup_engine_options_t* opt, int v) { Set(opt->rep.share_files_with_checksum_naming, v); }
int ashlar_backup_engine_options_get_share_files_with_checksum_naming(ashlar_backup_engine_options_t* opt) { return Get<int>(opt->rep.share_files_with_checksum_naming); }
void ashlar_backup_engine_options_set_schema_version(ashlar_backup_engine_options_t* opt, int v) { Set(opt->rep.schema_version, v); }
int ashlar_backup_engine_options_get_schema_version(ashlar_backup_engine_options_t* opt) { return Get<int>(opt->rep.schema_version); }
void ashlar_backup_engine_options_set_current_temperatures_override_manifest(ashlar_backup_engine_options_t* opt, unsigned char v) { Set(opt->rep.current_temperatures_override_manifest, v); }
unsigned char ashlar_backup_engine_options_get_current_temperatures_override_manifest(ashlar_backup_engine_options_t* opt) { return Get<unsigned char>(opt->rep.current_temperatures_override_manifest); }

// ---- CreateCheckpointOrBackupOptions

void ashlar_create_backup_options_set_decrease_background_thread_cpu_priority(ashlar_create_backup_options_t* opt, unsigned char v) { Set(opt->rep.decrease_background_thread_cpu_priority, v); }
unsigned char ashlar_create_backup_options_get_decrease_background_thread_cpu_priority(ashlar_create_backup_options_t* opt) { return Get<unsigned char>(opt->rep.decrease_background_thread_cpu_priority); }
void ashlar_create_backup_options_set_background_thread_cpu_priority(ashlar_create_backup_options_t* opt, int v) { Set(opt->rep.background_thread_cpu_priority, v); }
int ashlar_create_backup_options_get_background_thread_cpu_priority(ashlar_create_backup_options_t* opt) { return Get<int>(opt->rep.background_thread_cpu_priority); }

// ---- CreateBackupOptions

ashlar_create_backup_options_t* ashlar_create_backup_options_create() { return new ashlar_create_backup_options_t; }
void ashlar_create_backup_options_destroy(ashlar_create_backup_options_t* opt) { delete opt; }
void ashlar_create_backup_options_set_flush_before_backup(ashlar_create_backup_options_t* opt, unsigned char v) { Set(opt->rep.flush_before_backup, v); }
unsigned char ashlar_create_backup_options_get_flush_before_backup(ashlar_create_backup_options_t* opt) { return Get<unsigned char>(opt->rep.flush_before_backup); }
void ashlar_create_backup_options_set_atomic_flush(ashlar_create_backup_options_t* opt, unsigned char v) { Set(opt->rep.atomic_flush, v); }
unsigned char ashlar_create_backup_options_get_atomic_flush(ashlar_create_backup_options_t* opt) { return Get<unsigned char>(opt->rep.atomic_flush); }

// ---- RestoreOptions

ashlar_restore_options_t* ashlar_restore_options_create() { return new ashlar_restore_options_t; }
void ashlar_restore_options_destroy(ashlar_restore_options_t* opt) { delete opt; }
void ashlar_restore_options_set_keep_log_files(ashlar_restore_options_t* opt, int v) { Set(opt->rep.keep_log_files, v); }
unsigned char ashlar_restore_options_get_keep_log_files(ashlar_restore_options_t* opt) { return Get<unsigned char>(opt->rep.keep_log_files); }
void ashlar_restore_options_set_mode(ashlar_restore_options_t* opt, int v) { Set(opt->rep.mode, v); }
int ashlar_restore_options_get_mode(ashlar_restore_options_t* opt) { return Get<int>(opt->rep.mode); }
