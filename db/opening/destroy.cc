// SPDX-License-Identifier: Apache-2.0
//
// DestroyDB: deletes the files of a database and nothing else, while holding its lock.
#include <map>
#include <string>

#include "ashlar/db.h"
#include "db/files/follower_links.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/space/sst_file_manager_impl.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Which files of a database a directory may have. All others in it are not the database's and stay;
// then the directory stays too.
struct Contents {
  bool has_all = false;     // the directory of the database
  bool has_logs = false;    // wal_dir and its archive
  bool has_tables = false;  // db_paths and cf_paths; blob files lie beside tables
};

// `is_paced` tells whether a manager of space may delete the file at its own rate.
bool IsToBeDeleted(const std::string& name, const Contents& contents, bool* is_paced) {
  FileNumber number;
  FileType type = kTempFile;
  // Trash is what the file was before it was renamed: "000012.sst.3.trash" is a table.
  const bool is_trash = IsTrashFileName(name);
  const std::string former = is_trash ? name.substr(0, name.find('.', name.find('.') + 1)) : name;
  const bool is_known = ParseFileName(former, &number, &type);
  const bool is_table = is_known && (type == kTableFile || type == kBlobFile);
  *is_paced = is_trash || is_table;
  if (is_known && type == kWalFile) return contents.has_all || contents.has_logs;
  if (is_table) return contents.has_all || contents.has_tables;
  const bool is_list = name == kFollowerLinksName || name == kFollowerLinksTempName;
  // The lock file goes last.
  return contents.has_all && (is_list || (is_known && type != kDBLockFile));
}

// `space` may be null; it may delete tables, blob files and files that it has renamed before at its
// own rate.
Status DeleteKnownFiles(FileSystem* fs, SstFileManagerImpl* space, const std::string& dir,
                        const Contents& contents) {
  auto names = ListDirectory(fs, dir);
  if (!names.ok()) {
    return IsMissing(names.status()) ? Status::OK() : names.status();
  }
  // After an error the other files are deleted all the same; the first error is returned.
  Status first;
  for (const std::string& name : *names) {
    bool is_paced = false;
    if (!IsToBeDeleted(name, contents, &is_paced)) continue;
    const std::string path = dir + "/" + name;
    Status status =
        space != nullptr && is_paced ? space->Delete(path) : DeleteFileIfExists(fs, path);
    if (first.ok() && !status.ok()) first = status;
  }
  return first;
}

// The directories that the options name beside that of the database, which is `name`. One with a
// CURRENT is that of another database, whose files have the same names: it is left out.
std::map<std::string, Contents> OtherDirectories(
    FileSystem* fs, const std::string& name, const Options& options,
    const std::vector<ColumnFamilyDescriptor>& column_families) {
  std::map<std::string, Contents> dirs;
  const std::string& wal_dir = options.wal_dir.empty() ? name : options.wal_dir;
  dirs[wal_dir].has_logs = true;
  for (const DbPath& path : options.db_paths) dirs[path.path].has_tables = true;
  for (const ColumnFamilyDescriptor& family : column_families) {
    for (const DbPath& path : family.options.cf_paths) dirs[path.path].has_tables = true;
  }
  std::erase_if(dirs, [fs](const auto& dir) {
    return fs->FileExists(CurrentFileName(dir.first), IOOptions(), nullptr).ok();
  });
  if (dirs.contains(wal_dir)) dirs[ArchivalDirectory(wal_dir)].has_logs = true;
  dirs.erase(name);
  return dirs;
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
  SstFileManagerImpl* const space = SstFileManagerImpl::From(options.sst_file_manager.get());
  // First: without its CURRENT this directory is not taken for that of another database, however
  // the options spell it.
  Status status = DeleteKnownFiles(fs.get(), space, name, {.has_all = true});
  std::map<std::string, Contents> dirs = OtherDirectories(fs.get(), name, options, column_families);
  for (const auto& [dir, contents] : dirs) {
    Status deleted = DeleteKnownFiles(fs.get(), space, dir, contents);
    if (status.ok()) status = deleted;
  }
  IgnoreError(fs->UnlockFile(lock, IOOptions(), nullptr), "the file is deleted next");
  IgnoreError(DeleteFileIfExists(fs.get(), LockFileName(name)), "an empty file may stay");
  dirs[name].has_all = true;
  // Inner directories come before the outer ones.
  for (auto dir = dirs.rbegin(); dir != dirs.rend(); ++dir) {
    IgnoreError(fs->DeleteDir(dir->first, IOOptions(), nullptr),
                "it stays if others have files in it");
  }
  return status;
}

}  // namespace ashlar
