// SPDX-License-Identifier: Apache-2.0
//
//   lock -> plan -> find files to keep -> find excluded files -> check space
//   -> delete CURRENT, sync -> delete other old files
//   -> copy -> sync directories -> rename CURRENT.tmp to CURRENT, sync
#include "db/utilities/backup/backup_restore.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "db/utilities/backup/backup_names.h"
#include "db/utilities/backup/file_identities.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "table/format/table_property_names.h"
#include "table/sst/read/table_identity.h"
#include "util/scope_exit.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

CopySettings SettingsOfRestore(const BackupParts& parts) {
  assert(parts.options != nullptr);
  return {.buffer_bytes = parts.options->io_buffer_size,
          .limiter = parts.options->restore_rate_limiter.get(),
          .sync = parts.options->sync};
}

// nullopt if it is not the name of a database file.
std::optional<FileType> TypeOf(const std::string& database_name) {
  FileNumber number = 0;
  FileType type = kTempFile;
  if (!ParseFileName(database_name, &number, &type)) return std::nullopt;
  return type;
}

// Whether the session that made the table has also given it its number, so that no other table has
// both. An SstFileWriter numbers its tables by itself, which may be the number by chance.
bool IsNumberedByMaker(const TableProperties& table, const std::string& database_name) {
  FileNumber number = 0;
  FileType type = kTempFile;
  return ParseFileName(database_name, &number, &type) && number.value() == table.orig_file_number &&
         !table.user_collected_properties.contains(std::string(kExternalVersionProperty));
}

// Whether two directories seem to be on one disk. Its free space may have changed between the two
// questions.
bool IsOneDisk(const std::string& db_dir, const std::string& wal_dir, uint64_t free_for_tables,
               uint64_t free_for_logs) {
  if (wal_dir == db_dir || wal_dir.starts_with(StrCat(db_dir, "/"))) return true;
  const auto [less, more] = std::minmax(free_for_tables, free_for_logs);
  return more - less <= more / 64;
}

// What a restore needs of the disk of a directory, and what the disk has.
struct DiskSpace {
  bool IsEnough() const { return needed <= available; }

  std::string dir;
  uint64_t needed = 0;
  uint64_t available = 0;
};

}  // namespace

BackupRestore::BackupRestore(const BackupParts& parts, const RestoreOptions& options,
                             const Backup& backup, const std::string& db_dir,
                             const std::string& wal_dir)
    : parts_(parts),
      options_(options),
      backup_(backup),
      db_dir_(WithoutTrailingSlashes(db_dir)),
      wal_dir_(WithoutTrailingSlashes(wal_dir)),
      fs_(parts.db_fs),
      copier_(SettingsOfRestore(parts)) {}

// The directory is locked during the restore, so no process can open the half-restored database.
Status BackupRestore::Run() {
  assert(fs_ != nullptr);
  RETURN_IF_ERROR(CheckPlaces());
  RETURN_IF_ERROR(CreateDirectories(fs_, db_dir_));
  RETURN_IF_ERROR(CreateDirectories(fs_, wal_dir_));
  Info(parts_.info_log, "Restoring backup %u to %s", backup_.id, db_dir_.c_str());
  // Null if the file system has no locks.
  FileLock* lock = nullptr;
  const IOStatus locked = fs_->LockFile(LockFileName(db_dir_), IOOptions(), &lock, nullptr);
  // If the file system has no locks, nothing protects against an open database.
  if (!locked.ok() && !locked.IsNotSupported()) return locked;
  const ScopeExit unlock([&] {
    if (lock != nullptr) IgnoreError(fs_->UnlockFile(lock, IOOptions(), nullptr), "it goes anyway");
  });
  const Status status = RunLocked();
  Info(parts_.info_log, "Restoring backup %u: %s", backup_.id, status.ToString().c_str());
  return status;
}

// The backups must not be overwritten by a restore into their own directory.
Status BackupRestore::CheckPlaces() const {
  // A restore deletes files, so both directories are checked.
  for (const std::string& dir : {db_dir_, wal_dir_}) {
    if (dir.empty()) return Status::InvalidArgument("restore: no directory is given");
    if (IsSameDirectory(fs_, dir, parts_.directory.fs, parts_.directory.path)) {
      return Status::InvalidArgument("restore: this is the directory of the backups", dir);
    }
  }
  return Status::OK();
}

// Everything that can fail without changes comes first. From RemoveOld() on the old database is
// gone.
// The order is that of the picture at the head of this file.
Status BackupRestore::RunLocked() {
  RETURN_IF_ERROR(MakePlan());
  RETURN_IF_ERROR(FindKept());
  RETURN_IF_ERROR(FindExcluded());
  RETURN_IF_ERROR(CheckSpace());
  RETURN_IF_ERROR(RemoveOld());
  RETURN_IF_ERROR(CopyAll());
  return Finish();
}

// One target for each file of the backup: where it goes, and under which name.
Status BackupRestore::MakePlan() {
  assert(targets_.empty());
  const auto add = [this](const std::string& name) -> Target& {
    Target& target = targets_.emplace_back();
    target.backup_name = name;
    target.database_name = DatabaseNameOf(name);
    target.type = TypeOf(target.database_name).value_or(kTempFile);
    return target;
  };
  for (const BackupFilePtr& file : backup_.files) {
    Target& target = add(file->name);
    target.source = {.fs = parts_.directory.fs,
                     .path = parts_.directory.PathOf(file->name),
                     .bytes = file->bytes,
                     .temperature = file->temperature};
    target.crc = file->crc;
  }
  for (const std::string& name : backup_.excluded) add(name).is_excluded = true;
  if (!options_.keep_log_files) return Status::OK();
  // An existing WAL is not overwritten: it may contain later writes than the one of the backup. An
  // archived one becomes a WAL again, see SettleArchive().
  const std::string archive = ArchivalDirectory(wal_dir_);
  for (Target& target : targets_) {
    if (target.type != kWalFile) continue;
    for (const std::string& path : {PathOf(target), StrCat(archive, "/", target.database_name)}) {
      const IOStatus found = fs_->FileExists(path, IOOptions(), nullptr);
      if (!found.ok() && !IsMissing(found)) return found;
      target.is_kept |= found.ok();
    }
  }
  return Status::OK();
}

// Finds tables and blob files that the directory already has. Depending on the mode their checksums
// are compared as well.
Status BackupRestore::FindKept() {
  if (options_.mode == RestoreOptions::kPurgeAllFiles) return Status::OK();
  ASSIGN_OR_RETURN(const FileSizes sizes, SizesOfFiles(fs_, db_dir_, &IsNameOfBackupFile));
  std::vector<std::pair<Target*, uint64_t>> candidates;
  for (Target& target : targets_) {
    // Other files are small or change, so they are always copied.
    if (target.type != kTableFile && target.type != kBlobFile) continue;
    const auto size = sizes.find(target.database_name);
    if (size == sizes.end()) continue;
    // A file of another size cannot be the same, so it need not be read.
    if (!target.is_excluded && target.source.bytes != size->second) continue;
    candidates.emplace_back(&target, size->second);
  }
  RETURN_IF_ERROR(parts_.pool->Run({.count = candidates.size(), .job = [&](size_t i) {
                                      auto [target, bytes] = candidates[i];
                                      assert(target != nullptr);
                                      ASSIGN_OR_RETURN(target->is_kept, IsThere(*target, bytes));
                                      return Status::OK();
                                    }}));
  for (const Target& target : targets_) {
    if (target.is_kept) kept_names_.insert(target.database_name);
  }
  return Status::OK();
}

// A file that cannot be read is not kept.
Result<bool> BackupRestore::IsThere(const Target& target, uint64_t bytes) const {
  if (options_.mode == RestoreOptions::kVerifyChecksum) return HasCrc(target, bytes);
  const std::optional<std::string> session_id = SessionIdIn(target.backup_name);
  if (target.type != kTableFile || !session_id) return false;
  Result<TableProperties> found = ReadTableProperties(fs_, PathOf(target));
  if (!found.ok() || found->db_session_id != *session_id) return false;
  // The name may or may not contain the size.
  const FileIdentityForName identity{.database_name = target.database_name,
                                     .type = kTableFile,
                                     .bytes = bytes,
                                     .session_id = *session_id,
                                     .crc = {}};
  const auto plain = BackupEngineOptions::kUseDbSessionId;
  const bool is_named_so =
      target.backup_name == SharedChecksumName(identity, plain) ||
      target.backup_name ==
          SharedChecksumName(identity, plain | BackupEngineOptions::kFlagIncludeFileSize);
  if (!is_named_so) return false;
  return IsNumberedByMaker(*found, target.database_name) || HasCrc(target, bytes);
}

bool BackupRestore::HasCrc(const Target& target, uint64_t bytes) const {
  // Without a recorded checksum nobody can say that it is the same.
  if (!target.crc) return false;
  Result<CopiedFile> read = copier_.Read({.fs = fs_, .path = PathOf(target), .bytes = bytes});
  return read.ok() && read->crc == *target.crc;
}

Status BackupRestore::FindExcluded() {
  // A file that is kept need not be found elsewhere.
  std::vector<Target*> wanted;
  for (Target& target : targets_) {
    if (target.is_excluded && !target.is_kept) wanted.push_back(&target);
  }
  return wanted.empty() ? Status::OK() : FindInAlternates(std::move(wanted));
}

// Excluded files are looked up in other backup directories, whose engines the program has given.
Status BackupRestore::FindInAlternates(std::vector<Target*> wanted) {
  assert(!wanted.empty());
  for (BackupEngineReadOnlyBase* engine : options_.alternate_dirs) {
    std::vector<BackupInfo> infos;
    engine->GetBackupInfo(&infos, /*include_file_details=*/true);
    for (BackupInfo& info : infos) {
      // Without an Env the files of that backup cannot be read.
      if (info.env_for_open == nullptr) continue;
      std::map<std::string, const BackupFileInfo*> files;
      // The pointers refer to `info`, which is kept below if one of its files is used.
      for (const BackupFileInfo& file : info.file_details) files[file.relative_filename] = &file;
      const size_t count_before = wanted.size();
      std::erase_if(wanted, [&](Target* target) {
        const auto file = files.find(target->backup_name);
        if (file == files.end()) return false;
        target->source = {.fs = info.env_for_open->GetFileSystem().get(),
                          .path = StrCat(info.name_for_open, "/", target->database_name),
                          .bytes = file->second->size};
        LiveFileStorageInfo facts;
        static_cast<FileStorageInfo&>(facts) = *file->second;
        target->crc = RecordedCrc(facts);
        return true;
      });
      // The file system of the source lives as long as the Env in `info`.
      if (wanted.size() < count_before) alternates_.push_back(std::move(info));
      if (wanted.empty()) return Status::OK();
    }
  }
  return Status::InvalidArgument(
      StrCat("restore: ", wanted.front()->backup_name,
             " was excluded from the backup and is in none of the alternate directories"));
}

// The space of the old files counts as free. There is no check if the file system does not report
// its free space. It does not tell disks apart either: two directories with about the same free
// space are taken for places on one disk.
Status BackupRestore::CheckSpace() const {
  DiskSpace tables{.dir = db_dir_}, logs{.dir = wal_dir_};
  for (const Target& target : targets_) {
    // Files that stay take no new space.
    if (target.is_kept) continue;
    (target.type == kWalFile ? logs : tables).needed += target.source.bytes;
  }
  for (DiskSpace* const disk : {&tables, &logs}) {
    if (!fs_->GetFreeSpace(disk->dir, IOOptions(), &disk->available, nullptr).ok())
      return Status::OK();
  }
  const bool is_one_disk = IsOneDisk(db_dir_, wal_dir_, tables.available, logs.available);
  if (is_one_disk) tables.needed += std::exchange(logs.needed, 0);
  // Old files are listed only if space is scarce.
  if (tables.IsEnough() && logs.IsEnough()) return Status::OK();
  // What is deleted by the restore becomes free before the copies are made.
  ASSIGN_OR_RETURN(const uint64_t freed, FreedBytesIn(db_dir_));
  ASSIGN_OR_RETURN(uint64_t freed_by_logs, FreedBytesIn(ArchivalDirectory(wal_dir_)));
  if (wal_dir_ != db_dir_) {
    ASSIGN_OR_RETURN(const uint64_t in_wal_dir, FreedBytesIn(wal_dir_));
    freed_by_logs += in_wal_dir;
  }
  tables.available += freed;
  (is_one_disk ? tables : logs).available += freed_by_logs;
  for (const DiskSpace& disk : {tables, logs}) {
    if (disk.IsEnough()) continue;
    return IOStatus::NoSpace(
        StrCat("restore to ", disk.dir),
        StrCat(disk.needed, " bytes are needed, ", disk.available, " are available"));
  }
  return Status::OK();
}

// The space of a file with another link, as in a checkpoint, does not become free. A file system
// that cannot count links usually cannot make them either.
Result<uint64_t> BackupRestore::FreedBytesIn(const std::string& dir) const {
  Result<FileSizes> sizes =
      SizesOfFiles(fs_, dir, [&](const std::string& name) { return IsOld(dir, name); });
  if (IsMissing(sizes.status())) return uint64_t{0};
  if (!sizes.ok()) return sizes.status();
  uint64_t freed = 0;
  for (const auto& [name, bytes] : *sizes) {
    uint64_t links = 0;
    const IOStatus counted =
        fs_->NumFileLinks(StrCat(dir, "/", name), IOOptions(), &links, nullptr);
    if (counted.ok() ? links == 1 : counted.IsNotSupported()) freed += bytes;
  }
  return freed;
}

Status BackupRestore::RemoveOld() const {
  // Durable before any other file goes: without CURRENT the half-deleted database cannot be opened.
  RETURN_IF_ERROR(DeleteFileIfExists(fs_, CurrentFileName(db_dir_)));
  if (parts_.options->sync) RETURN_IF_ERROR(SyncDirectory(fs_, db_dir_));
  RETURN_IF_ERROR(RemoveFrom(db_dir_));
  if (wal_dir_ != db_dir_) RETURN_IF_ERROR(RemoveFrom(wal_dir_));
  return SettleArchive();
}

Status BackupRestore::RemoveFrom(const std::string& dir) const {
  assert(!dir.empty());
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs_, dir));
  for (const std::string& name : names) {
    if (IsOld(dir, name)) RETURN_IF_ERROR(DeleteFileIfExists(fs_, StrCat(dir, "/", name)));
  }
  return Status::OK();
}

// Only files with names of database files go; in a separate WAL directory and in the archive only
// WALs.
bool BackupRestore::IsOld(const std::string& dir, const std::string& name) const {
  const std::optional<FileType> type = TypeOf(name);
  if (!type && !IsTrashFileName(name)) return false;
  // LOCK is held by this restore; after a deletion another process could lock a new file.
  if (type == kDBLockFile || kept_names_.contains(name)) return false;
  return type == kWalFile ? !options_.keep_log_files : dir == db_dir_;
}

// With keep_log_files the archived logs become logs of the restored database. Otherwise they belong
// to the old one, and are deleted.
Status BackupRestore::SettleArchive() const {
  const std::string archive = ArchivalDirectory(wal_dir_);
  Result<std::vector<std::string>> names = ListDirectory(fs_, archive);
  if (IsMissing(names.status())) return Status::OK();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (TypeOf(name) != kWalFile) continue;
    const std::string path = StrCat(archive, "/", name);
    if (options_.keep_log_files) {
      RETURN_IF_ERROR(fs_->RenameFile(path, StrCat(wal_dir_, "/", name), IOOptions(), nullptr));
    } else {
      RETURN_IF_ERROR(DeleteFileIfExists(fs_, path));
    }
  }
  return Status::OK();
}

Status BackupRestore::CopyAll() const {
  // Made before the files, so that the syncs below cover their names.
  const NewEntries db_entries(fs_, db_dir_), wal_entries(fs_, wal_dir_);
  std::vector<const Target*> to_copy;
  for (const Target& target : targets_) {
    // A kept file is neither deleted nor overwritten.
    if (!target.is_kept) to_copy.push_back(&target);
  }
  RETURN_IF_ERROR(parts_.pool->Run(
      {.count = to_copy.size(), .job = [&](size_t i) { return CopyOne(*to_copy[i]); }}));
  if (!parts_.options->sync) return Status::OK();
  RETURN_IF_ERROR(db_entries.Sync());
  return wal_dir_ == db_dir_ ? Status::OK() : wal_entries.Sync();
}

Status BackupRestore::CopyOne(const Target& target) const {
  assert(!target.is_kept);
  // CURRENT gets its name in Finish().
  const std::string path = target.type == kCurrentFile ? CurrentTempPath() : PathOf(target);
  ASSIGN_OR_RETURN(const CopiedFile copied, copier_.Copy(target.source, {.fs = fs_, .path = path}));
  if (!target.crc) return Status::OK();
  // The copy is compared with the backup's checksum, so damage of the backup is not restored.
  return CheckCrc(target.source.path, *target.crc, copied.crc);
}

// After this rename the database can be opened.
Status BackupRestore::Finish() const {
  const NewEntries entries(fs_, db_dir_);
  const std::string current = CurrentFileName(db_dir_);
  RETURN_IF_ERROR(fs_->RenameFile(CurrentTempPath(), current, IOOptions(), nullptr));
  return parts_.options->sync ? entries.Sync(current) : Status::OK();
}

std::string BackupRestore::CurrentTempPath() const { return StrCat(db_dir_, "/CURRENT.tmp"); }

std::string BackupRestore::PathOf(const Target& target) const {
  return StrCat(target.type == kWalFile ? wal_dir_ : db_dir_, "/", target.database_name);
}

}  // namespace ashlar
