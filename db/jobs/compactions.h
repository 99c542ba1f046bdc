// SPDX-License-Identifier: Apache-2.0
//
// Compactions picks the next compaction of a family and begins it. The sources are the compaction
// style, calls of the program, released snapshots, and the age of tables. Several compactions may
// run in one family at the same time, on disjoint files. Only the pieces of a manual compaction are
// also run here; all other jobs are run by the caller.
//
// Threads: functions ending in Locked need the DB mutex; the others are called without it.
#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/jobs/background_compaction.h"
#include "db/jobs/compaction_registry.h"
#include "db/jobs/job_runner.h"
#include "db/jobs/manual_queue.h"
#include "db/state/db_core.h"

namespace ashlar {

class Compactions {
 public:
  // All arguments outlive the object.
  Compactions(DbCore* core, JobRunner* jobs, CompactionRegistry* registry, ManualQueue* manual,
              Level0Turns* turns)
      : core_(core), jobs_(jobs), registry_(registry), manual_(manual), turns_(turns) {
    assert(core != nullptr);
    assert(jobs != nullptr);
    assert(registry != nullptr);
    assert(manual != nullptr);
    assert(turns != nullptr);
  }

  // The result of an attempt to begin an automatic compaction.
  struct Begun {
    std::unique_ptr<BackgroundCompaction> job;  // null: no compaction begins
    bool wants_more = false;                    // the family needs another one beside this one
    bool is_held_back = false;   // waits until the family's compaction_thread_limiter has room
    uint64_t refused_bytes = 0;  // input of a compaction that has no space; 0: not refused
    // Token of a refused compaction; the caller gives it back after releasing the DB mutex.
    std::unique_ptr<TaskLimiter::Token> token;
  };
  // Picks and begins the most urgent automatic compaction of the family.
  Begun BeginAutomaticLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // Whether BeginAutomaticLocked() would compact level 0 now.
  bool PicksLevel0Locked(ColumnFamilyData* family) const REQUIRES(db_mutex);

  // Runs a manual compaction, which this thread has taken from the queue, in pieces; each piece is
  // as large as one compaction may be.
  Status RunPieces(ManualCompaction* manual) EXCLUDES(db_mutex);
  // Begins a compaction of the tables that a call has named (DB::CompactFiles). The caller runs the
  // job itself. `manual` is put in the queue, so that calls that stop or wait for manual
  // compactions find it; the caller takes it out again. Returns the errors of PickFiles(), Aborted
  // while an exclusive manual compaction has the family, and CompactionTooLarge if the outputs
  // would not fit below the limit of the SstFileManager.
  Result<std::unique_ptr<BackgroundCompaction>> BeginFilesLocked(ManualCompaction* manual,
                                                                 const FilesToCompact& files)
      REQUIRES(db_mutex);
  // Begins the move of tables for a call whose turn has come. No running compaction is in conflict
  // with `plan`.
  std::unique_ptr<BackgroundCompaction> BeginMoveLocked(const ManualCompaction& manual,
                                                        CompactionPlan plan) REQUIRES(db_mutex);

  // The tables in the range (bounds inclusive) should be compacted into the next level soon. Tables
  // on the deepest level are left out.
  void SuggestLocked(const ColumnFamilyData* family, const Slice* begin, const Slice* end)
      REQUIRES(db_mutex);
  // Called for a database that was just opened: finds the tables of the last level whose mark in
  // the MANIFEST says that they keep entries for snapshots.
  void FindKeptForSnapshotsLocked() REQUIRES(db_mutex);
  // The families that can drop now what snapshots have kept until now. Also sets
  // CompactionRegistry::next_table_due() to the number at which the next table is due.
  std::vector<ColumnFamilyData*> FamiliesWithDueTablesLocked() REQUIRES(db_mutex);

 private:
  // Every compaction begins here, both automatic and manual ones.
  std::unique_ptr<BackgroundCompaction> Begin(ColumnFamilyData* family, CompactionPlan plan)
      REQUIRES(db_mutex);
  bool MayBeginAutomatic(const ColumnFamilyData& family) const REQUIRES(db_mutex);
  PickOptions OptionsToPick(ColumnFamilyData* family) const REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickNext(ColumnFamilyData* family, const PickOptions& options)
      REQUIRES(db_mutex);
  // Plans the rewrite of a table that keeps entries which no snapshot needs any more.
  std::optional<CompactionPlan> PickDueTable(ColumnFamilyData* family, const PickOptions& options)
      REQUIRES(db_mutex);
  // Plans the compaction of a table that a call has suggested.
  std::optional<CompactionPlan> PickSuggested(const ColumnFamilyData* family,
                                              const PickOptions& options) REQUIRES(db_mutex);
  // Begins the piece that starts at `begin`, after waiting until no other job has its files. Null
  // if no file is left.
  Result<std::unique_ptr<BackgroundCompaction>> BeginPiece(const ManualCompaction& manual,
                                                           const std::optional<std::string>& begin)
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickStyle(const ManualCompaction& manual, bool* has_conflict) const
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickPiece(const ManualCompaction& manual,
                                          const std::optional<std::string>& begin,
                                          bool* has_conflict) const REQUIRES(db_mutex);

  DbCore* const core_;
  JobRunner* const jobs_;
  CompactionRegistry* const registry_;
  ManualQueue* const manual_;
  Level0Turns* const turns_;
  // Tables that calls have suggested, by family id. A table stays here until it is gone or has
  // reached the deepest level.
  std::map<uint32_t, std::set<FileNumber>> suggested_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
