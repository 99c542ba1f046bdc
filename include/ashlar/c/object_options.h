// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of caches, files, transactions and backups. Made by tools/make_c_options.py.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The members of ShardedCacheOptions, which ashlar/cache.h describes.
ashlar_lru_cache_options_t* ashlar_lru_cache_options_create(void);
void ashlar_lru_cache_options_destroy(ashlar_lru_cache_options_t* opt);
void ashlar_lru_cache_options_set_capacity(ashlar_lru_cache_options_t* opt, size_t v);
void ashlar_lru_cache_options_set_num_shard_bits(ashlar_lru_cache_options_t* opt, int v);

// The members of ShardedCacheOptions, which ashlar/cache.h describes.
void ashlar_hyper_clock_cache_options_set_capacity(ashlar_hyper_clock_cache_options_t* opt,
                                                   size_t v);
void ashlar_hyper_clock_cache_options_set_num_shard_bits(ashlar_hyper_clock_cache_options_t* opt,
                                                         int v);

// The members of HyperClockCacheOptions, which ashlar/cache.h describes.
void ashlar_hyper_clock_cache_options_destroy(ashlar_hyper_clock_cache_options_t* opt);
void ashlar_hyper_clock_cache_options_set_estimated_entry_charge(
    ashlar_hyper_clock_cache_options_t* opt, size_t v);

// The members of EnvOptions, which ashlar/env.h describes.
ashlar_envoptions_t* ashlar_envoptions_create(void);
void ashlar_envoptions_destroy(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_use_mmap_reads(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_use_mmap_reads(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_use_mmap_writes(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_use_mmap_writes(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_use_direct_reads(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_use_direct_reads(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_use_direct_writes(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_use_direct_writes(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_allow_fallocate(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_allow_fallocate(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_fd_cloexec(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_fd_cloexec(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_bytes_per_sync(ashlar_envoptions_t* opt, uint64_t v);
uint64_t ashlar_envoptions_get_bytes_per_sync(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_strict_bytes_per_sync(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_strict_bytes_per_sync(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_fallocate_with_keep_size(ashlar_envoptions_t* opt, unsigned char v);
unsigned char ashlar_envoptions_get_fallocate_with_keep_size(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_compaction_readahead_size(ashlar_envoptions_t* opt, size_t v);
size_t ashlar_envoptions_get_compaction_readahead_size(ashlar_envoptions_t* opt);
void ashlar_envoptions_set_writable_file_max_buffer_size(ashlar_envoptions_t* opt, size_t v);
size_t ashlar_envoptions_get_writable_file_max_buffer_size(ashlar_envoptions_t* opt);

// The members of TransactionDBOptions, which ashlar/utilities/transaction_db.h describes.
ashlar_transactiondb_options_t* ashlar_transactiondb_options_create(void);
void ashlar_transactiondb_options_destroy(ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_max_num_locks(ashlar_transactiondb_options_t* opt, int64_t v);
int64_t ashlar_transactiondb_options_get_max_num_locks(ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_max_num_deadlocks(ashlar_transactiondb_options_t* opt,
                                                        uint32_t v);
uint32_t ashlar_transactiondb_options_get_max_num_deadlocks(ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_num_stripes(ashlar_transactiondb_options_t* opt, size_t v);
size_t ashlar_transactiondb_options_get_num_stripes(ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_transaction_lock_timeout(ashlar_transactiondb_options_t* opt,
                                                               int64_t v);
int64_t ashlar_transactiondb_options_get_transaction_lock_timeout(
    ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_default_lock_timeout(ashlar_transactiondb_options_t* opt,
                                                           int64_t v);
int64_t ashlar_transactiondb_options_get_default_lock_timeout(ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_write_policy(ashlar_transactiondb_options_t* opt, int v);
int ashlar_transactiondb_options_get_write_policy(ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_rollback_merge_operands(ashlar_transactiondb_options_t* opt,
                                                              unsigned char v);
unsigned char ashlar_transactiondb_options_get_rollback_merge_operands(
    ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_use_per_key_point_lock_mgr(
    ashlar_transactiondb_options_t* opt, unsigned char v);
unsigned char ashlar_transactiondb_options_get_use_per_key_point_lock_mgr(
    ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_skip_concurrency_control(ashlar_transactiondb_options_t* opt,
                                                               unsigned char v);
unsigned char ashlar_transactiondb_options_get_skip_concurrency_control(
    ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_default_write_batch_flush_threshold(
    ashlar_transactiondb_options_t* opt, int64_t v);
int64_t ashlar_transactiondb_options_get_default_write_batch_flush_threshold(
    ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_enable_udt_validation(ashlar_transactiondb_options_t* opt,
                                                            unsigned char v);
unsigned char ashlar_transactiondb_options_get_enable_udt_validation(
    ashlar_transactiondb_options_t* opt);
void ashlar_transactiondb_options_set_txn_commit_bypass_memtable_threshold(
    ashlar_transactiondb_options_t* opt, uint32_t v);
uint32_t ashlar_transactiondb_options_get_txn_commit_bypass_memtable_threshold(
    ashlar_transactiondb_options_t* opt);

// The members of TransactionOptions, which ashlar/utilities/transaction_db.h describes.
ashlar_transaction_options_t* ashlar_transaction_options_create(void);
void ashlar_transaction_options_destroy(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_set_snapshot(ashlar_transaction_options_t* opt,
                                                 unsigned char v);
unsigned char ashlar_transaction_options_get_set_snapshot(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_deadlock_detect(ashlar_transaction_options_t* opt,
                                                    unsigned char v);
unsigned char ashlar_transaction_options_get_deadlock_detect(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_use_only_the_last_commit_time_batch_for_recovery(
    ashlar_transaction_options_t* opt, unsigned char v);
unsigned char ashlar_transaction_options_get_use_only_the_last_commit_time_batch_for_recovery(
    ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_lock_timeout(ashlar_transaction_options_t* opt, int64_t v);
int64_t ashlar_transaction_options_get_lock_timeout(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_deadlock_timeout_us(ashlar_transaction_options_t* opt,
                                                        int64_t v);
int64_t ashlar_transaction_options_get_deadlock_timeout_us(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_expiration(ashlar_transaction_options_t* opt, int64_t v);
int64_t ashlar_transaction_options_get_expiration(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_deadlock_detect_depth(ashlar_transaction_options_t* opt,
                                                          int64_t v);
int64_t ashlar_transaction_options_get_deadlock_detect_depth(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_max_write_batch_size(ashlar_transaction_options_t* opt,
                                                         size_t v);
size_t ashlar_transaction_options_get_max_write_batch_size(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_skip_concurrency_control(ashlar_transaction_options_t* opt,
                                                             unsigned char v);
unsigned char ashlar_transaction_options_get_skip_concurrency_control(
    ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_skip_prepare(ashlar_transaction_options_t* opt,
                                                 unsigned char v);
unsigned char ashlar_transaction_options_get_skip_prepare(ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_write_batch_flush_threshold(ashlar_transaction_options_t* opt,
                                                                int64_t v);
int64_t ashlar_transaction_options_get_write_batch_flush_threshold(
    ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_write_batch_track_timestamp_size(
    ashlar_transaction_options_t* opt, unsigned char v);
unsigned char ashlar_transaction_options_get_write_batch_track_timestamp_size(
    ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_commit_bypass_memtable(ashlar_transaction_options_t* opt,
                                                           unsigned char v);
unsigned char ashlar_transaction_options_get_commit_bypass_memtable(
    ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_large_txn_commit_optimize_threshold(
    ashlar_transaction_options_t* opt, uint32_t v);
uint32_t ashlar_transaction_options_get_large_txn_commit_optimize_threshold(
    ashlar_transaction_options_t* opt);
void ashlar_transaction_options_set_large_txn_commit_optimize_byte_threshold(
    ashlar_transaction_options_t* opt, uint64_t v);
uint64_t ashlar_transaction_options_get_large_txn_commit_optimize_byte_threshold(
    ashlar_transaction_options_t* opt);

// The members of OptimisticTransactionDBOptions, which ashlar/utilities/optimistic_transaction_db.h
// describes.
ashlar_optimistictransactiondb_options_t* ashlar_optimistictransactiondb_options_create(void);
void ashlar_optimistictransactiondb_options_destroy(ashlar_optimistictransactiondb_options_t* opt);
void ashlar_optimistictransactiondb_options_set_validate_policy(
    ashlar_optimistictransactiondb_options_t* opt, int v);
int ashlar_optimistictransactiondb_options_get_validate_policy(
    ashlar_optimistictransactiondb_options_t* opt);
void ashlar_optimistictransactiondb_options_set_occ_lock_buckets(
    ashlar_optimistictransactiondb_options_t* opt, uint32_t v);
uint32_t ashlar_optimistictransactiondb_options_get_occ_lock_buckets(
    ashlar_optimistictransactiondb_options_t* opt);

// The members of OptimisticTransactionOptions, which ashlar/utilities/optimistic_transaction_db.h
// describes.
ashlar_optimistictransaction_options_t* ashlar_optimistictransaction_options_create(void);
void ashlar_optimistictransaction_options_destroy(ashlar_optimistictransaction_options_t* opt);
void ashlar_optimistictransaction_options_set_set_snapshot(
    ashlar_optimistictransaction_options_t* opt, unsigned char v);
unsigned char ashlar_optimistictransaction_options_get_set_snapshot(
    ashlar_optimistictransaction_options_t* opt);

// The members of CheckpointOrBackupEngineOptions, which ashlar/utilities/checkpoint.h describes.
void ashlar_backup_engine_options_set_io_buffer_size(ashlar_backup_engine_options_t* opt,
                                                     uint64_t v);
uint64_t ashlar_backup_engine_options_get_io_buffer_size(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_backup_rate_limit(ashlar_backup_engine_options_t* opt,
                                                        uint64_t v);
uint64_t ashlar_backup_engine_options_get_backup_rate_limit(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_max_background_operations(ashlar_backup_engine_options_t* opt,
                                                                int v);
int ashlar_backup_engine_options_get_max_background_operations(ashlar_backup_engine_options_t* opt);

// The members of BackupEngineOptions, which ashlar/utilities/backup_engine.h describes.
void ashlar_backup_engine_options_destroy(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_backup_dir(ashlar_backup_engine_options_t* opt,
                                                 const char* v);
const char* ashlar_backup_engine_options_get_backup_dir(ashlar_backup_engine_options_t* opt,
                                                        size_t* size);
void ashlar_backup_engine_options_set_share_table_files(ashlar_backup_engine_options_t* opt,
                                                        unsigned char v);
unsigned char ashlar_backup_engine_options_get_share_table_files(
    ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_sync(ashlar_backup_engine_options_t* opt, unsigned char v);
unsigned char ashlar_backup_engine_options_get_sync(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_destroy_old_data(ashlar_backup_engine_options_t* opt,
                                                       unsigned char v);
unsigned char ashlar_backup_engine_options_get_destroy_old_data(
    ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_backup_log_files(ashlar_backup_engine_options_t* opt,
                                                       unsigned char v);
unsigned char ashlar_backup_engine_options_get_backup_log_files(
    ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_restore_rate_limit(ashlar_backup_engine_options_t* opt,
                                                         uint64_t v);
uint64_t ashlar_backup_engine_options_get_restore_rate_limit(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_share_files_with_checksum(ashlar_backup_engine_options_t* opt,
                                                                unsigned char v);
unsigned char ashlar_backup_engine_options_get_share_files_with_checksum(
    ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_callback_trigger_interval_size(
    ashlar_backup_engine_options_t* opt, uint64_t v);
uint64_t ashlar_backup_engine_options_get_callback_trigger_interval_size(
    ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_max_valid_backups_to_open(ashlar_backup_engine_options_t* opt,
                                                                int v);
int ashlar_backup_engine_options_get_max_valid_backups_to_open(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_share_files_with_checksum_naming(
    ashlar_backup_engine_options_t* opt, int v);
int ashlar_backup_engine_options_get_share_files_with_checksum_naming(
    ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_schema_version(ashlar_backup_engine_options_t* opt, int v);
int ashlar_backup_engine_options_get_schema_version(ashlar_backup_engine_options_t* opt);
void ashlar_backup_engine_options_set_current_temperatures_override_manifest(
    ashlar_backup_engine_options_t* opt, unsigned char v);
unsigned char ashlar_backup_engine_options_get_current_temperatures_override_manifest(
    ashlar_backup_engine_options_t* opt);

// The members of CreateCheckpointOrBackupOptions, which ashlar/utilities/checkpoint.h describes.
void ashlar_create_backup_options_set_decrease_background_thread_cpu_priority(
    ashlar_create_backup_options_t* opt, unsigned char v);
unsigned char ashlar_create_backup_options_get_decrease_background_thread_cpu_priority(
    ashlar_create_backup_options_t* opt);
void ashlar_create_backup_options_set_background_thread_cpu_priority(
    ashlar_create_backup_options_t* opt, int v);
int ashlar_create_backup_options_get_background_thread_cpu_priority(
    ashlar_create_backup_options_t* opt);

// The members of CreateBackupOptions, which ashlar/utilities/backup_engine.h describes.
ashlar_create_backup_options_t* ashlar_create_backup_options_create(void);
void ashlar_create_backup_options_destroy(ashlar_create_backup_options_t* opt);
void ashlar_create_backup_options_set_flush_before_backup(ashlar_create_backup_options_t* opt,
                                                          unsigned char v);
unsigned char ashlar_create_backup_options_get_flush_before_backup(
    ashlar_create_backup_options_t* opt);
void ashlar_create_backup_options_set_atomic_flush(ashlar_create_backup_options_t* opt,
                                                   unsigned char v);
unsigned char ashlar_create_backup_options_get_atomic_flush(ashlar_create_backup_options_t* opt);

// The members of RestoreOptions, which ashlar/utilities/backup_engine.h describes.
ashlar_restore_options_t* ashlar_restore_options_create(void);
void ashlar_restore_options_destroy(ashlar_restore_options_t* opt);
void ashlar_restore_options_set_keep_log_files(ashlar_restore_options_t* opt, int v);
unsigned char ashlar_restore_options_get_keep_log_files(ashlar_restore_options_t* opt);
void ashlar_restore_options_set_mode(ashlar_restore_options_t* opt, int v);
int ashlar_restore_options_get_mode(ashlar_restore_options_t* opt);

ASHLAR_C_END
