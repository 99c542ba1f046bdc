// SPDX-License-Identifier: Apache-2.0
//
// ManualFlushes executes flushes on request: DB::Flush(), and flushes that other calls need first.
//
// Threads: any, without locks.
#pragma once

#include <cassert>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class ManualFlushes {
 public:
  // All arguments outlive the object.
  ManualFlushes(DbCore* core, WriteControl* writes, Scheduler* scheduler)
      : core_(core), writes_(writes), scheduler_(scheduler) {
    assert(core != nullptr);
    assert(writes != nullptr);
    assert(scheduler != nullptr);
  }

  // Makes the memtables of these families immutable and has them flushed. If options.wait is set,
  // their content is in tables when this returns. The caller holds references on the families. With
  // DBOptions::atomic_flush every other reason than kManualFlush flushes all families.
  Status Flush(const FlushOptions& options, const std::vector<ColumnFamilyData*>& families,
               FlushReason reason = FlushReason::kManualFlush) EXCLUDES(db_mutex);
  // Flushes all families that are not dropped.
  Status FlushAll(const FlushOptions& options, FlushReason reason = FlushReason::kManualFlush)
      EXCLUDES(db_mutex);

 private:
  // A family, and the id of the youngest memtable that this call flushes; 0: none.
  struct Target {
    ColumnFamilyData* family;
    uint64_t newest_memtable;
  };
  Status FlushThese(const FlushOptions& options, const std::vector<ColumnFamilyData*>& families,
                    FlushReason reason) EXCLUDES(db_mutex);
  Status Begin(const FlushOptions& options, const std::vector<ColumnFamilyData*>& families,
               FlushReason reason, std::vector<Target>* targets) EXCLUDES(db_mutex);
  void NotifyScheduled(const std::vector<Target>& targets, FlushReason reason) EXCLUDES(db_mutex);
  Status AwaitRoomForImmutableLocked(const std::vector<ColumnFamilyData*>& families)
      REQUIRES(db_mutex);
  Status AwaitFlushed(const std::vector<Target>& targets) EXCLUDES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
};

}  // namespace ashlar
