// SPDX-License-Identifier: Apache-2.0
//
// All numbers come from the counters that every lookup keeps.
#include "db/search/level_perf.h"

#include <cassert>

#include "ashlar/perf_context.h"
#include "ashlar/system_clock.h"

namespace ashlar {
namespace {

uint64_t NowIfTimed() { return TimesPerf() ? SystemClock::Default()->NowNanos() : 0; }

}  // namespace

void AddToLevel(Level level, const PointLookup& lookup, const PointLookup::Counters& before,
                uint64_t nanos) {
  PerfContextByLevel* const sums = PerfOfLevel(level);
  if (sums == nullptr) return;
  const PointLookup::Counters& after = lookup.counters;
  sums->bloom_filter_useful += after.filter_useful + after.prefix_filter_useful -
                               before.filter_useful - before.prefix_filter_useful;
  sums->bloom_filter_full_positive += after.filter_positive + after.prefix_filter_positive -
                                      before.filter_positive - before.prefix_filter_positive;
  sums->bloom_filter_full_true_positive +=
      after.filter_true_positive + after.prefix_filter_true_positive - before.filter_true_positive -
      before.prefix_filter_true_positive;
  sums->block_cache_hit_count += after.block_hits - before.block_hits;
  sums->block_cache_miss_count += after.block_misses - before.block_misses;
  if (lookup.outcome() == PointLookup::Outcome::kFound) ++sums->user_key_return_count;
  sums->get_from_table_nanos += nanos;
}

LevelPerf::LevelPerf(const TableProbe* probes, size_t count)
    : probes_(probes), count_(count), nanos_(NowIfTimed()) {
  assert(count <= before_.size());
  for (size_t i = 0; i < count; ++i) before_[i] = probes[i].lookup->counters;
}

void LevelPerf::End() {
  const uint64_t now = NowIfTimed();
  assert(now >= nanos_);
  if (count_ != 0) nanos_ = (now - nanos_) / count_;
}

void LevelPerf::Add(size_t probe, Level level) const {
  assert(probe < count_);
  AddToLevel(level, *probes_[probe].lookup, before_[probe], nanos_);
}

}  // namespace ashlar
