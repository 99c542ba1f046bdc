// SPDX-License-Identifier: Apache-2.0
//
// EngineCore is what both kinds of engine are made of: settled options, catalog, pool. Its members
// are the operations; which of them may run at a time is the business of the engine (EngineTurns).
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

  // InvalidArgument for options that contradict themselves, NotSupported for those of later
  // versions; NotFound if there are no backups to be read; I/O errors of the directory.
  static Result<std::unique_ptr<EngineCore>> Open(const BackupEngineOptions& options, Env* db_env,
                                                  Access access);
  EngineCore(const EngineCore&) = delete;
  EngineCore& operator=(const EngineCore&) = delete;

  // Reads.
  Result<BackupInfo> Describe(BackupID id, bool with_details) const;
  std::vector<BackupInfo> DescribeAll(bool with_details) const;
  std::vector<BackupID> Damaged() const { return catalog_.Damaged(); }
  Status Verify(BackupID id, bool with_checksum) const;
  Status Restore(const RestoreOptions& options, BackupID id, const std::string& db_dir,
                 const std::string& wal_dir) const;

  // Appends.
  Result<BackupID> Create(const CreateBackupOptions& options, DB* db,
                          const std::string& app_metadata);
  Status CollectGarbage();
  void Stop() { is_stopped_.store(true, std::memory_order_relaxed); }

  // Writes.
  Status Purge(uint32_t count_to_keep);
  Status Delete(BackupID id);

 private:
  EngineCore(const BackupEngineOptions& options, Env* db_env);

  Status MakeDirectories() const;
  Status DestroyAll();
  void CollectOnce();
  BackupInfo InfoOf(const Backup& backup, bool with_details) const;
  void AddDetails(const Backup& backup, BackupInfo* info) const;
  Status VerifySize(const BackupFile& file) const;

  const BackupEngineOptions options_;
  Env* const backup_env_;
  const std::shared_ptr<FileSystem> backup_fs_;
  const std::shared_ptr<FileSystem> db_fs_;
  BackupCatalog catalog_;
  FileIdentities identities_{&catalog_};
  CopyPool pool_;
  // Set by any thread, looked at by those that copy. It orders nothing.
  std::atomic<bool> is_stopped_{false};
  BackupParts parts_;
  // Of an earlier engine, or of what failed. Of the operation that runs alone.
  bool may_have_garbage_ = true;
  BackupStatistics statistics_;
};

}  // namespace ashlar
