// SPDX-License-Identifier: Apache-2.0
//
// The two ends of a database's working life: StartWork() after it has been opened, and Closer.
//
//   close   no background work begins   what skipped the log is flushed first
//           no write begins             those that wait to be admitted give up
//           running jobs end
//           logs are closed             what is left in their buffers goes to the files
//           obsolete files go, the directory is unlocked
//
// Crash: closing makes nothing durable that was not promised before; a crash in it is a crash.
#pragma once

#include "ashlar/status.h"
#include "db/files/directory_names.h"
#include "db/jobs/manual_flush.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

// What the opened state does not explain is deleted, an OPTIONS file is written, and background
// work begins.
Status StartWork(DbCore* core, WriteControl* writes, Scheduler* scheduler, DirectoryNames* names)
    EXCLUDES(db_mutex);

class Closer {
 public:
  // All outlive it.
  Closer(DbCore* core, WriteControl* writes, Scheduler* scheduler, ManualFlushes* flushes)
      : core_(core), writes_(writes), scheduler_(scheduler), flushes_(flushes) {}

  // Lets no background work begin from now on; with `wait` returns when what runs has ended.
  // Writes go on until one would have to wait for a flush or compaction.
  Status CancelBackgroundWork(bool wait) EXCLUDES(db_mutex);
  // All of it, once. The first error; it goes on nevertheless.
  Status Run() EXCLUDES(db_mutex);

 private:
  bool WantsFlush() const EXCLUDES(db_mutex);
  void EndRecovery() EXCLUDES(db_mutex);
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
