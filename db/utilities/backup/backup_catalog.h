// SPDX-License-Identifier: Apache-2.0
//
// BackupCatalog holds the backups of a directory in memory: those that can be restored, those that
// cannot, and the files that they name. It is loaded when an engine is opened, and updated by the
// operations of that engine; changes by other engines are not seen.
//
// A file that several backups share is one object. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/utilities/backup_engine.h"
#include "db/utilities/backup/backup_meta.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The directory of the backups.
struct BackupDirectory {
  FileSystem* fs = nullptr;  // must outlive every user of the directory
  std::string path;          // without a trailing slash

  std::string PathOf(std::string_view name) const;
};

using BackupFilePtr = std::shared_ptr<const BackupFile>;

// A backup that can be restored. The sizes of its files are known: as found when the catalog was
// loaded, or as written by this engine.
struct Backup {
  // All fields except the files come from the meta file.
  BackupID id = 0;
  int64_t timestamp = 0;
  SequenceNumber sequence = 0;
  std::string app_metadata;
  std::vector<BackupFilePtr> files;
  // Names of shared files that the backup lacks; a restore takes them from other directories.
  std::vector<std::string> excluded;

  uint64_t Bytes() const;  // of all files
};
using BackupPtr = std::shared_ptr<const Backup>;

class BackupCatalog {
 public:
  BackupCatalog() = default;
  BackupCatalog(const BackupCatalog&) = delete;
  BackupCatalog& operator=(const BackupCatalog&) = delete;

  // Reads the meta files, newest first, until max_valid backups that can be restored are loaded.
  // NotFound if meta/ does not exist. A backup that cannot be read or parsed is added as a damaged
  // one. Called once, before the catalog is used; `info_log` may be null.
  Status Load(const BackupDirectory& directory, uint64_t max_valid, Logger* info_log);

  // NotFound if there is no such backup; for a damaged one the reason why it cannot be restored.
  // `id` may be kLatestBackupId.
  Result<BackupPtr> Find(BackupID id) const;
  // All backups in ascending order of their ids.
  std::vector<BackupPtr> All() const;
  std::vector<BackupID> Damaged() const;

  // Returns a new id, greater than all ids that were ever found or returned. GiveBackId() makes it
  // available again if no file was created for it.
  BackupID TakeNextId();
  void GiveBackId(BackupID id);
  // Begins with the first id again. Only for a catalog without backups, before it gives out an id.
  void ForgetIds();

  // Adds a backup whose id must not be in the catalog yet.
  void Add(const BackupPtr& backup);
  // Removes a valid or damaged backup. Returns its shared files that no other backup names.
  std::vector<std::string> Remove(BackupID id);

  // nullptr if no backup that can be restored has a shared file with this name.
  BackupFilePtr FindShared(const std::string& name) const;
  // The session ids in the names of the shared files that have this name in their database.
  std::vector<std::string> SessionIdsOf(const std::string& database_name) const;

  // Whether a backup names the file. This includes the readable names of damaged backups.
  bool IsNamed(const std::string& name) const;
  bool HasId(BackupID id) const;
  // OK if all names of all backups are known. Otherwise an error that names a meta file with
  // unknown contents; garbage collection is then not possible.
  Status CheckAllIsUnderstood() const;
  // The names in meta/ as they are now. Aborted if another engine has made a backup that the
  // catalog does not know: its shared files would count as unnamed.
  Result<std::vector<std::string>> ListMetaFiles(const BackupDirectory& directory) const;
  // OK if IsNamed() knows the names of all backups that the directory has now: only then may files
  // that it does not know be deleted.
  Status CheckKnowsAllNames(const BackupDirectory& directory) const;

 private:
  // A backup whose meta file is unreadable or contradicts the files.
  struct DamagedBackup {
    Status reason;
    bool has_unknown_names = true;  // unreadable, or with a newer schema
    std::unordered_set<std::string> names;
  };
  // A shared file, and the number of valid backups that name it (> 0).
  struct SharedFile {
    BackupFilePtr file;
    size_t backup_count = 0;
  };
  using Sizes = std::unordered_map<std::string, uint64_t>;  // by name in the backup directory

  // Adds the backup. Returns false if it is damaged.
  bool LoadBackup(const BackupDirectory& directory, BackupID id, const Sizes& shared_sizes,
                  Logger* info_log);
  // Also stores the names of the meta file in `damaged`, for the case that the backup is damaged.
  Result<BackupPtr> ReadBackup(const BackupDirectory& directory, BackupID id,
                               const Sizes& shared_sizes, Logger* info_log,
                               DamagedBackup* damaged) const;
  // Compares the parsed meta file with the files that exist.
  Result<BackupPtr> MakeBackup(const BackupDirectory& directory, BackupID id, BackupMeta meta,
                               const Sizes& shared_sizes) const;
  // Returns the object of a newer backup for the same file if the facts are equal. Corruption if
  // the CRCs differ: then one of the backups is damaged.
  Result<BackupFilePtr> ShareLocked(const std::string& meta_path, BackupFile file) const
      REQUIRES(mutex_);
  // One backup less names the file; the last one removes it from shared_ and sessions_.
  void ForgetLocked(const std::string& name) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kUtility};
  // No id is in both maps.
  std::map<BackupID, BackupPtr> valid_ GUARDED_BY(mutex_);
  std::map<BackupID, DamagedBackup> damaged_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, SharedFile> shared_ GUARDED_BY(mutex_);
  std::unordered_multimap<std::string, std::string> sessions_ GUARDED_BY(mutex_);  // by name
  BackupID greatest_id_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
