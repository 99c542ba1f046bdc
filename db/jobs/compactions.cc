// SPDX-License-Identifier: Apache-2.0
//
// What may run next, and running it.
#include "db/jobs/compactions.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "env/info_log.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
void Compactions::Remove(BackgroundCompaction* job) {
  const auto found = std::find(running_.begin(), running_.end(), job);
  assert(found != running_.end());
  running_.erase(found);
}

Compactions::Plans Compactions::PlansUnderWay(const ColumnFamilyData* family) const {
  assert(family != nullptr);
  Plans plans;
  for (const BackgroundCompaction* job : running_) {
    if (job->family() == family) plans.push_back(&job->plan());
  }
  for (const auto& [holder, plan] : reserved_) {
    if (holder == family) plans.push_back(plan);
  }
  return plans;
}

void Compactions::ReserveLocked(const ColumnFamilyData* family, const CompactionPlan* plan) {
  assert(plan->output_level > 0 && plan->InputFileCount() > 0);
  reserved_.emplace_back(family, plan);
}

void Compactions::ReleaseLocked(const CompactionPlan* plan) {
  const size_t released =
      std::erase_if(reserved_, [plan](const auto& entry) { return entry.second == plan; });
  assert(released == 1);
  static_cast<void>(released);
}

Compactions::Outcome Compactions::RunAutomatic(ColumnFamilyData* family,
                                               const std::function<void()>& wants_more) {
  assert(family != nullptr && !InEpoch());
  std::unique_ptr<BackgroundCompaction> job;
  Refusal refusal;
  {
    MutexLock lock(&core_->mutex);
    assert(family->starting_compactions > 0);
    family->starting_compactions--;
    job = BeginAutomatic(family, &refusal);
    if (job == nullptr) core_->conditions.JobEnded();  // somebody may wait for the room it makes
    // Of what is left, now that this one has its inputs.
    const bool is_needed = job != nullptr && AssessCompaction(*family->current(), family->options(),
                                                              family->versions()->claims)
                                                 .IsNeeded();
    if (is_needed) wants_more();
  }
  if (refusal.bytes > 0) {
    Warn(core_->services.info_log,
         "no room for a compaction of %llu bytes below the limit of space",
         static_cast<unsigned long long>(refusal.bytes));
    core_->services.shortage->OnNoRoomForCompaction(refusal.bytes);
  }
  if (refusal.is_at_task_limit) return Outcome::kHeldBack;
  if (job == nullptr) return Outcome::kNothing;
  const Status status = jobs_->Run(job.get());
  if (status.ok()) return Outcome::kMore;
  if (job->plan().reason == CompactionReason::kReadTriggered) {
    MutexLock lock(&core_->mutex);
    family->is_read_compaction_wanted = true;
  }
  return BackgroundCompaction::IsStopped(status) ? Outcome::kNothing : Outcome::kFailed;
}

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

}  // namespace

std::unique_ptr<BackgroundCompaction> Compactions::BeginAutomatic(ColumnFamilyData* family,
                                                                  Refusal* refusal) {
  if (!MayBeginAutomatic(*family)) return nullptr;
  PickOptions pick = OptionsToPick(family);
  pick.may_serve_reads = family->is_read_compaction_wanted;
  std::optional<CompactionPlan> plan = PickNext(family, pick);
  if (!plan.has_value()) return nullptr;
  assert(!plan->is_manual && plan->InputFileCount() > 0);
  std::unique_ptr<TaskLimiter::Token> token;
  TaskLimiter* const limiter = TaskLimiter::From(pick.options->compaction_thread_limiter.get());
  if (limiter != nullptr && (token = limiter->Take(/*force=*/false)) == nullptr) {
    refusal->is_at_task_limit = true;
    return nullptr;
  }
  SpaceReservation reserved;
  if (!Reserve(*core_, *plan, &reserved)) {
    refusal->bytes = BytesToReserve(*plan);
    refusal->token = std::move(token);
    return nullptr;
  }
  if (plan->reason == CompactionReason::kReadTriggered) family->is_read_compaction_wanted = false;
  auto job = std::make_unique<BackgroundCompaction>(core_, this, family, std::move(*plan));
  job->SetToken(std::move(token));
  job->SetReserved(std::move(reserved));
  return job;
}

bool Compactions::MayBeginAutomatic(const ColumnFamilyData& family) const {
  return !family.is_dropped() && !family.options().disable_auto_compactions &&
         !core_->errors.BlocksWrites() && !HasExclusiveManual(&family) && !IsAbortedLocked(family);
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

bool Compactions::PicksLevel0Locked(ColumnFamilyData* family) const {
  if (!MayBeginAutomatic(*family)) return false;
  const auto plan =
      PickCompaction(*family->current(), OptionsToPick(family), PlansUnderWay(family));
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
    auto plan = PickRewrite(*family->current(), options, table, PlansUnderWay(family));
    if (!plan.has_value()) continue;  // until the job that is in the way has ended
    if (plan->is_bottommost) return plan;
    kept.Remove(number);
  }
  return std::nullopt;
}

// A table whose numbers are all 0 was written when nobody needed anything: its mark is of another
// kind. Tables of other levels are taken up because of the mark.
void Compactions::FindKeptForSnapshotsLocked() {
  assert(running_.empty());  // else what they write would be noted twice
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
  next_table_due_.store(next_due, std::memory_order_relaxed);
  return due;
}

void Compactions::NoteTableDue(SequenceNumber due) {
  if (due < next_table_due()) next_table_due_.store(due, std::memory_order_relaxed);
}

bool Compactions::HasExclusiveManual(const ColumnFamilyData* family) const {
  return std::any_of(manual_.begin(), manual_.end(), [family](const ManualCompaction* manual) {
    return manual->family == family && manual->is_exclusive && !manual->is_done;
  });
}

// An abort that came since the call was admitted holds for it too.
void Compactions::AddManualLocked(ManualCompaction* manual) {
  assert(!manual->is_taken && !manual->is_done);
  assert(manual->input_level <= manual->output_level);
  if (IsAbortedLocked(*manual->family)) {
    manual->is_aborted.store(true, std::memory_order_release);
  }
  manual_.push_back(manual);
}

void Compactions::RemoveManualLocked(ManualCompaction* manual) {
  assert(!manual->is_taken || manual->is_done);  // else a thread works on it
  const auto found = std::find(manual_.begin(), manual_.end(), manual);
  assert(found != manual_.end());
  manual_.erase(found);
}

// An exclusive one waits until the family is quiet; another one only for exclusive ones before it.
bool Compactions::CanTakeManual(const ManualCompaction& manual) const {
  if (manual.is_taken || manual.is_done) return false;
  for (const ManualCompaction* other : manual_) {
    if (other == &manual) break;
    if (other->family == manual.family && !other->is_done &&
        (other->is_exclusive || manual.is_exclusive)) {
      return false;
    }
  }
  return !manual.is_exclusive || PlansUnderWay(manual.family).empty();
}

int Compactions::WaitingManualLocked() const {
  int waiting = 0;
  for (const ManualCompaction* manual : manual_) {
    waiting += !manual->is_of_caller && CanTakeManual(*manual) ? 1 : 0;
  }
  return waiting;
}

ManualCompaction* Compactions::TakeManual() {
  MutexLock lock(&core_->mutex);
  for (ManualCompaction* manual : manual_) {
    if (manual->is_of_caller || !CanTakeManual(*manual)) continue;
    manual->is_taken = true;
    return manual;
  }
  return nullptr;
}

ManualCompaction* Compactions::RunManual() {
  ManualCompaction* const manual = TakeManual();
  if (manual != nullptr) manual->status = RunPieces(*manual);
  return manual;
}

void Compactions::FinishManual(ManualCompaction* manual) {
  MutexLock lock(&core_->mutex);
  assert(manual->is_taken && !manual->is_done);
  manual->is_done = true;
  core_->conditions.ManualChanged();
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
      auto piece =
          std::make_unique<BackgroundCompaction>(core_, this, manual.family, std::move(*plan));
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

Status Compactions::AwaitTurnLocked(ManualCompaction* manual) {
  assert(manual->is_of_caller);
  // Nobody signals when the caller sets its own flag.
  constexpr uint64_t kLookAgainMicros = 50 * 1000;
  while (!CanTakeManual(*manual)) {
    RETURN_IF_ERROR(manual->stop.Check());
    if (manual->stop.cancelled_by_caller == nullptr) {
      core_->conditions.jobs.Wait();
    } else {
      core_->conditions.jobs.WaitFor(kLookAgainMicros);
    }
  }
  manual->is_taken = true;
  return manual->family->is_dropped() ? Status::ColumnFamilyDropped() : manual->stop.Check();
}

std::unique_ptr<BackgroundCompaction> Compactions::BeginMoveLocked(const ManualCompaction& manual,
                                                                   CompactionPlan plan) {
  assert(manual.is_taken && manual.is_exclusive && plan.is_trivial_move);
  auto job = std::make_unique<BackgroundCompaction>(core_, this, manual.family, std::move(plan));
  job->SetManual(manual.stop, /*max_subcompactions=*/0);
  return job;
}

Result<std::unique_ptr<BackgroundCompaction>> Compactions::BeginFilesLocked(
    ManualCompaction* manual, const FilesToCompact& files) {
  ColumnFamilyData* const family = manual->family;
  if (family->is_dropped()) return Status::ColumnFamilyDropped();
  if (HasExclusiveManual(family)) {
    return Status::Aborted("CompactFiles: an exclusive manual compaction has the column family");
  }
  const PickOptions pick = OptionsToPick(family);
  CompactionPlan plan;
  ASSIGN_OR_RETURN(plan, PickFiles(*family->current(), pick, files, PlansUnderWay(family)));
  if (HasCompactionFilter(*pick.options)) plan.is_trivial_move = false;
  auto job = std::make_unique<BackgroundCompaction>(core_, this, family, std::move(plan));
  job->SetManual(manual->stop, manual->max_subcompactions);
  job->SetToken(TokenOfCall(family->options()));
  AddManualLocked(manual);
  manual->is_taken = true;
  return job;
}

// FIFO drops what it would drop anyway.
std::optional<CompactionPlan> Compactions::PickStyle(const ManualCompaction& manual,
                                                     bool* has_conflict) const {
  const PickOptions pick = OptionsToPick(manual.family);
  const Version& version = *manual.family->current();
  const Plans running = PlansUnderWay(manual.family);
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
  auto plan = pick.options->compaction_style == kCompactionStyleLevel
                  ? PickRangeCompaction(version, pick, PlansUnderWay(manual.family), has_conflict)
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

void Compactions::AbortLocked(const ColumnFamilyData* family) {
  (family == nullptr ? abort_all_count_ : abort_counts_[family->id()])++;
  for (BackgroundCompaction* job : running_) {
    if (family == nullptr || job->family() == family) job->Abort();
  }
  for (ManualCompaction* manual : manual_) {
    if (family != nullptr && manual->family != family) continue;
    manual->is_aborted.store(true, std::memory_order_release);
  }
  core_->conditions.WorkHeld();
}

void Compactions::ResumeLocked(const ColumnFamilyData* family) {
  if (family == nullptr) {
    if (abort_all_count_ > 0) abort_all_count_--;
    return;
  }
  const auto count = abort_counts_.find(family->id());
  assert(count == abort_counts_.end() || count->second > 0);
  if (count != abort_counts_.end() && --count->second == 0) abort_counts_.erase(count);
}

uint64_t Compactions::AbortCountLocked(const ColumnFamilyData& family) const {
  const auto count = abort_counts_.find(family.id());
  return static_cast<uint64_t>(abort_all_count_ +
                               (count == abort_counts_.end() ? 0 : count->second));
}

uint64_t Compactions::RunsUnderWayLocked() const {
  uint64_t runs = 0;
  for (const BackgroundCompaction* job : running_) {
    for (const LevelFiles& level : job->plan().inputs) {
      runs += level.level == 0 ? level.files.size() : 1;
    }
  }
  return runs;
}

bool Compactions::IsBusyLocked(const ColumnFamilyData* family) const {
  for (const BackgroundCompaction* job : running_) {
    if (family == nullptr || job->family() == family) return true;
  }
  for (const ManualCompaction* manual : manual_) {
    if (family == nullptr || manual->family == family) return true;
  }
  return false;
}

std::string Compactions::DebugStringLocked() const {
  std::string text;
  for (const BackgroundCompaction* job : running_) {
    StrAppend(&text, "running in ", job->family()->name(), ": ", job->plan().DebugString(), "\n");
  }
  for (const ManualCompaction* manual : manual_) {
    StrAppend(&text, manual->is_taken ? "taken" : "waiting", " for a call in ",
              manual->family->name(), ": L", manual->input_level, " -> L", manual->output_level,
              manual->is_exclusive ? ", exclusive\n" : "\n");
  }
  if (abort_all_count_ > 0) StrAppend(&text, "aborted in all families: ", abort_all_count_, "\n");
  for (const auto& [family, count] : abort_counts_) {
    StrAppend(&text, "aborted in family ", family, ": ", count, "\n");
  }
  return text;
}

}  // namespace ashlar
