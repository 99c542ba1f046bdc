// SPDX-License-Identifier: Apache-2.0
//
// Picks tables that are due because of their age, when nothing more urgent is to be done. With ttl:
// tables whose data has been above the deepest level for too long. With
// periodic_compaction_seconds: tables that were written too long ago. Each level knows the times of
// its oldest tables, so single files are inspected only if one of them is due.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/compaction/plan_maker.h"
#include "db/compaction/style_pickers.h"

namespace ashlar {
namespace {

// Times are in seconds since the epoch. Time 0 means unknown, and an unknown time is never too old.
bool IsBefore(uint64_t time, uint64_t limit) { return time != 0 && time < limit; }

class AgePicker {
 public:
  AgePicker(const Version& version, const PickOptions& options,
            const std::vector<const CompactionPlan*>& running)
      : version_(version), pick_(options), running_(running) {}

  std::optional<CompactionPlan> PickExpired() const REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickOld() const REQUIRES(db_mutex);

 private:
  // Returns the limit of age: times before it are too old. 0: no time is too old.
  uint64_t LimitOf(uint64_t seconds) const {
    return seconds == 0 || pick_.now_seconds <= seconds ? 0 : pick_.now_seconds - seconds;
  }
  std::optional<CompactionPlan> PlanLevel0() const REQUIRES(db_mutex);

  const Version& version_;
  const PickOptions& pick_;
  const std::vector<const CompactionPlan*>& running_;
};

// Tables of level 0 overlap each other, so the level is compacted as a whole.
std::optional<CompactionPlan> AgePicker::PlanLevel0() const {
  const RangePickOptions all{
      .options = pick_.options,
      .claims = pick_.claims,
      .output_level = AssessCompaction(version_, *pick_.options, *pick_.claims).base_level};
  bool is_taken = false;
  return PickRangeCompaction(version_, all, running_, &is_taken);
}

// Picks a table whose data is older than `ttl`. The table is compacted from level to level. On the
// deepest level, at the latest, the data that its tombstones delete is dropped.
std::optional<CompactionPlan> AgePicker::PickExpired() const {
  const uint64_t limit = LimitOf(pick_.options->ttl);
  if (limit == 0 || pick_.options->compaction_style != kCompactionStyleLevel) return std::nullopt;
  const Level end{
      std::min<int>(version_.deepest_level(), LevelsInUse(version_, *pick_.options) - 1)};
  for (Level level = 0; level < end; ++level) {
    if (!IsBefore(version_.levels()[level]->oldest_ancestor_time, limit)) continue;
    for (TableFile* table : version_.files(level)) {
      if (!IsBefore(table->meta.oldest_ancestor_time, limit) || table->being_compacted) continue;
      std::optional<CompactionPlan> plan;
      if (level == 0) {
        plan = PlanLevel0();
      } else {
        PlanMaker plans(version_, *pick_.options, *pick_.claims, running_);
        if (plans.IsHeldBack(*table, level.Next())) continue;
        plan = plans.PlanFor({level, {table}}, level.Next(), /*allow_trivial_move=*/true);
      }
      if (plan.has_value()) {
        plan->reason = CompactionReason::kTtl;
        return plan;
      }
      // Level 0 is compacted as a whole, so its other tables would give the same plan.
      if (level == 0) break;
    }
  }
  return std::nullopt;
}

// Picks a table that was written too long ago, and rewrites it on its own level. The universal
// style rewrites all tables. The outputs get the current time, so they are not picked again soon.
std::optional<CompactionPlan> AgePicker::PickOld() const {
  const uint64_t limit = LimitOf(pick_.options->periodic_compaction_seconds);
  const bool is_universal = pick_.options->compaction_style == kCompactionStyleUniversal;
  const bool is_levelled = pick_.options->compaction_style == kCompactionStyleLevel;
  std::optional<CompactionPlan> plan;
  if (limit == 0 || (!is_universal && !is_levelled)) return plan;
  // A plan never has tables of a level that is reserved for ingestion behind.
  const Level end{LevelsInUse(version_, *pick_.options)};
  for (Level level = 0; level < end && !plan.has_value(); ++level) {
    if (!IsBefore(version_.levels()[level]->oldest_creation_time, limit)) continue;
    for (const TableFile* table : version_.files(level)) {
      if (!IsBefore(table->meta.file_creation_time, limit) || table->being_compacted) continue;
      bool is_taken = false;
      if (is_universal) {
        plan = PickAllRuns(version_, pick_, /*rewrites_last=*/true, running_, &is_taken);
        break;
      }
      if (level == 0) {
        plan = PlanLevel0();
        break;
      }
      plan = PickRewrite(version_, pick_, version_.FindTable(table->meta.number), running_);
      if (plan.has_value()) break;
    }
  }
  if (plan.has_value()) plan->reason = CompactionReason::kPeriodicCompaction;
  return plan;
}

}  // namespace

std::optional<CompactionPlan> PickByAge(const Version& version, const PickOptions& options,
                                        const std::vector<const CompactionPlan*>& running) {
  assert(options.options != nullptr);
  assert(options.claims != nullptr);
  const AgePicker picker(version, options, running);
  auto plan = picker.PickExpired();
  return plan.has_value() ? std::move(plan) : picker.PickOld();
}

}  // namespace ashlar
