// SPDX-License-Identifier: Apache-2.0
//
// Opening an engine, and its shorter operations.
#include "db/utilities/backup/engine_core.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/rate_limiter.h"
#include "db/db_impl.h"
#include "db/utilities/backup/backup_creation.h"
#include "db/utilities/backup/backup_garbage.h"
#include "db/utilities/backup/backup_names.h"
#include "db/utilities/backup/backup_restore.h"
#include "db/utilities/copy/flat_directory.h"
#include "env/env_adaptors.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/remap/borrowed_files.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The text is a line of the meta file, which is read into memory as a whole.
constexpr size_t kMaxMetadataBytes = 1 << 20;

// Checks everything that can be checked without I/O, before a directory is created.
Status CheckOptions(const BackupEngineOptions& options, EngineCore::Access access) {
  if (options.backup_dir.empty()) return Status::InvalidArgument("backup_dir is not set");
  if (options.schema_version < kLowestSchema) {
    return Status::InvalidArgument(
        StrCat("schema_version ", options.schema_version, " is below ", kLowestSchema));
  }
  if (options.schema_version > kHighestSchema) {
    return Status::NotSupported(
        StrCat("schema_version ", options.schema_version, " is newer than this version knows"));
  }
  const auto naming = static_cast<uint32_t>(options.share_files_with_checksum_naming);
  const uint32_t kind = naming & BackupEngineOptions::kMaskNoNamingFlags;
  const uint32_t flags = naming & BackupEngineOptions::kMaskNamingFlags;
  const bool is_known = (kind == BackupEngineOptions::kLegacyCrc32cAndFileSize ||
                         kind == BackupEngineOptions::kUseDbSessionId) &&
                        (flags & ~uint32_t{BackupEngineOptions::kFlagIncludeFileSize}) == 0;
  if (!is_known) {
    return Status::InvalidArgument(
        StrCat("share_files_with_checksum_naming ", naming, " is no naming"));
  }
  if (access == EngineCore::Access::kReadOnly && options.destroy_old_data) {
    return Status::InvalidArgument("destroy_old_data: this engine only reads");
  }
  return Status::OK();
}

// A limiter of the program goes before a rate in the options. Null: no limit.
std::shared_ptr<RateLimiter> LimiterOf(const std::shared_ptr<RateLimiter>& given, uint64_t rate) {
  if (given != nullptr || rate == 0) return given;
  const auto bytes_per_second = static_cast<int64_t>(std::min<uint64_t>(rate, INT64_MAX));
  return std::shared_ptr<RateLimiter>(NewGenericRateLimiter(bytes_per_second));
}

// Fills in what the options leave open.
BackupEngineOptions Settle(BackupEngineOptions options, Env* db_env) {
  // Slashes at the end would make two names of one directory.
  options.backup_dir = WithoutTrailingSlashes(options.backup_dir);
  assert(db_env != nullptr);
  if (options.backup_env == nullptr) options.backup_env = db_env;
  options.backup_rate_limiter = LimiterOf(options.backup_rate_limiter, options.backup_rate_limit);
  options.restore_rate_limiter =
      LimiterOf(options.restore_rate_limiter, options.restore_rate_limit);
  return options;
}

}  // namespace

EngineCore::EngineCore(const BackupEngineOptions& options, Env* db_env)
    : options_(Settle(options, db_env)),
      backup_env_(options_.backup_env),
      backup_fs_(backup_env_->GetFileSystem()),
      db_fs_(db_env->GetFileSystem()),
      pool_(options_.max_background_operations),
      parts_{.options = &options_,
             .directory = {.fs = backup_fs_.get(), .path = options_.backup_dir},
             .backup_env = backup_env_,
             .db_fs = db_fs_.get(),
             .catalog = &catalog_,
             .identities = &identities_,
             .pool = &pool_,
             .is_stopped = &is_stopped_,
             .info_log = options_.info_log} {}

// An engine for reading creates nothing and deletes nothing.
Result<std::unique_ptr<EngineCore>> EngineCore::Open(const BackupEngineOptions& options,
                                                     Env* db_env, Access access) {
  if (db_env == nullptr) return Status::InvalidArgument("backup engine: the Env is null");
  RETURN_IF_ERROR(CheckOptions(options, access));
  std::unique_ptr<EngineCore> core(new EngineCore(options, db_env));
  if (options.info_log != nullptr) core->options_.Dump(options.info_log);
  const bool may_write = access == Access::kReadWrite;
  if (may_write) RETURN_IF_ERROR(core->MakeDirectories());
  // An engine that writes must load all backups, because it must not delete their files.
  const uint64_t max_valid =
      may_write ? UINT64_MAX
                : static_cast<uint64_t>(std::max(options.max_valid_backups_to_open, 0));
  RETURN_IF_ERROR(core->catalog_.Load(core->parts_.directory, max_valid, options.info_log));
  // After loading, so that the backups are deleted in order, each by the rename of its meta file.
  if (options.destroy_old_data) RETURN_IF_ERROR(core->DestroyAll());
  return core;
}

// Makes only those directories that the options of this engine use.
Status EngineCore::MakeDirectories() const {
  std::vector<std::string_view> names = {kPrivateDir, kMetaDir};
  if (options_.share_table_files) {
    names.push_back(options_.share_files_with_checksum ? kSharedChecksumDir : kSharedDir);
  }
  RETURN_IF_ERROR(CreateDirectories(backup_fs_.get(), options_.backup_dir));
  // A directory that exists already is no error.
  for (const std::string_view name : names) {
    RETURN_IF_ERROR(CreateDirectories(backup_fs_.get(), parts_.directory.PathOf(name)));
  }
  return Status::OK();
}

Status EngineCore::DestroyAll() {
  // Damaged backups go as well: nothing of the old data shall stay.
  std::vector<BackupID> ids = catalog_.Damaged();
  for (const BackupPtr& backup : catalog_.All()) ids.push_back(backup->id);
  for (const BackupID id : ids) RETURN_IF_ERROR(DeleteBackupFiles(parts_, id));
  RETURN_IF_ERROR(CollectGarbage());
  catalog_.ForgetIds();
  return Status::OK();
}

Result<BackupInfo> EngineCore::Describe(BackupID id, bool with_details) const {
  ASSIGN_OR_RETURN(const BackupPtr backup, catalog_.Find(id));
  return InfoOf(*backup, with_details);
}

std::vector<BackupInfo> EngineCore::DescribeAll(bool with_details) const {
  std::vector<BackupInfo> infos;
  for (const BackupPtr& backup : catalog_.All()) infos.push_back(InfoOf(*backup, with_details));
  return infos;
}

BackupInfo EngineCore::InfoOf(const Backup& backup, bool with_details) const {
  BackupInfo info(backup.id, backup.timestamp, backup.Bytes(),
                  static_cast<uint32_t>(backup.files.size()), backup.app_metadata);
  if (with_details) AddDetails(backup, &info);
  return info;
}

// The Env in the result shows the shared files as if they were in the directory of the backup, so
// the backup can be opened read-only where it is.
void EngineCore::AddDetails(const Backup& backup, BackupInfo* info) const {
  assert(info != nullptr);
  info->name_for_open = parts_.directory.PathOf(PrivateDirName(backup.id));
  std::map<std::string, std::string> borrowed;
  for (const BackupFilePtr& file : backup.files) {
    BackupFileInfo& details = info->file_details.emplace_back();
    details.relative_filename = file->name;
    details.directory = info->name_for_open;
    details.size = file->bytes;
    details.temperature = file->temperature;
    const std::string database_name = DatabaseNameOf(file->name);
    FileNumber number = 0;
    if (ParseFileName(database_name, &number, &details.file_type)) {
      details.file_number = number.value();
    }
    if (file->crc) {
      details.file_checksum_func_name = kDbFileChecksumFuncName;
      // File checksums in the public structures are in big-endian order.
      for (int shift = 24; shift >= 0; shift -= 8) {
        details.file_checksum.push_back(static_cast<char>(*file->crc >> shift));
      }
    }
    if (IsSharedName(file->name)) borrowed[database_name] = parts_.directory.PathOf(file->name);
  }
  for (const std::string& name : backup.excluded) info->excluded_files.emplace_back(name);
  // An Env through which the backup can be opened like a database that is read only. It leads the
  // names of shared files to their places.
  info->env_for_open = NewCompositeEnvOver(
      backup_env_,
      std::make_shared<BorrowedFiles>(backup_fs_, info->name_for_open, std::move(borrowed)),
      backup_env_->GetSystemClock());
}

Status EngineCore::VerifySize(const BackupFile& file) const {
  const std::string path = parts_.directory.PathOf(file.name);
  Result<uint64_t> bytes = FileSizeOf(backup_fs_.get(), path);
  if (IsMissing(bytes.status())) return Status::NotFound("file is missing", path);
  if (!bytes.ok()) return bytes.status();
  if (*bytes == file.bytes) return Status::OK();
  return Status::Corruption(StrCat(path, ": expected ", file.bytes, " bytes, found ", *bytes));
}

// First all sizes, which are cheap to compare, then the checksums if the caller wants them.
Status EngineCore::Verify(BackupID id, bool with_checksum) const {
  ASSIGN_OR_RETURN(const BackupPtr backup, catalog_.Find(id));
  for (const BackupFilePtr& file : backup->files) RETURN_IF_ERROR(VerifySize(*file));
  if (!with_checksum) return Status::OK();
  const FileCopier copier(
      {.buffer_bytes = options_.io_buffer_size, .limiter = options_.backup_rate_limiter.get()});
  const auto verify = [&](size_t i) -> Status {
    const BackupFile& file = *backup->files[i];
    if (!file.crc) return Status::OK();
    const std::string path = parts_.directory.PathOf(file.name);
    ASSIGN_OR_RETURN(const CopiedFile read,
                     copier.Read({.fs = backup_fs_.get(), .path = path, .bytes = file.bytes}));
    return CheckCrc(path, *file.crc, read.crc);
  };
  return parts_.pool->Run(
      {.count = backup->files.size(), .job = verify, .after_error = CopyPool::AfterError::kGoOn});
}

Status EngineCore::Restore(const RestoreOptions& options, BackupID id, const std::string& db_dir,
                           const std::string& wal_dir) const {
  ASSIGN_OR_RETURN(const BackupPtr backup, catalog_.Find(id));
  return BackupRestore(parts_, options, *backup, db_dir, wal_dir).Run();
}

Result<BackupID> EngineCore::Create(const CreateBackupOptions& options, DB* db,
                                    const std::string& app_metadata) {
  if (is_stopped_.load(std::memory_order_relaxed))
    return Status::Incomplete("StopBackup was called");
  if (app_metadata.size() > kMaxMetadataBytes) {
    return Status::InvalidArgument(
        StrCat("app_metadata has ", app_metadata.size(), " bytes, of at most ", kMaxMetadataBytes));
  }
  if (options.exclude_files_callback && options_.schema_version < 2) {
    return Status::InvalidArgument("exclude_files_callback needs schema_version 2");
  }
  CollectOnce();
  // Without a log of its own the engine reports to the log of the database.
  BackupParts parts = parts_;
  if (parts.info_log == nullptr) {
    parts.info_log = static_cast<DBImpl*>(db->GetRootDB())->info_log();
  }
  Result<BackupPtr> backup = BackupCreation(parts, options, db, app_metadata).Run();
  if (backup.ok()) {
    statistics_.IncrementNumberSuccessBackup();
  } else {
    statistics_.IncrementNumberFailBackup();
    may_have_garbage_ = true;
  }
  Info(parts.info_log, "Backups by this engine: %s", statistics_.ToString().c_str());
  if (!backup.ok()) return backup.status();
  return (*backup)->id;
}

Status EngineCore::CollectGarbage() {
  const Status status = CollectBackupGarbage(parts_);
  may_have_garbage_ = !status.ok();
  return status;
}

// An error is only logged, because the caller does not depend on the collection.
void EngineCore::CollectOnce() {
  if (!may_have_garbage_) return;
  const Status status = CollectGarbage();
  if (!status.ok()) Warn(options_.info_log, "Garbage stays: %s", status.ToString().c_str());
  may_have_garbage_ = false;
}

Status EngineCore::Delete(BackupID id) {
  const Status status = DeleteBackupFiles(parts_, id);
  if (!status.ok()) may_have_garbage_ = true;
  CollectOnce();
  return status;
}

Status EngineCore::Purge(uint32_t count_to_keep) {
  const std::vector<BackupPtr> backups = catalog_.All();
  Status status;
  // In ascending order of their ids, so the oldest ones go first.
  for (size_t i = 0; i + count_to_keep < backups.size(); i++) {
    status.UpdateIfOk(DeleteBackupFiles(parts_, backups[i]->id));
  }
  if (!status.ok()) may_have_garbage_ = true;
  CollectOnce();
  return status;
}

}  // namespace ashlar
