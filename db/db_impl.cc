// SPDX-License-Identifier: Apache-2.0
//
// Opening, closing and recovering from a background error.
#include "db/db_impl.h"

#include <utility>

#include "db/files/obsolete_files.h"
#include "db/jobs/notify.h"
#include "db/options/options_check.h"
#include "db/version/version_set.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/epoch.h"

namespace ashlar {

DBImpl::DBImpl(const OpenRequest& request)
    : core_(request.db_options, request.dir),
      write_control_(&core_),
      job_runner_(&core_, &write_control_),
      compactions_(&core_, &job_runner_),
      scheduler_(&core_, &job_runner_, &compactions_),
      manual_flushes_(&core_, &write_control_, &scheduler_),
      manual_compactions_(&core_, &compactions_, &scheduler_, &manual_flushes_),
      family_changes_(&core_, &write_control_, &scheduler_, this) {
  core_.db = this;
  core_.cleaner = this;
  core_.wals = std::make_unique<WalSet>();
  core_.pipeline = std::make_unique<CommitPipeline>(&write_control_, core_.wals.get());
  write_control_.SetFlushes(&scheduler_);
}

Status DBImpl::Open(const OpenRequest& request, std::vector<ColumnFamilyHandle*>* handles,
                    std::unique_ptr<DB>* db) {
  db->reset();
  std::unique_ptr<DBImpl> impl(new DBImpl(request));
  impl->is_closed_ = true;  // nothing to close before all parts are there
  RETURN_IF_ERROR(Opener(request, &impl->core_, impl.get()).Run());
  impl->is_closed_ = false;
  DbCore& core = impl->core_;
  impl->default_handle_ = std::make_unique<FamilyHandle>(core.families.default_family(), &core);
  if (!request.is_read_only) {
    {
      MutexLock lock(&core.mutex);
      auto obsolete = ScanForObsolete(&core);
      if (obsolete.ok()) {
        MutexUnlock unlock(&core.mutex);
        DeleteObsolete(&core, obsolete.Take());
      }
    }
    RETURN_IF_ERROR(WriteOptionsFile(&core));
    MutexLock lock(&core.mutex);
    for (ColumnFamilyData* family : core.families.All()) {
      impl->scheduler_.RequestCompactionLocked(family);
    }
    impl->write_control_.UpdateStallLocked();
    impl->scheduler_.StartLocked();
  }
  MutexLock lock(&core.mutex);
  for (const ColumnFamilyDescriptor& descriptor : request.families) {
    handles->push_back(new FamilyHandle(core.families.FindByName(descriptor.name), &core));
  }
  *db = std::move(impl);
  return Status::OK();
}

DBImpl::~DBImpl() { IgnoreError(CloseOnce(), "Close() reports errors to those who call it"); }

Status DBImpl::Close() {
  if (!is_closed_ && core_.snapshots.count() > 0) {
    return Status::Aborted("Cannot close DB with unreleased snapshot.");
  }
  return CloseOnce();
}

// Writes that skipped the log are flushed first, unless asked otherwise.
Status DBImpl::CancelBackgroundWork(bool wait) {
  if (core_.is_read_only) return Status::OK();
  Status status;
  if (!core_.is_background_cancelled.load(std::memory_order_acquire)) {
    if (!GetDBOptions().avoid_flush_during_shutdown && core_.pipeline->has_unlogged_writes() &&
        !core_.errors.BlocksWrites()) {
      status = manual_flushes_.FlushAll(FlushOptions());
    }
    MutexLock lock(&core_.mutex);
    core_.is_background_cancelled.store(true, std::memory_order_release);
    core_.changed.SignalAll();
  }
  if (wait) scheduler_.Stop();
  return status;
}

void DBImpl::RefuseWrites() {
  MutexLock lock(&core_.mutex);
  core_.is_closing.store(true, std::memory_order_release);
  core_.pipeline->RequestAttention();
  core_.changed.SignalAll();
}

// Nothing new begins, what runs ends, then everything is taken apart.
Status DBImpl::CloseOnce() {
  if (std::exchange(is_closed_, true)) return Status::OK();
  Status status = CancelBackgroundWork(/*wait=*/false);
  RefuseWrites();
  if (!core_.is_read_only) {
    scheduler_.Stop();
    Status closed = core_.wals->Close();
    if (status.ok() && !core_.errors.NeedsNewLog()) status = closed;
    PurgeObsoleteFiles(&core_);
  }
  default_handle_.reset();
  if (core_.lock != nullptr) {
    Status unlocked = core_.fs->UnlockFile(core_.lock, IOOptions(), nullptr);
    core_.lock = nullptr;
    if (status.ok()) status = unlocked;
  }
  return status;
}

// Everything in logs before this one is in tables now. A log that broke must not be read again: its
// torn end would hide the logs behind it; nor synced again.
Status DBImpl::ForgetLogsBefore(uint64_t log_number) {
  {
    MutexLock lock(&core_.mutex);
    VersionSet::Change change;
    for (ColumnFamilyData* family : core_.families.All()) {
      VersionEdit edit;
      edit.column_family = family->id();
      edit.log_number = log_number;
      change.edits.push_back(std::move(edit));
    }
    change.edits.front().min_log_number_to_keep = log_number;
    change.last_sequence = core_.pipeline->visible_seqno();
    RETURN_IF_ERROR(core_.versions->LogAndApply(std::move(change), &core_.mutex));
  }
  PurgeObsoleteFiles(&core_);
  return Status::OK();
}

// A log or MANIFEST whose end is unknown is not used again: everything in memory is flushed to new
// tables under a new log, and with the new MANIFEST that records them the database is whole.
Status DBImpl::Resume() {
  RETURN_IF_ERROR(CheckWritable());
  std::vector<ColumnFamilyData*> families;
  uint64_t fresh_log = 0;
  {
    MutexLock lock(&core_.mutex);
    const Status error = core_.errors.Get();
    if (error.ok()) return Status::OK();
    if (error.severity() >= Status::kFatalError) return error;
    const bool needs_new_log = core_.errors.NeedsNewLog();
    core_.errors.Clear();
    families = core_.families.RefAll();
    Status status = write_control_.SwitchMemTablesLocked(families, needs_new_log);
    if (!status.ok()) {
      core_.errors.Raise(status, needs_new_log ? BackgroundErrorReason::kWriteCallback
                                               : BackgroundErrorReason::kMemTable);
    } else if (needs_new_log) {
      fresh_log = core_.wals->current_number();
    }
    for (ColumnFamilyData* family : families) {
      scheduler_.RequestFlushLocked(family);
      scheduler_.RequestCompactionLocked(family);
    }
  }
  Status status = core_.errors.Get();
  FlushOptions options;
  options.allow_write_stall = true;
  if (status.ok()) status = manual_flushes_.FlushAll(options);
  if (status.ok() && fresh_log != 0) status = ForgetLogsBefore(fresh_log);
  for (ColumnFamilyData* family : families) family->Unref();
  if (status.ok()) core_.events->Event("resumed");
  return status;
}

namespace {

Status OpenAs(OpenRequest request, std::vector<ColumnFamilyHandle*>* handles,
              std::unique_ptr<DB>* db) {
  handles->clear();
  db->reset();
  RETURN_IF_ERROR(CheckDbOptionsSupported(request.db_options));
  for (ColumnFamilyDescriptor& family : request.families) {
    RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(family.options));
    family.options = SanitizeColumnFamilyOptions(request.db_options, family.options);
  }
  request.db_options = SanitizeDbOptions(request.db_options);
  return DBImpl::Open(request, handles, db);
}

}  // namespace

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
  return OpenAs({.db_options = db_options, .dir = name, .families = column_families}, handles,
                dbptr);
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr,
                           bool error_if_wal_file_exists) {
  return OpenAs({.db_options = db_options,
                 .dir = name,
                 .families = column_families,
                 .is_read_only = true,
                 .error_if_wal_exists = error_if_wal_file_exists},
                handles, dbptr);
}

Status DB::ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                              std::vector<std::string>* column_families) {
  column_families->clear();
  auto names = VersionSet::ListFamilies(db_options.env->GetFileSystem().get(), name);
  if (!names.ok()) return names.status();
  *column_families = names.Take();
  return Status::OK();
}

}  // namespace ashlar
