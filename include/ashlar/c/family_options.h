// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of a column family. Made by tools/make_c_options.py.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The members of ColumnFamilyOptions, which ashlar/options.h describes.
void ashlar_options_set_write_buffer_size(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_write_buffer_size(ashlar_options_t* opt);
void ashlar_options_set_compression(ashlar_options_t* opt, int v);
int ashlar_options_get_compression(ashlar_options_t* opt);
void ashlar_options_set_bottommost_compression(ashlar_options_t* opt, int v);
int ashlar_options_get_bottommost_compression(ashlar_options_t* opt);
void ashlar_options_set_level0_file_num_compaction_trigger(ashlar_options_t* opt, int v);
int ashlar_options_get_level0_file_num_compaction_trigger(ashlar_options_t* opt);
void ashlar_options_set_max_bytes_for_level_base(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_max_bytes_for_level_base(ashlar_options_t* opt);
void ashlar_options_set_disable_auto_compactions(ashlar_options_t* opt, int v);
unsigned char ashlar_options_get_disable_auto_compactions(ashlar_options_t* opt);
void ashlar_options_set_memtable_max_range_deletions(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_memtable_max_range_deletions(ashlar_options_t* opt);
void ashlar_options_set_uncache_aggressiveness(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_uncache_aggressiveness(ashlar_options_t* opt);
void ashlar_options_set_compression_options_zstd_max_train_bytes(ashlar_options_t* opt, int v);
int ashlar_options_get_compression_options_zstd_max_train_bytes(ashlar_options_t* opt);
void ashlar_options_set_compression_options_use_zstd_dict_trainer(ashlar_options_t* opt,
                                                                  unsigned char v);
unsigned char ashlar_options_get_compression_options_use_zstd_dict_trainer(ashlar_options_t* opt);
void ashlar_options_set_compression_options_parallel_threads(ashlar_options_t* opt, int v);
int ashlar_options_get_compression_options_parallel_threads(ashlar_options_t* opt);
void ashlar_options_set_compression_options_max_dict_buffer_bytes(ashlar_options_t* opt,
                                                                  uint64_t v);
uint64_t ashlar_options_get_compression_options_max_dict_buffer_bytes(ashlar_options_t* opt);

// The members of AdvancedColumnFamilyOptions, which ashlar/advanced_options.h describes.
void ashlar_options_set_max_write_buffer_number(ashlar_options_t* opt, int v);
int ashlar_options_get_max_write_buffer_number(ashlar_options_t* opt);
void ashlar_options_set_min_write_buffer_number_to_merge(ashlar_options_t* opt, int v);
int ashlar_options_get_min_write_buffer_number_to_merge(ashlar_options_t* opt);
void ashlar_options_set_max_write_buffer_size_to_maintain(ashlar_options_t* opt, int64_t v);
int64_t ashlar_options_get_max_write_buffer_size_to_maintain(ashlar_options_t* opt);
void ashlar_options_set_inplace_update_support(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_inplace_update_support(ashlar_options_t* opt);
void ashlar_options_set_inplace_update_num_locks(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_inplace_update_num_locks(ashlar_options_t* opt);
void ashlar_options_set_experimental_mempurge_threshold(ashlar_options_t* opt, double v);
double ashlar_options_get_experimental_mempurge_threshold(ashlar_options_t* opt);
void ashlar_options_set_memtable_prefix_bloom_size_ratio(ashlar_options_t* opt, double v);
double ashlar_options_get_memtable_prefix_bloom_size_ratio(ashlar_options_t* opt);
void ashlar_options_set_memtable_whole_key_filtering(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_memtable_whole_key_filtering(ashlar_options_t* opt);
void ashlar_options_set_memtable_huge_page_size(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_memtable_huge_page_size(ashlar_options_t* opt);
void ashlar_options_set_bloom_locality(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_bloom_locality(ashlar_options_t* opt);
void ashlar_options_set_arena_block_size(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_arena_block_size(ashlar_options_t* opt);
void ashlar_options_set_num_levels(ashlar_options_t* opt, int v);
int ashlar_options_get_num_levels(ashlar_options_t* opt);
void ashlar_options_set_level0_slowdown_writes_trigger(ashlar_options_t* opt, int v);
int ashlar_options_get_level0_slowdown_writes_trigger(ashlar_options_t* opt);
void ashlar_options_set_level0_stop_writes_trigger(ashlar_options_t* opt, int v);
int ashlar_options_get_level0_stop_writes_trigger(ashlar_options_t* opt);
void ashlar_options_set_target_file_size_base(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_target_file_size_base(ashlar_options_t* opt);
void ashlar_options_set_target_file_size_multiplier(ashlar_options_t* opt, int v);
int ashlar_options_get_target_file_size_multiplier(ashlar_options_t* opt);
void ashlar_options_set_target_file_size_is_upper_bound(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_target_file_size_is_upper_bound(ashlar_options_t* opt);
void ashlar_options_set_level_compaction_dynamic_level_bytes(ashlar_options_t* opt,
                                                             unsigned char v);
unsigned char ashlar_options_get_level_compaction_dynamic_level_bytes(ashlar_options_t* opt);
void ashlar_options_set_max_bytes_for_level_multiplier(ashlar_options_t* opt, double v);
double ashlar_options_get_max_bytes_for_level_multiplier(ashlar_options_t* opt);
void ashlar_options_set_max_compaction_bytes(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_max_compaction_bytes(ashlar_options_t* opt);
void ashlar_options_set_soft_pending_compaction_bytes_limit(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_soft_pending_compaction_bytes_limit(ashlar_options_t* opt);
void ashlar_options_set_hard_pending_compaction_bytes_limit(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_hard_pending_compaction_bytes_limit(ashlar_options_t* opt);
void ashlar_options_set_compaction_style(ashlar_options_t* opt, int v);
int ashlar_options_get_compaction_style(ashlar_options_t* opt);
void ashlar_options_set_compaction_pri(ashlar_options_t* opt, int v);
int ashlar_options_get_compaction_pri(ashlar_options_t* opt);
void ashlar_options_set_max_sequential_skip_in_iterations(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_max_sequential_skip_in_iterations(ashlar_options_t* opt);
void ashlar_options_set_max_successive_merges(ashlar_options_t* opt, size_t v);
size_t ashlar_options_get_max_successive_merges(ashlar_options_t* opt);
void ashlar_options_set_strict_max_successive_merges(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_strict_max_successive_merges(ashlar_options_t* opt);
void ashlar_options_set_optimize_filters_for_hits(ashlar_options_t* opt, int v);
unsigned char ashlar_options_get_optimize_filters_for_hits(ashlar_options_t* opt);
void ashlar_options_set_paranoid_file_checks(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_paranoid_file_checks(ashlar_options_t* opt);
void ashlar_options_set_verify_output_flags(ashlar_options_t* opt, int v);
int ashlar_options_get_verify_output_flags(ashlar_options_t* opt);
void ashlar_options_set_force_consistency_checks(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_force_consistency_checks(ashlar_options_t* opt);
void ashlar_options_set_report_bg_io_stats(ashlar_options_t* opt, int v);
unsigned char ashlar_options_get_report_bg_io_stats(ashlar_options_t* opt);
void ashlar_options_set_disallow_memtable_writes(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_disallow_memtable_writes(ashlar_options_t* opt);
void ashlar_options_set_ttl(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_ttl(ashlar_options_t* opt);
void ashlar_options_set_periodic_compaction_seconds(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_periodic_compaction_seconds(ashlar_options_t* opt);
void ashlar_options_set_read_triggered_compaction_threshold(ashlar_options_t* opt, double v);
double ashlar_options_get_read_triggered_compaction_threshold(ashlar_options_t* opt);
void ashlar_options_set_sample_for_compression(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_sample_for_compression(ashlar_options_t* opt);
void ashlar_options_set_last_level_temperature(ashlar_options_t* opt, int v);
int ashlar_options_get_last_level_temperature(ashlar_options_t* opt);
void ashlar_options_set_default_write_temperature(ashlar_options_t* opt, int v);
int ashlar_options_get_default_write_temperature(ashlar_options_t* opt);
void ashlar_options_set_default_temperature(ashlar_options_t* opt, int v);
int ashlar_options_get_default_temperature(ashlar_options_t* opt);
void ashlar_options_set_preclude_last_level_data_seconds(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_preclude_last_level_data_seconds(ashlar_options_t* opt);
void ashlar_options_set_preserve_internal_time_seconds(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_preserve_internal_time_seconds(ashlar_options_t* opt);
void ashlar_options_set_enable_blob_files(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_enable_blob_files(ashlar_options_t* opt);
void ashlar_options_set_min_blob_size(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_min_blob_size(ashlar_options_t* opt);
void ashlar_options_set_blob_file_size(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_blob_file_size(ashlar_options_t* opt);
void ashlar_options_set_blob_compression_type(ashlar_options_t* opt, int v);
int ashlar_options_get_blob_compression_type(ashlar_options_t* opt);
void ashlar_options_set_enable_blob_gc(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_enable_blob_gc(ashlar_options_t* opt);
void ashlar_options_set_blob_gc_age_cutoff(ashlar_options_t* opt, double v);
double ashlar_options_get_blob_gc_age_cutoff(ashlar_options_t* opt);
void ashlar_options_set_blob_gc_force_threshold(ashlar_options_t* opt, double v);
double ashlar_options_get_blob_gc_force_threshold(ashlar_options_t* opt);
void ashlar_options_set_blob_compaction_readahead_size(ashlar_options_t* opt, uint64_t v);
uint64_t ashlar_options_get_blob_compaction_readahead_size(ashlar_options_t* opt);
void ashlar_options_set_blob_file_starting_level(ashlar_options_t* opt, int v);
int ashlar_options_get_blob_file_starting_level(ashlar_options_t* opt);
void ashlar_options_set_prepopulate_blob_cache(ashlar_options_t* opt, int v);
int ashlar_options_get_prepopulate_blob_cache(ashlar_options_t* opt);
void ashlar_options_set_enable_blob_direct_write(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_enable_blob_direct_write(ashlar_options_t* opt);
void ashlar_options_set_blob_direct_write_partitions(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_blob_direct_write_partitions(ashlar_options_t* opt);
void ashlar_options_set_memtable_protection_bytes_per_key(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_memtable_protection_bytes_per_key(ashlar_options_t* opt);
void ashlar_options_set_persist_user_defined_timestamps(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_persist_user_defined_timestamps(ashlar_options_t* opt);
void ashlar_options_set_block_protection_bytes_per_key(ashlar_options_t* opt, uint8_t v);
uint8_t ashlar_options_get_block_protection_bytes_per_key(ashlar_options_t* opt);
void ashlar_options_set_bottommost_file_compaction_delay(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_bottommost_file_compaction_delay(ashlar_options_t* opt);
void ashlar_options_set_paranoid_memory_checks(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_paranoid_memory_checks(ashlar_options_t* opt);
void ashlar_options_set_memtable_verify_per_key_checksum_on_seek(ashlar_options_t* opt,
                                                                 unsigned char v);
unsigned char ashlar_options_get_memtable_verify_per_key_checksum_on_seek(ashlar_options_t* opt);
void ashlar_options_set_memtable_op_scan_flush_trigger(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_memtable_op_scan_flush_trigger(ashlar_options_t* opt);
void ashlar_options_set_memtable_avg_op_scan_flush_trigger(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_memtable_avg_op_scan_flush_trigger(ashlar_options_t* opt);
void ashlar_options_set_min_tombstones_for_range_conversion(ashlar_options_t* opt, uint32_t v);
uint32_t ashlar_options_get_min_tombstones_for_range_conversion(ashlar_options_t* opt);
void ashlar_options_set_cf_allow_ingest_behind(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_cf_allow_ingest_behind(ashlar_options_t* opt);
void ashlar_options_set_memtable_batch_lookup_optimization(ashlar_options_t* opt, unsigned char v);
unsigned char ashlar_options_get_memtable_batch_lookup_optimization(ashlar_options_t* opt);
void ashlar_options_set_max_write_buffer_number_to_maintain(ashlar_options_t* opt, int v);
int ashlar_options_get_max_write_buffer_number_to_maintain(ashlar_options_t* opt);

// The members of CompactionOptionsUniversal, which ashlar/universal_compaction.h describes.
ashlar_universal_compaction_options_t* ashlar_universal_compaction_options_create(void);
void ashlar_universal_compaction_options_destroy(ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_size_ratio(ashlar_universal_compaction_options_t* opt,
                                                        int v);
int ashlar_universal_compaction_options_get_size_ratio(ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_min_merge_width(
    ashlar_universal_compaction_options_t* opt, int v);
int ashlar_universal_compaction_options_get_min_merge_width(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_max_merge_width(
    ashlar_universal_compaction_options_t* opt, int v);
int ashlar_universal_compaction_options_get_max_merge_width(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_max_size_amplification_percent(
    ashlar_universal_compaction_options_t* opt, int v);
int ashlar_universal_compaction_options_get_max_size_amplification_percent(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_compression_size_percent(
    ashlar_universal_compaction_options_t* opt, int v);
int ashlar_universal_compaction_options_get_compression_size_percent(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_max_read_amp(
    ashlar_universal_compaction_options_t* opt, int v);
int ashlar_universal_compaction_options_get_max_read_amp(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_stop_style(ashlar_universal_compaction_options_t* opt,
                                                        int v);
int ashlar_universal_compaction_options_get_stop_style(ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_allow_trivial_move(
    ashlar_universal_compaction_options_t* opt, unsigned char v);
unsigned char ashlar_universal_compaction_options_get_allow_trivial_move(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_incremental(ashlar_universal_compaction_options_t* opt,
                                                         unsigned char v);
unsigned char ashlar_universal_compaction_options_get_incremental(
    ashlar_universal_compaction_options_t* opt);
void ashlar_universal_compaction_options_set_reduce_file_locking(
    ashlar_universal_compaction_options_t* opt, unsigned char v);
unsigned char ashlar_universal_compaction_options_get_reduce_file_locking(
    ashlar_universal_compaction_options_t* opt);

// The members of CompactionOptionsFIFO, which ashlar/advanced_options.h describes.
ashlar_fifo_compaction_options_t* ashlar_fifo_compaction_options_create(void);
void ashlar_fifo_compaction_options_destroy(ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_max_table_files_size(ashlar_fifo_compaction_options_t* opt,
                                                             uint64_t v);
uint64_t ashlar_fifo_compaction_options_get_max_table_files_size(
    ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_allow_compaction(ashlar_fifo_compaction_options_t* opt,
                                                         unsigned char v);
unsigned char ashlar_fifo_compaction_options_get_allow_compaction(
    ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_age_for_warm(ashlar_fifo_compaction_options_t* opt,
                                                     uint64_t v);
uint64_t ashlar_fifo_compaction_options_get_age_for_warm(ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_allow_trivial_copy_when_change_temperature(
    ashlar_fifo_compaction_options_t* opt, unsigned char v);
unsigned char ashlar_fifo_compaction_options_get_allow_trivial_copy_when_change_temperature(
    ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_trivial_copy_buffer_size(
    ashlar_fifo_compaction_options_t* opt, uint64_t v);
uint64_t ashlar_fifo_compaction_options_get_trivial_copy_buffer_size(
    ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_max_data_files_size(ashlar_fifo_compaction_options_t* opt,
                                                            uint64_t v);
uint64_t ashlar_fifo_compaction_options_get_max_data_files_size(
    ashlar_fifo_compaction_options_t* opt);
void ashlar_fifo_compaction_options_set_use_kv_ratio_compaction(
    ashlar_fifo_compaction_options_t* opt, unsigned char v);
unsigned char ashlar_fifo_compaction_options_get_use_kv_ratio_compaction(
    ashlar_fifo_compaction_options_t* opt);

ASHLAR_C_END
