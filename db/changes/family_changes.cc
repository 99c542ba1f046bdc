// SPDX-License-Identifier: Apache-2.0
//
// Each change is recorded first, then published; then the obsolete files are deleted.
#include "db/changes/family_changes.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "db/files/obsolete_files.h"
#include "db/files/options_files.h"
#include "db/opening/open.h"
#include "db/options/dynamic_options.h"
#include "db/options/memory_limit.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "db/state/family_handle.h"
#include "db/state/log_needs.h"
#include "db/state/undo_change.h"
#include "env/file_util.h"
#include "util/threads/epoch.h"

namespace ashlar {

// Checks the options of a new family. The directories are created before the MANIFEST names the
// family. A crash in between leaves empty directories only.
Result<ColumnFamilyOptions> FamilyChanges::SettleOptions(const ColumnFamilyOptions& options) const {
  RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(options));
  ColumnFamilyOptions settled, sanitized;
  {
    MutexLock lock(&core_->mutex);
    RETURN_IF_ERROR(CheckFamilyFits(*core_->options, options));
    settled = SettleColumnFamilyOptions(*core_->options, options);
    sanitized = SanitizeSettledOptions(*core_->options, settled);
  }
  RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(sanitized));  // now with the directories
  for (const std::string& dir : core_->paths.TableDirsFor(sanitized)) {
    RETURN_IF_ERROR(CreateDirectories(core_->environment.fs.get(), dir));
  }
  return settled;
}

Status FamilyChanges::Create(const ColumnFamilyOptions& options, const std::string& name,
                             ColumnFamilyHandle** handle) {
  *handle = nullptr;
  ASSIGN_OR_RETURN(const ColumnFamilyOptions settled, SettleOptions(options));
  Status created;
  uint64_t failed_before = 0;
  {
    MutexLock lock(&core_->mutex);
    failed_before = core_->versions->failed_changes();
    if (core_->errors.BlocksWrites()) return core_->errors.Get();
    const Result<ColumnFamilyData*> family = CreateFamilyLocked(core_, host_, name, settled);
    created = family.status();
    if (created.ok()) *handle = new FamilyHandle(family.value(), core_);
  }
  if (!created.ok()) {
    IgnoreError(UndoChange(core_, failed_before), "the error of the creation says more");
    return created;
  }
  return WriteOptionsFile(core_);
}

Status FamilyChanges::Begin(const ColumnFamilyOptions& options, const std::string& name,
                            std::unique_ptr<NewFamily>* family) {
  assert(family != nullptr);
  ASSIGN_OR_RETURN(const ColumnFamilyOptions settled, SettleOptions(options));
  MutexLock lock(&core_->mutex);
  if (core_->errors.BlocksWrites()) return core_->errors.Get();
  ASSIGN_OR_RETURN(*family, NewFamily::Begin(core_, host_, name, settled));
  return Status::OK();
}

Status FamilyChanges::WriteOptions() { return WriteOptionsFile(core_); }

// Stops at the first error. The handles of the families that exist by then are returned.
Status FamilyChanges::CreateAll(const std::vector<ColumnFamilyDescriptor>& descriptors,
                                std::vector<ColumnFamilyHandle*>* handles) {
  assert(handles != nullptr);
  handles->clear();
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    ColumnFamilyHandle* handle = nullptr;
    const Status status = Create(descriptor.options, descriptor.name, &handle);
    if (handle != nullptr) handles->push_back(handle);
    RETURN_IF_ERROR(status);
  }
  return Status::OK();
}

// Writes pause while the family is removed from the set: so a batch is applied either completely
// before that or without the part of this family.
Status FamilyChanges::Drop(ColumnFamilyData* family) {
  assert(family != nullptr);
  assert(!InEpoch());
  if (family->id() == 0) return Status::InvalidArgument("Can't drop default column family");
  Status recorded;
  uint64_t failed_before = 0;
  {
    MutexLock lock(&core_->mutex);
    failed_before = core_->versions->failed_changes();
    recorded = RecordDrop(*family);
    if (recorded.ok()) {
      assert(family->is_dropped());
      core_->pipeline->Pause();
      core_->families.Remove(family->id());
      family->KeepImmutables();
      core_->pipeline->Resume();
      writes_->UpdateStallLocked();
      core_->conditions.FamilyChanged();
    }
  }
  if (!recorded.ok()) {
    IgnoreError(UndoChange(core_, failed_before), "the error of the drop says more");
    return recorded;
  }
  writes_->NotifyOfStalls();
  PurgeObsoleteFiles(core_);
  return WriteOptionsFile(core_);
}

// Records the drop, together with the oldest log that is still needed, so that a crash after it
// finds both or neither.
Status FamilyChanges::RecordDrop(const ColumnFamilyData& family) {
  assert(family.id() != 0);
  VersionEdit drop;
  drop.column_family = family.id();
  drop.is_family_drop = true;
  // The family's unflushed writes need no log any more.
  const LogsOfFamily none[] = {{&family, FileNumber::None()}};
  VersionEdit logs;
  logs.min_log_number_to_keep = OldestLogNeeded(*core_, none);
  VersionSet::Change change;
  change.edits.push_back(std::move(drop));
  change.edits.push_back(std::move(logs));
  change.last_sequence = core_->pipeline->visible_seqno();
  Status status = core_->versions->LogAndApply(std::move(change), &core_->mutex);
  if (!status.IsColumnFamilyDropped()) return status;
  return Status::InvalidArgument("Column family already dropped!");
}

// The new options are valid for everything that begins after this call. Running jobs keep those
// with which they began.
Status FamilyChanges::SetOptions(std::span<const NewValues> changes) {
  if (changes.empty()) return Status::InvalidArgument("empty input");
  {
    MutexLock lock(&core_->mutex);
    ASSIGN_OR_RETURN(std::vector<ChangedOptions> changed, ChangeOptions(changes));
    for (ChangedOptions& options : changed) {
      ColumnFamilyData* const family = options.family;
      family->SetOptions(std::move(options.sanitized));
      family->settled_options = std::move(options.settled);
      TableCache* const tables = family->versions()->tables.get();
      tables->SetReadahead(*BlockBasedOptionsOf(family->options().table_factory.get()));
      tables->SetBlockProtection(family->options().block_protection_bytes_per_key);
      tables->SetWriteBuffer(family->options().write_buffer_size);
    }
    writes_->UpdateStallLocked();
    for (const ChangedOptions& options : changed) {
      if (options.family->is_flush_due()) scheduler_->RequestFlushLocked(options.family);
      scheduler_->RequestCompactionLocked(options.family);
    }
    core_->conditions.FamilyChanged();
  }
  writes_->NotifyOfStalls();
  return WriteOptionsFile(core_);
}

// Computes the options of all families before any of them changes, so an error changes nothing.
Result<std::vector<FamilyChanges::ChangedOptions>> FamilyChanges::ChangeOptions(
    std::span<const NewValues> changes) const {
  std::vector<ChangedOptions> all;
  for (const NewValues& change : changes) {
    ColumnFamilyData* const family = change.family;
    assert(family != nullptr);
    if (change.values->empty()) return Status::InvalidArgument("empty input");
    if (family->is_dropped()) return Status::ColumnFamilyDropped();
    const auto same_family = [family](const ChangedOptions& other) {
      return other.family == family;
    };
    auto options = std::find_if(all.begin(), all.end(), same_family);
    if (options == all.end()) {
      all.push_back({.family = family, .settled = family->settled_options});
      options = std::prev(all.end());
    }
    ASSIGN_OR_RETURN(ColumnFamilyOptions changed,
                     ChangeColumnFamilyOptions(*core_->options, *options->settled, *change.values));
    options->settled = std::make_shared<const ColumnFamilyOptions>(std::move(changed));
    options->sanitized = std::make_shared<const ColumnFamilyOptions>(
        SanitizeSettledOptions(*core_->options, *options->settled));
  }
  return all;
}

namespace {

// Applies the memory limit. The cache may have much to evict, so the mutex is not held meanwhile;
// if several threads change the limit at once, the last change is applied last.
void ApplyChangedMemoryLimit(DbCore* core) EXCLUDES(db_mutex) {
  size_t applied = 0;
  for (;;) {
    std::shared_ptr<const DBOptions> options;
    {
      MutexLock lock(&core->mutex);
      options = core->options;
    }
    if (options->memory_limit == applied) return;
    SetMemoryLimit(*options);
    applied = options->memory_limit;
  }
}

// A logger of the program keeps its own level unless the call changes it. It is called without the
// mutex; if several threads change the level at once, the last change is applied last.
void ApplyChangedLogLevel(DbCore* core) EXCLUDES(db_mutex) {
  for (std::optional<InfoLogLevel> applied;;) {
    InfoLogLevel level;
    {
      MutexLock lock(&core->mutex);
      level = core->options->info_log_level;
    }
    if (level == applied) return;
    core->services.info_log->SetInfoLogLevel(level);
    applied = level;
  }
}

}  // namespace

// Readers of the options hold references to the old object, which therefore stays valid for them.
Status SetDbOptions(DbCore* core, WriteControl* writes, Scheduler* scheduler,
                    const std::unordered_map<std::string, std::string>& values) {
  if (values.empty()) return Status::InvalidArgument("empty input");
  {
    MutexLock lock(&core->mutex);
    ASSIGN_OR_RETURN(DBOptions changed, ChangeDbOptions(*core->options, values));
    core->options = std::make_shared<const DBOptions>(std::move(changed));
    core->resources.open_tables.SetMaxOpenFiles(core->options->max_open_files);
    core->wals->SetBuffering(core->options->writable_file_max_buffer_size,
                             core->options->wal_bytes_per_sync);
    core->versions->SetManifestLimits(
        {.max_bytes = core->options->max_manifest_file_size,
         .preallocate_bytes = core->options->manifest_preallocation_size});
    writes->UpdateStallLocked();
    scheduler->StartLocked();
  }
  if (values.contains("memory_limit")) ApplyChangedMemoryLimit(core);
  if (values.contains("info_log_level")) ApplyChangedLogLevel(core);
  writes->NotifyOfStalls();
  return WriteOptionsFile(core);
}

}  // namespace ashlar
