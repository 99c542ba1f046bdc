// SPDX-License-Identifier: Apache-2.0
//
// BackupCreation makes one backup. The rename of its meta file is the commit: everything that the
// meta file names is durable before, and nobody looks at it without one. An error undoes what was
// done; what a crash leaves is collected as garbage (backup_garbage.h).
//
// Threads: one at a time for each directory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "db/utilities/backup/backup_parts.h"
#include "db/utilities/backup/backup_plan.h"
#include "db/utilities/copy/copy_progress.h"
#include "db/utilities/copy/file_copier.h"
#include "util/result.h"

namespace ashlar {

class DB;

class BackupCreation {
 public:
  // All outlive this.
  BackupCreation(const BackupParts& parts, const CreateBackupOptions& options, DB* db,
                 const std::string& app_metadata);

  // The new backup, which is in the catalog then.
  Result<BackupPtr> Run();

 private:
  Status CheckPlace() const;
  Result<BackupPtr> Make();
  Result<BackupMeta> CopyAll();
  Status Exclude(std::vector<PlannedFile>* files) const;
  BackupFile TakeOver(const PlannedFile& file) const;
  Status CopyFile(const PlannedFile& file, BackupFile* result) const;
  Status WriteMetaFile(const BackupMeta& meta);
  void Undo() const;

  const BackupParts& parts_;
  const CreateBackupOptions& options_;
  DB* const db_;
  const std::string& app_metadata_;
  const BackupID id_;
  const std::shared_ptr<Statistics> statistics_;  // of the database; may be null
  CopyProgress progress_;
  const FileCopier copier_;
  std::vector<std::string> made_;  // names of shared files that may be there now
  size_t copied_count_ = 0;
  bool may_be_committed_ = false;
};

}  // namespace ashlar
