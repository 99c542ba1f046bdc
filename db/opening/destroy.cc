// SPDX-License-Identifier: Apache-2.0
//
// DestroyDB: deletes the files of a database and nothing else, under its lock.
#include <set>

#include "ashlar/db.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/space/sst_file_manager_impl.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Deletes what carries a name of ours; the lock file goes last. `space` may be null; it may take
// its time for tables, blob files and what it has renamed before.
Status DeleteKnownFiles(FileSystem* fs, SstFileManagerImpl* space, const std::string& dir) {
  auto names = ListDirectory(fs, dir);
  if (!names.ok()) {
    return names.status().IsNotFound() || names.status().IsPathNotFound() ? Status::OK()
                                                                          : names.status();
  }
  Status first;
  for (const std::string& name : *names) {
    FileNumber number;
    FileType type;
    const bool is_trash = IsTrashFileName(name);
    const bool is_known = ParseFileName(name, &number, &type);
    if (!is_trash && (!is_known || type == kDBLockFile)) continue;
    const bool is_paced = is_trash || type == kTableFile || type == kBlobFile;
    const std::string path = dir + "/" + name;
    Status status =
        space != nullptr && is_paced ? space->Delete(path) : DeleteFileIfExists(fs, path);
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

}  // namespace

Status DestroyDB(const std::string& name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families) {
  const std::shared_ptr<FileSystem> fs = options.env->GetFileSystem();
  const IOStatus exists = fs->FileExists(name, IOOptions(), nullptr);
  if (exists.IsNotFound() || exists.IsPathNotFound()) return Status::OK();
  FileLock* lock = nullptr;
  RETURN_IF_ERROR(fs->LockFile(LockFileName(name), IOOptions(), &lock, nullptr));
  std::set<std::string> dirs{name};
  if (!options.wal_dir.empty()) dirs.insert(options.wal_dir);
  for (const DbPath& path : options.db_paths) dirs.insert(path.path);
  for (const ColumnFamilyDescriptor& family : column_families) {
    for (const DbPath& path : family.options.cf_paths) dirs.insert(path.path);
  }
  const std::string& wal_dir = options.wal_dir.empty() ? name : options.wal_dir;
  dirs.insert(ArchivalDirectory(wal_dir));
  Status status;
  for (const std::string& dir : dirs) {
    Status deleted =
        DeleteKnownFiles(fs.get(), SstFileManagerImpl::From(options.sst_file_manager.get()), dir);
    if (status.ok()) status = deleted;
  }
  IgnoreError(fs->UnlockFile(lock, IOOptions(), nullptr), "the file is deleted next");
  IgnoreError(DeleteFileIfExists(fs.get(), LockFileName(name)), "an empty file may stay");
  // Those within others come first.
  for (auto dir = dirs.rbegin(); dir != dirs.rend(); ++dir) {
    IgnoreError(fs->DeleteDir(*dir, IOOptions(), nullptr), "it stays if others have files in it");
  }
  return status;
}

}  // namespace ashlar
