// SPDX-License-Identifier: Apache-2.0
//
// LevelHistograms: a histogram for each level, of what happens to something that has a level at the
// time, such as reads of a table. Threads: any.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>

#include "util/statistics/histogram.h"

namespace ashlar {

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
  Histogram Of(int level) const {
    assert(level >= 0 && level < level_count_);
    Histogram histogram;
    levels_[static_cast<size_t>(level)].AddTo(&histogram);
    return histogram;
  }
  // What is added meanwhile may be kept or not.
  void Clear() {
    for (int level = 0; level < level_count_; level++) levels_[static_cast<size_t>(level)].Clear();
  }

 private:
  const int level_count_;
  const std::unique_ptr<HistogramShard[]> levels_;
};

// Where values go, and the level that they belong to at the time. Null: nowhere. Both outlive
// whoever has it.
struct LevelHistogramRef {
  LevelHistograms* histograms = nullptr;
  const std::atomic<int>* level = nullptr;

  void Add(uint64_t value) const {
    if (histograms != nullptr) histograms->Add(level->load(std::memory_order_relaxed), value);
  }
};

}  // namespace ashlar
