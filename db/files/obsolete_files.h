// SPDX-License-Identifier: Apache-2.0
//
// Which files of a database directory may go, and deleting them.
//
// During operation only files that are known to have become obsolete are deleted; the directory is
// listed once, when the database opens. Unknown names are left alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "db/files/directory_names.h"
#include "db/state/db_core.h"

namespace ashlar {

// Files to delete, collected under the DB mutex and deleted without it.
struct ObsoleteFiles {
  std::vector<ObsoleteTable> tables;
  std::vector<std::unique_ptr<BlobFile>> blobs;
  // Dropped families that nobody uses: destroyed with this, where no lock is held.
  std::vector<std::shared_ptr<FamilyVersions>> families;
  // Closed, or unmapped, before their files are deleted: these are among `paths`.
  std::vector<std::shared_ptr<WalSink>> logs;
  // Which the archive takes, or later logs. What an archive that is on cannot take stays.
  std::vector<FileNumber> old_logs;
  std::vector<std::string> paths;     // of everything else
  std::vector<std::string> asides;    // tables nobody can explain: renamed, not deleted
  std::vector<std::string> warnings;  // of tables that stay, for the info log
  int job_id = 0;                     // as which listeners hear of it; 0: of opening
  bool empty() const {
    return tables.empty() && blobs.empty() && families.empty() && old_logs.empty() &&
           paths.empty() && asides.empty();
  }
};

// Tables and blob files that no version holds any more, dropped families that nobody uses, logs
// that no family needs, replaced MANIFESTs, old OPTIONS files.
ObsoleteFiles CollectObsolete(DbCore* core) REQUIRES(db_mutex);

// At open: whatever the recovered state does not explain. A table with data newer than that state
// is renamed aside, not deleted, and the recovery report says so; one that cannot be looked at now
// stays, as do the blob files that it may refer to. What the opening itself has made need not be
// among the names.
Result<ObsoleteFiles> ScanForObsolete(DbCore* core, DirectoryNames* names) REQUIRES(db_mutex);

// Calls with each table and blob file of a current version.
void ForEachLivePath(const DbCore& core,
                     const std::function<void(const std::string& path, uint64_t bytes)>& call)
    REQUIRES(db_mutex);

// Without the mutex. Failures are logged; the next open tries again. The manager of space, if there
// is one, deletes tables and blob files, maybe later.
void DeleteObsolete(DbCore* core, ObsoleteFiles files);

// The files that were kept for new logs, at the end: no more logs come.
void DeleteRecycledLogs(DbCore* core) EXCLUDES(db_mutex);

// Collects and deletes what is known to be obsolete. Takes the mutex itself.
void DeleteKnownObsolete(DbCore* core) EXCLUDES(db_mutex);

// The same, after everything that waits for readers who are gone. All of the above in one: collects
// and deletes. Takes the mutex itself.
void PurgeObsoleteFiles(DbCore* core) EXCLUDES(db_mutex);

}  // namespace ashlar
