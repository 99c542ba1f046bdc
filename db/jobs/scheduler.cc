// SPDX-License-Identifier: Apache-2.0
//
// There are two queues of families, one for flushes and one for compactions. A thread of the Env
// takes the first family of its queue, runs one job, and hands out threads for what is queued then.
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
  assert(core != nullptr);
  turns_->SetRun([this] { RunLevel0(); });
}

Scheduler::~Scheduler() {
  MutexLock lock(&core_->mutex);
  assert(core_->jobs.flushes() + core_->jobs.compactions() == 0);
  assert(scheduled_flushes_ + scheduled_compactions_ == 0);
  assert(!is_purge_scheduled_);
  assert(running_purges_ == 0);
}

// Called once the database is open, and again when SetDBOptions() changes the number of jobs.
void Scheduler::StartLocked() {
  const BackgroundJobLimits limits = GetBackgroundJobLimits(*core_->options);
  // One more thread than flushes, for deletions.
  core_->environment.env->IncBackgroundThreadsIfNeeded(limits.flushes + 1, Env::Priority::HIGH);
  // This thread creates the next log, and space in the log, ahead of the writers.
  core_->environment.env->IncBackgroundThreadsIfNeeded(1, Env::Priority::USER);
  core_->environment.env->IncBackgroundThreadsIfNeeded(limits.compactions, Env::Priority::LOW);
  assert(limits.flushes > 0);
  assert(limits.compactions > 0);
  if (!is_started_) compactions_->FindKeptForSnapshotsLocked();
  is_started_ = true;
  RequestDueTablesLocked();
  DispatchLocked();
}

// Ends all background work and waits for it. May be called several times, by different threads.
void Scheduler::Stop() {
  {
    MutexLock lock(&core_->mutex);
    is_stopping_ = true;
    core_->conditions.AllStops();
  }
  // Jobs that the Env has not started yet are removed.
  const int unscheduled_flushes = UnScheduleShortJobs(core_->environment.env, FlushTag());
  const int unscheduled_compactions = core_->environment.env->UnSchedule(this, Env::Priority::LOW);
  const int unscheduled_purges = UnScheduleShortJobs(core_->environment.env, PurgeTag());
  std::deque<FamilyRef> flushes, compactions;  // references are released without the mutex
  {
    MutexLock lock(&core_->mutex);
    scheduled_flushes_ -= unscheduled_flushes;
    scheduled_compactions_ -= unscheduled_compactions;
    if (unscheduled_purges > 0) is_purge_scheduled_ = false;
    assert(scheduled_flushes_ >= 0);
    assert(scheduled_compactions_ >= 0);
    while (UnfinishedJobsLocked() > 0) core_->conditions.jobs.Wait();
    flushes = flush_queue_.TakeAll();
    compactions = compaction_queue_.TakeAll();
  }
  ForgetLimiters();
}

// Called when no job runs any more, so none can begin to wait for a limiter.
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

// A queued family keeps its reference until a thread takes it, even if it is dropped meanwhile.
void Scheduler::RequestFlushLocked(ColumnFamilyData* family) {
  core_->mutex.AssertHeld();
  assert(family != nullptr);
  if (!is_stopping_) flush_queue_.Add(family);
  // Its memtables may have become immutable after the error.
  if (core_->errors.FlushesAwaitResume()) family->KeepImmutables();
  DispatchLocked();
}

void Scheduler::RequestCompactionLocked(ColumnFamilyData* family) {
  core_->mutex.AssertHeld();
  assert(family != nullptr);
  if (!is_stopping_) compaction_queue_.Add(family);
  DispatchLocked();
}

void Scheduler::RequestDueTablesLocked() {
  for (ColumnFamilyData* family : compactions_->FamiliesWithDueTablesLocked()) {
    RequestCompactionLocked(family);
  }
}

// Whether jobs may begin while nothing is paused: not before the start, and not after background
// work was cancelled.
bool Scheduler::IsOn() const {
  return is_started_ && !is_stopping_ && !core_->shutdown.is_background_cancelled();
}

// Asks the Env for as many threads as there is work and the limits allow. A job counts as scheduled
// before its thread runs; the thread takes the mutex first of all.
void Scheduler::DispatchLocked() {
  assert(scheduled_flushes_ >= 0);
  assert(scheduled_compactions_ >= 0);
  if (!MayTakeFlush()) return;
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
  // No thread is free for a compaction of level 0 that writers need soon: a longer one shall let it
  // go first.
  turns_->SetWaiting(core_->jobs.compactions() >= limits.compactions && automatic > 0 &&
                     std::any_of(compaction_queue_.families().begin(),
                                 compaction_queue_.families().end(),
                                 [this](const FamilyRef& family)
                                     REQUIRES(db_mutex) { return IsLevel0Urgent(family.get()); }));
}

// Whether writers of the family would soon have to wait for level 0.
bool Scheduler::IsLevel0Urgent(ColumnFamilyData* family) const {
  assert(family != nullptr);
  return !family->is_dropped() && IsLevel0Behind(DebtOf(family), family->options());
}

void Scheduler::RequestPurge() {
  MutexLock lock(&core_->mutex);
  if (!is_started_ || is_stopping_ || is_purge_scheduled_) return;  // closing deletes them, too
  is_purge_scheduled_ = true;
  ScheduleShortJob(core_->environment.env, &Scheduler::PurgeMain, this, PurgeTag());
}

// Files that become obsolete while this runs are deleted by the next purge.
void Scheduler::RunPurge() {
  const JobThread mark(core_, JobThread::Job::kPurge);
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

// The functions that threads of the Env call; the argument is the scheduler.
void Scheduler::PurgeMain(void* scheduler) { static_cast<Scheduler*>(scheduler)->RunPurge(); }
void Scheduler::FlushMain(void* scheduler) { static_cast<Scheduler*>(scheduler)->RunFlush(); }
void Scheduler::CompactionMain(void* scheduler) {
  static_cast<Scheduler*>(scheduler)->RunCompaction();
}

// The main function of a flush thread. It counts as running before it takes a family, so Stop()
// never misses it.
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
    if (MayTakeFlush()) family = flush_queue_.TakeFront();
    if (family) BeginFlushLocked(family, &flushes);
  }
  const bool has_begun = flushes.has_value();
  if (has_begun) {
    const Status flushed = runner_->Run(&*flushes);
    MutexLock lock(&core_->mutex);
    if (flushed.ok()) {
      for (ColumnFamilyData* each : flushes->FamiliesWithTables()) RequestCompactionLocked(each);
    } else if (!flushed.IsColumnFamilyDropped()) {
      AwaitRetryLocked(JobThread::Job::kFlush);
    }
    RequestWaitingFlushesLocked();
  }
  const bool was_queued = bool{family};
  flushes.reset();
  family.Reset();  // releasing the last reference makes the family's tables obsolete
  if (was_queued) core_->services.cleaner->DeleteObsoleteFiles();
  MutexLock lock(&core_->mutex);
  core_->jobs.FlushEnds(/*has_settled=*/has_begun);
  DispatchLocked();
  NotifyPressureLocked();
  core_->conditions.JobEnded();
}

// Begins the flush of one family, or of all families that must be flushed together. While writes
// are blocked by an error neither is wanted, because the recovery flushes.
void Scheduler::BeginFlushLocked(const FamilyRef& family, std::optional<FlushGroup>* flushes) {
  assert(flushes != nullptr);
  if (BackgroundFlush::IsWanted(*core_, *family)) {
    std::vector<FamilyRef> alone;
    alone.emplace_back(family.get());
    flushes->emplace(core_, alone, FlushScope::kAlone);
  } else if (FlushGroup::IsWanted(*core_)) {
    flushes->emplace(core_, FamiliesThatAwaitOthersLocked(), FlushScope::kTogether);
  }
  assert(!flushes->has_value() || !(*flushes)->is_empty());
}

// The families of a flush together, each with a reference.
std::vector<FamilyRef> Scheduler::FamiliesThatAwaitOthersLocked() const {
  std::vector<FamilyRef> families;
  for (ColumnFamilyData* family : core_->families.All()) {
    if (!family->is_dropped() && family->AwaitsOthers()) families.emplace_back(family);
  }
  return families;
}

// Requests the flushes that became possible by the end of a flush: of memtables that became
// immutable meanwhile, and of families that had to wait for it in order to be flushed together.
void Scheduler::RequestWaitingFlushesLocked() {
  for (ColumnFamilyData* family : core_->families.All()) {
    const bool may_begin = BackgroundFlush::IsWanted(*core_, *family) ||
                           (family->AwaitsOthers() && FlushGroup::IsWanted(*core_));
    if (may_begin) RequestFlushLocked(family);
  }
}

// The main function of a compaction thread. Manual compactions have priority, because calls wait
// for them.
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
    manual->status = compactions_->RunPieces(manual);
    core_->services.cleaner->DeleteObsoleteFiles();
  }
  if (family) RunBegun(std::move(family), std::move(begun));
  MutexLock lock(&core_->mutex);
  if (manual != nullptr) manual_->FinishLocked(manual);
  CompactionEndsLocked();
}

void Scheduler::CompactionEndsLocked() {
  assert(core_->jobs.compactions() > 0);
  core_->jobs.CompactionEnds();
  DispatchLocked();
  NotifyPressureLocked();
  core_->conditions.JobEnded();
}

Status Scheduler::CheckMayStartLocked() const {
  return MayStartCompaction() ? Status::OK() : Status::Aborted("no compaction may begin now");
}

// A compaction on the thread of a call begins. It is counted from now on, so Pause() and Stop()
// wait for it.
void Scheduler::JobOfCallBeginsLocked() {
  assert(MayStartCompaction());
  core_->jobs.CompactionBegins();
  NotifyPressureLocked();
}

void Scheduler::JobOfCallEndsLocked(ColumnFamilyData* family) {
  RequestCompactionLocked(family);
  CompactionEndsLocked();
}

// Runs a flush of a recovery. It is counted like one of a flush thread. If the scheduler is
// stopping, the group only gives its memtables back.
Status Scheduler::RunRecoveryFlushLocked(FlushGroup* flushes) {
  assert(flushes != nullptr);
  assert(!flushes->is_empty());
  Status status = is_stopping_ ? Status::ShutdownInProgress() : Status::OK();
  const JobThread mark(core_, JobThread::Job::kFlush);  // also while listeners hear of the pressure
  core_->jobs.FlushBegins();
  if (!status.ok()) {
    flushes->Finish(status);
  } else {
    NotifyPressureLocked();
    MutexUnlock unlock(&core_->mutex);
    status = runner_->Run(flushes);
  }
  core_->jobs.FlushEnds(/*has_settled=*/true);
  DispatchLocked();
  NotifyPressureLocked();
  core_->conditions.JobEnded();
  return status;
}

// All compactions share the threads of low priority, so the two numbers in each pair are the same.
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

// Tells listeners how much background work there is. The numbers may change while listeners are
// called without the mutex, so the check is repeated afterwards.
void Scheduler::NotifyPressureLocked() {
  assert(core_->jobs.flushes() >= 0);
  assert(core_->jobs.compactions() >= 0);
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

// Begins an automatic compaction. If the family needs a further one beside it, it is queued again
// at once, for another thread.
Compactions::Begun Scheduler::BeginCompactionLocked(ColumnFamilyData* family) {
  Compactions::Begun begun = compactions_->BeginAutomaticLocked(family);
  if (begun.job == nullptr) core_->conditions.JobEnded();  // a flush may wait for this compaction
  if (begun.wants_more) RequestCompactionLocked(family);
  return begun;
}

// Runs a compaction that has begun, without the DB mutex. Afterwards the family is queued again,
// since it may need the next compaction.
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
      if (!status.ok()) AwaitRetryLocked(JobThread::Job::kCompaction);
      RequestCompactionLocked(family.get());
    }
  }
  family.Reset();  // the last reference makes its tables obsolete
  core_->services.cleaner->DeleteObsoleteFiles();
}

// Runs one compaction of level 0 in place of a deeper one. Called on a thread that the deeper
// compaction started; it does not count as another running job.
void Scheduler::RunLevel0() {
  const JobThread mark(core_, JobThread::Job::kCompaction);
  FamilyRef family;
  Compactions::Begun begun;
  {
    MutexLock lock(&core_->mutex);
    turns_->SetWaiting(false);  // until DispatchLocked() looks again
    if (!MayStartAutomatic()) return;
    family = compaction_queue_.TakeFirst([this](ColumnFamilyData* waiting) REQUIRES(db_mutex) {
      return IsLevel0Urgent(waiting) && compactions_->PicksLevel0Locked(waiting);
    });
    if (!family) return;
    begun = BeginCompactionLocked(family.get());
  }
  RunBegun(std::move(family), std::move(begun));
}

// Waits, without a thread, for the limiter of the family. If the limiter has room by now, the
// family is queued again at once.
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

// The limiter has room. Called by a thread of any database that shares the limiter; Stop() waits
// for such a call.
void Scheduler::OnRoom() {
  MutexLock lock(&core_->mutex);
  for (const uint32_t id : std::exchange(held_back_, {})) {
    ColumnFamilyData* const family = core_->families.Find(id);
    if (family != nullptr) RequestCompactionLocked(family);
  }
}

// Delays the next attempt after a failed job, unless the error is cleared earlier: writers may be
// stopped until the job succeeds. A failed flush is repeated by the recovery instead, unless a
// listener has cleared its error.
void Scheduler::AwaitRetryLocked(JobThread::Job failed) {
  assert(core_->jobs.flushes() + core_->jobs.compactions() > 0);  // the failed one, still counted
  constexpr uint64_t kRetryMicros = 200'000;
  constexpr int kMostSignals = 100;                  // signals of other jobs that are ignored
  const bool has_error = !core_->errors.Get().ok();  // else a listener has cleared it
  const bool is_flush = failed == JobThread::Job::kFlush;
  for (int i = 0; i < kMostSignals; i++) {
    if (!(is_flush ? MayStartFlush() : MayStartAutomatic())) return;
    if (has_error && core_->errors.Get().ok()) return;
    if (core_->conditions.jobs.WaitFor(kRetryMicros)) return;
  }
}

// Whether a compaction will reduce the files of level 0 that would stall writes after `more_tables`
// are added. Also false if no compaction can begin, because waiting would not help then.
bool Scheduler::WillMakeRoomLocked(ColumnFamilyData* family, size_t more_tables) const {
  assert(family != nullptr);
  assert(more_tables > 0);
  if (family->is_dropped() || !MayStartAutomatic()) return false;
  if (!core_->errors.Get().ok()) return false;  // the compaction may have failed, and fail again
  if (registry_->IsAbortedLocked(*family)) return false;
  WriteDebt debt = DebtOf(family);
  debt.level0_files += static_cast<int>(more_tables);
  const StallDecision stall = DecideStall(debt, family->options());
  if (stall.cause != WriteStallCause::kL0FileCountLimit) return false;
  const Version& version = *family->current();
  const size_t idle = family->versions()->claims.IdleOn(version, 0).files;
  return compaction_queue_.Has(*family) || idle < version.files(0).size();
}

// Waits until no job runs; none begins before Continue(). Calls may be nested, and each needs its
// own Continue().
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

void Scheduler::LetFlushesPassPauses() {
  MutexLock lock(&core_->mutex);
  flushes_pass_pauses_ = true;
  DispatchLocked();
}

// Families in the queue for which no thread is scheduled yet. Scheduled families stay in the queue
// until a thread takes them.
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

// The state first, then the queues, the running compactions, and the compactions of calls.
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

// Everything that Stop() must wait for: jobs that are scheduled or running, purges, and a
// notification in progress.
int Scheduler::UnfinishedJobsLocked() const {
  return scheduled_flushes_ + core_->jobs.flushes() + scheduled_compactions_ +
         core_->jobs.compactions() + (is_purge_scheduled_ ? 1 : 0) + running_purges_ +
         (is_notifying_pressure_ ? 1 : 0);
}

// Whether nothing runs or waits. A family that is held back by a limiter still has a compaction to
// run.
bool Scheduler::IsIdleLocked() const {
  for (const uint32_t id : held_back_) {
    if (core_->families.Find(id) != nullptr) return false;
  }
  return flush_queue_.IsEmpty() && compaction_queue_.IsEmpty() && UnfinishedJobsLocked() == 0 &&
         manual_->IsEmptyLocked();
}

// Waits until nothing runs or waits. Checks anew after the end of each job and after every change
// of the state.
Status Scheduler::AwaitIdle(uint64_t timeout_micros, bool abort_on_pause, bool minds_error) {
  const uint64_t deadline =
      timeout_micros > 0 ? core_->environment.NowMicros() + timeout_micros : UINT64_MAX;
  MutexLock lock(&core_->mutex);
  while (true) {
    // Checked before idleness: if nothing may run, there is nothing to wait for either.
    if (core_->shutdown.is_background_cancelled()) {
      return Status::ShutdownInProgress();
    }
    const Status error = core_->errors.Get();
    if (!error.ok()) {
      if (minds_error) return error;
      // The caller goes on to close the database, which would wait for the caller's own job.
      return JobThread::IsInJob(core_) ? JobThread::OwnJob("WaitForCompact") : Status::OK();
    }
    const bool is_held = is_paused() || registry_->AreAllAbortedLocked();
    if (is_held && abort_on_pause) return Status::Aborted();
    if (IsIdleLocked()) return Status::OK();
    if (JobThread::IsInJob(core_)) return JobThread::OwnJob("WaitForCompact");
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
