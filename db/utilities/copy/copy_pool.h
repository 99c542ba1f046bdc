// SPDX-License-Identifier: Apache-2.0
//
// CopyPool runs jobs, one for each file to copy or to check, on a few threads.
//
// The threads of a call live as long as the call. All calls together run at most as many jobs at a
// time as the pool allows. With a pool of one the caller does everything itself, as it does in a
// simulation or where the system gives no threads. No lock is held while a job runs.
//
// Threads: any number may call Run().
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "ashlar/port_defs.h"
#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

class CopyPool {
 public:
  // What the rest of a call's jobs do when one of them has failed.
  enum class AfterError : bool { kStop, kGoOn };

  struct Call {
    size_t count = 0;
    std::function<Status(size_t)> job;  // of 0 to count - 1; must not throw
    AfterError after_error = AfterError::kStop;
    // Lowers the priority of the threads that run the jobs. The caller's thread could not be
    // raised again, so it runs none then.
    std::optional<CpuPriority> cpu_priority = std::nullopt;
  };

  // Below 1 counts as 1.
  explicit CopyPool(int max_jobs_at_once);
  CopyPool(const CopyPool&) = delete;
  CopyPool& operator=(const CopyPool&) = delete;

  // Returns when all jobs that were begun have ended: the error of the failed job with the smallest
  // number.
  Status Run(const Call& call);

 private:
  class Work;

  Status RunInSlot(const std::function<Status()>& job);
  void TakeSlot();
  void GiveSlot();

  const size_t size_;
  Mutex mutex_{LockRank::kUtility};
  CondVar is_free_{&mutex_};
  size_t free_slots_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
