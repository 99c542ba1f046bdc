// SPDX-License-Identifier: Apache-2.0
//
// IOStatsContext counts the reads and writes of the calling thread. SetPerfLevel() decides how much
// is measured; see perf_level.h.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/export.h"
#include "ashlar/perf_level.h"

namespace ashlar {

// Counters of reads, by the temperature of the file.
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
  // Adds the counters of `other` to this object.
  void Merge(const FileIOByTemperature& other);
};

// The counters of one thread; see get_iostats_context(). Not thread safe.
struct ASHLAR_EXPORT IOStatsContext {
  // Sets all counters to 0.
  void Reset();
  // Adds the counters of `other` to this object, except for thread_pool_id.
  void Merge(const IOStatsContext& other);
  // Returns "name = value, ..."; without counters that are 0 if exclude_zero_counters is true.
  std::string ToString(bool exclude_zero_counters = false) const;

  // Env::Priority of the thread pool to which the thread belongs.
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

  // True while the engine performs operations that should not be counted.
  bool disable_iostats = false;
};

// The counters of the calling thread. Never nullptr; valid until the thread ends.
ASHLAR_EXPORT IOStatsContext* get_iostats_context();

}  // namespace ashlar
