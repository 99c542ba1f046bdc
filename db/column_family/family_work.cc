// SPDX-License-Identifier: Apache-2.0
#include "db/column_family/family_work.h"

#include <cassert>

namespace ashlar {
namespace {

// Every counter of JobWork, for operations on all of them.
constexpr uint64_t JobWork::*kCounters[] = {
    &JobWork::jobs,
    &JobWork::micros,
    &JobWork::cpu_micros,
    &JobWork::upper_bytes,
    &JobWork::output_level_bytes,
    &JobWork::written_bytes,
    &JobWork::moved_bytes,
    &JobWork::entries_read,
    &JobWork::entries_dropped,
};
static_assert(sizeof(kCounters) / sizeof(kCounters[0]) * sizeof(uint64_t) == sizeof(JobWork));

}  // namespace

void JobWork::Add(const JobWork& other) {
  for (const auto counter : kCounters) this->*counter += other.*counter;
}

JobWork JobWork::Since(const JobWork& earlier) const {
  JobWork difference;
  for (const auto counter : kCounters) {
    assert(this->*counter >= earlier.*counter);
    difference.*counter = this->*counter - earlier.*counter;
  }
  return difference;
}

void StallCounts::Count(const StallDecision& stall, bool is_level0_compacting) {
  assert(stall.condition != WriteStallCondition::kNormal);
  const bool is_stop = stall.condition == WriteStallCondition::kStopped;
  switch (stall.cause) {
    case WriteStallCause::kMemtableLimit: (is_stop ? memtable_stops : memtable_delays)++; break;
    case WriteStallCause::kL0FileCountLimit:
      (is_stop ? level0_stops : level0_delays)++;
      if (is_level0_compacting) (is_stop ? level0_stops_compacting : level0_delays_compacting)++;
      break;
    case WriteStallCause::kPendingCompactionBytes:
      (is_stop ? pending_bytes_stops : pending_bytes_delays)++;
      break;
    default: assert(false);  // DecideStall() returns no other cause
  }
}

JobWork& FamilyWork::Of(Level level) {
  assert(level >= 0);
  const auto index = static_cast<size_t>(int{level});
  if (index >= levels_.size()) levels_.resize(index + 1);
  return levels_[index];
}

void FamilyWork::AddFlush(const JobWork& flush) {
  assert(flush.read_bytes() == 0);
  assert(flush.moved_bytes == 0);
  Of(0).Add(flush);
  flushes_.Add(flush);
}

void FamilyWork::AddCompaction(Level output_level, const JobWork& compaction) {
  Of(output_level).Add(compaction);
  compactions_.Add(compaction);
}

JobWork FamilyWork::Sum() const {
  JobWork sum;
  for (const JobWork& level : levels_) sum.Add(level);
  return sum;
}

}  // namespace ashlar
