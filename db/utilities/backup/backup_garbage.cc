// SPDX-License-Identifier: Apache-2.0
//
// A file that could not be deleted is tried again by the next collection.
#include "db/utilities/backup/backup_garbage.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "db/utilities/backup/backup_names.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// What a failed sync of the directory has lost no later sync makes durable, but for what is done
// anew: so it is renamed back then, and what an earlier call could not rename back is renamed once
// more.
Status RetireMetaFile(const BackupParts& parts, BackupID id) {
  const BackupDirectory& directory = parts.directory;
  const NewEntries entries(directory.fs, directory.PathOf(kMetaDir));
  const std::string path = directory.PathOf(MetaName(id));
  const std::string retired = directory.PathOf(MetaTempName(id));
  const auto rename = [fs = directory.fs](const std::string& from, const std::string& to) {
    return fs->RenameFile(from, to, IOOptions(), nullptr);
  };
  IOStatus renamed = rename(path, retired);
  if (IsMissing(renamed)) {
    renamed = rename(retired, path);
    if (IsMissing(renamed)) return Status::OK();  // somebody else has deleted it
    if (renamed.ok()) renamed = rename(path, retired);
  }
  RETURN_IF_ERROR(renamed);
  if (!parts.options->sync) return Status::OK();
  Status status = entries.Sync(retired);
  if (!status.ok()) IgnoreError(rename(retired, path), "the first error says more");
  return status;
}

// Names of shared files as engines give them.
bool IsOfBackup(const std::string& name) {
  if (IsTempName(name)) return true;
  FileNumber number = 0;
  FileType type = kTempFile;
  return ParseFileName(DatabaseNameOf(name), &number, &type) &&
         (type == kTableFile || type == kBlobFile);
}

class Collection {
 public:
  explicit Collection(const BackupParts& parts)
      : catalog_(*parts.catalog), directory_(parts.directory), info_log_(parts.info_log) {}

  Status Run() {
    RETURN_IF_ERROR(catalog_.CheckAllIsUnderstood());
    ASSIGN_OR_RETURN(const std::vector<std::string> metas, List(kMetaDir));
    for (const std::string& name : metas) {
      const std::optional<BackupID> id = ParseBackupId(name);
      if (!id || catalog_.HasId(*id)) continue;
      return Status::Aborted("another engine has made a backup in the meantime",
                             directory_.PathOf(MetaName(*id)));
    }
    for (const std::string& name : metas) {
      if (IsTempName(name) && !IsLastName(name, metas)) Delete(StrCat(kMetaDir, "/", name));
    }
    CollectShared(kSharedDir);
    CollectShared(kSharedChecksumDir);
    CollectPrivate();
    Info(info_log_, "Garbage collection: %zu deleted, %s", deleted_, first_.ToString().c_str());
    return first_;
  }

 private:
  // None if the directory is missing.
  Result<std::vector<std::string>> List(std::string_view dir) {
    Result<std::vector<std::string>> names = ListDirectory(directory_.fs, directory_.PathOf(dir));
    if (IsMissing(names.status())) return std::vector<std::string>();
    return names;
  }

  // Of a meta file that RetireMetaFile() has renamed and could not rename back.
  bool IsLastName(std::string_view temp_name, const std::vector<std::string>& metas) const {
    const std::string_view digits = temp_name.substr(1, temp_name.rfind('.') - 1);
    const std::optional<BackupID> id = ParseBackupId(digits);
    return id && catalog_.HasId(*id) && std::ranges::find(metas, digits) == metas.end();
  }

  void CollectShared(std::string_view dir) {
    Result<std::vector<std::string>> names = List(dir);
    first_.UpdateIfOk(Status(names.status()));
    if (!names.ok()) return;
    for (const std::string& base : *names) {
      const std::string name = StrCat(dir, "/", base);
      if (IsOfBackup(base) && !catalog_.IsNamed(name)) Delete(name);
    }
  }

  void CollectPrivate() {
    Result<std::vector<std::string>> names = List(kPrivateDir);
    first_.UpdateIfOk(Status(names.status()));
    if (!names.ok()) return;
    for (const std::string& base : *names) {
      const std::string_view name(base);
      const bool is_temp = name.ends_with(".tmp");  // of RocksDB before 5.x
      const std::optional<BackupID> id =
          ParseBackupId(is_temp ? name.substr(0, name.size() - 4) : name);
      if (!id || (!is_temp && catalog_.HasId(*id))) continue;
      Note(DeleteFlatDirectory(directory_.fs, directory_.PathOf(StrCat(kPrivateDir, "/", base))));
    }
  }

  void Delete(const std::string& name) {
    Note(DeleteFileIfExists(directory_.fs, directory_.PathOf(name)));
  }

  void Note(Status status) {
    if (status.ok()) ++deleted_;
    first_.UpdateIfOk(std::move(status));
  }

  const BackupCatalog& catalog_;
  const BackupDirectory& directory_;
  Logger* const info_log_;
  size_t deleted_ = 0;
  Status first_;
};

}  // namespace

Status DeleteBackupFiles(const BackupParts& parts, BackupID id) {
  if (!parts.catalog->HasId(id)) return Status::NotFound("no such backup", StrCat(id));
  const BackupDirectory& directory = parts.directory;
  RETURN_IF_ERROR(RetireMetaFile(parts, id));
  const std::vector<std::string> unnamed = parts.catalog->Remove(id);
  Info(parts.info_log, "Backup %u is deleted", id);
  Status status = DeleteFlatDirectory(directory.fs, directory.PathOf(PrivateDirName(id)));
  if (parts.catalog->CheckAllIsUnderstood().ok()) {
    for (const std::string& name : unnamed) {
      status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(name)));
    }
  }
  status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(MetaTempName(id))));
  return status;
}

Status CollectBackupGarbage(const BackupParts& parts) { return Collection(parts).Run(); }

}  // namespace ashlar
