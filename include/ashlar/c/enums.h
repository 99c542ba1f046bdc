// SPDX-License-Identifier: Apache-2.0
//
// The C API: constants. Functions take and return them as int; the values are those of the C++
// enumeration that the comment names.
#pragma once

#include "ashlar/c/types.h"

// Flags of ashlar_approximate_sizes_cf_with_flags().
enum {
  ashlar_size_approximation_flags_none = 0,
  ashlar_size_approximation_flags_include_memtable = 1,
  ashlar_size_approximation_flags_include_files = 2,
  ashlar_size_approximation_flags_include_blob_files = 4,
};

// Types of WAL files: WalFileType.
enum {
  ashlar_wal_file_type_archived_log = 0,
  ashlar_wal_file_type_alive_log = 1,
};

// BlockBasedTableOptions::IndexType.
enum {
  ashlar_block_based_table_index_type_binary_search = 0,
  ashlar_block_based_table_index_type_hash_search = 1,
  ashlar_block_based_table_index_type_two_level_index_search = 2,
};

// BlockBasedTableOptions::DataBlockIndexType.
enum {
  ashlar_block_based_table_data_block_index_type_binary_search = 0,
  ashlar_block_based_table_data_block_index_type_binary_search_and_hash = 1,
};

// BlockBasedTableOptions::BlockSearchType.
enum {
  ashlar_block_based_table_index_block_search_type_binary = 0,
  ashlar_block_based_table_index_block_search_type_interpolation = 1,
  ashlar_block_based_table_index_block_search_type_auto = 2,
};

// PinningTier.
enum {
  ashlar_block_based_k_fallback_pinning_tier = 0,
  ashlar_block_based_k_none_pinning_tier = 1,
  ashlar_block_based_k_flush_and_similar_pinning_tier = 2,
  ashlar_block_based_k_all_pinning_tier = 3,
};

// StatsLevel: each level includes those before it.
enum {
  ashlar_statistics_level_disable_all = 0,
  ashlar_statistics_level_except_tickers = 0,
  ashlar_statistics_level_except_histogram_or_timers = 1,
  ashlar_statistics_level_except_timers = 2,
  ashlar_statistics_level_except_detailed_timers = 3,
  ashlar_statistics_level_except_time_for_mutex = 4,
  ashlar_statistics_level_all = 5,
};

// PrepopulateBlobCache.
enum {
  ashlar_prepopulate_blob_disable = 0,
  ashlar_prepopulate_blob_flush_only = 1,
};

// WALRecoveryMode.
enum {
  ashlar_tolerate_corrupted_tail_records_recovery = 0,
  ashlar_absolute_consistency_recovery = 1,
  ashlar_point_in_time_recovery = 2,
  ashlar_skip_any_corrupted_records_recovery = 3,
};

// CompressionType.
enum {
  ashlar_no_compression = 0,
  ashlar_snappy_compression = 1,
  ashlar_zlib_compression = 2,
  ashlar_bz2_compression = 3,
  ashlar_lz4_compression = 4,
  ashlar_lz4hc_compression = 5,
  ashlar_xpress_compression = 6,
  ashlar_zstd_compression = 7,
};

// CompactionStyle.
enum {
  ashlar_level_compaction = 0,
  ashlar_universal_compaction = 1,
  ashlar_fifo_compaction = 2,
};

// CompactionPri.
enum {
  ashlar_k_by_compensated_size_compaction_pri = 0,
  ashlar_k_oldest_largest_seq_first_compaction_pri = 1,
  ashlar_k_oldest_smallest_seq_first_compaction_pri = 2,
  ashlar_k_min_overlapping_ratio_compaction_pri = 3,
  ashlar_k_round_robin_compaction_pri = 4,
};

// Levels for ashlar_set_perf_level(). That takes any value of PerfLevel, which has got more levels
// since the last names below were given: 4 leaves out the times of mutexes, 6 has all times.
enum {
  ashlar_uninitialized = 0,
  ashlar_disable = 1,
  ashlar_enable_count = 2,
  ashlar_enable_time_except_for_mutex = 3,
  ashlar_enable_time = 4,
  ashlar_out_of_bounds = 5,
};

// Counters for ashlar_perfcontext_metric(): PerfContext in ashlar/perf_context.h describes them.
enum {
  ashlar_user_key_comparison_count = 0,
  ashlar_block_cache_hit_count = 1,
  ashlar_block_read_count = 2,
  ashlar_block_read_byte = 3,
  ashlar_block_read_time = 4,
  ashlar_block_checksum_time = 5,
  ashlar_block_decompress_time = 6,
  ashlar_get_read_bytes = 7,
  ashlar_multiget_read_bytes = 8,
  ashlar_iter_read_bytes = 9,
  ashlar_internal_key_skipped_count = 10,
  ashlar_internal_delete_skipped_count = 11,
  ashlar_internal_recent_skipped_count = 12,
  ashlar_internal_merge_count = 13,
  ashlar_get_snapshot_time = 14,
  ashlar_get_from_memtable_time = 15,
  ashlar_get_from_memtable_count = 16,
  ashlar_get_post_process_time = 17,
  ashlar_get_from_output_files_time = 18,
  ashlar_seek_on_memtable_time = 19,
  ashlar_seek_on_memtable_count = 20,
  ashlar_next_on_memtable_count = 21,
  ashlar_prev_on_memtable_count = 22,
  ashlar_seek_child_seek_time = 23,
  ashlar_seek_child_seek_count = 24,
  ashlar_seek_min_heap_time = 25,
  ashlar_seek_max_heap_time = 26,
  ashlar_seek_internal_seek_time = 27,
  ashlar_find_next_user_entry_time = 28,
  ashlar_write_wal_time = 29,
  ashlar_write_memtable_time = 30,
  ashlar_write_delay_time = 31,
  ashlar_write_pre_and_post_process_time = 32,
  ashlar_db_mutex_lock_nanos = 33,
  ashlar_db_condition_wait_nanos = 34,
  ashlar_merge_operator_time_nanos = 35,
  ashlar_read_index_block_nanos = 36,
  ashlar_read_filter_block_nanos = 37,
  ashlar_new_table_block_iter_nanos = 38,
  ashlar_new_table_iterator_nanos = 39,
  ashlar_block_seek_nanos = 40,
  ashlar_find_table_nanos = 41,
  ashlar_bloom_memtable_hit_count = 42,
  ashlar_bloom_memtable_miss_count = 43,
  ashlar_bloom_sst_hit_count = 44,
  ashlar_bloom_sst_miss_count = 45,
  ashlar_key_lock_wait_time = 46,
  ashlar_key_lock_wait_count = 47,
  ashlar_env_new_sequential_file_nanos = 48,
  ashlar_env_new_random_access_file_nanos = 49,
  ashlar_env_new_writable_file_nanos = 50,
  ashlar_env_reuse_writable_file_nanos = 51,
  ashlar_env_new_random_rw_file_nanos = 52,
  ashlar_env_new_directory_nanos = 53,
  ashlar_env_file_exists_nanos = 54,
  ashlar_env_get_children_nanos = 55,
  ashlar_env_get_children_file_attributes_nanos = 56,
  ashlar_env_delete_file_nanos = 57,
  ashlar_env_create_dir_nanos = 58,
  ashlar_env_create_dir_if_missing_nanos = 59,
  ashlar_env_delete_dir_nanos = 60,
  ashlar_env_get_file_size_nanos = 61,
  ashlar_env_get_file_modification_time_nanos = 62,
  ashlar_env_rename_file_nanos = 63,
  ashlar_env_link_file_nanos = 64,
  ashlar_env_lock_file_nanos = 65,
  ashlar_env_unlock_file_nanos = 66,
  ashlar_env_new_logger_nanos = 67,
  ashlar_number_async_seek = 68,
  ashlar_blob_cache_hit_count = 69,
  ashlar_blob_read_count = 70,
  ashlar_blob_read_byte = 71,
  ashlar_blob_read_time = 72,
  ashlar_blob_checksum_time = 73,
  ashlar_blob_decompress_time = 74,
  ashlar_internal_range_del_reseek_count = 75,
  ashlar_block_read_cpu_time = 76,
  ashlar_internal_merge_point_lookup_count = 77,
  ashlar_data_block_read_byte = 78,
  ashlar_index_block_read_byte = 79,
  ashlar_filter_block_read_byte = 80,
  ashlar_compression_dict_block_read_byte = 81,
  ashlar_metadata_block_read_byte = 82,
  ashlar_blob_cache_read_byte = 83,
  ashlar_total_metric_count = 86,
};

// Operations that a trace leaves out: TraceFilterType.
enum {
  ashlar_trace_filter_none = 0,
  ashlar_trace_filter_get = 1,
  ashlar_trace_filter_write = 2,
  ashlar_trace_filter_iterator_seek = 4,
  ashlar_trace_filter_iterator_seek_for_prev = 8,
  ashlar_trace_filter_multi_get = 16,
};

// CompactionStopStyle.
enum {
  ashlar_similar_size_compaction_stop_style = 0,
  ashlar_total_size_compaction_stop_style = 1,
};

// TxnDBWritePolicy.
enum {
  ashlar_txndb_write_policy_write_committed = 0,
  ashlar_txndb_write_policy_write_prepared = 1,
  ashlar_txndb_write_policy_write_unprepared = 2,
};

// CompactionServiceJobStatus.
enum {
  ashlar_compactionservice_jobstatus_success = 0,
  ashlar_compactionservice_jobstatus_failure = 1,
  ashlar_compactionservice_jobstatus_aborted = 2,
  ashlar_compactionservice_jobstatus_use_local = 3,
};
