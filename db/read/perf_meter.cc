// SPDX-License-Identifier: Apache-2.0
//
// Levels enter the map of the perf context when a read first comes to them.
#include "db/read/perf_meter.h"

#include <cassert>

#include "ashlar/system_clock.h"

namespace ashlar {
namespace {

uint64_t NowIfTimed() { return TimesPerf() ? SystemClock::Default()->NowNanos() : 0; }

}  // namespace

PerfMeter::PerfMeter()
    : cpu_timer_(&PerfContextBase::get_cpu_nanos),
      part_(&PerfContextBase::get_snapshot_time),
      nanos_(NowIfTimed()) {
  assert(IsWanted());
}

PerfMeter::~PerfMeter() { GoOnTo(nullptr); }

void PerfMeter::GoOnTo(uint64_t PerfContextBase::*part) {
  const uint64_t now = NowIfTimed();
  assert(now >= nanos_);
  get_perf_context()->*part_ += now - nanos_;
  if (level_ != kNoLevel) NoteLevel(now - nanos_);
  if (lookup_ != nullptr) counters_ = lookup_->counters;
  level_ = kNoLevel;
  part_ = part;
  nanos_ = now;
}

void PerfMeter::NoteLevel(uint64_t nanos) {
  PerfContext& context = *get_perf_context();
  if (!context.per_level_perf_context_enabled) return;
  assert(lookup_ != nullptr && context.level_to_perf_context != nullptr);
  PerfContextByLevel& sums = (*context.level_to_perf_context)[static_cast<uint32_t>(level_)];
  const PointLookup::Counters& after = lookup_->counters;
  sums.bloom_filter_useful += after.filter_useful + after.prefix_filter_useful -
                              counters_.filter_useful - counters_.prefix_filter_useful;
  sums.bloom_filter_full_positive += after.filter_positive + after.prefix_filter_positive -
                                     counters_.filter_positive - counters_.prefix_filter_positive;
  sums.bloom_filter_full_true_positive +=
      after.filter_true_positive + after.prefix_filter_true_positive -
      counters_.filter_true_positive - counters_.prefix_filter_true_positive;
  sums.block_cache_hit_count += after.block_hits - counters_.block_hits;
  sums.block_cache_miss_count += after.block_misses - counters_.block_misses;
  if (lookup_->outcome() == PointLookup::Outcome::kFound) ++sums.user_key_return_count;
  sums.get_from_table_nanos += nanos;
}

void PerfMeter::BeginLookup(const PointLookup& lookup) {
  lookup_ = &lookup;
  GoOnTo(&PerfContextBase::get_from_memtable_time);
}

void PerfMeter::EnterMemTable(const MemTablePlace&) {
  assert(part_ == &PerfContextBase::get_from_memtable_time);
}

// A table that is entered again has counted nothing yet.
void PerfMeter::EnterTable(const Table& table) {
  assert(table.level >= 0);
  GoOnTo(&PerfContextBase::get_from_output_files_time);
  level_ = table.level;
}

void PerfMeter::EndLookup(const PointLookup& lookup) {
  assert(lookup_ == &lookup);
  GoOnTo(&PerfContextBase::get_post_process_time);
  lookup_ = nullptr;
}

}  // namespace ashlar
