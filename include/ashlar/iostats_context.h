// SPDX-License-Identifier: Apache-2.0
//
// IOStatsContext: what the calling thread read and wrote. How much is measured is set by
// SetPerfLevel(); see perf_level.h.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/export.h"
#include "ashlar/perf_level.h"

namespace ashlar {

// Reads by the temperature of the file.
struct ASHLAR_EXPORT FileIOByTemperature {
  uint64_t hot_file_bytes_read = 0;
  uint64_t warm_file_bytes_read = 0;
  uint64_t cool_file_bytes_read = 0;
  uint64_t cold_file_bytes_read = 0;
  uint64_t ice_file_bytes_read = 0;
  uint64_t unknown_non_last_level_bytes_read = 0;
  uint64_t unknown_last_level_bytes_read = 0;
  uint64_t hot_file_read_count = 0;
  uint64_t warm_file_read_count = 0;
  uint64_t cool_file_read_count = 0;
  uint64_t cold_file_read_count = 0;
  uint64_t ice_file_read_count = 0;
  uint64_t unknown_non_last_level_read_count = 0;
  uint64_t unknown_last_level_read_count = 0;

  void Reset();
  // Adds the counters of `other`.
  void Merge(const FileIOByTemperature& other);
};

// Not thread safe: each thread has its own, from get_iostats_context().
struct ASHLAR_EXPORT IOStatsContext {
  void Reset();
  // Adds the counters of `other`; thread_pool_id stays.
  void Merge(const IOStatsContext& other);
  // "name = value, ...", optionally without zeros.
  std::string ToString(bool exclude_zero_counters = false) const;

  // The Env::Priority of the pool the thread belongs to.
  uint64_t thread_pool_id = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_read = 0;
  uint64_t open_nanos = 0;
  uint64_t allocate_nanos = 0;
  uint64_t write_nanos = 0;
  uint64_t read_nanos = 0;
  uint64_t range_sync_nanos = 0;
  uint64_t fsync_nanos = 0;
  uint64_t prepare_write_nanos = 0;
  uint64_t logger_nanos = 0;
  uint64_t cpu_write_nanos = 0;
  uint64_t cpu_read_nanos = 0;

  FileIOByTemperature file_io_stats_by_temperature;

  // True while the engine does something that should not be counted.
  bool disable_iostats = false;
};

// Never nullptr; dies with the thread.
ASHLAR_EXPORT IOStatsContext* get_iostats_context();

}  // namespace ashlar
