// SPDX-License-Identifier: Apache-2.0
//
// Tables of the counters in iostats_context.h, and the instance of the calling thread.
#include "ashlar/iostats_context.h"

#include "util/statistics/counter_table.h"
#include "util/statistics/of_thread.h"
#include "util/threads/thread_object.h"

namespace ashlar {
namespace {

constexpr CounterRow<FileIOByTemperature> kTemperatureCounters[] = {
    {"hot_file_bytes_read", &FileIOByTemperature::hot_file_bytes_read},
    {"warm_file_bytes_read", &FileIOByTemperature::warm_file_bytes_read},
    {"cool_file_bytes_read", &FileIOByTemperature::cool_file_bytes_read},
    {"cold_file_bytes_read", &FileIOByTemperature::cold_file_bytes_read},
    {"ice_file_bytes_read", &FileIOByTemperature::ice_file_bytes_read},
    {"unknown_non_last_level_bytes_read", &FileIOByTemperature::unknown_non_last_level_bytes_read},
    {"unknown_last_level_bytes_read", &FileIOByTemperature::unknown_last_level_bytes_read},
    {"hot_file_read_count", &FileIOByTemperature::hot_file_read_count},
    {"warm_file_read_count", &FileIOByTemperature::warm_file_read_count},
    {"cool_file_read_count", &FileIOByTemperature::cool_file_read_count},
    {"cold_file_read_count", &FileIOByTemperature::cold_file_read_count},
    {"ice_file_read_count", &FileIOByTemperature::ice_file_read_count},
    {"unknown_non_last_level_read_count", &FileIOByTemperature::unknown_non_last_level_read_count},
    {"unknown_last_level_read_count", &FileIOByTemperature::unknown_last_level_read_count},
};
// The table must list every member.
static_assert(sizeof(kTemperatureCounters) / sizeof(kTemperatureCounters[0]) * sizeof(uint64_t) ==
              sizeof(FileIOByTemperature));

constexpr CounterRow<IOStatsContext> kIoCounters[] = {
    {"thread_pool_id", &IOStatsContext::thread_pool_id},
    {"bytes_written", &IOStatsContext::bytes_written},
    {"bytes_read", &IOStatsContext::bytes_read},
    {"open_nanos", &IOStatsContext::open_nanos},
    {"allocate_nanos", &IOStatsContext::allocate_nanos},
    {"write_nanos", &IOStatsContext::write_nanos},
    {"read_nanos", &IOStatsContext::read_nanos},
    {"range_sync_nanos", &IOStatsContext::range_sync_nanos},
    {"fsync_nanos", &IOStatsContext::fsync_nanos},
    {"prepare_write_nanos", &IOStatsContext::prepare_write_nanos},
    {"logger_nanos", &IOStatsContext::logger_nanos},
    {"cpu_write_nanos", &IOStatsContext::cpu_write_nanos},
    {"cpu_read_nanos", &IOStatsContext::cpu_read_nanos},
};

}  // namespace

void FileIOByTemperature::Reset() {
  ResetCounters<FileIOByTemperature>(kTemperatureCounters, this);
}

void FileIOByTemperature::Merge(const FileIOByTemperature& other) {
  MergeCounters<FileIOByTemperature>(kTemperatureCounters, other, this);
}

void IOStatsContext::Reset() {
  ResetCounters<IOStatsContext>(kIoCounters, this);
  file_io_stats_by_temperature.Reset();
}

// The id says which pool the thread belongs to; it is no sum.
void IOStatsContext::Merge(const IOStatsContext& other) {
  const uint64_t own_pool_id = thread_pool_id;
  MergeCounters<IOStatsContext>(kIoCounters, other, this);
  thread_pool_id = own_pool_id;
  file_io_stats_by_temperature.Merge(other.file_io_stats_by_temperature);
}

std::string IOStatsContext::ToString(bool exclude_zero_counters) const {
  std::string text;
  PrintCounters<IOStatsContext>(kIoCounters, *this, exclude_zero_counters, &text);
  PrintCounters<FileIOByTemperature>(kTemperatureCounters, file_io_stats_by_temperature,
                                     exclude_zero_counters, &text);
  if (!text.empty()) text.resize(text.size() - 2);  // the last ", "
  return text;
}

// Lives until the thread ends; the pointer must not be given to another thread.
IOStatsContext* get_iostats_context() { return &ThreadObject<OfThread<IOStatsContext>>::Get(); }

}  // namespace ashlar
