// SPDX-License-Identifier: Apache-2.0
//
// BackupRestore restores one backup to the directories of a database that is not open.
//
// Predictable errors (the database is open, excluded files are not found, too little space) are
// detected before anything is changed. Then CURRENT is deleted first and created last, after all
// other files are durable: after a crash or an error the database cannot be opened, instead of
// being a mixture of old and new files.
//
// Threads: one at a time; the pool copies files with several threads.
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
  // The arguments must outlive the object. `wal_dir` may be the same as `db_dir`.
  BackupRestore(const BackupParts& parts, const RestoreOptions& options, const Backup& backup,
                const std::string& db_dir, const std::string& wal_dir);

  // If an error comes after the first deletion, the database cannot be opened until a restore
  // succeeds.
  Status Run();

 private:
  // A file of the restored database.
  struct Target {
    std::string backup_name;
    std::string database_name;
    FileType type = kTempFile;
    bool is_excluded = false;
    bool is_kept = false;  // the target directory already has the file
    // Where the file is copied from, and its CRC if known.
    CopySource source;
    std::optional<uint32_t> crc;
  };

  // InvalidArgument if a directory is missing or is that of the backups.
  Status CheckPlaces() const;
  // The steps of the restore, while the lock file of the database is held.
  Status RunLocked();
  // Fills targets_. Also marks the WALs that are kept.
  Status MakePlan();
  // Marks the table and blob files that the target directory already has, for the modes that keep
  // them. The pool's threads compare the files.
  Status FindKept();
  // Whether the existing file with this name and size is the file of the backup. Compares CRCs or
  // the ids of sessions, depending on the mode; both if a session may have made another such table.
  Result<bool> IsThere(const Target& target, uint64_t bytes) const;
  // Reads the existing file of this size, and compares its CRC with that of the backup.
  bool HasCrc(const Target& target, uint64_t bytes) const;
  // Finds sources for the files that the backup excludes. InvalidArgument if one has no source.
  Status FindExcluded();
  // The part of FindExcluded() that asks the engines of RestoreOptions::alternate_dirs.
  Status FindInAlternates(std::vector<Target*> wanted);
  // NoSpace if the files do not fit, counting the old files as free.
  Status CheckSpace() const;
  // How many bytes become free when the old files in the directory are deleted. 0 if there is no
  // such directory.
  Result<uint64_t> FreedBytesIn(const std::string& dir) const;
  // Deletes CURRENT durably, then the other files that are not kept.
  Status RemoveOld() const;
  // The part of RemoveOld() for one directory.
  Status RemoveFrom(const std::string& dir) const;
  // Whether this file of the directory is deleted before the backup is copied.
  bool IsOld(const std::string& dir, const std::string& name) const;
  // Deletes the archived WALs; with keep_log_files moves them back to wal_dir_, for replay.
  Status SettleArchive() const;
  // All files are durable afterwards, except for CURRENT, which still has its temporary name.
  Status CopyAll() const;
  // Called by threads of the pool. Corruption if the copied bytes have another CRC.
  Status CopyOne(const Target& target) const;
  // The commit: CURRENT gets its name.
  Status Finish() const;
  // The path in the restored database.
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
  std::set<std::string> kept_names_;    // names in the database
  std::vector<BackupInfo> alternates_;  // keep the Envs of excluded files alive
};

}  // namespace ashlar
