// SPDX-License-Identifier: Apache-2.0
//
// BackupRestore puts one backup into the directories of a database that nobody has open.
//
// What is certain to fail (a lock, missing files, too little space) fails before anything is
// changed. From then on the directory has no CURRENT until everything else is there and durable: a
// crash, or an error, leaves a directory that does not open rather than half a database.
//
// Threads: one; the copies are made by the pool.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/utilities/backup/backup_parts.h"
#include "db/utilities/copy/file_copier.h"
#include "util/result.h"

namespace ashlar {

class BackupRestore {
 public:
  // All outlive this. `wal_dir` may be the same as `db_dir`.
  BackupRestore(const BackupParts& parts, const RestoreOptions& options, const Backup& backup,
                const std::string& db_dir, const std::string& wal_dir);

  Status Run();

 private:
  // A file of the restored database.
  struct Target {
    std::string backup_name;
    std::string database_name;
    FileType type = kTempFile;
    bool is_excluded = false;
    bool is_kept = false;  // what lies there is it already
    // Where the bytes are, and what they are as far as it is known.
    CopySource source;
    std::optional<uint32_t> crc;
  };

  Status CheckPlaces() const;
  Status RunLocked();
  Status MakePlan();
  Status FindKept();
  Result<bool> IsThere(const Target& target, uint64_t bytes) const;
  Status FindExcluded();
  Status FindInAlternates(std::vector<Target*> wanted);
  Status CheckSpace() const;
  Status RemoveOld() const;
  Status RemoveFrom(const std::string& dir) const;
  Status SettleArchive() const;
  Status CopyAll() const;
  Status CopyOne(const Target& target) const;
  Status Finish() const;
  std::string PathOf(const Target& target) const;
  std::string CurrentTempPath() const;

  const BackupParts& parts_;
  const RestoreOptions& options_;
  const Backup& backup_;
  const std::string db_dir_;
  const std::string wal_dir_;
  FileSystem* const fs_;  // of the database
  const FileCopier copier_;
  std::vector<Target> targets_;
  std::set<std::string> kept_names_;    // in the database
  std::vector<BackupInfo> alternates_;  // which keep open where excluded files are
};

}  // namespace ashlar
