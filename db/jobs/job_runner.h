// SPDX-License-Identifier: Apache-2.0
//
// JobRunner executes a job that has begun, up to its report (background_job.h lists the steps).
//
// Crash: tables and their directory are synced before the MANIFEST names the tables. The files that
// the job made obsolete are released only after the MANIFEST change is durable.
#pragma once

#include <cassert>

#include "db/jobs/background_job.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"

namespace ashlar {

class JobRunner {
 public:
  // Both arguments outlive the runner.
  JobRunner(DbCore* core, WriteControl* writes) : core_(core), writes_(writes) {
    assert(core != nullptr);
    assert(writes != nullptr);
  }

  // Called without locks, in a background thread or in the thread of a call. Returns the status of
  // the job.
  Status Run(BackgroundJob* job) EXCLUDES(db_mutex);

 private:
  DbCore* const core_;
  WriteControl* const writes_;
};

}  // namespace ashlar
