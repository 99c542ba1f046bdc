// SPDX-License-Identifier: Apache-2.0
//
// The list of tasks is short, so that it is searched linearly. Times are those of the monotonic
// clock, which is not affected by setting the time of day.
#include "env/periodic_timer.h"

#include <algorithm>
#include <cassert>
#include <exception>

#include "ashlar/system_clock.h"
#include "util/threads/simulated.h"

namespace ashlar {

// Never destroyed: its thread may run until the process ends.
PeriodicTimer* PeriodicTimer::Default() {
  static auto* timer = new PeriodicTimer;
  return timer;
}

// The mutex is free while the thread is awaited.
PeriodicTimer::~PeriodicTimer() {
  std::thread thread;
  {
    MutexLock lock(&mutex_);
    assert(entries_.empty());
    is_stopping_ = true;
    changed_.SignalAll();
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

void PeriodicTimer::MendInChild() NO_THREAD_SAFETY_ANALYSIS {
  changed_.ForgetWaiters();
  if (thread_.get_id() == std::this_thread::get_id()) return;  // a task called fork()
  ForgetThread(&thread_);
  called_ = nullptr;
}

uint64_t PeriodicTimer::NowLocked() const {
  return SystemClock::Default()->NowNanos() / 1000 + passed_micros_;
}

// A changed period starts a new interval, even if the old one had nearly passed.
bool PeriodicTimer::Set(PeriodicTask* task, uint64_t period_micros) {
  MutexLock lock(&mutex_);
  assert(!is_stopping_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [task](const Entry& entry) { return entry.task == task; });
  const bool is_known = found != entries_.end() && found->period_micros == period_micros;
  if (is_known && thread_.joinable()) return true;
  if (found != entries_.end()) entries_.erase(found);
  if (period_micros == 0) return true;
  if (IsSimulated()) return false;  // a simulation allows no threads of its own
  if (!thread_.joinable()) {
    try {
      // On failure the task is not added, and the caller works without its periodic calls.
      thread_ = std::thread([this] { Run(); });
    } catch (const std::exception&) {
      return false;
    }
  }
  entries_.push_back({task, period_micros, NowLocked() + period_micros});
  changed_.SignalAll();
  return true;
}

void PeriodicTimer::Forget(PeriodicTask* task) {
  MutexLock lock(&mutex_);
  // NO_THREAD_SAFETY_ANALYSIS: the lambda runs under the mutex, which the analysis cannot see.
  const auto erase = [this, task]() NO_THREAD_SAFETY_ANALYSIS {
    std::erase_if(entries_, [task](const Entry& entry) { return entry.task == task; });
  };
  erase();
  // The task itself called: it is running, and cannot wait for its own end.
  if (thread_.get_id() == std::this_thread::get_id()) return;
  while (called_ == task) changed_.Wait();
  erase();  // the task may have been set again during the call
}

void PeriodicTimer::PassTime(uint64_t micros) {
  MutexLock lock(&mutex_);
  passed_micros_ += micros;
  // A round that is in progress may have read the clock before the time passed, so that the round
  // after it must be awaited.
  const uint64_t wanted = rounds_ + (called_ == nullptr ? 1 : 2);
  changed_.SignalAll();
  while (thread_.joinable() && rounds_ < wanted) {
    changed_.SignalAll();
    changed_.Wait();
  }
}

// The mutex is released while a task runs, and entries may be added or removed meanwhile. Therefore
// the search starts from the beginning after each call.
void PeriodicTimer::RunDueLocked() {
  const uint64_t now = NowLocked();
  for (;;) {
    const auto due = std::find_if(entries_.begin(), entries_.end(),
                                  [now](const Entry& entry) { return entry.due_micros <= now; });
    if (due == entries_.end() || is_stopping_) return;
    // Missed calls are not made up for.
    due->due_micros = now + due->period_micros;
    PeriodicTask* const task = due->task;
    called_ = task;
    {
      MutexUnlock unlock(&mutex_);
      task->RunPeriodically();
    }
    called_ = nullptr;
    changed_.SignalAll();
  }
}

void PeriodicTimer::Run() {
  MutexLock lock(&mutex_);
  while (!is_stopping_) {
    RunDueLocked();
    rounds_++;
    changed_.SignalAll();
    if (is_stopping_) return;
    // Time of the next task; no task: wait until one is set.
    uint64_t next = UINT64_MAX;
    for (const Entry& entry : entries_) next = std::min(next, entry.due_micros);
    const uint64_t now = NowLocked();
    if (next == UINT64_MAX) {
      changed_.Wait();
    } else if (next > now) {
      changed_.WaitFor(next - now);
    }
  }
}

}  // namespace ashlar
