// SPDX-License-Identifier: Apache-2.0
//
// SpaceRecovery continues the work that a lack of space has stopped: it resumes a database whose
// disk was full, and lets compactions be picked again that did not fit below the limit of the
// SstFileManager. The manager's watch calls it when there is space to try.
//
// Threads: any thread that does not hold the DB mutex; attempts run in a thread of the watch.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <string>

#include "db/jobs/error_recovery.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "env/space/space_watch.h"

namespace ashlar {

// Whether the file system reports enough free space for the tables and the log that a recovery
// would write (an estimate). True if the file system cannot tell.
bool HasSpaceToRecover(DbCore* core) EXCLUDES(db_mutex);

class SpaceRecovery final : public SpaceShortage, private SpaceWaiter {
 public:
  // All arguments outlive the object. Does nothing in a database without an SstFileManager.
  SpaceRecovery(DbCore* core, ErrorRecovery* recovery, Scheduler* scheduler)
      : core_(core), recovery_(recovery), scheduler_(scheduler) {
    assert(core != nullptr);
    assert(recovery != nullptr);
    assert(scheduler != nullptr);
  }
  ~SpaceRecovery() override { StopTrying(); }

  void OnDiskFull() override;
  void OnNoRoomForCompaction(uint64_t bytes) override;
  void StopTrying() override;

 private:
  // The directory of the tables; that of the logs is asked about before an attempt.
  const std::string& directory() const override { return core_->paths.dir; }
  bool TryWith(uint64_t free_bytes) override EXCLUDES(db_mutex);
  bool Resume(uint64_t free_bytes) EXCLUDES(db_mutex);
  bool CompactAgain() EXCLUDES(db_mutex);

  DbCore* const core_;
  ErrorRecovery* const recovery_;
  Scheduler* const scheduler_;
  // Written by threads that run out of space, and by the watch. Each write happens before a call of
  // the watch that reads it.
  std::atomic<bool> is_disk_full_{false};
  // Input of the smallest compaction that was refused since all were requested; 0: none was.
  std::atomic<uint64_t> refused_bytes_{0};
};

}  // namespace ashlar
