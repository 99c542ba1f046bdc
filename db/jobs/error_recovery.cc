// SPDX-License-Identifier: Apache-2.0
//
// A recovery from a hard error keeps every acknowledged write. Its steps: (1) wait until no flush
// runs; (2) block commits, and replace the failed logs by a new one; (3) log undecided prepare
// sections again; (4) write all memtables to tables; (5) record the tables in one MANIFEST change;
// (6) clear the error. A crash before step 5 is complete leaves the old MANIFEST and the old logs,
// from which an opening recovers.
#include "db/jobs/error_recovery.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "db/state/two_phase_writes.h"
#include "db/state/undo_change.h"
#include "util/scope_exit.h"

namespace ashlar {

Status ErrorRecovery::Run(Notify notify) {
  return RunAs(/*is_asked=*/true, notify).value();  // only unasked recoveries are put off
}

// An unasked recovery is one of the engine itself, not of DB::Resume(). No value: background work
// is paused, and the recovery has not begun.
std::optional<Status> ErrorRecovery::RunUnasked(Notify notify) {
  return RunAs(/*is_asked=*/false, notify);
}

// Only one recovery runs at a time. Its end is signalled even if an exception passes, because other
// threads wait for it.
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
      KeepUnflushed(core_);  // a failed attempt has made memtables immutable
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

// The recovery itself, without the exclusion of others and without listeners.
Status ErrorRecovery::RunOnce(const Status& error) {
  assert(!error.ok());
  assert(error.severity() < Status::kFatalError);
  // While the space is above the limit the next flush would raise the error again.
  const bool is_over =
      core_->resources.space != nullptr && core_->resources.space->IsMaxAllowedSpaceReached();
  if (error.IsSpaceLimit() && is_over) return error;
  std::vector<FamilyRef> families;
  {
    MutexLock lock(&core_->mutex);
    families = core_->families.PinAll();
  }
  // A soft error does not endanger the data in memory. It is enough to repeat the failed flush; a
  // failed compaction is simply requested again.
  const bool is_soft = error.severity() < Status::kHardError;
  const bool is_flush_held = is_soft && core_->errors.HoldsFlushes();
  RETURN_IF_ERROR(is_flush_held ? FlushImmutables(families)
                  : is_soft     ? Status::OK()
                                : FlushEverything(families));
  MutexLock lock(&core_->mutex);
  // A change that failed after that of the recovery, and could not be undone, has raised no error,
  // because the old one stood.
  if (!is_soft) RETURN_IF_ERROR(LeaveNoDoubt(core_));
  // An error that was raised meanwhile, for example by a compaction, is worse than the old one.
  RETURN_IF_ERROR(core_->errors.Unrecoverable());
  if (is_soft) {
    RETURN_IF_ERROR(EndSoftLocked(is_flush_held, families));
  } else {
    writes_->FinishRecoveryLocked();
  }
  // Compactions that were due before the error are still due.
  for (const FamilyRef& family : families) scheduler_->RequestCompactionLocked(family.get());
  return Status::OK();
}

// Clears a soft error. Memtables that became immutable during the recovery are flushed in the
// ordinary way.
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

// The recovery from an error of a flush; writes continue meanwhile. No other flush begins until it
// has ended. All families are flushed in one change of the MANIFEST, because some memtables may
// belong together (atomic flush).
Status ErrorRecovery::FlushImmutables(const std::vector<FamilyRef>& families) {
  std::optional<FlushGroup> flushes;  // destroyed without the mutex: it releases families
  MutexLock lock(&core_->mutex);
  RETURN_IF_ERROR(AwaitRunningFlushesLocked(families));
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  flushes.emplace(core_, families, FlushScope::kAll);
  if (flushes->is_empty()) return Status::OK();
  const Status flushed = scheduler_->RunRecoveryFlushLocked(&*flushes);
  // Nothing of a family that was dropped meanwhile is left to flush.
  return flushed.IsColumnFamilyDropped() ? Status::OK() : flushed;
}

// Steps (1) to (5) for a hard error, as listed at the head of this file.
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
  // The flush is counted already. Not earlier: the wait above asks whether it is in a flush.
  const JobThread mark(core_, JobThread::Job::kFlush);
  NotifyMemTablesSealed(core_->services, sealed);
  if (!fatal.ok()) return fatal;
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

// Copies the undecided prepare sections into the new log, because the logs that hold them will not
// be needed afterwards. If the recovery fails later, the MANIFEST still names the old logs. A
// replay then finds the sections twice, which is harmless.
Status ErrorRecovery::LogUndecidedSections() {
  core_->prepared_logs.AwaitSettled();
  return LogSectionsAgain(&core_->prepared_logs, core_->wals.get(),
                          core_->pipeline->visible_seqno() + 1);
}

// Waits for flushes that run already; none begins while writes are blocked. Such a flush could
// record a table of one family although the logs of other families are no longer part of the set,
// and so are not synced.
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
