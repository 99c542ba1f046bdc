// SPDX-License-Identifier: Apache-2.0
//
// The members of facts about jobs that have a function in C of the same name: NUMBER and TEXT are
// called with the prefix of the functions and the member.
#pragma once

#define TABLE_PROPERTIES_MEMBERS(NUMBER, TEXT)                    \
  NUMBER(table_properties, num_entries)                           \
  NUMBER(table_properties, column_family_id)                      \
  NUMBER(table_properties, creation_time)                         \
  NUMBER(table_properties, data_block_restart_interval)           \
  NUMBER(table_properties, data_size)                             \
  NUMBER(table_properties, external_sst_file_global_seqno_offset) \
  NUMBER(table_properties, fast_compression_estimated_data_size)  \
  NUMBER(table_properties, file_creation_time)                    \
  NUMBER(table_properties, filter_size)                           \
  NUMBER(table_properties, fixed_key_len)                         \
  NUMBER(table_properties, format_version)                        \
  NUMBER(table_properties, index_block_restart_interval)          \
  NUMBER(table_properties, index_key_is_user_key)                 \
  NUMBER(table_properties, index_partitions)                      \
  NUMBER(table_properties, index_size)                            \
  NUMBER(table_properties, index_value_is_delta_encoded)          \
  NUMBER(table_properties, key_largest_seqno)                     \
  NUMBER(table_properties, key_smallest_seqno)                    \
  NUMBER(table_properties, newest_key_time)                       \
  NUMBER(table_properties, num_data_blocks)                       \
  NUMBER(table_properties, num_data_blocks_compression_bypassed)  \
  NUMBER(table_properties, num_data_blocks_compression_rejected)  \
  NUMBER(table_properties, num_deletions)                         \
  NUMBER(table_properties, num_filter_entries)                    \
  NUMBER(table_properties, num_merge_operands)                    \
  NUMBER(table_properties, num_range_deletions)                   \
  NUMBER(table_properties, num_uniform_blocks)                    \
  NUMBER(table_properties, oldest_key_time)                       \
  NUMBER(table_properties, orig_file_number)                      \
  NUMBER(table_properties, raw_key_size)                          \
  NUMBER(table_properties, raw_value_size)                        \
  NUMBER(table_properties, separate_key_value_in_data_block)      \
  NUMBER(table_properties, slow_compression_estimated_data_size)  \
  NUMBER(table_properties, tail_start_offset)                     \
  NUMBER(table_properties, top_level_index_size)                  \
  NUMBER(table_properties, udi_is_primary_index)                  \
  NUMBER(table_properties, uncompressed_data_size)                \
  NUMBER(table_properties, user_defined_timestamps_persisted)     \
  TEXT(table_properties, column_family_name)                      \
  TEXT(table_properties, comparator_name)                         \
  TEXT(table_properties, compression_name)                        \
  TEXT(table_properties, compression_options)                     \
  TEXT(table_properties, db_host_id)                              \
  TEXT(table_properties, db_id)                                   \
  TEXT(table_properties, db_session_id)                           \
  TEXT(table_properties, filter_policy_name)                      \
  TEXT(table_properties, merge_operator_name)                     \
  TEXT(table_properties, prefix_extractor_name)                   \
  TEXT(table_properties, property_collectors_names)               \
  TEXT(table_properties, seqno_to_time_mapping)

#define FLUSHJOBINFO_MEMBERS(NUMBER, TEXT)        \
  NUMBER(flushjobinfo, flush_reason)              \
  NUMBER(flushjobinfo, largest_seqno)             \
  NUMBER(flushjobinfo, smallest_seqno)            \
  NUMBER(flushjobinfo, triggered_writes_slowdown) \
  NUMBER(flushjobinfo, triggered_writes_stop)     \
  NUMBER(flushjobinfo, cf_id)                     \
  NUMBER(flushjobinfo, job_id)                    \
  NUMBER(flushjobinfo, thread_id)                 \
  NUMBER(flushjobinfo, blob_compression_type)     \
  NUMBER(flushjobinfo, file_number)               \
  NUMBER(flushjobinfo, oldest_blob_file_number)   \
  TEXT(flushjobinfo, cf_name)                     \
  TEXT(flushjobinfo, file_path)

#define COMPACTIONJOBINFO_MEMBERS(NUMBER, TEXT)    \
  NUMBER(compactionjobinfo, job_id)                \
  NUMBER(compactionjobinfo, base_input_level)      \
  NUMBER(compactionjobinfo, compaction_reason)     \
  NUMBER(compactionjobinfo, output_level)          \
  NUMBER(compactionjobinfo, aborted)               \
  NUMBER(compactionjobinfo, blob_compression_type) \
  NUMBER(compactionjobinfo, cf_id)                 \
  NUMBER(compactionjobinfo, compression)           \
  NUMBER(compactionjobinfo, num_l0_files)          \
  NUMBER(compactionjobinfo, thread_id)             \
  TEXT(compactionjobinfo, cf_name)

#define SUBCOMPACTIONJOBINFO_MEMBERS(NUMBER, TEXT)    \
  NUMBER(subcompactionjobinfo, base_input_level)      \
  NUMBER(subcompactionjobinfo, blob_compression_type) \
  NUMBER(subcompactionjobinfo, cf_id)                 \
  NUMBER(subcompactionjobinfo, compaction_reason)     \
  NUMBER(subcompactionjobinfo, compression)           \
  NUMBER(subcompactionjobinfo, job_id)                \
  NUMBER(subcompactionjobinfo, output_level)          \
  NUMBER(subcompactionjobinfo, subcompaction_job_id)  \
  NUMBER(subcompactionjobinfo, thread_id)             \
  TEXT(subcompactionjobinfo, cf_name)

#define EXTERNALFILEINGESTIONINFO_MEMBERS(NUMBER, TEXT) \
  NUMBER(externalfileingestioninfo, global_seqno)       \
  TEXT(externalfileingestioninfo, external_file_path)   \
  TEXT(externalfileingestioninfo, cf_name)              \
  TEXT(externalfileingestioninfo, internal_file_path)

#define MEMTABLEINFO_MEMBERS(NUMBER, TEXT) \
  NUMBER(memtableinfo, earliest_seqno)     \
  NUMBER(memtableinfo, first_seqno)        \
  NUMBER(memtableinfo, num_deletes)        \
  NUMBER(memtableinfo, num_entries)        \
  TEXT(memtableinfo, cf_name)              \
  TEXT(memtableinfo, newest_udt)

#define BLOB_FILE_ADDITION_INFO_MEMBERS(NUMBER, TEXT) \
  NUMBER(blob_file_addition_info, blob_file_number)   \
  NUMBER(blob_file_addition_info, total_blob_bytes)   \
  NUMBER(blob_file_addition_info, total_blob_count)   \
  TEXT(blob_file_addition_info, blob_file_path)

#define BLOB_FILE_GARBAGE_INFO_MEMBERS(NUMBER, TEXT) \
  NUMBER(blob_file_garbage_info, blob_file_number)   \
  NUMBER(blob_file_garbage_info, garbage_blob_bytes) \
  NUMBER(blob_file_garbage_info, garbage_blob_count) \
  TEXT(blob_file_garbage_info, blob_file_path)

#define COMPACTION_FILE_INFO_MEMBERS(NUMBER, TEXT) \
  NUMBER(compaction_file_info, file_number)        \
  NUMBER(compaction_file_info, level)              \
  NUMBER(compaction_file_info, oldest_blob_file_number)

#define COMPACTION_JOB_STATS_MEMBERS(NUMBER, TEXT)                       \
  NUMBER(compaction_job_stats, num_input_files)                          \
  NUMBER(compaction_job_stats, num_output_files)                         \
  NUMBER(compaction_job_stats, cpu_micros)                               \
  NUMBER(compaction_job_stats, elapsed_micros)                           \
  NUMBER(compaction_job_stats, file_fsync_nanos)                         \
  NUMBER(compaction_job_stats, file_prepare_write_nanos)                 \
  NUMBER(compaction_job_stats, file_range_sync_nanos)                    \
  NUMBER(compaction_job_stats, file_write_nanos)                         \
  NUMBER(compaction_job_stats, has_accurate_num_input_records)           \
  NUMBER(compaction_job_stats, is_full_compaction)                       \
  NUMBER(compaction_job_stats, is_manual_compaction)                     \
  NUMBER(compaction_job_stats, is_remote_compaction)                     \
  NUMBER(compaction_job_stats, num_blobs_read)                           \
  NUMBER(compaction_job_stats, num_corrupt_keys)                         \
  NUMBER(compaction_job_stats, num_expired_deletion_records)             \
  NUMBER(compaction_job_stats, num_filtered_input_files)                 \
  NUMBER(compaction_job_stats, num_filtered_input_files_at_output_level) \
  NUMBER(compaction_job_stats, num_input_deletion_records)               \
  NUMBER(compaction_job_stats, num_input_files_at_output_level)          \
  NUMBER(compaction_job_stats, num_input_files_trivially_moved)          \
  NUMBER(compaction_job_stats, num_input_records)                        \
  NUMBER(compaction_job_stats, num_output_files_blob)                    \
  NUMBER(compaction_job_stats, num_output_records)                       \
  NUMBER(compaction_job_stats, num_records_replaced)                     \
  NUMBER(compaction_job_stats, num_single_del_fallthru)                  \
  NUMBER(compaction_job_stats, num_single_del_mismatch)                  \
  NUMBER(compaction_job_stats, total_blob_bytes_read)                    \
  NUMBER(compaction_job_stats, total_input_bytes)                        \
  NUMBER(compaction_job_stats, total_input_raw_key_bytes)                \
  NUMBER(compaction_job_stats, total_input_raw_value_bytes)              \
  NUMBER(compaction_job_stats, total_output_bytes)                       \
  NUMBER(compaction_job_stats, total_output_bytes_blob)                  \
  NUMBER(compaction_job_stats, total_skipped_input_bytes)                \
  TEXT(compaction_job_stats, largest_output_key_prefix)                  \
  TEXT(compaction_job_stats, smallest_output_key_prefix)
