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

// One live file of the database and what the backup does with it. A file that is neither excluded
// nor existing is copied.
struct PlannedFile {
  LiveFileStorageInfo info;
  std::string name;  // in the backup directory
  bool is_shared = false;
  // If set, a copy with another CRC is Corruption.
  std::optional<uint32_t> expected_crc;
  // Another file of a database may have this name in the backup directory, and have this size.
  bool may_be_another = false;
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
  // The live files, as of one moment. NotSupported if they are in several directories.
  Result<std::vector<LiveFileStorageInfo>> ListFiles(DB* db,
                                                     const CreateBackupOptions& options) const;
  // Called by the threads of the pool, at the same time for different files: finds the name of a
  // shared file, and whether the backup directory has it already.
  Status NameShared(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  Status NameByContent(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  // Gives a table that may be another than the one of this name a name of its own if it is.
  Status KeepApart(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  // Whether the properties show that the backups' file is the same table.
  bool HasSameIdentity(FileSystem* fs, const PlannedFile& file, const BackupFile& existing) const;
  // Sets file->expected_crc: as recorded, as remembered, or by reading the file.
  Status FindCrc(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;
  Status FindExisting(FileSystem* fs, const DatabaseIdentity& database, PlannedFile* file) const;

  const BackupParts& parts_;
  const FileCopier* const copier_;
};

}  // namespace ashlar
