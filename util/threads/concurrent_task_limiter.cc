// SPDX-License-Identifier: Apache-2.0
//
// Tokens by compare-and-swap, so that the limit is never exceeded by two takers at once. Whoever
// waits looks again after it is in the list, and whoever gives back looks into the list after it
// has given: so one of the two sees the other.
#include "util/threads/concurrent_task_limiter.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

namespace ashlar {
namespace {

// Those that live: a program may hand in one that it wrote itself.
struct Registry {
  Mutex mutex{LockRank::kLeaf};
  std::unordered_set<ConcurrentTaskLimiter*> limiters GUARDED_BY(mutex);
};

Registry& Limiters() {
  static auto* const registry = new Registry();
  return *registry;
}

}  // namespace

TaskLimiter::TaskLimiter(const std::string& name, int32_t limit) : name_(name), limit_(limit) {
  MutexLock lock(&Limiters().mutex);
  Limiters().limiters.insert(this);
}

TaskLimiter::~TaskLimiter() {
  assert(GetOutstandingTask() == 0);
  MutexLock lock(&Limiters().mutex);
  Limiters().limiters.erase(this);
}

TaskLimiter* TaskLimiter::From(ConcurrentTaskLimiter* limiter) {
  MutexLock lock(&Limiters().mutex);
  return Limiters().limiters.contains(limiter) ? static_cast<TaskLimiter*>(limiter) : nullptr;
}

std::unique_ptr<TaskLimiter::Token> TaskLimiter::Take(bool force) {
  int32_t tasks = GetOutstandingTask();
  for (;;) {
    const int32_t limit = limit_.load(std::memory_order_relaxed);
    if (!force && limit >= 0 && tasks >= limit) return nullptr;
    if (outstanding_.compare_exchange_weak(tasks, tasks + 1, std::memory_order_seq_cst)) {
      return std::make_unique<Token>(this);
    }
  }
}

bool TaskLimiter::Await(Waiter* waiter) {
  assert(waiter != nullptr);
  MutexLock lock(&mutex_);
  const bool is_new = std::find(waiters_.begin(), waiters_.end(), waiter) == waiters_.end();
  if (is_new) waiters_.push_back(waiter);
  if (!HasRoom()) return true;
  std::erase(waiters_, waiter);
  return false;
}

void TaskLimiter::Forget(Waiter* waiter) {
  MutexLock lock(&mutex_);
  std::erase(waiters_, waiter);
  while (telling_ > 0) told_.Wait();
}

void TaskLimiter::TellWaiters() {
  std::vector<Waiter*> waiters;
  {
    MutexLock lock(&mutex_);
    if (waiters_.empty() || !HasRoom()) return;
    waiters.swap(waiters_);
    telling_++;
  }
  for (Waiter* waiter : waiters) waiter->OnRoom();
  MutexLock lock(&mutex_);
  assert(telling_ > 0);
  telling_--;
  told_.SignalAll();
}

ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name, int32_t limit) {
  return new TaskLimiter(name, limit);
}

}  // namespace ashlar
