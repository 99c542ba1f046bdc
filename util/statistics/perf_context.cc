// SPDX-License-Identifier: Apache-2.0
//
// Tables of the counters in perf_context.h, and the instances of the calling thread.
#include "ashlar/perf_context.h"

#include <cassert>
#include <utility>

#include "util/statistics/counter_table.h"
#include "util/statistics/of_thread.h"
#include "util/statistics/perf_level_impl.h"
#include "util/threads/thread_object.h"

namespace ashlar {
namespace {

// All counters of the class, in the order of their members, which is the order of the text. Names
// that end in _time or _nanos are nanoseconds, those with byte are bytes, and the others are
// counts.
constexpr CounterRow<PerfContextBase> kCounters[] = {
    {"user_key_comparison_count", &PerfContextBase::user_key_comparison_count},
    {"block_cache_hit_count", &PerfContextBase::block_cache_hit_count},
    {"block_read_count", &PerfContextBase::block_read_count},
    {"block_read_byte", &PerfContextBase::block_read_byte},
    {"block_read_time", &PerfContextBase::block_read_time},
    {"block_read_cpu_time", &PerfContextBase::block_read_cpu_time},
    {"block_cache_index_hit_count", &PerfContextBase::block_cache_index_hit_count},
    {"block_cache_standalone_handle_count", &PerfContextBase::block_cache_standalone_handle_count},
    {"block_cache_real_handle_count", &PerfContextBase::block_cache_real_handle_count},
    {"index_block_read_count", &PerfContextBase::index_block_read_count},
    {"block_cache_filter_hit_count", &PerfContextBase::block_cache_filter_hit_count},
    {"filter_block_read_count", &PerfContextBase::filter_block_read_count},
    {"compression_dict_block_read_count", &PerfContextBase::compression_dict_block_read_count},
    {"block_cache_index_read_byte", &PerfContextBase::block_cache_index_read_byte},
    {"block_cache_filter_read_byte", &PerfContextBase::block_cache_filter_read_byte},
    {"block_cache_compression_dict_read_byte",
     &PerfContextBase::block_cache_compression_dict_read_byte},
    {"block_cache_read_byte", &PerfContextBase::block_cache_read_byte},
    {"secondary_cache_hit_count", &PerfContextBase::secondary_cache_hit_count},
    {"compressed_sec_cache_insert_real_count",
     &PerfContextBase::compressed_sec_cache_insert_real_count},
    {"compressed_sec_cache_insert_dummy_count",
     &PerfContextBase::compressed_sec_cache_insert_dummy_count},
    {"compressed_sec_cache_uncompressed_bytes",
     &PerfContextBase::compressed_sec_cache_uncompressed_bytes},
    {"compressed_sec_cache_compressed_bytes",
     &PerfContextBase::compressed_sec_cache_compressed_bytes},
    {"block_checksum_time", &PerfContextBase::block_checksum_time},
    {"block_decompress_time", &PerfContextBase::block_decompress_time},
    {"block_decompress_count", &PerfContextBase::block_decompress_count},
    {"get_read_bytes", &PerfContextBase::get_read_bytes},
    {"multiget_read_bytes", &PerfContextBase::multiget_read_bytes},
    {"iter_read_bytes", &PerfContextBase::iter_read_bytes},
    {"blob_cache_hit_count", &PerfContextBase::blob_cache_hit_count},
    {"blob_cache_read_byte", &PerfContextBase::blob_cache_read_byte},
    {"blob_read_count", &PerfContextBase::blob_read_count},
    {"blob_read_byte", &PerfContextBase::blob_read_byte},
    {"blob_read_time", &PerfContextBase::blob_read_time},
    {"blob_checksum_time", &PerfContextBase::blob_checksum_time},
    {"blob_decompress_time", &PerfContextBase::blob_decompress_time},
    {"internal_key_skipped_count", &PerfContextBase::internal_key_skipped_count},
    {"internal_delete_skipped_count", &PerfContextBase::internal_delete_skipped_count},
    {"internal_recent_skipped_count", &PerfContextBase::internal_recent_skipped_count},
    {"internal_merge_count", &PerfContextBase::internal_merge_count},
    {"internal_merge_point_lookup_count", &PerfContextBase::internal_merge_point_lookup_count},
    {"internal_range_del_reseek_count", &PerfContextBase::internal_range_del_reseek_count},
    {"get_snapshot_time", &PerfContextBase::get_snapshot_time},
    {"get_from_memtable_time", &PerfContextBase::get_from_memtable_time},
    {"get_from_memtable_count", &PerfContextBase::get_from_memtable_count},
    {"get_post_process_time", &PerfContextBase::get_post_process_time},
    {"get_from_output_files_time", &PerfContextBase::get_from_output_files_time},
    {"seek_on_memtable_time", &PerfContextBase::seek_on_memtable_time},
    {"seek_on_memtable_count", &PerfContextBase::seek_on_memtable_count},
    {"next_on_memtable_count", &PerfContextBase::next_on_memtable_count},
    {"prev_on_memtable_count", &PerfContextBase::prev_on_memtable_count},
    {"seek_child_seek_time", &PerfContextBase::seek_child_seek_time},
    {"seek_child_seek_count", &PerfContextBase::seek_child_seek_count},
    {"seek_min_heap_time", &PerfContextBase::seek_min_heap_time},
    {"seek_max_heap_time", &PerfContextBase::seek_max_heap_time},
    {"seek_internal_seek_time", &PerfContextBase::seek_internal_seek_time},
    {"find_next_user_entry_time", &PerfContextBase::find_next_user_entry_time},
    {"write_wal_time", &PerfContextBase::write_wal_time},
    {"write_memtable_time", &PerfContextBase::write_memtable_time},
    {"write_delay_time", &PerfContextBase::write_delay_time},
    {"write_scheduling_flushes_compactions_time",
     &PerfContextBase::write_scheduling_flushes_compactions_time},
    {"write_pre_and_post_process_time", &PerfContextBase::write_pre_and_post_process_time},
    {"write_thread_wait_nanos", &PerfContextBase::write_thread_wait_nanos},
    {"db_mutex_lock_nanos", &PerfContextBase::db_mutex_lock_nanos},
    {"db_condition_wait_nanos", &PerfContextBase::db_condition_wait_nanos},
    {"merge_operator_time_nanos", &PerfContextBase::merge_operator_time_nanos},
    {"read_index_block_nanos", &PerfContextBase::read_index_block_nanos},
    {"read_filter_block_nanos", &PerfContextBase::read_filter_block_nanos},
    {"new_table_block_iter_nanos", &PerfContextBase::new_table_block_iter_nanos},
    {"new_table_iterator_nanos", &PerfContextBase::new_table_iterator_nanos},
    {"block_seek_nanos", &PerfContextBase::block_seek_nanos},
    {"find_table_nanos", &PerfContextBase::find_table_nanos},
    {"bloom_memtable_hit_count", &PerfContextBase::bloom_memtable_hit_count},
    {"bloom_memtable_miss_count", &PerfContextBase::bloom_memtable_miss_count},
    {"bloom_sst_hit_count", &PerfContextBase::bloom_sst_hit_count},
    {"bloom_sst_miss_count", &PerfContextBase::bloom_sst_miss_count},
    {"key_lock_wait_time", &PerfContextBase::key_lock_wait_time},
    {"key_lock_wait_count", &PerfContextBase::key_lock_wait_count},
    {"env_new_sequential_file_nanos", &PerfContextBase::env_new_sequential_file_nanos},
    {"env_new_random_access_file_nanos", &PerfContextBase::env_new_random_access_file_nanos},
    {"env_new_writable_file_nanos", &PerfContextBase::env_new_writable_file_nanos},
    {"env_reuse_writable_file_nanos", &PerfContextBase::env_reuse_writable_file_nanos},
    {"env_new_random_rw_file_nanos", &PerfContextBase::env_new_random_rw_file_nanos},
    {"env_new_directory_nanos", &PerfContextBase::env_new_directory_nanos},
    {"env_file_exists_nanos", &PerfContextBase::env_file_exists_nanos},
    {"env_get_children_nanos", &PerfContextBase::env_get_children_nanos},
    {"env_get_children_file_attributes_nanos",
     &PerfContextBase::env_get_children_file_attributes_nanos},
    {"env_delete_file_nanos", &PerfContextBase::env_delete_file_nanos},
    {"env_create_dir_nanos", &PerfContextBase::env_create_dir_nanos},
    {"env_create_dir_if_missing_nanos", &PerfContextBase::env_create_dir_if_missing_nanos},
    {"env_delete_dir_nanos", &PerfContextBase::env_delete_dir_nanos},
    {"env_get_file_size_nanos", &PerfContextBase::env_get_file_size_nanos},
    {"env_get_file_modification_time_nanos",
     &PerfContextBase::env_get_file_modification_time_nanos},
    {"env_rename_file_nanos", &PerfContextBase::env_rename_file_nanos},
    {"env_link_file_nanos", &PerfContextBase::env_link_file_nanos},
    {"env_lock_file_nanos", &PerfContextBase::env_lock_file_nanos},
    {"env_unlock_file_nanos", &PerfContextBase::env_unlock_file_nanos},
    {"env_new_logger_nanos", &PerfContextBase::env_new_logger_nanos},
    {"get_cpu_nanos", &PerfContextBase::get_cpu_nanos},
    {"iter_next_cpu_nanos", &PerfContextBase::iter_next_cpu_nanos},
    {"iter_prev_cpu_nanos", &PerfContextBase::iter_prev_cpu_nanos},
    {"iter_seek_cpu_nanos", &PerfContextBase::iter_seek_cpu_nanos},
    {"iter_next_count", &PerfContextBase::iter_next_count},
    {"iter_prev_count", &PerfContextBase::iter_prev_count},
    {"iter_seek_count", &PerfContextBase::iter_seek_count},
    {"encrypt_data_nanos", &PerfContextBase::encrypt_data_nanos},
    {"decrypt_data_nanos", &PerfContextBase::decrypt_data_nanos},
    {"number_async_seek", &PerfContextBase::number_async_seek},
    {"file_ingestion_nanos", &PerfContextBase::file_ingestion_nanos},
    {"file_ingestion_blocking_live_writes_nanos",
     &PerfContextBase::file_ingestion_blocking_live_writes_nanos},
    {"data_block_read_byte", &PerfContextBase::data_block_read_byte},
    {"index_block_read_byte", &PerfContextBase::index_block_read_byte},
    {"filter_block_read_byte", &PerfContextBase::filter_block_read_byte},
    {"compression_dict_block_read_byte", &PerfContextBase::compression_dict_block_read_byte},
    {"metadata_block_read_byte", &PerfContextBase::metadata_block_read_byte},
    {"multiscan_prepare_count", &PerfContextBase::multiscan_prepare_count},
    {"multiscan_blocks_prefetched", &PerfContextBase::multiscan_blocks_prefetched},
    {"multiscan_blocks_from_cache", &PerfContextBase::multiscan_blocks_from_cache},
    {"multiscan_prefetch_bytes", &PerfContextBase::multiscan_prefetch_bytes},
    {"multiscan_io_requests", &PerfContextBase::multiscan_io_requests},
    {"multiscan_io_coalesced_nonadjacent", &PerfContextBase::multiscan_io_coalesced_nonadjacent},
};
// The table must list every member.
static_assert(sizeof(kCounters) / sizeof(kCounters[0]) * sizeof(uint64_t) ==
              sizeof(PerfContextBase));

constexpr CounterRow<PerfContextByLevelBase> kLevelCounters[] = {
    {"bloom_filter_useful", &PerfContextByLevelBase::bloom_filter_useful},
    {"bloom_filter_full_positive", &PerfContextByLevelBase::bloom_filter_full_positive},
    {"bloom_filter_full_true_positive", &PerfContextByLevelBase::bloom_filter_full_true_positive},
    {"user_key_return_count", &PerfContextByLevelBase::user_key_return_count},
    {"get_from_table_nanos", &PerfContextByLevelBase::get_from_table_nanos},
    {"block_cache_hit_count", &PerfContextByLevelBase::block_cache_hit_count},
    {"block_cache_miss_count", &PerfContextByLevelBase::block_cache_miss_count},
};
static_assert(sizeof(kLevelCounters) / sizeof(kLevelCounters[0]) * sizeof(uint64_t) ==
              sizeof(PerfContextByLevelBase));

using LevelMap = std::map<uint32_t, PerfContextByLevel>;

// Each context owns a map of its own.
LevelMap* CopyOf(const LevelMap* levels) {
  return levels == nullptr ? nullptr : new LevelMap(*levels);
}

// Programs can reach a context that counts by level without a map: they set the public flag, or
// move the context, which leaves it the flag.
LevelMap& LevelsOf(PerfContext* context) {
  assert(context != nullptr);
  if (context->level_to_perf_context == nullptr) context->level_to_perf_context = new LevelMap();
  return *context->level_to_perf_context;
}

// name = value@level0, value@level1, ...
void PrintLevels(const LevelMap& levels, bool exclude_zeros, std::string* text) {
  assert(text != nullptr);
  for (const auto& row : kLevelCounters) {
    std::string values;
    for (const auto& [level, counters] : levels) {
      const uint64_t value = counters.*row.member;
      if (exclude_zeros && value == 0) continue;
      values += std::to_string(value) + "@level" + std::to_string(level) + ", ";
    }
    if (!values.empty()) text->append(row.name).append(" = ").append(values);
  }
}

}  // namespace

constinit thread_local PerfLevel this_thread_perf_level = kEnableCount;
constinit thread_local bool this_thread_measures_reads = false;

namespace {

// Keeps the flag of the thread up to date, so that hot reads check one variable.
void NoteWhatIsMeasured() {
  const bool by_level = get_perf_context()->per_level_perf_context_enabled;
  this_thread_measures_reads = TimesPerf() || (CountsPerf() && by_level);
}

// Called after the flag of a context has changed. The context need not be that of the thread.
void NoteFlag(const PerfContext* context) {
  if (context == get_perf_context()) NoteWhatIsMeasured();
}

}  // namespace

void SetPerfLevel(PerfLevel level) {
  assert(level > kUninitialized);
  assert(level < kOutOfBounds);
  this_thread_perf_level = level;
  NoteWhatIsMeasured();
}

PerfLevel GetPerfLevel() { return this_thread_perf_level; }

// Lives until the thread ends; the pointer must not be given to another thread.
PerfContext* get_perf_context() { return &ThreadObject<OfThread<PerfContext>>::Get(); }

// Null if the thread does not count by level. The pointer is valid until the levels are cleared.
PerfContextByLevel* PerfOfLevel(int level) {
  PerfContext* const context = get_perf_context();
  if (!CountsPerf() || !context->per_level_perf_context_enabled) return nullptr;
  assert(level >= 0);
  return &LevelsOf(context)[static_cast<uint32_t>(level)];
}

void PerfContextByLevel::Reset() { ResetCounters<PerfContextByLevelBase>(kLevelCounters, this); }

void PerfContextByLevel::Merge(const PerfContextByLevel& other) {
  MergeCounters<PerfContextByLevelBase>(kLevelCounters, other, this);
}

PerfContext::PerfContext(const PerfContext& other)
    : PerfContextBase(other),
      level_to_perf_context(CopyOf(other.level_to_perf_context)),
      per_level_perf_context_enabled(other.per_level_perf_context_enabled) {}

PerfContext::PerfContext(PerfContext&& other) noexcept
    : PerfContextBase(other),
      level_to_perf_context(std::exchange(other.level_to_perf_context, nullptr)),
      per_level_perf_context_enabled(other.per_level_perf_context_enabled) {}

// The map of levels is owned, so it is copied and not shared.
PerfContext& PerfContext::operator=(const PerfContext& other) {
  if (this == &other) return *this;
  PerfContextBase::operator=(other);
  delete level_to_perf_context;
  level_to_perf_context = CopyOf(other.level_to_perf_context);
  per_level_perf_context_enabled = other.per_level_perf_context_enabled;
  NoteFlag(this);
  return *this;
}

// The thread may be ending, so that its flag is not updated.
PerfContext::~PerfContext() { delete level_to_perf_context; }

void PerfContext::Reset() {
  ResetCounters<PerfContextBase>(kCounters, this);
  if (level_to_perf_context == nullptr) return;
  for (auto& [level, counters] : *level_to_perf_context) counters.Reset();
}

// Levels are merged only into a context that counts by level.
void PerfContext::Merge(const PerfContext& other) {
  MergeCounters<PerfContextBase>(kCounters, other, this);
  if (!per_level_perf_context_enabled || other.level_to_perf_context == nullptr) return;
  for (const auto& [level, counters] : *other.level_to_perf_context) {
    LevelsOf(this)[level].Merge(counters);
  }
}

std::string PerfContext::ToString(bool exclude_zero_counters) const {
  std::string text;
  PrintCounters<PerfContextBase>(kCounters, *this, exclude_zero_counters, &text);
  if (per_level_perf_context_enabled && level_to_perf_context != nullptr) {
    PrintLevels(*level_to_perf_context, exclude_zero_counters, &text);
  }
  if (!text.empty()) text.resize(text.size() - 2);  // the last ", "
  return text;
}

// Only the flag of the calling thread's own context has an effect on what is measured.
void PerfContext::EnablePerLevelPerfContext() {
  LevelsOf(this);
  per_level_perf_context_enabled = true;
  NoteFlag(this);
}

void PerfContext::DisablePerLevelPerfContext() {
  per_level_perf_context_enabled = false;
  NoteFlag(this);
}

// Counters by level are lost, and counting by level ends.
void PerfContext::ClearPerLevelPerfContext() {
  delete level_to_perf_context;
  level_to_perf_context = nullptr;
  per_level_perf_context_enabled = false;
  NoteFlag(this);
}

// For callers that keep a copy: only counters change, and not whether levels are counted.
void PerfContext::copyMetrics(const PerfContext* other) noexcept {
  assert(other != nullptr);
  PerfContextBase::operator=(*other);
  if (other->level_to_perf_context == nullptr) return;
  delete level_to_perf_context;
  level_to_perf_context = CopyOf(other->level_to_perf_context);
}

}  // namespace ashlar
