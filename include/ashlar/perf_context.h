// SPDX-License-Identifier: Apache-2.0
//
// PerfContext: counters and times of the calling thread's operations. SetPerfLevel() decides how
// much is measured; see perf_level.h. Times are in nanoseconds unless the name says otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ashlar/export.h"
#include "ashlar/perf_level.h"

namespace ashlar {

// See PerfContextByLevel.
struct PerfContextByLevelBase {
  uint64_t bloom_filter_useful = 0;
  uint64_t bloom_filter_full_positive = 0;
  uint64_t bloom_filter_full_true_positive = 0;
  uint64_t user_key_return_count = 0;
  uint64_t get_from_table_nanos = 0;
  uint64_t block_cache_hit_count = 0;
  uint64_t block_cache_miss_count = 0;
};

// Counters for one level of the LSM tree.
struct ASHLAR_EXPORT PerfContextByLevel : public PerfContextByLevelBase {
  // Sets all counters to 0.
  void Reset();
  // Adds the counters of `other` to this object.
  void Merge(const PerfContextByLevel& other);
};

// The counters of PerfContext. docs/statistics.md lists those that stay 0.
struct PerfContextBase {
  // Calls of a custom comparator. The built-in comparators compare bytes without such a call.
  uint64_t user_key_comparison_count = 0;
  uint64_t block_cache_hit_count = 0;
  uint64_t block_read_count = 0;
  uint64_t block_read_byte = 0;
  uint64_t block_read_time = 0;
  uint64_t block_read_cpu_time = 0;
  uint64_t block_cache_index_hit_count = 0;
  uint64_t block_cache_standalone_handle_count = 0;
  uint64_t block_cache_real_handle_count = 0;
  uint64_t index_block_read_count = 0;
  uint64_t block_cache_filter_hit_count = 0;
  uint64_t filter_block_read_count = 0;
  uint64_t compression_dict_block_read_count = 0;
  uint64_t block_cache_index_read_byte = 0;
  uint64_t block_cache_filter_read_byte = 0;
  uint64_t block_cache_compression_dict_read_byte = 0;
  uint64_t block_cache_read_byte = 0;
  uint64_t secondary_cache_hit_count = 0;
  uint64_t compressed_sec_cache_insert_real_count = 0;
  uint64_t compressed_sec_cache_insert_dummy_count = 0;
  uint64_t compressed_sec_cache_uncompressed_bytes = 0;
  uint64_t compressed_sec_cache_compressed_bytes = 0;
  uint64_t block_checksum_time = 0;
  uint64_t block_decompress_time = 0;
  uint64_t block_decompress_count = 0;
  uint64_t get_read_bytes = 0;
  uint64_t multiget_read_bytes = 0;
  uint64_t iter_read_bytes = 0;  // only with statistics, or if times are measured
  uint64_t blob_cache_hit_count = 0;
  uint64_t blob_cache_read_byte = 0;
  uint64_t blob_read_count = 0;
  uint64_t blob_read_byte = 0;
  uint64_t blob_read_time = 0;
  uint64_t blob_checksum_time = 0;
  uint64_t blob_decompress_time = 0;
  uint64_t internal_key_skipped_count = 0;
  uint64_t internal_delete_skipped_count = 0;
  uint64_t internal_recent_skipped_count = 0;
  uint64_t internal_merge_count = 0;
  uint64_t internal_merge_point_lookup_count = 0;
  uint64_t internal_range_del_reseek_count = 0;
  uint64_t get_snapshot_time = 0;
  uint64_t get_from_memtable_time = 0;
  uint64_t get_from_memtable_count = 0;
  uint64_t get_post_process_time = 0;
  uint64_t get_from_output_files_time = 0;
  uint64_t seek_on_memtable_time = 0;
  uint64_t seek_on_memtable_count = 0;
  uint64_t next_on_memtable_count = 0;
  uint64_t prev_on_memtable_count = 0;
  uint64_t seek_child_seek_time = 0;
  uint64_t seek_child_seek_count = 0;
  uint64_t seek_min_heap_time = 0;
  uint64_t seek_max_heap_time = 0;
  uint64_t seek_internal_seek_time = 0;
  uint64_t find_next_user_entry_time = 0;
  uint64_t write_wal_time = 0;
  uint64_t write_memtable_time = 0;
  uint64_t write_delay_time = 0;
  uint64_t write_scheduling_flushes_compactions_time = 0;
  uint64_t write_pre_and_post_process_time = 0;
  uint64_t write_thread_wait_nanos = 0;
  uint64_t db_mutex_lock_nanos = 0;
  uint64_t db_condition_wait_nanos = 0;
  uint64_t merge_operator_time_nanos = 0;
  uint64_t read_index_block_nanos = 0;
  uint64_t read_filter_block_nanos = 0;
  uint64_t new_table_block_iter_nanos = 0;
  uint64_t new_table_iterator_nanos = 0;
  uint64_t block_seek_nanos = 0;
  uint64_t find_table_nanos = 0;
  uint64_t bloom_memtable_hit_count = 0;
  uint64_t bloom_memtable_miss_count = 0;
  uint64_t bloom_sst_hit_count = 0;
  uint64_t bloom_sst_miss_count = 0;
  uint64_t key_lock_wait_time = 0;
  uint64_t key_lock_wait_count = 0;
  uint64_t env_new_sequential_file_nanos = 0;
  uint64_t env_new_random_access_file_nanos = 0;
  uint64_t env_new_writable_file_nanos = 0;
  uint64_t env_reuse_writable_file_nanos = 0;
  uint64_t env_new_random_rw_file_nanos = 0;
  uint64_t env_new_directory_nanos = 0;
  uint64_t env_file_exists_nanos = 0;
  uint64_t env_get_children_nanos = 0;
  uint64_t env_get_children_file_attributes_nanos = 0;
  uint64_t env_delete_file_nanos = 0;
  uint64_t env_create_dir_nanos = 0;
  uint64_t env_create_dir_if_missing_nanos = 0;
  uint64_t env_delete_dir_nanos = 0;
  uint64_t env_get_file_size_nanos = 0;
  uint64_t env_get_file_modification_time_nanos = 0;
  uint64_t env_rename_file_nanos = 0;
  uint64_t env_link_file_nanos = 0;
  uint64_t env_lock_file_nanos = 0;
  uint64_t env_unlock_file_nanos = 0;
  uint64_t env_new_logger_nanos = 0;
  uint64_t get_cpu_nanos = 0;
  uint64_t iter_next_cpu_nanos = 0;
  uint64_t iter_prev_cpu_nanos = 0;
  uint64_t iter_seek_cpu_nanos = 0;
  uint64_t iter_next_count =
      0;  // like the next: if not timed, added at the next seek or at the end
  uint64_t iter_prev_count = 0;
  uint64_t iter_seek_count = 0;
  uint64_t encrypt_data_nanos = 0;
  uint64_t decrypt_data_nanos = 0;
  uint64_t number_async_seek = 0;
  uint64_t file_ingestion_nanos = 0;
  uint64_t file_ingestion_blocking_live_writes_nanos = 0;
  uint64_t data_block_read_byte = 0;
  uint64_t index_block_read_byte = 0;
  uint64_t filter_block_read_byte = 0;
  uint64_t compression_dict_block_read_byte = 0;
  uint64_t metadata_block_read_byte = 0;
  uint64_t multiscan_prepare_count = 0;
  uint64_t multiscan_blocks_prefetched = 0;
  uint64_t multiscan_blocks_from_cache = 0;
  uint64_t multiscan_prefetch_bytes = 0;
  uint64_t multiscan_io_requests = 0;
  uint64_t multiscan_io_coalesced_nonadjacent = 0;
};

// The counters of one thread; see get_perf_context(). Not thread safe.
struct ASHLAR_EXPORT PerfContext : public PerfContextBase {
  PerfContext() {}
  PerfContext(const PerfContext& other);
  PerfContext& operator=(const PerfContext& other);
  PerfContext(PerfContext&& other) noexcept;
  ~PerfContext();

  // Sets all counters to 0, including those by level.
  void Reset();
  // Adds the counters of `other` to this object.
  void Merge(const PerfContext& other);
  // Returns "name = value, ..."; without counters that are 0 if exclude_zero_counters is true.
  std::string ToString(bool exclude_zero_counters = false) const;

  // Counters by level are disabled by default. ClearPerLevelPerfContext() also frees their memory.
  void EnablePerLevelPerfContext();
  void DisablePerLevelPerfContext();
  void ClearPerLevelPerfContext();

  // Copies the counters, but not whether counters by level are enabled.
  void copyMetrics(const PerfContext* other) noexcept;

  // Counters by level. Owned by this object; nullptr until enabled.
  std::map<uint32_t, PerfContextByLevel>* level_to_perf_context = nullptr;
  bool per_level_perf_context_enabled = false;
};

// The counters of the calling thread. Never nullptr; valid until the thread ends.
ASHLAR_EXPORT PerfContext* get_perf_context();

}  // namespace ashlar
