// SPDX-License-Identifier: Apache-2.0
//
// Backups of databases in a directory of their own: incremental, with checksums, any of which can
// be restored. Opening an engine is NotSupported so far.
//
// Threads: one at a time per engine, except StopBackup(), which any thread may call. One engine at
// a time may write to a backup directory.
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

// Names of the checksums that a backup keeps and compares.
constexpr char kDbFileChecksumFuncName[] = "FileChecksumCrc32c";
constexpr char kBackupFileChecksumFuncName[] = "crc32c";

struct ASHLAR_EXPORT BackupEngineOptions : public CheckpointOrBackupEngineOptions {
  // Must differ from the directory of the database.
  std::string backup_dir;
  // Null: the Env of the database.
  Env* backup_env;
  // Keep a table file once for all backups that contain it.
  bool share_table_files;
  // Make every file durable before the backup counts as done.
  bool sync;
  // Delete the backups that are there when the engine is opened.
  bool destroy_old_data;
  // Also copy WALs; without, flush_before_backup is needed for a complete backup.
  bool backup_log_files;
  // Bytes per second, 0 for no limit; or a limiter, which then counts.
  uint64_t restore_rate_limit;
  std::shared_ptr<RateLimiter> restore_rate_limiter{nullptr};
  // Tell shared files apart by more than their numbers. Leave it true.
  bool share_files_with_checksum;
  // Bytes between two calls of a progress callback.
  uint64_t callback_trigger_interval_size;
  // The newest ones; others are ignored until the engine is opened again.
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

  // Of the files that describe backups: 1, or 2 for more detail.
  int schema_version = 1;
  // Which temperature of a file counts where both are known: false = that of the MANIFEST, true =
  // what the file system says.
  bool current_temperatures_override_manifest = false;

  // Writes all settings to the log.
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

// A file that a backup leaves out because another directory has it.
struct BackupExcludedFileInfo {
  explicit BackupExcludedFileInfo(const std::string& _relative_file)
      : relative_file(_relative_file) {}
  // Relative to the backup directory.
  std::string relative_file;
};

struct MaybeExcludeBackupFile {
  explicit MaybeExcludeBackupFile(BackupExcludedFileInfo&& _info) : info(std::move(_info)) {}
  const BackupExcludedFileInfo info;
  // Set it to leave the file out.
  bool exclude_decision = false;
};

struct CreateBackupOptions : public CreateCheckpointOrBackupOptions {
  // Avoids copying WALs.
  bool flush_before_backup = false;
  // Called now and then by the copying threads.
  std::function<void()> progress_callback = {};
  // Called with the shared files that are about to be copied.
  std::function<void(MaybeExcludeBackupFile* files_begin, MaybeExcludeBackupFile* files_end)>
      exclude_files_callback = {};
  // With flush_before_backup: all families as one.
  bool atomic_flush = false;
};

struct RestoreOptions {
  // What happens to files that are in the target directory already.
  enum Mode : uint32_t {
    kKeepLatestDbSessionIdFiles = 1U,  // kept if name and session match
    kVerifyChecksum = 2U,              // kept if their checksum matches
    kPurgeAllFiles = 0xffffU,          // deleted
  };

  // Keep WALs that are in the target's WAL directory.
  bool keep_log_files;
  // Backup directories that have files which were left out.
  std::forward_list<BackupEngineReadOnlyBase*> alternate_dirs;
  Mode mode;

  explicit RestoreOptions(bool _keep_log_files = false, Mode _mode = Mode::kPurgeAllFiles)
      : keep_log_files(_keep_log_files), mode(_mode) {}
};

using BackupID = uint32_t;
using BackupFileInfo = FileStorageInfo;

// Facts about one backup.
struct BackupInfo {
  BackupID backup_id = 0U;
  int64_t timestamp = 0;  // seconds since 1970
  uint64_t size = 0U;     // bytes, shared files included
  uint32_t number_files = 0U;
  std::string app_metadata;

  // Only if asked for.
  std::vector<BackupFileInfo> file_details;
  std::vector<BackupExcludedFileInfo> excluded_files;
  // Together they let the backup be opened read-only where it is.
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

// Counts of backups that went well and that failed.
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

// Listing, verifying and restoring.
class ASHLAR_EXPORT BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() {}

  // NotFound without (such) a backup.
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info,
                                     bool include_file_details = false) const = 0;
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Into a directory whose database must be closed; wal_dir is mostly the same.
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

  // Compares the sizes of all files, and their checksums if asked to, with what was recorded.
  virtual IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;

  // Null for an engine that only reads.
  virtual BackupEngine* AsBackupEngine() = 0;
};

// Making backups.
class ASHLAR_EXPORT BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() {}

  // app_metadata is kept with the backup.
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

  // Ends a running backup early: it returns Incomplete.
  virtual void StopBackup() = 0;
  // Deletes files that unfinished backups left.
  virtual IOStatus GarbageCollect() = 0;
};

class ASHLAR_EXPORT BackupEngine : public BackupEngineReadOnlyBase,
                                   public BackupEngineAppendOnlyBase {
 public:
  // db_env is that of the database. The caller deletes the result.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Keep the newest ones; delete one. Files that no backup shares any more go too.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

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
