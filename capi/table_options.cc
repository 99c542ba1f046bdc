// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of tables. Made by tools/make_c_options.py.
#include "ashlar/c/table_options.h"

#include "capi/members.h"
#include "capi/option_handles.h"

using ashlar::capi::Get;
using ashlar::capi::Set;

// One line for each function.
// clang-format off

// ---- BlockBasedTableOptions

ashlar_block_based_table_options_t* ashlar_block_based_options_create() { return new ashlar_block_based_table_options_t; }
void ashlar_block_based_options_destroy(ashlar_block_based_table_options_t* opt) { delete opt; }
void ashlar_block_based_options_set_cache_index_and_filter_blocks(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.cache_index_and_filter_blocks, v); }
unsigned char ashlar_block_based_options_get_cache_index_and_filter_blocks(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.cache_index_and_filter_blocks); }
void ashlar_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.cache_index_and_filter_blocks_with_high_priority, v); }
unsigned char ashlar_block_based_options_get_cache_index_and_filter_blocks_with_high_priority(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.cache_index_and_filter_blocks_with_high_priority); }
void ashlar_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.pin_l0_filter_and_index_blocks_in_cache, v); }
unsigned char ashlar_block_based_options_get_pin_l0_filter_and_index_blocks_in_cache(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.pin_l0_filter_and_index_blocks_in_cache); }
void ashlar_block_based_options_set_pin_top_level_index_and_filter(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.pin_top_level_index_and_filter, v); }
unsigned char ashlar_block_based_options_get_pin_top_level_index_and_filter(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.pin_top_level_index_and_filter); }
void ashlar_block_based_options_set_index_type(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.index_type, v); }
int ashlar_block_based_options_get_index_type(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.index_type); }
void ashlar_block_based_options_set_index_block_search_type(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.index_block_search_type, v); }
int ashlar_block_based_options_get_index_block_search_type(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.index_block_search_type); }
void ashlar_block_based_options_set_data_block_index_type(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.data_block_index_type, v); }
int ashlar_block_based_options_get_data_block_index_type(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.data_block_index_type); }
void ashlar_block_based_options_set_data_block_hash_table_util_ratio(ashlar_block_based_table_options_t* opt, double v) { Set(opt->rep.data_block_hash_table_util_ratio, v); }
double ashlar_block_based_options_get_data_block_hash_table_util_ratio(ashlar_block_based_table_options_t* opt) { return Get<double>(opt->rep.data_block_hash_table_util_ratio); }
void ashlar_block_based_options_set_checksum(ashlar_block_based_table_options_t* opt, char v) { Set(opt->rep.checksum, v); }
int ashlar_block_based_options_get_checksum(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.checksum); }
void ashlar_block_based_options_set_no_block_cache(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.no_block_cache, v); }
unsigned char ashlar_block_based_options_get_no_block_cache(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.no_block_cache); }
void ashlar_block_based_options_set_block_size(ashlar_block_based_table_options_t* opt, size_t v) { Set(opt->rep.block_size, v); }
size_t ashlar_block_based_options_get_block_size(ashlar_block_based_table_options_t* opt) { return Get<size_t>(opt->rep.block_size); }
void ashlar_block_based_options_set_block_size_deviation(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.block_size_deviation, v); }
int ashlar_block_based_options_get_block_size_deviation(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.block_size_deviation); }
void ashlar_block_based_options_set_block_restart_interval(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.block_restart_interval, v); }
int ashlar_block_based_options_get_block_restart_interval(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.block_restart_interval); }
void ashlar_block_based_options_set_index_block_restart_interval(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.index_block_restart_interval, v); }
int ashlar_block_based_options_get_index_block_restart_interval(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.index_block_restart_interval); }
void ashlar_block_based_options_set_metadata_block_size(ashlar_block_based_table_options_t* opt, uint64_t v) { Set(opt->rep.metadata_block_size, v); }
uint64_t ashlar_block_based_options_get_metadata_block_size(ashlar_block_based_table_options_t* opt) { return Get<uint64_t>(opt->rep.metadata_block_size); }
void ashlar_block_based_options_set_partition_filters(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.partition_filters, v); }
unsigned char ashlar_block_based_options_get_partition_filters(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.partition_filters); }
void ashlar_block_based_options_set_decouple_partitioned_filters(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.decouple_partitioned_filters, v); }
unsigned char ashlar_block_based_options_get_decouple_partitioned_filters(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.decouple_partitioned_filters); }
void ashlar_block_based_options_set_optimize_filters_for_memory(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.optimize_filters_for_memory, v); }
unsigned char ashlar_block_based_options_get_optimize_filters_for_memory(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.optimize_filters_for_memory); }
void ashlar_block_based_options_set_use_delta_encoding(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.use_delta_encoding, v); }
unsigned char ashlar_block_based_options_get_use_delta_encoding(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.use_delta_encoding); }
void ashlar_block_based_options_set_use_udi_as_primary_index(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.use_udi_as_primary_index, v); }
unsigned char ashlar_block_based_options_get_use_udi_as_primary_index(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.use_udi_as_primary_index); }
void ashlar_block_based_options_set_fail_if_no_udi_on_open(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.fail_if_no_udi_on_open, v); }
unsigned char ashlar_block_based_options_get_fail_if_no_udi_on_open(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.fail_if_no_udi_on_open); }
void ashlar_block_based_options_set_whole_key_filtering(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.whole_key_filtering, v); }
unsigned char ashlar_block_based_options_get_whole_key_filtering(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.whole_key_filtering); }
void ashlar_block_based_options_set_detect_filter_construct_corruption(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.detect_filter_construct_corruption, v); }
unsigned char ashlar_block_based_options_get_detect_filter_construct_corruption(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.detect_filter_construct_corruption); }
void ashlar_block_based_options_set_verify_compression(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.verify_compression, v); }
unsigned char ashlar_block_based_options_get_verify_compression(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.verify_compression); }
void ashlar_block_based_options_set_read_amp_bytes_per_bit(ashlar_block_based_table_options_t* opt, uint32_t v) { Set(opt->rep.read_amp_bytes_per_bit, v); }
uint32_t ashlar_block_based_options_get_read_amp_bytes_per_bit(ashlar_block_based_table_options_t* opt) { return Get<uint32_t>(opt->rep.read_amp_bytes_per_bit); }
void ashlar_block_based_options_set_format_version(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.format_version, v); }
int ashlar_block_based_options_get_format_version(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.format_version); }
void ashlar_block_based_options_set_separate_key_value_in_data_block(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.separate_key_value_in_data_block, v); }
unsigned char ashlar_block_based_options_get_separate_key_value_in_data_block(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.separate_key_value_in_data_block); }
void ashlar_block_based_options_set_uniform_cv_threshold(ashlar_block_based_table_options_t* opt, double v) { Set(opt->rep.uniform_cv_threshold, v); }
double ashlar_block_based_options_get_uniform_cv_threshold(ashlar_block_based_table_options_t* opt) { return Get<double>(opt->rep.uniform_cv_threshold); }
void ashlar_block_based_options_set_enable_index_compression(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.enable_index_compression, v); }
unsigned char ashlar_block_based_options_get_enable_index_compression(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.enable_index_compression); }
void ashlar_block_based_options_set_block_align(ashlar_block_based_table_options_t* opt, unsigned char v) { Set(opt->rep.block_align, v); }
unsigned char ashlar_block_based_options_get_block_align(ashlar_block_based_table_options_t* opt) { return Get<unsigned char>(opt->rep.block_align); }
void ashlar_block_based_options_set_super_block_alignment_size(ashlar_block_based_table_options_t* opt, size_t v) { Set(opt->rep.super_block_alignment_size, v); }
size_t ashlar_block_based_options_get_super_block_alignment_size(ashlar_block_based_table_options_t* opt) { return Get<size_t>(opt->rep.super_block_alignment_size); }
void ashlar_block_based_options_set_super_block_alignment_space_overhead_ratio(ashlar_block_based_table_options_t* opt, size_t v) { Set(opt->rep.super_block_alignment_space_overhead_ratio, v); }
size_t ashlar_block_based_options_get_super_block_alignment_space_overhead_ratio(ashlar_block_based_table_options_t* opt) { return Get<size_t>(opt->rep.super_block_alignment_space_overhead_ratio); }
void ashlar_block_based_options_set_index_shortening(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.index_shortening, v); }
int ashlar_block_based_options_get_index_shortening(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.index_shortening); }
void ashlar_block_based_options_set_max_auto_readahead_size(ashlar_block_based_table_options_t* opt, size_t v) { Set(opt->rep.max_auto_readahead_size, v); }
size_t ashlar_block_based_options_get_max_auto_readahead_size(ashlar_block_based_table_options_t* opt) { return Get<size_t>(opt->rep.max_auto_readahead_size); }
void ashlar_block_based_options_set_prepopulate_block_cache(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.prepopulate_block_cache, v); }
int ashlar_block_based_options_get_prepopulate_block_cache(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.prepopulate_block_cache); }
void ashlar_block_based_options_set_initial_auto_readahead_size(ashlar_block_based_table_options_t* opt, size_t v) { Set(opt->rep.initial_auto_readahead_size, v); }
size_t ashlar_block_based_options_get_initial_auto_readahead_size(ashlar_block_based_table_options_t* opt) { return Get<size_t>(opt->rep.initial_auto_readahead_size); }
void ashlar_block_based_options_set_num_file_reads_for_auto_readahead(ashlar_block_based_table_options_t* opt, uint64_t v) { Set(opt->rep.num_file_reads_for_auto_readahead, v); }
uint64_t ashlar_block_based_options_get_num_file_reads_for_auto_readahead(ashlar_block_based_table_options_t* opt) { return Get<uint64_t>(opt->rep.num_file_reads_for_auto_readahead); }
void ashlar_block_based_options_set_top_level_index_pinning_tier(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.metadata_cache_options.top_level_index_pinning, v); }
int ashlar_block_based_options_get_top_level_index_pinning_tier(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.metadata_cache_options.top_level_index_pinning); }
void ashlar_block_based_options_set_partition_pinning_tier(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.metadata_cache_options.partition_pinning, v); }
int ashlar_block_based_options_get_partition_pinning_tier(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.metadata_cache_options.partition_pinning); }
void ashlar_block_based_options_set_unpartitioned_pinning_tier(ashlar_block_based_table_options_t* opt, int v) { Set(opt->rep.metadata_cache_options.unpartitioned_pinning, v); }
int ashlar_block_based_options_get_unpartitioned_pinning_tier(ashlar_block_based_table_options_t* opt) { return Get<int>(opt->rep.metadata_cache_options.unpartitioned_pinning); }

// ---- CuckooTableOptions

ashlar_cuckoo_table_options_t* ashlar_cuckoo_options_create() { return new ashlar_cuckoo_table_options_t; }
void ashlar_cuckoo_options_destroy(ashlar_cuckoo_table_options_t* opt) { delete opt; }
void ashlar_cuckoo_options_set_hash_table_ratio(ashlar_cuckoo_table_options_t* opt, double v) { Set(opt->rep.hash_table_ratio, v); }
double ashlar_cuckoo_options_get_hash_table_ratio(ashlar_cuckoo_table_options_t* opt) { return Get<double>(opt->rep.hash_table_ratio); }
void ashlar_cuckoo_options_set_max_search_depth(ashlar_cuckoo_table_options_t* opt, uint32_t v) { Set(opt->rep.max_search_depth, v); }
uint32_t ashlar_cuckoo_options_get_max_search_depth(ashlar_cuckoo_table_options_t* opt) { return Get<uint32_t>(opt->rep.max_search_depth); }
void ashlar_cuckoo_options_set_cuckoo_block_size(ashlar_cuckoo_table_options_t* opt, uint32_t v) { Set(opt->rep.cuckoo_block_size, v); }
uint32_t ashlar_cuckoo_options_get_cuckoo_block_size(ashlar_cuckoo_table_options_t* opt) { return Get<uint32_t>(opt->rep.cuckoo_block_size); }
void ashlar_cuckoo_options_set_identity_as_first_hash(ashlar_cuckoo_table_options_t* opt, unsigned char v) { Set(opt->rep.identity_as_first_hash, v); }
unsigned char ashlar_cuckoo_options_get_identity_as_first_hash(ashlar_cuckoo_table_options_t* opt) { return Get<unsigned char>(opt->rep.identity_as_first_hash); }
void ashlar_cuckoo_options_set_use_module_hash(ashlar_cuckoo_table_options_t* opt, unsigned char v) { Set(opt->rep.use_module_hash, v); }
unsigned char ashlar_cuckoo_options_get_use_module_hash(ashlar_cuckoo_table_options_t* opt) { return Get<unsigned char>(opt->rep.use_module_hash); }
