// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing of a DBImpl. The constructor only connects the components. The Opener then
// fills DbCore from the files, and StartWork() begins background work.
#include "db/db_impl.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "db/files/obsolete_files.h"
#include "db/files/options_files.h"
#include "db/jobs/notify.h"
#include "db/manifest/manifest_reader.h"
#include "db/opening/compatibility.h"
#include "db/options/options_check.h"
#include "db/report/stored_history.h"
#include "db/version/version_set.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/info_log.h"
#include "util/threads/epoch.h"

namespace ashlar {

// The components are constructed in the order of their members. Each gets the addresses of those
// that it uses, which are constructed before it.
DBImpl::DBImpl(const OpenRequest& request)
    : core_(request.db_options, request.dir),
      write_control_(&core_),
      job_runner_(&core_, &write_control_),
      manual_queue_(&core_.conditions, &compaction_registry_),
      level0_turns_(core_.environment.clock.get()),
      compactions_(&core_, &job_runner_, &compaction_registry_, &manual_queue_, &level0_turns_),
      scheduler_(&core_, {.runner = &job_runner_,
                          .registry = &compaction_registry_,
                          .manual = &manual_queue_,
                          .turns = &level0_turns_,
                          .compactions = &compactions_}),
      manual_flushes_(&core_, &write_control_, &scheduler_),
      manual_compactions_(&core_, &job_runner_, &compaction_registry_, &manual_queue_,
                          &compactions_, &scheduler_, &manual_flushes_),
      recovery_(&core_, &write_control_, &scheduler_),
      space_recovery_(&core_, &recovery_, &scheduler_),
      error_retries_(&core_, &recovery_),
      family_changes_(&core_, &write_control_, &scheduler_, this),
      ingestions_(&core_, &write_control_, &scheduler_, &compaction_registry_, &manual_flushes_),
      closer_(&core_, &write_control_, &scheduler_, &manual_flushes_),
      baselines_{.since_micros = core_.environment.NowMicros()},
      reports_(Sources()),
      time_sampler_(&core_, &scheduler_),
      name_(request.access == Access::kFollower ? request.own_dir : request.dir) {
  core_.services.db = this;
  core_.services.cleaner = this;
  if (core_.resources.space != nullptr) core_.services.shortage = &space_recovery_;
  if (!request.is_read_only()) core_.services.retries = &error_retries_;
  core_.wals = std::make_unique<WalSet>();
  core_.pipeline = std::make_unique<CommitPipeline>(&write_control_, core_.wals.get());
  // The write control calls the scheduler, which is constructed after it.
  write_control_.SetFlushes(&scheduler_);
}

Status DBImpl::Open(const OpenRequest& request, std::vector<ColumnFamilyHandle*>* handles,
                    std::unique_ptr<DB>* db) {
  assert(db != nullptr);
  db->reset();
  // An error at any step destroys the object again, which releases all that was opened so far.
  std::unique_ptr<DBImpl> impl(new DBImpl(request));
  impl->is_closed_ = true;  // nothing must be closed before the opener has succeeded
  DbCore& core = impl->core_;
  DirectoryNames names(core.environment.fs.get());
  RETURN_IF_ERROR(Opener(request, &core, impl.get(), &names).Run());
  impl->is_closed_ = false;
  impl->default_handle_ = std::make_unique<FamilyHandle>(core.families.default_family(), &core);
  if (request.is_following()) {
    impl->follower_ = Follower::Create(&core, request);
    RETURN_IF_ERROR(impl->follower_->CatchUp());
    if (request.access == Access::kFollower) impl->follower_->StartThread();
  }
  if (!request.is_read_only()) {
    RETURN_IF_ERROR(StartWork(&core, &impl->write_control_, &impl->scheduler_, &names));
  }
  RETURN_IF_ERROR(impl->StartReports(request));
  // The hidden family is the last one of the request, and gets no handle.
  MutexLock lock(&core.mutex);
  const size_t asked_for = request.families.size() - (request.has_hidden_family ? 1 : 0);
  for (const ColumnFamilyDescriptor& descriptor : std::span(request.families).first(asked_for)) {
    handles->push_back(new FamilyHandle(core.families.FindByName(descriptor.name), &core));
  }
  *db = std::move(impl);
  return Status::OK();
}

// Starts the periodic reports. If a newer release has stored the statistics, its data is left
// unchanged, and new statistics stay in memory.
Status DBImpl::StartReports(const OpenRequest& request) {
  std::unique_ptr<StoredHistory> stored;
  if (request.db_options.persist_stats_to_disk) {
    MutexLock lock(&core_.mutex);
    ColumnFamilyData* const family = core_.families.FindByName(kPersistentStatsColumnFamilyName);
    if (family != nullptr) {
      stored =
          std::make_unique<StoredHistory>(this, std::make_unique<FamilyHandle>(family, &core_));
    }
  }
  if (stored != nullptr) {
    const Status status = stored->Prepare(/*may_write=*/!request.is_read_only());
    if (!status.ok() && !status.IsNotSupported() && !status.IsIncomplete()) return status;
    if (!status.ok()) {
      Warn(core_.services.info_log, "statistics stay in memory: %s", status.ToString().c_str());
      stored.reset();
    }
  }
  reports_.StoreIn(std::move(stored));
  if (!request.is_read_only()) {
    reports_.Start();
    time_sampler_.Learn();
    time_sampler_.Start();
  }
  return Status::OK();
}

// A destructor cannot return errors, so programs that need the error of closing call Close() first.
DBImpl::~DBImpl() { IgnoreError(CloseOnce(), "Close() reports errors to those who call it"); }

// Snapshots refer to the list in DbCore, so all of them must be released before the database is
// closed.
Status DBImpl::Close() {
  if (!is_closed_ && core_.snapshots.count() > 0) {
    return Status::Aborted("Cannot close DB with unreleased snapshot.");
  }
  return CloseOnce();
}

Status DBImpl::CancelBackgroundWork(bool wait) {
  const Status status = closer_.CancelBackgroundWork(wait);
  reports_.Stop();  // nothing starts them again
  time_sampler_.Stop();
  return status;
}

// The order matters. The reports use the database, so they stop first. Stored statistics and the
// default handle hold references to families, so they are released last.
Status DBImpl::CloseOnce() {
  if (std::exchange(is_closed_, true)) return Status::OK();
  reports_.Stop();
  time_sampler_.Stop();
  if (follower_ != nullptr) follower_->StopThread();
  EndTraces();
  Status status = closer_.Run();
  reports_.StoreIn(nullptr);
  default_handle_.reset();
  return status;
}

Status DBImpl::TryCatchUpWithPrimary() {
  if (follower_ == nullptr) {
    return Status::NotSupported("TryCatchUpWithPrimary: the database is not a secondary",
                                core_.paths.dir);
  }
  return follower_->CatchUp();
}

// Tries to recover from a background error. The recovery notifies the listeners.
Status DBImpl::Resume() {
  RETURN_IF_ERROR(CheckWritable());
  return recovery_.Run();
}

namespace {

// Adds the hidden family that stores statistics. If the program names this family it gets a handle,
// otherwise the family is opened without one. Its options are always the same: as in RocksDB, the
// options of the program do not apply to it.
void AddHiddenFamily(OpenRequest* request) {
  assert(request != nullptr);
  if (request->is_for_tables) return;
  const auto is_it = [](const ColumnFamilyDescriptor& family) {
    return family.name == kPersistentStatsColumnFamilyName;
  };
  const auto named = std::find_if(request->families.begin(), request->families.end(), is_it);
  if (named != request->families.end()) {
    named->options = StoredHistoryOptions();
    return;
  }
  request->families.emplace_back(kPersistentStatsColumnFamilyName, StoredHistoryOptions());
  request->has_hidden_family = true;
}

}  // namespace

// All ways of opening end here. Everything is checked before anything is created, so unsupported
// options leave no trace on the disk.
Status DBImpl::OpenChecked(OpenRequest request, std::vector<ColumnFamilyHandle*>* handles,
                           std::unique_ptr<DB>* db) {
  assert(handles != nullptr);
  assert(db != nullptr);
  handles->clear();
  db->reset();
  RETURN_IF_ERROR(CheckDbOptionsSupported(request.db_options));
  ASSIGN_OR_RETURN(request.db_options.write_compatible_with, CompatibilityOf(request));
  if (request.is_following()) {
    RETURN_IF_ERROR(SettleForFollowing(&request));
  } else {
    AddHiddenFamily(&request);
  }
  for (const ColumnFamilyDescriptor& family : request.families) {
    RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(family.options));
    RETURN_IF_ERROR(CheckFamilyFits(request.db_options, family.options));
  }
  request.db_options = SanitizeDbOptions(request.db_options);
  for (ColumnFamilyDescriptor& family : request.families) {
    ColumnFamilyOptions& settled = request.settled_options[family.name];
    settled = SettleColumnFamilyOptions(request.db_options, family.options);
    family.options = SanitizeSettledOptions(request.db_options, settled);
  }
  return Open(request, handles, db);
}

Status DB::Open(const DBOptions& db_options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
  return DBImpl::OpenChecked({.db_options = db_options, .dir = name, .families = column_families},
                             handles, dbptr);
}

Status DB::OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr,
                           bool error_if_wal_file_exists) {
  return DBImpl::OpenChecked({.db_options = db_options,
                              .dir = name,
                              .families = column_families,
                              .access = Access::kReadOnly,
                              .error_if_wal_exists = error_if_wal_file_exists},
                             handles, dbptr);
}

Status DB::OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                           const std::string& secondary_path,
                           const std::vector<ColumnFamilyDescriptor>& column_families,
                           std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
  return DBImpl::OpenChecked({.db_options = db_options,
                              .dir = name,
                              .families = column_families,
                              .access = Access::kSecondary,
                              .own_dir = secondary_path},
                             handles, dbptr);
}

Status DB::OpenAsFollower(const DBOptions& db_options, const std::string& name,
                          const std::string& leader_path,
                          const std::vector<ColumnFamilyDescriptor>& column_families,
                          std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
  return DBImpl::OpenChecked({.db_options = db_options,
                              .dir = leader_path,
                              .families = column_families,
                              .access = Access::kFollower,
                              .own_dir = name},
                             handles, dbptr);
}

Status DB::ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                              std::vector<std::string>* column_families) {
  assert(column_families != nullptr);
  column_families->clear();
  auto names = ListFamilies(db_options.env->GetFileSystem().get(), name);
  if (!names.ok()) return names.status();
  *column_families = names.Take();
  return Status::OK();
}

}  // namespace ashlar
