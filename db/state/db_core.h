// SPDX-License-Identifier: Apache-2.0
//
// DbCore is the shared state of an open database: what opening builds, the write control, the
// background work and the façade work on, and closing takes apart in reverse order.
//
// It holds no behaviour of its own beyond small accessors.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/column_family/family_set.h"
#include "db/output/table_output.h"
#include "db/read/snapshot_list.h"
#include "db/state/error_state.h"
#include "db/version/version_set.h"
#include "db/wal/wal_set.h"
#include "db/write/commit_pipeline.h"
#include "env/event_log.h"
#include "util/mutex.h"

namespace ashlar {

class DB;

// Deletes the files that have become obsolete. Called without the DB mutex.
class FileCleaner {
 public:
  virtual ~FileCleaner() = default;
  virtual void DeleteObsoleteFiles() = 0;
};

struct DbCore {
  DbCore(const DBOptions& db_options, const std::string& db_dir);
  ~DbCore();
  DbCore(const DbCore&) = delete;
  DbCore& operator=(const DbCore&) = delete;

  // Fixed after opening.
  std::string dir;
  std::string wal_dir;
  Env* env = nullptr;
  std::shared_ptr<FileSystem> fs;
  std::shared_ptr<SystemClock> clock;
  std::shared_ptr<Logger> info_log;
  std::unique_ptr<EventLogger> events;
  std::string db_id;
  std::string session_id;
  DB* db = nullptr;  // the façade, for listeners
  FileCleaner* cleaner = nullptr;
  bool is_read_only = false;
  FileLock* lock = nullptr;  // null in a read-only database
  FileOptions file_options;
  std::vector<std::string> table_paths;  // directories of tables, by path id
  OpenTableBudget open_tables;
  TableOutputContext outputs;
  std::shared_ptr<Statistics> statistics;  // null: off
  std::vector<std::shared_ptr<EventListener>> listeners;
  std::string recovery_report;  // what opening dropped from the logs; empty: nothing

  // The database as a whole. Options are replaced, never changed in place, under the mutex.
  mutable Mutex mutex{LockRank::kDb};
  // Signalled whenever something that a waiter may wait for has changed.
  CondVar changed{&mutex};
  std::shared_ptr<const DBOptions> options;
  ErrorState errors;
  SnapshotList snapshots;
  std::unique_ptr<VersionSet> versions;
  std::unique_ptr<WalSet> wals;
  std::unique_ptr<CommitPipeline> pipeline;
  FamilySet families;
  std::atomic<bool> is_closing{false};

  struct RunningJobs {
    int flushes = 0;
    int compactions = 0;
  };
  RunningJobs running_jobs GUARDED_BY(mutex);

  // File numbers that unfinished jobs write: not to be deleted. Guarded by the mutex.
  std::multiset<uint64_t> pending_outputs;
  // Of the newest OPTIONS file. Guarded by the mutex.
  uint64_t options_file_number = 0;
  // Obsolete files stay while this is above 0. Guarded by the mutex.
  int file_deletions_disabled = 0;

  uint64_t NowSeconds() const;  // since 1970
  // For intervals: goes on when the time of day is set.
  uint64_t NowMicros() const { return clock->NowNanos() / 1000; }
};

}  // namespace ashlar
