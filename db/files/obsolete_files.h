// SPDX-License-Identifier: Apache-2.0
//
// Which files of a database directory are obsolete, and their deletion.
//
// While the database is open, only files that are known to have become obsolete are deleted. The
// directory is listed once, at open. Files with unknown names are left alone.
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
// Owns the objects of the files, so that their destruction closes the files without a lock.
struct ObsoleteFiles {
  std::vector<ObsoleteTable> tables;
  std::vector<std::unique_ptr<BlobFile>> blobs;
  // Dropped families without users: destroyed with this object, where no lock is held.
  std::vector<std::shared_ptr<FamilyVersions>> families;
  // Logs to close or unmap before their files are deleted; these are among `old_logs` or `paths`.
  std::vector<std::shared_ptr<WalSink>> logs;
  // Logs to archive, to reuse for later logs, or to delete. If the archive is on and cannot take a
  // log, the log is kept.
  std::vector<FileNumber> old_logs;
  std::vector<std::string> paths;     // all other files to delete
  std::vector<std::string> asides;    // files with unknown writes: renamed, not deleted
  std::vector<std::string> warnings;  // about tables that are kept, for the info log
  int job_id = 0;                     // the id that listeners get; 0: at open
  bool empty() const {
    return tables.empty() && blobs.empty() && families.empty() && old_logs.empty() &&
           paths.empty() && asides.empty();
  }
};

// Collects tables and blob files that no version holds any more, dropped families without users,
// logs that no family needs, replaced MANIFESTs, files of failed jobs, and old OPTIONS files.
ObsoleteFiles CollectObsolete(DbCore* core) REQUIRES(db_mutex);

// At open: collects all files that do not belong to the recovered state. A table with data newer
// than that state is renamed, not deleted, and the recovery report names it. A table that cannot be
// read now is kept, and so are the blob files to which it may refer. `names` need not contain the
// files that the open itself has created.
Result<ObsoleteFiles> ScanForObsolete(DbCore* core, DirectoryNames* names) REQUIRES(db_mutex);

// Calls `call` with each table and blob file of a current version.
void ForEachLivePath(const DbCore& core,
                     const std::function<void(const std::string& path, uint64_t bytes)>& call)
    REQUIRES(db_mutex);

// Deletes the files; called without the mutex. A failure is logged, and the next open tries again.
// The space manager, if there is one, deletes tables and blob files, perhaps later.
void DeleteObsolete(DbCore* core, ObsoleteFiles files);

// Deletes the files that were kept for reuse. Called on close, when no more logs are created.
void DeleteRecycledLogs(DbCore* core) EXCLUDES(db_mutex);

// Collects and deletes the files that are known to be obsolete.
void DeleteKnownObsolete(DbCore* core) EXCLUDES(db_mutex);

// Waits until no thread deletes or archives files any more that it has collected before deletions
// were disabled. Releases the mutex meanwhile. In a callback of such a deletion or of a job it
// returns at once, because a listener in another deletion may wait for that job.
void AwaitPurges(DbCore* core) REQUIRES(db_mutex);

// The same, after freeing the objects in the epoch whose readers have left, because these may hold
// files.
void PurgeObsoleteFiles(DbCore* core) EXCLUDES(db_mutex);

}  // namespace ashlar
