// SPDX-License-Identifier: Apache-2.0
//
// Backups of databases in a directory of their own. They are incremental, have checksums, and each
// of them can be restored. Opening an engine is NotSupported so far.
//
// Threads: one at a time per engine, except StopBackup(), which may be called from any thread. Only
// one engine at a time may write to a backup directory.
#pragma once

#include <climits>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/io_status.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/utilities/checkpoint.h"

namespace ashlar {

class BackupEngine;
class BackupEngineReadOnlyBase;
class DB;

// Name of the checksum function that backups use.
constexpr char kDbFileChecksumFuncName[] = "FileChecksumCrc32c";
constexpr char kBackupFileChecksumFuncName[] = "crc32c";

// Options of BackupEngine::Open().
struct ASHLAR_EXPORT BackupEngineOptions : public CheckpointOrBackupEngineOptions {
  // The directory of the backups. Must not be the directory of the database.
  std::string backup_dir;
  // The Env for the backups; nullptr = the Env of the database.
  Env* backup_env;
  // Store a table file only once for all backups that contain it.
  bool share_table_files;
  // Sync every file before the backup is complete.
  bool sync;
  // Delete all existing backups when the engine is opened.
  bool destroy_old_data;
  // Copy WALs too. If false, a backup is complete only with flush_before_backup.
  bool backup_log_files;
  // Maximum bytes per second of a restore, 0 = no limit. Ignored if a limiter is set.
  uint64_t restore_rate_limit;
  std::shared_ptr<RateLimiter> restore_rate_limiter{nullptr};
  // Identify shared files by more than their numbers. Should be true.
  bool share_files_with_checksum;
  // Bytes between two calls of the progress callback.
  uint64_t callback_trigger_interval_size;
  // Number of backups, the newest ones, that the engine opens; it ignores all others.
  int max_valid_backups_to_open;

  // What the names of shared files contain.
  enum ShareFilesNaming : uint32_t {
    kLegacyCrc32cAndFileSize = 1U,
    kUseDbSessionId = 2U,
    kMaskNoNamingFlags = 0xffffU,
    kFlagIncludeFileSize = 1U << 31,
    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };
  ShareFilesNaming share_files_with_checksum_naming;

  // Version of the files that describe backups: 1, or 2 for more details.
  int schema_version = 1;
  // Which temperature of a file counts where both are known: false = that of the MANIFEST, true =
  // what the file system says.
  bool current_temperatures_override_manifest = false;

  // Writes all options to the log.
  void Dump(Logger* logger) const;

  explicit BackupEngineOptions(
      const std::string& _backup_dir, Env* _backup_env = nullptr, bool _share_table_files = true,
      Logger* _info_log = nullptr, bool _sync = true, bool _destroy_old_data = false,
      bool _backup_log_files = true, uint64_t _io_buffer_size = 0, uint64_t _backup_rate_limit = 0,
      uint64_t _restore_rate_limit = 0, int _max_background_operations = 1,
      uint64_t _callback_trigger_interval_size = 4 * 1024 * 1024,
      int _max_valid_backups_to_open = INT_MAX,
      ShareFilesNaming _share_files_with_checksum_naming =
          static_cast<ShareFilesNaming>(kUseDbSessionId | kFlagIncludeFileSize))
      : CheckpointOrBackupEngineOptions{_info_log, _io_buffer_size, _backup_rate_limit, nullptr,
                                        _max_background_operations},
        backup_dir(_backup_dir),
        backup_env(_backup_env),
        share_table_files(_share_table_files),
        sync(_sync),
        destroy_old_data(_destroy_old_data),
        backup_log_files(_backup_log_files),
        restore_rate_limit(_restore_rate_limit),
        share_files_with_checksum(true),
        callback_trigger_interval_size(_callback_trigger_interval_size),
        max_valid_backups_to_open(_max_valid_backups_to_open),
        share_files_with_checksum_naming(_share_files_with_checksum_naming) {}
};

inline BackupEngineOptions::ShareFilesNaming operator&(BackupEngineOptions::ShareFilesNaming lhs,
                                                       BackupEngineOptions::ShareFilesNaming rhs) {
  return static_cast<BackupEngineOptions::ShareFilesNaming>(static_cast<uint32_t>(lhs) &
                                                            static_cast<uint32_t>(rhs));
}
inline BackupEngineOptions::ShareFilesNaming operator|(BackupEngineOptions::ShareFilesNaming lhs,
                                                       BackupEngineOptions::ShareFilesNaming rhs) {
  return static_cast<BackupEngineOptions::ShareFilesNaming>(static_cast<uint32_t>(lhs) |
                                                            static_cast<uint32_t>(rhs));
}

// A file that a backup does not contain because another directory has it.
struct BackupExcludedFileInfo {
  explicit BackupExcludedFileInfo(const std::string& _relative_file)
      : relative_file(_relative_file) {}
  // Path relative to the backup directory.
  std::string relative_file;
};

// A file about whose exclusion the program decides.
struct MaybeExcludeBackupFile {
  explicit MaybeExcludeBackupFile(BackupExcludedFileInfo&& _info) : info(std::move(_info)) {}
  const BackupExcludedFileInfo info;
  // Set it to true to exclude the file.
  bool exclude_decision = false;
};

// Options of BackupEngine::CreateNewBackup().
struct CreateBackupOptions : public CreateCheckpointOrBackupOptions {
  // Flush first, so that WALs need not be copied.
  bool flush_before_backup = false;
  // Called from time to time by the threads that copy files.
  std::function<void()> progress_callback = {};
  // Called with the shared files that are about to be copied.
  std::function<void(MaybeExcludeBackupFile* files_begin, MaybeExcludeBackupFile* files_end)>
      exclude_files_callback = {};
  // With flush_before_backup: flush all families together.
  bool atomic_flush = false;
};

// Options of a restore.
struct RestoreOptions {
  // What happens to files that exist in the target directory.
  enum Mode : uint32_t {
    kKeepLatestDbSessionIdFiles = 1U,  // keep files with the same name and session id
    kVerifyChecksum = 2U,              // keep files with the same checksum
    kPurgeAllFiles = 0xffffU,          // delete all of them
  };

  // Keep the WALs that exist in the WAL directory of the target.
  bool keep_log_files;
  // Backup directories that contain the excluded files.
  std::forward_list<BackupEngineReadOnlyBase*> alternate_dirs;
  Mode mode;

  explicit RestoreOptions(bool _keep_log_files = false, Mode _mode = Mode::kPurgeAllFiles)
      : keep_log_files(_keep_log_files), mode(_mode) {}
};

using BackupID = uint32_t;
using BackupFileInfo = FileStorageInfo;

// Facts about a backup.
struct BackupInfo {
  BackupID backup_id = 0U;
  int64_t timestamp = 0;  // seconds since 1970
  uint64_t size = 0U;     // bytes, including shared files
  uint32_t number_files = 0U;
  std::string app_metadata;

  // Filled only on request.
  std::vector<BackupFileInfo> file_details;
  std::vector<BackupExcludedFileInfo> excluded_files;
  // With these, the backup can be opened read-only where it is.
  std::string name_for_open;
  std::shared_ptr<Env> env_for_open;

  BackupInfo() {}
  explicit BackupInfo(BackupID _backup_id, int64_t _timestamp, uint64_t _size,
                      uint32_t _number_files, const std::string& _app_metadata)
      : backup_id(_backup_id),
        timestamp(_timestamp),
        size(_size),
        number_files(_number_files),
        app_metadata(_app_metadata) {}
};

// Counts successful and failed backups.
class BackupStatistics {
 public:
  BackupStatistics() {}
  explicit BackupStatistics(uint32_t _number_success_backup, uint32_t _number_fail_backup)
      : success_count_(_number_success_backup), fail_count_(_number_fail_backup) {}

  void IncrementNumberSuccessBackup() { ++success_count_; }
  void IncrementNumberFailBackup() { ++fail_count_; }
  uint32_t GetNumberSuccessBackup() const { return success_count_; }
  uint32_t GetNumberFailBackup() const { return fail_count_; }
  std::string ToString() const {
    return "# success backup: " + std::to_string(success_count_) +
           ", # fail backup: " + std::to_string(fail_count_);
  }

 private:
  uint32_t success_count_ = 0;
  uint32_t fail_count_ = 0;
};

// The part of the engine that lists, verifies and restores backups.
class ASHLAR_EXPORT BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() {}

  // Return facts about backups. NotFound if there is no such backup.
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info,
                                     bool include_file_details = false) const = 0;
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Restore a backup to the directory of a database, which must be closed. wal_dir is usually the
  // same directory.
  virtual IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                                       const std::string& db_dir,
                                       const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromBackup(BackupID backup_id, const std::string& db_dir,
                                       const std::string& wal_dir,
                                       const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }
  virtual IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options,
                                             const std::string& db_dir,
                                             const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromLatestBackup(
      const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }

  // Compares the sizes of all files, and on request their checksums, with the recorded ones.
  virtual IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;

  // nullptr if the engine can only read.
  virtual BackupEngine* AsBackupEngine() = 0;
};

// The part of the engine that creates backups.
class ASHLAR_EXPORT BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() {}

  // Creates a backup; app_metadata is stored with it.
  virtual IOStatus CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                               const std::string& app_metadata,
                                               BackupID* new_backup_id = nullptr) = 0;
  virtual IOStatus CreateNewBackupWithMetadata(
      DB* db, const std::string& app_metadata, bool flush_before_backup = false,
      std::function<void()> progress_callback = []() {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = progress_callback;
    return CreateNewBackupWithMetadata(options, db, app_metadata);
  }
  virtual IOStatus CreateNewBackup(const CreateBackupOptions& options, DB* db,
                                   BackupID* new_backup_id = nullptr) {
    return CreateNewBackupWithMetadata(options, db, "", new_backup_id);
  }
  virtual IOStatus CreateNewBackup(
      DB* db, bool flush_before_backup = false, std::function<void()> progress_callback = []() {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = progress_callback;
    return CreateNewBackup(options, db);
  }

  // Stops a running backup, which then returns Incomplete.
  virtual void StopBackup() = 0;
  // Deletes files of incomplete backups.
  virtual IOStatus GarbageCollect() = 0;
};

// An engine that creates, restores and deletes backups.
class ASHLAR_EXPORT BackupEngine : public BackupEngineReadOnlyBase,
                                   public BackupEngineAppendOnlyBase {
 public:
  // Opens an engine. db_env is the Env of the databases. The caller deletes the result.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Delete all but the newest backups, or one backup. Files that no other backup needs are deleted
  // too.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

// An engine that cannot create or delete backups.
class ASHLAR_EXPORT BackupEngineReadOnly : public BackupEngineReadOnlyBase {
 public:
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngineReadOnly** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngineReadOnly** backup_engine_ptr) {
    return BackupEngineReadOnly::Open(options, db_env, backup_engine_ptr);
  }
};

}  // namespace ashlar
