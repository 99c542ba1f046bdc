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

// Purges run in the pool of flushes. If that pool has no threads, both wait for the threads of
// compactions.
bool JobThread::HoldsUpFlushes(const DbCore* core) {
  if (Runs(core, Job::kFlush)) return true;
  const bool is_compaction = Runs(core, Job::kCompaction), is_purge = Runs(core, Job::kPurge);
  if (!is_compaction && !is_purge) return false;
  const int threads = core->environment.env->GetBackgroundThreads(Env::HIGH);
  return threads == 0 || (is_purge && threads == 1);
}

bool JobThread::HoldsUpCompactions(const DbCore* core) {
  if (Runs(core, Job::kCompaction)) return true;
  return Runs(core, Job::kPurge) && core->environment.env->GetBackgroundThreads(Env::HIGH) == 0;
}

Status JobThread::OwnJob(std::string_view call) {
  return Status::Incomplete(
      StrCat(call,
             ": called by a listener, filter or operator in a background job of this database"),
      "it would wait for that very job");
}

}  // namespace ashlar
