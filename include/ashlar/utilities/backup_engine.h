// SPDX-License-Identifier: Apache-2.0
//
// Backups of databases in a directory of their own. They are incremental and have checksums. Every
// backup can be restored, verified, or opened for reading in place. The directory has RocksDB's
// format: both can use the same directory.
//
//   BackupEngine* engine;
//   IOStatus s = BackupEngine::Open(BackupEngineOptions("/backups"), Env::Default(), &engine);
//   if (s.ok()) s = engine->CreateNewBackup(CreateBackupOptions(), db);
//   if (s.ok()) s = engine->RestoreDBFromLatestBackup("/new", "/new");  // database is not open
//   delete engine;
//
// A table file is copied once and shared by all backups that contain it, so another backup costs
// only what has changed. After a crash of the program or the machine at any moment, each backup is
// either complete or does not exist.
//
// Threads: all functions may be called from any thread. Reads (listing, verifying, restoring) run
// concurrently with each other and with one append (creating a backup, garbage collection). Writes
// (deleting backups) run alone. Operations wait for each other as needed; only StopBackup()
// interrupts one. Only one engine at a time may append to or write in a directory. Other engines
// may read it; they see the state of the time when they were opened.
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

// Names of the checksum function that backups use.
constexpr char kDbFileChecksumFuncName[] = "FileChecksumCrc32c";
constexpr char kBackupFileChecksumFuncName[] = "crc32c";

// Options of BackupEngine::Open() and BackupEngineReadOnly::Open().
struct ASHLAR_EXPORT BackupEngineOptions : public CheckpointOrBackupEngineOptions {
  // The directory of the backups; it is created if it does not exist. Required. It may be the
  // directory of the database, where backups do not outlive it and from where none is restored
  // into the same directory.
  std::string backup_dir;
  // The Env for the backup directory; not owned. nullptr = the Env of the database.
  Env* backup_env;
  // Store a table or blob file only once for all backups that contain it. If false, each backup has
  // its own copies. Default: true.
  bool share_table_files;
  // Sync files and directories: what a backup, a deletion or a restore did is durable when it
  // returns OK. Default: true.
  bool sync;
  // Delete all existing backups when the engine is opened. A read-only engine returns
  // InvalidArgument. Default: false.
  bool destroy_old_data;
  // Copy WALs, so that a backup contains everything that was written before. If false, it contains
  // what is in tables; CreateBackupOptions::flush_before_backup makes it complete. Busy while
  // transactions of WRITE_PREPARED or WRITE_UNPREPARED are undecided whose data may be in tables.
  // Default: true.
  bool backup_log_files;
  // Maximum bytes per second of a restore, 0 = no limit. Ignored if restore_rate_limiter is set.
  // Default: 0.
  uint64_t restore_rate_limit;
  std::shared_ptr<RateLimiter> restore_rate_limiter{nullptr};
  // If false, shared files are identified by their numbers only. Because a number can mean a
  // different file after a restore, every backup then reads all shared files again and reports a
  // different file as Corruption. Default: true.
  bool share_files_with_checksum;
  // Bytes between two calls of the progress callback. Default: 4 MiB.
  uint64_t callback_trigger_interval_size;
  // A read-only engine opens only so many backups, the newest ones. Other engines ignore this.
  // Default: INT_MAX.
  int max_valid_backups_to_open;

  // The names of shared files contain either the session of the database that created the table, or
  // the CRC-32C and size of the file. Blob files, and tables without a session id, always have the
  // second form. So has an ingested or imported table if backups have another table of its first
  // name. Names of both kinds can be in the same directory; after a change, files are copied once
  // more. Each session of the database reads the files with names of the second form once, unless
  // it has recorded their CRC-32C.
  enum ShareFilesNaming : uint32_t {
    kLegacyCrc32cAndFileSize = 1U,
    kUseDbSessionId = 2U,
    kMaskNoNamingFlags = 0xffffU,
    kFlagIncludeFileSize = 1U << 31,  // with kUseDbSessionId: add the size
    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };
  // Other values are refused with InvalidArgument. Default: kUseDbSessionId | kFlagIncludeFileSize.
  ShareFilesNaming share_files_with_checksum_naming;

  // Version of the files that describe backups. 1 can be read by all versions of RocksDB. 2 also
  // has file sizes, temperatures and a checksum of its own; it is needed to exclude files. Both can
  // be read. Less than 1: InvalidArgument; more than 2: NotSupported. Default: 1.
  int schema_version = 1;
  // Which temperature of a file is used if the MANIFEST and the file system have different ones:
  // false = that of the MANIFEST, true = that of the file system. Default: false.
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
  // Flush the memtables of all column families first, so that little or no WAL data is copied. With
  // DBOptions::allow_2pc this always happens.
  bool flush_before_backup = false;
  // Called by a copying thread after each callback_trigger_interval_size bytes, never by two
  // threads at the same time. It may call read functions of the engine and StopBackup(). If it
  // throws, the backup fails with Aborted.
  std::function<void()> progress_callback = {};
  // Called once with all shared files that would be copied. Files with exclude_decision == true are
  // not copied; a restore then needs RestoreOptions::alternate_dirs to find them. Requires
  // schema_version 2 (else InvalidArgument). If it throws, the backup fails with Aborted.
  std::function<void(MaybeExcludeBackupFile* files_begin, MaybeExcludeBackupFile* files_end)>
      exclude_files_callback = {};
  // With flush_before_backup: flush all column families atomically
  // (FlushOptions::force_atomic_flush).
  bool atomic_flush = false;
};

// Options of BackupEngine::RestoreDBFromBackup().
struct RestoreOptions {
  // What happens to tables and blob files in the target directory that have the name of a file of
  // the backup. Other files of a database are always deleted.
  enum Mode : uint32_t {
    // Keep a table if its session id and size match. Its content is not checked, except for an
    // ingested or imported table, which is kept only if its checksum matches, too. Blob files are
    // deleted.
    kKeepLatestDbSessionIdFiles = 1U,
    // Keep a file if its size and its checksum, which is computed, match.
    kVerifyChecksum = 2U,
    // Delete all of them.
    kPurgeAllFiles = 0xffffU,
  };

  // Keep the WALs that are in wal_dir, move archived WALs back to it, and do not overwrite them
  // with WALs of the backup. Together with backup_log_files = false this restores a database that
  // has lost its tables but not its WALs.
  bool keep_log_files;
  // Engines whose directories have the excluded files. They are searched in this order.
  std::forward_list<BackupEngineReadOnlyBase*> alternate_dirs;
  Mode mode;

  explicit RestoreOptions(bool _keep_log_files = false, Mode _mode = Mode::kPurgeAllFiles)
      : keep_log_files(_keep_log_files), mode(_mode) {}
};

using BackupID = uint32_t;
using BackupFileInfo = FileStorageInfo;

// Properties of a backup.
struct BackupInfo {
  BackupID backup_id = 0U;
  int64_t timestamp = 0;  // seconds since 1970
  uint64_t size = 0U;     // bytes, including shared files
  uint32_t number_files = 0U;
  std::string app_metadata;

  // The following are set only if include_file_details is true.
  // Names are relative to the backup directory; `directory` is name_for_open for all files. The
  // checksums are the recorded ones, with the function name kDbFileChecksumFuncName.
  std::vector<BackupFileInfo> file_details;
  std::vector<BackupExcludedFileInfo> excluded_files;
  // DB::OpenForReadOnly() with this Env and this name opens the backup in place. Nothing can be
  // changed through the Env. It may be used after the engine is deleted, but not after the backup
  // is deleted.
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

// Number of backups that succeeded and that failed.
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

// Functions that read backups.
class ASHLAR_EXPORT BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() {}

  // NotFound if there is no (such) backup. For a backup of GetCorruptedBackups(): the reason,
  // mostly Corruption.
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info,
                                     bool include_file_details = false) const = 0;
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;
  // All backups that can be restored, oldest first.
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;
  // Backups that are damaged or incomplete, that could not be read, or whose schema is newer. Their
  // files are kept until DeleteBackup() is called for them.
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Restores a backup to db_dir and its WALs to wal_dir (usually the same directory). Both are
  // created if they do not exist. The database must not be open: if db_dir is locked, the result is
  // IOError. Files of the database in these directories are deleted as described by `options`;
  // files whose names are not those of database files are kept.
  //
  // Errors that leave everything unchanged: NotFound and Corruption as for GetBackupInfo();
  // InvalidArgument if an excluded file is not found or a directory is the backup directory;
  // NoSpace. Afterwards each copy is compared with its checksum (Corruption). An error at that
  // stage leaves db_dir without CURRENT, so that it cannot be opened; restore again.
  virtual IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                                       const std::string& db_dir,
                                       const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromBackup(BackupID backup_id, const std::string& db_dir,
                                       const std::string& wal_dir,
                                       const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }
  // Restores the newest backup of GetBackupInfo().
  virtual IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options,
                                             const std::string& db_dir,
                                             const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromLatestBackup(
      const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }

  // Compares the sizes of all files with the sizes that the engine found when it was opened, or
  // wrote later. With `verify_with_checksum` it also reads all files and compares their checksums
  // with the recorded ones. NotFound if a file or the backup does not exist; Corruption.
  virtual IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;

  // nullptr for a read-only engine.
  virtual BackupEngine* AsBackupEngine() = 0;
};

// Functions that create backups.
class ASHLAR_EXPORT BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() {}

  // Creates a backup of the current state; the database can be used meanwhile. The new id, which is
  // greater than those of all backups that are in the directory or were since this engine was
  // opened, is stored in *new_backup_id unless that is nullptr. `app_metadata`, at most 1 MiB, is
  // stored with the backup.
  //
  // An error leaves no new files: InvalidArgument for contradictory options; NotSupported if the
  // database has tables in several directories (db_paths, cf_paths); Corruption if a file is not
  // what the database has recorded; Incomplete after StopBackup(); Aborted if a callback throws or
  // another engine has created a backup in the directory; I/O errors of either side.
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

  // Makes the running backup, and all later ones of this engine, fail with Incomplete. Returns at
  // once, without waiting for the backup to end.
  virtual void StopBackup() = 0;
  // Deletes files of incomplete backups and deletions: files that no meta file names. The first
  // backup and the first deletion of an engine do the same. While there is a meta file that has a
  // newer schema or cannot be read, nothing is deleted and the result is NotSupported or an I/O
  // error.
  virtual IOStatus GarbageCollect() = 0;
};

class ASHLAR_EXPORT BackupEngine : public BackupEngineReadOnlyBase,
                                   public BackupEngineAppendOnlyBase {
 public:
  // db_env is the Env of the database. It and backup_env must outlive the engine, which the caller
  // deletes. InvalidArgument or NotSupported for unsuitable options; I/O errors of the directory.
  // An I/O error of a single backup only makes that backup corrupt.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Deletes all backups except the newest num_backups_to_keep that can be restored; or one backup,
  // also a corrupt one (NotFound if it does not exist). Files that no other backup needs are
  // deleted too. After an error the backup may be gone while some of its files remain; the next
  // garbage collection deletes them.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

class ASHLAR_EXPORT BackupEngineReadOnly : public BackupEngineReadOnlyBase {
 public:
  // As BackupEngine::Open(), but changes nothing in the directory. NotFound if it has no backups.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngineReadOnly** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngineReadOnly** backup_engine_ptr) {
    return BackupEngineReadOnly::Open(options, db_env, backup_engine_ptr);
  }
};

}  // namespace ashlar
