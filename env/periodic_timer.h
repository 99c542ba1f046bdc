// SPDX-License-Identifier: Apache-2.0
//
// PeriodicTimer calls tasks at intervals, all of them in one thread, because the periodic tasks of
// databases are short and rare. A child after fork() keeps the tasks; its thread is started when
// the next task is set there.
//
// Threads: any; the thread of the timer calls tasks without locks.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Called by the thread of the timer, one task at a time, without locks. Must be short: it delays
// all other tasks.
class PeriodicTask {
 public:
  virtual ~PeriodicTask() = default;
  virtual void RunPeriodically() = 0;
};

// For work that is due at intervals of seconds or more; it is not exact.
class PeriodicTimer {
 public:
  PeriodicTimer() = default;
  // All tasks must have been removed before.
  ~PeriodicTimer();
  PeriodicTimer(const PeriodicTimer&) = delete;
  PeriodicTimer& operator=(const PeriodicTimer&) = delete;

  // The timer of the process, for all its databases; never destroyed.
  static PeriodicTimer* Default();

  // Calls the task after each period, for the first time after one period. If the task has this
  // period already, nothing changes. 0: removes the task, which may still be running. False: there
  // is no thread to call it.
  bool Set(PeriodicTask* task, uint64_t period_micros);
  // Removes the task. When this returns, the task is not running and will not be called; unless the
  // task itself has called this function.
  void Forget(PeriodicTask* task);

  // For tests: adds to the time of the clock. Returns when all tasks that are due have run.
  void PassTime(uint64_t micros);

 private:
  // `due_micros`: the next call, in time of NowLocked().
  struct Entry {
    PeriodicTask* task;
    uint64_t period_micros;
    uint64_t due_micros;
  };

  // The loop of the thread.
  void Run();
  // Calls all tasks that are due. Releases the mutex during each call.
  void RunDueLocked() REQUIRES(mutex_);
  // Repairs the timer in a child after fork().
  void MendInChild();
  // The monotonic clock, plus what tests have added.
  uint64_t NowLocked() const REQUIRES(mutex_);

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  // The task whose call is running, or null. Forget() waits for it.
  PeriodicTask* called_ GUARDED_BY(mutex_) = nullptr;
  uint64_t passed_micros_ GUARDED_BY(mutex_) = 0;  // added to the time of the clock; see PassTime()
  uint64_t rounds_ GUARDED_BY(mutex_) = 0;         // number of finished passes over all entries
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);  // started with the first task
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
