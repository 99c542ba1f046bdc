// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint is made in dir.tmp and renamed when everything in it is durable, so that a crash
// leaves either nothing under the final name or a complete copy:
//
//   keep obsolete files -> list what is live -> link tables, copy the rest -> sync -> rename ->
//   sync
//
// The database goes on meanwhile: the MANIFEST and the current WAL are cut at the lengths they had
// when the list was made, and table files never change.
#include "ashlar/utilities/checkpoint.h"

#include "ashlar/db.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "env/file_util.h"
#include "env/new_entries.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Keeps obsolete files for as long as it lives.
class KeepFiles {
 public:
  explicit KeepFiles(DB* db) : db_(db), status_(db->DisableFileDeletions()) {}
  ~KeepFiles() {
    if (status_.ok()) IgnoreError(db_->EnableFileDeletions(), "the copy is done either way");
  }
  KeepFiles(const KeepFiles&) = delete;
  KeepFiles& operator=(const KeepFiles&) = delete;

  const Status& status() const { return status_; }

 private:
  DB* db_;
  const Status status_;
};

std::string WithoutTrailingSlashes(std::string dir) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  return dir;
}

std::string ParentOf(const std::string& dir) {
  const size_t slash = dir.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : dir.substr(0, slash);
}

// Only files: a checkpoint has no folders in it.
Status DeleteFlatDirectory(FileSystem* fs, const std::string& dir) {
  if (!fs->FileExists(dir, IOOptions(), nullptr).ok()) return Status::OK();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, dir));
  for (const std::string& name : names) {
    RETURN_IF_ERROR(DeleteFileIfExists(fs, StrCat(dir, "/", name)));
  }
  return fs->DeleteDir(dir, IOOptions(), nullptr);
}

// Puts live files into a new directory.
class FileCopier {
 public:
  // `statistics` may be null.
  FileCopier(FileSystem* fs, const std::string& dir, Statistics* statistics)
      : fs_(fs), dir_(dir), statistics_(statistics) {}

  // A table, in one piece.
  Status Take(const SstFileMetaData& file) {
    LiveFileStorageInfo info;
    static_cast<FileStorageInfo&>(info) = file;
    return Take(info);
  }
  Status Take(const LiveFileStorageInfo& file) {
    const std::string source = StrCat(file.directory, "/", file.relative_filename);
    const std::string target = StrCat(dir_, "/", file.relative_filename);
    if (!file.replacement_contents.empty()) {
      return WriteFileAtomically(fs_, dir_, file.relative_filename + ".tmp", file.relative_filename,
                                 file.replacement_contents);
    }
    const bool never_changes = file.file_type == kTableFile || file.file_type == kBlobFile;
    if (never_changes && can_link_) {
      Status status = fs_->LinkFile(source, target, IOOptions(), nullptr);
      if (!status.IsNotSupported()) return status;
      can_link_ = false;  // another file system: that goes for all files
    }
    RETURN_IF_ERROR(CopyFileTo(fs_, source, target, file.trim_to_size ? file.size : UINT64_MAX));
    RecordTick(statistics_, CHECKPOINT_READ_BYTES, file.size);
    RecordTick(statistics_, CHECKPOINT_WRITE_BYTES, file.size);
    return Status::OK();
  }

 private:
  FileSystem* fs_;
  const std::string dir_;
  Statistics* const statistics_;
  bool can_link_ = true;
};

class CheckpointOfDb final : public Checkpoint {
 public:
  explicit CheckpointOfDb(DB* db) : db_(db), fs_(db->GetFileSystem()) {}

  using Checkpoint::CreateCheckpoint;
  Status CreateCheckpoint(const std::string& checkpoint_dir, uint64_t log_size_for_flush,
                          uint64_t* sequence_number_ptr) override {
    const std::string dir = WithoutTrailingSlashes(checkpoint_dir);
    if (dir.empty() || dir == "/") {
      return Status::InvalidArgument("checkpoint: not a name for a new directory", checkpoint_dir);
    }
    if (fs_->FileExists(dir, IOOptions(), nullptr).ok()) {
      return Status::InvalidArgument("checkpoint: the directory exists", dir);
    }
    const std::string unfinished = dir + ".tmp";
    const NewEntries entries(fs_, ParentOf(dir));
    RETURN_IF_ERROR(DeleteFlatDirectory(fs_, unfinished));  // of an earlier crash
    // Everything up to here will be in the copy: it is listed, and flushed, later.
    const SequenceNumber contained = db_->GetLatestSequenceNumber();
    Status status = FillDirectory(unfinished, log_size_for_flush);
    if (status.ok()) status = fs_->RenameFile(unfinished, dir, IOOptions(), nullptr);
    if (!status.ok()) {
      IgnoreError(DeleteFlatDirectory(fs_, unfinished), "the first error says more");
      return status;
    }
    RETURN_IF_ERROR(entries.Sync());
    if (sequence_number_ptr != nullptr) *sequence_number_ptr = contained;
    return Status::OK();
  }

  // In the same steps; what the MANIFEST says of the tables goes to the caller instead of a file.
  Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                            ExportImportFilesMetaData** metadata) override {
    *metadata = nullptr;
    if (handle == nullptr)
      return Status::InvalidArgument("export: the column family handle is null");
    const std::string dir = WithoutTrailingSlashes(export_dir);
    if (dir.empty() || dir == "/") {
      return Status::InvalidArgument("export: not a name for a new directory", export_dir);
    }
    if (fs_->FileExists(dir, IOOptions(), nullptr).ok()) {
      return Status::InvalidArgument("export: the directory exists", dir);
    }
    const std::string unfinished = dir + ".tmp";
    const NewEntries entries(fs_, ParentOf(dir));
    RETURN_IF_ERROR(DeleteFlatDirectory(fs_, unfinished));  // of an earlier crash
    auto exported = std::make_unique<ExportImportFilesMetaData>();
    Status status = ExportTables(handle, unfinished, dir, exported.get());
    if (status.ok()) status = fs_->RenameFile(unfinished, dir, IOOptions(), nullptr);
    if (!status.ok()) {
      IgnoreError(DeleteFlatDirectory(fs_, unfinished), "the first error says more");
      return status;
    }
    RETURN_IF_ERROR(entries.Sync());
    *metadata = exported.release();
    return Status::OK();
  }

 private:
  Status ExportTables(ColumnFamilyHandle* handle, const std::string& unfinished,
                      const std::string& dir, ExportImportFilesMetaData* exported) {
    RETURN_IF_ERROR(db_->Flush(FlushOptions(), handle));
    RETURN_IF_ERROR(fs_->CreateDir(unfinished, IOOptions(), nullptr));
    const KeepFiles keep_files(db_);
    RETURN_IF_ERROR(keep_files.status());
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(handle, &family);
    if (!family.blob_files.empty()) {
      return Status::NotSupported("export: the column family has values in blob files",
                                  family.blob_files.front().blob_file_name);
    }
    const DBOptions db_options = db_->GetDBOptions();
    FileCopier copier(fs_, unfinished, db_options.statistics.get());
    exported->db_comparator_name = handle->GetComparator()->Name();
    for (const LevelMetaData& level : family.levels) {
      for (const SstFileMetaData& file : level.files) {
        RETURN_IF_ERROR(copier.Take(file));
        LiveFileMetaData& entry = exported->files.emplace_back();
        static_cast<SstFileMetaData&>(entry) = file;
        entry.column_family_name = family.name;
        entry.level = level.level;
        entry.directory = entry.db_path = dir;
      }
    }
    return SyncDirectory(fs_, unfinished);
  }

  Status FillDirectory(const std::string& dir, uint64_t log_size_for_flush) {
    RETURN_IF_ERROR(fs_->CreateDir(dir, IOOptions(), nullptr));
    const KeepFiles keep_files(db_);
    RETURN_IF_ERROR(keep_files.status());
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = log_size_for_flush;
    std::vector<LiveFileStorageInfo> files;
    RETURN_IF_ERROR(db_->GetLiveFilesStorageInfo(options, &files));
    const DBOptions db_options = db_->GetDBOptions();
    FileCopier copier(fs_, dir, db_options.statistics.get());
    for (const LiveFileStorageInfo& file : files) RETURN_IF_ERROR(copier.Take(file));
    return SyncDirectory(fs_, dir);
  }

  DB* const db_;          // outlives this object
  FileSystem* const fs_;  // of db_
};

}  // namespace

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) {
  *checkpoint_ptr = new CheckpointOfDb(db);
  return Status::OK();
}

// The base class is what wrappers of users derive from.

Status Checkpoint::CreateCheckpoint(const std::string&, uint64_t, uint64_t*) {
  return Status::NotSupported("Checkpoint::CreateCheckpoint");
}

Status Checkpoint::CreateCheckpoint(const std::string& checkpoint_dir,
                                    const std::vector<ColumnFamilyHandle*>& column_families,
                                    uint64_t log_size_for_flush, uint64_t* sequence_number_ptr) {
  if (column_families.empty()) {
    return CreateCheckpoint(checkpoint_dir, log_size_for_flush, sequence_number_ptr);
  }
  return Status::NotSupported(
      "Checkpoint::CreateCheckpoint: with some column families only: not built yet");
}

Status Checkpoint::ExportColumnFamily(ColumnFamilyHandle*, const std::string&,
                                      ExportImportFilesMetaData**) {
  return Status::NotSupported("Checkpoint::ExportColumnFamily");
}

}  // namespace ashlar
