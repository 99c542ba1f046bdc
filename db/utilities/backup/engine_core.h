// SPDX-License-Identifier: Apache-2.0
//
// EngineCore implements the operations of both kinds of engine. It does no locking: its owner
// ensures that only compatible operations run at the same time (EngineTurns).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/backup_engine.h"
#include "db/utilities/backup/backup_parts.h"
#include "util/result.h"

namespace ashlar {

class EngineCore {
 public:
  enum class Access : bool { kReadOnly, kReadWrite };

  // InvalidArgument or NotSupported for unsuitable options; NotFound if a read-only engine finds no
  // backups; I/O errors of the directory.
  static Result<std::unique_ptr<EngineCore>> Open(const BackupEngineOptions& options, Env* db_env,
                                                  Access access);
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;

  // Read operations.
  // NotFound if there is no such backup; its error if it is damaged.
  Result<BackupInfo> Describe(BackupID id, bool with_details) const;
  std::vector<BackupInfo> DescribeAll(bool with_details) const;
  std::vector<BackupID> Damaged() const { return catalog_.Damaged(); }
  // Compares the sizes of the files, or reads the files and compares their CRCs.
  Status Verify(BackupID id, bool with_checksum) const;
  Status Restore(const RestoreOptions& options, BackupID id, const std::string& db_dir,
                 const std::string& wal_dir) const;

  // Append operations.
  // Returns the id of the new backup. After an error there is no new backup.
  Result<BackupID> Create(const CreateBackupOptions& options, DB* db,
                          const std::string& app_metadata);
  // Deletes files that no backup needs.
  Status CollectGarbage();
  // The running and all later creations of backups return Incomplete. Any thread.
  void Stop() { is_stopped_.store(true, std::memory_order_relaxed); }

  // Write operations.
  // Deletes the oldest backups. Continues after an error and returns the first one.
  Status Purge(uint32_t count_to_keep);
  Status Delete(BackupID id);

 private:
  EngineCore(const BackupEngineOptions& options, Env* db_env);

  // Creates the directories that a writing engine needs, if they are missing.
  Status MakeDirectories() const;
  // Deletes all backups, damaged ones as well (BackupEngineOptions::destroy_old_data).
  Status DestroyAll();
  // Collects garbage if there may be some that was not collected yet.
  void CollectOnce();
  // What the program is told of a backup; with details, also its files and an Env to open it.
  BackupInfo InfoOf(const Backup& backup, bool with_details) const;
  void AddDetails(const Backup& backup, BackupInfo* info) const;
  // NotFound or Corruption if the file is missing or has another size than recorded.
  Status VerifySize(const BackupFile& file) const;

  const BackupEngineOptions options_;
  Env* const backup_env_;
  const std::shared_ptr<FileSystem> backup_fs_;
  const std::shared_ptr<FileSystem> db_fs_;
  // Declared before the objects that refer to the catalog, so that it is destroyed after them.
  BackupCatalog catalog_;
  FileIdentities identities_{&catalog_};
  CopyPool pool_;
  // Set by any thread, read by the copying threads, with relaxed order: no other data depends on
  // it.
  std::atomic<bool> is_stopped_{false};
  BackupParts parts_;
  // Whether an earlier engine or a failed operation may have left garbage. Used only by append and
  // write operations, of which one runs at a time.
  bool may_have_garbage_ = true;
  BackupStatistics statistics_;
};

}  // namespace ashlar
