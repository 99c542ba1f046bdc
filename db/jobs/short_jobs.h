// SPDX-License-Identifier: Apache-2.0
//
// Where flushes and other short jobs run: in the pool HIGH; in that of compactions, LOW, if the
// program has taken all threads from the former.
#pragma once

#include "ashlar/env.h"

namespace ashlar {

// `tag`: of no compaction, nor of another kind of job.
inline void ScheduleShortJob(Env* env, void (*function)(void*), void* arg, void* tag) {
  const bool has_own_pool = env->GetBackgroundThreads(Env::Priority::HIGH) > 0;
  env->Schedule(function, arg, has_own_pool ? Env::Priority::HIGH : Env::Priority::LOW, tag);
}

// How many with this tag had not begun, and never will.
inline int UnScheduleShortJobs(Env* env, void* tag) {
  return env->UnSchedule(tag, Env::Priority::HIGH) + env->UnSchedule(tag, Env::Priority::LOW);
}

}  // namespace ashlar
