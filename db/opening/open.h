// SPDX-License-Identifier: Apache-2.0
//
// Opener takes a directory to an open database, in an order that leaves everything as it was if a
// step fails:
//
//   read    lock; MANIFEST to versions; logs to memtables; refuse what is not supported
//   write   flush what was replayed; new log; new MANIFEST; CURRENT
//   start   missing families, OPTIONS, deleting what is obsolete, background work
//
// Crash: nothing but new files changes before CURRENT is switched, so a crash repeats the recovery.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "db/files/directory_names.h"
#include "db/manifest/recovery_point.h"
#include "db/opening/wal_replay.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct OpenRequest {
  DBOptions db_options;
  std::string dir;
  std::vector<ColumnFamilyDescriptor> families;
  // By family, what its options were before they were sanitized: see options_check.h.
  std::map<std::string, ColumnFamilyOptions> settled_options{};
  // The last one was not asked for: that of stored statistics, which is opened if it is there, and
  // made if they are to be stored.
  bool has_hidden_family = false;
  bool is_read_only = false;
  bool error_if_wal_exists = false;  // read-only
  // Read-only, and only some tables are wanted: neither logs nor other tables are looked at.
  bool is_for_tables = false;
};

class Opener {
 public:
  // `core` has a pipeline and a log set and nothing else; after an error it must be thrown away.
  // `host` is that of the families. `names` are asked once nobody else may change the directories.
  Opener(const OpenRequest& request, DbCore* core, FamilyHost* host, DirectoryNames* names)
      : request_(request), core_(core), host_(host), names_(names) {}

  // Everything but background work and the OPTIONS file.
  Status Run();

 private:
  // Read half, in order; open.cc.
  Status CheckOptions() const;
  Status PrepareDirectories();
  Status LockDirectory();
  Status CheckDirectIo();
  Result<bool> HasDatabase() const;
  Status CreateIfMissing();
  Status CheckNothingLeft() const;
  Status RecoverVersions() REQUIRES(db_mutex);
  Status GoBackIfNeeded(const std::vector<FamilyRequest>& requests) REQUIRES(db_mutex);
  Status OpenFamilies() REQUIRES(db_mutex);
  Status CheckTables() REQUIRES(db_mutex);
  Status ReplayLogs() REQUIRES(db_mutex);
  Status LeaveOut(const std::vector<FileNumber>& logs) REQUIRES(db_mutex);
  void NoteLogSizes(const std::vector<FileNumber>& logs);
  void NoteFilesForCopies() REQUIRES(db_mutex);
  Status FinishReadOnly() REQUIRES(db_mutex);

  VersionSetOptions VersionOptions() const;
  FamilyRequest RequestFor(const ColumnFamilyDescriptor& descriptor) const REQUIRES(db_mutex);
  const ColumnFamilyOptions& OptionsOf(const std::string& family) const;
  const ColumnFamilyOptions& SettledOptionsOf(const std::string& family) const;
  size_t ThreadsToReplay(const std::vector<FileNumber>& logs) const;
  Status CheckTrackedLogs(const std::vector<FileNumber>& logs, FileNumber min_log)
      REQUIRES(db_mutex);
  Status CheckTrackedLog(FileNumber number, const LogFacts& log, bool exists) const;

  // Write half, in order; open_install.cc.
  Status OpenLog() REQUIRES(db_mutex);
  void LogOptions() const REQUIRES(db_mutex);
  Status SettleDbId() REQUIRES(db_mutex);
  // What IDENTITY holds; empty: nothing, or there is no such file.
  std::string StoredDbId() const;
  Status SettleFileNumbers();
  Status FlushReplayed() REQUIRES(db_mutex);
  Status SyncReplayedLogs();
  Status StartLog() REQUIRES(db_mutex);
  Status InstallRecovery() REQUIRES(db_mutex);
  Status CreateMissingFamilies() REQUIRES(db_mutex);
  Status WriteIdentity();

  const OpenRequest& request_;
  DbCore* const core_;
  FamilyHost* const host_;
  DirectoryNames* const names_;
  RecoveryReport report_;
  std::optional<RecoveryPoint> point_;  // of best-efforts recovery
  std::vector<FamilyRequest> missing_;  // asked for, but not in the MANIFEST
  std::map<FileNumber, ReplayedLog> replayed_;
  std::map<FileNumber, uint64_t> log_bytes_;  // read-only: of needed logs, before replay
  FileNumber highest_log_ = 0;
  bool stopped_early_ = false;
  bool keeps_logs_ = false;
  std::vector<VersionEdit> edits_;  // one a family
  std::vector<std::pair<ColumnFamilyData*, std::vector<MemTable*>>> flushed_;
};

// The table cache settings of a family.
TableCacheOptions TableCacheOptionsFor(DbCore* core, const ColumnFamilyOptions& options)
    REQUIRES(db_mutex);

// Adds a family to an open database. Lets go of the mutex while writing.
Status CreateFamilyLocked(DbCore* core, FamilyHost* host, const std::string& name,
                          const ColumnFamilyOptions& settled) REQUIRES(db_mutex);

}  // namespace ashlar
