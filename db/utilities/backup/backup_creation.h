// SPDX-License-Identifier: Apache-2.0
//
// BackupCreation creates one backup. The rename of its meta file is the commit: all files that it
// names are durable before, and files without a meta file are ignored. After an error the created
// files are deleted. After a crash, garbage collection deletes them (backup_garbage.h).
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
  // The arguments must outlive the object.
  BackupCreation(const BackupParts& parts, const CreateBackupOptions& options, DB* db,
                 const std::string& app_metadata);

  // Returns the new backup, after adding it to the catalog.
  Result<BackupPtr> Run();

 private:
  // Aborted if another engine has created a backup that the catalog does not know.
  Status CheckPlace() const;
  // Creates all files, and the meta file last. The caller calls Undo() after an error.
  Result<BackupPtr> Make();
  // Copies the files while the database does not delete any. The result has the files in the order
  // of the plan.
  Result<BackupMeta> CopyAll();
  // Asks the program's callback which of the shared files that do not exist yet are left out.
  Status Exclude(std::vector<PlannedFile>* files) const;
  // The entry for a shared file that an earlier backup already copied.
  BackupFile TakeOver(const PlannedFile& file) const;
  // Called by threads of the pool, at the same time for different files.
  Status CopyFile(const PlannedFile& file, BackupFile* result) const;
  // The commit. After an error the meta file may exist or not (may_be_committed_).
  Status WriteMetaFile(const BackupMeta& meta);
  // Deletes the files that this backup has created, except shared ones that another backup may
  // name. Errors are ignored.
  void Undo() const;

  // Arguments of the constructor, which outlive the object.
  const BackupParts& parts_;
  const CreateBackupOptions& options_;
  DB* const db_;
  const std::string& app_metadata_;
  // Taken from the catalog; given back if nothing can have been committed.
  const BackupID id_;
  const std::shared_ptr<Statistics> statistics_;  // of the database; may be null
  CopyProgress progress_;
  // Used by the threads of the pool at the same time.
  const FileCopier copier_;
  // Set before the copies begin, so that Undo() also finds incomplete files.
  std::vector<std::string> made_;  // names of shared files that may have been created
  size_t copied_count_ = 0;
  // true from the moment when the meta file may have its final name.
  bool may_be_committed_ = false;
};

}  // namespace ashlar
