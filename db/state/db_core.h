// SPDX-License-Identifier: Apache-2.0
//
// DbCore is the shared state of an open database: values that are fixed (db_environment.h,
// db_services.h), what changes under the DB mutex, and parts with rules of their own. Opening
// builds it; the write control, the background work and the facade work on it; closing takes it
// apart.
//
// It decides nothing. A component that needs but some of it takes these members, not the whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ashlar/options.h"
#include "db/column_family/family_set.h"
#include "db/read/merge_resolution.h"
#include "db/read/snapshot_list.h"
#include "db/state/conditions.h"
#include "db/state/db_environment.h"
#include "db/state/db_services.h"
#include "db/state/error_state.h"
#include "db/state/job_registry.h"
#include "db/version/version_set.h"
#include "db/wal/log_archive.h"
#include "db/wal/wal_set.h"
#include "db/write/commit_pipeline.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

// What opening found in the directory. Fixed from then on.
struct OpenFindings {
  std::string recovery_report;  // what was dropped from the logs or put aside; empty: nothing
  bool has_whole_logs = true;   // no record of a log was left out
  // Best-efforts recovery left out tables or logs that are on disk: files that no version explains
  // are put aside, not deleted.
  bool has_gone_back = false;
};

// Files that stay although no version and no recovery needs them. The functions of db/files and the
// calls about file deletions change it.
struct KeptFiles {
  // The OPTIONS files that are there, by number, with their sizes (0: an earlier process wrote it).
  // The greatest has the options in force. A read-only database knows that one alone, if any.
  std::map<FileNumber, uint64_t> options_files GUARDED_BY(db_mutex);
  // Obsolete files stay while this is above 0: calls that disable file deletions.
  int deletions_disabled GUARDED_BY(db_mutex) = 0;
  LogArchive archive;  // any thread
};

// Which work may begin no more. Both flags are set under the DB mutex and never taken back; any
// thread reads them.
class ShutdownState {
 public:
  // No job begins any more, and jobs that run give up: before closing, or because the user wants no
  // more of them.
  void CancelBackground() REQUIRES(db_mutex) {
    is_background_cancelled_.store(true, std::memory_order_release);
  }
  // Writes are refused too.
  void BeginClosing() REQUIRES(db_mutex) { is_closing_.store(true, std::memory_order_release); }

  bool is_background_cancelled() const {
    return is_background_cancelled_.load(std::memory_order_acquire);
  }
  bool is_closing() const { return is_closing_.load(std::memory_order_acquire); }
  // For jobs, which look at it every while.
  const std::atomic<bool>* background_cancelled_flag() const { return &is_background_cancelled_; }

 private:
  std::atomic<bool> is_background_cancelled_{false};
  std::atomic<bool> is_closing_{false};
};

struct DbCore {
  DbCore(const DBOptions& db_options, const std::string& db_dir);
  ~DbCore();
  DbCore(const DbCore&) = delete;
  DbCore& operator=(const DbCore&) = delete;

  // Fixed once the database is open. The order is that of use: later members may use earlier ones
  // in their destructors, and the environment logs to `services`.
  DbPaths paths;
  DbEnvironment environment;
  DbResources resources;
  DbIdentity identity;
  DbMode mode;
  OpenFindings findings;
  DbServices services;
  DirectoryLock directory_lock;

  mutable DbMutex mutex;
  Conditions conditions{&mutex};
  // Replaced, never changed in place.
  std::shared_ptr<const DBOptions> options GUARDED_BY(db_mutex);
  KeptFiles kept_files;
  JobRegistry jobs;
  ShutdownState shutdown;  // any thread

  // The pointers are set by the constructor of the facade and by the opener, and stay.
  ErrorState errors;                         // any thread
  SnapshotList snapshots;                    // any thread
  std::unique_ptr<VersionSet> versions;      // its functions say what they need
  std::unique_ptr<WalSet> wals;              // any thread
  std::unique_ptr<CommitPipeline> pipeline;  // any thread
  FamilySet families;                        // found by any thread, changed under the mutex
};

// For folding merge operands, without the operator, which is a family's.
inline MergeTools MergeToolsOf(const DbCore& core) {
  return {.info_log = core.services.info_log.get(),
          .statistics = core.services.statistics.get(),
          .clock = core.environment.clock.get()};
}

}  // namespace ashlar
