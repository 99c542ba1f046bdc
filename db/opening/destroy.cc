// SPDX-License-Identifier: Apache-2.0
//
// DestroyDB: deletes the files of a database and nothing else, while holding its lock.
#include <set>
#include <string>

#include "ashlar/db.h"
#include "db/files/follower_links.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/space/sst_file_manager_impl.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Deletes files with names of database files, the lock file last. `space` may be null; it may
// delete tables, blob files and files that it has renamed before at its own rate.
Status DeleteKnownFiles(FileSystem* fs, SstFileManagerImpl* space, const std::string& dir) {
  auto names = ListDirectory(fs, dir);
  if (!names.ok()) {
    return IsMissing(names.status()) ? Status::OK() : names.status();
  }
  // After an error the other files are deleted all the same; the first error is returned.
  Status first;
  for (const std::string& name : *names) {
    FileNumber number;
    FileType type = kTempFile;
    const bool is_trash = IsTrashFileName(name);
    const bool is_known = ParseFileName(name, &number, &type);
    const bool is_list = name == kFollowerLinksName || name == kFollowerLinksTempName;
    // Files with other names are not the database's and stay; then the directory stays too.
    if (!is_trash && !is_list && (!is_known || type == kDBLockFile)) continue;
    const bool is_paced = is_trash || type == kTableFile || type == kBlobFile;
    const std::string path = dir + "/" + name;
    Status status =
        space != nullptr && is_paced ? space->Delete(path) : DeleteFileIfExists(fs, path);
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

}  // namespace

// A directory without a database is not an error, so a call can be repeated after a crash.
Status DestroyDB(const std::string& name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families) {
  const std::shared_ptr<FileSystem> fs = options.env->GetFileSystem();
  const IOStatus exists = fs->FileExists(name, IOOptions(), nullptr);
  if (IsMissing(exists)) return Status::OK();
  // The lock makes the call fail while the database is open in any process.
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
  // Inner directories come before the outer ones.
  for (auto dir = dirs.rbegin(); dir != dirs.rend(); ++dir) {
    IgnoreError(fs->DeleteDir(*dir, IOOptions(), nullptr), "it stays if others have files in it");
  }
  return status;
}

}  // namespace ashlar
