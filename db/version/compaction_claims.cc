// SPDX-License-Identifier: Apache-2.0
//
// Only this file changes TableFile::being_compacted. The flags and the sums of the levels always
// change together, under the DB mutex.
#include "db/version/compaction_claims.h"

#include <algorithm>
#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

void CompactionClaims::Take(const std::vector<LevelFiles>& inputs) { Change(inputs, true); }
void CompactionClaims::GiveBack(const std::vector<LevelFiles>& inputs) { Change(inputs, false); }

void CompactionClaims::Change(const std::vector<LevelFiles>& inputs, bool is_taken) {
  for (const LevelFiles& level : inputs) {
    assert(level.level >= 0);
    const auto index = static_cast<size_t>(level.level);
    if (taken_.size() <= index) taken_.resize(index + 1);
    Sums& sums = taken_[index];
    for (TableFile* file : level.files) {
      assert(file->being_compacted != is_taken);
      file->being_compacted = is_taken;
      const size_t marked = file->meta.marked_for_compaction ? 1 : 0;
      // Adding the unsigned negative subtracts, because unsigned arithmetic wraps around.
      sums.files += is_taken ? 1 : size_t{0} - 1;
      sums.bytes += is_taken ? file->meta.file_size : uint64_t{0} - file->meta.file_size;
      sums.marked += is_taken ? marked : size_t{0} - marked;
    }
  }
}

bool CompactionClaims::AreAny() const {
  return std::any_of(taken_.begin(), taken_.end(), [](const Sums& sums) { return sums.files > 0; });
}

std::string CompactionClaims::DebugString() const {
  std::string text;
  for (size_t level = 0; level < taken_.size(); level++) {
    const Sums& sums = taken_[level];
    if (sums.files == 0) continue;
    StrAppend(&text, "L", level, ": ", sums.files, " tables of ", sums.bytes, " bytes taken\n");
  }
  return text;
}

// What is on the level and in no compaction: the sums of the level minus the claimed ones.
CompactionClaims::Sums CompactionClaims::IdleOn(const Version& current, Level level) const {
  assert(level >= 0);
  assert(level < current.num_levels());
  const auto index = static_cast<size_t>(level);
  const Sums taken = index < taken_.size() ? taken_[index] : Sums();
  assert(taken.files <= current.files(level).size());
  assert(taken.bytes <= current.level_bytes(level));
  return {.files = current.files(level).size() - taken.files,
          .bytes = current.level_bytes(level) - taken.bytes,
          .marked = current.marked_count(level) - taken.marked};
}

}  // namespace ashlar
