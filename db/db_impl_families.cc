// SPDX-License-Identifier: Apache-2.0
//
// Column families, options and external files. DBImpl only checks the arguments; db/changes and
// db/ingestion do the work.
#include <cassert>
#include <deque>
#include <vector>

#include "db/db_impl.h"

#include "db/changes/file_drops.h"
#include "db/clip_family.h"
#include "db/ingestion/family_import.h"
#include "util/keys/stored_key.h"

namespace ashlar {
namespace {

// The options of all families decide how often times of writes are sampled. They may have changed
// in part even if the call failed.
Status ThenSample(TimeSampler* sampler, Status status) {
  sampler->Start();
  return status;
}

}  // namespace

// The caller owns *handle and destroys it before the database.
Status DBImpl::CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                  ColumnFamilyHandle** handle) {
  RETURN_IF_ERROR(CheckWritable());
  return ThenSample(&time_sampler_, family_changes_.Create(options, name, handle));
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
  assert(handles != nullptr);
  handles->clear();
  RETURN_IF_ERROR(CheckWritable());
  return ThenSample(&time_sampler_, family_changes_.CreateAll(descriptors, handles));
}

// The family is dropped at once, but its files stay until the last handle and reader are gone.
Status DBImpl::DropColumnFamily(ColumnFamilyHandle* handle) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return ThenSample(&time_sampler_, family_changes_.Drop(FamilyOf(handle)));
}

// Stops at the first error. The families before it in the list are dropped by then.
Status DBImpl::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& handles) {
  for (ColumnFamilyHandle* handle : handles) RETURN_IF_ERROR(DropColumnFamily(handle));
  return Status::OK();
}

// Removes all keys outside of [begin_key, end_key); see db/clip_family.h for what a crash leaves.
Status DBImpl::ClipColumnFamily(ColumnFamilyHandle* handle, const Slice& begin_key,
                                const Slice& end_key) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  if (IsStamped(handle)) return ClipStamped(handle, begin_key, end_key);
  return ClipFamily(this, handle, begin_key, end_key);
}

// The default handle belongs to the database, so the program must not destroy it.
Status DBImpl::DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) {
  if (handle == default_handle_.get()) {
    return Status::InvalidArgument("Cannot destroy the handle returned by DefaultColumnFamily()");
  }
  delete handle;
  return Status::OK();
}

// A change of one family, as a list of one.
Status DBImpl::SetOptions(ColumnFamilyHandle* handle,
                          const std::unordered_map<std::string, std::string>& opts_map) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  const FamilyChanges::NewValues change{FamilyOf(handle), &opts_map};
  return ThenSample(&time_sampler_, family_changes_.SetOptions({&change, 1}));
}

// All families change together, or none of them does.
Status DBImpl::SetOptions(const OptionsByFamily& column_family_opts_map) {
  RETURN_IF_ERROR(CheckWritable());
  std::vector<FamilyChanges::NewValues> changes;
  for (const auto& [handle, values] : column_family_opts_map) {
    RETURN_IF_ERROR(CheckHandle(handle));
    changes.push_back({FamilyOf(handle), &values});
  }
  return ThenSample(&time_sampler_, family_changes_.SetOptions(changes));
}

// The reports start again, because their periods may have changed, even if the OPTIONS file could
// not be written.
Status DBImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& opts_map) {
  RETURN_IF_ERROR(CheckWritable());
  const Status status = SetDbOptions(&core_, &write_control_, &scheduler_, opts_map);
  reports_.Start();
  return status;
}

Status DBImpl::DeleteFilesInRanges(ColumnFamilyHandle* handle, std::span<const RangeOpt> ranges,
                                   bool include_end) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  // Files have keys with timestamps, so the bounds of a family with timestamps get one too.
  ColumnFamilyData* const family = FamilyOf(handle);
  const InternalKeyComparator& order = family->comparator();
  // A deque, because the slices in `stored` point into its elements, which must not move.
  std::deque<StoredKey> keys;
  std::vector<RangeOpt> stored;
  const auto store = [&](const OptSlice& key) -> OptSlice {
    const Slice* const bytes = keys.emplace_back(order, key.AsPtr()).get();
    return bytes == nullptr ? OptSlice() : OptSlice(*bytes);
  };
  if (order.stamp_bytes() != 0) {
    for (const RangeOpt& range : ranges) {
      const OptSlice start = store(range.start), limit = store(range.limit);
      stored.emplace_back(start, limit);
    }
    ranges = stored;
  }
  const Status status = DropFilesInRanges(&core_, &write_control_, family, ranges, include_end);
  // A compaction may have been due that needed a file which the call had claimed.
  MutexLock lock(&core_.mutex);
  scheduler_.RequestCompactionLocked(family);
  return status;
}

// The call has no status, so a null handle gives default options instead of an error.
Options DBImpl::GetOptions(ColumnFamilyHandle* handle) const {
  MutexLock lock(&core_.mutex);
  if (handle == nullptr) return Options(*core_.options, ColumnFamilyOptions());
  return Options(*core_.options, FamilyOf(handle)->options());
}

// A copy, because SetDBOptions() may replace the options as soon as the mutex is released.
DBOptions DBImpl::GetDBOptions() const {
  MutexLock lock(&core_.mutex);
  return *core_.options;
}

Status DBImpl::IngestExternalFile(ColumnFamilyHandle* handle, const std::vector<std::string>& files,
                                  const IngestExternalFileOptions& options) {
  IngestExternalFileArg arg;
  arg.column_family = handle;
  arg.external_files = files;
  arg.options = options;
  return IngestExternalFiles({arg});
}

// Both steps of an ingestion in one call. If the second step fails, the staged files are deleted.
Status DBImpl::IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) {
  std::vector<std::unique_ptr<FileIngestionHandle>> handles(1);
  RETURN_IF_ERROR(PrepareFileIngestion(args, handles.data()));
  return CommitFileIngestionHandles(std::move(handles));
}

// Copies or links the files into the database and checks them. Nothing is visible before the
// commit; a handle that is destroyed without one deletes its staged files.
Status DBImpl::PrepareFileIngestion(const std::vector<IngestExternalFileArg>& args,
                                    std::unique_ptr<FileIngestionHandle>* handle) {
  assert(handle != nullptr);
  handle->reset();
  RETURN_IF_ERROR(CheckWritable());
  return ingestions_.Prepare(args, handle);
}

// All files of all handles become visible by one record of the MANIFEST, so also after a crash
// either all of them or none are there.
Status DBImpl::CommitFileIngestionHandles(
    std::vector<std::unique_ptr<FileIngestionHandle>> handles) {
  RETURN_IF_ERROR(CheckWritable());
  return ingestions_.Commit(std::move(handles));
}

// The tables keep their sequence numbers and their levels; see db/ingestion/family_import.h.
Status DBImpl::CreateColumnFamilyWithImport(
    const ColumnFamilyOptions& options, const std::string& name,
    const ImportColumnFamilyOptions& import_options,
    const std::vector<const ExportImportFilesMetaData*>& metadatas, ColumnFamilyHandle** handle) {
  *handle = nullptr;
  RETURN_IF_ERROR(CheckWritable());
  return ThenSample(
      &time_sampler_,
      FamilyImport(&core_, &family_changes_).Run(options, name, import_options, metadatas, handle));
}

}  // namespace ashlar
