// SPDX-License-Identifier: Apache-2.0
//
// Creating and dropping column families, and changing options of an open database.
#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "db/options/dynamic_options.h"
#include "db/options/options_check.h"
#include "db/state/needed_logs.h"

namespace ashlar {

std::vector<ColumnFamilyData*> DBImpl::RefAllFamilies() {
  MutexLock lock(&core_.mutex);
  return core_.families.RefAll();
}

Status DBImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(options));
  const ColumnFamilyOptions sanitized = SanitizeColumnFamilyOptions(GetDBOptions(), options);
  {
    MutexLock lock(&core_.mutex);
    if (core_.errors.BlocksWrites()) return core_.errors.Get();
    RETURN_IF_ERROR(CreateFamilyLocked(&core_, this, name, sanitized));
    *handle = new FamilyHandle(core_.families.FindByName(name), &core_);
  }
  return WriteOptionsFile(&core_);
}

Status DBImpl::CreateColumnFamilies(const ColumnFamilyOptions& options,
                                    const std::vector<std::string>& names,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, options);
  return CreateColumnFamilies(descriptors, handles);
}

Status DBImpl::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& descriptors,
                                    std::vector<ColumnFamilyHandle*>* handles) {
  handles->clear();
  for (const ColumnFamilyDescriptor& descriptor : descriptors) {
    ColumnFamilyHandle* handle = nullptr;
    const Status status = CreateColumnFamily(descriptor.options, descriptor.name, &handle);
    if (handle != nullptr) handles->push_back(handle);  // also if only the OPTIONS file failed
    RETURN_IF_ERROR(status);
  }
  return Status::OK();
}

// Writes to the family stop before the drop is recorded: a batch is applied either wholly before
// it or without the family's part.
Status DBImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  RETURN_IF_ERROR(CheckWritable());
  ColumnFamilyData* family = FamilyOf(handle);
  if (family->id() == 0) return Status::InvalidArgument("Can't drop default column family");
  {
    MutexLock lock(&core_.mutex);
    VersionEdit edit;
    edit.column_family = family->id();
    edit.is_family_drop = true;
    VersionSet::Change change;
    change.edits.push_back(std::move(edit));
    // Its unflushed writes need no log any more.
    VersionEdit logs;
    logs.min_log_number_to_keep = OldestLogNeeded(core_, family);
    change.edits.push_back(std::move(logs));
    change.last_sequence = VisibleSeqno();
    const Status status = core_.versions->LogAndApply(std::move(change), &core_.mutex);
    if (status.IsColumnFamilyDropped()) {
      return Status::InvalidArgument("Column family already dropped!");
    }
    RETURN_IF_ERROR(status);
    core_.pipeline->Pause();
    core_.families.Remove(family->id());
    core_.pipeline->Resume();
    write_control_.UpdateStallLocked();
    core_.changed.SignalAll();
  }
  PurgeObsoleteFiles(&core_);
  return WriteOptionsFile(&core_);
}

Status DBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  for (ColumnFamilyHandle* handle : handles) RETURN_IF_ERROR(DropColumnFamily(handle));
  return Status::OK();
}

Status DBImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument("Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return Status::OK();
}

Status DBImpl::SetOptions(ColumnFamilyHandle* handle,
                          const std::unordered_map<std::string, std::string>& opts_map) {
  RETURN_IF_ERROR(CheckWritable());
  if (opts_map.empty()) return Status::InvalidArgument("empty input");
  ColumnFamilyData* family = FamilyOrDefault(handle);
  {
    MutexLock lock(&core_.mutex);
    if (family->is_dropped()) return Status::ColumnFamilyDropped();
    ASSIGN_OR_RETURN(ColumnFamilyOptions changed,
                     ChangeColumnFamilyOptions(*core_.options, family->options(), opts_map));
    family->SetOptions(std::make_shared<const ColumnFamilyOptions>(std::move(changed)));
    write_control_.UpdateStallLocked();
    scheduler_.RequestCompactionLocked(family);
    core_.changed.SignalAll();
  }
  return WriteOptionsFile(&core_);
}

Status DBImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& opts_map) {
  RETURN_IF_ERROR(CheckWritable());
  if (opts_map.empty()) return Status::InvalidArgument("empty input");
  {
    MutexLock lock(&core_.mutex);
    ASSIGN_OR_RETURN(DBOptions changed, ChangeDbOptions(*core_.options, opts_map));
    core_.options = std::make_shared<const DBOptions>(std::move(changed));
    write_control_.UpdateStallLocked();
    scheduler_.StartLocked();
  }
  return WriteOptionsFile(&core_);
}

Options DBImpl::GetOptions(ColumnFamilyHandle* handle) const {
  MutexLock lock(&core_.mutex);
  return Options(*core_.options, FamilyOrDefault(handle)->options());
}

DBOptions DBImpl::GetDBOptions() const {
  MutexLock lock(&core_.mutex);
  return *core_.options;
}

}  // namespace ashlar
