// SPDX-License-Identifier: Apache-2.0
#include "db/state/job_thread.h"

#include "db/state/db_core.h"
#include "util/text/str_cat.h"

namespace ashlar {

// All marks of threads are JobThreads.
bool JobThread::Runs(const DbCore* core, Job job) {
  for (const ThreadMark* mark = Innermost(); mark != nullptr; mark = mark->outer()) {
    const auto* const thread = static_cast<const JobThread*>(mark);
    if (thread->core_ == core && thread->job_ == job) return true;
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
