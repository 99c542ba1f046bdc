// SPDX-License-Identifier: Apache-2.0
//
// Resetting and adding job statistics. The totals of a manual compaction are sums over its jobs.
#include "ashlar/compaction_job_stats.h"

namespace ashlar {
namespace {

// Every counter of the struct is in exactly one of the two tables, which differ in the type of the
// members.
constexpr uint64_t CompactionJobStats::*kSums[] = {
    &CompactionJobStats::elapsed_micros,
    &CompactionJobStats::cpu_micros,
    &CompactionJobStats::num_input_records,
    &CompactionJobStats::num_blobs_read,
    &CompactionJobStats::num_output_records,
    &CompactionJobStats::total_input_bytes,
    &CompactionJobStats::total_blob_bytes_read,
    &CompactionJobStats::total_output_bytes,
    &CompactionJobStats::total_output_bytes_blob,
    &CompactionJobStats::total_skipped_input_bytes,
    &CompactionJobStats::num_records_replaced,
    &CompactionJobStats::total_input_raw_key_bytes,
    &CompactionJobStats::total_input_raw_value_bytes,
    &CompactionJobStats::num_input_deletion_records,
    &CompactionJobStats::num_expired_deletion_records,
    &CompactionJobStats::num_corrupt_keys,
    &CompactionJobStats::file_write_nanos,
    &CompactionJobStats::file_range_sync_nanos,
    &CompactionJobStats::file_fsync_nanos,
    &CompactionJobStats::file_prepare_write_nanos,
    &CompactionJobStats::num_single_del_fallthru,
    &CompactionJobStats::num_single_del_mismatch,
};

constexpr size_t CompactionJobStats::*kFileCounts[] = {
    &CompactionJobStats::num_input_files,
    &CompactionJobStats::num_input_files_trivially_moved,
    &CompactionJobStats::num_input_files_at_output_level,
    &CompactionJobStats::num_filtered_input_files,
    &CompactionJobStats::num_filtered_input_files_at_output_level,
    &CompactionJobStats::num_output_files,
    &CompactionJobStats::num_output_files_blob,
};

}  // namespace

// The prefixes of keys are not totals, so that Add() leaves them alone.
void CompactionJobStats::Reset() {
  for (auto member : kSums) this->*member = 0;
  for (auto member : kFileCounts) this->*member = 0;
  has_accurate_num_input_records = true;
  is_full_compaction = false;
  is_manual_compaction = false;
  is_remote_compaction = false;
  smallest_output_key_prefix.clear();
  largest_output_key_prefix.clear();
}

// The flags tell whether a fact holds for all parts (accurate counts), or for some part (the
// others).
void CompactionJobStats::Add(const CompactionJobStats& stats) {
  for (auto member : kSums) this->*member += stats.*member;
  for (auto member : kFileCounts) this->*member += stats.*member;
  has_accurate_num_input_records &= stats.has_accurate_num_input_records;
  is_full_compaction |= stats.is_full_compaction;
  is_manual_compaction |= stats.is_manual_compaction;
  is_remote_compaction |= stats.is_remote_compaction;
}

}  // namespace ashlar
