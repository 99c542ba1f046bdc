// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of the work of an open database: StartWork(), called when it has been
// opened, and Closer.
//
//   close   no background work begins   unlogged writes are flushed before; this ends all pauses
//           no write begins             writers that wait for admission give up
//           running jobs end
//           logs are closed             their buffers are written to the files
//           obsolete files are deleted, the directory is unlocked
//
// Crash: closing makes nothing durable that was not promised before, so a crash during it is like
// any other crash.
#pragma once

#include "ashlar/status.h"
#include "db/files/directory_names.h"
#include "db/jobs/manual_flush.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

// Deletes files that do not belong to the opened state, writes an OPTIONS file, and starts
// background work.
Status StartWork(DbCore* core, WriteControl* writes, Scheduler* scheduler, DirectoryNames* names)
    EXCLUDES(db_mutex);

class Closer {
 public:
  // All arguments outlive the object.
  Closer(DbCore* core, WriteControl* writes, Scheduler* scheduler, ManualFlushes* flushes)
      : core_(core), writes_(writes), scheduler_(scheduler), flushes_(flushes) {}

  // From now on no background work begins; with `wait`, returns when the running jobs have ended.
  // Writes continue until one would have to wait for a flush or compaction.
  Status CancelBackgroundWork(bool wait) EXCLUDES(db_mutex);
  // Closes the database; called once. Continues after errors and returns the first one.
  Status Run() EXCLUDES(db_mutex);

 private:
  bool WantsFlush() const EXCLUDES(db_mutex);
  void EndRecovery() EXCLUDES(db_mutex);
  void KeepImmutables() EXCLUDES(db_mutex);
  void RefuseWrites() EXCLUDES(db_mutex);
  Status CheckManifest() EXCLUDES(db_mutex);
  Status CloseLogs();
  void ForgetFiles() EXCLUDES(db_mutex);
  Status UnlockDirectory();

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
  ManualFlushes* const flushes_;
};

}  // namespace ashlar
