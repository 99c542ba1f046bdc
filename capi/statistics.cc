// SPDX-License-Identifier: Apache-2.0
//
// The C API: statistics of databases, and counters of the calling thread.
//
// The statistics belong to the options that enabled them, and are shared by copies of these options
// and by databases. The counters of a thread belong to the thread: a handle may be used only by the
// thread that has created it.
#include "ashlar/c/statistics.h"

#include <algorithm>
#include <cassert>

#include "ashlar/c/enums.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "capi/option_handles.h"

using ashlar::PerfContext;
using ashlar::PerfLevel;
using ashlar::Statistics;
using ashlar::StatsLevel;
using ashlar::capi::Copy;

struct ashlar_perfcontext_t {
  PerfContext* rep;  // not owned: the thread's
};

// ---- statistics

void ashlar_options_enable_statistics(ashlar_options_t* opt) {
  assert(opt != nullptr);
  opt->rep.statistics = ashlar::CreateDBStatistics();
}
void ashlar_options_set_statistics_level(ashlar_options_t* opt, int level) {
  assert(opt != nullptr);
  if (opt->rep.statistics == nullptr) ashlar_options_enable_statistics(opt);
  // A level beyond the ends of the list is the nearest one, as in RocksDB.
  const int known = std::clamp<int>(level, StatsLevel::kDisableAll, StatsLevel::kAll);
  opt->rep.statistics->set_stats_level(static_cast<StatsLevel>(known));
}
int ashlar_options_get_statistics_level(ashlar_options_t* opt) {
  assert(opt != nullptr);
  return opt->rep.statistics == nullptr ? StatsLevel::kDisableAll
                                        : opt->rep.statistics->get_stats_level();
}
char* ashlar_options_statistics_get_string(ashlar_options_t* opt) {
  return opt->rep.statistics == nullptr ? nullptr : Copy(opt->rep.statistics->ToString());
}
uint64_t ashlar_options_statistics_get_ticker_count(ashlar_options_t* opt, uint32_t ticker_type) {
  assert(opt != nullptr);
  if (opt->rep.statistics == nullptr || ticker_type >= ashlar::TICKER_ENUM_MAX) return 0;
  return opt->rep.statistics->getTickerCount(ticker_type);
}
void ashlar_options_statistics_get_histogram_data(ashlar_options_t* opt, uint32_t histogram_type,
                                                  ashlar_statistics_histogram_data_t* const data) {
  assert(opt != nullptr);
  assert(data != nullptr);
  data->rep = {};
  if (opt->rep.statistics == nullptr || histogram_type >= ashlar::HISTOGRAM_ENUM_MAX) return;
  opt->rep.statistics->histogramData(histogram_type, &data->rep);
}

ashlar_statistics_histogram_data_t* ashlar_statistics_histogram_data_create() {
  return new ashlar_statistics_histogram_data_t{};
}
void ashlar_statistics_histogram_data_destroy(ashlar_statistics_histogram_data_t* data) {
  delete data;
}
double ashlar_statistics_histogram_data_get_median(ashlar_statistics_histogram_data_t* data) {
  return data->rep.median;
}
double ashlar_statistics_histogram_data_get_p95(ashlar_statistics_histogram_data_t* data) {
  return data->rep.percentile95;
}
double ashlar_statistics_histogram_data_get_p99(ashlar_statistics_histogram_data_t* data) {
  return data->rep.percentile99;
}
double ashlar_statistics_histogram_data_get_average(ashlar_statistics_histogram_data_t* data) {
  return data->rep.average;
}
double ashlar_statistics_histogram_data_get_std_dev(ashlar_statistics_histogram_data_t* data) {
  return data->rep.standard_deviation;
}
double ashlar_statistics_histogram_data_get_max(ashlar_statistics_histogram_data_t* data) {
  return data->rep.max;
}
uint64_t ashlar_statistics_histogram_data_get_count(ashlar_statistics_histogram_data_t* data) {
  return data->rep.count;
}
uint64_t ashlar_statistics_histogram_data_get_sum(ashlar_statistics_histogram_data_t* data) {
  return data->rep.sum;
}
double ashlar_statistics_histogram_data_get_min(ashlar_statistics_histogram_data_t* data) {
  return data->rep.min;
}

// ---- counters of the calling thread

void ashlar_set_perf_level(int level) {
  // Other numbers are ignored.
  if (level > PerfLevel::kUninitialized && level < PerfLevel::kOutOfBounds) {
    ashlar::SetPerfLevel(static_cast<PerfLevel>(level));
  }
}

ashlar_perfcontext_t* ashlar_perfcontext_create() {
  return new ashlar_perfcontext_t{ashlar::get_perf_context()};
}
void ashlar_perfcontext_destroy(ashlar_perfcontext_t* context) { delete context; }
void ashlar_perfcontext_reset(ashlar_perfcontext_t* context) { context->rep->Reset(); }
char* ashlar_perfcontext_report(ashlar_perfcontext_t* context,
                                unsigned char exclude_zero_counters) {
  assert(context != nullptr);
  return Copy(context->rep->ToString(exclude_zero_counters != 0));
}

namespace {

// The member for each number; null for a number that names none. A metric is named like its member.
uint64_t PerfContext::*CounterOf(int metric) {
#define METRIC(name) {ashlar_##name, &PerfContext::name},
  static constexpr struct {
    int metric;
    uint64_t PerfContext::*counter;
  } kCounters[] =
      {METRIC(user_key_comparison_count) METRIC(block_cache_hit_count) METRIC(
          block_read_count) METRIC(block_read_byte) METRIC(block_read_time)
           METRIC(block_checksum_time) METRIC(block_decompress_time) METRIC(get_read_bytes) METRIC(
               multiget_read_bytes) METRIC(iter_read_bytes) METRIC(internal_key_skipped_count)
               METRIC(internal_delete_skipped_count) METRIC(internal_recent_skipped_count) METRIC(
                   internal_merge_count) METRIC(get_snapshot_time) METRIC(get_from_memtable_time)
                   METRIC(get_from_memtable_count) METRIC(get_post_process_time) METRIC(
                       get_from_output_files_time) METRIC(seek_on_memtable_time)
                       METRIC(seek_on_memtable_count) METRIC(next_on_memtable_count) METRIC(
                           prev_on_memtable_count) METRIC(seek_child_seek_time)
                           METRIC(seek_child_seek_count) METRIC(seek_min_heap_time) METRIC(
                               seek_max_heap_time) METRIC(seek_internal_seek_time)
                               METRIC(find_next_user_entry_time) METRIC(write_wal_time) METRIC(
                                   write_memtable_time) METRIC(write_delay_time)
                                   METRIC(write_pre_and_post_process_time) METRIC(
                                       db_mutex_lock_nanos) METRIC(db_condition_wait_nanos)
                                       METRIC(merge_operator_time_nanos) METRIC(
                                           read_index_block_nanos) METRIC(read_filter_block_nanos)
                                           METRIC(new_table_block_iter_nanos) METRIC(
                                               new_table_iterator_nanos) METRIC(block_seek_nanos)
                                               METRIC(find_table_nanos) METRIC(bloom_memtable_hit_count) METRIC(
                                                   bloom_memtable_miss_count) METRIC(bloom_sst_hit_count) METRIC(bloom_sst_miss_count)
                                                   METRIC(
                                                       key_lock_wait_time) METRIC(key_lock_wait_count)
                                                       METRIC(env_new_sequential_file_nanos) METRIC(
                                                           env_new_random_access_file_nanos) METRIC(env_new_writable_file_nanos)
                                                           METRIC(env_reuse_writable_file_nanos) METRIC(
                                                               env_new_random_rw_file_nanos) METRIC(env_new_directory_nanos)
                                                               METRIC(env_file_exists_nanos) METRIC(
                                                                   env_get_children_nanos) METRIC(env_get_children_file_attributes_nanos)
                                                                   METRIC(env_delete_file_nanos) METRIC(
                                                                       env_create_dir_nanos) METRIC(env_create_dir_if_missing_nanos)
                                                                       METRIC(env_delete_dir_nanos) METRIC(
                                                                           env_get_file_size_nanos) METRIC(env_get_file_modification_time_nanos)
                                                                           METRIC(env_rename_file_nanos) METRIC(
                                                                               env_link_file_nanos) METRIC(env_lock_file_nanos)
                                                                               METRIC(env_unlock_file_nanos) METRIC(
                                                                                   env_new_logger_nanos) METRIC(number_async_seek)
                                                                                   METRIC(blob_cache_hit_count) METRIC(
                                                                                       blob_read_count) METRIC(blob_read_byte)
                                                                                       METRIC(
                                                                                           blob_read_time) METRIC(blob_checksum_time)
                                                                                           METRIC(blob_decompress_time) METRIC(
                                                                                               internal_range_del_reseek_count)
                                                                                               METRIC(block_read_cpu_time) METRIC(
                                                                                                   internal_merge_point_lookup_count)
                                                                                                   METRIC(data_block_read_byte) METRIC(
                                                                                                       index_block_read_byte)
                                                                                                       METRIC(
                                                                                                           filter_block_read_byte)
                                                                                                           METRIC(
                                                                                                               compression_dict_block_read_byte)
                                                                                                               METRIC(
                                                                                                                   metadata_block_read_byte)
                                                                                                                   METRIC(
                                                                                                                       blob_cache_read_byte)};
#undef METRIC
  for (const auto& row : kCounters) {
    if (row.metric == metric) return row.counter;
  }
  return nullptr;
}

}  // namespace

uint64_t ashlar_perfcontext_metric(ashlar_perfcontext_t* context, int metric) {
  uint64_t PerfContext::*counter = CounterOf(metric);
  return counter == nullptr ? 0 : context->rep->*counter;
}
