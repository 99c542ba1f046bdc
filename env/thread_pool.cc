// SPDX-License-Identifier: Apache-2.0
//
// The thread pool has one mutex, one queue and one condition variable. A job takes much longer than
// the lock, so that nothing finer is needed.
#include "env/thread_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "env/thread_list.h"

namespace ashlar {

namespace {

// Linux only: gives the thread the I/O class "idle", which is served when no other process needs
// the device. Errors are ignored: then the pool competes with other threads more than requested.
void SetIdleIOPriority() {
#ifdef SYS_ioprio_set
  constexpr int kWhoThread = 1, kClassIdle = 3, kClassShift = 13;
  syscall(SYS_ioprio_set, kWhoThread, 0, kClassIdle << kClassShift);
#endif
}

// The "nice" values of the system: greater means lower priority.
int NiceValueOf(CpuPriority priority) {
  switch (priority) {
    case CpuPriority::kIdle: return 19;
    case CpuPriority::kLow: return 10;
    case CpuPriority::kNormal: return 0;
    case CpuPriority::kHigh: return -10;
  }
  return 0;
}

}  // namespace

// Errors are ignored: without the right to change priorities, the thread keeps its own.
void LowerThreadCpuPriority(CpuPriority priority) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), NiceValueOf(priority));
}

ThreadPool::~ThreadPool() = default;

ThreadPoolImpl::ThreadPoolImpl(std::string name, int limit, ThreadPlace place)
    : name_(std::move(name)), place_(place), limit_(static_cast<size_t>(std::max(limit, 0))) {}

ThreadPoolImpl::~ThreadPoolImpl() { Join(/*finish_jobs=*/false); }

void ThreadPoolImpl::JoinAllThreads() { Join(/*finish_jobs=*/false); }
void ThreadPoolImpl::WaitForJobsAndJoinAllThreads() { Join(/*finish_jobs=*/true); }

// The threads are joined without the mutex, which they need to end.
void ThreadPoolImpl::Join(bool finish_jobs) {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mutex_);
    is_ending_ = true;
    finish_jobs_ = finish_jobs;
    if (!finish_jobs) queue_.clear();
    wake_.SignalAll();
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(&mutex_);
  is_ending_ = false;  // the pool may be used again
  reserved_ = 0;
}

// Another thread that reserved or joined threads does not exist in the child, so that its requests
// are dropped. Queued jobs are left to the parent: if both processes ran them, both would write the
// same files.
void ThreadPoolImpl::MendInChild() NO_THREAD_SAFETY_ANALYSIS {
  for (std::thread& thread : threads_) ForgetThread(&thread);
  threads_.clear();
  queue_.clear();
  wake_.ForgetWaiters();
  idle_ = 0;
  reserved_ = 0;
  is_ending_ = false;
}

void ThreadPoolImpl::SetBackgroundThreads(int num) {
  MutexLock lock(&mutex_);
  SetLimitLocked(num);
}

void ThreadPoolImpl::IncBackgroundThreadsIfNeeded(int num) {
  MutexLock lock(&mutex_);
  if (num > 0 && static_cast<size_t>(num) > limit_) SetLimitLocked(num);
}

// Takes effect at once for new threads; a thread above the limit ends when its job is done.
void ThreadPoolImpl::SetLimitLocked(int num) {
  limit_ = static_cast<size_t>(std::max(num, 0));
  wake_.SignalAll();  // threads above the limit end, one after the other
  StartThreadsLocked();
}

int ThreadPoolImpl::GetBackgroundThreads() {
  MutexLock lock(&mutex_);
  return static_cast<int>(limit_);
}

unsigned int ThreadPoolImpl::GetQueueLen() const {
  MutexLock lock(&mutex_);
  return static_cast<unsigned int>(queue_.size());
}

void ThreadPoolImpl::SubmitJob(const std::function<void()>& job) { Submit({job, nullptr, {}}); }
void ThreadPoolImpl::SubmitJob(std::function<void()>&& job) {
  Submit({std::move(job), nullptr, {}});
}

// Two ways to call one function: the pool's own interface and that of Env.
void ThreadPoolImpl::Schedule(void (*function)(void*), void* arg, void* tag,
                              void (*unschedule)(void*)) {
  Job job;
  job.run = [function, arg] { function(arg); };
  job.tag = tag;
  if (unschedule != nullptr) job.unschedule = [unschedule, arg] { unschedule(arg); };
  Submit(std::move(job));
}

void ThreadPoolImpl::Submit(Job job) {
  MutexLock lock(&mutex_);
  // The pool is being joined: the job is dropped, as if it had come before.
  if (is_ending_) return;
  queue_.push_back(std::move(job));
  StartThreadsLocked();
  // With a single signal, the thread that wakes up could be one that must not take the job: it may
  // be above the limit, or be reserved.
  if (reserved_ == 0 && threads_.size() <= limit_) {
    wake_.Signal();
  } else {
    wake_.SignalAll();
  }
}

// The callbacks are called without the mutex, because they may submit jobs.
int ThreadPoolImpl::UnSchedule(void* tag) {
  std::vector<std::function<void()>> callbacks;
  int count = 0;
  {
    MutexLock lock(&mutex_);
    for (auto job = queue_.begin(); job != queue_.end();) {
      if (job->tag != tag) {
        ++job;
        continue;
      }
      if (job->unschedule) callbacks.push_back(std::move(job->unschedule));
      job = queue_.erase(job);
      ++count;
    }
  }
  for (const auto& callback : callbacks) callback();
  return count;
}

int ThreadPoolImpl::ReserveThreads(int threads) {
  MutexLock lock(&mutex_);
  // Threads that have a queued job to take are not free.
  const size_t free = idle_ - std::min(idle_, reserved_ + queue_.size());
  const size_t granted = std::min(free, static_cast<size_t>(std::max(threads, 0)));
  reserved_ += granted;
  return static_cast<int>(granted);
}

int ThreadPoolImpl::ReleaseThreads(int threads) {
  MutexLock lock(&mutex_);
  const size_t released = std::min(reserved_, static_cast<size_t>(std::max(threads, 0)));
  reserved_ -= released;
  // Threads that were reserved may take jobs now.
  wake_.SignalAll();
  return static_cast<int>(released);
}

void ThreadPoolImpl::LowerIOPriority() { low_io_priority_.store(true, std::memory_order_relaxed); }

// The lowest priority that was ever requested remains, in whichever order the calls come.
void ThreadPoolImpl::LowerCPUPriority(CpuPriority priority) {
  CpuPriority current = cpu_priority_.load(std::memory_order_relaxed);
  while (priority < current &&
         !cpu_priority_.compare_exchange_weak(current, priority, std::memory_order_relaxed)) {
  }
}

void ThreadPoolImpl::StartThreadsLocked() {
  while (!is_ending_ && threads_.size() < limit_ && idle_ < queue_.size() + reserved_) {
    if (!StartThreadLocked()) return;
    ++idle_;  // the new thread counts as idle until it takes a job
  }
}

// Starting a thread is attempted twice: the caller cannot be given an error, and one failed
// allocation must not leave jobs without any thread. If it fails again, the jobs wait for the
// existing threads, and the next job tries again.
bool ThreadPoolImpl::StartThreadLocked() {
  const size_t index = threads_.size();
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      threads_.emplace_back([this, index] { RunWorker(index); });
      return true;
    } catch (const std::exception&) {
    }
  }
  return false;
}

// The body of a thread. `index` is its place in threads_, which never changes.
void ThreadPoolImpl::RunWorker(size_t index) {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  const TrackedThread tracked(place_.list, place_.type);
  Job job;
  while (TakeJob(index, &job)) {
    ApplyPriorities();
    job.run();
    job = Job();  // frees what the job holds before the next wait
    MutexLock lock(&mutex_);
    ++idle_;
  }
}

// Threads can only leave from the end of `threads_`, because an index identifies each of the
// others.
bool ThreadPoolImpl::IsExcessLocked(size_t index) const {
  return index >= limit_ && index + 1 == threads_.size();
}

bool ThreadPoolImpl::TakeJob(size_t index, Job* job) {
  MutexLock lock(&mutex_);
  assert(idle_ > 0);  // the calling thread is counted
  for (;;) {
    if (is_ending_ && (!finish_jobs_ || queue_.empty())) {
      --idle_;
      return false;
    }
    if (!is_ending_ && IsExcessLocked(index)) {
      threads_.back().detach();
      threads_.pop_back();
      --idle_;
      wake_.SignalAll();  // the thread that is now last may be above the limit, too
      return false;
    }
    // Queued jobs run to the end even on threads above the limit, if the pool is joined with its
    // jobs.
    const bool may_work = is_ending_ || (index < limit_ && idle_ > reserved_);
    if (!queue_.empty() && may_work) break;
    wake_.Wait();
  }
  *job = std::move(queue_.front());
  queue_.pop_front();
  --idle_;
  return true;
}

// In the thread that takes a job, because most systems let threads change only their own priority.
void ThreadPoolImpl::ApplyPriorities() {
  thread_local bool has_low_io_priority = false;
  thread_local CpuPriority cpu_priority = CpuPriority::kNormal;
  if (low_io_priority_.load(std::memory_order_relaxed) && !has_low_io_priority) {
    has_low_io_priority = true;
    SetIdleIOPriority();
  }
  const CpuPriority wanted = cpu_priority_.load(std::memory_order_relaxed);
  if (wanted != cpu_priority) {
    cpu_priority = wanted;
    LowerThreadCpuPriority(wanted);
  }
}

ThreadPool* NewThreadPool(int num_threads) {
  return new ThreadPoolImpl("ashlar:pool", num_threads);
}

}  // namespace ashlar
