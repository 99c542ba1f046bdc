// SPDX-License-Identifier: Apache-2.0
//
// Scheduler decides which background job runs next and hands it to the environment's threads:
// flushes in the high priority pool, compactions in the low one.
//
// Threads: functions ending in Locked need the DB mutex; jobs run without it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class FlushRunner;
class CompactionRunner;

class Scheduler final : public FlushRequests {
 public:
  // All outlive the scheduler.
  Scheduler(DbCore* core, FlushRunner* flushes, CompactionRunner* compactions,
            WriteControl* writes);
  ~Scheduler() override;

  // Nothing runs before Start() and nothing new after Stop(), which waits for running jobs.
  void StartLocked() REQUIRES(core_->mutex);
  void Stop() EXCLUDES(core_->mutex);

  // The family has sealed memtables to flush; it may want compaction.
  void RequestFlushLocked(ColumnFamilyData* family) override REQUIRES(core_->mutex);
  void RequestCompactionLocked(ColumnFamilyData* family) REQUIRES(core_->mutex);
  // Starts as many jobs as are wanted and allowed.
  void DispatchLocked() REQUIRES(core_->mutex);

  // While paused no new job starts; Pause waits for those that run.
  void Pause() EXCLUDES(core_->mutex);
  // False: it was not paused.
  bool Continue() EXCLUDES(core_->mutex);
  bool is_paused() const REQUIRES(core_->mutex) { return pause_count_ > 0; }
  // The same for compactions only: flushes go on.
  void PauseCompactions() EXCLUDES(core_->mutex);
  void ContinueCompactions() EXCLUDES(core_->mutex);
  bool are_compactions_paused() const REQUIRES(core_->mutex) {
    return pause_count_ + compaction_pause_count_ > 0;
  }

  // No job is queued or running.
  bool IsIdleLocked() const REQUIRES(core_->mutex);

 private:
  static void FlushMain(void* scheduler);
  static void CompactionMain(void* scheduler);
  void RunFlush();
  void RunCompaction();
  // Between a failed compaction and the next attempt.
  void AwaitRetryLocked() REQUIRES(core_->mutex);
  bool MayStart() const;
  bool MayStartCompaction() const { return MayStart() && compaction_pause_count_ == 0; }

  DbCore* const core_;
  FlushRunner* const flushes_;
  CompactionRunner* const compactions_;
  WriteControl* const writes_;
  // Guarded by the DB mutex, like all below. Each entry holds a reference on its family.
  std::deque<ColumnFamilyData*> flush_queue_;
  std::deque<ColumnFamilyData*> compaction_queue_;
  int scheduled_flushes_ = 0;  // handed to the environment, not started yet
  int scheduled_compactions_ = 0;
  int pause_count_ = 0;
  int compaction_pause_count_ = 0;
  bool is_started_ = false;
  bool is_stopping_ = false;
};

}  // namespace ashlar
