// SPDX-License-Identifier: Apache-2.0
//
// JobThread marks a thread while it runs a background job of a database, for as long as the job is
// counted; threads that help with the job adopt the mark. Code of the program that runs in this
// thread (listeners, filters, merge operators) may call the database, but such a call must not wait
// for jobs that cannot end before this one. It returns OwnJob() instead.
//
// A flush holds up other flushes, and writers that wait for one; a compaction holds up compactions;
// a purge of obsolete files only those who wait for the end of all jobs, unless it has the thread
// that others need. Only calls that are about to wait check for this. Threads: each thread knows
// only its own marks.
#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

#include "ashlar/status.h"
#include "util/threads/thread_mark.h"

namespace ashlar {

struct DbCore;

class JobThread final : public ThreadMark {
 public:
  enum class Job : uint8_t { kFlush, kCompaction, kPurge };

  // A thread may have several marks, if a job calls into another database or CompactFiles().
  JobThread(const DbCore* core, Job job) : core_(core), job_(job) { assert(core_ != nullptr); }

  // Whether the calling thread runs a job of this database that holds up other jobs of that kind.
  static bool HoldsUpFlushes(const DbCore* core);
  static bool HoldsUpCompactions(const DbCore* core);
  static bool HoldsUpAny(const DbCore* core) {
    return Runs(core, Job::kFlush) || Runs(core, Job::kCompaction);
  }
  // Whether it runs any job of this database, so that it would wait in vain for the end of all.
  static bool IsInJob(const DbCore* core) { return HoldsUpAny(core) || Runs(core, Job::kPurge); }
  // The error of a call that would wait for the job in which it is made.
  static Status OwnJob(std::string_view call);

 private:
  static bool Runs(const DbCore* core, Job job);

  const DbCore* const core_;
  const Job job_;
};

}  // namespace ashlar
