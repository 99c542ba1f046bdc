// SPDX-License-Identifier: Apache-2.0
//
// CopyPool runs jobs, one for each file that is copied or verified, on several threads.
//
// Each call of Run() starts its own threads and joins them. A limit on the number of running jobs
// applies to all calls together. The calling thread runs all jobs if the limit is one, in a
// simulation, if no thread can be started, and if it runs a job of the pool itself. No lock is held
// while a job runs.
//
// Threads: Run() may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "ashlar/port_defs.h"
#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

struct CreateCheckpointOrBackupOptions;

// The priority of the copying threads that the program asks for; nullopt: unchanged.
std::optional<CpuPriority> PriorityOf(const CreateCheckpointOrBackupOptions& options);

class CopyPool {
 public:
  // Whether the jobs that have not begun are run after one job has failed.
  enum class AfterError : bool { kStop, kGoOn };

  struct Call {
    size_t count = 0;
    std::function<Status(size_t)> job;  // called with 0 to count - 1; must not throw
    AfterError after_error = AfterError::kStop;
    // The priority of the threads that run the jobs. The calling thread then runs no jobs, because
    // a process may lower the priority of a thread but not raise it again.
    std::optional<CpuPriority> cpu_priority = std::nullopt;
  };

  // A limit below 1 means 1.
  explicit CopyPool(int max_jobs_at_once);
  CopyPool(const CopyPool&) = delete;
  CopyPool& operator=(const CopyPool&) = delete;

  // Returns after all jobs that have begun are finished. If jobs failed, returns the status of the
  // failed job with the smallest number.
  Status Run(const Call& call);

 private:
  class Work;

  // Waits until fewer jobs than the limit run, and runs the job in this thread.
  Status RunInSlot(const std::function<Status()>& job);
  void TakeSlot();
  void GiveSlot();

  // The limit on jobs that run at once, in all calls together.
  const size_t size_;
  Mutex mutex_{LockRank::kUtility};
  CondVar is_free_{&mutex_};
  size_t free_slots_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
