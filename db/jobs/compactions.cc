// SPDX-License-Identifier: Apache-2.0
//
// Chooses which compaction is next, and begins it.
#include "db/jobs/compactions.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A token of the limiter for a compaction that a call waits for. The limiter counts the compaction,
// but never delays it.
std::unique_ptr<TaskLimiter::Token> TokenOfCall(const ColumnFamilyOptions& options) {
  TaskLimiter* const limiter = TaskLimiter::From(options.compaction_thread_limiter.get());
  return limiter == nullptr ? nullptr : limiter->Take(/*force=*/true);
}

// The free space that a compaction needs for its outputs, in bytes. Moves and deletions need none.
uint64_t BytesToReserve(const CompactionPlan& plan) {
  return plan.IsMerge() ? plan.InputBytes() : 0;
}

// Reserves space for the outputs, which are estimated to be as large as the inputs. False: they
// would not fit below the limit of the SstFileManager.
bool Reserve(const DbCore& core, const CompactionPlan& plan, SpaceReservation* reserved) {
  const uint64_t bytes = BytesToReserve(plan);
  if (bytes == 0 || reserved->Take(core.resources.space, bytes)) return true;
  RecordTick(core.services.statistics.get(), COMPACTION_CANCELLED);
  return false;
}

// How often the inputs of a plan have failed to compact. 0 for all plans with an urgent reason,
// which are tried again first; only marks and suggestions can wait.
int FailuresOf(const CompactionPlan& plan) REQUIRES(db_mutex) {
  if (plan.reason != CompactionReason::kFilesMarkedForCompaction) return 0;
  assert(!plan.inputs.empty());
  int most = 0;
  for (const TableFile* file : plan.inputs.front().files) {
    most = std::max(most, int{file->failed_compactions});
  }
  return most;
}

// Replaces `*plan` by `other` if `other` has failed less often. Returns true if the result has
// never failed, so that a further search cannot find anything better.
bool Prefer(std::optional<CompactionPlan> other, std::optional<CompactionPlan>* plan)
    REQUIRES(db_mutex) {
  if (other.has_value() && (!plan->has_value() || FailuresOf(*other) < FailuresOf(**plan))) {
    *plan = std::move(other);
  }
  return plan->has_value() && FailuresOf(**plan) == 0;
}

}  // namespace

// Creates the job, whose constructor claims the inputs.
std::unique_ptr<BackgroundCompaction> Compactions::Begin(ColumnFamilyData* family,
                                                         CompactionPlan plan) {
  assert(!plan.inputs.empty());
  return std::make_unique<BackgroundCompaction>(core_, registry_, turns_, family, std::move(plan));
}

// Picks and begins one automatic compaction. The limiter and the space are asked before the inputs
// are claimed, so nothing must be undone if one of them refuses.
Compactions::Begun Compactions::BeginAutomaticLocked(ColumnFamilyData* family) {
  assert(family != nullptr);
  core_->mutex.AssertHeld();
  Begun begun;
  if (!MayBeginAutomatic(*family)) return begun;
  PickOptions pick = OptionsToPick(family);
  pick.may_serve_reads = family->is_read_compaction_wanted;
  std::optional<CompactionPlan> plan = PickNext(family, pick);
  if (!plan.has_value()) return begun;
  assert(!plan->is_manual);
  assert(plan->InputFileCount() > 0);
  TaskLimiter* const limiter = TaskLimiter::From(pick.options->compaction_thread_limiter.get());
  if (limiter != nullptr && (begun.token = limiter->Take(/*force=*/false)) == nullptr) {
    begun.is_held_back = true;
    return begun;
  }
  SpaceReservation reserved;
  if (!Reserve(*core_, *plan, &reserved)) {
    begun.refused_bytes = BytesToReserve(*plan);
    return begun;
  }
  if (plan->reason == CompactionReason::kReadTriggered) family->is_read_compaction_wanted = false;
  begun.job = Begin(family, std::move(*plan));
  begun.job->SetToken(std::move(begun.token));
  begun.job->SetReserved(std::move(reserved));
  // Whether the family needs a further compaction beside this one, not counting the inputs that are
  // claimed.
  begun.wants_more =
      AssessCompaction(*family->current(), family->options(), family->versions()->claims)
          .IsNeeded();
  return begun;
}

// Whether an automatic compaction may begin in the family. An exclusive manual compaction prevents
// it already while it waits in the queue; otherwise it might wait for ever.
bool Compactions::MayBeginAutomatic(const ColumnFamilyData& family) const {
  return !family.is_dropped() && !family.options().disable_auto_compactions &&
         !core_->errors.BlocksWrites() && !manual_->HasExclusiveLocked(&family) &&
         !registry_->IsAbortedLocked(family);
}

PickOptions Compactions::OptionsToPick(ColumnFamilyData* family) const {
  assert(family != nullptr);
  PickOptions pick;
  pick.options = &family->options();
  pick.claims = &family->versions()->claims;
  pick.cursors = &family->versions()->compact_cursors;
  pick.now_seconds = core_->environment.NowSeconds();
  if (core_->environment.outputs.write_for_7_8) pick.oldest_unflushed = family->OldestUnflushed();
  return pick;
}

// Picks the most urgent compaction of the family. A table that is only marked or suggested, and
// that has failed before, comes after everything else that can be done.
std::optional<CompactionPlan> Compactions::PickNext(ColumnFamilyData* family,
                                                    const PickOptions& options) {
  assert(family != nullptr);
  const Version& version = *family->current();
  auto plan = PickCompaction(version, options, registry_->PlansLocked(family));
  // Nothing is worth compacting, so the request of the readers is done. It stays if a more urgent
  // compaction was picked, or if this one cannot begin.
  if (!plan.has_value()) family->is_read_compaction_wanted = false;
  if (plan.has_value() && FailuresOf(*plan) == 0) return plan;
  if (Prefer(PickSuggested(family, options), &plan)) return plan;
  if (Prefer(PickDueTable(family, options), &plan)) return plan;
  Prefer(PickByAge(version, options, registry_->PlansLocked(family)), &plan);
  return plan;
}

// Remembers the tables in the range by their numbers. They are compacted when nothing more urgent
// is left. The last level is left out, as its tables have no level to move to.
void Compactions::SuggestLocked(const ColumnFamilyData* family, const Slice* begin,
                                const Slice* end) {
  assert(family != nullptr);
  const Version& version = *family->current();
  for (Level level = 0; level < version.deepest_level(); ++level) {
    for (const TableFile* table : version.Overlapping(level, begin, end).files) {
      suggested_[family->id()].insert(table->meta.number);
    }
  }
}

std::optional<CompactionPlan> Compactions::PickSuggested(const ColumnFamilyData* family,
                                                         const PickOptions& options) {
  assert(family != nullptr);
  const auto found = suggested_.find(family->id());
  if (found == suggested_.end()) return std::nullopt;
  std::set<FileNumber>& suggested = found->second;
  const Version& version = *family->current();
  std::optional<CompactionPlan> plan;
  bool is_settled = false;
  for (auto number = suggested.begin(); number != suggested.end() && !is_settled;) {
    const LevelFiles table = version.FindTable(*number);
    const Level last{LevelsInUse(version, *options.options) - 1};
    // The table is gone, or is on the last level by now: nothing is left to do for it.
    const bool is_over =
        table.files.empty() || table.level >= std::min(version.deepest_level(), last);
    std::optional<CompactionPlan> down;
    if (!is_over) down = PickDown(version, options, table, registry_->PlansLocked(family));
    if (down.has_value()) down->reason = CompactionReason::kFilesMarkedForCompaction;
    is_settled = Prefer(std::move(down), &plan);
    // The table stays in the set until it is gone, because the job may not begin or may fail.
    // Meanwhile its claim keeps it from being picked twice.
    number = is_over ? suggested.erase(number) : std::next(number);
  }
  if (suggested.empty()) suggested_.erase(found);
  return plan;
}

// Whether the next automatic compaction would be one of level 0. Nothing is begun, so the answer
// may change as soon as the mutex is released.
bool Compactions::PicksLevel0Locked(ColumnFamilyData* family) const {
  assert(family != nullptr);
  if (!MayBeginAutomatic(*family)) return false;
  const auto plan =
      PickCompaction(*family->current(), OptionsToPick(family), registry_->PlansLocked(family));
  return plan.has_value() && plan->start_level == 0;
}

// Picks a bottommost table whose entries were kept for a snapshot that is released now; see
// NoteKeptForSnapshots(). A table that is gone, or that is not bottommost any more, is left to
// other compactions.
std::optional<CompactionPlan> Compactions::PickDueTable(ColumnFamilyData* family,
                                                        const PickOptions& options) {
  assert(family != nullptr);
  assert(options.claims == &family->versions()->claims);
  // Other styles leave tables unchanged: what CompactFiles() wrote stays until its next call.
  const CompactionStyle style = options.options->compaction_style;
  const bool may_rewrite = style == kCompactionStyleLevel || style == kCompactionStyleUniversal;
  KeptForSnapshots& kept = family->versions()->kept_for_snapshots;
  for (const FileNumber number : kept.Due(core_->SeenByAll())) {
    const LevelFiles table = family->current()->FindTable(number);
    if (table.files.empty() || table.level == 0) {  // a call may have moved it up
      kept.Remove(number);
      continue;
    }
    if (!may_rewrite) continue;
    // Wait until the table has settled, so that short-lived snapshots do not cause it to be
    // rewritten again and again.
    const uint64_t delay = options.options->bottommost_file_compaction_delay;
    const uint64_t born = table.files.front()->meta.file_creation_time;
    if (delay != 0 && born != 0 && options.now_seconds < born + delay) continue;
    auto plan = PickRewrite(*family->current(), options, table, registry_->PlansLocked(family));
    if (!plan.has_value()) continue;  // until the conflicting job has ended
    if (plan->is_bottommost) return plan;
    kept.Remove(number);
  }
  return std::nullopt;
}

// Called once at opening: finds the tables that earlier processes kept entries in for snapshots,
// which do not survive a close. On the last level a mark means this, unless all sequence numbers of
// the table are 0. Then no snapshot needed anything, and the mark has another meaning. On other
// levels the mark itself causes a compaction.
void Compactions::FindKeptForSnapshotsLocked() {
  // Otherwise the tables that the job writes would be noted twice.
  assert(!registry_->IsRunningLocked(nullptr));  // else the tables that it writes are noted twice
  for (ColumnFamilyData* family : core_->families.All()) {
    const Version& version = *family->current();
    const Level last{version.num_levels() - 1};
    if (last == 0 || version.marked_count(last) == 0) continue;
    for (const TableFile* table : version.files(last)) {
      if (!table->meta.marked_for_compaction || table->meta.largest_seqno == 0) continue;
      family->versions()->kept_for_snapshots.Add(table->meta.number, table->meta.largest_seqno);
    }
  }
}

// Visits all families, so callers call it only when a released snapshot has made some table due
// (see next_table_due()).
std::vector<ColumnFamilyData*> Compactions::FamiliesWithDueTablesLocked() {
  const SequenceNumber seen_by_all = core_->SeenByAll();
  SequenceNumber next_due = KeptForSnapshots::kNever;
  std::vector<ColumnFamilyData*> due;
  for (ColumnFamilyData* family : core_->families.All()) {
    const KeptForSnapshots& kept = family->versions()->kept_for_snapshots;
    if (kept.HasDue(seen_by_all)) due.push_back(family);
    next_due = std::min(next_due, kept.NextDue(seen_by_all));
  }
  assert(next_due > seen_by_all);
  registry_->SetNextTableDue(next_due);
  return due;
}

// Compacts the range of a manual compaction piece by piece, in key order. Before each piece the
// function waits until no other job has claimed its files.
Status Compactions::RunPieces(ManualCompaction* manual) {
  assert(manual != nullptr);
  assert(manual->is_taken);
  assert(!manual->is_done);
  assert(manual->family != nullptr);
  std::optional<std::string> begin = manual->begin;
  do {
    std::unique_ptr<BackgroundCompaction> piece;
    {
      MutexLock lock(&core_->mutex);
      ASSIGN_OR_RETURN(piece, BeginPiece(*manual, begin));
    }
    if (piece == nullptr) return Status::OK();
    RETURN_IF_ERROR(jobs_->Run(piece.get()));
    assert(piece->plan().is_manual);
    for (const OutputTable& table : piece->result().tables) {
      manual->written.insert(table.meta.number);
    }
    begin = piece->plan().next_begin;
  } while (begin.has_value());
  return Status::OK();
}

// Picks and begins the next piece; null if nothing is left. Options and version may change during a
// wait, so each attempt picks anew.
Result<std::unique_ptr<BackgroundCompaction>> Compactions::BeginPiece(
    const ManualCompaction& manual, const std::optional<std::string>& begin) {
  core_->mutex.AssertHeld();
  assert(manual.is_taken);
  assert(manual.family != nullptr);
  while (true) {
    RETURN_IF_ERROR(manual.stop.Check());
    if (manual.family->is_dropped()) return Status::ColumnFamilyDropped();
    bool has_conflict = false;
    auto plan = PickPiece(manual, begin, &has_conflict);
    if (plan.has_value()) {
      SpaceReservation reserved;
      if (!Reserve(*core_, *plan, &reserved)) return Status::CompactionTooLarge();
      auto piece = Begin(manual.family, std::move(*plan));
      piece->SetReserved(std::move(reserved));
      piece->SetToken(TokenOfCall(piece->family()->options()));
      piece->SetManual(manual.stop, manual.max_subcompactions);
      piece->SetBlobPolicy(manual.blob_policy, manual.blob_age_cutoff);
      piece->SetTrim(manual.trim);
      return piece;
    }
    if (!has_conflict) return std::unique_ptr<BackgroundCompaction>();
    core_->conditions.jobs.Wait();  // for the end of a compaction that has some of the files
  }
}

// Begins a move of a manual compaction. A move writes nothing, so it needs neither space nor a
// token of the limiter.
std::unique_ptr<BackgroundCompaction> Compactions::BeginMoveLocked(const ManualCompaction& manual,
                                                                   CompactionPlan plan) {
  assert(manual.is_taken);
  assert(manual.is_exclusive);
  assert(plan.is_trivial_move);
  auto job = Begin(manual.family, std::move(plan));
  job->SetManual(manual.stop, /*max_subcompactions=*/0);
  return job;
}

// Begins the compaction of the files that CompactFiles() names. Unlike other manual compactions it
// does not wait: a conflict is an error.
Result<std::unique_ptr<BackgroundCompaction>> Compactions::BeginFilesLocked(
    ManualCompaction* manual, const FilesToCompact& files) {
  assert(manual != nullptr);
  ColumnFamilyData* const family = manual->family;
  assert(family != nullptr);
  assert(!manual->is_taken);
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  if (manual_->HasExclusiveLocked(family)) {
    return Status::Aborted("CompactFiles: an exclusive manual compaction has the column family");
  }
  const PickOptions pick = OptionsToPick(family);
  CompactionPlan plan;
  ASSIGN_OR_RETURN(plan,
                   PickFiles(*family->current(), pick, files, registry_->PlansLocked(family)));
  // A compaction filter must see every entry, so the tables cannot just be moved.
  if (HasCompactionFilter(*pick.options)) plan.is_trivial_move = false;
  SpaceReservation reserved;
  if (!Reserve(*core_, plan, &reserved)) return Status::CompactionTooLarge();
  auto job = Begin(family, std::move(plan));
  job->SetReserved(std::move(reserved));
  job->SetManual(manual->stop, manual->max_subcompactions);
  job->SetToken(TokenOfCall(family->options()));
  manual_->AddLocked(manual);
  manual->is_taken = true;
  return job;
}

// The next compaction for styles other than level compaction, which have no ranges. FIFO drops only
// the tables that it would drop anyway.
std::optional<CompactionPlan> Compactions::PickStyle(const ManualCompaction& manual,
                                                     bool* has_conflict) const {
  const PickOptions pick = OptionsToPick(manual.family);
  const Version& version = *manual.family->current();
  const CompactionRegistry::Plans running = registry_->PlansLocked(manual.family);
  if (pick.options->compaction_style == kCompactionStyleUniversal) {
    return PickAllRuns(version, pick, manual.rewrites_bottom, running, has_conflict);
  }
  *has_conflict = !running.empty() || pick.claims->AreAny();
  return *has_conflict ? std::nullopt : PickCompaction(version, pick, running);
}

// Picks the next piece of a manual compaction of a range, which begins at `begin`. Options and
// version are those of this moment, because both may have changed during a wait.
std::optional<CompactionPlan> Compactions::PickPiece(const ManualCompaction& manual,
                                                     const std::optional<std::string>& begin,
                                                     bool* has_conflict) const {
  const Slice begin_key = begin.has_value() ? Slice(*begin) : Slice();
  const Slice end_key = manual.end.has_value() ? Slice(*manual.end) : Slice();
  RangePickOptions pick;
  pick.options = &manual.family->options();
  pick.claims = &manual.family->versions()->claims;
  pick.input_level = manual.input_level;
  pick.output_level = manual.output_level;
  pick.begin = begin.has_value() ? &begin_key : nullptr;
  pick.end = manual.end.has_value() ? &end_key : nullptr;
  pick.allow_trivial_move = manual.allow_trivial_move;
  const Version& version = *manual.family->current();
  if (manual.input_level == 0 && version.num_levels() > 1) {
    // Not deeper than the base level of this moment: otherwise older data could end up above newer.
    const CompactionNeeds needs = AssessCompaction(version, *pick.options, *pick.claims);
    pick.output_level = needs.base_level;
    assert(pick.output_level >= 1);
  }
  auto plan =
      pick.options->compaction_style == kCompactionStyleLevel
          ? PickRangeCompaction(version, pick, registry_->PlansLocked(manual.family), has_conflict)
          : PickStyle(manual, has_conflict);
  assert(!plan.has_value() || !*has_conflict);
  if (plan.has_value()) {
    plan->is_manual = true;
    if (!plan->is_deletion) plan->SetOutputPath(manual.output_path_id);
    // The call expects that every entry is filtered or trimmed, so tables are not just moved. The
    // universal style merges all runs at once: no later step would remove what is obsolete.
    if (HasCompactionFilter(*pick.options) || !manual.trim.empty() ||
        pick.options->compaction_style == kCompactionStyleUniversal) {
      plan->is_trivial_move = false;
    }
    if (!plan->is_deletion) plan->reason = CompactionReason::kManualCompaction;
  }
  return plan;
}

}  // namespace ashlar
