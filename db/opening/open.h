// SPDX-License-Identifier: Apache-2.0
//
// Opener creates an open database from a directory. The order of its steps leaves everything as it
// was if a step fails:
//
//   read    lock; MANIFEST to versions; logs to memtables; refuse what is not supported
//   write   flush what was replayed; new log; new MANIFEST; CURRENT
//   start   missing families, OPTIONS, deleting what is obsolete, background work
//
// Crash: only new files are created before CURRENT is switched, so after a crash the recovery is
// repeated.
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

// What is to be opened, and how. The options have been checked and completed by
// DBImpl::OpenChecked().
struct OpenRequest {
  DBOptions db_options;
  std::string dir;
  std::vector<ColumnFamilyDescriptor> families;
  // The options of each family before they were sanitized: see options_check.h.
  std::map<std::string, ColumnFamilyOptions> settled_options{};
  // The last family was not requested: it is that of stored statistics, which is opened if it
  // exists, and created if statistics are to be stored.
  bool has_hidden_family = false;
  Access access = Access::kReadWrite;
  // Of a secondary, where its info log is; of a follower, where the links are as well. `dir` is
  // that of the database which is followed.
  std::string own_dir{};
  bool error_if_wal_exists = false;  // read-only
  bool is_repair = false;            // see WalReplayOptions
  // Read-only, and only some tables are wanted: neither logs nor other tables are read.
  bool is_for_tables = false;

  bool is_read_only() const { return access != Access::kReadWrite; }
  bool is_following() const { return access >= Access::kSecondary; }
};

// Opens one database; used once. The functions after RecoverVersions() run under the DB mutex,
// which protects nothing yet but is required by the objects that they use.
class Opener {
 public:
  // `core` has only a pipeline and a log set; after an error it must be destroyed. `host` is the
  // host of the families. The directories are listed through `names` only when no other process can
  // change them.
  Opener(const OpenRequest& request, DbCore* core, FamilyHost* host, DirectoryNames* names)
      : request_(request), core_(core), host_(host), names_(names) {}

  // Does everything except starting background work and writing the OPTIONS file.
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
  Status RecoverVersionsOnce() REQUIRES(db_mutex);
  Status GoBackIfNeeded(const std::vector<FamilyRequest>& requests) REQUIRES(db_mutex);
  Status OpenFamilies() REQUIRES(db_mutex);
  Status CheckTables() REQUIRES(db_mutex);
  Status ReplayLogs() REQUIRES(db_mutex);
  Status LeaveOut(const std::vector<FileNumber>& logs) REQUIRES(db_mutex);
  void NoteLogSizes(const std::vector<FileNumber>& logs);
  void NoteFilesForCopies() REQUIRES(db_mutex);
  void FindDbId() REQUIRES(db_mutex);
  Status FinishReadOnly() REQUIRES(db_mutex);
  Status CheckDirectoryOfFollower() const;
  Status FinishFollowing() REQUIRES(db_mutex);

  VersionSetOptions VersionOptions() const;
  FamilyRequest RequestFor(const ColumnFamilyDescriptor& descriptor) const REQUIRES(db_mutex);
  const ColumnFamilyOptions& OptionsOf(const std::string& family) const;
  const ColumnFamilyOptions& SettledOptionsOf(const std::string& family) const;
  size_t ThreadsToReplay(const std::vector<FileNumber>& logs) const;
  Status CheckTrackedLogs(const std::vector<FileNumber>& logs, FileNumber min_log)
      REQUIRES(db_mutex);
  Status CheckTrackedLog(FileNumber number, const LogSummary& log, bool exists) const;

  // Write half, in order; open_install.cc.
  Status OpenLog() REQUIRES(db_mutex);
  void LogOptions() const REQUIRES(db_mutex);
  Status SettleDbId() REQUIRES(db_mutex);
  // The content of IDENTITY; empty if the file does not exist or is empty.
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
  std::optional<RecoveryPoint> point_;  // set by best-efforts recovery
  std::vector<FamilyRequest> missing_;  // requested, but not in the MANIFEST
  std::map<FileNumber, ReplayedLog> replayed_;
  std::map<FileNumber, uint64_t> log_bytes_;  // read-only: sizes of needed logs, before replay
  std::string current_manifest_;              // followed databases: the MANIFEST that was read last
  FileNumber highest_log_ = 0;
  bool stopped_early_ = false;
  bool keeps_logs_ = false;
  std::vector<VersionEdit> edits_;  // one for each family
  std::vector<std::pair<ColumnFamilyData*, std::vector<MemTable*>>> flushed_;
};

// The settings of the table cache for a family with these options.
TableCacheOptions TableCacheOptionsFor(DbCore* core, const ColumnFamilyOptions& options)
    REQUIRES(db_mutex);

}  // namespace ashlar
