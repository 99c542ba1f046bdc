// SPDX-License-Identifier: Apache-2.0
//
// Targets and scores: the sizes that the levels should have, and how far they are from them.
//
// With dynamic level bytes, a multiplier of 10 and a base size of 256 MB:
//
//   level      4        5        6
//   holds      .        .       200 MB     base level 6: level 0 compacts straight into it
//   holds      .       180 MB   1.8 GB     base level 5 once level 6 has outgrown the base size
//   target     .       180 MB   (1.8 GB)   a tenth of the level below
#include <algorithm>
#include <cassert>
#include <cmath>

#include "db/blob/blob_file.h"
#include "db/compaction/compaction_picker.h"
#include "db/compaction/style_pickers.h"
#include "db/compaction/young_data.h"

namespace ashlar {
namespace {

double Multiplier(const ColumnFamilyOptions& options, Level level) {
  double multiplier = options.max_bytes_for_level_multiplier;
  const auto& additional = options.max_bytes_for_level_multiplier_additional;
  if (static_cast<size_t>(level) < additional.size()) multiplier *= additional[level];
  return std::max(multiplier, 1.0);
}

// Sets the targets from level 1 downwards: level 1 has max_bytes_for_level_base, and each further
// level is larger by the multiplier.
void SetFixedTargets(const ColumnFamilyOptions& options, CompactionNeeds* needs) {
  assert(needs != nullptr);
  assert(needs->target_bytes.size() > 1);  // a single level needs no compaction
  double target = static_cast<double>(options.max_bytes_for_level_base);
  needs->base_level = 1;
  for (size_t level = 1; level < needs->target_bytes.size(); level++) {
    if (level > 1) target *= Multiplier(options, Level{static_cast<int>(level) - 1});
    needs->target_bytes[level] = static_cast<uint64_t>(std::min(target, 1e18));
  }
}

// Sets the targets from the largest level upwards, each a fraction of the level below it, until the
// base size is reached; see the table above.
void SetDynamicTargets(const Version& version, const ColumnFamilyOptions& options,
                       CompactionNeeds* needs) {
  assert(needs != nullptr);
  const Level last{LevelsInUse(version, options) - 1};
  // Young data must stay off the last level, so level 0 is compacted into a level above it.
  const Level lowest_base = YoungLevel(version, options).value_or(last);
  Level first_used = 0;
  uint64_t largest = 0;
  for (Level level = 1; level <= last; ++level) {
    if (first_used == 0 && !version.files(level).empty()) first_used = level;
    largest = std::max(largest, version.level_bytes(level));
  }
  needs->base_level = Level{std::max<int>(lowest_base, 1)};
  const double base_bytes = static_cast<double>(options.max_bytes_for_level_base);
  // An empty tree: everything goes to the last level, or to the one above it.
  if (first_used == 0) {
    if (last >= 1) needs->target_bytes[last] = UINT64_MAX;
    if (lowest_base < last) needs->target_bytes[lowest_base] = options.max_bytes_for_level_base;
    return;
  }
  first_used = std::min(first_used, lowest_base);
  const double multiplier = std::max(options.max_bytes_for_level_multiplier, 1.0);
  double size = static_cast<double>(largest);
  for (Level level{last - 1}; level >= first_used; --level) size /= multiplier;
  Level base = first_used;
  // The base level must not be larger than the base size, so more levels are used if necessary.
  while (base > 1 && size > base_bytes) {
    --base;
    size /= multiplier;
  }
  assert(base >= 1);
  assert(base <= first_used);
  size = std::clamp(size, base_bytes / multiplier, base_bytes);
  needs->base_level = base;
  for (Level level = base; level <= last; ++level) {
    if (level > base) size *= Multiplier(options, Level{level - 1});
    needs->target_bytes[level] = static_cast<uint64_t>(std::min(size, 1e18));
  }
}

// 1 or more: level 0 is due, because of the number of its files or because of their bytes.
double Level0Score(const CompactionClaims::Sums& files, const ColumnFamilyOptions& options) {
  const int trigger = std::max(options.level0_file_num_compaction_trigger, 1);
  double score = static_cast<double>(files.files) / trigger;
  if (files.files > 1) {
    score = std::max(score, static_cast<double>(files.bytes) /
                                static_cast<double>(options.max_bytes_for_level_base));
  }
  return score;
}

// The data that is too young to go to the last level.
struct HeldBack {
  std::optional<Level> level;
  uint64_t idle_bytes = 0;  // of tables that no compaction has claimed
  uint64_t all_bytes = 0;
};

HeldBack HeldBackFrom(const Version& version, const ColumnFamilyOptions& options,
                      const CompactionClaims& claims) REQUIRES(db_mutex) {
  HeldBack held{.level = YoungLevel(version, options)};
  if (!held.level.has_value()) return held;
  for (const TableFile* file : version.files(*held.level)) {
    if (IsWorthMoving(file->meta, claims.first_young())) continue;
    held.all_bytes += file->meta.file_size;
    if (!file->being_compacted) held.idle_bytes += file->meta.file_size;
  }
  return held;
}

// Returns the factor, between 1 and 2, by which level 0 may exceed its trigger. A merge of level 0
// rewrites the whole base level, so a base level that is too large should first pass on some of its
// data. The factor stays so small that writes are not slowed down.
double Level0Leeway(const Version& version, const ColumnFamilyOptions& options,
                    const CompactionNeeds& needs, const HeldBack& held_back) {
  constexpr double kMost = 2;
  const Level base = needs.base_level;
  const bool passes_on = base.Next() < LevelsInUse(version, options);
  const uint64_t held_bytes = held_back.level == base ? held_back.all_bytes : 0;
  if (!passes_on || version.level_bytes(base) - held_bytes <= needs.target_bytes[base]) return 1;
  const double trigger = std::max(options.level0_file_num_compaction_trigger, 1);
  const int limit =
      std::min(options.level0_slowdown_writes_trigger, options.level0_stop_writes_trigger);
  return std::clamp(limit / 2 / trigger, 1.0, kMost);
}

// The size of a level relative to its target. 1 or more: the level is due.
double DeepLevelScore(const CompactionClaims::Sums& files, uint64_t target_bytes) {
  if (files.bytes == 0) return 0;
  // A target of 0 means that the level lies above the base level. It is being emptied, so any data
  // on it is due.
  return target_bytes == 0 ? 1.01
                           : static_cast<double>(files.bytes) / static_cast<double>(target_bytes);
}

// Sets the score of a level. A level with marked tables is due even if its score is below 1.
void SetScore(Level level, double score, const CompactionClaims::Sums& files,
              CompactionNeeds* needs) {
  assert(needs != nullptr);
  needs->is_due_by_mark[level] = files.marked > 0 && score < 1;
  needs->scores[level] = needs->is_due_by_mark[level] ? 1 : score;
}

// Estimates the bytes that compactions must still rewrite. The data above the target of a level
// must be merged into the next level, together with the data that it overlaps there. Files of
// running compactions count too.
// `held_back`: bytes by level that are too young to go down.
uint64_t PendingBytes(const Version& version, const ColumnFamilyOptions& options,
                      const CompactionNeeds& needs, const HeldBack& held_back) {
  assert(needs.target_bytes.size() == static_cast<size_t>(version.num_levels()));
  double pending = 0;
  double carried = 0;
  const CompactionClaims::Sums level0{.files = version.files(0).size(),
                                      .bytes = version.level_bytes(0)};
  if (Level0Score(level0, options) >= 1) {
    carried = static_cast<double>(version.level_bytes(0));
    pending = carried + static_cast<double>(version.level_bytes(needs.base_level));
  }
  for (Level level = needs.base_level; level + 1 < LevelsInUse(version, options); ++level) {
    double bytes = static_cast<double>(version.level_bytes(level)) + carried;
    if (held_back.level == level) bytes -= static_cast<double>(held_back.all_bytes);
    const double excess = bytes - static_cast<double>(needs.target_bytes[level]);
    carried = std::max(excess, 0.0);
    if (carried <= 0) continue;
    const double next = static_cast<double>(version.level_bytes(level.Next()));
    // For each byte that moves down, about this many bytes of the next level are rewritten.
    const double fan_out =
        std::min(next / std::max(bytes, 1.0), options.max_bytes_for_level_multiplier);
    pending += carried * (1 + fan_out);
  }
  return static_cast<uint64_t>(pending);
}

// The score of the styles that do not compare levels with targets. They have no pending bytes.
double ScoreOfRuns(const Version& version, const ColumnFamilyOptions& options,
                   const CompactionClaims& claims) REQUIRES(db_mutex) {
  if (options.compaction_style == kCompactionStyleNone) return 0;
  // FIFO drops tables when all tables together, or all tables and blob files, exceed the limit.
  if (options.compaction_style == kCompactionStyleFIFO) {
    const FifoLimit limit = FifoLimitOf(version, options);
    uint64_t bytes = limit.blobs != nullptr ? limit.blobs->total_file_bytes() : 0;
    for (Level level = 0; level < version.num_levels(); ++level) {
      bytes += claims.IdleOn(version, level).bytes;
    }
    // One byte more: exactly the limit is allowed.
    return static_cast<double>(bytes) / (static_cast<double>(limit.bytes) + 1);
  }
  // Universal: the number of sorted runs that no compaction has claimed.
  size_t runs = claims.IdleOn(version, 0).files, marked = 0;
  for (Level level = 0; level < LevelsInUse(version, options); ++level) {
    const CompactionClaims::Sums idle = claims.IdleOn(version, level);
    if (level > 0 && idle.files != 0 && idle.files == version.files(level).size()) runs++;
    marked += idle.marked;
  }
  const double score =
      static_cast<double>(runs) / std::max(options.level0_file_num_compaction_trigger, 1);
  return marked > 0 ? std::max(score, 1.0) : score;
}

}  // namespace

// Called under the DB mutex and often, so it uses only the sums that each level keeps. Tables are
// inspected only on a level that holds data back.
CompactionNeeds AssessCompaction(const Version& version, const ColumnFamilyOptions& options,
                                 const CompactionClaims& claims) {
  CompactionNeeds needs;
  const int levels = version.num_levels();
  needs.scores.assign(static_cast<size_t>(levels), 0);
  needs.is_due_by_mark.assign(static_cast<size_t>(levels), false);
  needs.target_bytes.assign(static_cast<size_t>(levels), 0);
  if (options.compaction_style != kCompactionStyleLevel) {
    needs.scores[0] = ScoreOfRuns(version, options, claims);
    return needs;
  }
  if (levels < 2) return needs;
  if (options.level_compaction_dynamic_level_bytes) {
    SetDynamicTargets(version, options, &needs);
  } else {
    SetFixedTargets(options, &needs);
  }
  const HeldBack held_back = HeldBackFrom(version, options, claims);
  const CompactionClaims::Sums level0 = claims.IdleOn(version, 0);
  const double leeway = Level0Leeway(version, options, needs, held_back);
  SetScore(0, Level0Score(level0, options) / leeway, level0, &needs);
  for (Level level = 1; level + 1 < LevelsInUse(version, options); ++level) {
    CompactionClaims::Sums idle = claims.IdleOn(version, level);
    if (held_back.level == level) idle.bytes -= held_back.idle_bytes;
    SetScore(level, DeepLevelScore(idle, needs.target_bytes[level]), idle, &needs);
  }
  assert(levels == 1 || (needs.base_level >= 1 && needs.base_level < levels));
  needs.pending_bytes = PendingBytes(version, options, needs, held_back);
  return needs;
}

}  // namespace ashlar
