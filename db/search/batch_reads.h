// SPDX-License-Identifier: Apache-2.0
//
// BatchReads collects what a batched read has done, for histograms of the statistics: with how many
// keys each table was searched, and on which levels it read files. It is only made if there are
// statistics. Threads: one at a time.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "table/sst/read/table_reader.h"
#include "util/keys/level.h"

namespace ashlar {

class Statistics;

class BatchReads {
 public:
  // A table is searched for this many keys. Allocates nothing: called inside an epoch.
  void AddSearch(size_t keys) {
    assert(keys <= TableReader::kMaxProbes);
    searches_[keys]++;
  }
  // Data blocks of a table were read from its file.
  void AddTable(Level level) { At(level).tables++; }
  // Blocks of indexes and filters were read.
  void AddMetadata(Level level, uint64_t blocks) {
    if (blocks != 0) At(level).metadata_blocks += blocks;
  }
  void Report(Statistics* statistics) const;

 private:
  struct LevelReads {
    uint64_t tables = 0;
    uint64_t metadata_blocks = 0;
  };
  LevelReads& At(Level level) {
    const auto index = static_cast<size_t>(static_cast<int>(level));
    if (levels_.size() <= index) levels_.resize(index + 1);
    return levels_[index];
  }

  std::array<uint32_t, TableReader::kMaxProbes + 1> searches_{};  // by the number of keys
  std::vector<LevelReads> levels_;                                // empty if no file was read
};

}  // namespace ashlar
