// SPDX-License-Identifier: Apache-2.0
//
// ThreadPoolImpl: the pool behind NewThreadPool() and behind each priority of the default Env.
//
// Jobs run in order of submission on at most `limit` threads, which are started when there is work
// for them. When the limit falls, the newest threads end after their job. Any thread may call.
//
// A child after fork() has no threads and starts new ones. Jobs, running or queued, are the
// parent's and do not come along.
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

// Where the threads of a pool are listed, and as what.
struct ThreadPlace {
  ThreadStatusUpdater* list = nullptr;  // null: nowhere
  ThreadStatus::ThreadType type = ThreadStatus::USER;
};

// Of the calling thread, which mostly cannot be raised again afterwards. What the system refuses is
// left as it is.
void LowerThreadCpuPriority(CpuPriority priority);

class ThreadPoolImpl : public ThreadPool {
 public:
  // `name` shows in debuggers; cut to what the system allows.
  explicit ThreadPoolImpl(std::string name, int limit = 0, ThreadPlace place = {});
  // Joins; queued jobs are dropped.
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

  // As Env::Schedule and Env::UnSchedule.
  void Schedule(void (*function)(void*), void* arg, void* tag, void (*unschedule)(void*));
  int UnSchedule(void* tag);
  // Raises the limit to `num`, never lowers it.
  void IncBackgroundThreadsIfNeeded(int num);

  // Take effect for each thread before its next job; priorities are never raised again.
  void LowerIOPriority();
  void LowerCPUPriority(CpuPriority priority);

 private:
  struct Job {
    std::function<void()> run;
    void* tag = nullptr;
    std::function<void()> unschedule;
  };

  void Submit(Job job);
  void StartThreadsLocked() REQUIRES(mutex_);
  bool StartThreadLocked() REQUIRES(mutex_);
  void SetLimitLocked(int num) REQUIRES(mutex_);
  void RunWorker(size_t index);
  // False: the thread is to end.
  bool TakeJob(size_t index, Job* job);
  bool IsExcessLocked(size_t index) const REQUIRES(mutex_);
  void ApplyPriorities();
  void Join(bool finish_jobs);
  void MendInChild();

  const std::string name_;
  const ThreadPlace place_;
  mutable Mutex mutex_{LockRank::kThreadPool};
  CondVar wake_{&mutex_};
  std::deque<Job> queue_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);  // by index; only the last may end
  size_t limit_ GUARDED_BY(mutex_);
  size_t idle_ GUARDED_BY(mutex_) = 0;      // threads waiting for a job
  size_t reserved_ GUARDED_BY(mutex_) = 0;  // of these, not to be given one
  bool is_ending_ GUARDED_BY(mutex_) = false;
  bool finish_jobs_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> low_io_priority_{false};
  std::atomic<CpuPriority> cpu_priority_{CpuPriority::kNormal};
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
