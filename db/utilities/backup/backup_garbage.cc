// SPDX-License-Identifier: Apache-2.0
//
// A file that cannot be deleted remains garbage, which the next collection deletes.
#include "db/utilities/backup/backup_garbage.h"

#include <algorithm>
#include <cassert>
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

// Renames meta/<id> durably. If a sync of the directory fails, the kernel may forget the rename,
// and a later successful sync does not make it durable. Therefore the file is then renamed back. If
// that failed too in an earlier call, the rename is repeated here in both directions.
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
    if (IsMissing(renamed)) return Status::OK();  // another engine has deleted it
    if (renamed.ok()) renamed = rename(path, retired);
  }
  RETURN_IF_ERROR(renamed);
  if (!parts.options->sync) return Status::OK();
  Status status = entries.Sync(retired);
  if (!status.ok()) IgnoreError(rename(retired, path), "the first error says more");
  return status;
}

// Whether an engine creates shared files with such a name.
bool IsOfBackup(const std::string& name) {
  // Temporary names are those of copies that were not completed.
  if (IsTempName(name)) return true;
  FileNumber number = 0;
  FileType type = kTempFile;
  return ParseFileName(DatabaseNameOf(name), &number, &type) &&
         (type == kTableFile || type == kBlobFile);
}

// One run of the garbage collection. An error of one file does not stop it: the other files are
// still deleted, and the first error is returned.
class Collection {
 public:
  explicit Collection(const BackupParts& parts)
      : catalog_(*parts.catalog), directory_(parts.directory), info_log_(parts.info_log) {}

  // Refuses to run if the catalog does not know all meta files: one that it does not know was
  // written by another engine, whose files would otherwise count as garbage.
  Status Run() {
    RETURN_IF_ERROR(catalog_.CheckAllIsUnderstood());
    ASSIGN_OR_RETURN(const std::vector<std::string> metas, catalog_.ListMetaFiles(directory_));
    for (const std::string& name : metas) {
      // The temporary meta file of a backup that is known is its only copy.
      if (IsTempName(name) && !IsLastName(name, metas)) Delete(StrCat(kMetaDir, "/", name));
    }
    // Both directories are searched, whatever the options say now: earlier engines may have had
    // others.
    CollectShared(kSharedDir);
    CollectShared(kSharedChecksumDir);
    CollectPrivate();
    Info(info_log_, "Garbage collection: %zu deleted, %s", deleted_, first_.ToString().c_str());
    return first_;
  }

 private:
  // A missing directory is empty.
  Result<std::vector<std::string>> List(std::string_view dir) {
    Result<std::vector<std::string>> names = ListDirectory(directory_.fs, directory_.PathOf(dir));
    if (IsMissing(names.status())) return std::vector<std::string>();
    return names;
  }

  // Whether this temporary name is the only name that a meta file of the catalog has, because
  // RetireMetaFile() could not rename it back. The backup is lost if it is deleted.
  bool IsLastName(std::string_view temp_name, const std::vector<std::string>& metas) const {
    const std::string_view digits = temp_name.substr(1, temp_name.rfind('.') - 1);
    const std::optional<BackupID> id = ParseBackupId(digits);
    return id && catalog_.HasId(*id) && std::ranges::find(metas, digits) == metas.end();
  }

  // Deletes the files of one shared directory that no backup names.
  void CollectShared(std::string_view dir) {
    Result<std::vector<std::string>> names = List(dir);
    first_.UpdateIfOk(Status(names.status()));
    if (!names.ok()) return;
    for (const std::string& base : *names) {
      const std::string name = StrCat(dir, "/", base);
      // Files with other names may have been put there by somebody else, so they stay.
      if (IsOfBackup(base) && !catalog_.IsNamed(name)) Delete(name);
    }
  }

  // Deletes the private directories of ids without a backup.
  void CollectPrivate() {
    Result<std::vector<std::string>> names = List(kPrivateDir);
    first_.UpdateIfOk(Status(names.status()));
    if (!names.ok()) return;
    for (const std::string& base : *names) {
      const std::string_view name(base);
      const bool is_temp = name.ends_with(".tmp");  // created by old versions of RocksDB
      const std::optional<BackupID> id =
          ParseBackupId(is_temp ? name.substr(0, name.size() - 4) : name);
      if (!id || (!is_temp && catalog_.HasId(*id))) continue;
      Note(DeleteFlatDirectory(directory_.fs, directory_.PathOf(StrCat(kPrivateDir, "/", base))));
    }
  }

  // `name` is relative to the directory of the backups.
  void Delete(const std::string& name) {
    assert(!name.empty() && name.front() != '/');
    Note(DeleteFileIfExists(directory_.fs, directory_.PathOf(name)));
  }

  // Counts a deletion or keeps its error.
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
  assert(parts.catalog != nullptr);
  if (!parts.catalog->HasId(id)) return Status::NotFound("no such backup", StrCat(id));
  const BackupDirectory& directory = parts.directory;
  // From here on the backup does not exist, even if a deletion below fails.
  RETURN_IF_ERROR(RetireMetaFile(parts, id));
  // The catalog follows the meta file: it forgets the backup as soon as the rename is durable.
  const std::vector<std::string> unnamed = parts.catalog->Remove(id);
  Info(parts.info_log, "Backup %u is deleted", id);
  Status status = DeleteFlatDirectory(directory.fs, directory.PathOf(PrivateDirName(id)));
  // While a meta file has unknown names, any shared file may belong to it.
  if (!unnamed.empty() && parts.catalog->CheckKnowsAllNames(directory).ok()) {
    for (const std::string& name : unnamed) {
      status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(name)));
    }
  }
  status.UpdateIfOk(DeleteFileIfExists(directory.fs, directory.PathOf(MetaTempName(id))));
  return status;
}

// An object for each run, so that the count and the first error begin anew.
Status CollectBackupGarbage(const BackupParts& parts) { return Collection(parts).Run(); }

}  // namespace ashlar
