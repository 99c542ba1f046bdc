// SPDX-License-Identifier: Apache-2.0
//
// Two queues of families, flushes and compactions. A thread of the environment takes the front of
// its queue, runs one job and asks again.
#include "db/jobs/scheduler.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "db/jobs/background_flush.h"
#include "db/jobs/short_jobs.h"
#include "db/options/options_check.h"
#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "env/info_log.h"
#include "util/text/str_cat.h"

namespace ashlar {

Scheduler::Scheduler(DbCore* core, const Parts& parts)
    : core_(core),
      runner_(parts.runner),
      registry_(parts.registry),
      manual_(parts.manual),
      turns_(parts.turns),
      compactions_(parts.compactions) {
  turns_->SetRun([this] { RunLevel0(); });
}

Scheduler::~Scheduler() {
  MutexLock lock(&core_->mutex);
  assert(core_->jobs.flushes() + core_->jobs.compactions() == 0);
  assert(scheduled_flushes_ + scheduled_compactions_ == 0);
  assert(!is_purge_scheduled_ && running_purges_ == 0);
}

void Scheduler::StartLocked() {
  const BackgroundJobLimits limits = GetBackgroundJobLimits(*core_->options);
  // One more than flushes: for deletions.
  core_->environment.env->IncBackgroundThreadsIfNeeded(limits.flushes + 1, Env::Priority::HIGH);
  // It makes the next log, and room in the log, ahead of the writers.
  core_->environment.env->IncBackgroundThreadsIfNeeded(1, Env::Priority::USER);
  core_->environment.env->IncBackgroundThreadsIfNeeded(limits.compactions, Env::Priority::LOW);
  assert(limits.flushes > 0 && limits.compactions > 0);
  if (!is_started_) compactions_->FindKeptForSnapshotsLocked();
  is_started_ = true;
  RequestDueTablesLocked();
  DispatchLocked();
}

void Scheduler::Stop() {
  {
    MutexLock lock(&core_->mutex);
    is_stopping_ = true;
    core_->conditions.AllStops();
  }
  // Jobs that the environment has not started yet never will.
  const int unscheduled_flushes = UnScheduleShortJobs(core_->environment.env, FlushTag());
  const int unscheduled_compactions = core_->environment.env->UnSchedule(this, Env::Priority::LOW);
  const int unscheduled_purges = UnScheduleShortJobs(core_->environment.env, PurgeTag());
  std::deque<FamilyRef> flushes, compactions;  // let go of without the mutex
  {
    MutexLock lock(&core_->mutex);
    scheduled_flushes_ -= unscheduled_flushes;
    scheduled_compactions_ -= unscheduled_compactions;
    if (unscheduled_purges > 0) is_purge_scheduled_ = false;
    assert(scheduled_flushes_ >= 0 && scheduled_compactions_ >= 0);
    while (UnfinishedJobsLocked() > 0) core_->conditions.jobs.Wait();
    flushes = flush_queue_.TakeAll();
    compactions = compaction_queue_.TakeAll();
  }
  ForgetLimiters();
}

// No job runs any more that might begin to wait.
void Scheduler::ForgetLimiters() {
  std::set<std::shared_ptr<ConcurrentTaskLimiter>> awaited;
  {
    MutexLock lock(&core_->mutex);
    assert(is_stopping_);
    awaited.swap(awaited_limiters_);
  }
  for (const auto& limiter : awaited) {
    if (TaskLimiter* const known = TaskLimiter::From(limiter.get())) known->Forget(this);
  }
}

void Scheduler::RequestFlushLocked(ColumnFamilyData* family) {
  core_->mutex.AssertHeld();
  if (!is_stopping_) flush_queue_.Add(family);
  DispatchLocked();
}

void Scheduler::RequestCompactionLocked(ColumnFamilyData* family) {
  core_->mutex.AssertHeld();
  if (!is_stopping_) compaction_queue_.Add(family);
  DispatchLocked();
}

void Scheduler::RequestDueTablesLocked() {
  for (ColumnFamilyData* family : compactions_->FamiliesWithDueTablesLocked()) {
    RequestCompactionLocked(family);
  }
}

bool Scheduler::MayStart() const {
  return is_started_ && !is_stopping_ && pause_count_ == 0 &&
         !core_->shutdown.is_background_cancelled();
}

// A job is counted when the environment has taken it; it begins by waiting for the mutex.
void Scheduler::DispatchLocked() {
  assert(scheduled_flushes_ >= 0 && scheduled_compactions_ >= 0);
  if (!MayStart()) return;
  const BackgroundJobLimits limits = GetBackgroundJobLimits(*core_->options);
  while (scheduled_flushes_ < flush_queue_.Count() &&
         scheduled_flushes_ + core_->jobs.flushes() < limits.flushes) {
    ScheduleShortJob(core_->environment.env, &Scheduler::FlushMain, this, FlushTag());
    scheduled_flushes_++;
  }
  if (!MayStartCompaction()) return;
  const int automatic = MayStartAutomatic() ? compaction_queue_.Count() : 0;
  while (scheduled_compactions_ < automatic + manual_->WaitingLocked() &&
         scheduled_compactions_ + core_->jobs.compactions() < limits.compactions) {
    core_->environment.env->Schedule(&Scheduler::CompactionMain, this, Env::Priority::LOW, this);
    scheduled_compactions_++;
  }
  turns_->SetWaiting(core_->jobs.compactions() >= limits.compactions && automatic > 0 &&
                     std::any_of(compaction_queue_.families().begin(),
                                 compaction_queue_.families().end(),
                                 [this](const FamilyRef& family)
                                     REQUIRES(db_mutex) { return IsLevel0Urgent(family.get()); }));
}

bool Scheduler::IsLevel0Urgent(ColumnFamilyData* family) const {
  return !family->is_dropped() && IsLevel0Behind(DebtOf(family), family->options());
}

void Scheduler::RequestPurge() {
  MutexLock lock(&core_->mutex);
  if (!is_started_ || is_stopping_ || is_purge_scheduled_) return;  // closing purges too
  is_purge_scheduled_ = true;
  ScheduleShortJob(core_->environment.env, &Scheduler::PurgeMain, this, PurgeTag());
}

// What becomes obsolete while it runs is for the next one.
void Scheduler::RunPurge() {
  {
    MutexLock lock(&core_->mutex);
    assert(is_purge_scheduled_);
    is_purge_scheduled_ = false;
    running_purges_++;
  }
  core_->services.cleaner->DeleteObsoleteFiles();
  MutexLock lock(&core_->mutex);
  assert(running_purges_ > 0);
  running_purges_--;
  core_->conditions.JobEnded();
}

void Scheduler::PurgeMain(void* scheduler) { static_cast<Scheduler*>(scheduler)->RunPurge(); }
void Scheduler::FlushMain(void* scheduler) { static_cast<Scheduler*>(scheduler)->RunFlush(); }
void Scheduler::CompactionMain(void* scheduler) {
  static_cast<Scheduler*>(scheduler)->RunCompaction();
}

void Scheduler::RunFlush() {
  const JobThread mark(core_, JobThread::Job::kFlush);
  FamilyRef family;
  std::optional<FlushGroup> flushes;
  {
    MutexLock lock(&core_->mutex);
    assert(scheduled_flushes_ > 0);
    scheduled_flushes_--;
    core_->jobs.FlushBegins();
    NotifyPressureLocked();
    if (MayStart()) family = flush_queue_.TakeFront();
    if (family) BeginFlushLocked(family, &flushes);
  }
  const bool has_begun = flushes.has_value();
  const bool is_flushed = has_begun && runner_->Run(&*flushes).ok();
  if (has_begun) {
    MutexLock lock(&core_->mutex);
    if (is_flushed) {
      for (ColumnFamilyData* each : flushes->FamiliesWithTables()) RequestCompactionLocked(each);
    }
    RequestWaitingFlushesLocked();
  }
  const bool was_queued = bool{family};
  flushes.reset();
  family.Reset();  // the last reference makes its tables obsolete
  if (was_queued) core_->services.cleaner->DeleteObsoleteFiles();
  MutexLock lock(&core_->mutex);
  core_->jobs.FlushEnds(/*has_settled=*/has_begun);
  DispatchLocked();
  NotifyPressureLocked();
  core_->conditions.JobEnded();
}

// While writes are blocked neither is wanted: a recovery flushes.
void Scheduler::BeginFlushLocked(const FamilyRef& family, std::optional<FlushGroup>* flushes) {
  if (BackgroundFlush::IsWanted(*core_, *family)) {
    std::vector<FamilyRef> alone;
    alone.emplace_back(family.get());
    flushes->emplace(core_, alone, FlushScope::kAlone);
  } else if (FlushGroup::IsWanted(*core_)) {
    flushes->emplace(core_, FamiliesThatAwaitOthersLocked(), FlushScope::kTogether);
  }
  assert(!flushes->has_value() || !(*flushes)->is_empty());
}

std::vector<FamilyRef> Scheduler::FamiliesThatAwaitOthersLocked() const {
  std::vector<FamilyRef> families;
  for (ColumnFamilyData* family : core_->families.All()) {
    if (!family->is_dropped() && family->AwaitsOthers()) families.emplace_back(family);
  }
  return families;
}

// Memtables sealed during a flush, and families that are to be flushed together with one of it.
void Scheduler::RequestWaitingFlushesLocked() {
  for (ColumnFamilyData* family : core_->families.All()) {
    const bool may_begin = BackgroundFlush::IsWanted(*core_, *family) ||
                           (family->AwaitsOthers() && FlushGroup::IsWanted(*core_));
    if (may_begin) RequestFlushLocked(family);
  }
}

void Scheduler::RunCompaction() {
  const JobThread mark(core_, JobThread::Job::kCompaction);
  ManualCompaction* manual = nullptr;
  FamilyRef family;
  Compactions::Begun begun;
  {
    MutexLock lock(&core_->mutex);
    assert(scheduled_compactions_ > 0);
    scheduled_compactions_--;
    core_->jobs.CompactionBegins();
    NotifyPressureLocked();
    if (MayStartCompaction()) manual = manual_->TakeLocked();
    if (manual == nullptr && MayStartAutomatic()) family = compaction_queue_.TakeFront();
    if (family) begun = BeginCompactionLocked(family.get());
  }
  if (manual != nullptr) {
    manual->status = compactions_->RunPieces(*manual);
    core_->services.cleaner->DeleteObsoleteFiles();
  }
  if (family) RunBegun(std::move(family), std::move(begun));
  MutexLock lock(&core_->mutex);
  if (manual != nullptr) manual_->FinishLocked(manual);
  CompactionEndsLocked();
}

void Scheduler::CompactionEndsLocked() {
  core_->jobs.CompactionEnds();
  DispatchLocked();
  NotifyPressureLocked();
  core_->conditions.JobEnded();
}

Status Scheduler::CheckMayStartLocked() const {
  return MayStartCompaction() ? Status::OK() : Status::Aborted("no compaction may begin now");
}

void Scheduler::JobOfCallBeginsLocked() {
  assert(MayStartCompaction());
  core_->jobs.CompactionBegins();
  NotifyPressureLocked();
}

void Scheduler::JobOfCallEndsLocked(ColumnFamilyData* family) {
  RequestCompactionLocked(family);
  CompactionEndsLocked();
}

Status Scheduler::RunRecoveryFlushLocked(FlushGroup* flushes) {
  Status status = is_stopping_ ? Status::ShutdownInProgress() : Status::OK();
  core_->jobs.FlushBegins();
  if (!status.ok()) {
    flushes->Finish(status);
  } else {
    NotifyPressureLocked();
    MutexUnlock unlock(&core_->mutex);
    const JobThread mark(core_, JobThread::Job::kFlush);
    status = runner_->Run(flushes);
  }
  core_->jobs.FlushEnds(/*has_settled=*/true);
  DispatchLocked();
  NotifyPressureLocked();
  core_->conditions.JobEnded();
  return status;
}

bool Scheduler::RecoveryBeginsLocked() {
  if (!MayStart()) return false;
  running_recoveries_++;
  return true;
}

void Scheduler::RecoveryEndsLocked() {
  assert(running_recoveries_ > 0);
  running_recoveries_--;
  core_->conditions.JobEnded();
}

// Compactions of all levels share the threads of low priority, all of them at any time.
BackgroundJobPressure Scheduler::PressureLocked() const {
  BackgroundJobPressure pressure;
  pressure.flush_scheduled = scheduled_flushes_;
  pressure.flush_running = core_->jobs.flushes();
  pressure.compaction_scheduled = pressure.compaction_low_scheduled = scheduled_compactions_;
  pressure.compaction_running = pressure.compaction_low_running = core_->jobs.compactions();
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family->is_dropped()) continue;
    pressure.write_stall_proximity_pct =
        std::max(pressure.write_stall_proximity_pct,
                 StallProximityPercent(DebtOf(family), family->options()));
  }
  return pressure;
}

void Scheduler::NotifyPressureLocked() {
  assert(core_->jobs.flushes() >= 0 && core_->jobs.compactions() >= 0);
  if (core_->services.listeners.empty() || is_notifying_pressure_) return;
  is_notifying_pressure_ = true;
  for (BackgroundJobPressure now = PressureLocked(); now != notified_pressure_;
       now = PressureLocked()) {
    notified_pressure_ = now;
    MutexUnlock unlock(&core_->mutex);
    ForEachListener(core_->services, [&](EventListener* listener) {
      listener->OnBackgroundJobPressureChanged(core_->services.db, now);
    });
  }
  is_notifying_pressure_ = false;
}

Compactions::Begun Scheduler::BeginCompactionLocked(ColumnFamilyData* family) {
  Compactions::Begun begun = compactions_->BeginAutomaticLocked(family);
  if (begun.job == nullptr) core_->conditions.JobEnded();  // a flush may wait for the room it makes
  if (begun.wants_more) RequestCompactionLocked(family);
  return begun;
}

void Scheduler::RunBegun(FamilyRef family, Compactions::Begun begun) {
  assert(family);
  if (begun.refused_bytes > 0) {
    Warn(core_->services.info_log,
         "no room for a compaction of %llu bytes below the limit of space",
         static_cast<unsigned long long>(begun.refused_bytes));
    core_->services.shortage->OnNoRoomForCompaction(begun.refused_bytes);
  }
  begun.token.reset();
  if (begun.is_held_back) AwaitLimiter(family.get());
  if (begun.job != nullptr) {
    const Status status = runner_->Run(begun.job.get());
    begun.job.reset();
    if (status.ok() || !BackgroundCompaction::IsStopped(status)) {
      MutexLock lock(&core_->mutex);
      if (!status.ok()) AwaitRetryLocked();
      RequestCompactionLocked(family.get());
    }
  }
  family.Reset();  // the last reference makes its tables obsolete
  core_->services.cleaner->DeleteObsoleteFiles();
}

void Scheduler::RunLevel0() {
  FamilyRef family;
  Compactions::Begun begun;
  {
    MutexLock lock(&core_->mutex);
    turns_->SetWaiting(false);  // until the next job is asked for or ends
    if (!MayStartAutomatic()) return;
    family = compaction_queue_.TakeFirst([this](ColumnFamilyData* waiting) REQUIRES(db_mutex) {
      return IsLevel0Urgent(waiting) && compactions_->PicksLevel0Locked(waiting);
    });
    if (!family) return;
    begun = BeginCompactionLocked(family.get());
  }
  RunBegun(std::move(family), std::move(begun));
}

void Scheduler::AwaitLimiter(ColumnFamilyData* family) {
  std::shared_ptr<ConcurrentTaskLimiter> limiter;
  {
    MutexLock lock(&core_->mutex);
    limiter = family->options().compaction_thread_limiter;
    if (is_stopping_) return;
    held_back_.insert(family->id());
    if (limiter != nullptr) awaited_limiters_.insert(limiter);
  }
  TaskLimiter* const known = TaskLimiter::From(limiter.get());
  if (known == nullptr || !known->Await(this)) OnRoom();
}

// By a thread of any database. Stop() waits for it before it goes on.
void Scheduler::OnRoom() {
  MutexLock lock(&core_->mutex);
  for (const uint32_t id : std::exchange(held_back_, {})) {
    ColumnFamilyData* const family = core_->families.Find(id);
    if (family != nullptr) RequestCompactionLocked(family);
  }
}

// A failed compaction is tried again after a while, and at once when the error is resumed from:
// writers may be stopped until it succeeds.
void Scheduler::AwaitRetryLocked() {
  assert(core_->jobs.compactions() > 0);  // the one that failed, still counted
  constexpr uint64_t kRetryMicros = 200'000;
  constexpr int kMostSignals = 100;                  // of other work, until the wait is given up
  const bool has_error = !core_->errors.Get().ok();  // else a listener took it away
  for (int i = 0; i < kMostSignals && MayStartAutomatic(); i++) {
    if (has_error && core_->errors.Get().ok()) return;
    if (core_->conditions.jobs.WaitFor(kRetryMicros)) return;
  }
}

bool Scheduler::WillMakeRoomLocked(ColumnFamilyData* family, size_t more_tables) const {
  assert(more_tables > 0);
  if (family->is_dropped() || !MayStartAutomatic()) return false;
  if (!core_->errors.Get().ok())
    return false;  // the one that would may have failed, and fail again
  if (registry_->IsAbortedLocked(*family)) return false;
  WriteDebt debt = DebtOf(family);
  debt.level0_files += static_cast<int>(more_tables);
  const StallDecision stall = DecideStall(debt, family->options());
  if (stall.cause != WriteStallCause::kL0FileCountLimit) return false;
  const Version& version = *family->current();
  const size_t idle = family->versions()->claims.IdleOn(version, 0).files;
  return compaction_queue_.Has(*family) || idle < version.files(0).size();
}

Status Scheduler::Pause() {
  if (JobThread::HoldsUpAny(core_)) return JobThread::OwnJob("PauseBackgroundWork");
  MutexLock lock(&core_->mutex);
  pause_count_++;
  core_->conditions.WorkHeld();
  while (core_->jobs.flushes() + core_->jobs.compactions() + running_recoveries_ > 0) {
    core_->conditions.jobs.Wait();
  }
  return Status::OK();
}

bool Scheduler::Continue() {
  MutexLock lock(&core_->mutex);
  if (pause_count_ == 0) return false;
  pause_count_--;
  DispatchLocked();
  return true;
}

// Those that are scheduled wait in the queue too, until a thread takes them.
uint64_t Scheduler::UnscheduledCompactionsLocked() const {
  return static_cast<uint64_t>(std::max(compaction_queue_.Count() - scheduled_compactions_, 0));
}

namespace {

std::string QueueText(const char* kind, const FamilyQueue& queue, int scheduled, int running)
    REQUIRES(db_mutex) {
  std::string text = StrCat(kind, ": scheduled ", scheduled, ", running ", running, ", queued");
  for (const FamilyRef& family : queue.families()) StrAppend(&text, " ", family->name());
  return text + (queue.IsEmpty() ? " none\n" : "\n");
}

}  // namespace

std::string Scheduler::DebugStringLocked() const {
  const bool is_cancelled = core_->shutdown.is_background_cancelled();
  return StrCat(is_cancelled || is_stopping_ ? "cancelled"
                : pause_count_ > 0           ? "paused"
                : is_started_                ? "started"
                                             : "not started",
                "\n", QueueText("flushes", flush_queue_, scheduled_flushes_, core_->jobs.flushes()),
                QueueText("compactions", compaction_queue_, scheduled_compactions_,
                          core_->jobs.compactions()),
                registry_->DebugStringLocked(), manual_->DebugStringLocked());
}

int Scheduler::UnfinishedJobsLocked() const {
  return scheduled_flushes_ + core_->jobs.flushes() + scheduled_compactions_ +
         core_->jobs.compactions() + (is_purge_scheduled_ ? 1 : 0) + running_purges_ +
         (is_notifying_pressure_ ? 1 : 0);
}

bool Scheduler::IsIdleLocked() const {
  for (const uint32_t id : held_back_) {
    if (core_->families.Find(id) != nullptr) return false;
  }
  return flush_queue_.IsEmpty() && compaction_queue_.IsEmpty() && UnfinishedJobsLocked() == 0 &&
         manual_->IsEmptyLocked();
}

Status Scheduler::AwaitIdle(uint64_t timeout_micros, bool abort_on_pause, bool minds_error) {
  const uint64_t deadline =
      timeout_micros > 0 ? core_->environment.NowMicros() + timeout_micros : UINT64_MAX;
  MutexLock lock(&core_->mutex);
  while (true) {
    // Before idleness is asked for: where nothing may run, there is nothing to wait for either.
    if (core_->shutdown.is_background_cancelled()) {
      return Status::ShutdownInProgress();
    }
    const Status error = core_->errors.Get();
    if (!error.ok()) return minds_error ? error : Status::OK();
    const bool is_held = is_paused() || registry_->AreAllAbortedLocked();
    if (is_held && abort_on_pause) return Status::Aborted();
    if (IsIdleLocked()) return Status::OK();
    if (JobThread::HoldsUpAny(core_)) return JobThread::OwnJob("WaitForCompact");
    const uint64_t now = core_->environment.NowMicros();
    if (now >= deadline) return Status::TimedOut();
    if (deadline == UINT64_MAX) {
      core_->conditions.jobs.Wait();
    } else {
      core_->conditions.jobs.WaitFor(deadline - now);
    }
  }
}

}  // namespace ashlar
