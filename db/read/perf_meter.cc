// SPDX-License-Identifier: Apache-2.0
//
// The time of a place is charged when the read moves on to the next place.
#include "db/read/perf_meter.h"

#include <cassert>

#include "ashlar/system_clock.h"
#include "db/search/level_perf.h"

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
  assert(level_ == kNoLevel || lookup_ != nullptr);
  if (level_ != kNoLevel) AddToLevel(Level{level_}, *lookup_, counters_, now - nanos_);
  if (lookup_ != nullptr) counters_ = lookup_->counters;
  level_ = kNoLevel;
  part_ = part;
  nanos_ = now;
}

void PerfMeter::BeginLookup(const PointLookup& lookup) {
  assert(lookup_ == nullptr);
  lookup_ = &lookup;
  GoOnTo(&PerfContextBase::get_from_memtable_time);
}

void PerfMeter::EnterMemTable(const MemTablePlace&) {
  assert(part_ == &PerfContextBase::get_from_memtable_time);
}

// If a table is entered a second time, its first search has counted nothing.
void PerfMeter::EnterTable(const Table& table) {
  assert(table.level >= 0);
  GoOnTo(&PerfContextBase::get_from_output_files_time);
  level_ = table.level;
}

void PerfMeter::EndLookup([[maybe_unused]] const PointLookup& lookup) {
  assert(lookup_ == &lookup);
  GoOnTo(&PerfContextBase::get_post_process_time);
  lookup_ = nullptr;
}

}  // namespace ashlar
