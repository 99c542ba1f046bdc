// SPDX-License-Identifier: Apache-2.0
//
// Announce, write, record, settle, report.
#include "db/jobs/job_runner.h"

#include <cassert>
#include <utility>

#include "db/jobs/notify.h"
#include "util/epoch.h"

namespace ashlar {

FileNumber TableNumbers::NewNumber() {
  MutexLock lock(&core_->mutex);
  const FileNumber number = core_->versions->NewFileNumber();
  core_->pending_outputs.insert(number);
  numbers_.push_back(number);
  assert(core_->pending_outputs.count(number) == 1);  // never given out twice
  return number;
}

void TableNumbers::Settle(const Status& status) {
  core_->mutex.AssertHeld();
  if (status.ok() || status.IsColumnFamilyDropped()) may_be_named_ = false;
  if (may_be_named_) return;
  for (const FileNumber number : numbers_) {
    const auto pending = core_->pending_outputs.find(number);
    assert(pending != core_->pending_outputs.end());
    core_->pending_outputs.erase(pending);
  }
}

Status JobRunner::Run(BackgroundJob* job) {
  assert(job != nullptr && !InEpoch());
  job->BeginOperation();
  job->Announce();
  Status status = job->WriteTables();
  if (status.ok()) RaiseSpaceLimit(*job);
  job->SetStage(job->install_stage());
  {
    MutexLock lock(&core_->mutex);
    if (status.ok()) status = RecordInManifest(job);
    job->numbers().Settle(status);
    job->Finish(status);
    writes_->UpdateStallLocked();
    core_->conditions.JobEnded();
  }
  writes_->TellStallChanges();
  if (!status.ok()) {
    if (!job->numbers().may_be_named()) DeleteUnnamedFiles(job->table_options(), &job->result());
    TellError(*job, status);
  }
  job->Report(status);
  job->EndOperation();
  return status;
}

// Of a flush, which takes effect all the same: before those who wait for it can go on.
void JobRunner::RaiseSpaceLimit(const BackgroundJob& job) {
  if (core_->space == nullptr || !job.table_options().is_flush) return;
  if (!core_->space->IsMaxAllowedSpaceReached()) return;
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
  if (!job->result().tables.empty()) job->numbers().ExpectNaming();
  return core_->versions->LogAndApply(std::move(change), &core_->mutex);
}

void JobRunner::TellError(const BackgroundJob& job, const Status& error) {
  assert(!error.ok());
  const std::optional<BackgroundErrorReason> reason = job.ErrorReason(error);
  if (reason.has_value()) NotifyBackgroundError(core_, error, *reason);
}

}  // namespace ashlar
