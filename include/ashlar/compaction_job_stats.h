// SPDX-License-Identifier: Apache-2.0
//
// CompactionJobStats: how much one compaction read, wrote and dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

// Numbers are entries or files unless the name says bytes, micros or
// nanos.
struct ASHLAR_EXPORT CompactionJobStats {
  CompactionJobStats() { Reset(); }
  // Sets all fields to 0 or false.
  void Reset();
  // Adds the counters of `stats`; flags are combined with "or".
  void Add(const CompactionJobStats& stats);

  uint64_t elapsed_micros = 0;
  uint64_t cpu_micros = 0;

  // False if num_input_records may be too low because a compaction filter skipped entries.
  bool has_accurate_num_input_records = true;
  uint64_t num_input_records = 0;
  uint64_t num_blobs_read = 0;
  size_t num_input_files = 0;
  size_t num_input_files_trivially_moved = 0;
  size_t num_input_files_at_output_level = 0;
  // Input files that were dropped as a whole without being read.
  size_t num_filtered_input_files = 0;
  size_t num_filtered_input_files_at_output_level = 0;

  uint64_t num_output_records = 0;
  size_t num_output_files = 0;
  size_t num_output_files_blob = 0;

  bool is_full_compaction = false;
  bool is_manual_compaction = false;
  bool is_remote_compaction = false;

  uint64_t total_input_bytes = 0;
  uint64_t total_blob_bytes_read = 0;
  uint64_t total_output_bytes = 0;
  uint64_t total_output_bytes_blob = 0;
  uint64_t total_skipped_input_bytes = 0;

  // Entries that were dropped because there is a newer entry for the same key.
  uint64_t num_records_replaced = 0;
  // Sizes before compression and before prefixes are shared between keys.
  uint64_t total_input_raw_key_bytes = 0;
  uint64_t total_input_raw_value_bytes = 0;
  uint64_t num_input_deletion_records = 0;
  // Tombstones that were dropped because no deeper level can contain their key.
  uint64_t num_expired_deletion_records = 0;
  uint64_t num_corrupt_keys = 0;

  // Not measured: always 0.
  uint64_t file_write_nanos = 0;
  uint64_t file_range_sync_nanos = 0;
  uint64_t file_fsync_nanos = 0;
  uint64_t file_prepare_write_nanos = 0;

  static const size_t kMaxPrefixLength = 8;
  std::string smallest_output_key_prefix;
  std::string largest_output_key_prefix;

  // Number of SingleDelete() entries that met no Put, or more than one Put.
  uint64_t num_single_del_fallthru = 0;
  uint64_t num_single_del_mismatch = 0;
};

}  // namespace ashlar
