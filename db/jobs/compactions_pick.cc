// SPDX-License-Identifier: Apache-2.0
//
// Which automatic compaction is next, of those that the styles, calls that suggest tables,
// snapshots and the age of tables ask for.
#include <algorithm>
#include <utility>

#include "db/jobs/compactions.h"

namespace ashlar {
namespace {

// Of one that nothing but a mark or a suggestion asks for; what is urgent is tried again first.
int FailuresOf(const CompactionPlan& plan) REQUIRES(db_mutex) {
  if (plan.reason != CompactionReason::kFilesMarkedForCompaction) return 0;
  int most = 0;
  for (const TableFile* file : plan.inputs.front().files) {
    most = std::max(most, int{file->failed_compactions});
  }
  return most;
}

// Takes the other plan if it failed less often. Whether that is settled, and nothing can be better.
bool Prefer(std::optional<CompactionPlan> other, std::optional<CompactionPlan>* plan)
    REQUIRES(db_mutex) {
  if (other.has_value() && (!plan->has_value() || FailuresOf(*other) < FailuresOf(**plan))) {
    *plan = std::move(other);
  }
  return plan->has_value() && FailuresOf(**plan) == 0;
}

}  // namespace

// What was marked or suggested and has failed before comes behind all else that there is to do.
std::optional<CompactionPlan> Compactions::PickNext(ColumnFamilyData* family,
                                                    const PickOptions& options) {
  const Version& version = *family->current();
  auto plan = PickCompaction(version, options, PlansUnderWay(family));
  // Looked into, and nothing pays. Behind a more urgent one, or one that cannot begin, it waits.
  if (!plan.has_value()) family->is_read_compaction_wanted = false;
  if (plan.has_value() && FailuresOf(*plan) == 0) return plan;
  if (Prefer(PickSuggested(family, options), &plan)) return plan;
  if (Prefer(PickDueTable(family, options), &plan)) return plan;
  Prefer(PickByAge(version, options, PlansUnderWay(family)), &plan);
  return plan;
}

void Compactions::SuggestLocked(const ColumnFamilyData* family, const Slice* begin,
                                const Slice* end) {
  const Version& version = *family->current();
  for (Level level = 0; level < version.deepest_level(); ++level) {
    for (const TableFile* table : version.Overlapping(level, begin, end).files) {
      suggested_[family->id()].insert(table->meta.number);
    }
  }
}

std::optional<CompactionPlan> Compactions::PickSuggested(const ColumnFamilyData* family,
                                                         const PickOptions& options) {
  const auto found = suggested_.find(family->id());
  if (found == suggested_.end()) return std::nullopt;
  std::set<FileNumber>& suggested = found->second;
  const Version& version = *family->current();
  std::optional<CompactionPlan> plan;
  bool is_settled = false;
  for (auto number = suggested.begin(); number != suggested.end() && !is_settled;) {
    const LevelFiles table = version.FindTable(*number);
    const Level last{LevelsInUse(version, *options.options) - 1};
    const bool is_over =
        table.files.empty() || table.level >= std::min(version.deepest_level(), last);
    std::optional<CompactionPlan> down;
    if (!is_over) down = PickDown(version, options, table, PlansUnderWay(family));
    if (down.has_value()) down->reason = CompactionReason::kFilesMarkedForCompaction;
    is_settled = Prefer(std::move(down), &plan);
    // It stays until it is gone: the job may not begin, or fail. Until then the table is taken.
    number = is_over ? suggested.erase(number) : std::next(number);
  }
  if (suggested.empty()) suggested_.erase(found);
  return plan;
}

}  // namespace ashlar
