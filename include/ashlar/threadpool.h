// SPDX-License-Identifier: Apache-2.0
//
// ThreadPool runs submitted jobs on a bounded number of threads, in the order they were submitted.
// All members may be called from any thread, except that nothing may be called during or after the
// destructor. NewThreadPool() makes the usual one; the caller deletes it.
#pragma once

#include <functional>

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_EXPORT ThreadPool {
 public:
  virtual ~ThreadPool();

  // Waits for the jobs that already run; jobs still queued are dropped.
  virtual void JoinAllThreads() = 0;

  // Grows or shrinks the pool. A thread that is too many ends after its current job.
  virtual void SetBackgroundThreads(int num) = 0;
  virtual int GetBackgroundThreads() = 0;

  // Jobs waiting for a thread.
  virtual unsigned int GetQueueLen() const = 0;

  // Runs everything queued, then joins the threads.
  virtual void WaitForJobsAndJoinAllThreads() = 0;

  virtual void SubmitJob(const std::function<void()>&) = 0;
  virtual void SubmitJob(std::function<void()>&&) = 0;

  // Takes up to `threads` idle threads out of service for the caller's own use, or gives them back.
  // Returns how many. A pool without the feature answers 0.
  virtual int ReserveThreads(int /*threads*/) { return 0; }
  virtual int ReleaseThreads(int /*threads*/) { return 0; }
};

ASHLAR_EXPORT ThreadPool* NewThreadPool(int num_threads);

}  // namespace ashlar
