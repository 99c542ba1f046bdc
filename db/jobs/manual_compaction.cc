// SPDX-License-Identifier: Apache-2.0
//
// A range is compacted level by level, downwards. Each level is one ManualCompaction, which a
// thread of the scheduler executes while the calling thread waits.
#include "db/jobs/manual_compaction.h"

#include <algorithm>
#include <cassert>

#include "db/state/job_thread.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Whether the last level must be rewritten although nothing is merged into it. The compaction
// filter may not have seen its entries, or the program wants its new options applied.
bool RewritesBottom(const CompactRangeOptions& options, bool has_filter) {
  switch (options.bottommost_level_compaction) {
    case BottommostLevelCompaction::kSkip: return false;
    case BottommostLevelCompaction::kIfHaveCompactionFilter: return has_filter;
    case BottommostLevelCompaction::kForce:
    case BottommostLevelCompaction::kForceOptimized: break;
  }
  return true;
}

}  // namespace

Status CheckPath(const ColumnFamilyData& family, const char* what, uint32_t path_id) {
  const size_t count = family.versions()->tables->path_count();
  if (path_id < count) return Status::OK();
  return Status::InvalidArgument(
      StrCat(what, ": the column family has ", count, " directories, found ", path_id));
}

// Everything that can be refused is checked before the flush, so a refused call has no effect.
Status ManualCompactions::CompactRange(const CompactRangeOptions& options, ColumnFamilyData* family,
                                       const Slice* begin, const Slice* end) {
  assert(family != nullptr);
  assert(!InEpoch());
  {
    MutexLock lock(&core_->mutex);
    RETURN_IF_ERROR(CheckMayBeginLocked(*family, options.canceled));
  }
  assert(options.full_history_ts_low == nullptr);  // the caller has raised it
  RETURN_IF_ERROR(
      CheckPath(*family, "CompactRangeOptions::target_path_id", options.target_path_id));
  if (options.change_level) {
    RETURN_IF_ERROR(CheckLevel(*family, options.target_level, /*least=*/-1));
  }
  RETURN_IF_ERROR(FlushFor(options, family));
  ManualCompaction manual;
  manual.family = family;
  if (begin != nullptr) manual.begin = begin->ToString();
  if (end != nullptr) manual.end = end->ToString();
  manual.is_exclusive = options.exclusive_manual_compaction;
  manual.max_subcompactions = options.max_subcompactions;
  manual.output_path_id = options.target_path_id;
  manual.blob_policy = options.blob_garbage_collection_policy;
  manual.blob_age_cutoff = options.blob_garbage_collection_age_cutoff;
  manual.stop = FlagsFor(&manual, options.canceled);
  RETURN_IF_ERROR(CompactLevels(options, &manual));
  return options.change_level ? ChangeLevel(manual, options.target_level) : Status::OK();
}

Status ManualCompactions::FlushFor(const CompactRangeOptions& options, ColumnFamilyData* family) {
  FlushOptions flush;
  flush.allow_write_stall = options.allow_write_stall;
  RETURN_IF_ERROR(flushes_->Flush(flush, {family}, FlushReason::kManualCompaction));
  return JobThread::HoldsUpCompactions(core_) ? JobThread::OwnJob("CompactRange") : Status::OK();
}

// Every table is rewritten at least once: on its way down by a merge, or on the last level. A table
// that is only moved goes to a level that is merged next.
Status ManualCompactions::TrimHistory(ColumnFamilyData* family, const HistoryTrim& trim,
                                      const std::optional<std::string>& begin,
                                      const std::optional<std::string>& end) {
  assert(family != nullptr && family->comparator().stamp_bytes() != 0);
  assert(!trim.empty());
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  {
    MutexLock lock(&core_->mutex);
    RETURN_IF_ERROR(CheckMayBeginLocked(*family, nullptr));
    const CompactionStyle style = family->options().compaction_style;
    if (style != kCompactionStyleLevel && style != kCompactionStyleUniversal) {
      return Status::NotSupported("trimming the history: this compaction style rewrites no tables");
    }
  }
  RETURN_IF_ERROR(FlushFor(options, family));
  ManualCompaction manual;
  manual.family = family;
  manual.is_exclusive = true;
  manual.begin = begin;
  manual.end = end;
  manual.trim = trim;
  manual.stop = FlagsFor(&manual, nullptr);
  return CompactLevels(options, &manual);
}

// Refuses a call while compactions are aborted or disabled, or if its own flag is set.
Status ManualCompactions::CheckMayBeginLocked(const ColumnFamilyData& family,
                                              std::atomic<bool>* canceled) const {
  if (registry_->IsAbortedLocked(family)) return Status::Incomplete(Status::kCompactionAborted);
  return StopFlags{.manual_disabled = &is_disabled_, .cancelled_by_caller = canceled}.Check();
}

// All flags that can stop a manual compaction.
StopFlags ManualCompactions::FlagsFor(ManualCompaction* manual, std::atomic<bool>* canceled) const {
  return {.background_cancelled = core_->shutdown.background_cancelled_flag(),
          .aborted = &manual->is_aborted,
          .manual_disabled = &is_disabled_,
          .cancelled_by_caller = canceled};
}

// Finds the levels that have files in the range. A dropped family has none.
ManualCompactions::RangeLevels ManualCompactions::LevelsOf(const ManualCompaction& manual) {
  const Slice begin = manual.begin.has_value() ? Slice(*manual.begin) : Slice();
  const Slice end = manual.end.has_value() ? Slice(*manual.end) : Slice();
  MutexLock lock(&core_->mutex);
  RangeLevels levels;
  if (manual.family->is_dropped()) return levels;
  const Version* version = manual.family->current();
  const Level last_in_use{LevelsInUse(*version, manual.family->options()) - 1};
  for (Level level = std::min(version->deepest_level(), last_in_use); level >= 0; --level) {
    const LevelFiles found =
        version->Overlapping(level, manual.begin.has_value() ? &begin : nullptr,
                             manual.end.has_value() ? &end : nullptr);
    if (found.files.empty()) continue;
    levels.first = level;
    if (levels.last >= 0) continue;
    levels.last = level;
    for (const TableFile* file : found.files) {
      levels.oldest_in_last = std::min(levels.oldest_in_last, file->meta.number);
      levels.has_foreign_in_last |= !manual.written.contains(file->meta.number);
    }
  }
  assert(levels.first <= levels.last);
  levels.base =
      AssessCompaction(*version, manual.family->options(), manual.family->versions()->claims)
          .base_level;
  return levels;
}

// Compacts level by level downwards, so that everything in the range ends on one level: the deepest
// level that has files, or the base level if there is none.
Status ManualCompactions::CompactLevels(const CompactRangeOptions& options,
                                        ManualCompaction* manual) {
  bool has_levels = false, rewrites_bottom = false;
  const bool spares_new_files =
      options.bottommost_level_compaction == BottommostLevelCompaction::kForceOptimized &&
      manual->trim.empty();
  {
    MutexLock lock(&core_->mutex);
    has_levels = manual->family->options().compaction_style == kCompactionStyleLevel;
    rewrites_bottom = RewritesBottom(options, HasCompactionFilter(manual->family->options()));
  }
  if (!has_levels) {
    manual->rewrites_bottom = rewrites_bottom;
    return RunToEnd(manual);
  }
  // Files from this number on are written by this call or beside it.
  const FileNumber first_new_file = core_->versions->next_file_number();
  RangeLevels levels = LevelsOf(*manual);
  for (Level level{std::max(levels.first, 0)}; level < std::max(levels.last, 1); ++level) {
    if (level > 0 && level < levels.base) continue;
    manual->input_level = level;
    manual->output_level = level == 0 ? levels.base : level.Next();
    manual->allow_trivial_move = manual->output_level < levels.last;
    assert(manual->output_level > level);
    RETURN_IF_ERROR(RunToEnd(manual));
    levels = LevelsOf(*manual);
  }
  // Other compactions, which may write to the last level meanwhile, have neither the directory nor
  // the trim of this call, and may have begun with older options. kForceOptimized leaves their new
  // files alone nevertheless.
  const bool is_rewritten =
      spares_new_files ? levels.oldest_in_last >= first_new_file : !levels.has_foreign_in_last;
  if (!rewrites_bottom || levels.last < 1 || is_rewritten) return Status::OK();
  manual->allow_trivial_move = false;
  // An automatic compaction may take tables one level down while this one waits for it. Those are
  // rewritten too.
  do {
    manual->input_level = manual->output_level = Level{levels.last};
    RETURN_IF_ERROR(RunToEnd(manual));
    levels = LevelsOf(*manual);
  } while (!spares_new_files && levels.last > manual->input_level && levels.has_foreign_in_last);
  return Status::OK();
}

// Queues the compaction and waits for it. The queue refers to an object on the stack of the caller,
// so its entry is removed before the function returns.
Status ManualCompactions::RunToEnd(ManualCompaction* manual) {
  assert(manual != nullptr);
  MutexLock lock(&core_->mutex);
  manual->is_taken = manual->is_done = false;
  Status status;
  {
    queue_->AddLocked(manual);
    // Also when an allocation fails here, a thread that has taken the compaction is waited for.
    const ScopeExit leave_queue([&]() REQUIRES(db_mutex) {
      while (manual->is_taken && !manual->is_done) core_->conditions.jobs.Wait();
      queue_->RemoveLocked(manual);
    });
    status = AwaitDoneLocked(manual);
  }
  // Wakes compactions that waited for an exclusive one, and requests the automatic ones it held up.
  scheduler_->RequestCompactionLocked(manual->family);
  core_->conditions.ManualChanged();
  return status;
}

// Waits until the compaction is done or stopped. Once a thread has taken it, this waits even after
// a stop, because that thread uses the object.
Status ManualCompactions::AwaitDoneLocked(ManualCompaction* manual) {
  assert(manual != nullptr);
  assert(!queue_->IsEmptyLocked());  // this one
  // A caller that sets its own flag does not signal, so the flag is polled.
  constexpr uint64_t kLookAgainMicros = 50 * 1000;
  scheduler_->DispatchLocked();
  while (!manual->is_done) {
    const Status stopped = manual->stop.Check();
    if (!stopped.ok() && !manual->is_taken) {
      return stopped.IsShutdownInProgress() ? Status::Incomplete(Status::kManualCompactionPaused)
                                            : stopped;
    }
    // Waits for a thread to take the compaction and to finish it.
    if (manual->stop.cancelled_by_caller == nullptr) {
      core_->conditions.jobs.Wait();
    } else {
      core_->conditions.jobs.WaitFor(kLookAgainMicros);
    }
    scheduler_->DispatchLocked();
  }
  return manual->status;
}

// Calls may be nested: each needs an Enable(). A call from a job of this database does not wait for
// running compactions, because it might wait for itself.
void ManualCompactions::Disable() {
  MutexLock lock(&core_->mutex);
  if (++disable_count_ <= 0) return;
  is_disabled_.store(true, std::memory_order_release);
  core_->conditions.ManualChanged();
  // No compaction may finish while they are disabled, nor continue because Enable() comes at once.
  while (!queue_->IsEmptyLocked() && !JobThread::HoldsUpCompactions(core_)) {
    core_->conditions.jobs.Wait();
  }
}

void ManualCompactions::Enable() {
  MutexLock lock(&core_->mutex);
  assert(is_disabled_.load(std::memory_order_relaxed) == (disable_count_ > 0));
  if (--disable_count_ == 0) is_disabled_.store(false, std::memory_order_release);
}

// Stops the compactions of a family, or of all families if it is null, and waits for their end.
// Concerns automatic and manual compactions.
void ManualCompactions::Abort(const ColumnFamilyData* family) {
  MutexLock lock(&core_->mutex);
  registry_->AbortLocked(family);
  queue_->AbortLocked(family);
  core_->conditions.WorkHeld();
  while ((registry_->IsRunningLocked(family) || queue_->HasLocked(family)) &&
         !JobThread::HoldsUpCompactions(core_)) {
    core_->conditions.jobs.Wait();
  }
}

// Takes back one Abort(). Families that needed a compaction meanwhile are queued again.
void ManualCompactions::Resume(ColumnFamilyData* family) {
  MutexLock lock(&core_->mutex);
  registry_->ResumeLocked(family);
  if (family != nullptr) return scheduler_->RequestCompactionLocked(family);
  for (ColumnFamilyData* each : core_->families.All()) scheduler_->RequestCompactionLocked(each);
}

}  // namespace ashlar
