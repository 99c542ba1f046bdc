// SPDX-License-Identifier: Apache-2.0
//
// Convenience forms of all calls except reads and writes, expressed by the forms that a database
// implements. The forms of opening are in db/open_forms.cc.
#include <cassert>
#include <memory>
#include <utility>

#include "ashlar/db.h"
#include "util/result.h"

namespace ashlar {

DB::~DB() {}

// Column families.

Status DB::CreateColumnFamilies(const ColumnFamilyOptions& options,
                                const std::vector<std::string>& column_family_names,
                                std::vector<ColumnFamilyHandle*>* handles) {
  std::vector<ColumnFamilyDescriptor> column_families;
  for (const std::string& name : column_family_names) column_families.emplace_back(name, options);
  return CreateColumnFamilies(column_families, handles);
}
// Stops at the first error; *handles then has the families that were created.
Status DB::CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles) {
  assert(handles != nullptr);
  handles->clear();
  for (const ColumnFamilyDescriptor& family : column_families) {
    ColumnFamilyHandle* handle = nullptr;
    RETURN_IF_ERROR(CreateColumnFamily(family.options, family.name, &handle));
    handles->push_back(handle);
  }
  return Status::OK();
}
Status DB::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) {
  for (ColumnFamilyHandle* family : column_families) RETURN_IF_ERROR(DropColumnFamily(family));
  return Status::OK();
}
Status DB::DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) {
  if (column_family == DefaultColumnFamily()) {
    return Status::InvalidArgument(
        "DB::DestroyColumnFamilyHandle: the handle of the default family belongs to the database");
  }
  delete column_family;
  return Status::OK();
}
Status DB::CreateColumnFamilyWithImport(const ColumnFamilyOptions& options,
                                        const std::string& column_family_name,
                                        const ImportColumnFamilyOptions& import_options,
                                        const ExportImportFilesMetaData& metadata,
                                        ColumnFamilyHandle** handle) {
  const std::vector<const ExportImportFilesMetaData*> metadatas{&metadata};
  return CreateColumnFamilyWithImport(options, column_family_name, import_options, metadatas,
                                      handle);
}

// Properties and sizes.

bool DB::GetProperty(const Slice& property, std::string* value) {
  return GetProperty(DefaultColumnFamily(), property, value);
}
bool DB::GetMapProperty(const Slice& property, std::map<std::string, std::string>* value) {
  return GetMapProperty(DefaultColumnFamily(), property, value);
}
bool DB::GetIntProperty(const Slice& property, uint64_t* value) {
  return GetIntProperty(DefaultColumnFamily(), property, value);
}

// The older form with a set of flags.
Status DB::GetApproximateSizes(ColumnFamilyHandle* column_family, const Range* ranges, int n,
                               uint64_t* sizes, SizeApproximationFlags include_flags) {
  const auto includes = [include_flags](SizeApproximationFlags flag) {
    return (include_flags & flag) != SizeApproximationFlags::NONE;
  };
  SizeApproximationOptions options;
  options.include_memtables = includes(SizeApproximationFlags::INCLUDE_MEMTABLES);
  options.include_files = includes(SizeApproximationFlags::INCLUDE_FILES);
  options.include_blob_files = includes(SizeApproximationFlags::INCLUDE_BLOB_FILES);
  return GetApproximateSizes(options, column_family, ranges, n, sizes);
}
Status DB::GetApproximateSizes(const Range* ranges, int n, uint64_t* sizes,
                               SizeApproximationFlags include_flags) {
  return GetApproximateSizes(DefaultColumnFamily(), ranges, n, sizes, include_flags);
}
void DB::GetApproximateMemTableStats(const Range& range, uint64_t* const count,
                                     uint64_t* const size) {
  GetApproximateMemTableStats(DefaultColumnFamily(), range, count, size);
}
Status DB::GetPropertiesOfAllTables(TablePropertiesCollection* props) {
  return GetPropertiesOfAllTables(DefaultColumnFamily(), props);
}
// A database that does not implement these leaves the result unchanged; the calls have no status.
void DB::GetColumnFamilyMetaData(ColumnFamilyHandle*, ColumnFamilyMetaData*) {}
void DB::GetColumnFamilyMetaData(ColumnFamilyHandle* column_family,
                                 const GetColumnFamilyMetaDataOptions&,
                                 ColumnFamilyMetaData* metadata) {
  GetColumnFamilyMetaData(column_family, metadata);
}
void DB::GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>*) {}
void DB::GetLiveFilesMetaData(std::vector<LiveFileMetaData>*) {}

// Options.

Status DB::SetOptions(const std::unordered_map<std::string, std::string>& new_options) {
  return SetOptions(DefaultColumnFamily(), new_options);
}
Status DB::SetOptions(const std::vector<ColumnFamilyHandle*>& column_families,
                      const std::unordered_map<std::string, std::string>& opts_map) {
  std::unordered_map<ColumnFamilyHandle*, std::unordered_map<std::string, std::string>> all;
  for (ColumnFamilyHandle* family : column_families) all.emplace(family, opts_map);
  return SetOptions(all);
}
int DB::NumberLevels() { return NumberLevels(DefaultColumnFamily()); }
int DB::Level0StopWriteTrigger() { return Level0StopWriteTrigger(DefaultColumnFamily()); }
FileSystem* DB::GetFileSystem() const { return GetEnv()->GetFileSystem().get(); }
Options DB::GetOptions() const { return GetOptions(DefaultColumnFamily()); }

// Background work and files.

Status DB::CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
  return CompactRange(options, DefaultColumnFamily(), begin, end);
}
Status DB::CompactFiles(const CompactionOptions& compact_options,
                        const std::vector<std::string>& input_file_names, const int output_level,
                        const int output_path_id, std::vector<std::string>* const output_file_names,
                        CompactionJobInfo* compaction_job_info) {
  return CompactFiles(compact_options, DefaultColumnFamily(), input_file_names, output_level,
                      output_path_id, output_file_names, compaction_job_info);
}
Status DB::Flush(const FlushOptions& options) { return Flush(options, DefaultColumnFamily()); }
Status DB::FlushWAL(bool sync) {
  FlushWALOptions options;
  options.sync = sync;
  return FlushWAL(options);
}
Status DB::EnableFileDeletions(bool force) {
  Status status = EnableFileDeletions();
  uint64_t is_enabled = 0;
  while (force && status.ok() && GetIntProperty(Properties::kIsFileDeletionsEnabled, &is_enabled) &&
         is_enabled == 0) {
    status = EnableFileDeletions();
  }
  return status;
}
Status DB::IngestExternalFile(const std::vector<std::string>& external_files,
                              const IngestExternalFileOptions& options) {
  return IngestExternalFile(DefaultColumnFamily(), external_files, options);
}
Status DB::PrepareFileIngestion(ColumnFamilyHandle* column_family,
                                const std::vector<std::string>& external_files,
                                const IngestExternalFileOptions& options,
                                std::unique_ptr<FileIngestionHandle>* handle) {
  IngestExternalFileArg arg;
  arg.column_family = column_family;
  arg.external_files = external_files;
  arg.options = options;
  return PrepareFileIngestion({arg}, handle);
}
Status DB::CommitFileIngestionHandle(std::unique_ptr<FileIngestionHandle> handle) {
  std::vector<std::unique_ptr<FileIngestionHandle>> handles;
  handles.push_back(std::move(handle));
  return CommitFileIngestionHandles(std::move(handles));
}
Status DB::VerifyChecksum() { return VerifyChecksum(ReadOptions()); }

}  // namespace ashlar
