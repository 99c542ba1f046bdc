// SPDX-License-Identifier: Apache-2.0
//
// Announce, write, record, settle, report.
#include "db/jobs/job_runner.h"

#include <cassert>
#include <utility>

#include "db/jobs/notify.h"
#include "util/threads/epoch.h"

namespace ashlar {

FileNumber TableNumbers::NewNumber() {
  MutexLock lock(&core_->mutex);
  const FileNumber number = core_->versions->NewFileNumber();
  core_->jobs.Protect(number);
  numbers_.push_back(number);
  return number;
}

void TableNumbers::Settle(const Status& status) {
  core_->mutex.AssertHeld();
  if (status.ok() || status.IsColumnFamilyDropped()) may_be_named_ = false;
  if (may_be_named_) return;
  for (const FileNumber number : numbers_) core_->jobs.Unprotect(number);
}

Status JobRunner::Run(BackgroundJob* job) {
  assert(job != nullptr && !InEpoch());
  job->BeginOperation();
  job->Announce();
  Status status = job->WriteTables();
  if (status.ok() && job->table_options().is_flush) RaiseSpaceLimit();
  job->SetStage(job->install_stage());
  {
    MutexLock lock(&core_->mutex);
    if (status.ok()) status = RecordInManifest(job);
    job->numbers().Settle(status);
    job->Finish(status);
    if (job->table_options().is_flush) core_->jobs.FlushSettles();
    writes_->UpdateStallLocked();
    core_->conditions.JobEnded();
  }
  writes_->TellStallChanges();
  if (!status.ok()) {
    if (!job->numbers().may_be_named()) DeleteUnnamedFiles(job->table_options(), &job->result());
    const auto reason = job->ErrorReason(status);
    if (reason.has_value()) NotifyBackgroundError(core_, status, *reason);
  }
  job->Report(status);
  job->EndOperation();
  return status;
}

Status JobRunner::RunTogether(FlushGroup* flushes) {
  assert(!flushes->is_empty() && !InEpoch());
  flushes->Announce();
  Status status = flushes->WriteTables();
  if (status.ok()) RaiseSpaceLimit();
  {
    MutexLock lock(&core_->mutex);
    if (status.ok()) status = RecordInManifest(flushes);
    flushes->Finish(status);
    core_->jobs.FlushSettles();
    writes_->UpdateStallLocked();
    core_->conditions.JobEnded();
  }
  writes_->TellStallChanges();
  if (!status.ok()) {
    const auto reason = flushes->ErrorReason(status);
    if (reason.has_value()) NotifyBackgroundError(core_, status, *reason);
  }
  flushes->Report();
  return status;
}

// Of a flush, which takes effect all the same: before those who wait for it can go on.
void JobRunner::RaiseSpaceLimit() {
  if (core_->resources.space == nullptr) return;
  if (!core_->resources.space->IsMaxAllowedSpaceReached()) return;
  NotifyBackgroundError(core_, Status::SpaceLimit(kSpaceLimitReached),
                        BackgroundErrorReason::kFlush);
}

Status JobRunner::RecordInManifest(BackgroundJob* job) {
  VersionEdit edit;
  edit.column_family = job->family()->id();
  RETURN_IF_ERROR(job->Describe(&edit));
  assert(job->result().tables.size() + job->result().blob_files.size() <= job->numbers().count());
  VersionSet::Change change;
  change.edits.push_back(std::move(edit));
  change.last_sequence = core_->pipeline->visible_seqno();
  job->numbers().ExpectNaming();
  return core_->versions->LogAndApply(std::move(change), &core_->mutex);
}

Status JobRunner::RecordInManifest(FlushGroup* flushes) {
  VersionSet::Change change;
  RETURN_IF_ERROR(flushes->DescribeAll(&change.edits));
  change.is_atomic_group = true;
  change.last_sequence = core_->pipeline->visible_seqno();
  return core_->versions->LogAndApply(std::move(change), &core_->mutex);
}

}  // namespace ashlar
