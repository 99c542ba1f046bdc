// SPDX-License-Identifier: Apache-2.0
//
// The C API: properties of tables.
//
// Every function returns one member. Texts are not copied: they belong to the object of the handle.
// Sizes are in bytes; times are in seconds since 1970.
#include "ashlar/c/table_properties.h"

#include <iterator>

#include "capi/job_info.h"

using ashlar::capi::Info;

namespace ashlar::capi {
namespace {

// The length goes to *size unless that pointer is null.
const char* PropertyText(const std::string& text, size_t* size) {
  if (size != nullptr) *size = text.size();
  return text.data();
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::PropertyText;

uint64_t ashlar_table_properties_num_entries(const ashlar_table_properties_t* props) {
  return Info(props).num_entries;
}

const char* ashlar_table_properties_column_family_name(const ashlar_table_properties_t* props,
                                                       size_t* size) {
  return PropertyText(Info(props).column_family_name, size);
}

unsigned char ashlar_table_properties_has_key_largest_seqno(
    const ashlar_table_properties_t* props) {
  return Info(props).HasKeyLargestSeqno();
}

unsigned char ashlar_table_properties_has_key_smallest_seqno(
    const ashlar_table_properties_t* props) {
  return Info(props).HasKeySmallestSeqno();
}

size_t ashlar_table_properties_readable_properties_count(const ashlar_table_properties_t* props) {
  return Info(props).readable_properties.size();
}

const char* ashlar_table_properties_readable_properties_key_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* key_len) {
  return PropertyText(
      std::next(Info(props).readable_properties.begin(), static_cast<ptrdiff_t>(pos))->first,
      key_len);
}

const char* ashlar_table_properties_readable_properties_value_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* value_len) {
  return PropertyText(
      std::next(Info(props).readable_properties.begin(), static_cast<ptrdiff_t>(pos))->second,
      value_len);
}

uint64_t ashlar_table_properties_column_family_id(const ashlar_table_properties_t* props) {
  return Info(props).column_family_id;
}

const char* ashlar_table_properties_comparator_name(const ashlar_table_properties_t* props,
                                                    size_t* size) {
  return PropertyText(Info(props).comparator_name, size);
}

const char* ashlar_table_properties_compression_name(const ashlar_table_properties_t* props,
                                                     size_t* size) {
  return PropertyText(Info(props).compression_name, size);
}

const char* ashlar_table_properties_compression_options(const ashlar_table_properties_t* props,
                                                        size_t* size) {
  return PropertyText(Info(props).compression_options, size);
}

uint64_t ashlar_table_properties_creation_time(const ashlar_table_properties_t* props) {
  return Info(props).creation_time;
}

uint64_t ashlar_table_properties_data_block_restart_interval(
    const ashlar_table_properties_t* props) {
  return Info(props).data_block_restart_interval;
}

uint64_t ashlar_table_properties_data_size(const ashlar_table_properties_t* props) {
  return Info(props).data_size;
}

const char* ashlar_table_properties_db_host_id(const ashlar_table_properties_t* props,
                                               size_t* size) {
  return PropertyText(Info(props).db_host_id, size);
}

const char* ashlar_table_properties_db_id(const ashlar_table_properties_t* props, size_t* size) {
  return PropertyText(Info(props).db_id, size);
}

const char* ashlar_table_properties_db_session_id(const ashlar_table_properties_t* props,
                                                  size_t* size) {
  return PropertyText(Info(props).db_session_id, size);
}

uint64_t ashlar_table_properties_external_sst_file_global_seqno_offset(
    const ashlar_table_properties_t* props) {
  return Info(props).external_sst_file_global_seqno_offset;
}

uint64_t ashlar_table_properties_fast_compression_estimated_data_size(
    const ashlar_table_properties_t* props) {
  return Info(props).fast_compression_estimated_data_size;
}

uint64_t ashlar_table_properties_file_creation_time(const ashlar_table_properties_t* props) {
  return Info(props).file_creation_time;
}

const char* ashlar_table_properties_filter_policy_name(const ashlar_table_properties_t* props,
                                                       size_t* size) {
  return PropertyText(Info(props).filter_policy_name, size);
}

uint64_t ashlar_table_properties_filter_size(const ashlar_table_properties_t* props) {
  return Info(props).filter_size;
}

uint64_t ashlar_table_properties_fixed_key_len(const ashlar_table_properties_t* props) {
  return Info(props).fixed_key_len;
}

uint64_t ashlar_table_properties_format_version(const ashlar_table_properties_t* props) {
  return Info(props).format_version;
}

uint64_t ashlar_table_properties_index_block_restart_interval(
    const ashlar_table_properties_t* props) {
  return Info(props).index_block_restart_interval;
}

uint64_t ashlar_table_properties_index_key_is_user_key(const ashlar_table_properties_t* props) {
  return Info(props).index_key_is_user_key;
}

uint64_t ashlar_table_properties_index_partitions(const ashlar_table_properties_t* props) {
  return Info(props).index_partitions;
}

uint64_t ashlar_table_properties_index_size(const ashlar_table_properties_t* props) {
  return Info(props).index_size;
}

uint64_t ashlar_table_properties_index_value_is_delta_encoded(
    const ashlar_table_properties_t* props) {
  return Info(props).index_value_is_delta_encoded;
}

uint64_t ashlar_table_properties_key_largest_seqno(const ashlar_table_properties_t* props) {
  return Info(props).key_largest_seqno;
}

uint64_t ashlar_table_properties_key_smallest_seqno(const ashlar_table_properties_t* props) {
  return Info(props).key_smallest_seqno;
}

const char* ashlar_table_properties_merge_operator_name(const ashlar_table_properties_t* props,
                                                        size_t* size) {
  return PropertyText(Info(props).merge_operator_name, size);
}

uint64_t ashlar_table_properties_newest_key_time(const ashlar_table_properties_t* props) {
  return Info(props).newest_key_time;
}

uint64_t ashlar_table_properties_num_data_blocks(const ashlar_table_properties_t* props) {
  return Info(props).num_data_blocks;
}

uint64_t ashlar_table_properties_num_data_blocks_compression_bypassed(
    const ashlar_table_properties_t* props) {
  return Info(props).num_data_blocks_compression_bypassed;
}

uint64_t ashlar_table_properties_num_data_blocks_compression_rejected(
    const ashlar_table_properties_t* props) {
  return Info(props).num_data_blocks_compression_rejected;
}

uint64_t ashlar_table_properties_num_deletions(const ashlar_table_properties_t* props) {
  return Info(props).num_deletions;
}

uint64_t ashlar_table_properties_num_filter_entries(const ashlar_table_properties_t* props) {
  return Info(props).num_filter_entries;
}

uint64_t ashlar_table_properties_num_merge_operands(const ashlar_table_properties_t* props) {
  return Info(props).num_merge_operands;
}

uint64_t ashlar_table_properties_num_range_deletions(const ashlar_table_properties_t* props) {
  return Info(props).num_range_deletions;
}

uint64_t ashlar_table_properties_num_uniform_blocks(const ashlar_table_properties_t* props) {
  return Info(props).num_uniform_blocks;
}

uint64_t ashlar_table_properties_oldest_key_time(const ashlar_table_properties_t* props) {
  return Info(props).oldest_key_time;
}

uint64_t ashlar_table_properties_orig_file_number(const ashlar_table_properties_t* props) {
  return Info(props).orig_file_number;
}

const char* ashlar_table_properties_prefix_extractor_name(const ashlar_table_properties_t* props,
                                                          size_t* size) {
  return PropertyText(Info(props).prefix_extractor_name, size);
}

const char* ashlar_table_properties_property_collectors_names(
    const ashlar_table_properties_t* props, size_t* size) {
  return PropertyText(Info(props).property_collectors_names, size);
}

uint64_t ashlar_table_properties_raw_key_size(const ashlar_table_properties_t* props) {
  return Info(props).raw_key_size;
}

uint64_t ashlar_table_properties_raw_value_size(const ashlar_table_properties_t* props) {
  return Info(props).raw_value_size;
}

uint64_t ashlar_table_properties_separate_key_value_in_data_block(
    const ashlar_table_properties_t* props) {
  return Info(props).separate_key_value_in_data_block;
}

const char* ashlar_table_properties_seqno_to_time_mapping(const ashlar_table_properties_t* props,
                                                          size_t* size) {
  return PropertyText(Info(props).seqno_to_time_mapping, size);
}

uint64_t ashlar_table_properties_slow_compression_estimated_data_size(
    const ashlar_table_properties_t* props) {
  return Info(props).slow_compression_estimated_data_size;
}

uint64_t ashlar_table_properties_tail_start_offset(const ashlar_table_properties_t* props) {
  return Info(props).tail_start_offset;
}

uint64_t ashlar_table_properties_top_level_index_size(const ashlar_table_properties_t* props) {
  return Info(props).top_level_index_size;
}

uint64_t ashlar_table_properties_udi_is_primary_index(const ashlar_table_properties_t* props) {
  return Info(props).udi_is_primary_index;
}

uint64_t ashlar_table_properties_uncompressed_data_size(const ashlar_table_properties_t* props) {
  return Info(props).uncompressed_data_size;
}

size_t ashlar_table_properties_user_collected_properties_count(
    const ashlar_table_properties_t* props) {
  return Info(props).user_collected_properties.size();
}

const char* ashlar_table_properties_user_collected_properties_key_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* key_len) {
  return PropertyText(
      std::next(Info(props).user_collected_properties.begin(), static_cast<ptrdiff_t>(pos))->first,
      key_len);
}

const char* ashlar_table_properties_user_collected_properties_value_at(
    const ashlar_table_properties_t* props, size_t pos, size_t* value_len) {
  return PropertyText(
      std::next(Info(props).user_collected_properties.begin(), static_cast<ptrdiff_t>(pos))->second,
      value_len);
}

uint64_t ashlar_table_properties_user_defined_timestamps_persisted(
    const ashlar_table_properties_t* props) {
  return Info(props).user_defined_timestamps_persisted;
}
