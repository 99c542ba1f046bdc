// SPDX-License-Identifier: Apache-2.0
//
// The order of the steps matters: each one needs what the next ones take away.
#include "db/opening/close.h"

#include <cassert>
#include <utility>

#include "db/files/obsolete_files.h"
#include "db/files/options_files.h"
#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "env/info_log.h"
#include "env/io_rule.h"
#include "util/result.h"
#include "util/statistics/statistics.h"

namespace ashlar {

// Also reports the live files to the SstFileManager, which counts their space.
Status StartWork(DbCore* core, WriteControl* writes, Scheduler* scheduler, DirectoryNames* names) {
  assert(writes != nullptr);
  {
    MutexLock lock(&core->mutex);
    const IoUnderDbMutex nobody_waits;
    if (core->resources.space != nullptr) {
      ForEachLivePath(*core, [core](const std::string& path, uint64_t bytes) {
        core->resources.space->OnAddFile(path, bytes);
      });
    }
    // Failed deletions are no reason to refuse the database; the next opening tries again.
    auto obsolete = ScanForObsolete(core, names);
    if (obsolete.ok()) {
      MutexUnlock unlock(&core->mutex);
      DeleteObsolete(core, obsolete.Take());
    }
  }
  // Before background work starts, so that every job finds the options of this opening on disk.
  RETURN_IF_ERROR(WriteOptionsFile(core));
  {
    MutexLock lock(&core->mutex);
    for (ColumnFamilyData* family : core->families.All()) {
      scheduler->RequestCompactionLocked(family);
    }
    writes->UpdateStallLocked();
    scheduler->StartLocked();
  }
  writes->NotifyOfStalls();
  return Status::OK();
}

// Errors do not end the closing: the directory must be unlocked in any case.
Status Closer::Run() {
  ForEachListener(core_->services, [this](EventListener* listener) {
    listener->OnDBShutdownBegin(core_->services.db);
  });
  Status status = CancelBackgroundWork(/*wait=*/false);
  RefuseWrites();
  if (!core_->mode.is_read_only) {
    scheduler_->Stop();
    if (core_->services.shortage != nullptr) core_->services.shortage->StopTrying();
    if (core_->services.retries != nullptr) core_->services.retries->StopTrying();
    EndRecovery();
    KeepImmutables();
    writes_->StopMakingLogs();
    const Status checked = CheckManifest();
    if (status.ok()) status = checked;
    const Status closed = CloseLogs();
    if (status.ok()) status = closed;
    PurgeObsoleteFiles(core_);
    DeleteRecycledLogs(core_);
    ForgetFiles();
  }
  const Status unlocked = UnlockDirectory();
  return status.ok() ? unlocked : status;
}

// May be called several times; the flush happens at most once.
Status Closer::CancelBackgroundWork(bool wait) {
  if (core_->mode.is_read_only) return Status::OK();
  Status status;
  std::shared_ptr<CompactionService> service;
  if (!core_->shutdown.is_background_cancelled()) {
    if (WantsFlush()) {
      // While background work is paused, this thread would wait for a flush that never begins.
      scheduler_->LetFlushesPassPauses();
      status = flushes_->FlushAll(FlushOptions(), FlushReason::kShutDown);
    }
    MutexLock lock(&core_->mutex);
    core_->shutdown.CancelBackground();
    core_->conditions.AllStops();
    service = core_->options->compaction_service;
  }
  if (service != nullptr) service->CancelAwaitingJobs();
  // A job cannot wait for its own end, so a call from within a job does not wait.
  if (wait && !JobThread::IsInJob(core_)) scheduler_->Stop();
  return status;
}

// Another database that shares the memory limit does not wait for flushes that will not come.
void Closer::KeepImmutables() {
  MutexLock lock(&core_->mutex);
  for (ColumnFamilyData* family : core_->families.All()) family->KeepImmutables();
}

// Ends the recovery from a failed compaction, which will not be repeated any more. (For flushes
// ErrorRetries does this.)
void Closer::EndRecovery() {
  assert(core_->shutdown.is_background_cancelled());
  const Status error = core_->errors.ClearCompactionError();
  if (!error.ok()) NotifyRecoveryEnd(core_->services, error, Status::ShutdownInProgress());
}

// Whether memtables have writes that skipped the log and would be lost, unless the user accepts
// that.
bool Closer::WantsFlush() const {
  if (!core_->pipeline->has_unlogged_writes() || core_->errors.BlocksWrites()) return false;
  MutexLock lock(&core_->mutex);
  return !core_->options->avoid_flush_during_shutdown;
}

// Writers that wait are woken; those in flight finish.
void Closer::RefuseWrites() {
  MutexLock lock(&core_->mutex);
  core_->shutdown.BeginClosing();
  core_->pipeline->RequestAttention();
  core_->conditions.AllStops();
}

// A damaged MANIFEST is written anew from the state in memory. After a write error it is unknown
// how memory and disk differ, so that is left to the next recovery.
Status Closer::CheckManifest() {
  MutexLock lock(&core_->mutex);
  assert(core_->shutdown.is_closing());
  if (!core_->options->verify_manifest_content_on_close || core_->errors.BlocksFlushes()) {
    return Status::OK();
  }
  const Status found = core_->versions->CheckManifest(&core_->mutex);
  if (!found.IsCorruption()) return found;
  RecordTick(core_->services.statistics.get(), MANIFEST_VALIDATION_FAILURE_COUNT);
  {
    MutexUnlock unlock(&core_->mutex);
    Warn(core_->services.info_log, "the MANIFEST is written anew: %s", found.ToString().c_str());
  }
  VersionSet::Change nothing;
  nothing.edits.emplace_back();
  nothing.last_sequence = core_->pipeline->visible_seqno();
  return core_->versions->LogAndApply(std::move(nothing), &core_->mutex);
}

// The error of a log that has failed was reported already.
Status Closer::CloseLogs() {
  assert(core_->shutdown.is_closing());  // no commit begins any more
  const bool is_known = !core_->wals->error().ok();
  const Status closed = core_->wals->Close();
  return is_known ? Status::OK() : closed;
}

// Removes the files from the SstFileManager, which may outlive the database: live ones, those that
// iterators or handles of dropped families still hold, obsolete ones that were kept because
// deletions are disabled, and those that the next opening decides about. It continues to count
// files that wait for deletion until they are deleted.
void Closer::ForgetFiles() {
  if (core_->resources.space == nullptr) return;
  {
    MutexLock lock(&core_->mutex);
    const auto forget = [this](const std::string& path) {
      core_->resources.space->OnDeleteFile(path);
    };
    ForEachLivePath(*core_, [&](const std::string& path, uint64_t) { forget(path); });
    for (const std::string& path : core_->versions->HeldPaths()) forget(path);
    for (const std::string& path : core_->jobs.doubtful_paths()) forget(path);
  }
  // Last, since readers make files obsolete at any time; and without the mutex, because the files
  // are closed here.
  for (const ObsoleteTable& table : core_->versions->TakeObsolete()) {
    core_->resources.space->OnDeleteFile(table.family->tables->PathOf(table.file->meta));
  }
  for (const std::unique_ptr<BlobFile>& blob : core_->versions->TakeObsoleteBlobs()) {
    core_->resources.space->OnDeleteFile(blob->path);
  }
}

// The last step: from here on another process may open the database.
Status Closer::UnlockDirectory() { return core_->directory_lock.Release(); }

}  // namespace ashlar
