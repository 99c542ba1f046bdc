// SPDX-License-Identifier: Apache-2.0
//
// ErrorRecovery makes a database whole again after a background error. One that leaves writes alone
// is over once the flush that failed is done, beside the writers; a compaction begins again by
// itself. Where writes are refused:
//
// A log or MANIFEST whose end is unknown is not used again. Everything in memory goes to new tables
// in front of a fresh log, and one change of the MANIFEST names them all and says that no log
// before the fresh one is needed: only then is the error cleared and the next write accepted.
// Nothing it does depends on the logs that failed, on other background work, or on the deletion of
// files.
//
// Crash: before that change the old logs are recovered, as if nothing had been tried.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/jobs/flush_group.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"
#include "util/keys/file_number.h"

namespace ashlar {

class ErrorRecovery {
 public:
  // All outlive the object.
  ErrorRecovery(DbCore* core, WriteControl* writes, Scheduler* scheduler)
      : core_(core), writes_(writes), scheduler_(scheduler) {}

  // Which end listeners are notified of.
  enum class Notify : uint8_t { kBoth, kSuccess, kNobody };
  // OK: the error is gone, or there was none. Busy while another thread is at it. After a failure
  // it may be called again.
  Status Run(Notify notify = Notify::kBoth) EXCLUDES(db_mutex);
  // The same where no call asks for it: a job like others, so nothing, and nothing is done, while
  // background work is paused.
  std::optional<Status> RunUnasked(Notify notify) EXCLUDES(db_mutex);

 private:
  std::optional<Status> RunAs(bool is_asked, Notify notify) EXCLUDES(db_mutex);
  Status RunOnce(const Status& error) EXCLUDES(db_mutex);
  Status FlushSealed(const std::vector<FamilyRef>& families) EXCLUDES(db_mutex);
  Status FlushEverything(const std::vector<FamilyRef>& families) EXCLUDES(db_mutex);
  Status EndSoftLocked(bool has_flushed, const std::vector<FamilyRef>& families) REQUIRES(db_mutex);
  Status AwaitRunningFlushesLocked(const std::vector<FamilyRef>& families) REQUIRES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
  bool is_running_ GUARDED_BY(db_mutex) = false;
};

}  // namespace ashlar
