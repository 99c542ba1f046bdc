// SPDX-License-Identifier: Apache-2.0
//
// DbCore is the shared state of an open database: its place, which is fixed, and what changes while
// it is open. Opening builds it, the write control, the background work and the façade work on it,
// and closing takes it apart in reverse order.
//
// It holds no behaviour of its own. What changes is either guarded by the DB mutex or a part with
// rules of its own; each member says which.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "ashlar/options.h"
#include "db/column_family/family_set.h"
#include "db/read/snapshot_list.h"
#include "db/state/conditions.h"
#include "db/state/db_place.h"
#include "db/state/error_state.h"
#include "db/version/version_set.h"
#include "db/wal/wal_set.h"
#include "db/write/commit_pipeline.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

struct DbCore : DbPlace {
  DbCore(const DBOptions& db_options, const std::string& db_dir);
  ~DbCore();

  mutable DbMutex mutex;
  Conditions conditions{&mutex};

  // Replaced, never changed in place.
  std::shared_ptr<const DBOptions> options GUARDED_BY(db_mutex);
  // File numbers that unfinished jobs write: not to be deleted.
  std::multiset<FileNumber> pending_outputs GUARDED_BY(db_mutex);
  // The OPTIONS files that are there, by number, with their sizes (0: an earlier process wrote it).
  // The greatest has the options in force. A read-only database knows that one alone, if any.
  std::map<FileNumber, uint64_t> options_files GUARDED_BY(db_mutex);
  // Obsolete files stay while this is above 0.
  int file_deletions_disabled GUARDED_BY(db_mutex) = 0;
  struct RunningJobs {
    int flushes = 0;
    int settled_flushes = 0;  // of them, those that have taken effect and only tidy up
    int compactions = 0;
    int helpers = 0;  // threads that a compaction has beside its own
  };
  RunningJobs running_jobs GUARDED_BY(db_mutex);
  // Numbers flushes, compactions and other jobs, for listeners and the event log.
  int next_job_id GUARDED_BY(db_mutex) = 1;

  // Both set under the mutex, never taken back; anybody reads them, jobs every while. No job begins
  // any more and those that run give up: before closing, or because the user wants no more of them.
  std::atomic<bool> is_background_cancelled{false};
  // Closing has begun: writes are refused too. The other one is set then.
  std::atomic<bool> is_closing{false};

  // When the oldest snapshot reaches this number, a family has versions or tombstones to drop that
  // it did not have to drop before (KeptForSnapshots). Written under the mutex; whoever releases a
  // snapshot reads it without.
  std::atomic<SequenceNumber> next_table_due{KeptForSnapshots::kNever};

  // Parts. The pointers are set by the constructor of the façade and by the opener, and stay.
  ErrorState errors;                         // any thread
  SnapshotList snapshots;                    // any thread
  std::unique_ptr<VersionSet> versions;      // its functions say what they need
  std::unique_ptr<WalSet> wals;              // any thread
  std::unique_ptr<CommitPipeline> pipeline;  // any thread
  FamilySet families;                        // found by any thread, changed under the mutex
};

}  // namespace ashlar
