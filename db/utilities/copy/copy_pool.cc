// SPDX-License-Identifier: Apache-2.0
//
// Each thread of a call takes the next job until none is left. A job runs while its thread holds
// one of the pool's slots.
#include "db/utilities/copy/copy_pool.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

#include "ashlar/utilities/checkpoint.h"
#include "env/thread_pool.h"
#include "util/threads/thread_team.h"

namespace ashlar {
namespace {

// The pool in whose slot this thread runs a job; null outside of jobs.
constinit thread_local const CopyPool* pool_of_thread = nullptr;

}  // namespace

// A priority can only be lowered, so the normal one and higher ones change nothing.
std::optional<CpuPriority> PriorityOf(const CreateCheckpointOrBackupOptions& options) {
  if (!options.decrease_background_thread_cpu_priority) return std::nullopt;
  if (options.background_thread_cpu_priority >= CpuPriority::kNormal) return std::nullopt;
  return options.background_thread_cpu_priority;
}

// The state that the threads of one call share.
class CopyPool::Work {
 public:
  Work(CopyPool* pool, const Call& call) : pool_(pool), call_(call) {
    assert(pool_ != nullptr);
    assert(call_.count == 0 || call_.job != nullptr);
  }

  void RunJobs() {
    for (size_t i = TakeNumber(); i < call_.count; i = TakeNumber()) {
      const Status status = pool_->RunInSlot([&] { return call_.job(i); });
      if (!status.ok()) Fail(i, status);
    }
  }

  Status first_error() {
    MutexLock lock(&mutex_);
    return first_error_;
  }

 private:
  size_t TakeNumber() {
    // After an error no further job begins. Those that run are not interrupted.
    if (is_over_.load(std::memory_order_relaxed)) return call_.count;
    return next_.fetch_add(1, std::memory_order_relaxed);
  }

  void Fail(size_t job, const Status& status) {
    assert(!status.ok());
    assert(job < call_.count);
    if (call_.after_error == AfterError::kStop) is_over_.store(true, std::memory_order_relaxed);
    MutexLock lock(&mutex_);
    // The error with the smallest number is kept, so the result does not depend on the threads'
    // order.
    if (!first_error_.ok() && failed_job_ < job) return;
    first_error_ = status;
    failed_job_ = job;
  }

  CopyPool* const pool_;
  const Call& call_;
  // Relaxed order is enough: joining the threads makes the results of their jobs visible.
  std::atomic<size_t> next_{0};
  std::atomic<bool> is_over_{false};
  Mutex mutex_{LockRank::kUtility};
  Status first_error_ GUARDED_BY(mutex_);
  size_t failed_job_ GUARDED_BY(mutex_) = 0;
};

CopyPool::CopyPool(int max_jobs_at_once)
    : size_(static_cast<size_t>(std::max(max_jobs_at_once, 1))), free_slots_(size_) {}

// A callback within a job may call Run() again. Then this thread alone runs the inner jobs, in the
// slot that it holds. Other threads would have to wait for slots of their own, which the outer
// call's jobs may hold while they wait for this callback to end.
//
// The calling thread is not one of the workers if their priority is lowered, since a thread's
// priority cannot be raised again.
Status CopyPool::Run(const Call& call) {
  Work work(this, call);
  if (pool_of_thread == this) {
    work.RunJobs();
    return work.first_error();
  }
  const size_t threads = std::min(size_, call.count);
  ThreadTeam team;
  if (call.cpu_priority.has_value()) {
    team.Start(threads, [&](size_t) {
      LowerThreadCpuPriority(*call.cpu_priority);
      work.RunJobs();
    });
    // No thread could be started; then the caller's thread does the work at its own priority.
    if (team.size() == 0) work.RunJobs();
  } else {
    // The calling thread is one of them.
    if (threads > 1) team.Start(threads - 1, [&](size_t) { work.RunJobs(); });
    work.RunJobs();
  }
  team.Join();
  return work.first_error();
}

Status CopyPool::RunInSlot(const std::function<Status()>& job) {
  // The thread of an inner call holds a slot already.
  if (pool_of_thread == this) return job();
  TakeSlot();
  const CopyPool* const outer = std::exchange(pool_of_thread, this);
  const Status status = job();
  assert(pool_of_thread == this);  // calls within the job have put it back
  pool_of_thread = outer;
  GiveSlot();
  return status;
}

void CopyPool::TakeSlot() {
  MutexLock lock(&mutex_);
  while (free_slots_ == 0) is_free_.Wait();
  --free_slots_;
  assert(free_slots_ < size_);
}

void CopyPool::GiveSlot() {
  MutexLock lock(&mutex_);
  assert(free_slots_ < size_);
  ++free_slots_;
  is_free_.Signal();
}

}  // namespace ashlar
