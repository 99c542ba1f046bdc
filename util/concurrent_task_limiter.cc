// SPDX-License-Identifier: Apache-2.0
//
// Tokens by compare-and-swap, so that the limit is never exceeded by two takers at once.
#include "util/concurrent_task_limiter.h"

#include <cassert>

namespace ashlar {

TaskLimiter::~TaskLimiter() { assert(GetOutstandingTask() == 0); }

std::unique_ptr<TaskLimiter::Token> TaskLimiter::Take(bool force) {
  int32_t tasks = GetOutstandingTask();
  for (;;) {
    const int32_t limit = limit_.load(std::memory_order_relaxed);
    if (!force && limit >= 0 && tasks >= limit) return nullptr;
    if (outstanding_.compare_exchange_weak(tasks, tasks + 1, std::memory_order_relaxed)) {
      return std::make_unique<Token>(this);
    }
  }
}

ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name, int32_t limit) {
  return new TaskLimiter(name, limit);
}

}  // namespace ashlar
