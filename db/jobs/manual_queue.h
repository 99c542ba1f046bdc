// SPDX-License-Identifier: Apache-2.0
//
// ManualQueue holds the compactions that calls wait for, in the order of the calls, and decides
// which of them may run. A thread of the scheduler takes one and finishes it; or the thread of the
// call waits for its turn and does the work itself.
//
// All functions need the DB mutex.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "ashlar/options.h"
#include "db/compaction/stop_flags.h"
#include "db/jobs/compaction_registry.h"
#include "db/output/history_trim.h"
#include "db/state/conditions.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"

namespace ashlar {

// The request of a call. With leveled compaction: the files of one level in a key range. With the
// other styles: everything that the style would compact.
struct ManualCompaction {
  ColumnFamilyData* family = nullptr;  // the caller holds a reference on it
  Level input_level = 0;
  Level output_level = 1;  // ignored if the input is level 0: that goes to the current base level
  std::optional<std::string> begin;  // user keys, inclusive
  std::optional<std::string> end;
  bool is_exclusive = false;  // no other compaction runs in the family meanwhile
  bool allow_trivial_move = false;
  bool rewrites_bottom = false;     // universal: even if only the last level has files
  uint32_t max_subcompactions = 0;  // 0: use the option of the database
  uint32_t output_path_id = 0;      // an index of the family's directories
  BlobGarbageCollectionPolicy blob_policy = BlobGarbageCollectionPolicy::kUseDefault;
  double blob_age_cutoff = -1;  // outside of [0, 1]: use the option of the family
  HistoryTrim trim;             // of a stamped family
  StopFlags stop;               // stop.aborted points to is_aborted below
  bool is_of_caller = false;    // the thread of the call does the work when its turn has come

  // Set by the queue. `status` and `written` belong to the thread that has taken the compaction
  // until is_done.
  std::atomic<bool> is_aborted{false};
  bool is_taken = false;
  bool is_done = false;
  Status status;
  std::set<FileNumber> written;  // tables that the compaction has written, on all levels so far
};

class ManualQueue {
 public:
  // Both arguments outlive the queue.
  ManualQueue(Conditions* conditions, const CompactionRegistry* running)
      : conditions_(conditions), running_(running) {
    assert(conditions != nullptr);
    assert(running != nullptr);
  }

  // Adds the compaction, which is aborted at once if the compactions of its family are aborted:
  // that may have happened since the call began.
  void AddLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // The compaction must not be taken, or must be done.
  void RemoveLocked(ManualCompaction* manual) REQUIRES(db_mutex);

  // The number of compactions in the queue that could run now but have no thread of the scheduler
  // yet.
  int WaitingLocked() const REQUIRES(db_mutex);
  // Takes the first such compaction; null: there is none. The calling thread then runs it and calls
  // FinishLocked().
  ManualCompaction* TakeLocked() REQUIRES(db_mutex);
  void FinishLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // Waits until the call, which is in the queue, may begin in its own thread, and takes it.
  Status AwaitTurnLocked(ManualCompaction* manual) REQUIRES(db_mutex);

  bool IsEmptyLocked() const REQUIRES(db_mutex) { return queue_.empty(); }
  // Whether the queue has a compaction of the family (null: of any family).
  bool HasLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  bool HasExclusiveLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // The compactions of the family (null: of all families) give up, whether they wait or run.
  void AbortLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);

  // One line for each compaction in the queue.
  std::string DebugStringLocked() const REQUIRES(db_mutex);

 private:
  bool CanTake(const ManualCompaction& manual) const REQUIRES(db_mutex);

  Conditions* const conditions_;
  const CompactionRegistry* const running_;
  std::deque<ManualCompaction*> queue_ GUARDED_BY(db_mutex);  // includes the running ones
};

}  // namespace ashlar
