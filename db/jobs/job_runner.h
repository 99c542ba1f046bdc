// SPDX-License-Identifier: Apache-2.0
//
// JobRunner takes a compaction or a group of flushes from where it has begun to its report.
//
// Crash: tables are synced, and so is their directory, before the MANIFEST names them; what a job
// made obsolete is released only after that.
#pragma once

#include "db/jobs/background_job.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class JobRunner {
 public:
  // Both outlive the runner.
  JobRunner(DbCore* core, WriteControl* writes) : core_(core), writes_(writes) {}

  // Without locks, in a background thread or that of a call. Returns what became of the job.
  Status Run(BackgroundJob* job) EXCLUDES(db_mutex);

 private:
  DbCore* const core_;
  WriteControl* const writes_;
};

}  // namespace ashlar
