// SPDX-License-Identifier: Apache-2.0
//
// The marks of a thread form a linked list, innermost first.
#include "db/state/job_thread.h"

#include "db/state/db_core.h"
#include "util/text/str_cat.h"

namespace ashlar {

constinit thread_local const JobThread* JobThread::innermost_ = nullptr;

bool JobThread::Runs(const DbCore* core, Job job) {
  for (const JobThread* mark = innermost_; mark != nullptr; mark = mark->outer_) {
    if (mark->core_ == core && mark->job_ == job) return true;
  }
  return false;
}

// If the pool of flushes has no threads, flushes wait for the threads of compactions.
bool JobThread::HoldsUpFlushes(const DbCore* core) {
  if (Runs(core, Job::kFlush)) return true;
  return Runs(core, Job::kCompaction) &&
         core->environment.env->GetBackgroundThreads(Env::HIGH) == 0;
}

Status JobThread::OwnJob(std::string_view call) {
  return Status::Incomplete(
      StrCat(call,
             ": called by a listener, filter or operator in a background job of this database"),
      "it would wait for that very job");
}

}  // namespace ashlar
