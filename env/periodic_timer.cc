// SPDX-License-Identifier: Apache-2.0
//
// A list of tasks is short: it is walked. Time is that of the machine, which goes on when the time
// of day is set.
#include "env/periodic_timer.h"

#include <algorithm>
#include <cassert>
#include <exception>

#include "ashlar/system_clock.h"
#include "util/threads/simulated.h"

namespace ashlar {

// Its thread may run until the process is gone.
PeriodicTimer* PeriodicTimer::Default() {
  static auto* timer = new PeriodicTimer;
  return timer;
}

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
  if (thread_.get_id() == std::this_thread::get_id()) return;  // a task forked
  ForgetThread(&thread_);
  called_ = nullptr;
}

uint64_t PeriodicTimer::NowLocked() const {
  return SystemClock::Default()->NowNanos() / 1000 + passed_micros_;
}

bool PeriodicTimer::Set(PeriodicTask* task, uint64_t period_micros) {
  MutexLock lock(&mutex_);
  assert(!is_stopping_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [task](const Entry& entry) { return entry.task == task; });
  const bool is_known = found != entries_.end() && found->period_micros == period_micros;
  if (is_known && thread_.joinable()) return true;
  if (found != entries_.end()) entries_.erase(found);
  if (period_micros == 0) return true;
  if (IsSimulated()) return false;  // a simulation has no other threads
  if (!thread_.joinable()) {
    try {
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
  const auto erase = [this, task]() NO_THREAD_SAFETY_ANALYSIS {
    std::erase_if(entries_, [task](const Entry& entry) { return entry.task == task; });
  };
  erase();
  if (thread_.get_id() == std::this_thread::get_id()) return;
  while (called_ == task) changed_.Wait();
  erase();  // it may have come back during the call
}

void PeriodicTimer::PassTime(uint64_t micros) {
  MutexLock lock(&mutex_);
  passed_micros_ += micros;
  // A round that is under way may have looked at the clock before.
  const uint64_t wanted = rounds_ + (called_ == nullptr ? 1 : 2);
  changed_.SignalAll();
  while (thread_.joinable() && rounds_ < wanted) {
    changed_.SignalAll();
    changed_.Wait();
  }
}

// An entry may go, and others may come, while one is called.
void PeriodicTimer::RunDueLocked() {
  const uint64_t now = NowLocked();
  for (;;) {
    const auto due = std::find_if(entries_.begin(), entries_.end(),
                                  [now](const Entry& entry) { return entry.due_micros <= now; });
    if (due == entries_.end() || is_stopping_) return;
    // Late ones are not made up for.
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
