// SPDX-License-Identifier: Apache-2.0
//
// CompactionRunner runs compactions: those the shape of the tree asks for and those the user asks
// for. Several may run at once in one family, on disjoint files.
//
// Threads: functions ending in Locked need the DB mutex.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/compaction/compaction_job.h"
#include "db/compaction/compaction_picker.h"
#include "db/state/db_core.h"

namespace ashlar {

// What CompactRange asks for: the files of one level in a range.
struct ManualCompaction {
  ColumnFamilyData* family = nullptr;  // a reference of the caller
  int input_level = 0;
  int output_level = 1;  // from level 0 to the base level of when it runs, whatever this says
  std::optional<std::string> begin;  // user keys, inclusive
  std::optional<std::string> end;
  bool is_exclusive = false;  // nothing else compacts in the family meanwhile
  bool allow_trivial_move = false;
  uint32_t max_subcompactions = 0;  // 0: the database's
  CancelFlags cancel;

  // Set by the runner.
  bool is_taken = false;
  bool is_done = false;
  Status status;
};

class CompactionRunner {
 public:
  explicit CompactionRunner(DbCore* core) : core_(core) {}

  // kMore: the family may want another compaction. kFailed: it wants this one, later.
  enum class Outcome : uint8_t { kNothing, kMore, kFailed };
  // In a background thread.
  Outcome RunAutomatic(ColumnFamilyData* family) EXCLUDES(db_mutex);
  // Takes the next manual compaction that can run and runs it; null if there is none. Whoever waits
  // for it is told by FinishManual(), when the files it made obsolete are gone.
  ManualCompaction* RunManual() EXCLUDES(db_mutex);
  void FinishManual(ManualCompaction* manual) EXCLUDES(db_mutex);

  void AddManualLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  void RemoveManualLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // Manual compactions that wait for a thread.
  int WaitingManualLocked() const REQUIRES(db_mutex);
  bool HasManualLocked() const REQUIRES(db_mutex) { return !manual_.empty(); }
  bool IsRunningLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);

 private:
  struct Job;
  using Running = std::vector<const CompactionPlan*>;

  Running RunningIn(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  bool HasExclusiveManual(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  bool CanTakeManual(const ManualCompaction& manual) const REQUIRES(db_mutex);
  void Begin(ColumnFamilyData* family, CompactionPlan plan, Job* job) REQUIRES(db_mutex);
  Status Execute(Job* job);
  Status Install(Job* job) REQUIRES(db_mutex);
  void End(Job* job, const Status& status) REQUIRES(db_mutex);
  // The outputs of a finished job that was not installed.
  void DeleteRefused(Job* job, const Status& status) const;
  // Of a job that has ended. Lets go of its version, so that the tables of the plan lived until
  // now.
  void Report(const Job& job, const Status& status);
  Status RunManualRange(ManualCompaction* manual);

  DbCore* const core_;
  std::vector<Job*> running_ GUARDED_BY(db_mutex);
  // In the order in which they came; those that run too.
  std::deque<ManualCompaction*> manual_ GUARDED_BY(db_mutex);
  int next_job_id_ GUARDED_BY(db_mutex) = 1;
};

}  // namespace ashlar
