// SPDX-License-Identifier: Apache-2.0
//
// The order that keeps what was acknowledged: no flush runs -> commits are shut out, a fresh log
// replaces those that cannot be trusted -> tables -> one MANIFEST change -> the error is cleared.
#include "db/jobs/error_recovery.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "util/scope_exit.h"

namespace ashlar {

Status ErrorRecovery::Run(Notify notify) {
  return RunAs(/*is_asked=*/true, notify).value();  // a call is never put off
}

std::optional<Status> ErrorRecovery::RunUnasked(Notify notify) {
  return RunAs(/*is_asked=*/false, notify);
}

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

Status ErrorRecovery::RunOnce(const Status& error) {
  assert(!error.ok() && error.severity() < Status::kFatalError);
  // The next flush would raise it again.
  const bool is_over =
      core_->resources.space != nullptr && core_->resources.space->IsMaxAllowedSpaceReached();
  if (error.IsSpaceLimit() && is_over) return error;
  std::vector<FamilyRef> families;
  {
    MutexLock lock(&core_->mutex);
    families = core_->families.PinAll();
  }
  // A soft error endangers nothing in memory: what failed is tried again.
  const bool is_soft = error.severity() < Status::kHardError;
  const bool is_flush_held = is_soft && core_->errors.HoldsFlushes();
  RETURN_IF_ERROR(is_flush_held ? FlushSealed(families)
                  : is_soft     ? Status::OK()
                                : FlushEverything(families));
  MutexLock lock(&core_->mutex);
  // What was raised meanwhile, by a compaction for one, is worse than what was recovered from.
  RETURN_IF_ERROR(core_->errors.Unrecoverable());
  if (is_soft) {
    RETURN_IF_ERROR(EndSoftLocked(is_flush_held, families));
  } else {
    writes_->FinishRecoveryLocked();
  }
  for (const FamilyRef& family : families) scheduler_->RequestCompactionLocked(family.get());
  return Status::OK();
}

// What was sealed meanwhile is flushed like anything else.
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

// Writes go on. All families in one change, as some of the memtables may have to be; no other flush
// begins meanwhile.
Status ErrorRecovery::FlushSealed(const std::vector<FamilyRef>& families) {
  std::optional<FlushGroup> flushes;  // lets go of its families without the mutex
  MutexLock lock(&core_->mutex);
  RETURN_IF_ERROR(AwaitRunningFlushesLocked(families));
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  flushes.emplace(core_, families, FlushScope::kAll);
  if (flushes->is_empty()) return Status::OK();
  return scheduler_->RunRecoveryFlushLocked(&*flushes);
}

Status ErrorRecovery::FlushEverything(const std::vector<FamilyRef>& families) {
  std::optional<FlushGroup> flushes;
  FileNumber log_number = 0;
  std::vector<MemTableInfo> sealed;
  Status fatal;
  {
    MutexLock lock(&core_->mutex);
    RETURN_IF_ERROR(AwaitRunningFlushesLocked(families));
    ASSIGN_OR_RETURN(log_number, writes_->BeginRecoveryLocked(&sealed));
    // A commit that was under way may have found memory and log different: nothing is flushed then.
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

// None begins while writes are blocked. One that runs could record a table of one family when the
// logs of the others have left the set and are not synced any more.
Status ErrorRecovery::AwaitRunningFlushesLocked(const std::vector<FamilyRef>& families) {
  const auto is_flushing = [](const FamilyRef& family) NO_THREAD_SAFETY_ANALYSIS {
    return !family->sealed().empty() && family->sealed().front().is_flushing;
  };
  while (std::any_of(families.begin(), families.end(), is_flushing)) {
    if (JobThread::HoldsUpFlushes(core_)) return JobThread::OwnJob("Resume");
    core_->conditions.flushes.Wait();
  }
  return Status::OK();
}

}  // namespace ashlar
