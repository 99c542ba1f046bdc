// SPDX-License-Identifier: Apache-2.0
//
// PeriodicTimer calls tasks at intervals, all of them in one thread: what databases do by the clock
// is short and rare. A child after fork() has the tasks; its thread starts with the next one that
// is set there.
//
// Threads: any; tasks are called by the thread of the timer, without locks.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

class PeriodicTask {
 public:
  virtual ~PeriodicTask() = default;
  virtual void RunPeriodically() = 0;
};

class PeriodicTimer {
 public:
  PeriodicTimer() = default;
  // Nobody is to be called any more.
  ~PeriodicTimer();
  PeriodicTimer(const PeriodicTimer&) = delete;
  PeriodicTimer& operator=(const PeriodicTimer&) = delete;

  // That of the process, for all its databases; never destroyed.
  static PeriodicTimer* Default();

  // Calls the task each time so much has passed, for the first time when it has; a task that has
  // this period already goes on. 0: no more, though it may still be running. False: there is no
  // thread to call it.
  bool Set(PeriodicTask* task, uint64_t period_micros);
  // It is not called any more when this returns, and does not run; unless it calls this itself.
  void Forget(PeriodicTask* task);

  // For tests: it is so much later than the clock says. Returns when what is due has run.
  void PassTime(uint64_t micros);

 private:
  struct Entry {
    PeriodicTask* task;
    uint64_t period_micros;
    uint64_t due_micros;
  };

  void Run();
  void RunDueLocked() REQUIRES(mutex_);
  void MendInChild();
  uint64_t NowLocked() const REQUIRES(mutex_);

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  PeriodicTask* called_ GUARDED_BY(mutex_) = nullptr;
  uint64_t passed_micros_ GUARDED_BY(mutex_) = 0;  // besides what the clock says
  uint64_t rounds_ GUARDED_BY(mutex_) = 0;         // looks at all entries, finished
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);  // from the first task on
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
