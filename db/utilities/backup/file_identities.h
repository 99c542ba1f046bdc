// SPDX-License-Identifier: Apache-2.0
//
// FileIdentities finds out by what the content of a live file is known, without reading the file
// if it can: an incremental backup must not cost a read of the whole database.
//
// A table is known by the session that made it. The MANIFEST has a hash of database, session and
// file number for each: the session that fits is found by trying those that come into question, and
// only if none of them does, the table's properties are read. Other files are known by their CRC:
// that of the MANIFEST, that of an earlier backup of this engine while the database stays open, or
// else the one that is computed.
//
// Threads: any number ask; RememberCrcs() comes between two backups.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/metadata.h"
#include "db/utilities/backup/backup_catalog.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Which database files belong to, and which opening of it.
struct DatabaseIdentity {
  std::string id;          // empty: unknown
  std::string session_id;  // of the database as it is open now
};

class FileIdentities {
 public:
  // `catalog` outlives this.
  explicit FileIdentities(const BackupCatalog* catalog) : catalog_(catalog) {}
  FileIdentities(const FileIdentities&) = delete;
  FileIdentities& operator=(const FileIdentities&) = delete;

  // The session that made the table; empty if it does not say, or cannot be read as a table.
  Result<std::string> SessionIdOf(const DatabaseIdentity& database, FileSystem* fs,
                                  const LiveFileStorageInfo& table);

  // CRCs of whole files, by number, of one opening of a database.
  using Crcs = std::map<uint64_t, uint32_t>;
  std::optional<uint32_t> KnownCrc(const DatabaseIdentity& database, uint64_t file_number) const;
  // Forgets those of before.
  void RememberCrcs(const DatabaseIdentity& database, Crcs crcs);

 private:
  const BackupCatalog* const catalog_;
  mutable Mutex mutex_{LockRank::kUtility};
  std::map<std::string, std::string> sessions_ GUARDED_BY(mutex_);  // read ones, by unique id
  std::string crcs_of_session_ GUARDED_BY(mutex_);
  Crcs crcs_ GUARDED_BY(mutex_);
};

// The CRC that the database has recorded for the file, if it did so with CRC-32C.
std::optional<uint32_t> RecordedCrc(const LiveFileStorageInfo& file);

}  // namespace ashlar
