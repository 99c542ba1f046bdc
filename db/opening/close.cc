// SPDX-License-Identifier: Apache-2.0
//
// Each step leaves what the next one needs.
#include "db/opening/close.h"

#include <cassert>

#include "db/files/obsolete_files.h"
#include "db/files/options_files.h"
#include "db/state/notify_errors.h"
#include "env/io_rule.h"
#include "util/result.h"

namespace ashlar {

Status StartWork(DbCore* core, WriteControl* writes, Scheduler* scheduler) {
  {
    MutexLock lock(&core->mutex);
    const IoUnderDbMutex nobody_waits;
    if (core->space != nullptr) {
      ForEachLivePath(*core, [core](const std::string& path, uint64_t bytes) {
        core->space->OnAddFile(path, bytes);
      });
    }
    auto obsolete = ScanForObsolete(core);
    if (obsolete.ok()) {
      MutexUnlock unlock(&core->mutex);
      DeleteObsolete(core, obsolete.Take());
    }
  }
  RETURN_IF_ERROR(WriteOptionsFile(core));
  {
    MutexLock lock(&core->mutex);
    for (ColumnFamilyData* family : core->families.All()) {
      scheduler->RequestCompactionLocked(family);
    }
    writes->UpdateStallLocked();
    scheduler->StartLocked();
  }
  writes->TellStallChanges();
  return Status::OK();
}

Status Closer::Run() {
  ForEachListener(*core_,
                  [this](EventListener* listener) { listener->OnDBShutdownBegin(core_->db); });
  Status status = CancelBackgroundWork(/*wait=*/false);
  RefuseWrites();
  if (!core_->is_read_only) {
    scheduler_->Stop();
    if (core_->shortage != nullptr) core_->shortage->StopTrying();
    EndRecovery();
    const Status closed = CloseLogs();
    if (status.ok()) status = closed;
    PurgeObsoleteFiles(core_);
    ForgetFiles();
  }
  const Status unlocked = UnlockDirectory();
  return status.ok() ? unlocked : status;
}

Status Closer::CancelBackgroundWork(bool wait) {
  if (core_->is_read_only) return Status::OK();
  Status status;
  if (!core_->is_background_cancelled.load(std::memory_order_acquire)) {
    if (WantsFlush()) status = flushes_->FlushAll(FlushOptions(), FlushReason::kShutDown);
    MutexLock lock(&core_->mutex);
    core_->is_background_cancelled.store(true, std::memory_order_release);
    core_->conditions.AllStops();
  }
  if (wait) scheduler_->Stop();
  return status;
}

// What failed softly is not tried again any more.
void Closer::EndRecovery() {
  assert(core_->is_background_cancelled.load(std::memory_order_acquire));
  const Status error = core_->errors.ClearSoft();
  if (!error.ok()) NotifyRecoveryEnd(core_, error, Status::ShutdownInProgress());
}

// Writes that skipped the log would be lost, which a user can ask for.
bool Closer::WantsFlush() const {
  if (!core_->pipeline->has_unlogged_writes() || core_->errors.BlocksWrites()) return false;
  MutexLock lock(&core_->mutex);
  return !core_->options->avoid_flush_during_shutdown;
}

void Closer::RefuseWrites() {
  MutexLock lock(&core_->mutex);
  core_->is_closing.store(true, std::memory_order_release);
  core_->pipeline->RequestAttention();
  core_->conditions.AllStops();
}

// A log that broke has told its error already.
Status Closer::CloseLogs() {
  assert(core_->is_closing.load(std::memory_order_acquire));  // no commit begins any more
  const bool is_known = !core_->wals->error().ok();
  const Status closed = core_->wals->Close();
  return is_known ? Status::OK() : closed;
}

// The manager may outlive the database. What waits to be deleted it counts until it is gone.
void Closer::ForgetFiles() {
  if (core_->space == nullptr) return;
  MutexLock lock(&core_->mutex);
  ForEachLivePath(*core_,
                  [this](const std::string& path, uint64_t) { core_->space->OnDeleteFile(path); });
}

Status Closer::UnlockDirectory() {
  if (core_->lock == nullptr) return Status::OK();
  const IOStatus unlocked = core_->fs->UnlockFile(core_->lock, IOOptions(), nullptr);
  core_->lock = nullptr;
  return unlocked;
}

}  // namespace ashlar
