// SPDX-License-Identifier: Apache-2.0
//
// FlushRunner flushes the sealed memtables of a family: picks them, runs the job without locks,
// installs the new table, and lets the logs go that nobody needs any more.
//
// Crash: the memtables' logs are released only after the MANIFEST names the table, durably.
#pragma once

#include "db/flush/flush_job.h"
#include "db/state/db_core.h"

namespace ashlar {

class FlushRunner {
 public:
  explicit FlushRunner(DbCore* core) : core_(core) {}

  // In a background thread. True if a table was added.
  bool Run(ColumnFamilyData* family) EXCLUDES(db_mutex);
  // Whether sealed memtables wait that no job has taken.
  bool WantsFlushLocked(ColumnFamilyData* family) const REQUIRES(db_mutex);

 private:
  struct Job;
  void Begin(ColumnFamilyData* family, Job* job) REQUIRES(db_mutex);
  Status Write(Job* job);
  Status SyncDirectories(const Job& job);
  Status Install(Job* job) REQUIRES(db_mutex);
  uint64_t MinLogNumberAfter(const ColumnFamilyData* flushed, uint64_t log_number) const
      REQUIRES(db_mutex);
  void Report(const Job& job, const Status& status);

  DbCore* const core_;
};

}  // namespace ashlar
