// SPDX-License-Identifier: Apache-2.0
//
// The C API: options of tables. Made by tools/make_c_options.py.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// The members of BlockBasedTableOptions, which ashlar/table.h describes.
ashlar_block_based_table_options_t* ashlar_block_based_options_create(void);
void ashlar_block_based_options_destroy(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_cache_index_and_filter_blocks(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_cache_index_and_filter_blocks(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_cache_index_and_filter_blocks_with_high_priority(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_pin_l0_filter_and_index_blocks_in_cache(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_pin_top_level_index_and_filter(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_pin_top_level_index_and_filter(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_index_type(ashlar_block_based_table_options_t* opt, int v);
int ashlar_block_based_options_get_index_type(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_index_block_search_type(ashlar_block_based_table_options_t* opt,
                                                            int v);
int ashlar_block_based_options_get_index_block_search_type(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_data_block_index_type(ashlar_block_based_table_options_t* opt,
                                                          int v);
int ashlar_block_based_options_get_data_block_index_type(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_data_block_hash_table_util_ratio(
    ashlar_block_based_table_options_t* opt, double v);
double ashlar_block_based_options_get_data_block_hash_table_util_ratio(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_checksum(ashlar_block_based_table_options_t* opt, char v);
int ashlar_block_based_options_get_checksum(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_no_block_cache(ashlar_block_based_table_options_t* opt,
                                                   unsigned char v);
unsigned char ashlar_block_based_options_get_no_block_cache(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_block_size(ashlar_block_based_table_options_t* opt, size_t v);
size_t ashlar_block_based_options_get_block_size(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_block_size_deviation(ashlar_block_based_table_options_t* opt,
                                                         int v);
int ashlar_block_based_options_get_block_size_deviation(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_block_restart_interval(ashlar_block_based_table_options_t* opt,
                                                           int v);
int ashlar_block_based_options_get_block_restart_interval(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_index_block_restart_interval(
    ashlar_block_based_table_options_t* opt, int v);
int ashlar_block_based_options_get_index_block_restart_interval(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_metadata_block_size(ashlar_block_based_table_options_t* opt,
                                                        uint64_t v);
uint64_t ashlar_block_based_options_get_metadata_block_size(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_partition_filters(ashlar_block_based_table_options_t* opt,
                                                      unsigned char v);
unsigned char ashlar_block_based_options_get_partition_filters(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_decouple_partitioned_filters(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_decouple_partitioned_filters(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_optimize_filters_for_memory(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_optimize_filters_for_memory(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_use_delta_encoding(ashlar_block_based_table_options_t* opt,
                                                       unsigned char v);
unsigned char ashlar_block_based_options_get_use_delta_encoding(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_use_udi_as_primary_index(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_use_udi_as_primary_index(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_fail_if_no_udi_on_open(ashlar_block_based_table_options_t* opt,
                                                           unsigned char v);
unsigned char ashlar_block_based_options_get_fail_if_no_udi_on_open(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_whole_key_filtering(ashlar_block_based_table_options_t* opt,
                                                        unsigned char v);
unsigned char ashlar_block_based_options_get_whole_key_filtering(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_detect_filter_construct_corruption(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_detect_filter_construct_corruption(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_verify_compression(ashlar_block_based_table_options_t* opt,
                                                       unsigned char v);
unsigned char ashlar_block_based_options_get_verify_compression(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_read_amp_bytes_per_bit(ashlar_block_based_table_options_t* opt,
                                                           uint32_t v);
uint32_t ashlar_block_based_options_get_read_amp_bytes_per_bit(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_format_version(ashlar_block_based_table_options_t* opt, int v);
int ashlar_block_based_options_get_format_version(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_separate_key_value_in_data_block(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_separate_key_value_in_data_block(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_uniform_cv_threshold(ashlar_block_based_table_options_t* opt,
                                                         double v);
double ashlar_block_based_options_get_uniform_cv_threshold(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_enable_index_compression(
    ashlar_block_based_table_options_t* opt, unsigned char v);
unsigned char ashlar_block_based_options_get_enable_index_compression(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_block_align(ashlar_block_based_table_options_t* opt,
                                                unsigned char v);
unsigned char ashlar_block_based_options_get_block_align(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_super_block_alignment_size(
    ashlar_block_based_table_options_t* opt, size_t v);
size_t ashlar_block_based_options_get_super_block_alignment_size(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_super_block_alignment_space_overhead_ratio(
    ashlar_block_based_table_options_t* opt, size_t v);
size_t ashlar_block_based_options_get_super_block_alignment_space_overhead_ratio(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_index_shortening(ashlar_block_based_table_options_t* opt,
                                                     int v);
int ashlar_block_based_options_get_index_shortening(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_max_auto_readahead_size(ashlar_block_based_table_options_t* opt,
                                                            size_t v);
size_t ashlar_block_based_options_get_max_auto_readahead_size(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_prepopulate_block_cache(ashlar_block_based_table_options_t* opt,
                                                            int v);
int ashlar_block_based_options_get_prepopulate_block_cache(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_initial_auto_readahead_size(
    ashlar_block_based_table_options_t* opt, size_t v);
size_t ashlar_block_based_options_get_initial_auto_readahead_size(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_num_file_reads_for_auto_readahead(
    ashlar_block_based_table_options_t* opt, uint64_t v);
uint64_t ashlar_block_based_options_get_num_file_reads_for_auto_readahead(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_top_level_index_pinning_tier(
    ashlar_block_based_table_options_t* opt, int v);
int ashlar_block_based_options_get_top_level_index_pinning_tier(
    ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_partition_pinning_tier(ashlar_block_based_table_options_t* opt,
                                                           int v);
int ashlar_block_based_options_get_partition_pinning_tier(ashlar_block_based_table_options_t* opt);
void ashlar_block_based_options_set_unpartitioned_pinning_tier(
    ashlar_block_based_table_options_t* opt, int v);
int ashlar_block_based_options_get_unpartitioned_pinning_tier(
    ashlar_block_based_table_options_t* opt);

// The members of CuckooTableOptions, which ashlar/table.h describes.
ashlar_cuckoo_table_options_t* ashlar_cuckoo_options_create(void);
void ashlar_cuckoo_options_destroy(ashlar_cuckoo_table_options_t* opt);
void ashlar_cuckoo_options_set_hash_table_ratio(ashlar_cuckoo_table_options_t* opt, double v);
double ashlar_cuckoo_options_get_hash_table_ratio(ashlar_cuckoo_table_options_t* opt);
void ashlar_cuckoo_options_set_max_search_depth(ashlar_cuckoo_table_options_t* opt, uint32_t v);
uint32_t ashlar_cuckoo_options_get_max_search_depth(ashlar_cuckoo_table_options_t* opt);
void ashlar_cuckoo_options_set_cuckoo_block_size(ashlar_cuckoo_table_options_t* opt, uint32_t v);
uint32_t ashlar_cuckoo_options_get_cuckoo_block_size(ashlar_cuckoo_table_options_t* opt);
void ashlar_cuckoo_options_set_identity_as_first_hash(ashlar_cuckoo_table_options_t* opt,
                                                      unsigned char v);
unsigned char ashlar_cuckoo_options_get_identity_as_first_hash(ashlar_cuckoo_table_options_t* opt);
void ashlar_cuckoo_options_set_use_module_hash(ashlar_cuckoo_table_options_t* opt, unsigned char v);
unsigned char ashlar_cuckoo_options_get_use_module_hash(ashlar_cuckoo_table_options_t* opt);

ASHLAR_C_END
