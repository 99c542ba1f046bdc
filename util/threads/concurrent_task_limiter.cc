// SPDX-License-Identifier: Apache-2.0
//
// Tokens are counted by compare-and-swap, so that two threads together cannot exceed the limit. A
// waiter checks for room again after it has been added to the list, and a thread that returns a
// token looks at the list afterwards. Therefore one of the two notices the other.
#include "util/threads/concurrent_task_limiter.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

namespace ashlar {
namespace {

// The existing limiters of this class. A program may also pass a limiter of its own class, which
// must not be cast.
struct Registry {
  Mutex mutex{LockRank::kLeaf};
  std::unordered_set<ConcurrentTaskLimiter*> limiters GUARDED_BY(mutex);
};

// Never destroyed: limiters in static variables may outlive it otherwise.
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

// On failure of the exchange `tasks` is the present number, and the limit is checked again.
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
  // The check comes after the insertion; see the head of this file.
  if (!HasRoom()) return true;
  std::erase(waiters_, waiter);
  return false;
}

// A notification that is running may use the waiter, so that its end is awaited.
void TaskLimiter::Forget(Waiter* waiter) {
  MutexLock lock(&mutex_);
  std::erase(waiters_, waiter);
  while (telling_ > 0) told_.Wait();
}

// The waiters are called without the mutex, because they take locks of their databases. All are
// notified, although there may be room for one: the others wait again.
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
