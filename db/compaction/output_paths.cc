// SPDX-License-Identifier: Apache-2.0
//
// Chooses the directories of outputs. The target sizes are only advice: the bytes that a directory
// already holds are not counted.
#include "db/compaction/output_paths.h"

#include <algorithm>
#include <cassert>

namespace ashlar {
namespace {

// The size that a level is expected to reach; the base size while an empty tree has no targets.
uint64_t ExpectedBytes(const ColumnFamilyOptions& options, const CompactionNeeds& needs,
                       Level level) {
  const uint64_t base_bytes = options.max_bytes_for_level_base;
  if (level == 0) return base_bytes;
  const uint64_t target_bytes = needs.target_bytes[level];
  return target_bytes == UINT64_MAX ? base_bytes : target_bytes;
}

}  // namespace

uint32_t PathOfLevel(const ColumnFamilyOptions& options, const CompactionNeeds& needs,
                     Level level) {
  assert(level >= 0);
  assert(static_cast<size_t>(level) < needs.target_bytes.size());
  const std::vector<DbPath>& paths = options.cf_paths;
  uint32_t path = 0;
  uint64_t used_bytes = 0;  // of `path`
  // Fills the directories with the levels from the top, and moves on when the next level does not
  // fit.
  for (Level each = 0; each <= level; ++each) {
    const uint64_t bytes = ExpectedBytes(options, needs, each);
    while (path + 1 < paths.size() &&
           (used_bytes > paths[path].target_size || bytes > paths[path].target_size - used_bytes)) {
      path++;
      used_bytes = 0;
    }
    // Saturates, since a target may be close to the largest number.
    used_bytes += std::min(bytes, UINT64_MAX - used_bytes);
  }
  return path;
}

uint32_t PathOfRun(const ColumnFamilyOptions& options, uint64_t bytes) {
  const std::vector<DbPath>& paths = options.cf_paths;
  uint32_t path = 0;
  uint64_t room_before = 0;
  for (; path + 1 < paths.size(); path++) {
    const uint64_t target_bytes = paths[path].target_size;
    const bool holds_run = bytes <= target_bytes;
    // Leaves room for the run itself and for the runs before it.
    if (holds_run && bytes <= room_before + (target_bytes - bytes)) break;
    room_before += target_bytes;
  }
  return path;
}

}  // namespace ashlar
