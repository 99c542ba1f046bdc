// SPDX-License-Identifier: Apache-2.0
//
// The C API: properties of a table. The handle and the strings belong to the object that the handle
// was got from.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

uint64_t ashlar_table_properties_num_entries(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_column_family_name(const ashlar_table_properties_t* props,
                                                       size_t* size);
uint64_t ashlar_table_properties_column_family_id(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_comparator_name(const ashlar_table_properties_t* props,
                                                    size_t* size);
const char* ashlar_table_properties_compression_name(const ashlar_table_properties_t* props,
                                                     size_t* size);
const char* ashlar_table_properties_compression_options(const ashlar_table_properties_t* props,
                                                        size_t* size);
uint64_t ashlar_table_properties_creation_time(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_data_block_restart_interval(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_data_size(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_db_host_id(const ashlar_table_properties_t* props,
                                               size_t* size);
const char* ashlar_table_properties_db_id(const ashlar_table_properties_t* props, size_t* size);
const char* ashlar_table_properties_db_session_id(const ashlar_table_properties_t* props,
                                                  size_t* size);
uint64_t ashlar_table_properties_external_sst_file_global_seqno_offset(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_fast_compression_estimated_data_size(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_file_creation_time(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_filter_policy_name(const ashlar_table_properties_t* props,
                                                       size_t* size);
uint64_t ashlar_table_properties_filter_size(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_fixed_key_len(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_format_version(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_index_block_restart_interval(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_index_key_is_user_key(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_index_partitions(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_index_size(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_index_value_is_delta_encoded(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_key_largest_seqno(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_key_smallest_seqno(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_merge_operator_name(const ashlar_table_properties_t* props,
                                                        size_t* size);
uint64_t ashlar_table_properties_newest_key_time(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_data_blocks(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_data_blocks_compression_bypassed(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_data_blocks_compression_rejected(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_deletions(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_filter_entries(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_merge_operands(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_range_deletions(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_num_uniform_blocks(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_oldest_key_time(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_orig_file_number(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_prefix_extractor_name(const ashlar_table_properties_t* props,
                                                          size_t* size);
const char* ashlar_table_properties_property_collectors_names(
    const ashlar_table_properties_t* props, size_t* size);
uint64_t ashlar_table_properties_raw_key_size(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_raw_value_size(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_separate_key_value_in_data_block(
    const ashlar_table_properties_t* props);
const char* ashlar_table_properties_seqno_to_time_mapping(const ashlar_table_properties_t* props,
                                                          size_t* size);
uint64_t ashlar_table_properties_slow_compression_estimated_data_size(
    const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_tail_start_offset(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_top_level_index_size(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_udi_is_primary_index(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_uncompressed_data_size(const ashlar_table_properties_t* props);
uint64_t ashlar_table_properties_user_defined_timestamps_persisted(
    const ashlar_table_properties_t* props);

// Whether the numbers above are known.
unsigned char ashlar_table_properties_has_key_largest_seqno(const ashlar_table_properties_t* props);
unsigned char ashlar_table_properties_has_key_smallest_seqno(
    const ashlar_table_properties_t* props);

// What collectors of the program recorded, in the order of its names, each at its position from 0;
// and readable forms.
size_t ashlar_table_properties_readable_properties_count(const ashlar_table_properties_t* props);
const char* ashlar_table_properties_readable_properties_key_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* key_len);
const char* ashlar_table_properties_readable_properties_value_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* value_len);
size_t ashlar_table_properties_user_collected_properties_count(
    const ashlar_table_properties_t* props);
const char* ashlar_table_properties_user_collected_properties_key_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* key_len);
const char* ashlar_table_properties_user_collected_properties_value_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* value_len);

ASHLAR_C_END
