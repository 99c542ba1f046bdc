// SPDX-License-Identifier: Apache-2.0
//
// ThreadPool runs jobs on a limited number of threads, in the order in which they were submitted.
// Thread safe, except that no member may be called during or after the destructor. NewThreadPool()
// creates a pool; the caller deletes it.
#pragma once

#include <functional>

#include "ashlar/export.h"

namespace ashlar {

// Runs jobs in a limited number of threads.
class ASHLAR_EXPORT ThreadPool {
 public:
  virtual ~ThreadPool();

  // Waits for running jobs to end and stops all threads. Jobs in the queue are dropped.
  virtual void JoinAllThreads() = 0;

  // Sets the number of threads. A surplus thread ends after its current job.
  virtual void SetBackgroundThreads(int num) = 0;
  virtual int GetBackgroundThreads() = 0;

  // Number of jobs that wait for a thread.
  virtual unsigned int GetQueueLen() const = 0;

  // Runs all jobs in the queue, then stops all threads.
  virtual void WaitForJobsAndJoinAllThreads() = 0;

  // Adds a job to the queue.
  virtual void SubmitJob(const std::function<void()>&) = 0;
  virtual void SubmitJob(std::function<void()>&&) = 0;

  // Reserve up to `threads` idle threads for the caller, which then take no jobs, or release them.
  // Return the number of threads that were reserved or released; 0 from pools without this feature.
  virtual int ReserveThreads(int /*threads*/) { return 0; }
  virtual int ReleaseThreads(int /*threads*/) { return 0; }
};

// Creates a pool with this many threads.
ASHLAR_EXPORT ThreadPool* NewThreadPool(int num_threads);

}  // namespace ashlar
