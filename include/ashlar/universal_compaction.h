// SPDX-License-Identifier: Apache-2.0
//
// Tuning of universal compaction, AdvancedColumnFamilyOptions::compaction_style. A sorted run is a
// file of level 0 or a whole deeper level. Compaction begins when there are as many runs as
// level0_file_num_compaction_trigger; runs of neighbouring age are merged.
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
  // Bytes of all newer runs, in percent of the oldest one, from which on all runs are merged; see
  // also `incremental`.
  unsigned int max_size_amplification_percent = 200;
  // -1 compresses all output; otherwise only the oldest data, up to this percentage of the total,
  // and flushes write uncompressed.
  int compression_size_percent = -1;
  // Above so many runs they are merged whatever their sizes are; -1 =
  // level0_file_num_compaction_trigger, 0 = as many as the size of the oldest run needs.
  int max_read_amp = -1;
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;
  // Relink files that overlap nothing instead of rewriting them, unless compression_size_percent is
  // set.
  bool allow_trivial_move = false;
  // Where max_size_amplification_percent asks for a merge of more than max_compaction_bytes: merge
  // only so much of the second oldest run, which must lie below level 0, into the oldest one, where
  // that rewrites the least; and go on until the space is within bounds.
  bool incremental = false;
  // Lock only the files a compaction reads now. A hint without effect.
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
