// SPDX-License-Identifier: Apache-2.0
//
// JobRunner::Run() takes the steps that background_job.h lists. A crash before LogAndApply() has
// synced the MANIFEST leaves tables that no version names; the next opening deletes them.
#include "db/jobs/job_runner.h"

#include <cassert>
#include <utility>

#include "db/state/notify_errors.h"
#include "util/threads/epoch.h"

namespace ashlar {

FileNumber TableNumbers::NewNumber() {
  MutexLock lock(&core_->mutex);
  const FileNumber number = core_->versions->NewFileNumber();
  assert(!core_->jobs.IsProtected(number));  // a number is allocated only once
  core_->jobs.Protect(number);
  numbers_.push_back(number);
  return number;
}

// Whatever the MANIFEST has of earlier changes that failed, it does not name the files of this one.
void TableNumbers::NoteFailedWrite() {
  core_->mutex.AssertHeld();
  if (!core_->versions->may_hold_failed_change()) may_be_named_ = false;
}

// Called when the outcome of the job is known. Unless the MANIFEST may name the files, they are
// ordinary files again: named by a version, or obsolete. A second call does nothing.
void TableNumbers::Settle(const Status& status, std::vector<std::string> paths) {
  core_->mutex.AssertHeld();
  if (status.ok() || status.IsColumnFamilyDropped()) may_be_named_ = false;
  const std::vector<FileNumber> numbers = std::exchange(numbers_, {});
  if (may_be_named_) {
    core_->jobs.LeaveInDoubt(numbers, std::move(paths));
  } else {
    for (const FileNumber number : numbers) core_->jobs.Unprotect(number);
  }
}

// LogAndApply() is the last step before, if the job has got that far.
void FamilyJob::SettleNumbers(const Status& status, const TableOutputOptions& table) {
  if (status.ok()) return numbers_.Settle(status);
  numbers_.NoteFailedWrite();
  numbers_.Settle(status, PathsOf(table, result_));
}

Status JobRunner::Run(BackgroundJob* job) {
  assert(job != nullptr);
  assert(!InEpoch());
  job->Announce();
  Status status = job->WriteTables();
  if (status.ok()) job->TablesWritten();
  {
    MutexLock lock(&core_->mutex);
    VersionSet::Change change;
    if (status.ok()) status = job->Describe(&change);
    if (status.ok()) {
      assert(!change.edits.empty());
      change.last_sequence = core_->pipeline->visible_seqno();
      status = core_->versions->LogAndApply(std::move(change), &core_->mutex);
    }
    job->Finish(status);
    // Fewer level-0 files or memtables may end a stall.
    writes_->UpdateStallLocked();
    core_->conditions.JobEnded();
  }
  writes_->NotifyOfStalls();
  job->DeleteUnnamed();
  if (!status.ok()) {
    const auto reason = job->ErrorReason(status);
    if (reason.has_value()) NotifyBackgroundError(core_, status, *reason);
  }
  job->Report(status);
  return status;
}

}  // namespace ashlar
