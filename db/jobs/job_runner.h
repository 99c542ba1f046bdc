// SPDX-License-Identifier: Apache-2.0
//
// JobRunner takes a flush or a compaction from where it has begun to its report.
//
// Crash: tables are synced, and so is their directory, before the MANIFEST names them; what a job
// made obsolete is released only after that.
#pragma once

#include "db/jobs/background_job.h"
#include "db/jobs/flush_group.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class JobRunner {
 public:
  // Both outlive the runner.
  JobRunner(DbCore* core, WriteControl* writes) : core_(core), writes_(writes) {}

  // Without locks, in a background thread. Returns what became of the job.
  Status Run(BackgroundJob* job) EXCLUDES(db_mutex);
  // The same for flushes that take effect together.
  Status RunTogether(FlushGroup* flushes) EXCLUDES(db_mutex);

 private:
  void RaiseSpaceLimit() EXCLUDES(db_mutex);
  Status RecordInManifest(BackgroundJob* job) REQUIRES(db_mutex);
  Status RecordInManifest(FlushGroup* flushes) REQUIRES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
};

}  // namespace ashlar
