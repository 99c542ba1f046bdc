// SPDX-License-Identifier: Apache-2.0
//
// SpaceRecovery goes on with what a lack of space has ended: it resumes a database whose disk was
// full, and lets compactions be picked again that did not fit below the limit of the manager of
// space. The manager's watch tells it when to try.
//
// Threads: any without the DB mutex; what it tries runs in a thread of the watch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "db/jobs/error_recovery.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "env/space/space_watch.h"

namespace ashlar {

// Whether what a recovery writes, about, has room: as far as the file system says.
bool HasSpaceToRecover(DbCore* core) EXCLUDES(db_mutex);

class SpaceRecovery final : public SpaceShortage, private SpaceWaiter {
 public:
  // All outlive it. Does nothing in a database without a manager of space.
  SpaceRecovery(DbCore* core, ErrorRecovery* recovery, Scheduler* scheduler)
      : core_(core), recovery_(recovery), scheduler_(scheduler) {}
  ~SpaceRecovery() override { StopTrying(); }

  void OnDiskFull() override;
  void OnNoRoomForCompaction(uint64_t bytes) override;
  void StopTrying() override;

 private:
  const std::string& directory() const override { return core_->paths.dir; }
  bool TryWith(uint64_t free_bytes) override EXCLUDES(db_mutex);
  bool Resume(uint64_t free_bytes) EXCLUDES(db_mutex);
  bool CompactAgain() EXCLUDES(db_mutex);

  DbCore* const core_;
  ErrorRecovery* const recovery_;
  Scheduler* const scheduler_;
  // Written by those who run out of space and by the watch. Either comes before a call of the watch
  // that looks at it.
  std::atomic<bool> is_disk_full_{false};
  std::atomic<uint64_t> refused_bytes_{0};  // of the compaction refused last; 0: none
};

}  // namespace ashlar
