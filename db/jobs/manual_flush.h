// SPDX-License-Identifier: Apache-2.0
//
// ManualFlushes are flushes on request: DB::Flush(), and those that other calls need first.
//
// Threads: any, without locks.
#pragma once

#include <vector>

#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class ManualFlushes {
 public:
  // All outlive it.
  ManualFlushes(DbCore* core, WriteControl* writes, Scheduler* scheduler)
      : core_(core), writes_(writes), scheduler_(scheduler) {}

  // What is in the memtables of these families now is in tables when this returns, if the options
  // say that it waits. The caller holds references on the families. Where families are flushed
  // together (DBOptions::atomic_flush), only kManualFlush is about these alone.
  Status Flush(const FlushOptions& options, const std::vector<ColumnFamilyData*>& families,
               FlushReason reason = FlushReason::kManualFlush) EXCLUDES(db_mutex);
  // Of all families that live.
  Status FlushAll(const FlushOptions& options, FlushReason reason = FlushReason::kManualFlush)
      EXCLUDES(db_mutex);

 private:
  // A family and the id of its youngest memtable that the call is about; 0: none.
  struct Target {
    ColumnFamilyData* family;
    uint64_t newest_memtable;
  };
  Status FlushThese(const FlushOptions& options, const std::vector<ColumnFamilyData*>& families,
                    FlushReason reason) EXCLUDES(db_mutex);
  Status Begin(const FlushOptions& options, const std::vector<ColumnFamilyData*>& families,
               FlushReason reason, std::vector<Target>* targets) EXCLUDES(db_mutex);
  void NotifyScheduled(const std::vector<Target>& targets, FlushReason reason) EXCLUDES(db_mutex);
  Status AwaitRoomForSealedLocked(const std::vector<ColumnFamilyData*>& families)
      REQUIRES(db_mutex);
  Status AwaitFlushed(const std::vector<Target>& targets) EXCLUDES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
};

}  // namespace ashlar
