// SPDX-License-Identifier: Apache-2.0
//
// FileIdentities determines what identifies the content of a live file, if possible without reading
// the file: an incremental backup must not read the whole database.
//
// A table is identified by the session that created it. The MANIFEST has a hash of the database id,
// the session id and the file number of each table. The session id is found by trying candidates
// against this hash: the current session and those in the names of earlier backups. Only if none
// matches, the properties of the table are read. A session does not identify a table that got its
// number from another one: one SstFileWriter makes several tables, and an ingestion gives them the
// numbers of their database. Such tables are identified by their properties or, if backups have
// another table of their name, by their CRC-32C, like other files. It is taken from the MANIFEST,
// or from an earlier backup by this engine in the same session of the database, or is computed.
//
// Threads: any; RememberCrcs() and AddCrcs() must not be called while a backup is planned.
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

// The ids of a database and of its current session.
struct DatabaseIdentity {
  std::string id;          // empty = unknown
  std::string session_id;  // empty = unknown
};

// Who made a table.
struct TableMaker {
  std::string session_id;  // empty if the table has none or cannot be parsed
  // The session has also given the table its number, so no other table has both.
  bool is_exact = false;
};

class FileIdentities {
 public:
  // `catalog` must outlive the object.
  explicit FileIdentities(const BackupCatalog* catalog) : catalog_(catalog) {}
  FileIdentities(const FileIdentities&) = delete;
  FileIdentities& operator=(const FileIdentities&) = delete;

  Result<TableMaker> MakerOf(const DatabaseIdentity& database, FileSystem* fs,
                             const LiveFileStorageInfo& table);

  // CRCs by file number, for one session of a database.
  using Crcs = std::map<uint64_t, uint32_t>;
  std::optional<uint32_t> KnownCrc(const DatabaseIdentity& database, uint64_t file_number) const;
  // Replaces all remembered CRCs.
  void RememberCrcs(const DatabaseIdentity& database, Crcs crcs);
  // Adds CRCs of the same session.
  void AddCrcs(Crcs crcs);

 private:
  const BackupCatalog* const catalog_;
  mutable Mutex mutex_{LockRank::kUtility};
  std::map<std::string, std::string> sessions_
      GUARDED_BY(mutex_);  // by unique id, as read from tables
  // The session to which crcs_ belong.
  std::string crcs_of_session_ GUARDED_BY(mutex_);
  Crcs crcs_ GUARDED_BY(mutex_);
};

// The CRC-32C that the database has recorded for the file.
std::optional<uint32_t> RecordedCrc(const LiveFileStorageInfo& file);

}  // namespace ashlar
