// SPDX-License-Identifier: Apache-2.0
//
// Which compaction is next, and beginning it.
#include "db/jobs/compactions.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Somebody waits for it: it counts, but is not held back.
std::unique_ptr<TaskLimiter::Token> TokenOfCall(const ColumnFamilyOptions& options) {
  TaskLimiter* const limiter = TaskLimiter::From(options.compaction_thread_limiter.get());
  return limiter == nullptr ? nullptr : limiter->Take(/*force=*/true);
}

// What is moved or dropped takes no space.
uint64_t BytesToReserve(const CompactionPlan& plan) {
  return plan.IsMerge() ? plan.InputBytes() : 0;
}

bool Reserve(const DbCore& core, const CompactionPlan& plan, SpaceReservation* reserved) {
  const uint64_t bytes = BytesToReserve(plan);
  if (bytes == 0 || reserved->Take(core.resources.space, bytes)) return true;
  RecordTick(core.services.statistics.get(), COMPACTION_CANCELLED);
  return false;
}

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

std::unique_ptr<BackgroundCompaction> Compactions::Begin(ColumnFamilyData* family,
                                                         CompactionPlan plan) {
  assert(!plan.inputs.empty());
  return std::make_unique<BackgroundCompaction>(core_, registry_, turns_, family, std::move(plan));
}

Compactions::Begun Compactions::BeginAutomaticLocked(ColumnFamilyData* family) {
  core_->mutex.AssertHeld();
  Begun begun;
  if (!MayBeginAutomatic(*family)) return begun;
  PickOptions pick = OptionsToPick(family);
  pick.may_serve_reads = family->is_read_compaction_wanted;
  std::optional<CompactionPlan> plan = PickNext(family, pick);
  if (!plan.has_value()) return begun;
  assert(!plan->is_manual && plan->InputFileCount() > 0);
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
  // Of what is left, now that this one has its inputs.
  begun.wants_more =
      AssessCompaction(*family->current(), family->options(), family->versions()->claims)
          .IsNeeded();
  return begun;
}

bool Compactions::MayBeginAutomatic(const ColumnFamilyData& family) const {
  return !family.is_dropped() && !family.options().disable_auto_compactions &&
         !core_->errors.BlocksWrites() && !manual_->HasExclusiveLocked(&family) &&
         !registry_->IsAbortedLocked(family);
}

PickOptions Compactions::OptionsToPick(ColumnFamilyData* family) const {
  PickOptions pick;
  pick.options = &family->options();
  pick.claims = &family->versions()->claims;
  pick.cursors = &family->versions()->compact_cursors;
  pick.now_seconds = core_->environment.NowSeconds();
  if (core_->environment.outputs.write_for_7_8) pick.oldest_unflushed = family->OldestUnflushed();
  return pick;
}

// What was marked or suggested and has failed before comes behind all else that there is to do.
std::optional<CompactionPlan> Compactions::PickNext(ColumnFamilyData* family,
                                                    const PickOptions& options) {
  const Version& version = *family->current();
  auto plan = PickCompaction(version, options, registry_->PlansLocked(family));
  // Looked into, and nothing pays. Behind a more urgent one, or one that cannot begin, it waits.
  if (!plan.has_value()) family->is_read_compaction_wanted = false;
  if (plan.has_value() && FailuresOf(*plan) == 0) return plan;
  if (Prefer(PickSuggested(family, options), &plan)) return plan;
  if (Prefer(PickDueTable(family, options), &plan)) return plan;
  Prefer(PickByAge(version, options, registry_->PlansLocked(family)), &plan);
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
    if (!is_over) down = PickDown(version, options, table, registry_->PlansLocked(family));
    if (down.has_value()) down->reason = CompactionReason::kFilesMarkedForCompaction;
    is_settled = Prefer(std::move(down), &plan);
    // It stays until it is gone: the job may not begin, or fail. Until then the table is taken.
    number = is_over ? suggested.erase(number) : std::next(number);
  }
  if (suggested.empty()) suggested_.erase(found);
  return plan;
}

bool Compactions::PicksLevel0Locked(ColumnFamilyData* family) const {
  if (!MayBeginAutomatic(*family)) return false;
  const auto plan =
      PickCompaction(*family->current(), OptionsToPick(family), registry_->PlansLocked(family));
  return plan.has_value() && plan->start_level == 0;
}

// A table that is gone, or has something below it by now, is left to the other compactions.
std::optional<CompactionPlan> Compactions::PickDueTable(ColumnFamilyData* family,
                                                        const PickOptions& options) {
  assert(options.claims == &family->versions()->claims);
  // The other styles leave tables as they are: what CompactFiles() wrote stays until it does again.
  const CompactionStyle style = options.options->compaction_style;
  const bool may_rewrite = style == kCompactionStyleLevel || style == kCompactionStyleUniversal;
  KeptForSnapshots& kept = family->versions()->kept_for_snapshots;
  for (const FileNumber number : kept.Due(core_->snapshots.SeenByAll())) {
    const LevelFiles table = family->current()->FindTable(number);
    if (table.files.empty() || table.level == 0) {  // somebody may have moved it up
      kept.Remove(number);
      continue;
    }
    if (!may_rewrite) continue;
    // Until it has settled, so that short-lived snapshots do not have it written again and again.
    const uint64_t delay = options.options->bottommost_file_compaction_delay;
    const uint64_t born = table.files.front()->meta.file_creation_time;
    if (delay != 0 && born != 0 && options.now_seconds < born + delay) continue;
    auto plan = PickRewrite(*family->current(), options, table, registry_->PlansLocked(family));
    if (!plan.has_value()) continue;  // until the job that is in the way has ended
    if (plan->is_bottommost) return plan;
    kept.Remove(number);
  }
  return std::nullopt;
}

// A table whose numbers are all 0 was written when nobody needed anything: its mark is of another
// kind. Tables of other levels are taken up because of the mark.
void Compactions::FindKeptForSnapshotsLocked() {
  assert(!registry_->IsRunningLocked(nullptr));  // else what they write would be noted twice
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

std::vector<ColumnFamilyData*> Compactions::FamiliesWithDueTablesLocked() {
  const SequenceNumber seen_by_all = core_->snapshots.SeenByAll();
  SequenceNumber next_due = KeptForSnapshots::kNever;
  std::vector<ColumnFamilyData*> due;
  for (ColumnFamilyData* family : core_->families.All()) {
    const KeptForSnapshots& kept = family->versions()->kept_for_snapshots;
    if (kept.HasDue(seen_by_all)) due.push_back(family);
    next_due = std::min(next_due, kept.NextDue(seen_by_all));
  }
  assert(next_due > seen_by_all);  // the alarm is for later
  registry_->SetNextTableDue(next_due);
  return due;
}

Status Compactions::RunPieces(const ManualCompaction& manual) {
  assert(manual.is_taken && !manual.is_done);  // by this thread
  std::optional<std::string> begin = manual.begin;
  do {
    std::unique_ptr<BackgroundCompaction> piece;
    {
      MutexLock lock(&core_->mutex);
      ASSIGN_OR_RETURN(piece, BeginPiece(manual, begin));
    }
    if (piece == nullptr) return Status::OK();
    RETURN_IF_ERROR(jobs_->Run(piece.get()));
    assert(piece->plan().is_manual);
    begin = piece->plan().next_begin;
  } while (begin.has_value());
  return Status::OK();
}

Result<std::unique_ptr<BackgroundCompaction>> Compactions::BeginPiece(
    const ManualCompaction& manual, const std::optional<std::string>& begin) {
  assert(manual.is_taken);
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
      return piece;
    }
    if (!has_conflict) return std::unique_ptr<BackgroundCompaction>();
    core_->conditions.jobs.Wait();  // for a compaction that has some of the files to end
  }
}

std::unique_ptr<BackgroundCompaction> Compactions::BeginMoveLocked(const ManualCompaction& manual,
                                                                   CompactionPlan plan) {
  assert(manual.is_taken && manual.is_exclusive && plan.is_trivial_move);
  auto job = Begin(manual.family, std::move(plan));
  job->SetManual(manual.stop, /*max_subcompactions=*/0);
  return job;
}

Result<std::unique_ptr<BackgroundCompaction>> Compactions::BeginFilesLocked(
    ManualCompaction* manual, const FilesToCompact& files) {
  ColumnFamilyData* const family = manual->family;
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  if (manual_->HasExclusiveLocked(family)) {
    return Status::Aborted("CompactFiles: an exclusive manual compaction has the column family");
  }
  const PickOptions pick = OptionsToPick(family);
  CompactionPlan plan;
  ASSIGN_OR_RETURN(plan,
                   PickFiles(*family->current(), pick, files, registry_->PlansLocked(family)));
  if (HasCompactionFilter(*pick.options)) plan.is_trivial_move = false;
  auto job = Begin(family, std::move(plan));
  job->SetManual(manual->stop, manual->max_subcompactions);
  job->SetToken(TokenOfCall(family->options()));
  manual_->AddLocked(manual);
  manual->is_taken = true;
  return job;
}

// FIFO drops what it would drop anyway.
std::optional<CompactionPlan> Compactions::PickStyle(const ManualCompaction& manual,
                                                     bool* has_conflict) const {
  const PickOptions pick = OptionsToPick(manual.family);
  const Version& version = *manual.family->current();
  const CompactionRegistry::Plans running = registry_->PlansLocked(manual.family);
  if (pick.options->compaction_style == kCompactionStyleUniversal) {
    return PickAllRuns(version, pick, manual.rewrites_bottom, running, has_conflict);
  }
  *has_conflict = !running.empty();
  return PickCompaction(version, pick, running);
}

// With the options and the tree of now: others came, perhaps, during the wait.
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
    // Not deeper than what is there now: older data would come to lie above newer.
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
    // A call that moves things expects the filter to see them.
    if (HasCompactionFilter(*pick.options)) plan->is_trivial_move = false;
    if (!plan->is_deletion) plan->reason = CompactionReason::kManualCompaction;
  }
  return plan;
}

}  // namespace ashlar
