// SPDX-License-Identifier: Apache-2.0
//
// ManualQueue has the compactions that calls wait for, in the order in which they came, and says
// which of them may run. A thread of the scheduler takes one and finishes it; or the thread of the
// call takes its turn itself.
//
// All functions need the DB mutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "ashlar/options.h"
#include "db/compaction/stop_flags.h"
#include "db/jobs/compaction_registry.h"
#include "db/state/conditions.h"
#include "util/keys/level.h"

namespace ashlar {

// What a call asks for: the files of one level in a range; or, in a family that has no levels in
// this sense, all that its style would take.
struct ManualCompaction {
  ColumnFamilyData* family = nullptr;  // a reference of the caller
  Level input_level = 0;
  Level output_level = 1;  // from level 0 to the base level of when it runs, whatever this says
  std::optional<std::string> begin;  // user keys, inclusive
  std::optional<std::string> end;
  bool is_exclusive = false;  // nothing else compacts in the family meanwhile
  bool allow_trivial_move = false;
  bool rewrites_bottom = false;     // universal: even if there is nothing but the last level
  uint32_t max_subcompactions = 0;  // 0: the database's
  uint32_t output_path_id = 0;      // an index of the family's directories
  BlobGarbageCollectionPolicy blob_policy = BlobGarbageCollectionPolicy::kUseDefault;
  double blob_age_cutoff = -1;  // outside of 0 to 1: that of the options
  StopFlags stop;               // `aborted` is the one below
  bool is_of_caller = false;    // the thread of the call does the work and only waits for its turn

  // Set by the queue. `status` is the thread's that has taken it, until it is done.
  std::atomic<bool> is_aborted{false};
  bool is_taken = false;
  bool is_done = false;
  Status status;
};

class ManualQueue {
 public:
  // Both outlive the queue.
  ManualQueue(Conditions* conditions, const CompactionRegistry* running)
      : conditions_(conditions), running_(running) {}

  // Aborted at once where the family's compactions are, which may be so since the call began.
  void AddLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // No thread works on it.
  void RemoveLocked(ManualCompaction* manual) REQUIRES(db_mutex);

  // How many wait for a thread of the scheduler and could run.
  int WaitingLocked() const REQUIRES(db_mutex);
  // Takes the first of these; null: there is none. Then the thread runs it and calls
  // FinishLocked().
  ManualCompaction* TakeLocked() REQUIRES(db_mutex);
  void FinishLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // Returns when the call, which is in the queue, may begin in its own thread; then it is taken.
  Status AwaitTurnLocked(ManualCompaction* manual) REQUIRES(db_mutex);

  bool IsEmptyLocked() const REQUIRES(db_mutex) { return queue_.empty(); }
  // Of the family (null: of any).
  bool HasLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  bool HasExclusiveLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // Those of the family (null: of all) give up, whether they wait or run.
  void AbortLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);

  std::string DebugStringLocked() const REQUIRES(db_mutex);

 private:
  bool CanTake(const ManualCompaction& manual) const REQUIRES(db_mutex);

  Conditions* const conditions_;
  const CompactionRegistry* const running_;
  std::deque<ManualCompaction*> queue_ GUARDED_BY(db_mutex);  // those that run too
};

}  // namespace ashlar
