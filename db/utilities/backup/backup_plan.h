// SPDX-License-Identifier: Apache-2.0
//
// The plan of a new backup: the files of the database at one moment, the name of each in the backup
// directory, and whether it has to be copied.
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
  // Its CRC is this one, or somebody has changed it.
  std::optional<uint32_t> expected_crc;
  BackupFilePtr existing;  // not null: another backup has it already
  bool is_excluded = false;
  std::string tail;  // what the copy has behind the bytes of the file

  std::string SourcePath() const;
  CopySource Source(FileSystem* fs) const;
};

class BackupPlanner {
 public:
  // `copier` reads files for their CRC; both outlive the planner.
  BackupPlanner(const BackupParts& parts, const FileCopier* copier)
      : parts_(parts), copier_(copier) {}

  // Deletions of files are disabled from before this call until the copies are made. The database's
  // logs are flushed or copied, as the options say.
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

// Of the threads that copy: none if they stay as they are.
std::optional<CpuPriority> PriorityOf(const CreateCheckpointOrBackupOptions& options);

}  // namespace ashlar
