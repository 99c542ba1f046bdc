// SPDX-License-Identifier: Apache-2.0
//
// Scheduler decides which background job runs next and hands it to the threads of the Env: flushes
// to the high priority pool, compactions to the low priority pool.
//
// Threads: functions whose names end in Locked need the DB mutex; jobs run without it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "db/column_family/family_ref.h"
#include "db/jobs/compactions.h"
#include "db/jobs/family_queue.h"
#include "db/jobs/flush_group.h"
#include "db/jobs/job_runner.h"
#include "db/jobs/level0_turns.h"
#include "db/state/db_core.h"
#include "db/state/job_thread.h"
#include "db/state/write_control.h"
#include "util/threads/concurrent_task_limiter.h"

namespace ashlar {

class Scheduler final : public FlushRequests, private TaskLimiter::Waiter {
 public:
  // All of them outlive the scheduler.
  struct Parts {
    JobRunner* runner;
    CompactionRegistry* registry;
    ManualQueue* manual;
    Level0Turns* turns;
    Compactions* compactions;
  };
  Scheduler(DbCore* core, const Parts& parts);
  ~Scheduler() override;

  // Nothing runs before StartLocked(). Stop() lets no new job begin and waits for the running ones.
  void StartLocked() REQUIRES(db_mutex);
  void Stop() EXCLUDES(db_mutex);

  // Queues the family for a flush of its immutable memtables, or for a compaction if it needs one.
  void RequestFlushLocked(ColumnFamilyData* family) override REQUIRES(db_mutex);
  void RequestCompactionLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // Requests compactions for tables that can drop entries kept for snapshots: a snapshot was
  // released, or a compaction has ended that is not followed by another one.
  void RequestDueTablesLocked() REQUIRES(db_mutex);
  // Has a background thread delete the obsolete files that readers have released. If none does it
  // in time, they are deleted when the database closes.
  void RequestPurge() EXCLUDES(db_mutex);
  // Hands as many jobs to the Env as are wanted and allowed.
  void DispatchLocked() REQUIRES(db_mutex);

  // Whether `more_tables` more tables in level 0 would stall the writers of the family, and a
  // compaction of level 0 runs or is about to run. A call that adds tables then waits for its end.
  bool WillMakeRoomLocked(ColumnFamilyData* family, size_t more_tables) const REQUIRES(db_mutex);

  // A compaction in the thread of a call is counted like the others. Aborted: none may begin now.
  Status CheckMayStartLocked() const REQUIRES(db_mutex);
  void JobOfCallBeginsLocked() REQUIRES(db_mutex);
  void JobOfCallEndsLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // Runs a flush in the thread of a recovery, counted like the others; further jobs may begin after
  // it. Releases the mutex while the flush runs.
  Status RunRecoveryFlushLocked(FlushGroup* flushes) REQUIRES(db_mutex);

  // A recovery that no call has asked for counts as a job for Pause(). False: none may begin now.
  bool RecoveryBeginsLocked() REQUIRES(db_mutex) {
    if (MayStart()) running_recoveries_++;
    return MayStart();
  }
  void RecoveryEndsLocked() REQUIRES(db_mutex) {
    running_recoveries_--;
    core_->conditions.JobEnded();
  }

  // The property ashlar.background-work: one line for each fact, in a stable form.
  std::string DebugStringLocked() const REQUIRES(db_mutex);
  // How many families need a compaction for which no thread has been requested yet.
  uint64_t UnscheduledCompactionsLocked() const REQUIRES(db_mutex);

  // While paused no new job begins; Pause() waits for the running ones. Fails in the thread of a
  // job.
  Status Pause() EXCLUDES(db_mutex);
  // False: it was not paused.
  bool Continue() EXCLUDES(db_mutex);
  bool is_paused() const REQUIRES(db_mutex) { return pause_count_ > 0; }
  // From now on flushes begin while work is paused, too. For the last flush before background work
  // is cancelled; compactions stay paused.
  void LetFlushesPassPauses() EXCLUDES(db_mutex);

  // The argument of OnBackgroundJobPressureChanged().
  BackgroundJobPressure PressureLocked() const REQUIRES(db_mutex);

  // Waits until no job is queued or running. Returns TimedOut after `timeout_micros` (0: no limit);
  // at once with the background error (with OK, unless `minds_error`); and, if `abort_on_pause`,
  // with Aborted while compactions may not run.
  Status AwaitIdle(uint64_t timeout_micros, bool abort_on_pause, bool minds_error)
      EXCLUDES(db_mutex);

 private:
  static void FlushMain(void* scheduler);
  static void CompactionMain(void* scheduler);
  static void PurgeMain(void* scheduler);
  void RunPurge() EXCLUDES(db_mutex);
  // Tags that distinguish flushes and purges from compactions, which may wait in the same pool.
  void* FlushTag() { return &flush_tag_; }
  void* PurgeTag() { return &purge_tag_; }
  void RunFlush();
  // Begins a flush of the family alone, or of all families that wait to be flushed together. Leaves
  // `*flushes` empty if neither is wanted now.
  void BeginFlushLocked(const FamilyRef& family, std::optional<FlushGroup>* flushes)
      REQUIRES(db_mutex);
  std::vector<FamilyRef> FamiliesThatAwaitOthersLocked() const REQUIRES(db_mutex);
  void RequestWaitingFlushesLocked() REQUIRES(db_mutex);
  void RunCompaction();
  void CompactionEndsLocked() REQUIRES(db_mutex);
  Compactions::Begun BeginCompactionLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // Runs a compaction that has begun, or handles the reason why none has.
  void RunBegun(FamilyRef family, Compactions::Begun begun) EXCLUDES(db_mutex);
  // Runs an urgent compaction of level 0 in a thread of a deeper compaction, which waits meanwhile.
  void RunLevel0() EXCLUDES(db_mutex);
  bool IsLevel0Urgent(ColumnFamilyData* family) const REQUIRES(db_mutex);
  // Requests the family's compaction again as soon as its limiter has room.
  void AwaitLimiter(ColumnFamilyData* family) EXCLUDES(db_mutex);
  void OnRoom() override EXCLUDES(db_mutex);
  void ForgetLimiters() EXCLUDES(db_mutex);
  // Waits between a failed job and the next attempt, as long as that attempt may begin at all.
  void AwaitRetryLocked(JobThread::Job failed) REQUIRES(db_mutex);
  bool IsOn() const REQUIRES(db_mutex);
  bool MayStart() const REQUIRES(db_mutex) { return IsOn() && pause_count_ == 0; }
  bool MayTakeFlush() const REQUIRES(db_mutex) {
    return IsOn() && (pause_count_ == 0 || flushes_pass_pauses_);
  }
  bool MayStartCompaction() const REQUIRES(db_mutex) {
    return MayStart() && !registry_->AreAllAbortedLocked();
  }
  bool MayStartFlush() const REQUIRES(db_mutex) {
    return MayTakeFlush() && !core_->errors.BlocksFlushes();
  }
  // Automatic compactions may have to wait for Resume() after an error; a manual one returns its
  // error to the caller.
  bool MayStartAutomatic() const REQUIRES(db_mutex) {
    return MayStartCompaction() && !core_->errors.AwaitsResume();
  }
  bool IsIdleLocked() const REQUIRES(db_mutex);
  // Notifies listeners of the pressure if it has changed since the last notification, in the order
  // of the changes. Releases the mutex meanwhile; a job calls it while it is counted as running.
  void NotifyPressureLocked() REQUIRES(db_mutex);
  int UnfinishedJobsLocked() const REQUIRES(db_mutex);

  DbCore* const core_;
  JobRunner* const runner_;
  CompactionRegistry* const registry_;
  ManualQueue* const manual_;
  Level0Turns* const turns_;
  Compactions* const compactions_;
  FamilyQueue flush_queue_ GUARDED_BY(db_mutex);
  FamilyQueue compaction_queue_ GUARDED_BY(db_mutex);
  // Ids of families whose compaction_thread_limiter had no room for their compaction.
  std::set<uint32_t> held_back_ GUARDED_BY(db_mutex);
  // Jobs that were handed to the Env and have not started yet.
  int scheduled_flushes_ GUARDED_BY(db_mutex) = 0;
  int scheduled_compactions_ GUARDED_BY(db_mutex) = 0;
  char flush_tag_ = 0, purge_tag_ = 0;  // only their addresses are used
  // At most one purge waits for a thread.
  bool is_purge_scheduled_ GUARDED_BY(db_mutex) = false;
  int running_purges_ GUARDED_BY(db_mutex) = 0;
  // One thread at a time notifies listeners of the pressure; notified_pressure_ was reported last.
  bool is_notifying_pressure_ GUARDED_BY(db_mutex) = false;
  BackgroundJobPressure notified_pressure_ GUARDED_BY(db_mutex);
  // Limiters of families whose compactions were held back; the scheduler waits for their room.
  std::set<std::shared_ptr<ConcurrentTaskLimiter>> awaited_limiters_ GUARDED_BY(db_mutex);
  int running_recoveries_ GUARDED_BY(db_mutex) = 0;
  // Calls of Pause() that were not followed by Continue() yet.
  int pause_count_ GUARDED_BY(db_mutex) = 0;
  bool flushes_pass_pauses_ GUARDED_BY(db_mutex) = false;
  bool is_started_ GUARDED_BY(db_mutex) = false;
  bool is_stopping_ GUARDED_BY(db_mutex) = false;
};

}  // namespace ashlar
