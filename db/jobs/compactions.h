// SPDX-License-Identifier: Apache-2.0
//
// Compactions knows which compactions run, which calls wait for one, and which families must not be
// compacted; it picks the next one. Several may run at once in one family, on disjoint files.
//
// Threads: functions ending in Locked need the DB mutex, as do the three for BackgroundCompaction;
// the others run compactions and are called without it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/compaction/stop_flags.h"
#include "db/jobs/background_compaction.h"
#include "db/jobs/job_runner.h"
#include "db/state/db_core.h"
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
  bool is_of_caller = false;    // whose thread does the work: it only waits for its turn

  // Set by Compactions.
  std::atomic<bool> is_aborted{false};
  bool is_taken = false;
  bool is_done = false;
  Status status;
};

class Compactions {
 public:
  Compactions(DbCore* core, JobRunner* jobs) : core_(core), jobs_(jobs) {}
  // Before the first one; they outlive all.
  void SetTurns(Level0Turns* turns) { turns_ = turns; }
  Level0Turns* turns() const { return turns_; }

  // kMore: the family may want another compaction. kFailed: it wants this one, later; kHeldBack:
  // likewise, when its compaction_thread_limiter lets it.
  enum class Outcome : uint8_t { kNothing, kMore, kFailed, kHeldBack };
  // `wants_more` is called with the DB mutex held when one has begun and the family wants another
  // beside it.
  Outcome RunAutomatic(ColumnFamilyData* family, const std::function<void()>& wants_more)
      EXCLUDES(db_mutex);
  // Whether RunAutomatic() would compact level 0 now.
  bool PicksLevel0Locked(ColumnFamilyData* family) const REQUIRES(db_mutex);
  // Takes the next manual compaction that can run and runs it; null if there is none. Whoever waits
  // for it is told by FinishManual(), when the files it made obsolete are gone.
  ManualCompaction* RunManual() EXCLUDES(db_mutex);
  void FinishManual(ManualCompaction* manual) EXCLUDES(db_mutex);

  // Of tables that a call has named: it runs them itself, and takes `manual` out of the queue,
  // where this puts it for those that stop and wait for calls. Errors as those of PickFiles(), and
  // Aborted while an exclusive call has the family.
  Result<std::unique_ptr<BackgroundCompaction>> BeginFilesLocked(ManualCompaction* manual,
                                                                 const FilesToCompact& files)
      REQUIRES(db_mutex);
  // Returns when the call, which is in the queue, may begin; then it is taken.
  Status AwaitTurnLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // Of a call whose turn has come, and whose plan nothing stands in the way of.
  std::unique_ptr<BackgroundCompaction> BeginMoveLocked(const ManualCompaction& manual,
                                                        CompactionPlan plan) REQUIRES(db_mutex);
  Status RunOfCaller(BackgroundCompaction* job) EXCLUDES(db_mutex) { return jobs_->Run(job); }

  // Tables in the range, bounds inclusive, are to be compacted into the next level soon; not those
  // on the deepest one.
  void SuggestLocked(const ColumnFamilyData* family, const Slice* begin, const Slice* end)
      REQUIRES(db_mutex);

  void AddManualLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  void RemoveManualLocked(ManualCompaction* manual) REQUIRES(db_mutex);
  // Manual compactions that wait for a thread.
  int WaitingManualLocked() const REQUIRES(db_mutex);
  bool HasManualLocked() const REQUIRES(db_mutex) { return !manual_.empty(); }

  // Somebody else is about to put tables where this plan, of which the level and the range count,
  // would write: until it is released no compaction goes there. It outlives that.
  void ReserveLocked(const ColumnFamilyData* family, const CompactionPlan* plan) REQUIRES(db_mutex);
  void ReleaseLocked(const CompactionPlan* plan) REQUIRES(db_mutex);
  // Of the compactions under way in the family, and what is reserved there.
  std::vector<const CompactionPlan*> PlansLocked(const ColumnFamilyData* family) const
      REQUIRES(db_mutex) {
    return PlansUnderWay(family);
  }

  // Stops those that run and wait in the family (null: in all) and lets none begin, until as many
  // Resume calls. IsBusyLocked() says when they have ended.
  void AbortLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);
  void ResumeLocked(const ColumnFamilyData* family) REQUIRES(db_mutex);
  bool AreAllAbortedLocked() const REQUIRES(db_mutex) { return abort_all_count_ > 0; }
  bool IsAbortedLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex) {
    return AbortCountLocked(family) > 0;
  }
  // Calls that have not been taken back.
  uint64_t AbortCountLocked(const ColumnFamilyData& family) const REQUIRES(db_mutex);
  // Sorted runs that those which run have for input.
  uint64_t RunsUnderWayLocked() const REQUIRES(db_mutex);
  // Of a database that was just opened: tables at the bottom that the MANIFEST has a mark of.
  void FindKeptForSnapshotsLocked() REQUIRES(db_mutex);
  // The families that may drop what snapshots kept until now. Those whose time comes
  // later do so when a snapshot is released (next_table_due).
  std::vector<ColumnFamilyData*> FamiliesWithDueTablesLocked() REQUIRES(db_mutex);

  // When the oldest snapshot reaches this number, a family has versions or tombstones to drop that
  // it did not have to drop before. Any thread: whoever releases a snapshot asks.
  SequenceNumber next_table_due() const { return next_table_due_.load(std::memory_order_relaxed); }

  // Whether one runs or waits on behalf of a call in the family (null: in any).
  bool IsBusyLocked(const ColumnFamilyData* family) const REQUIRES(db_mutex);

  std::string DebugStringLocked() const REQUIRES(db_mutex);

  // For BackgroundCompaction.
  void Add(BackgroundCompaction* job) REQUIRES(db_mutex) { running_.push_back(job); }
  void Remove(BackgroundCompaction* job) REQUIRES(db_mutex);
  // It wrote a table that may be rewritten once the oldest snapshot reaches this number.
  void NoteTableDue(SequenceNumber due) REQUIRES(db_mutex);

 private:
  using Plans = std::vector<const CompactionPlan*>;

  Plans PlansUnderWay(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  // What stood in the way of a compaction.
  struct Refusal {
    uint64_t bytes = 0;  // of the input of one for which there is no room
    bool is_at_task_limit = false;
    std::unique_ptr<TaskLimiter::Token> token;  // to be given back without the mutex
  };
  std::unique_ptr<BackgroundCompaction> BeginAutomatic(ColumnFamilyData* family, Refusal* refusal)
      REQUIRES(db_mutex);
  std::optional<CompactionPlan> PickNext(ColumnFamilyData* family, const PickOptions& options)
      REQUIRES(db_mutex);
  bool MayBeginAutomatic(const ColumnFamilyData& family) const REQUIRES(db_mutex);
  PickOptions OptionsToPick(ColumnFamilyData* family) const REQUIRES(db_mutex);
  // A rewrite of a table that keeps what no snapshot needs any more.
  std::optional<CompactionPlan> PickDueTable(ColumnFamilyData* family, const PickOptions& options)
      REQUIRES(db_mutex);
  // Of a table that a call has suggested.
  std::optional<CompactionPlan> PickSuggested(const ColumnFamilyData* family,
                                              const PickOptions& options) REQUIRES(db_mutex);
  bool HasExclusiveManual(const ColumnFamilyData* family) const REQUIRES(db_mutex);
  bool CanTakeManual(const ManualCompaction& manual) const REQUIRES(db_mutex);
  ManualCompaction* TakeManual() EXCLUDES(db_mutex);
  // The range in pieces, each as large as one compaction may be.
  Status RunPieces(const ManualCompaction& manual) EXCLUDES(db_mutex);
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
  Level0Turns* turns_ = nullptr;  // null: none yields
  std::vector<BackgroundCompaction*> running_ GUARDED_BY(db_mutex);
  std::vector<std::pair<const ColumnFamilyData*, const CompactionPlan*>> reserved_
      GUARDED_BY(db_mutex);
  // In the order in which they came; those that run too.
  std::deque<ManualCompaction*> manual_ GUARDED_BY(db_mutex);
  // Tables that calls have suggested, by family id: until they are gone, or on the deepest level.
  std::map<uint32_t, std::set<FileNumber>> suggested_ GUARDED_BY(db_mutex);
  std::atomic<SequenceNumber> next_table_due_{KeptForSnapshots::kNever};  // written under the mutex
  // Abort calls without their Resume: for all families, and by family id.
  int abort_all_count_ GUARDED_BY(db_mutex) = 0;
  std::map<uint32_t, int> abort_counts_ GUARDED_BY(db_mutex);
};

}  // namespace ashlar
