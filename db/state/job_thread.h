// SPDX-License-Identifier: Apache-2.0
//
// JobThread marks a thread while it runs a flush or a compaction of a database: what a program's
// code in it (listeners, filters, merge operators) calls of that database must not wait for jobs
// that this one holds up, for they end after it. Such calls answer with OwnJob() instead.
//
// Flushes hold up flushes, and writers that wait for one; compactions hold up compactions. Only
// calls that are about to wait ask. Threads: each knows its own marks.
#pragma once

#include <cstdint>
#include <string_view>

#include "ashlar/status.h"

namespace ashlar {

struct DbCore;

class JobThread {
 public:
  enum class Job : uint8_t { kFlush, kCompaction };

  JobThread(const DbCore* core, Job job) : core_(core), job_(job), outer_(innermost_) {
    innermost_ = this;
  }
  ~JobThread() { innermost_ = outer_; }
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  // Whether the calling thread runs a job of this database that holds up others of that kind.
  static bool HoldsUpFlushes(const DbCore* core);
  static bool HoldsUpCompactions(const DbCore* core) { return Runs(core, Job::kCompaction); }
  static bool HoldsUpAny(const DbCore* core) {
    return Runs(core, Job::kFlush) || Runs(core, Job::kCompaction);
  }
  // What a call answers that would wait there.
  static Status OwnJob(std::string_view call);

 private:
  static bool Runs(const DbCore* core, Job job);
  static constinit thread_local const JobThread* innermost_;

  const DbCore* const core_;
  const Job job_;
  const JobThread* const outer_;  // a job may call into another database, or compact files
};

}  // namespace ashlar
