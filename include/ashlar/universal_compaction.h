// SPDX-License-Identifier: Apache-2.0
//
// Tuning of universal compaction (AdvancedColumnFamilyOptions::compaction_style). A sorted run is
// one file of level 0 or a whole deeper level. A compaction starts when there are
// level0_file_num_compaction_trigger runs, and merges runs of neighbouring age.
#pragma once

#include <climits>
#include <cstdint>

namespace ashlar {

// How a compaction decides whether to include the next older run.
enum CompactionStopStyle {
  kCompactionStopStyleSimilarSize,  // if its size is similar to that of the last run included
  kCompactionStopStyleTotalSize     // if its size is similar to that of all included runs together
};

// Parameters of universal compaction.
class CompactionOptionsUniversal {
 public:
  // Percentage by which the sizes of two runs may differ and still count as similar.
  unsigned int size_ratio = 1;
  // Minimum and maximum number of runs that one compaction merges.
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;
  // Size of all newer runs, as a percentage of the oldest run, from which all runs are merged. See
  // also `incremental`.
  unsigned int max_size_amplification_percent = 200;
  // -1 = all outputs are compressed. Otherwise only the oldest data is, up to this percentage of
  // the total size, and flushes write uncompressed tables.
  int compression_size_percent = -1;
  // Maximum number of runs; more are merged regardless of their sizes. -1 =
  // level0_file_num_compaction_trigger; 0 = derived from the size of the oldest run.
  int max_read_amp = -1;
  // How a compaction decides whether to include the next older run.
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;
  // Move files without rewriting them if they overlap with no other file. Ignored if
  // compression_size_percent is set.
  bool allow_trivial_move = false;
  // If max_size_amplification_percent requires a merge of more than max_compaction_bytes: merge
  // only a part of the second oldest run, which must be below level 0, into the oldest run, where
  // this rewrites the fewest bytes; and continue until the limit is met.
  bool incremental = false;
  // Lock only the files that a compaction is reading. A hint without effect.
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
