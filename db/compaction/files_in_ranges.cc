// SPDX-License-Identifier: Apache-2.0
//
// Finds the files that lie entirely inside the ranges. Neighbouring files of a level that share a
// user key are chosen together or not at all: otherwise older versions of the key could become
// visible.
#include "db/compaction/files_in_ranges.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ashlar {
namespace {

// Whether all keys of the file are in the range.
bool IsInside(const InternalKeyComparator& order, const FileMetadata& file, const RangeOpt& range,
              bool include_end) {
  if (range.start.has_value() &&
      order.OrderWithoutTimestamp(file.smallest_user_key(), *range.start) < 0) {
    return false;
  }
  // A range without a limit has no end.
  if (!range.limit.has_value()) return true;
  const int past = order.OrderWithoutTimestamp(file.largest_user_key(), *range.limit);
  return past < 0 || (past == 0 && (include_end || file.largest_is_exclusive()));
}

// Whether versions of one user key are in both files; `b` follows `a` on its level.
bool ShareKey(const InternalKeyComparator& order, const FileMetadata& a, const FileMetadata& b) {
  assert(order.OrderWithoutTimestamp(a.largest_user_key(), b.smallest_user_key()) <=
         0);  // in order
  return !a.largest_is_exclusive() && order.SameKey(a.largest_user_key(), b.smallest_user_key());
}

}  // namespace

std::vector<LevelFiles> FilesInsideRanges(const Version& version, std::span<const RangeOpt> ranges,
                                          bool include_end) {
  const InternalKeyComparator& order = version.comparator();
  const auto may_go = [&](const TableFile* file) REQUIRES(db_mutex) {
    if (file->being_compacted) return false;
    return std::any_of(ranges.begin(), ranges.end(), [&](const RangeOpt& range) {
      return IsInside(order, file->meta, range, include_end);
    });
  };
  std::vector<LevelFiles> result;
  // Level 0 is left out: its files overlap, so a newer file cannot go without the older ones.
  for (Level level = 1; level < version.num_levels(); ++level) {
    const std::vector<TableFile*>& files = version.files(level);
    LevelFiles chosen{level, {}};
    for (size_t i = 0; i < files.size();) {
      const size_t first = i;
      bool all_may_go = true;
      do {
        all_may_go = all_may_go && may_go(files[i]);
        i++;
      } while (i < files.size() && ShareKey(order, files[i - 1]->meta, files[i]->meta));
      if (!all_may_go) continue;
      chosen.files.insert(chosen.files.end(), files.begin() + static_cast<ptrdiff_t>(first),
                          files.begin() + static_cast<ptrdiff_t>(i));
    }
    if (!chosen.files.empty()) result.push_back(std::move(chosen));
  }
  return result;
}

}  // namespace ashlar
