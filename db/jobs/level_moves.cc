// SPDX-License-Identifier: Apache-2.0
//
// Calls that move tables to another level without rewriting them: PromoteL0(), and CompactRange()
// with change_level. A move is a compaction without a merge that runs alone in its family. It goes
// up or down, but only past empty levels.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/jobs/manual_compaction.h"
#include "util/rare_sort.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Checks that the target level and the levels in between are empty. Otherwise older data could end
// up above newer data.
Status CheckWay(const Version& version, Level from, Level to) {
  for (Level level{std::min<int>(from, to)}; level <= std::max<int>(from, to); ++level) {
    if (level == from || version.files(level).empty()) continue;
    return Status::NotSupported(
        StrCat("level ", level, " is not empty: level ", from, " cannot become level ", to));
  }
  return Status::OK();
}

// Tables of level 0 can become a sorted run only if no two of them share a key.
Status CheckLevel0(const Version& version, Level to) {
  std::vector<TableFile*> files = version.files(0);
  const InternalKeyComparator& order = version.comparator();
  SortRarely(&files, [&order](const TableFile* a, const TableFile* b) {
    return order.Compare(a->meta.smallest, b->meta.smallest) < 0;
  });
  for (size_t i = 0; i + 1 < files.size(); i++) {
    const FileMetadata& meta = files[i]->meta;
    const int end = order.OrderWithoutTimestamp(meta.largest_user_key(),
                                                files[i + 1]->meta.smallest_user_key());
    if (end > 0 || (end == 0 && !meta.largest_is_exclusive())) {
      return Status::InvalidArgument("PromoteL0: tables of level 0 overlap");
    }
  }
  const Status is_free = CheckWay(version, 0, to);
  return is_free.ok() ? is_free : Status::InvalidArgument("PromoteL0", is_free.ToString());
}

// The highest level that has room for all data of level `from`. All levels between the two must be
// empty.
Level HighestFree(const Version& version, const CompactionNeeds& needs, Level from) {
  assert(from >= 0);
  assert(static_cast<size_t>(from) < needs.target_bytes.size());
  Level highest = from;
  for (Level level{from - 1}; level > 0 && version.files(level).empty(); --level) {
    const uint64_t target = needs.target_bytes[static_cast<size_t>(level)];
    if (target != 0 && target < version.level_bytes(from)) break;
    highest = level;
  }
  return highest;
}

}  // namespace

// Checks that a level given by the program is in use in this family.
Status ManualCompactions::CheckLevel(const ColumnFamilyData& family, int level, int least) {
  MutexLock lock(&core_->mutex);
  if (family.is_dropped()) return Status::ColumnFamilyDropped();
  const int count = LevelsInUse(*family.current(), family.options());
  if (level >= least && level < count) return Status::OK();
  return Status::InvalidArgument(
      StrCat("target_level: ", level, " is not from ", least, " to ", count - 1));
}

// Moves all of level 0. The check and the move happen in one exclusive turn of the queue, so the
// levels cannot change in between.
Status ManualCompactions::PromoteLevel0(ColumnFamilyData* family, int target_level) {
  assert(family != nullptr);
  RETURN_IF_ERROR(CheckLevel(*family, target_level, /*least=*/1));
  ManualCompaction turn;
  turn.family = family;
  turn.stop = FlagsFor(&turn, /*canceled=*/nullptr);
  return MoveTables(&turn, 0, [target_level](const Version& version) -> Result<Level> {
    RETURN_IF_ERROR(CheckLevel0(version, Level{target_level}));
    return Level{target_level};
  });
}

// The end of CompactRange() with change_level. All data of the range is on one level by now, and
// moves from there to `target_level`; a negative value means the highest possible level.
Status ManualCompactions::ChangeLevel(const ManualCompaction& done, int target_level) {
  const RangeLevels levels = LevelsOf(done);
  if (levels.last < 0) return Status::OK();
  ManualCompaction turn;
  turn.family = done.family;
  turn.stop = done.stop;
  turn.stop.aborted = &turn.is_aborted;
  const Level from{levels.last};
  return MoveTables(&turn, from, [&](const Version& version) REQUIRES(db_mutex) -> Result<Level> {
    Level to{target_level};
    if (target_level < 0) {
      to = HighestFree(
          version,
          AssessCompaction(version, done.family->options(), done.family->versions()->claims), from);
    }
    if (to == from) return to;
    if (from == 0) return Status::NotSupported("tables of level 0 change their level by PromoteL0");
    if (to == 0 && version.files(from).size() > 1) {
      return Status::Aborted("several tables cannot become one of level 0");
    }
    RETURN_IF_ERROR(CheckWay(version, from, to));
    return to;
  });
}

// Moves all tables of level `from` to the level that `choose` returns. The levels in between are
// reserved too. Otherwise a file that is ingested meanwhile could be placed above newer data, or in
// the way of the move.
Status ManualCompactions::MoveTables(ManualCompaction* turn, Level from,
                                     const std::function<Result<Level>(const Version&)>& choose) {
  assert(turn != nullptr);
  assert(!InEpoch());
  assert(!turn->is_taken);
  turn->is_exclusive = turn->is_of_caller = true;
  ColumnFamilyData* const family = turn->family;
  MutexLock lock(&core_->mutex);
  queue_->AddLocked(turn);
  const ScopeExit leave_queue([&]() REQUIRES(db_mutex) {
    turn->is_done = true;
    queue_->RemoveLocked(turn);
    core_->conditions.ManualChanged();
    scheduler_->RequestCompactionLocked(family);
  });
  RETURN_IF_ERROR(queue_->AwaitTurnLocked(turn));
  const Version& version = *family->current();
  if (version.files(from).empty()) return Status::OK();
  Level to;
  ASSIGN_OR_RETURN(to, choose(version));
  if (to == from) return Status::OK();
  CompactionPlan plan;
  plan.start_level = from;
  plan.output_level = to;
  plan.inputs.push_back({from, version.files(from)});
  plan.is_trivial_move = plan.is_manual = true;
  plan.reason = CompactionReason::kRefitLevel;
  // One reservation for each level between the two, including the start.
  std::vector<CompactionPlan> on_the_way;
  for (Level level{std::max<int>(std::min<int>(from, to), 1)}; level <= std::max<int>(from, to);
       ++level) {
    if (level == to) continue;
    on_the_way.push_back(plan);
    on_the_way.back().output_level = level;
  }
  std::unique_ptr<BackgroundCompaction> job = compactions_->BeginMoveLocked(*turn, std::move(plan));
  for (const CompactionPlan& reserved : on_the_way) registry_->ReserveLocked(family, &reserved);
  const ScopeExit release([&]() REQUIRES(db_mutex) {
    for (const CompactionPlan& reserved : on_the_way) registry_->ReleaseLocked(&reserved);
  });
  MutexUnlock unlock(&core_->mutex);
  const Status status = jobs_->Run(job.get());
  job.reset();
  return status;
}

// Notes tables for later compactions, which are automatic ones.
Status ManualCompactions::Suggest(ColumnFamilyData* family, const Slice* begin, const Slice* end) {
  assert(family != nullptr);
  MutexLock lock(&core_->mutex);
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  compactions_->SuggestLocked(family, begin, end);
  scheduler_->RequestCompactionLocked(family);
  return Status::OK();
}

}  // namespace ashlar
