// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint is made in dir.tmp and renamed when everything in it is durable, so that a crash
// leaves either nothing under the final name or a complete copy:
//
//   keep obsolete files -> list what is live -> link tables, copy the rest
//   -> sync -> rename -> sync
//
// The database continues meanwhile: the MANIFEST and the current WAL are cut at the lengths that
// they had when the list was made, and table files never change.
#include "ashlar/utilities/checkpoint.h"

#include <cassert>

#include "ashlar/db.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "db/utilities/copy/deletion_pause.h"
#include "db/utilities/copy/file_copier.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "env/new_entries.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The directory whose entry must be synced after the rename.
std::string ParentOf(const std::string& dir) {
  const size_t slash = dir.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : dir.substr(0, slash);
}

CopySettings SettingsFor(Statistics* statistics) {
  CopySettings settings;
  settings.statistics = statistics;
  settings.read_ticker = CHECKPOINT_READ_BYTES;
  settings.write_ticker = CHECKPOINT_WRITE_BYTES;
  return settings;
}

// Links or copies live files to a new directory.
class LiveFileTaker {
 public:
  // `fs` outlives the object; `statistics` may be null.
  LiveFileTaker(FileSystem* fs, const std::string& dir, Statistics* statistics)
      : fs_(fs), dir_(dir), copier_(SettingsFor(statistics)) {}

  // A whole table.
  Status Take(const SstFileMetaData& file) {
    LiveFileStorageInfo info;
    static_cast<FileStorageInfo&>(info) = file;
    return Take(info);
  }
  Status Take(const LiveFileStorageInfo& file) {
    assert(!file.relative_filename.empty());
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
      can_link_ = false;  // another file system, so no file can be linked
    }
    return copier_
        .Copy({.fs = fs_,
               .path = source,
               .bytes = file.trim_to_size ? file.size : UINT64_MAX,
               .may_be_longer = file.trim_to_size},
              {.fs = fs_, .path = target})
        .status();
  }

 private:
  FileSystem* const fs_;
  const std::string dir_;
  const FileCopier copier_;
  bool can_link_ = true;
};

// A checkpoint or an export of one database.
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
    RETURN_IF_ERROR(DeleteFlatDirectory(fs_, unfinished));  // left by an earlier crash
    // All writes up to this number will be in the copy, because it is flushed and listed later.
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

  // The same steps as for a checkpoint, but the MANIFEST's entries of the tables go to `*metadata`
  // instead of a file.
  Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                            ExportImportFilesMetaData** metadata) override {
    *metadata = nullptr;
    if (handle == nullptr)
      return Status::InvalidArgument("export: the column family handle is null");
    const Comparator* const comparator = handle->GetComparator();
    if (comparator != nullptr && comparator->timestamp_size() != 0) {
      return Status::NotSupported("export: not of a column family with timestamps",
                                  handle->GetName());
    }
    const std::string dir = WithoutTrailingSlashes(export_dir);
    if (dir.empty() || dir == "/") {
      return Status::InvalidArgument("export: not a name for a new directory", export_dir);
    }
    if (fs_->FileExists(dir, IOOptions(), nullptr).ok()) {
      return Status::InvalidArgument("export: the directory exists", dir);
    }
    const std::string unfinished = dir + ".tmp";
    const NewEntries entries(fs_, ParentOf(dir));
    RETURN_IF_ERROR(DeleteFlatDirectory(fs_, unfinished));  // left by an earlier crash
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
  // Flushes the family first, because memtables cannot be exported.
  Status ExportTables(ColumnFamilyHandle* handle, const std::string& unfinished,
                      const std::string& dir, ExportImportFilesMetaData* exported) {
    RETURN_IF_ERROR(db_->Flush(FlushOptions(), handle));
    RETURN_IF_ERROR(fs_->CreateDir(unfinished, IOOptions(), nullptr));
    const DeletionPause pause(db_);
    RETURN_IF_ERROR(pause.status());
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(handle, &family);
    if (!family.blob_files.empty()) {
      return Status::NotSupported("export: the column family has values in blob files",
                                  family.blob_files.front().blob_file_name);
    }
    const DBOptions db_options = db_->GetDBOptions();
    LiveFileTaker taker(fs_, unfinished, db_options.statistics.get());
    exported->db_comparator_name = handle->GetComparator()->Name();
    for (const LevelMetaData& level : family.levels) {
      for (const SstFileMetaData& file : level.files) {
        RETURN_IF_ERROR(taker.Take(file));
        LiveFileMetaData& entry = exported->files.emplace_back();
        static_cast<SstFileMetaData&>(entry) = file;
        entry.level = level.level;
        entry.directory = entry.db_path = dir;
      }
    }
    return SyncDirectory(fs_, unfinished);
  }

  // Creates the directory and fills it. The files are synced one by one, the directory last.
  Status FillDirectory(const std::string& dir, uint64_t log_size_for_flush) {
    RETURN_IF_ERROR(fs_->CreateDir(dir, IOOptions(), nullptr));
    const DeletionPause pause(db_);
    RETURN_IF_ERROR(pause.status());
    LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = log_size_for_flush;
    std::vector<LiveFileStorageInfo> files;
    RETURN_IF_ERROR(db_->GetLiveFilesStorageInfo(options, &files));
    const DBOptions db_options = db_->GetDBOptions();
    LiveFileTaker taker(fs_, dir, db_options.statistics.get());
    for (const LiveFileStorageInfo& file : files) RETURN_IF_ERROR(taker.Take(file));
    return SyncDirectory(fs_, dir);
  }

  DB* const db_;          // outlives this object
  FileSystem* const fs_;  // of db_
};

}  // namespace

// The database must outlive the object.
Status Checkpoint::Create(DB* db, Checkpoint** checkpoint_ptr) {
  *checkpoint_ptr = new CheckpointOfDb(db);
  return Status::OK();
}

// Users derive wrappers from the base class, so its functions have a default.

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
