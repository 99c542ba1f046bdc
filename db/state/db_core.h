// SPDX-License-Identifier: Apache-2.0
//
// DbCore is the shared state of an open database: values that are fixed (db_environment.h,
// db_services.h), state that the DB mutex guards, and components with locking rules of their own.
// Opening builds it, the write control, the background work and the facade (DBImpl) use it, and
// closing dismantles it.
//
// DbCore makes no decisions. A component that needs only some members takes these members as
// arguments, not the whole DbCore.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "db/column_family/family_set.h"
#include "db/read/conflict_floors.h"
#include "db/read/merge_resolution.h"
#include "db/read/snapshot_list.h"
#include "db/state/conditions.h"
#include "db/state/db_environment.h"
#include "db/state/db_services.h"
#include "db/state/error_state.h"
#include "db/state/job_registry.h"
#include "db/state/prepared_logs.h"
#include "db/state/write_times.h"
#include "db/trace/block_trace.h"
#include "db/trace/query_trace.h"
#include "db/transaction/visibility/undecided.h"
#include "db/version/version_set.h"
#include "db/wal/log_archive.h"
#include "db/wal/wal_set.h"
#include "db/write/commit_pipeline.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

// What opening has found in the directory. Fixed afterwards.
struct OpenFindings {
  std::string recovery_report;  // what was dropped from the logs or moved aside; empty: nothing
  bool has_whole_logs = true;   // every record of every log was replayed
  // Best-efforts recovery has left out tables or logs that are on disk. Files that no version names
  // are then moved aside, not deleted.
  bool has_gone_back = false;
};

// Files that are kept although no version and no recovery needs them. Changed by the functions of
// db/files and by the calls that disable and enable file deletions.
struct KeptFiles {
  // The OPTIONS files that exist, by number, with their sizes (0: written by an earlier process).
  // The one with the greatest number has the options in force. A read-only database knows only that
  // one, if there is any.
  std::map<FileNumber, uint64_t> options_files GUARDED_BY(db_mutex);
  // Obsolete files are not deleted while this is above 0; counts the calls that disable deletions.
  int deletions_disabled GUARDED_BY(db_mutex) = 0;
  // Threads that delete or archive the files that they have collected.
  int purges_running GUARDED_BY(db_mutex) = 0;
  LogArchive archive;  // any thread
};

// Which work may not begin any more. Both flags are set under the DB mutex and never reset; any
// thread reads them.
class ShutdownState {
 public:
  // From now on no job begins, and running jobs give up. Called before closing, and by
  // CancelAllBackgroundWork().
  void CancelBackground() REQUIRES(db_mutex) {
    is_background_cancelled_.store(true, std::memory_order_release);
  }
  // From now on writes are refused, too.
  void BeginClosing() REQUIRES(db_mutex) { is_closing_.store(true, std::memory_order_release); }

  bool is_background_cancelled() const {
    return is_background_cancelled_.load(std::memory_order_acquire);
  }
  bool is_closing() const { return is_closing_.load(std::memory_order_acquire); }
  // For running jobs, which poll the flag.
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

  // These members are fixed once the database is open. The order matters: a destructor may use
  // earlier members, and the environment logs to `services`.
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
  // Replaced by a new object with each change, never modified in place.
  std::shared_ptr<const DBOptions> options GUARDED_BY(db_mutex);
  KeptFiles kept_files;
  JobRegistry jobs;
  ShutdownState shutdown;  // any thread
  QueryTrace query_trace;  // any thread
  BlockTrace block_trace;  // any thread

  // The constructor of the facade and the opener set the pointers; they do not change afterwards.
  ErrorState errors;         // any thread
  SnapshotList snapshots;    // any thread
  UndecidedTable undecided;  // any thread
  // Whether the records of a sub-batch share a sequence number; set before the first write.
  std::atomic<bool> numbers_sub_batches{false};
  ConflictFloors floors;                     // any thread
  std::unique_ptr<VersionSet> versions;      // each function states which lock it needs
  std::unique_ptr<WalSet> wals;              // any thread
  std::unique_ptr<CommitPipeline> pipeline;  // any thread
  FamilySet families;                        // any thread may search; changed under the mutex
  PreparedLogs prepared_logs;                // any thread
  WriteTimes write_times;                    // any thread

  // Whom a flush or compaction keeps versions and tombstones for: ascending numbers. Its inputs are
  // visible.
  std::vector<SequenceNumber> SnapshotsForJob() const {
    const SequenceNumber visible = pipeline->visible_seqno();
    std::vector<SequenceNumber> numbers = snapshots.SequenceNumbers();
    if (undecided.is_used()) undecided.AddBoundaries(visible, &numbers);
    floors.AddTo(&numbers);
    return numbers;
  }
  // The least of them; kMaxSequenceNumber: there are none.
  SequenceNumber SeenByAll() const {
    if (!undecided.is_used()) return std::min(snapshots.SeenByAll(), floors.Oldest());
    const std::vector<SequenceNumber> numbers = SnapshotsForJob();
    return numbers.empty() ? kMaxSequenceNumber : numbers.front();
  }
  // Forgets decided transactions that no reader distinguishes any more.
  void TrimUndecided() {
    const SequenceNumber visible = pipeline->visible_seqno();
    undecided.Trim(visible, snapshots.SequenceNumbers());
  }
};

// The tools for folding merge operands, without the merge operator, which depends on the family.
inline MergeTools MergeToolsOf(const DbCore& core) {
  return {.info_log = core.services.info_log.get(),
          .statistics = core.services.statistics.get(),
          .clock = core.environment.clock.get()};
}

}  // namespace ashlar
