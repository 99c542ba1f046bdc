// SPDX-License-Identifier: Apache-2.0
//
// The C API: facts about jobs.
//
// Every function returns one member of the engine's object, see job_info.h. Texts are not copied:
// they belong to the object, and end with a zero byte. Positions must be below the matching count,
// as for an array. Sizes are in bytes; times are in the unit that the name ends with.
#include "ashlar/c/job_info.h"

#include <iterator>

#include "capi/job_info.h"

using ashlar::capi::Handle;
using ashlar::capi::Info;

namespace ashlar::capi {
namespace {

// The length goes to *size unless that pointer is null.
const char* Characters(const std::string& text, size_t* size) {
  if (size != nullptr) *size = text.size();
  return text.data();
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::Characters;

// ---- flushes
const char* ashlar_flushjobinfo_cf_name(const ashlar_flushjobinfo_t* info, size_t* size) {
  return Characters(Info(info).cf_name, size);
}

const ashlar_table_properties_t* ashlar_flushjobinfo_table_properties(
    const ashlar_flushjobinfo_t* info) {
  return Handle(Info(info).table_properties);
}

size_t ashlar_flushjobinfo_blob_file_addition_infos_count(const ashlar_flushjobinfo_t* info) {
  return Info(info).blob_file_addition_infos.size();
}

const char* ashlar_flushjobinfo_file_path(const ashlar_flushjobinfo_t* info, size_t* size) {
  return Characters(Info(info).file_path, size);
}

uint32_t ashlar_flushjobinfo_flush_reason(const ashlar_flushjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).flush_reason);
}

uint64_t ashlar_flushjobinfo_largest_seqno(const ashlar_flushjobinfo_t* info) {
  return Info(info).largest_seqno;
}

uint64_t ashlar_flushjobinfo_smallest_seqno(const ashlar_flushjobinfo_t* info) {
  return Info(info).smallest_seqno;
}

unsigned char ashlar_flushjobinfo_triggered_writes_slowdown(const ashlar_flushjobinfo_t* info) {
  return Info(info).triggered_writes_slowdown;
}

unsigned char ashlar_flushjobinfo_triggered_writes_stop(const ashlar_flushjobinfo_t* info) {
  return Info(info).triggered_writes_stop;
}

uint32_t ashlar_flushjobinfo_cf_id(const ashlar_flushjobinfo_t* info) { return Info(info).cf_id; }

int ashlar_flushjobinfo_job_id(const ashlar_flushjobinfo_t* info) { return Info(info).job_id; }

uint64_t ashlar_flushjobinfo_thread_id(const ashlar_flushjobinfo_t* info) {
  return Info(info).thread_id;
}

uint32_t ashlar_flushjobinfo_blob_compression_type(const ashlar_flushjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).blob_compression_type);
}

const ashlar_blob_file_addition_info_t* ashlar_flushjobinfo_blob_file_addition_info_at(
    const ashlar_flushjobinfo_t* info, size_t pos) {
  return Handle(Info(info).blob_file_addition_infos[pos]);
}

uint64_t ashlar_flushjobinfo_file_number(const ashlar_flushjobinfo_t* info) {
  return Info(info).file_number;
}

uint64_t ashlar_flushjobinfo_oldest_blob_file_number(const ashlar_flushjobinfo_t* info) {
  return Info(info).oldest_blob_file_number;
}

// ---- compactions
int ashlar_compactionjobinfo_job_id(const ashlar_compactionjobinfo_t* info) {
  return Info(info).job_id;
}

size_t ashlar_compactionjobinfo_input_files_count(const ashlar_compactionjobinfo_t* info) {
  return Info(info).input_files.size();
}

size_t ashlar_compactionjobinfo_output_files_count(const ashlar_compactionjobinfo_t* info) {
  return Info(info).output_files.size();
}

// Returns an empty object, which the program passes to ashlar_compact_files() to be filled in.
ashlar_compactionjobinfo_t* ashlar_compactionjobinfo_create() {
  return reinterpret_cast<ashlar_compactionjobinfo_t*>(new ashlar::CompactionJobInfo);
}

void ashlar_compactionjobinfo_destroy(ashlar_compactionjobinfo_t* info) { delete Info(info); }

const char* ashlar_compactionjobinfo_input_file_at(const ashlar_compactionjobinfo_t* info,
                                                   size_t pos, size_t* size) {
  return Characters(Info(info).input_files[pos], size);
}

const ashlar_compaction_job_stats_t* ashlar_compactionjobinfo_stats(
    const ashlar_compactionjobinfo_t* info) {
  return Handle(Info(info).stats);
}

size_t ashlar_compactionjobinfo_input_file_infos_count(const ashlar_compactionjobinfo_t* info) {
  return Info(info).input_file_infos.size();
}

const ashlar_compaction_file_info_t* ashlar_compactionjobinfo_input_file_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos) {
  return Handle(Info(info).input_file_infos[pos]);
}

size_t ashlar_compactionjobinfo_output_file_infos_count(const ashlar_compactionjobinfo_t* info) {
  return Info(info).output_file_infos.size();
}

const ashlar_compaction_file_info_t* ashlar_compactionjobinfo_output_file_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos) {
  return Handle(Info(info).output_file_infos[pos]);
}

size_t ashlar_compactionjobinfo_table_properties_count(const ashlar_compactionjobinfo_t* info) {
  return Info(info).table_properties.size();
}

// Null for a file that the job did not read or write.
const ashlar_table_properties_t* ashlar_compactionjobinfo_table_properties_for_file(
    const ashlar_compactionjobinfo_t* info, const char* file_name, size_t file_name_len) {
  const auto& all = Info(info).table_properties;
  const auto found = all.find(ashlar::capi::Text(file_name, file_name_len).ToString());
  return found == all.end() ? nullptr : Handle(*found->second);
}

size_t ashlar_compactionjobinfo_blob_file_addition_infos_count(
    const ashlar_compactionjobinfo_t* info) {
  return Info(info).blob_file_addition_infos.size();
}

size_t ashlar_compactionjobinfo_blob_file_garbage_infos_count(
    const ashlar_compactionjobinfo_t* info) {
  return Info(info).blob_file_garbage_infos.size();
}

int ashlar_compactionjobinfo_base_input_level(const ashlar_compactionjobinfo_t* info) {
  return Info(info).base_input_level;
}

const char* ashlar_compactionjobinfo_cf_name(const ashlar_compactionjobinfo_t* info, size_t* size) {
  return Characters(Info(info).cf_name, size);
}

uint32_t ashlar_compactionjobinfo_compaction_reason(const ashlar_compactionjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).compaction_reason);
}

uint64_t ashlar_compactionjobinfo_elapsed_micros(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.elapsed_micros;
}

uint64_t ashlar_compactionjobinfo_input_records(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.num_input_records;
}

uint64_t ashlar_compactionjobinfo_num_corrupt_keys(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.num_corrupt_keys;
}

const char* ashlar_compactionjobinfo_output_file_at(const ashlar_compactionjobinfo_t* info,
                                                    size_t pos, size_t* size) {
  return Characters(Info(info).output_files[pos], size);
}

uint64_t ashlar_compactionjobinfo_output_records(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.num_output_records;
}

uint64_t ashlar_compactionjobinfo_total_input_bytes(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.total_input_bytes;
}

uint64_t ashlar_compactionjobinfo_total_output_bytes(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.total_output_bytes;
}

size_t ashlar_compactionjobinfo_num_input_files(const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.num_input_files;
}

size_t ashlar_compactionjobinfo_num_input_files_at_output_level(
    const ashlar_compactionjobinfo_t* info) {
  return Info(info).stats.num_input_files_at_output_level;
}

int ashlar_compactionjobinfo_output_level(const ashlar_compactionjobinfo_t* info) {
  return Info(info).output_level;
}

void ashlar_compactionjobinfo_status(const ashlar_compactionjobinfo_t* info, char** errptr) {
  ashlar::capi::Failed(errptr, Info(info).status);
}

unsigned char ashlar_compactionjobinfo_aborted(const ashlar_compactionjobinfo_t* info) {
  return Info(info).aborted;
}

uint32_t ashlar_compactionjobinfo_blob_compression_type(const ashlar_compactionjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).blob_compression_type);
}

const ashlar_blob_file_addition_info_t* ashlar_compactionjobinfo_blob_file_addition_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos) {
  return Handle(Info(info).blob_file_addition_infos[pos]);
}

const ashlar_blob_file_garbage_info_t* ashlar_compactionjobinfo_blob_file_garbage_info_at(
    const ashlar_compactionjobinfo_t* info, size_t pos) {
  return Handle(Info(info).blob_file_garbage_infos[pos]);
}

uint32_t ashlar_compactionjobinfo_cf_id(const ashlar_compactionjobinfo_t* info) {
  return Info(info).cf_id;
}

uint32_t ashlar_compactionjobinfo_compression(const ashlar_compactionjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).compression);
}

int ashlar_compactionjobinfo_num_l0_files(const ashlar_compactionjobinfo_t* info) {
  return Info(info).num_l0_files;
}

// The properties are in a map of the engine, in no order that the program could rely on.
const char* ashlar_compactionjobinfo_table_properties_key_at(const ashlar_compactionjobinfo_t* info,
                                                             size_t pos, size_t* key_len) {
  return Characters(
      std::next(Info(info).table_properties.begin(), static_cast<ptrdiff_t>(pos))->first, key_len);
}

const ashlar_table_properties_t* ashlar_compactionjobinfo_table_properties_value_at(
    const ashlar_compactionjobinfo_t* info, size_t pos) {
  return Handle(
      *std::next(Info(info).table_properties.begin(), static_cast<ptrdiff_t>(pos))->second);
}

uint64_t ashlar_compactionjobinfo_thread_id(const ashlar_compactionjobinfo_t* info) {
  return Info(info).thread_id;
}

const char* ashlar_subcompactionjobinfo_cf_name(const ashlar_subcompactionjobinfo_t* info,
                                                size_t* size) {
  return Characters(Info(info).cf_name, size);
}

void ashlar_subcompactionjobinfo_status(const ashlar_subcompactionjobinfo_t* info, char** errptr) {
  ashlar::capi::Failed(errptr, Info(info).status);
}

int ashlar_subcompactionjobinfo_base_input_level(const ashlar_subcompactionjobinfo_t* info) {
  return Info(info).base_input_level;
}

uint32_t ashlar_subcompactionjobinfo_blob_compression_type(
    const ashlar_subcompactionjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).blob_compression_type);
}

uint32_t ashlar_subcompactionjobinfo_cf_id(const ashlar_subcompactionjobinfo_t* info) {
  return Info(info).cf_id;
}

uint32_t ashlar_subcompactionjobinfo_compaction_reason(const ashlar_subcompactionjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).compaction_reason);
}

uint32_t ashlar_subcompactionjobinfo_compression(const ashlar_subcompactionjobinfo_t* info) {
  return static_cast<uint32_t>(Info(info).compression);
}

int ashlar_subcompactionjobinfo_job_id(const ashlar_subcompactionjobinfo_t* info) {
  return Info(info).job_id;
}

int ashlar_subcompactionjobinfo_output_level(const ashlar_subcompactionjobinfo_t* info) {
  return Info(info).output_level;
}

const ashlar_compaction_job_stats_t* ashlar_subcompactionjobinfo_stats(
    const ashlar_subcompactionjobinfo_t* info) {
  return Handle(Info(info).stats);
}

int ashlar_subcompactionjobinfo_subcompaction_job_id(const ashlar_subcompactionjobinfo_t* info) {
  return Info(info).subcompaction_job_id;
}

uint64_t ashlar_subcompactionjobinfo_thread_id(const ashlar_subcompactionjobinfo_t* info) {
  return Info(info).thread_id;
}

const char* ashlar_externalfileingestioninfo_external_file_path(
    const ashlar_externalfileingestioninfo_t* info, size_t* size) {
  return Characters(Info(info).external_file_path, size);
}

const ashlar_table_properties_t* ashlar_externalfileingestioninfo_table_properties(
    const ashlar_externalfileingestioninfo_t* info) {
  return Handle(Info(info).table_properties);
}

const char* ashlar_externalfileingestioninfo_cf_name(const ashlar_externalfileingestioninfo_t* info,
                                                     size_t* size) {
  return Characters(Info(info).cf_name, size);
}

const char* ashlar_externalfileingestioninfo_internal_file_path(
    const ashlar_externalfileingestioninfo_t* info, size_t* size) {
  return Characters(Info(info).internal_file_path, size);
}

uint64_t ashlar_externalfileingestioninfo_global_seqno(
    const ashlar_externalfileingestioninfo_t* info) {
  return Info(info).global_seqno;
}

const char* ashlar_memtableinfo_cf_name(const ashlar_memtableinfo_t* info, size_t* size) {
  return Characters(Info(info).cf_name, size);
}

uint64_t ashlar_memtableinfo_earliest_seqno(const ashlar_memtableinfo_t* info) {
  return Info(info).earliest_seqno;
}

uint64_t ashlar_memtableinfo_first_seqno(const ashlar_memtableinfo_t* info) {
  return Info(info).first_seqno;
}

uint64_t ashlar_memtableinfo_num_deletes(const ashlar_memtableinfo_t* info) {
  return Info(info).num_deletes;
}

uint64_t ashlar_memtableinfo_num_entries(const ashlar_memtableinfo_t* info) {
  return Info(info).num_entries;
}

const char* ashlar_memtableinfo_newest_udt(const ashlar_memtableinfo_t* info, size_t* size) {
  return Characters(Info(info).newest_udt, size);
}

const char* ashlar_writestallinfo_cf_name(const ashlar_writestallinfo_t* info, size_t* size) {
  return Characters(Info(info).cf_name, size);
}

const ashlar_writestallcondition_t* ashlar_writestallinfo_cur(const ashlar_writestallinfo_t* info) {
  return reinterpret_cast<const ashlar_writestallcondition_t*>(&Info(info).condition.cur);
}

const ashlar_writestallcondition_t* ashlar_writestallinfo_prev(
    const ashlar_writestallinfo_t* info) {
  return reinterpret_cast<const ashlar_writestallcondition_t*>(&Info(info).condition.prev);
}

// ---- files of a job
uint64_t ashlar_blob_file_addition_info_blob_file_number(
    const ashlar_blob_file_addition_info_t* info) {
  return Info(info).blob_file_number;
}

const char* ashlar_blob_file_addition_info_blob_file_path(
    const ashlar_blob_file_addition_info_t* info, size_t* size) {
  return Characters(Info(info).blob_file_path, size);
}

uint64_t ashlar_blob_file_addition_info_total_blob_bytes(
    const ashlar_blob_file_addition_info_t* info) {
  return Info(info).total_blob_bytes;
}

uint64_t ashlar_blob_file_addition_info_total_blob_count(
    const ashlar_blob_file_addition_info_t* info) {
  return Info(info).total_blob_count;
}

uint64_t ashlar_blob_file_garbage_info_blob_file_number(
    const ashlar_blob_file_garbage_info_t* info) {
  return Info(info).blob_file_number;
}

const char* ashlar_blob_file_garbage_info_blob_file_path(
    const ashlar_blob_file_garbage_info_t* info, size_t* size) {
  return Characters(Info(info).blob_file_path, size);
}

uint64_t ashlar_blob_file_garbage_info_garbage_blob_bytes(
    const ashlar_blob_file_garbage_info_t* info) {
  return Info(info).garbage_blob_bytes;
}

uint64_t ashlar_blob_file_garbage_info_garbage_blob_count(
    const ashlar_blob_file_garbage_info_t* info) {
  return Info(info).garbage_blob_count;
}

uint64_t ashlar_compaction_file_info_file_number(const ashlar_compaction_file_info_t* info) {
  return Info(info).file_number;
}

int ashlar_compaction_file_info_level(const ashlar_compaction_file_info_t* info) {
  return Info(info).level;
}

uint64_t ashlar_compaction_file_info_oldest_blob_file_number(
    const ashlar_compaction_file_info_t* info) {
  return Info(info).oldest_blob_file_number;
}

// ---- statistics of a compaction
size_t ashlar_compaction_job_stats_num_input_files(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_input_files;
}

size_t ashlar_compaction_job_stats_num_output_files(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_output_files;
}

uint64_t ashlar_compaction_job_stats_cpu_micros(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).cpu_micros;
}

uint64_t ashlar_compaction_job_stats_elapsed_micros(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).elapsed_micros;
}

uint64_t ashlar_compaction_job_stats_file_fsync_nanos(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).file_fsync_nanos;
}

uint64_t ashlar_compaction_job_stats_file_prepare_write_nanos(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).file_prepare_write_nanos;
}

uint64_t ashlar_compaction_job_stats_file_range_sync_nanos(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).file_range_sync_nanos;
}

uint64_t ashlar_compaction_job_stats_file_write_nanos(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).file_write_nanos;
}

unsigned char ashlar_compaction_job_stats_has_accurate_num_input_records(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).has_accurate_num_input_records;
}

unsigned char ashlar_compaction_job_stats_is_full_compaction(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).is_full_compaction;
}

unsigned char ashlar_compaction_job_stats_is_manual_compaction(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).is_manual_compaction;
}

unsigned char ashlar_compaction_job_stats_is_remote_compaction(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).is_remote_compaction;
}

const char* ashlar_compaction_job_stats_largest_output_key_prefix(
    const ashlar_compaction_job_stats_t* stats, size_t* size) {
  return Characters(Info(stats).largest_output_key_prefix, size);
}

uint64_t ashlar_compaction_job_stats_num_blobs_read(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_blobs_read;
}

uint64_t ashlar_compaction_job_stats_num_corrupt_keys(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_corrupt_keys;
}

uint64_t ashlar_compaction_job_stats_num_expired_deletion_records(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_expired_deletion_records;
}

size_t ashlar_compaction_job_stats_num_filtered_input_files(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_filtered_input_files;
}

size_t ashlar_compaction_job_stats_num_filtered_input_files_at_output_level(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_filtered_input_files_at_output_level;
}

uint64_t ashlar_compaction_job_stats_num_input_deletion_records(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_input_deletion_records;
}

size_t ashlar_compaction_job_stats_num_input_files_at_output_level(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_input_files_at_output_level;
}

size_t ashlar_compaction_job_stats_num_input_files_trivially_moved(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_input_files_trivially_moved;
}

uint64_t ashlar_compaction_job_stats_num_input_records(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_input_records;
}

size_t ashlar_compaction_job_stats_num_output_files_blob(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_output_files_blob;
}

uint64_t ashlar_compaction_job_stats_num_output_records(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_output_records;
}

uint64_t ashlar_compaction_job_stats_num_records_replaced(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_records_replaced;
}

uint64_t ashlar_compaction_job_stats_num_single_del_fallthru(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_single_del_fallthru;
}

uint64_t ashlar_compaction_job_stats_num_single_del_mismatch(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).num_single_del_mismatch;
}

const char* ashlar_compaction_job_stats_smallest_output_key_prefix(
    const ashlar_compaction_job_stats_t* stats, size_t* size) {
  return Characters(Info(stats).smallest_output_key_prefix, size);
}

uint64_t ashlar_compaction_job_stats_total_blob_bytes_read(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_blob_bytes_read;
}

uint64_t ashlar_compaction_job_stats_total_input_bytes(const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_input_bytes;
}

uint64_t ashlar_compaction_job_stats_total_input_raw_key_bytes(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_input_raw_key_bytes;
}

uint64_t ashlar_compaction_job_stats_total_input_raw_value_bytes(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_input_raw_value_bytes;
}

uint64_t ashlar_compaction_job_stats_total_output_bytes(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_output_bytes;
}

uint64_t ashlar_compaction_job_stats_total_output_bytes_blob(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_output_bytes_blob;
}

uint64_t ashlar_compaction_job_stats_total_skipped_input_bytes(
    const ashlar_compaction_job_stats_t* stats) {
  return Info(stats).total_skipped_input_bytes;
}
