// SPDX-License-Identifier: Apache-2.0
//
// ErrorRecovery brings a database back to normal operation after a background error.
//
// After a soft error writes continue: the failed flush is repeated while writers go on, and a
// failed compaction is simply picked again.
//
// After a hard error writes are refused. The end of a failed log or MANIFEST is unknown, so these
// files are not used again. Everything in memory is written to new tables, a new log is begun, and
// one change of the MANIFEST names all these tables and says that no log before the new one is
// needed. Only then is the error cleared and the next write accepted. The recovery depends neither
// on the failed logs, nor on other background work, nor on the deletion of files.
//
// Crash: before that change of the MANIFEST is durable, the next opening recovers from the old
// logs, as if no recovery had been attempted.
#pragma once

#include <cassert>
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
      : core_(core), writes_(writes), scheduler_(scheduler) {
    assert(core != nullptr);
    assert(writes != nullptr);
    assert(scheduler != nullptr);
  }

  // Which end of the recovery listeners are notified of.
  enum class Notify : uint8_t { kBoth, kSuccess, kNobody };
  // OK: the error is cleared, or there was none. Busy: another thread recovers right now. After a
  // failure it may be called again.
  Status Run(Notify notify = Notify::kBoth) EXCLUDES(db_mutex);
  // Like Run(), for a recovery that no call has asked for. It counts as a background job: while
  // background work is paused it does nothing and returns nothing.
  std::optional<Status> RunUnasked(Notify notify) EXCLUDES(db_mutex);

 private:
  std::optional<Status> RunAs(bool is_asked, Notify notify) EXCLUDES(db_mutex);
  // `error`: the background error at the beginning.
  Status RunOnce(const Status& error) EXCLUDES(db_mutex);
  Status FlushImmutables(const std::vector<FamilyRef>& families) EXCLUDES(db_mutex);
  Status FlushEverything(const std::vector<FamilyRef>& families) EXCLUDES(db_mutex);
  Status LogUndecidedSections() EXCLUDES(db_mutex);
  Status EndSoftLocked(bool has_flushed, const std::vector<FamilyRef>& families) REQUIRES(db_mutex);
  Status AwaitRunningFlushesLocked(const std::vector<FamilyRef>& families) REQUIRES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
  bool is_running_ GUARDED_BY(db_mutex) = false;  // a thread is inside Run() or RunUnasked()
};

}  // namespace ashlar
