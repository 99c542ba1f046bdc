// SPDX-License-Identifier: Apache-2.0
//
// The pool for flushes and other short jobs: HIGH, or the pool of compactions, LOW, if the program
// has removed all threads of HIGH.
#pragma once

#include "ashlar/env.h"

#include <cassert>

namespace ashlar {

// `tag`: for UnScheduleShortJobs(). Not shared with compactions or with another kind of job.
inline void ScheduleShortJob(Env* env, void (*function)(void*), void* arg, void* tag) {
  assert(env != nullptr);
  const bool has_own_pool = env->GetBackgroundThreads(Env::Priority::HIGH) > 0;
  env->Schedule(function, arg, has_own_pool ? Env::Priority::HIGH : Env::Priority::LOW, tag);
}

// Removes the jobs with this tag that have not begun. Returns how many there were.
inline int UnScheduleShortJobs(Env* env, void* tag) {
  return env->UnSchedule(tag, Env::Priority::HIGH) + env->UnSchedule(tag, Env::Priority::LOW);
}

}  // namespace ashlar
