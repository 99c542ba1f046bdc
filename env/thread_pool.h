// SPDX-License-Identifier: Apache-2.0
//
// ThreadPoolImpl: the pool of NewThreadPool() and of each priority of the default Env.
//
// Jobs run in the order of their submission on at most `limit` threads, which are started when
// there is work for them. If the limit is lowered, the newest threads end after their present job.
// Any thread may call.
//
// A child after fork() has no threads, and starts new ones. Jobs of the parent, running or queued,
// are not in the child.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/thread_status.h"
#include "ashlar/threadpool.h"
#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The list in which the threads of a pool appear, and the type that they have there. The list
// outlives the pool.
struct ThreadPlace {
  ThreadStatusUpdater* list = nullptr;  // null: they are not listed
  ThreadStatus::ThreadType type = ThreadStatus::USER;
};

// Lowers the priority of the calling thread, which usually cannot be raised again. If the system
// refuses, nothing changes.
void LowerThreadCpuPriority(CpuPriority priority);

// Owns its threads. Jobs run without any lock of the pool; an exception of a job ends the process.
class ThreadPoolImpl : public ThreadPool {
 public:
  // `name` is shown by debuggers; it is cut to the length that the system permits.
  explicit ThreadPoolImpl(std::string name, int limit = 0, ThreadPlace place = {});
  // Joins the threads; queued jobs are dropped.
  ~ThreadPoolImpl() override;

  void JoinAllThreads() override;
  void SetBackgroundThreads(int num) override;
  int GetBackgroundThreads() override;
  unsigned int GetQueueLen() const override;
  void WaitForJobsAndJoinAllThreads() override;
  void SubmitJob(const std::function<void()>& job) override;
  void SubmitJob(std::function<void()>&& job) override;
  int ReserveThreads(int threads) override;
  int ReleaseThreads(int threads) override;

  // Like Env::Schedule() and Env::UnSchedule().
  void Schedule(void (*function)(void*), void* arg, void* tag, void (*unschedule)(void*));
  // Removes the queued jobs with this tag, calls their `unschedule` functions, and returns their
  // number. Jobs that run already are not affected.
  int UnSchedule(void* tag);
  // Raises the limit to `num`; never lowers it.
  void IncBackgroundThreadsIfNeeded(int num);

  // Each thread lowers its priority before its next job; priorities are never raised again.
  void LowerIOPriority();
  void LowerCPUPriority(CpuPriority priority);

 private:
  // `unschedule` may be empty. The tag only serves for comparison.
  struct Job {
    std::function<void()> run;
    void* tag = nullptr;
    std::function<void()> unschedule;
  };

  // Queues the job and starts a thread for it if that is allowed.
  void Submit(Job job);
  // Starts threads until each queued job and each reservation has one, up to the limit.
  void StartThreadsLocked() REQUIRES(mutex_);
  // Returns false if the system has no thread left.
  bool StartThreadLocked() REQUIRES(mutex_);
  // Negative numbers count as 0.
  void SetLimitLocked(int num) REQUIRES(mutex_);
  void RunWorker(size_t index);
  // Waits for a job. False: the thread must end.
  bool TakeJob(size_t index, Job* job);
  // True if the thread is above the limit and must end.
  bool IsExcessLocked(size_t index) const REQUIRES(mutex_);
  // Gives the calling thread the priorities that were set for the pool.
  void ApplyPriorities();
  // Ends all threads; `finish_jobs`: after the queued jobs. The pool can be used again afterwards.
  void Join(bool finish_jobs);
  // Repairs the pool in a child after fork().
  void MendInChild();

  const std::string name_;
  const ThreadPlace place_;
  mutable Mutex mutex_{LockRank::kThreadPool};
  // Signalled for a job, for a changed limit or reservation, and at the end.
  CondVar wake_{&mutex_};
  std::deque<Job> queue_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);  // by index; only the last one may end
  size_t limit_ GUARDED_BY(mutex_);
  size_t idle_ GUARDED_BY(mutex_) = 0;      // threads that wait for a job
  size_t reserved_ GUARDED_BY(mutex_) = 0;  // idle threads that are reserved and get no job
  bool is_ending_ GUARDED_BY(mutex_) = false;
  bool finish_jobs_ GUARDED_BY(mutex_) = false;
  // Written by any thread, read by the pool's threads before each job. Relaxed: nothing else
  // depends on them.
  std::atomic<bool> low_io_priority_{false};
  std::atomic<CpuPriority> cpu_priority_{CpuPriority::kNormal};
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
