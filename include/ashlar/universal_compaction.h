// SPDX-License-Identifier: Apache-2.0
//
// Tuning of universal compaction. The style itself is not built yet: a database that uses it is
// refused with NotSupported, see AdvancedColumnFamilyOptions::compaction_style.
#pragma once

#include <climits>
#include <cstdint>

namespace ashlar {

// How a compaction decides whether the next older run joins it.
enum CompactionStopStyle {
  kCompactionStopStyleSimilarSize,  // if it is about as large as the last run picked
  kCompactionStopStyleTotalSize     // if it is about as large as all runs picked together
};

class CompactionOptionsUniversal {
 public:
  // Percent by which run sizes may differ and still count as equal.
  unsigned int size_ratio = 1;
  // Fewest and most runs merged at once.
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;
  // Extra space, in percent of the live data, above which all runs are merged.
  unsigned int max_size_amplification_percent = 200;
  // -1 compresses all output; otherwise only the oldest data, up to this percentage of the total.
  int compression_size_percent = -1;
  // Target for the number of runs a read meets; -1 = level0_file_num_compaction_trigger, 0 = auto.
  int max_read_amp = -1;
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;
  // Relink files that overlap nothing instead of rewriting them.
  bool allow_trivial_move = false;
  // Merge parts of runs.
  bool incremental = false;
  // Lock only the files a compaction reads now.
  bool reduce_file_locking = false;

  CompactionOptionsUniversal() = default;

  bool operator==(const CompactionOptionsUniversal& rhs) const {
    return size_ratio == rhs.size_ratio && min_merge_width == rhs.min_merge_width &&
           max_merge_width == rhs.max_merge_width &&
           max_size_amplification_percent == rhs.max_size_amplification_percent &&
           compression_size_percent == rhs.compression_size_percent &&
           max_read_amp == rhs.max_read_amp && stop_style == rhs.stop_style &&
           allow_trivial_move == rhs.allow_trivial_move && incremental == rhs.incremental &&
           reduce_file_locking == rhs.reduce_file_locking;
  }
  bool operator!=(const CompactionOptionsUniversal& rhs) const { return !(*this == rhs); }
};

}  // namespace ashlar
