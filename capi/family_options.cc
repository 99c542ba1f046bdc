// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of a column family. Made by tools/make_c_options.py.
#include "ashlar/c/family_options.h"

#include "capi/members.h"
#include "capi/option_handles.h"

using ashlar::capi::Get;
using ashlar::capi::Set;

// One line for each function.
// clang-format off

// ---- ColumnFamilyOptions

void ashlar_options_set_write_buffer_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.write_buffer_size, v); }
size_t ashlar_options_get_write_buffer_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.write_buffer_size); }
void ashlar_options_set_compression(ashlar_options_t* opt, int v) { Set(opt->rep.compression, v); }
int ashlar_options_get_compression(ashlar_options_t* opt) { return Get<int>(opt->rep.compression); }
void ashlar_options_set_bottommost_compression(ashlar_options_t* opt, int v) { Set(opt->rep.bottommost_compression, v); }
int ashlar_options_get_bottommost_compression(ashlar_options_t* opt) { return Get<int>(opt->rep.bottommost_compression); }
void ashlar_options_set_level0_file_num_compaction_trigger(ashlar_options_t* opt, int v) { Set(opt->rep.level0_file_num_compaction_trigger, v); }
int ashlar_options_get_level0_file_num_compaction_trigger(ashlar_options_t* opt) { return Get<int>(opt->rep.level0_file_num_compaction_trigger); }
void ashlar_options_set_max_bytes_for_level_base(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.max_bytes_for_level_base, v); }
uint64_t ashlar_options_get_max_bytes_for_level_base(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.max_bytes_for_level_base); }
void ashlar_options_set_disable_auto_compactions(ashlar_options_t* opt, int v) { Set(opt->rep.disable_auto_compactions, v); }
unsigned char ashlar_options_get_disable_auto_compactions(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.disable_auto_compactions); }
void ashlar_options_set_memtable_max_range_deletions(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.memtable_max_range_deletions, v); }
uint32_t ashlar_options_get_memtable_max_range_deletions(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.memtable_max_range_deletions); }
void ashlar_options_set_uncache_aggressiveness(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.uncache_aggressiveness, v); }
uint32_t ashlar_options_get_uncache_aggressiveness(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.uncache_aggressiveness); }
void ashlar_options_set_compression_options_zstd_max_train_bytes(ashlar_options_t* opt, int v) { Set(opt->rep.compression_opts.zstd_max_train_bytes, v); }
int ashlar_options_get_compression_options_zstd_max_train_bytes(ashlar_options_t* opt) { return Get<int>(opt->rep.compression_opts.zstd_max_train_bytes); }
void ashlar_options_set_compression_options_use_zstd_dict_trainer(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.compression_opts.use_zstd_dict_trainer, v); }
unsigned char ashlar_options_get_compression_options_use_zstd_dict_trainer(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.compression_opts.use_zstd_dict_trainer); }
void ashlar_options_set_compression_options_parallel_threads(ashlar_options_t* opt, int v) { Set(opt->rep.compression_opts.parallel_threads, v); }
int ashlar_options_get_compression_options_parallel_threads(ashlar_options_t* opt) { return Get<int>(opt->rep.compression_opts.parallel_threads); }
void ashlar_options_set_compression_options_max_dict_buffer_bytes(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.compression_opts.max_dict_buffer_bytes, v); }
uint64_t ashlar_options_get_compression_options_max_dict_buffer_bytes(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.compression_opts.max_dict_buffer_bytes); }

// ---- AdvancedColumnFamilyOptions

void ashlar_options_set_max_write_buffer_number(ashlar_options_t* opt, int v) { Set(opt->rep.max_write_buffer_number, v); }
int ashlar_options_get_max_write_buffer_number(ashlar_options_t* opt) { return Get<int>(opt->rep.max_write_buffer_number); }
void ashlar_options_set_min_write_buffer_number_to_merge(ashlar_options_t* opt, int v) { Set(opt->rep.min_write_buffer_number_to_merge, v); }
int ashlar_options_get_min_write_buffer_number_to_merge(ashlar_options_t* opt) { return Get<int>(opt->rep.min_write_buffer_number_to_merge); }
void ashlar_options_set_max_write_buffer_size_to_maintain(ashlar_options_t* opt, int64_t v) { Set(opt->rep.max_write_buffer_size_to_maintain, v); }
int64_t ashlar_options_get_max_write_buffer_size_to_maintain(ashlar_options_t* opt) { return Get<int64_t>(opt->rep.max_write_buffer_size_to_maintain); }
void ashlar_options_set_inplace_update_support(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.inplace_update_support, v); }
unsigned char ashlar_options_get_inplace_update_support(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.inplace_update_support); }
void ashlar_options_set_inplace_update_num_locks(ashlar_options_t* opt, size_t v) { Set(opt->rep.inplace_update_num_locks, v); }
size_t ashlar_options_get_inplace_update_num_locks(ashlar_options_t* opt) { return Get<size_t>(opt->rep.inplace_update_num_locks); }
void ashlar_options_set_experimental_mempurge_threshold(ashlar_options_t* opt, double v) { Set(opt->rep.experimental_mempurge_threshold, v); }
double ashlar_options_get_experimental_mempurge_threshold(ashlar_options_t* opt) { return Get<double>(opt->rep.experimental_mempurge_threshold); }
void ashlar_options_set_memtable_prefix_bloom_size_ratio(ashlar_options_t* opt, double v) { Set(opt->rep.memtable_prefix_bloom_size_ratio, v); }
double ashlar_options_get_memtable_prefix_bloom_size_ratio(ashlar_options_t* opt) { return Get<double>(opt->rep.memtable_prefix_bloom_size_ratio); }
void ashlar_options_set_memtable_whole_key_filtering(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.memtable_whole_key_filtering, v); }
unsigned char ashlar_options_get_memtable_whole_key_filtering(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.memtable_whole_key_filtering); }
void ashlar_options_set_memtable_huge_page_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.memtable_huge_page_size, v); }
size_t ashlar_options_get_memtable_huge_page_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.memtable_huge_page_size); }
void ashlar_options_set_bloom_locality(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.bloom_locality, v); }
uint32_t ashlar_options_get_bloom_locality(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.bloom_locality); }
void ashlar_options_set_arena_block_size(ashlar_options_t* opt, size_t v) { Set(opt->rep.arena_block_size, v); }
size_t ashlar_options_get_arena_block_size(ashlar_options_t* opt) { return Get<size_t>(opt->rep.arena_block_size); }
void ashlar_options_set_num_levels(ashlar_options_t* opt, int v) { Set(opt->rep.num_levels, v); }
int ashlar_options_get_num_levels(ashlar_options_t* opt) { return Get<int>(opt->rep.num_levels); }
void ashlar_options_set_level0_slowdown_writes_trigger(ashlar_options_t* opt, int v) { Set(opt->rep.level0_slowdown_writes_trigger, v); }
int ashlar_options_get_level0_slowdown_writes_trigger(ashlar_options_t* opt) { return Get<int>(opt->rep.level0_slowdown_writes_trigger); }
void ashlar_options_set_level0_stop_writes_trigger(ashlar_options_t* opt, int v) { Set(opt->rep.level0_stop_writes_trigger, v); }
int ashlar_options_get_level0_stop_writes_trigger(ashlar_options_t* opt) { return Get<int>(opt->rep.level0_stop_writes_trigger); }
void ashlar_options_set_target_file_size_base(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.target_file_size_base, v); }
uint64_t ashlar_options_get_target_file_size_base(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.target_file_size_base); }
void ashlar_options_set_target_file_size_multiplier(ashlar_options_t* opt, int v) { Set(opt->rep.target_file_size_multiplier, v); }
int ashlar_options_get_target_file_size_multiplier(ashlar_options_t* opt) { return Get<int>(opt->rep.target_file_size_multiplier); }
void ashlar_options_set_target_file_size_is_upper_bound(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.target_file_size_is_upper_bound, v); }
unsigned char ashlar_options_get_target_file_size_is_upper_bound(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.target_file_size_is_upper_bound); }
void ashlar_options_set_level_compaction_dynamic_level_bytes(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.level_compaction_dynamic_level_bytes, v); }
unsigned char ashlar_options_get_level_compaction_dynamic_level_bytes(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.level_compaction_dynamic_level_bytes); }
void ashlar_options_set_max_bytes_for_level_multiplier(ashlar_options_t* opt, double v) { Set(opt->rep.max_bytes_for_level_multiplier, v); }
double ashlar_options_get_max_bytes_for_level_multiplier(ashlar_options_t* opt) { return Get<double>(opt->rep.max_bytes_for_level_multiplier); }
void ashlar_options_set_max_compaction_bytes(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.max_compaction_bytes, v); }
uint64_t ashlar_options_get_max_compaction_bytes(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.max_compaction_bytes); }
void ashlar_options_set_soft_pending_compaction_bytes_limit(ashlar_options_t* opt, size_t v) { Set(opt->rep.soft_pending_compaction_bytes_limit, v); }
size_t ashlar_options_get_soft_pending_compaction_bytes_limit(ashlar_options_t* opt) { return Get<size_t>(opt->rep.soft_pending_compaction_bytes_limit); }
void ashlar_options_set_hard_pending_compaction_bytes_limit(ashlar_options_t* opt, size_t v) { Set(opt->rep.hard_pending_compaction_bytes_limit, v); }
size_t ashlar_options_get_hard_pending_compaction_bytes_limit(ashlar_options_t* opt) { return Get<size_t>(opt->rep.hard_pending_compaction_bytes_limit); }
void ashlar_options_set_compaction_style(ashlar_options_t* opt, int v) { Set(opt->rep.compaction_style, v); }
int ashlar_options_get_compaction_style(ashlar_options_t* opt) { return Get<int>(opt->rep.compaction_style); }
void ashlar_options_set_compaction_pri(ashlar_options_t* opt, int v) { Set(opt->rep.compaction_pri, v); }
int ashlar_options_get_compaction_pri(ashlar_options_t* opt) { return Get<int>(opt->rep.compaction_pri); }
void ashlar_options_set_max_sequential_skip_in_iterations(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.max_sequential_skip_in_iterations, v); }
uint64_t ashlar_options_get_max_sequential_skip_in_iterations(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.max_sequential_skip_in_iterations); }
void ashlar_options_set_max_successive_merges(ashlar_options_t* opt, size_t v) { Set(opt->rep.max_successive_merges, v); }
size_t ashlar_options_get_max_successive_merges(ashlar_options_t* opt) { return Get<size_t>(opt->rep.max_successive_merges); }
void ashlar_options_set_strict_max_successive_merges(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.strict_max_successive_merges, v); }
unsigned char ashlar_options_get_strict_max_successive_merges(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.strict_max_successive_merges); }
void ashlar_options_set_optimize_filters_for_hits(ashlar_options_t* opt, int v) { Set(opt->rep.optimize_filters_for_hits, v); }
unsigned char ashlar_options_get_optimize_filters_for_hits(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.optimize_filters_for_hits); }
void ashlar_options_set_paranoid_file_checks(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.paranoid_file_checks, v); }
unsigned char ashlar_options_get_paranoid_file_checks(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.paranoid_file_checks); }
void ashlar_options_set_verify_output_flags(ashlar_options_t* opt, int v) { Set(opt->rep.verify_output_flags, v); }
int ashlar_options_get_verify_output_flags(ashlar_options_t* opt) { return Get<int>(opt->rep.verify_output_flags); }
void ashlar_options_set_force_consistency_checks(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.force_consistency_checks, v); }
unsigned char ashlar_options_get_force_consistency_checks(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.force_consistency_checks); }
void ashlar_options_set_report_bg_io_stats(ashlar_options_t* opt, int v) { Set(opt->rep.report_bg_io_stats, v); }
unsigned char ashlar_options_get_report_bg_io_stats(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.report_bg_io_stats); }
void ashlar_options_set_disallow_memtable_writes(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.disallow_memtable_writes, v); }
unsigned char ashlar_options_get_disallow_memtable_writes(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.disallow_memtable_writes); }
void ashlar_options_set_ttl(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.ttl, v); }
uint64_t ashlar_options_get_ttl(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.ttl); }
void ashlar_options_set_periodic_compaction_seconds(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.periodic_compaction_seconds, v); }
uint64_t ashlar_options_get_periodic_compaction_seconds(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.periodic_compaction_seconds); }
void ashlar_options_set_read_triggered_compaction_threshold(ashlar_options_t* opt, double v) { Set(opt->rep.read_triggered_compaction_threshold, v); }
double ashlar_options_get_read_triggered_compaction_threshold(ashlar_options_t* opt) { return Get<double>(opt->rep.read_triggered_compaction_threshold); }
void ashlar_options_set_sample_for_compression(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.sample_for_compression, v); }
uint64_t ashlar_options_get_sample_for_compression(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.sample_for_compression); }
void ashlar_options_set_last_level_temperature(ashlar_options_t* opt, int v) { Set(opt->rep.last_level_temperature, v); }
int ashlar_options_get_last_level_temperature(ashlar_options_t* opt) { return Get<int>(opt->rep.last_level_temperature); }
void ashlar_options_set_default_write_temperature(ashlar_options_t* opt, int v) { Set(opt->rep.default_write_temperature, v); }
int ashlar_options_get_default_write_temperature(ashlar_options_t* opt) { return Get<int>(opt->rep.default_write_temperature); }
void ashlar_options_set_default_temperature(ashlar_options_t* opt, int v) { Set(opt->rep.default_temperature, v); }
int ashlar_options_get_default_temperature(ashlar_options_t* opt) { return Get<int>(opt->rep.default_temperature); }
void ashlar_options_set_preclude_last_level_data_seconds(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.preclude_last_level_data_seconds, v); }
uint64_t ashlar_options_get_preclude_last_level_data_seconds(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.preclude_last_level_data_seconds); }
void ashlar_options_set_preserve_internal_time_seconds(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.preserve_internal_time_seconds, v); }
uint64_t ashlar_options_get_preserve_internal_time_seconds(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.preserve_internal_time_seconds); }
void ashlar_options_set_enable_blob_files(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enable_blob_files, v); }
unsigned char ashlar_options_get_enable_blob_files(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enable_blob_files); }
void ashlar_options_set_min_blob_size(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.min_blob_size, v); }
uint64_t ashlar_options_get_min_blob_size(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.min_blob_size); }
void ashlar_options_set_blob_file_size(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.blob_file_size, v); }
uint64_t ashlar_options_get_blob_file_size(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.blob_file_size); }
void ashlar_options_set_blob_compression_type(ashlar_options_t* opt, int v) { Set(opt->rep.blob_compression_type, v); }
int ashlar_options_get_blob_compression_type(ashlar_options_t* opt) { return Get<int>(opt->rep.blob_compression_type); }
void ashlar_options_set_enable_blob_gc(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enable_blob_garbage_collection, v); }
unsigned char ashlar_options_get_enable_blob_gc(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enable_blob_garbage_collection); }
void ashlar_options_set_blob_gc_age_cutoff(ashlar_options_t* opt, double v) { Set(opt->rep.blob_garbage_collection_age_cutoff, v); }
double ashlar_options_get_blob_gc_age_cutoff(ashlar_options_t* opt) { return Get<double>(opt->rep.blob_garbage_collection_age_cutoff); }
void ashlar_options_set_blob_gc_force_threshold(ashlar_options_t* opt, double v) { Set(opt->rep.blob_garbage_collection_force_threshold, v); }
double ashlar_options_get_blob_gc_force_threshold(ashlar_options_t* opt) { return Get<double>(opt->rep.blob_garbage_collection_force_threshold); }
void ashlar_options_set_blob_compaction_readahead_size(ashlar_options_t* opt, uint64_t v) { Set(opt->rep.blob_compaction_readahead_size, v); }
uint64_t ashlar_options_get_blob_compaction_readahead_size(ashlar_options_t* opt) { return Get<uint64_t>(opt->rep.blob_compaction_readahead_size); }
void ashlar_options_set_blob_file_starting_level(ashlar_options_t* opt, int v) { Set(opt->rep.blob_file_starting_level, v); }
int ashlar_options_get_blob_file_starting_level(ashlar_options_t* opt) { return Get<int>(opt->rep.blob_file_starting_level); }
void ashlar_options_set_prepopulate_blob_cache(ashlar_options_t* opt, int v) { Set(opt->rep.prepopulate_blob_cache, v); }
int ashlar_options_get_prepopulate_blob_cache(ashlar_options_t* opt) { return Get<int>(opt->rep.prepopulate_blob_cache); }
void ashlar_options_set_enable_blob_direct_write(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.enable_blob_direct_write, v); }
unsigned char ashlar_options_get_enable_blob_direct_write(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.enable_blob_direct_write); }
void ashlar_options_set_blob_direct_write_partitions(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.blob_direct_write_partitions, v); }
uint32_t ashlar_options_get_blob_direct_write_partitions(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.blob_direct_write_partitions); }
void ashlar_options_set_memtable_protection_bytes_per_key(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.memtable_protection_bytes_per_key, v); }
uint32_t ashlar_options_get_memtable_protection_bytes_per_key(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.memtable_protection_bytes_per_key); }
void ashlar_options_set_persist_user_defined_timestamps(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.persist_user_defined_timestamps, v); }
unsigned char ashlar_options_get_persist_user_defined_timestamps(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.persist_user_defined_timestamps); }
void ashlar_options_set_block_protection_bytes_per_key(ashlar_options_t* opt, uint8_t v) { Set(opt->rep.block_protection_bytes_per_key, v); }
uint8_t ashlar_options_get_block_protection_bytes_per_key(ashlar_options_t* opt) { return Get<uint8_t>(opt->rep.block_protection_bytes_per_key); }
void ashlar_options_set_bottommost_file_compaction_delay(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.bottommost_file_compaction_delay, v); }
uint32_t ashlar_options_get_bottommost_file_compaction_delay(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.bottommost_file_compaction_delay); }
void ashlar_options_set_paranoid_memory_checks(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.paranoid_memory_checks, v); }
unsigned char ashlar_options_get_paranoid_memory_checks(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.paranoid_memory_checks); }
void ashlar_options_set_memtable_verify_per_key_checksum_on_seek(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.memtable_verify_per_key_checksum_on_seek, v); }
unsigned char ashlar_options_get_memtable_verify_per_key_checksum_on_seek(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.memtable_verify_per_key_checksum_on_seek); }
void ashlar_options_set_memtable_op_scan_flush_trigger(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.memtable_op_scan_flush_trigger, v); }
uint32_t ashlar_options_get_memtable_op_scan_flush_trigger(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.memtable_op_scan_flush_trigger); }
void ashlar_options_set_memtable_avg_op_scan_flush_trigger(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.memtable_avg_op_scan_flush_trigger, v); }
uint32_t ashlar_options_get_memtable_avg_op_scan_flush_trigger(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.memtable_avg_op_scan_flush_trigger); }
void ashlar_options_set_min_tombstones_for_range_conversion(ashlar_options_t* opt, uint32_t v) { Set(opt->rep.min_tombstones_for_range_conversion, v); }
uint32_t ashlar_options_get_min_tombstones_for_range_conversion(ashlar_options_t* opt) { return Get<uint32_t>(opt->rep.min_tombstones_for_range_conversion); }
void ashlar_options_set_cf_allow_ingest_behind(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.cf_allow_ingest_behind, v); }
unsigned char ashlar_options_get_cf_allow_ingest_behind(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.cf_allow_ingest_behind); }
void ashlar_options_set_memtable_batch_lookup_optimization(ashlar_options_t* opt, unsigned char v) { Set(opt->rep.memtable_batch_lookup_optimization, v); }
unsigned char ashlar_options_get_memtable_batch_lookup_optimization(ashlar_options_t* opt) { return Get<unsigned char>(opt->rep.memtable_batch_lookup_optimization); }
void ashlar_options_set_max_write_buffer_number_to_maintain(ashlar_options_t* opt, int v) { Set(opt->rep.max_write_buffer_number_to_maintain, v); }
int ashlar_options_get_max_write_buffer_number_to_maintain(ashlar_options_t* opt) { return Get<int>(opt->rep.max_write_buffer_number_to_maintain); }

// ---- CompactionOptionsUniversal

ashlar_universal_compaction_options_t* ashlar_universal_compaction_options_create() { return new ashlar_universal_compaction_options_t; }
void ashlar_universal_compaction_options_destroy(ashlar_universal_compaction_options_t* opt) { delete opt; }
void ashlar_universal_compaction_options_set_size_ratio(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.size_ratio, v); }
int ashlar_universal_compaction_options_get_size_ratio(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.size_ratio); }
void ashlar_universal_compaction_options_set_min_merge_width(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.min_merge_width, v); }
int ashlar_universal_compaction_options_get_min_merge_width(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.min_merge_width); }
void ashlar_universal_compaction_options_set_max_merge_width(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.max_merge_width, v); }
int ashlar_universal_compaction_options_get_max_merge_width(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.max_merge_width); }
void ashlar_universal_compaction_options_set_max_size_amplification_percent(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.max_size_amplification_percent, v); }
int ashlar_universal_compaction_options_get_max_size_amplification_percent(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.max_size_amplification_percent); }
void ashlar_universal_compaction_options_set_compression_size_percent(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.compression_size_percent, v); }
int ashlar_universal_compaction_options_get_compression_size_percent(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.compression_size_percent); }
void ashlar_universal_compaction_options_set_max_read_amp(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.max_read_amp, v); }
int ashlar_universal_compaction_options_get_max_read_amp(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.max_read_amp); }
void ashlar_universal_compaction_options_set_stop_style(ashlar_universal_compaction_options_t* opt, int v) { Set(opt->rep.stop_style, v); }
int ashlar_universal_compaction_options_get_stop_style(ashlar_universal_compaction_options_t* opt) { return Get<int>(opt->rep.stop_style); }
void ashlar_universal_compaction_options_set_allow_trivial_move(ashlar_universal_compaction_options_t* opt, unsigned char v) { Set(opt->rep.allow_trivial_move, v); }
unsigned char ashlar_universal_compaction_options_get_allow_trivial_move(ashlar_universal_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.allow_trivial_move); }
void ashlar_universal_compaction_options_set_incremental(ashlar_universal_compaction_options_t* opt, unsigned char v) { Set(opt->rep.incremental, v); }
unsigned char ashlar_universal_compaction_options_get_incremental(ashlar_universal_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.incremental); }
void ashlar_universal_compaction_options_set_reduce_file_locking(ashlar_universal_compaction_options_t* opt, unsigned char v) { Set(opt->rep.reduce_file_locking, v); }
unsigned char ashlar_universal_compaction_options_get_reduce_file_locking(ashlar_universal_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.reduce_file_locking); }

// ---- CompactionOptionsFIFO

ashlar_fifo_compaction_options_t* ashlar_fifo_compaction_options_create() { return new ashlar_fifo_compaction_options_t; }
void ashlar_fifo_compaction_options_destroy(ashlar_fifo_compaction_options_t* opt) { delete opt; }
void ashlar_fifo_compaction_options_set_max_table_files_size(ashlar_fifo_compaction_options_t* opt, uint64_t v) { Set(opt->rep.max_table_files_size, v); }
uint64_t ashlar_fifo_compaction_options_get_max_table_files_size(ashlar_fifo_compaction_options_t* opt) { return Get<uint64_t>(opt->rep.max_table_files_size); }
void ashlar_fifo_compaction_options_set_allow_compaction(ashlar_fifo_compaction_options_t* opt, unsigned char v) { Set(opt->rep.allow_compaction, v); }
unsigned char ashlar_fifo_compaction_options_get_allow_compaction(ashlar_fifo_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.allow_compaction); }
void ashlar_fifo_compaction_options_set_age_for_warm(ashlar_fifo_compaction_options_t* opt, uint64_t v) { Set(opt->rep.age_for_warm, v); }
uint64_t ashlar_fifo_compaction_options_get_age_for_warm(ashlar_fifo_compaction_options_t* opt) { return Get<uint64_t>(opt->rep.age_for_warm); }
void ashlar_fifo_compaction_options_set_allow_trivial_copy_when_change_temperature(ashlar_fifo_compaction_options_t* opt, unsigned char v) { Set(opt->rep.allow_trivial_copy_when_change_temperature, v); }
unsigned char ashlar_fifo_compaction_options_get_allow_trivial_copy_when_change_temperature(ashlar_fifo_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.allow_trivial_copy_when_change_temperature); }
void ashlar_fifo_compaction_options_set_trivial_copy_buffer_size(ashlar_fifo_compaction_options_t* opt, uint64_t v) { Set(opt->rep.trivial_copy_buffer_size, v); }
uint64_t ashlar_fifo_compaction_options_get_trivial_copy_buffer_size(ashlar_fifo_compaction_options_t* opt) { return Get<uint64_t>(opt->rep.trivial_copy_buffer_size); }
void ashlar_fifo_compaction_options_set_max_data_files_size(ashlar_fifo_compaction_options_t* opt, uint64_t v) { Set(opt->rep.max_data_files_size, v); }
uint64_t ashlar_fifo_compaction_options_get_max_data_files_size(ashlar_fifo_compaction_options_t* opt) { return Get<uint64_t>(opt->rep.max_data_files_size); }
void ashlar_fifo_compaction_options_set_use_kv_ratio_compaction(ashlar_fifo_compaction_options_t* opt, unsigned char v) { Set(opt->rep.use_kv_ratio_compaction, v); }
unsigned char ashlar_fifo_compaction_options_get_use_kv_ratio_compaction(ashlar_fifo_compaction_options_t* opt) { return Get<unsigned char>(opt->rep.use_kv_ratio_compaction); }
