// SPDX-License-Identifier: Apache-2.0
//
// Scheduler decides which background job runs next and hands it to the environment's threads:
// flushes in the high priority pool, compactions in the low one.
//
// Threads: functions ending in Locked need the DB mutex; jobs run without it.
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
#include "db/state/write_control.h"
#include "util/threads/concurrent_task_limiter.h"

namespace ashlar {

class Scheduler final : public FlushRequests, private TaskLimiter::Waiter {
 public:
  // All outlive the scheduler.
  struct Parts {
    JobRunner* runner;
    CompactionRegistry* registry;
    ManualQueue* manual;
    Level0Turns* turns;
    Compactions* compactions;
  };
  Scheduler(DbCore* core, const Parts& parts);
  ~Scheduler() override;

  // Nothing runs before Start() and nothing new after Stop(), which waits for running jobs.
  void StartLocked() REQUIRES(db_mutex);
  void Stop() EXCLUDES(db_mutex);

  // The family has sealed memtables to flush; it may want compaction.
  void RequestFlushLocked(ColumnFamilyData* family) override REQUIRES(db_mutex);
  void RequestCompactionLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // What a snapshot kept at the bottom may be due: it was released, or a compaction that
  // nobody follows up has ended.
  void RequestDueTablesLocked() REQUIRES(db_mutex);
  // What readers have left over is deleted by a background thread, or when the database closes.
  void RequestPurge() EXCLUDES(db_mutex);
  // Starts as many jobs as are wanted and allowed.
  void DispatchLocked() REQUIRES(db_mutex);

  // So many more tables in level 0 would hold the writers of the family up, and a compaction of it
  // runs or is about to: who adds tables on request waits for its end.
  bool WillMakeRoomLocked(ColumnFamilyData* family, size_t more_tables) const REQUIRES(db_mutex);

  // A compaction in the thread of a call counts like the others. Aborted while none may begin.
  Status CheckMayStartLocked() const REQUIRES(db_mutex);
  void JobOfCallBeginsLocked() REQUIRES(db_mutex);
  void JobOfCallEndsLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // A flush in the thread of a recovery, likewise; more jobs may begin after it. Lets go of the
  // mutex.
  Status RunRecoveryFlushLocked(FlushGroup* flushes) REQUIRES(db_mutex);

  // A recovery that no call asks for is a job as far as pauses go. False: none may begin now.
  bool RecoveryBeginsLocked() REQUIRES(db_mutex);
  void RecoveryEndsLocked() REQUIRES(db_mutex);

  // The property ashlar.background-work: a line for each fact, stable.
  std::string DebugStringLocked() const REQUIRES(db_mutex);
  // Families that want a compaction for which no thread has been asked yet.
  uint64_t UnscheduledCompactionsLocked() const REQUIRES(db_mutex);

  // While paused no new job starts; Pause waits for those that run. Not inside of one.
  Status Pause() EXCLUDES(db_mutex);
  // False: it was not paused.
  bool Continue() EXCLUDES(db_mutex);
  bool is_paused() const REQUIRES(db_mutex) { return pause_count_ > 0; }

  // What OnBackgroundJobPressureChanged() is told.
  BackgroundJobPressure PressureLocked() const REQUIRES(db_mutex);

  // Returns when no job is queued or running; or with TimedOut, with the background error (without
  // it, if that is what the caller does not mind), or, if `abort_on_pause`, with Aborted while
  // compactions may not run. 0: no time limit.
  Status AwaitIdle(uint64_t timeout_micros, bool abort_on_pause, bool minds_error)
      EXCLUDES(db_mutex);

 private:
  static void FlushMain(void* scheduler);
  static void CompactionMain(void* scheduler);
  static void PurgeMain(void* scheduler);
  void RunPurge() EXCLUDES(db_mutex);
  // These tell flushes, purges and compactions apart, which may wait in one pool.
  void* FlushTag() { return &flush_tag_; }
  void* PurgeTag() { return &purge_tag_; }
  void RunFlush();
  // The family alone, or all that are to be flushed together; none: neither is wanted now.
  void BeginFlushLocked(const FamilyRef& family, std::optional<FlushGroup>* flushes)
      REQUIRES(db_mutex);
  std::vector<FamilyRef> FamiliesThatAwaitOthersLocked() const REQUIRES(db_mutex);
  void RequestWaitingFlushesLocked() REQUIRES(db_mutex);
  void RunCompaction();
  void CompactionEndsLocked() REQUIRES(db_mutex);
  Compactions::Begun BeginCompactionLocked(ColumnFamilyData* family) REQUIRES(db_mutex);
  // What has begun, or why nothing has.
  void RunBegun(FamilyRef family, Compactions::Begun begun) EXCLUDES(db_mutex);
  // In the place of a compaction of a deeper level, which waits.
  void RunLevel0() EXCLUDES(db_mutex);
  bool IsLevel0Urgent(ColumnFamilyData* family) const REQUIRES(db_mutex);
  // The family's compaction is wanted when its limiter has room.
  void AwaitLimiter(ColumnFamilyData* family) EXCLUDES(db_mutex);
  void OnRoom() override EXCLUDES(db_mutex);
  void ForgetLimiters() EXCLUDES(db_mutex);
  // Between a failed compaction and the next attempt.
  void AwaitRetryLocked() REQUIRES(db_mutex);
  bool MayStart() const REQUIRES(db_mutex);
  bool MayStartCompaction() const REQUIRES(db_mutex) {
    return MayStart() && !registry_->AreAllAbortedLocked();
  }
  // Automatic compactions may have to wait for Resume() after an error; a manual one returns its
  // error to the caller.
  bool MayStartAutomatic() const REQUIRES(db_mutex) {
    return MayStartCompaction() && !core_->errors.AwaitsResume();
  }
  bool IsIdleLocked() const REQUIRES(db_mutex);
  // Notifies listeners, in the order of the changes, of the pressure if it has changed since. Lets
  // go of the mutex meanwhile; a job does it while it is counted.
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
  // Handed to the environment, not started yet.
  int scheduled_flushes_ GUARDED_BY(db_mutex) = 0;
  int scheduled_compactions_ GUARDED_BY(db_mutex) = 0;
  char flush_tag_ = 0, purge_tag_ = 0;  // for their addresses
  // Purges: one at most waits for a thread.
  bool is_purge_scheduled_ GUARDED_BY(db_mutex) = false;
  int running_purges_ GUARDED_BY(db_mutex) = 0;
  // One thread at a time notifies listeners of the pressure; what they heard last.
  bool is_notifying_pressure_ GUARDED_BY(db_mutex) = false;
  BackgroundJobPressure notified_pressure_ GUARDED_BY(db_mutex);
  // Of families whose compactions were held back: who is asked to tell of room.
  std::set<std::shared_ptr<ConcurrentTaskLimiter>> awaited_limiters_ GUARDED_BY(db_mutex);
  int running_recoveries_ GUARDED_BY(db_mutex) = 0;
  // Pauses without their Continue.
  int pause_count_ GUARDED_BY(db_mutex) = 0;
  bool is_started_ GUARDED_BY(db_mutex) = false;
  bool is_stopping_ GUARDED_BY(db_mutex) = false;
};

}  // namespace ashlar
