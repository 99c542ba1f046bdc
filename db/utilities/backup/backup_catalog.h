// SPDX-License-Identifier: Apache-2.0
//
// BackupCatalog is what an engine knows of its directory: the backups that can be restored, those
// that cannot, and which files they name. It is read once, when the engine is opened, and follows
// what the engine itself does afterwards.
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

// Where the backups are.
struct BackupDirectory {
  FileSystem* fs = nullptr;  // outlives all that is done with it
  std::string path;          // without a slash at its end

  std::string PathOf(std::string_view name) const;
};

using BackupFilePtr = std::shared_ptr<const BackupFile>;

// One that can be restored. All sizes are known: those of the files when they were seen or written.
struct Backup {
  BackupID id = 0;
  int64_t timestamp = 0;
  SequenceNumber sequence = 0;
  std::string app_metadata;
  std::vector<BackupFilePtr> files;
  std::vector<std::string> excluded;

  uint64_t Bytes() const;  // of all files
};
using BackupPtr = std::shared_ptr<const Backup>;

class BackupCatalog {
 public:
  BackupCatalog() = default;
  BackupCatalog(const BackupCatalog&) = delete;
  BackupCatalog& operator=(const BackupCatalog&) = delete;

  // Reads what is there, newest backups first, and passes by what is older than so many that can be
  // restored. NotFound without meta/. A backup that cannot be read or understood is listed as
  // damaged. Once, before anybody else uses the catalog; `info_log` may be null.
  Status Load(const BackupDirectory& directory, uint64_t max_valid, Logger* info_log);

  // NotFound without such a backup; the reason why it cannot be restored if it is damaged.
  // `id` may be kLatestBackupId.
  Result<BackupPtr> Find(BackupID id) const;
  // In ascending order of their ids.
  std::vector<BackupPtr> All() const;
  std::vector<BackupID> Damaged() const;

  // Greater than any that was ever seen here; each answer is another one, unless the last one is
  // given back because nothing has been made under it.
  BackupID TakeNextId();
  void GiveBackId(BackupID id);

  void Add(const BackupPtr& backup);
  // Valid or damaged. Returns the shared files that no other backup names.
  std::vector<std::string> Remove(BackupID id);

  // Null if no backup that can be restored has a shared file of this name.
  BackupFilePtr FindShared(const std::string& name) const;
  // The session ids in the names of shared files that are called so in their databases.
  std::vector<std::string> SessionIdsOf(const std::string& database_name) const;

  // Whether any backup, also a damaged one as far as it can be read, names the file.
  bool IsNamed(const std::string& name) const;
  bool HasId(BackupID id) const;
  // OK, or which backup may name files that we do not know of: then nothing may be collected.
  Status CheckAllIsUnderstood() const;

 private:
  struct DamagedBackup {
    Status reason;
    bool has_unknown_names = true;  // it could not be read, or is of a newer schema
    std::unordered_set<std::string> names;
  };
  struct SharedFile {
    BackupFilePtr file;
    size_t backup_count = 0;
  };
  using Sizes = std::unordered_map<std::string, uint64_t>;  // by name in the backup directory

  // False if it is damaged.
  bool LoadBackup(const BackupDirectory& directory, BackupID id, const Sizes& shared_sizes,
                  Logger* info_log);
  // What it names is put into `damaged`, in case that it is.
  Result<BackupPtr> ReadBackup(const BackupDirectory& directory, BackupID id,
                               const Sizes& shared_sizes, Logger* info_log,
                               DamagedBackup* damaged) const;
  Result<BackupPtr> MakeBackup(const BackupDirectory& directory, BackupID id, BackupMeta meta,
                               const Sizes& shared_sizes) const;
  Result<BackupFilePtr> ShareLocked(const std::string& meta_path, BackupFile file) const
      REQUIRES(mutex_);
  void ForgetLocked(const std::string& name) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kUtility};
  std::map<BackupID, BackupPtr> valid_ GUARDED_BY(mutex_);
  std::map<BackupID, DamagedBackup> damaged_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, SharedFile> shared_ GUARDED_BY(mutex_);
  std::unordered_multimap<std::string, std::string> sessions_ GUARDED_BY(mutex_);  // by name
  BackupID greatest_id_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
