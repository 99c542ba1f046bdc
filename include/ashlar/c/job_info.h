// SPDX-License-Identifier: Apache-2.0
//
// The C API: facts about jobs, which event listeners get. Handles and strings live until the
// function that got them returns. Positions start at 0 and are below the count. Reasons and
// compression types are the numbers of the C++ enumerations.
#pragma once

#include "ashlar/c/types.h"

ASHLAR_C_BEGIN

// A flush.
const char* ashlar_flushjobinfo_cf_name(const ashlar_flushjobinfo_t* info, size_t* size);
const ashlar_table_properties_t* ashlar_flushjobinfo_table_properties(
    const ashlar_flushjobinfo_t* info);
size_t ashlar_flushjobinfo_blob_file_addition_infos_count(const ashlar_flushjobinfo_t* info);
const char* ashlar_flushjobinfo_file_path(const ashlar_flushjobinfo_t* info, size_t* size);
uint32_t ashlar_flushjobinfo_flush_reason(const ashlar_flushjobinfo_t* info);
uint64_t ashlar_flushjobinfo_largest_seqno(const ashlar_flushjobinfo_t* info);
uint64_t ashlar_flushjobinfo_smallest_seqno(const ashlar_flushjobinfo_t* info);
unsigned char ashlar_flushjobinfo_triggered_writes_slowdown(const ashlar_flushjobinfo_t* info);
unsigned char ashlar_flushjobinfo_triggered_writes_stop(const ashlar_flushjobinfo_t* info);
uint32_t ashlar_flushjobinfo_cf_id(const ashlar_flushjobinfo_t* info);
int ashlar_flushjobinfo_job_id(const ashlar_flushjobinfo_t* info);
uint64_t ashlar_flushjobinfo_thread_id(const ashlar_flushjobinfo_t* info);
uint32_t ashlar_flushjobinfo_blob_compression_type(const ashlar_flushjobinfo_t* info);
const ashlar_blob_file_addition_info_t* ashlar_flushjobinfo_blob_file_addition_info_at(
    const ashlar_flushjobinfo_t* info, size_t pos);
uint64_t ashlar_flushjobinfo_file_number(const ashlar_flushjobinfo_t* info);
uint64_t ashlar_flushjobinfo_oldest_blob_file_number(const ashlar_flushjobinfo_t* info);

// A compaction; one is made for ashlar_compact_files().
int ashlar_compactionjobinfo_job_id(const ashlar_compactionjobinfo_t* info);
size_t ashlar_compactionjobinfo_input_files_count(const ashlar_compactionjobinfo_t* info);
size_t ashlar_compactionjobinfo_output_files_count(const ashlar_compactionjobinfo_t* info);
ashlar_compactionjobinfo_t* ashlar_compactionjobinfo_create(void);
void ashlar_compactionjobinfo_destroy(ashlar_compactionjobinfo_t* info);
const char* ashlar_compactionjobinfo_input_file_at(const ashlar_compactionjobinfo_t* info,
                                                   size_t pos, size_t* size);
const ashlar_compaction_job_stats_t* ashlar_compactionjobinfo_stats(
    const ashlar_compactionjobinfo_t* info);
size_t ashlar_compactionjobinfo_input_file_infos_count(const ashlar_compactionjobinfo_t* info);
const ashlar_compaction_file_info_t* ashlar_compactionjobinfo_input_file_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos);
size_t ashlar_compactionjobinfo_output_file_infos_count(const ashlar_compactionjobinfo_t* info);
const ashlar_compaction_file_info_t* ashlar_compactionjobinfo_output_file_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos);
size_t ashlar_compactionjobinfo_table_properties_count(const ashlar_compactionjobinfo_t* info);
const ashlar_table_properties_t* ashlar_compactionjobinfo_table_properties_for_file(
    const ashlar_compactionjobinfo_t* info, const char* file_name, size_t file_name_len);
size_t ashlar_compactionjobinfo_blob_file_addition_infos_count(
    const ashlar_compactionjobinfo_t* info);
size_t ashlar_compactionjobinfo_blob_file_garbage_infos_count(
    const ashlar_compactionjobinfo_t* info);
int ashlar_compactionjobinfo_base_input_level(const ashlar_compactionjobinfo_t* info);
const char* ashlar_compactionjobinfo_cf_name(const ashlar_compactionjobinfo_t* info, size_t* size);
uint32_t ashlar_compactionjobinfo_compaction_reason(const ashlar_compactionjobinfo_t* info);
uint64_t ashlar_compactionjobinfo_elapsed_micros(const ashlar_compactionjobinfo_t* info);
uint64_t ashlar_compactionjobinfo_input_records(const ashlar_compactionjobinfo_t* info);
uint64_t ashlar_compactionjobinfo_num_corrupt_keys(const ashlar_compactionjobinfo_t* info);
const char* ashlar_compactionjobinfo_output_file_at(const ashlar_compactionjobinfo_t* info,
                                                    size_t pos, size_t* size);
uint64_t ashlar_compactionjobinfo_output_records(const ashlar_compactionjobinfo_t* info);
uint64_t ashlar_compactionjobinfo_total_input_bytes(const ashlar_compactionjobinfo_t* info);
uint64_t ashlar_compactionjobinfo_total_output_bytes(const ashlar_compactionjobinfo_t* info);
size_t ashlar_compactionjobinfo_num_input_files(const ashlar_compactionjobinfo_t* info);
size_t ashlar_compactionjobinfo_num_input_files_at_output_level(
    const ashlar_compactionjobinfo_t* info);
int ashlar_compactionjobinfo_output_level(const ashlar_compactionjobinfo_t* info);
void ashlar_compactionjobinfo_status(const ashlar_compactionjobinfo_t* info, char** errptr);
unsigned char ashlar_compactionjobinfo_aborted(const ashlar_compactionjobinfo_t* info);
uint32_t ashlar_compactionjobinfo_blob_compression_type(const ashlar_compactionjobinfo_t* info);
const ashlar_blob_file_addition_info_t* ashlar_compactionjobinfo_blob_file_addition_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos);
const ashlar_blob_file_garbage_info_t* ashlar_compactionjobinfo_blob_file_garbage_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos);
uint32_t ashlar_compactionjobinfo_cf_id(const ashlar_compactionjobinfo_t* info);
uint32_t ashlar_compactionjobinfo_compression(const ashlar_compactionjobinfo_t* info);
int ashlar_compactionjobinfo_num_l0_files(const ashlar_compactionjobinfo_t* info);
const char* ashlar_compactionjobinfo_table_properties_key_at(const ashlar_compactionjobinfo_t* info,
                                                             size_t pos, size_t* key_len);
const ashlar_table_properties_t* ashlar_compactionjobinfo_table_properties_value_at(
    const ashlar_compactionjobinfo_t* info, size_t pos);
uint64_t ashlar_compactionjobinfo_thread_id(const ashlar_compactionjobinfo_t* info);

// A part of a compaction.
const char* ashlar_subcompactionjobinfo_cf_name(const ashlar_subcompactionjobinfo_t* info,
                                                size_t* size);
void ashlar_subcompactionjobinfo_status(const ashlar_subcompactionjobinfo_t* info, char** errptr);
int ashlar_subcompactionjobinfo_base_input_level(const ashlar_subcompactionjobinfo_t* info);
uint32_t ashlar_subcompactionjobinfo_blob_compression_type(
    const ashlar_subcompactionjobinfo_t* info);
uint32_t ashlar_subcompactionjobinfo_cf_id(const ashlar_subcompactionjobinfo_t* info);
uint32_t ashlar_subcompactionjobinfo_compaction_reason(const ashlar_subcompactionjobinfo_t* info);
uint32_t ashlar_subcompactionjobinfo_compression(const ashlar_subcompactionjobinfo_t* info);
int ashlar_subcompactionjobinfo_job_id(const ashlar_subcompactionjobinfo_t* info);
int ashlar_subcompactionjobinfo_output_level(const ashlar_subcompactionjobinfo_t* info);
const ashlar_compaction_job_stats_t* ashlar_subcompactionjobinfo_stats(
    const ashlar_subcompactionjobinfo_t* info);
int ashlar_subcompactionjobinfo_subcompaction_job_id(const ashlar_subcompactionjobinfo_t* info);
uint64_t ashlar_subcompactionjobinfo_thread_id(const ashlar_subcompactionjobinfo_t* info);

// Files of a compaction.
uint64_t ashlar_compaction_file_info_file_number(const ashlar_compaction_file_info_t* info);
int ashlar_compaction_file_info_level(const ashlar_compaction_file_info_t* info);
uint64_t ashlar_compaction_file_info_oldest_blob_file_number(
    const ashlar_compaction_file_info_t* info);
uint64_t ashlar_blob_file_addition_info_blob_file_number(
    const ashlar_blob_file_addition_info_t* info);
const char* ashlar_blob_file_addition_info_blob_file_path(
    const ashlar_blob_file_addition_info_t* info, size_t* size);
uint64_t ashlar_blob_file_addition_info_total_blob_bytes(
    const ashlar_blob_file_addition_info_t* info);
uint64_t ashlar_blob_file_addition_info_total_blob_count(
    const ashlar_blob_file_addition_info_t* info);
uint64_t ashlar_blob_file_garbage_info_blob_file_number(
    const ashlar_blob_file_garbage_info_t* info);
const char* ashlar_blob_file_garbage_info_blob_file_path(
    const ashlar_blob_file_garbage_info_t* info, size_t* size);
uint64_t ashlar_blob_file_garbage_info_garbage_blob_bytes(
    const ashlar_blob_file_garbage_info_t* info);
uint64_t ashlar_blob_file_garbage_info_garbage_blob_count(
    const ashlar_blob_file_garbage_info_t* info);

// Counters of a compaction.
size_t ashlar_compaction_job_stats_num_input_files(const ashlar_compaction_job_stats_t* stats);
size_t ashlar_compaction_job_stats_num_output_files(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_cpu_micros(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_elapsed_micros(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_file_fsync_nanos(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_file_prepare_write_nanos(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_file_range_sync_nanos(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_file_write_nanos(const ashlar_compaction_job_stats_t* stats);
unsigned char ashlar_compaction_job_stats_has_accurate_num_input_records(
    const ashlar_compaction_job_stats_t* stats);
unsigned char ashlar_compaction_job_stats_is_full_compaction(
    const ashlar_compaction_job_stats_t* stats);
unsigned char ashlar_compaction_job_stats_is_manual_compaction(
    const ashlar_compaction_job_stats_t* stats);
unsigned char ashlar_compaction_job_stats_is_remote_compaction(
    const ashlar_compaction_job_stats_t* stats);
const char* ashlar_compaction_job_stats_largest_output_key_prefix(
    const ashlar_compaction_job_stats_t* stats, size_t* size);
uint64_t ashlar_compaction_job_stats_num_blobs_read(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_corrupt_keys(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_expired_deletion_records(
    const ashlar_compaction_job_stats_t* stats);
size_t ashlar_compaction_job_stats_num_filtered_input_files(
    const ashlar_compaction_job_stats_t* stats);
size_t ashlar_compaction_job_stats_num_filtered_input_files_at_output_level(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_input_deletion_records(
    const ashlar_compaction_job_stats_t* stats);
size_t ashlar_compaction_job_stats_num_input_files_at_output_level(
    const ashlar_compaction_job_stats_t* stats);
size_t ashlar_compaction_job_stats_num_input_files_trivially_moved(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_input_records(const ashlar_compaction_job_stats_t* stats);
size_t ashlar_compaction_job_stats_num_output_files_blob(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_output_records(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_records_replaced(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_single_del_fallthru(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_num_single_del_mismatch(
    const ashlar_compaction_job_stats_t* stats);
const char* ashlar_compaction_job_stats_smallest_output_key_prefix(
    const ashlar_compaction_job_stats_t* stats, size_t* size);
uint64_t ashlar_compaction_job_stats_total_blob_bytes_read(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_total_input_bytes(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_total_input_raw_key_bytes(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_total_input_raw_value_bytes(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_total_output_bytes(const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_total_output_bytes_blob(
    const ashlar_compaction_job_stats_t* stats);
uint64_t ashlar_compaction_job_stats_total_skipped_input_bytes(
    const ashlar_compaction_job_stats_t* stats);

// An ingestion.
const char* ashlar_externalfileingestioninfo_external_file_path(
    const ashlar_externalfileingestioninfo_t* info, size_t* size);
const ashlar_table_properties_t* ashlar_externalfileingestioninfo_table_properties(
    const ashlar_externalfileingestioninfo_t* info);
const char* ashlar_externalfileingestioninfo_cf_name(const ashlar_externalfileingestioninfo_t* info,
                                                     size_t* size);
const char* ashlar_externalfileingestioninfo_internal_file_path(
    const ashlar_externalfileingestioninfo_t* info, size_t* size);
uint64_t ashlar_externalfileingestioninfo_global_seqno(
    const ashlar_externalfileingestioninfo_t* info);

// A memtable that became immutable.
const char* ashlar_memtableinfo_cf_name(const ashlar_memtableinfo_t* info, size_t* size);
uint64_t ashlar_memtableinfo_earliest_seqno(const ashlar_memtableinfo_t* info);
uint64_t ashlar_memtableinfo_first_seqno(const ashlar_memtableinfo_t* info);
uint64_t ashlar_memtableinfo_num_deletes(const ashlar_memtableinfo_t* info);
uint64_t ashlar_memtableinfo_num_entries(const ashlar_memtableinfo_t* info);
const char* ashlar_memtableinfo_newest_udt(const ashlar_memtableinfo_t* info, size_t* size);

// A change of the write stalls. A condition is a pointer to an `int`: 0 delayed, 1 stopped, 2
// normal.
const char* ashlar_writestallinfo_cf_name(const ashlar_writestallinfo_t* info, size_t* size);
const ashlar_writestallcondition_t* ashlar_writestallinfo_cur(const ashlar_writestallinfo_t* info);
const ashlar_writestallcondition_t* ashlar_writestallinfo_prev(const ashlar_writestallinfo_t* info);

ASHLAR_C_END
