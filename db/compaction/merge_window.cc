// SPDX-License-Identifier: Apache-2.0
//
// Finds the files of one level that are cheapest to merge into another. Both levels are cut
// wherever two neighbours share no user key, and a window is the files between two cuts. Each cut
// has the sum of the bytes before it, so the bytes of a window are a difference of two sums:
//
//   upper     |  a-c  |  d-f  f-h  |        x-z  |
//   lower     | a-b |   c-g   | i-k | m-n |  y-z |      below d-h: c-g
//
// Cost: a walk over the files of both levels, and a few sums for each window that is small enough.
#include "db/compaction/merge_window.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace ashlar {
namespace {

// A cut: a position between neighbours that share no user key, or an end of the level. Its sums are
// over all files before it.
struct Cut {
  size_t file_count = 0;
  size_t taken_count = 0;  // files that are being compacted
  uint64_t bytes = 0;
};

// The cuts of a level, ascending; one more than the number of pieces between them.
std::vector<Cut> CleanCuts(const PlanMaker& plans, Level level) REQUIRES(db_mutex) {
  const std::vector<TableFile*>& files = plans.version().files(level);
  std::vector<Cut> cuts;
  Cut sums;
  for (; sums.file_count < files.size(); sums.file_count++) {
    const size_t i = sums.file_count;
    if (i == 0 || plans.EndsBefore(files[i - 1], files[i])) cuts.push_back(sums);
    if (files[i]->being_compacted) sums.taken_count++;
    sums.bytes += files[i]->meta.file_size;
  }
  cuts.push_back(sums);
  return cuts;
}

// The two cuts of the lower level between which all overlapping files lie; begin == end if there
// are none.
struct Overlap {
  size_t begin = 0;
  size_t end = 0;
};

// Computes the overlap of each piece of the upper level. The overlap of several adjacent pieces
// reaches from the begin of the first to the end of the last.
std::vector<Overlap> OverlapsBelow(const PlanMaker& plans, Level upper,
                                   const std::vector<Cut>& upper_cuts, Level lower,
                                   const std::vector<Cut>& lower_cuts) {
  assert(!upper_cuts.empty());
  assert(!lower_cuts.empty());
  const std::vector<TableFile*>& above = plans.version().files(upper);
  const std::vector<TableFile*>& below = plans.version().files(lower);
  std::vector<Overlap> overlaps;
  Overlap at;
  for (size_t i = 0; i + 1 < upper_cuts.size(); i++) {
    const TableFile* const first = above[upper_cuts[i].file_count];
    const TableFile* const last = above[upper_cuts[i + 1].file_count - 1];
    while (at.begin + 1 < lower_cuts.size() &&
           plans.EndsBefore(below[lower_cuts[at.begin + 1].file_count - 1], first)) {
      at.begin++;
    }
    at.end = std::max(at.end, at.begin);
    while (at.end + 1 < lower_cuts.size() &&
           !plans.EndsBefore(last, below[lower_cuts[at.end].file_count])) {
      at.end++;
    }
    overlaps.push_back(at);
  }
  return overlaps;
}

}  // namespace

LevelFiles CheapestWindow(const PlanMaker& plans, Level upper, Level lower) {
  assert(upper > 0);
  assert(upper < lower);
  const std::vector<Cut> cuts = CleanCuts(plans, upper), lower_cuts = CleanCuts(plans, lower);
  const std::vector<Overlap> overlaps = OverlapsBelow(plans, upper, cuts, lower, lower_cuts);
  const uint64_t most_bytes = plans.options().max_compaction_bytes;
  size_t best_begin = 0, best_end = 0;
  // The parts of the rank, in this order: whether the window is too large; the bytes below for each
  // byte above; and, among equal windows, the larger one first.
  std::tuple best_rank(true, std::numeric_limits<double>::infinity(), UINT64_MAX);
  for (size_t begin = 0; begin < overlaps.size(); begin++) {
    for (size_t end = begin + 1; end < cuts.size(); end++) {
      const Cut& from = lower_cuts[overlaps[begin].begin];
      const Cut& to = lower_cuts[overlaps[end - 1].end];
      // A file of this window is being compacted, and every longer window from here on contains it
      // too.
      if (cuts[end].taken_count != cuts[begin].taken_count || to.taken_count != from.taken_count) {
        break;
      }
      const uint64_t above_bytes = cuts[end].bytes - cuts[begin].bytes;
      const uint64_t below_bytes = to.bytes - from.bytes;
      const bool is_too_large = above_bytes + below_bytes > most_bytes;
      // Only a window of one piece may be too large, because a piece cannot be split.
      if (is_too_large && end > begin + 1) break;
      const double ratio = static_cast<double>(below_bytes) /
                           static_cast<double>(std::max<uint64_t>(above_bytes, 1));
      const std::tuple rank(is_too_large, ratio, UINT64_MAX - above_bytes);
      if (rank >= best_rank) continue;
      best_rank = rank;
      best_begin = begin;
      best_end = end;
    }
  }
  if (best_begin == best_end) return {upper, {}};
  const std::vector<TableFile*>& files = plans.version().files(upper);
  const auto at = [&](size_t cut) {
    return files.begin() + static_cast<std::ptrdiff_t>(cuts[cut].file_count);
  };
  return {upper, {at(best_begin), at(best_end)}};
}

}  // namespace ashlar
