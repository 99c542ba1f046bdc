// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint of some families is one of all families whose MANIFEST ends by dropping the others.
#include "db/utilities/checkpoint_maker.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "db/db_impl.h"
#include "db/manifest/manifest_reader.h"
#include "db/options/options_file.h"
#include "db/utilities/copy/appended_edits.h"
#include "db/utilities/copy/copy_pool.h"
#include "db/utilities/copy/decided_tables.h"
#include "db/utilities/copy/deletion_pause.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Sets `*dir` to the directory to make, without slashes at its end.
Status CheckNewDirectory(FileSystem* fs, const char* what, const std::string& given,
                         std::string* dir) {
  assert(dir != nullptr);
  assert(fs != nullptr);
  *dir = WithoutTrailingSlashes(given);
  if (dir->empty() || *dir == "/") {
    return Status::InvalidArgument(StrCat(what, ": not a name for a new directory"), given);
  }
  // Checked before anything is made, so that an existing directory is never changed or removed.
  if (!fs->FileExists(*dir, IOOptions(), nullptr).ok()) return Status::OK();
  return Status::InvalidArgument(StrCat(what, ": the directory exists"), *dir);
}

// Makes `dir` by filling dir.tmp and renaming it.
Status MakeDirectory(FileSystem* fs, const std::string& dir,
                     const std::function<Status(const std::string&)>& fill) {
  assert(fs != nullptr);
  assert(fill != nullptr);
  const std::string unfinished = dir + ".tmp";
  const NewEntries entries(fs, DirectoryOf(dir));
  RETURN_IF_ERROR(DeleteFlatDirectory(fs, unfinished));  // left by an earlier crash
  Status status = fs->CreateDir(unfinished, IOOptions(), nullptr);
  if (status.ok()) status = fill(unfinished);
  if (status.ok()) status = SyncDirectory(fs, unfinished);
  // The rename is the moment at which the checkpoint exists: a crash before it leaves only a
  // directory with the suffix .tmp, which the next attempt deletes.
  if (status.ok()) status = fs->RenameFile(unfinished, dir, IOOptions(), nullptr);
  // The rename itself is durable only when the parent directory is synced.
  if (status.ok()) return entries.Sync();
  IgnoreError(DeleteFlatDirectory(fs, unfinished), "the first error says more");
  return status;
}

// Links or copies live files to a new directory. Any number of threads.
class LiveFileTaker {
 public:
  // `fs` and the objects of the settings outlive the object.
  LiveFileTaker(FileSystem* fs, const std::string& dir, const CheckpointSettings& settings)
      : fs_(fs), dir_(dir), copier_(settings.copy), can_link_(settings.may_link) {}

  // `tail` is appended to a file that is copied.
  Status Take(const LiveFileStorageInfo& file, const std::string& tail = "") {
    assert(!file.relative_filename.empty());
    const std::string source = StrCat(file.directory, "/", file.relative_filename);
    const std::string target = StrCat(dir_, "/", file.relative_filename);
    // Files that the database describes by their content, such as CURRENT, exist nowhere in this
    // form.
    if (!file.replacement_contents.empty()) {
      return WriteFileAtomically(fs_, dir_, file.relative_filename + ".tmp", file.relative_filename,
                                 file.replacement_contents);
    }
    // A link is one more name for the same bytes, so only files that are never written again are
    // linked.
    const bool never_changes = file.file_type == kTableFile || file.file_type == kBlobFile;
    if (never_changes && can_link_.load(std::memory_order_relaxed)) {
      Status status = fs_->LinkFile(source, target, IOOptions(), nullptr);
      if (!status.IsNotSupported()) return status;
      // Relaxed: another thread that still sees true tries once more and gets the same answer.
      can_link_.store(false, std::memory_order_relaxed);  // another file system
    }
    return copier_
        .Copy({.fs = fs_,
               .path = source,
               .bytes = file.trim_to_size ? file.size : UINT64_MAX,
               .may_be_longer = file.trim_to_size,
               .temperature = file.temperature,
               .tail = tail},
              {.fs = fs_, .path = target})
        .status();
  }
  Status TakeAll(const std::vector<LiveFileStorageInfo>& files,
                 const CheckpointSettings& settings) {
    // Without a pool the files are taken in order, and the first error ends the work.
    if (settings.pool != nullptr) {
      return settings.pool->Run({.count = files.size(),
                                 .job = [&](size_t i) { return Take(files[i]); },
                                 .cpu_priority = settings.cpu_priority});
    }
    for (const LiveFileStorageInfo& file : files) RETURN_IF_ERROR(Take(file));
    return Status::OK();
  }

 private:
  FileSystem* const fs_;
  const std::string dir_;
  const FileCopier copier_;
  std::atomic<bool> can_link_;
};

// A table or blob file as a file to take.
LiveFileStorageInfo WholeFile(const FileStorageInfo& file) {
  LiveFileStorageInfo info;
  static_cast<FileStorageInfo&>(info) = file;
  return info;
}
LiveFileStorageInfo WholeFile(const BlobMetaData& file) {
  LiveFileStorageInfo info;
  const std::string& name = file.blob_file_name;
  // The name of a blob file begins with a slash in these facts, and without one in lists of live
  // files.
  info.relative_filename = name.starts_with('/') ? name.substr(1) : name;
  info.directory = file.blob_file_path;
  info.file_number = file.blob_file_number;
  info.file_type = kBlobFile;
  info.size = file.blob_file_size;
  return info;
}

// Adds the numbers of the tables and blob files of all families except those with these names.
void AddFilesOfOthers(DB* db, const std::set<std::string>& names, std::set<uint64_t>* numbers) {
  assert(db != nullptr);
  assert(numbers != nullptr);
  std::vector<ColumnFamilyMetaData> all;
  db->GetAllColumnFamilyMetaData(&all);
  for (const ColumnFamilyMetaData& family : all) {
    if (names.contains(family.name)) continue;
    for (const LevelMetaData& level : family.levels) {
      for (const SstFileMetaData& file : level.files) numbers->insert(file.file_number);
    }
    for (const BlobMetaData& file : family.blob_files) numbers->insert(file.blob_file_number);
  }
}

// The families that exist at the end of a MANIFEST: names by id.
Result<std::map<uint32_t, std::string>> FamiliesIn(FileSystem* fs, const std::string& manifest) {
  // Every MANIFEST begins with the default family, whether or not an edit adds it.
  std::map<uint32_t, std::string> names = {{0, kDefaultColumnFamilyName}};
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(fs, manifest));
  VersionEdit edit;
  while (reader->Next(&edit)) {
    if (edit.added_family) names[edit.column_family] = *edit.added_family;
    if (edit.is_family_drop) names.erase(edit.column_family);
  }
  if (!reader->status().ok()) return reader->status();
  return names;
}

// Where a checkpoint has all its files, the directories of the source must not be named.
Status AdaptOptions(FileSystem* fs, const std::function<bool(const std::string&)>& has_family,
                    std::vector<LiveFileStorageInfo>* files) {
  assert(files != nullptr && has_family != nullptr);
  for (LiveFileStorageInfo& file : *files) {
    if (file.file_type != kOptionsFile) continue;
    const std::string path = StrCat(file.directory, "/", file.relative_filename);
    ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(fs, path));
    file.replacement_contents = OptionsTextOfCopy(text, has_family);
  }
  return Status::OK();
}

// Copies a MANIFEST so that it ends without the families that are not wanted.
Status TakeManifest(FileSystem* fs, const std::string& dir, const LiveFileStorageInfo& manifest,
                    const std::vector<ColumnFamilyHandle*>& wanted, LiveFileTaker* taker) {
  assert(taker != nullptr);
  // Only the copy shows which families exist at its end, so it is made twice.
  RETURN_IF_ERROR(taker->Take(manifest));
  const std::string copy = StrCat(dir, "/", manifest.relative_filename);
  ASSIGN_OR_RETURN(auto families, FamiliesIn(fs, copy));
  families.erase(0);
  for (const ColumnFamilyHandle* handle : wanted) {
    if (families.erase(handle->GetID()) == 1 || handle->GetID() == 0) continue;
    // Dropped while the files were listed: its tables may be missing, so the checkpoint cannot have
    // it.
    return Status::InvalidArgument("checkpoint: the column family was dropped meanwhile",
                                   handle->GetName());
  }
  std::vector<VersionEdit> drops;
  for (const auto& [id, name] : families) {
    VersionEdit& drop = drops.emplace_back();
    drop.column_family = id;
    drop.is_family_drop = true;
  }
  if (drops.empty()) return Status::OK();
  // The first copy is deleted, because the second one is made from the beginning.
  RETURN_IF_ERROR(DeleteFileIfExists(fs, copy));
  return taker->Take(manifest, AppendedEdits(manifest.size, drops));
}

}  // namespace

CheckpointMaker::CheckpointMaker(DB* db, const CheckpointSettings& settings)
    : db_(db), fs_(db->GetFileSystem()), settings_(settings) {
  settings_.copy.read_ticker = CHECKPOINT_READ_BYTES;
  settings_.copy.write_ticker = CHECKPOINT_WRITE_BYTES;
}

Status CheckpointMaker::MakeCheckpoint(const Request& request, SequenceNumber* seqno) {
  // Wrappers of a database, such as one with TTL, have no families of their own; the root has them.
  const auto* const impl = static_cast<const DBImpl*>(db_->GetRootDB());
  for (const ColumnFamilyHandle* handle : request.families) {
    RETURN_IF_ERROR(impl->CheckLiveFamily(handle));
  }
  std::string dir;
  RETURN_IF_ERROR(CheckNewDirectory(fs_, "checkpoint", request.dir, &dir));
  // All writes up to this number will be in the copy, because it is flushed and listed later.
  const SequenceNumber contained = db_->GetLatestSequenceNumber();
  RETURN_IF_ERROR(MakeDirectory(
      fs_, dir, [&](const std::string& unfinished) { return FillDirectory(request, unfinished); }));
  // Set only at the end, so that the caller's number is not changed by a failed call.
  if (seqno != nullptr) *seqno = contained;
  return Status::OK();
}

// The files are synced one by one, the directory afterwards. Files of families that are not wanted
// are left out as far as they are known: one that is created during the listing may come along, and
// the first opening deletes it.
Status CheckpointMaker::FillDirectory(const Request& request, const std::string& dir) {
  // Until the end of this function no file is deleted, so every listed file can be linked or
  // copied.
  const DeletionPause pause(db_);
  RETURN_IF_ERROR(pause.status());
  std::set<uint64_t> others;
  std::set<std::string> names = {kDefaultColumnFamilyName};
  for (const ColumnFamilyHandle* handle : request.families) names.insert(handle->GetName());
  const bool is_partial = !request.families.empty();
  // Before and after the listing, because files are created and families change meanwhile.
  if (is_partial) AddFilesOfOthers(db_, names, &others);
  LiveFilesStorageInfoOptions options;
  options.wal_size_for_flush = request.log_size_for_flush;
  std::vector<LiveFileStorageInfo> files;
  RETURN_IF_ERROR(db_->GetLiveFilesStorageInfo(options, &files));
  if (is_partial) AddFilesOfOthers(db_, names, &others);
  const DBOptions db_options = db_->GetDBOptions();
  CheckpointSettings settings = settings_;
  settings.copy.statistics = db_options.statistics.get();
  LiveFileTaker taker(fs_, dir, settings);
  if (is_partial) {
    std::erase_if(files, [&others](const LiveFileStorageInfo& file) {
      const bool has_family = file.file_type == kTableFile || file.file_type == kBlobFile;
      return has_family && others.contains(file.file_number);
    });
    const auto manifest = std::find_if(files.begin(), files.end(), [](const auto& file) {
      return file.file_type == kDescriptorFile;
    });
    assert(manifest != files.end());
    RETURN_IF_ERROR(TakeManifest(fs_, dir, *manifest, request.families, &taker));
    files.erase(manifest);
  }
  const auto has_family = [&](const std::string& name) {
    return !is_partial || names.contains(name);
  };
  RETURN_IF_ERROR(AdaptOptions(fs_, has_family, &files));
  return taker.TakeAll(files, settings);
}

// The same steps as for a checkpoint, but the MANIFEST's entries of the tables go to `**metadata`
// instead of a file.
Status CheckpointMaker::ExportFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                     ExportImportFilesMetaData** metadata) {
  assert(metadata != nullptr);
  *metadata = nullptr;
  if (handle == nullptr) return Status::InvalidArgument("export: the column family handle is null");
  std::string dir;
  RETURN_IF_ERROR(CheckNewDirectory(fs_, "export", export_dir, &dir));
  auto exported = std::make_unique<ExportImportFilesMetaData>();
  // The facts name the final directory, although the files are still in the unfinished one.
  RETURN_IF_ERROR(MakeDirectory(fs_, dir, [&](const std::string& unfinished) {
    return ExportFiles(handle, unfinished, dir, exported.get());
  }));
  *metadata = exported.release();
  return Status::OK();
}

// Flushes the family first, because memtables cannot be exported. The tables and blob files are
// those of one version.
Status CheckpointMaker::ExportFiles(ColumnFamilyHandle* handle, const std::string& unfinished,
                                    const std::string& dir, ExportImportFilesMetaData* exported) {
  assert(handle != nullptr);
  assert(exported != nullptr);
  const DecidedTables decided(db_);
  // Before the deletions are paused: a flush can take long, and files pile up during a pause.
  RETURN_IF_ERROR(db_->Flush(FlushOptions(), handle));
  const DeletionPause pause(db_);
  RETURN_IF_ERROR(pause.status());
  ColumnFamilyMetaData family;
  db_->GetColumnFamilyMetaData(handle, &family);
  RETURN_IF_ERROR(decided.Check("export"));
  std::vector<LiveFileStorageInfo> files;
  exported->db_comparator_name = handle->GetComparator()->Name();
  for (const LevelMetaData& level : family.levels) {
    for (const SstFileMetaData& file : level.files) {
      files.push_back(WholeFile(file));
      LiveFileMetaData& entry = exported->files.emplace_back();
      static_cast<SstFileMetaData&>(entry) = file;
      entry.level = level.level;
      // As in RocksDB: an import does not need the counts, and tests of bindings expect none.
      entry.num_entries = entry.num_deletions = 0;
      entry.directory = entry.db_path = dir;
    }
  }
  for (const BlobMetaData& file : family.blob_files) files.push_back(WholeFile(file));
  const DBOptions db_options = db_->GetDBOptions();
  CheckpointSettings settings = settings_;
  settings.pool = nullptr;  // file by file
  settings.copy.statistics = db_options.statistics.get();
  const auto take_all = [&] {
    return LiveFileTaker(fs_, unfinished, settings).TakeAll(files, settings);
  };
  if (settings_.pool == nullptr || !settings_.cpu_priority.has_value()) return take_all();
  // A thread of the pool, since the priority of the caller's thread could not be raised again.
  return settings_.pool->Run({.count = 1,
                              .job = [&](size_t) { return take_all(); },
                              .cpu_priority = settings_.cpu_priority});
}

}  // namespace ashlar
