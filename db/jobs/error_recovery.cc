// SPDX-License-Identifier: Apache-2.0
//
// The order of the steps keeps every acknowledged write: wait until no flush runs -> shut out
// commits and replace the failed logs by a new one -> log undecided prepare sections again -> write
// tables -> one MANIFEST change -> clear the error.
#include "db/jobs/error_recovery.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "db/state/two_phase_writes.h"
#include "util/scope_exit.h"

namespace ashlar {

Status ErrorRecovery::Run(Notify notify) {
  return RunAs(/*is_asked=*/true, notify).value();  // only unasked recoveries are put off
}

std::optional<Status> ErrorRecovery::RunUnasked(Notify notify) {
  return RunAs(/*is_asked=*/false, notify);
}

// Only one recovery runs at a time. Its end is signalled also if an exception passes.
std::optional<Status> ErrorRecovery::RunAs(bool is_asked, Notify notify) {
  Status error;
  {
    MutexLock lock(&core_->mutex);
    error = core_->errors.Get();
    if (error.ok() || error.severity() >= Status::kFatalError) return error;
    if (is_running_)
      return Status::Busy("another thread recovers from the error", error.ToString());
    if (!is_asked && !scheduler_->RecoveryBeginsLocked()) return std::nullopt;
    is_running_ = true;
  }
  Status status;
  {
    const ScopeExit end([this, is_asked] {
      MutexLock lock(&core_->mutex);
      is_running_ = false;
      if (!is_asked) scheduler_->RecoveryEndsLocked();
      core_->conditions.ErrorChanged();
    });
    status = RunOnce(error);
  }
  core_->services.cleaner->DeleteObsoleteFiles();
  writes_->NotifyOfStalls();
  const bool is_told = notify == Notify::kBoth || (notify == Notify::kSuccess && status.ok());
  if (is_told) NotifyRecoveryEnd(core_->services, error, status);
  return status;
}

// Everything that a recovery does, apart from excluding others and notifying listeners.
Status ErrorRecovery::RunOnce(const Status& error) {
  assert(!error.ok() && error.severity() < Status::kFatalError);
  // While the space is above the limit the next flush would raise the error again.
  const bool is_over =
      core_->resources.space != nullptr && core_->resources.space->IsMaxAllowedSpaceReached();
  if (error.IsSpaceLimit() && is_over) return error;
  std::vector<FamilyRef> families;
  {
    MutexLock lock(&core_->mutex);
    families = core_->families.PinAll();
  }
  // A soft error does not endanger what is in memory: the failed work is repeated.
  const bool is_soft = error.severity() < Status::kHardError;
  const bool is_flush_held = is_soft && core_->errors.HoldsFlushes();
  RETURN_IF_ERROR(is_flush_held ? FlushImmutables(families)
                  : is_soft     ? Status::OK()
                                : FlushEverything(families));
  MutexLock lock(&core_->mutex);
  // An error that was raised meanwhile, for example by a compaction, is worse than the old one.
  RETURN_IF_ERROR(core_->errors.Unrecoverable());
  if (is_soft) {
    RETURN_IF_ERROR(EndSoftLocked(is_flush_held, families));
  } else {
    writes_->FinishRecoveryLocked();
  }
  for (const FamilyRef& family : families) scheduler_->RequestCompactionLocked(family.get());
  return Status::OK();
}

// Memtables that became immutable meanwhile are flushed like any others.
Status ErrorRecovery::EndSoftLocked(bool has_flushed, const std::vector<FamilyRef>& families) {
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  IgnoreError(has_flushed ? core_->errors.ClearSoft() : core_->errors.ClearCompactionError(),
              "it is that of Run(), or gone already");
  core_->conditions.ErrorChanged();
  for (const FamilyRef& family : families) {
    if (family->is_flush_due()) scheduler_->RequestFlushLocked(family.get());
  }
  return Status::OK();
}

// Writes continue. All families are flushed in one change, because some memtables may have to be
// flushed together. No other flush begins meanwhile.
Status ErrorRecovery::FlushImmutables(const std::vector<FamilyRef>& families) {
  std::optional<FlushGroup> flushes;  // destroyed without the mutex: it releases families
  MutexLock lock(&core_->mutex);
  RETURN_IF_ERROR(AwaitRunningFlushesLocked(families));
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  flushes.emplace(core_, families, FlushScope::kAll);
  if (flushes->is_empty()) return Status::OK();
  return scheduler_->RunRecoveryFlushLocked(&*flushes);
}

// The steps for a hard error, as the head of this file lists them.
Status ErrorRecovery::FlushEverything(const std::vector<FamilyRef>& families) {
  std::optional<FlushGroup> flushes;
  FileNumber log_number = 0;
  std::vector<MemTableInfo> sealed;
  Status fatal;
  {
    MutexLock lock(&core_->mutex);
    RETURN_IF_ERROR(AwaitRunningFlushesLocked(families));
    ASSIGN_OR_RETURN(log_number, writes_->BeginRecoveryLocked(&sealed));
    // A commit that was in progress may have found that memory and log differ: then nothing is
    // flushed.
    fatal = core_->errors.Unrecoverable();
    if (fatal.ok()) {
      flushes.emplace(core_, families, FlushScope::kAll);
      core_->jobs.FlushBegins();
    }
  }
  NotifyMemTablesSealed(core_->services, sealed);
  if (!fatal.ok()) return fatal;
  const JobThread mark(core_, JobThread::Job::kFlush);
  flushes->Announce();
  assert(log_number > 0);
  Status status = core_->wals->SyncEntries();
  if (status.ok()) status = LogUndecidedSections();
  if (status.ok()) status = flushes->WriteTables();
  {
    MutexLock lock(&core_->mutex);
    VersionSet::Change change;
    if (status.ok()) status = flushes->DescribeWithoutLogs(log_number, &change);
    if (status.ok()) {
      change.last_sequence = core_->pipeline->visible_seqno();
      status = core_->versions->LogAndApply(std::move(change), &core_->mutex);
    }
    flushes->Finish(status);
    core_->conditions.JobEnded();
  }
  flushes->DeleteUnnamed();
  flushes->Report(status);
  MutexLock lock(&core_->mutex);
  core_->jobs.FlushEnds(/*has_settled=*/true);
  core_->conditions.JobEnded();
  return status;
}

// The logs that hold them are about to be dropped. If the recovery fails after this, the MANIFEST
// still names the old logs, and a replay finds the sections in both.
Status ErrorRecovery::LogUndecidedSections() {
  core_->prepared_logs.AwaitSettled();
  return LogSectionsAgain(&core_->prepared_logs, core_->wals.get(),
                          core_->pipeline->visible_seqno() + 1);
}

// No flush begins while writes are blocked. A flush that runs already could record a table of one
// family although the logs of the other families have left the set and are not synced any more.
Status ErrorRecovery::AwaitRunningFlushesLocked(const std::vector<FamilyRef>& families) {
  const auto is_flushing = [](const FamilyRef& family) NO_THREAD_SAFETY_ANALYSIS {
    return !family->immutables().empty() && family->immutables().front().is_flushing;
  };
  while (std::any_of(families.begin(), families.end(), is_flushing)) {
    if (JobThread::HoldsUpFlushes(core_)) return JobThread::OwnJob("Resume");
    core_->conditions.flushes.Wait();
  }
  return Status::OK();
}

}  // namespace ashlar
