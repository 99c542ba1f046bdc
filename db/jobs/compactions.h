// SPDX-License-Identifier: Apache-2.0
//
// Compactions picks the next compaction of a family and begins it: those that the family's style,
// calls, snapshots and the age of tables ask for. Several may run at once in one family, on
// disjoint files. It runs none but the pieces of a manual one.
//
// Threads: functions ending in Locked need the DB mutex; the others are called without it.
#pragma once

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
  // All outlive it.
  Compactions(DbCore* core, JobRunner* jobs, CompactionRegistry* registry, ManualQueue* manual,
              Level0Turns* turns)
      : core_(core), jobs_(jobs), registry_(registry), manual_(manual), turns_(turns) {}

  // What became of the attempt to begin an automatic compaction.
  struct Begun {
    std::unique_ptr<BackgroundCompaction> job;  // null: none begins
    bool wants_more = false;                    // the family wants another one beside it
    bool is_held_back = false;   // it waits until the family's compaction_thread_limiter has room
    uint64_t refused_bytes = 0;  // of the input of one for which there is no space; 0: there is
    std::unique_ptr<TaskLimiter::Token>
        token;  // of one refused: to be given back without the mutex
  };
  Begun BeginAutomaticLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // Whether that would compact level 0 now.
  bool PicksLevel0Locked(ColumnFamilyData* family) const REQUIRES(db_mutex);

  // The range of a manual compaction, which this thread has taken, in pieces, each as large as one
  // compaction may be.
  Status RunPieces(const ManualCompaction& manual) EXCLUDES(db_mutex);
  // Of tables that a call has named: it runs the job itself, and takes `manual` out of the queue,
  // where this puts it for those that stop and wait for calls. Errors as those of PickFiles(), and
  // Aborted while an exclusive call has the family.
  Result<std::unique_ptr<BackgroundCompaction>> BeginFilesLocked(ManualCompaction* manual,
                                                                 const FilesToCompact& files)
      REQUIRES(db_mutex);
  // Of a call whose turn has come, and whose plan nothing stands in the way of.
  std::unique_ptr<BackgroundCompaction> BeginMoveLocked(const ManualCompaction& manual,
                                                        CompactionPlan plan) REQUIRES(db_mutex);

  // Tables in the range, bounds inclusive, are to be compacted into the next level soon; not those
  // on the deepest one.
  void SuggestLocked(const ColumnFamilyData* family, const Slice* begin, const Slice* end)
      REQUIRES(db_mutex);
  // Of a database that was just opened: tables at the bottom that the MANIFEST has a mark of.
  void FindKeptForSnapshotsLocked() REQUIRES(db_mutex);
  // The families that may drop what snapshots kept until now. When later ones may is in
  // CompactionRegistry::next_table_due().
  std::vector<ColumnFamilyData*> FamiliesWithDueTablesLocked() REQUIRES(db_mutex);

 private:
  std::unique_ptr<BackgroundCompaction> Begin(ColumnFamilyData* family, CompactionPlan plan)
      REQUIRES(db_mutex);
  bool MayBeginAutomatic(const ColumnFamilyData& family) const REQUIRES(db_mutex);
  PickOptions OptionsToPick(ColumnFamilyData* family) const REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickNext(ColumnFamilyData* family, const PickOptions& options)
      REQUIRES(db_mutex);
  // A rewrite of a table that keeps what no snapshot needs any more.
  std::optional<CompactionPlan> PickDueTable(ColumnFamilyData* family, const PickOptions& options)
      REQUIRES(db_mutex);
  // Of a table that a call has suggested.
  std::optional<CompactionPlan> PickSuggested(const ColumnFamilyData* family,
                                              const PickOptions& options) REQUIRES(db_mutex);
  // The piece from `begin` on, once no job has its files, or none if there is no file left.
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
  // Tables that calls have suggested, by family id: until they are gone, or on the deepest level.
  std::map<uint32_t, std::set<FileNumber>> suggested_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
