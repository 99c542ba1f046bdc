// SPDX-License-Identifier: Apache-2.0
//
// Backups are loaded from the newest to the oldest. If two of them contradict each other, the older
// one is treated as damaged.
#include "db/utilities/backup/backup_catalog.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

#include "db/utilities/backup/backup_names.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Adds the sizes of the files in one subdirectory, by name relative to the backup directory. A
// missing subdirectory has no files.
Status AddSizes(const BackupDirectory& directory, std::string_view dir,
                std::unordered_map<std::string, uint64_t>* sizes) {
  assert(sizes != nullptr);
  const Result<FileSizes> found =
      SizesOfFiles(directory.fs, directory.PathOf(dir), &IsNameOfBackupFile);
  if (IsMissing(found.status())) return Status::OK();
  if (!found.ok()) return found.status();
  for (const auto& [name, bytes] : found.value()) (*sizes)[StrCat(dir, "/", name)] = bytes;
  return Status::OK();
}

}  // namespace

std::string BackupDirectory::PathOf(std::string_view name) const { return StrCat(path, "/", name); }

uint64_t Backup::Bytes() const {
  uint64_t bytes = 0;
  for (const BackupFilePtr& file : files) bytes += file->bytes;
  return bytes;
}

// Reads the meta files, newest first. At most max_valid backups are loaded; the others are not part
// of the catalog.
Status BackupCatalog::Load(const BackupDirectory& directory, uint64_t max_valid, Logger* info_log) {
  const std::string meta_dir = directory.PathOf(kMetaDir);
  assert(directory.fs != nullptr);
  Result<std::vector<std::string>> names = ListDirectory(directory.fs, meta_dir);
  if (IsMissing(names.status())) return Status::NotFound(StrCat(meta_dir, " is missing"));
  if (!names.ok()) return names.status();
  std::vector<BackupID> ids;
  for (const std::string& name : *names) {
    if (const std::optional<BackupID> id = ParseBackupId(name)) ids.push_back(*id);
  }
  // Newest first: if a limit is given, the newest backups are loaded.
  SortRarely(&ids, std::greater<>());
  Sizes shared_sizes;
  // The directories are listed once. To ask for the size of each file would be one call per file,
  // which is slow on a remote file system.
  RETURN_IF_ERROR(AddSizes(directory, kSharedDir, &shared_sizes));
  RETURN_IF_ERROR(AddSizes(directory, kSharedChecksumDir, &shared_sizes));
  // A new backup must not get the id of an existing one, even if that is not loaded or is damaged.
  if (!ids.empty()) {
    MutexLock lock(&mutex_);
    greatest_id_ = ids.front();
  }
  uint64_t valid = 0;
  for (const BackupID id : ids) {
    if (valid >= max_valid) break;
    if (LoadBackup(directory, id, shared_sizes, info_log)) ++valid;
  }
  return Status::OK();
}

// Adds the backup to the valid or to the damaged ones. True if it is valid.
bool BackupCatalog::LoadBackup(const BackupDirectory& directory, BackupID id,
                               const Sizes& shared_sizes, Logger* info_log) {
  DamagedBackup damaged;
  Result<BackupPtr> backup = ReadBackup(directory, id, shared_sizes, info_log, &damaged);
  if (backup.ok()) {
    Info(info_log, "Backup %u: %zu files, %llu bytes", id, (*backup)->files.size(),
         static_cast<unsigned long long>((*backup)->Bytes()));
    Add(*backup);
    return true;
  }
  damaged.reason = backup.status();
  Error(info_log, "Backup %u cannot be restored: %s", id, damaged.reason.ToString().c_str());
  MutexLock lock(&mutex_);
  damaged_[id] = std::move(damaged);
  return false;
}

Result<BackupPtr> BackupCatalog::ReadBackup(const BackupDirectory& directory, BackupID id,
                                            const Sizes& shared_sizes, Logger* info_log,
                                            DamagedBackup* damaged) const {
  const std::string path = directory.PathOf(MetaName(id));
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(directory.fs, path));
  assert(damaged != nullptr);
  std::vector<std::string> ignored;
  Result<BackupMeta> meta = ParseMeta(text, id, path, &ignored);
  // Also the names of a damaged backup are kept, so that garbage collection does not delete its
  // files.
  for (std::string& name : NamesInMeta(text)) damaged->names.insert(std::move(name));
  damaged->has_unknown_names = meta.status().IsNotSupported();
  for (const std::string& field : ignored) {
    Warn(info_log, "%s: field \"%s\" is not known and passed by", path.c_str(), field.c_str());
  }
  if (!meta.ok()) return meta.status();
  return MakeBackup(directory, id, meta.Take(), shared_sizes);
}

// Compares the files that the meta file names with those that exist. Only their sizes are checked;
// checksums need VerifyBackup().
Result<BackupPtr> BackupCatalog::MakeBackup(const BackupDirectory& directory, BackupID id,
                                            BackupMeta meta, const Sizes& shared_sizes) const {
  const std::string meta_path = directory.PathOf(MetaName(id));
  Sizes private_sizes;
  RETURN_IF_ERROR(AddSizes(directory, PrivateDirName(id), &private_sizes));
  auto backup = std::make_shared<Backup>();
  backup->id = id;
  backup->timestamp = meta.timestamp;
  backup->sequence = meta.sequence;
  backup->app_metadata = std::move(meta.app_metadata);
  backup->excluded = std::move(meta.excluded);
  backup->files.reserve(meta.files.size());
  for (BackupFile& file : meta.files) {
    const Sizes& sizes = IsSharedName(file.name) ? shared_sizes : private_sizes;
    const auto size = sizes.find(file.name);
    if (size == sizes.end()) {
      return Status::Corruption(StrCat(meta_path, ": ", file.name, " is missing"));
    }
    // Schema 1 has no sizes, so there is nothing to compare with.
    if (file.bytes != BackupFile::kUnknownBytes && file.bytes != size->second) {
      return Status::Corruption(StrCat(meta_path, ": ", file.name, ": expected ", file.bytes,
                                       " bytes, found ", size->second));
    }
    // If the schema has no sizes, the size that the file has now is taken.
    file.bytes = size->second;
    MutexLock lock(&mutex_);
    ASSIGN_OR_RETURN(BackupFilePtr shared, ShareLocked(meta_path, std::move(file)));
    backup->files.push_back(std::move(shared));
  }
  return BackupPtr(std::move(backup));
}

// Backups that name the same shared file use one object. Contradictory facts about it mean that one
// of the meta files is damaged.
Result<BackupFilePtr> BackupCatalog::ShareLocked(const std::string& meta_path,
                                                 BackupFile file) const {
  const auto known = shared_.find(file.name);
  if (known == shared_.end()) return std::make_shared<const BackupFile>(std::move(file));
  const BackupFilePtr& other = known->second.file;
  // A CRC that only one of them has contradicts nothing.
  if (file.crc && other->crc && *file.crc != *other->crc) {
    return Status::Corruption(StrCat(meta_path, ": ", file.name, ": crc32 ", *file.crc,
                                     ", but a newer backup has ", *other->crc));
  }
  // Equal facts share one object; else this backup keeps its own view of the file.
  if (file.crc == other->crc && file.temperature == other->temperature) return other;
  return std::make_shared<const BackupFile>(std::move(file));
}

// A damaged backup answers with the reason, so that a restore says what is wrong with it.
Result<BackupPtr> BackupCatalog::Find(BackupID id) const {
  MutexLock lock(&mutex_);
  // The latest one that can be restored, even if a newer one is damaged.
  if (id == kLatestBackupId) {
    if (valid_.empty()) return Status::NotFound();
    return valid_.rbegin()->second;
  }
  const auto damaged = damaged_.find(id);
  if (damaged != damaged_.end()) return damaged->second.reason;
  const auto found = valid_.find(id);
  if (found == valid_.end()) return Status::NotFound();
  return found->second;
}

std::vector<BackupPtr> BackupCatalog::All() const {
  MutexLock lock(&mutex_);
  std::vector<BackupPtr> all;
  for (const auto& [id, backup] : valid_) all.push_back(backup);
  return all;
}

std::vector<BackupID> BackupCatalog::Damaged() const {
  MutexLock lock(&mutex_);
  std::vector<BackupID> ids;
  for (const auto& [id, damaged] : damaged_) ids.push_back(id);
  return ids;
}

BackupID BackupCatalog::TakeNextId() {
  // Given out even before the backup exists, so that two calls at the same time get different ids.
  MutexLock lock(&mutex_);
  return ++greatest_id_;
}

void BackupCatalog::GiveBackId(BackupID id) {
  // If another backup has got a higher id meanwhile, this one stays unused.
  MutexLock lock(&mutex_);
  if (greatest_id_ == id) --greatest_id_;
}

void BackupCatalog::ForgetIds() {
  MutexLock lock(&mutex_);
  assert(valid_.empty() && damaged_.empty());
  greatest_id_ = 0;
}

void BackupCatalog::Add(const BackupPtr& backup) {
  assert(backup != nullptr);
  MutexLock lock(&mutex_);
  assert(!valid_.contains(backup->id) && !damaged_.contains(backup->id));
  valid_[backup->id] = backup;
  greatest_id_ = std::max(greatest_id_, backup->id);
  for (const BackupFilePtr& file : backup->files) {
    if (!IsSharedName(file->name)) continue;
    SharedFile& shared = shared_[file->name];
    if (shared.backup_count++ > 0) {
      // The first CRC that is known serves all backups that share the file.
      if (!shared.file->crc) shared.file = file;
      continue;
    }
    // The session in the name lets a later backup recognise the file without reading it.
    shared.file = file;
    if (auto session = SessionIdIn(file->name)) {
      sessions_.emplace(DatabaseNameOf(file->name), std::move(*session));
    }
  }
}

// Returns the shared files that no other backup names, which the caller may delete.
std::vector<std::string> BackupCatalog::Remove(BackupID id) {
  std::vector<std::string> names;
  {
    MutexLock lock(&mutex_);
    // A backup is valid or damaged, never both; each branch finds at most one.
    if (const auto found = valid_.find(id); found != valid_.end()) {
      for (const BackupFilePtr& file : found->second->files) {
        if (!IsSharedName(file->name)) continue;
        names.push_back(file->name);
        ForgetLocked(file->name);
      }
      valid_.erase(found);
    }
    if (const auto found = damaged_.find(id); found != damaged_.end()) {
      for (const std::string& name : found->second.names) {
        if (IsSharedName(name)) names.push_back(name);
      }
      damaged_.erase(found);
    }
  }
  // Another backup may name the same files.
  // After the removal, so the backup itself no longer counts.
  std::erase_if(names, [this](const std::string& name) { return IsNamed(name); });
  return names;
}

// Takes one use off a shared file; the last one also removes the session in its name from the
// candidates.
void BackupCatalog::ForgetLocked(const std::string& name) {
  const auto found = shared_.find(name);
  assert(found != shared_.end() && found->second.backup_count > 0);
  assert(found->second.file != nullptr);
  if (--found->second.backup_count > 0) return;
  shared_.erase(found);
  const std::optional<std::string> session = SessionIdIn(name);
  if (!session) return;
  auto [at, end] = sessions_.equal_range(DatabaseNameOf(name));
  // Files with the same name in the database differ in their sessions; one entry is removed.
  at = std::find_if(at, end, [&](const auto& entry) { return entry.second == *session; });
  assert(at != end);
  sessions_.erase(at);
}

BackupFilePtr BackupCatalog::FindShared(const std::string& name) const {
  MutexLock lock(&mutex_);
  const auto found = shared_.find(name);
  return found == shared_.end() ? nullptr : found->second.file;
}

std::vector<std::string> BackupCatalog::SessionIdsOf(const std::string& database_name) const {
  MutexLock lock(&mutex_);
  std::vector<std::string> ids;
  const auto [begin, end] = sessions_.equal_range(database_name);
  for (auto at = begin; at != end; ++at) ids.push_back(at->second);
  return ids;
}

bool BackupCatalog::IsNamed(const std::string& name) const {
  MutexLock lock(&mutex_);
  // Names of damaged backups count as well, because somebody may still repair them.
  if (shared_.contains(name)) return true;
  return std::ranges::any_of(
      damaged_, [&name](const auto& entry) { return entry.second.names.contains(name); });
}

bool BackupCatalog::HasId(BackupID id) const {
  MutexLock lock(&mutex_);
  return valid_.contains(id) || damaged_.contains(id);
}

// A meta file with fields of a newer version may refer to files that this version does not know of.
// Deleting files that seem to belong to no backup could destroy that backup.
Status BackupCatalog::CheckAllIsUnderstood() const {
  MutexLock lock(&mutex_);
  for (const auto& [id, damaged] : damaged_) {
    // Damage alone is no reason: the names of such a backup are known and protected.
    if (!damaged.has_unknown_names) continue;
    return Status::CopyAppendMessage(
        damaged.reason, ": ",
        "nothing is collected while this backup may have files unknown to us");
  }
  return Status::OK();
}

Result<std::vector<std::string>> BackupCatalog::ListMetaFiles(
    const BackupDirectory& directory) const {
  Result<std::vector<std::string>> names = ListDirectory(directory.fs, directory.PathOf(kMetaDir));
  if (IsMissing(names.status())) return std::vector<std::string>();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::optional<BackupID> id = ParseBackupId(name);
    if (!id || HasId(*id)) continue;
    return Status::Aborted("another engine has made a backup in the meantime",
                           directory.PathOf(MetaName(*id)));
  }
  return names;
}

Status BackupCatalog::CheckKnowsAllNames(const BackupDirectory& directory) const {
  RETURN_IF_ERROR(CheckAllIsUnderstood());
  return ListMetaFiles(directory).status();
}

}  // namespace ashlar
