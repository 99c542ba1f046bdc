// SPDX-License-Identifier: Apache-2.0
//
// The plan of a new backup: the live files of the database, their names in the backup directory,
// and whether they must be copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/metadata.h"
#include "db/utilities/backup/backup_parts.h"
#include "db/utilities/copy/file_copier.h"
#include "util/result.h"

namespace ashlar {

class DB;

struct PlannedFile {
  LiveFileStorageInfo info;
  std::string name;  // in the backup directory
  bool is_shared = false;
  // If set, a copy with another CRC is Corruption.
  std::optional<uint32_t> expected_crc;
  BackupFilePtr existing;  // not null: the backup directory already has the file
  bool is_excluded = false;
  std::string tail;  // appended to the copy after the bytes of the file

  std::string SourcePath() const;
  CopySource Source(FileSystem* fs) const;
};

class BackupPlanner {
 public:
  // `copier` reads files to compute their CRC. Both arguments must outlive the planner.
  BackupPlanner(const BackupParts& parts, const FileCopier* copier)
      : parts_(parts), copier_(copier) {}

  // The caller has disabled file deletions of the database, and enables them after copying. Flushes
  // the memtables if the options say so.
  Result<std::vector<PlannedFile>> Plan(DB* db, const CreateBackupOptions& options, BackupID id);

 private:
  Result<std::vector<LiveFileStorageInfo>> ListFiles(DB* db,
                                                     const CreateBackupOptions& options) const;
  Status NameShared(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  Status NameByContent(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  Status FindCrc(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  Status FindExisting(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;

  const BackupParts& parts_;
  const FileCopier* const copier_;
};

}  // namespace ashlar
