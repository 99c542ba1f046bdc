// SPDX-License-Identifier: Apache-2.0
//
// LevelHistograms has a histogram for each level, for events of objects that are on a level at the
// time, such as reads of a table. Threads: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>

#include "util/statistics/histogram.h"

namespace ashlar {

// Shared by all objects of a column family. The number of levels never changes.
class LevelHistograms {
 public:
  explicit LevelHistograms(int level_count)
      : level_count_(std::max(level_count, 1)),
        levels_(std::make_unique<HistogramShard[]>(static_cast<size_t>(level_count_))) {}

  int level_count() const { return level_count_; }
  // Levels beyond the last count as the last.
  void Add(int level, uint64_t value) {
    assert(level >= 0);
    levels_[static_cast<size_t>(std::min(level, level_count_ - 1))].Add(value);
  }
  // A copy of what was recorded so far.
  Histogram Of(int level) const {
    assert(level >= 0);
    assert(level < level_count_);
    Histogram histogram;
    levels_[static_cast<size_t>(level)].AddTo(&histogram);
    return histogram;
  }
  // Values that are added meanwhile may be lost or kept.
  void Clear() {
    for (int level = 0; level < level_count_; level++) levels_[static_cast<size_t>(level)].Clear();
  }

 private:
  const int level_count_;
  const std::unique_ptr<HistogramShard[]> levels_;
};

// The histograms for the values of an object, and its current level. `histograms` may be null: then
// nothing is recorded. Both outlive this object.
struct LevelHistogramRef {
  LevelHistograms* histograms = nullptr;
  const std::atomic<int>* level = nullptr;

  void Add(uint64_t value) const {
    assert(level != nullptr || histograms == nullptr);
    if (histograms != nullptr) histograms->Add(level->load(std::memory_order_relaxed), value);
  }
};

}  // namespace ashlar
