// SPDX-License-Identifier: Apache-2.0
//
// The thread pool: one mutex, one queue, one condition variable. A job is long compared with the
// lock, so nothing finer is needed.
#include "env/thread_pool.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "env/thread_list.h"

namespace ashlar {

namespace {

// Linux: I/O class "idle", nice values by priority. Failures only cost politeness.
void SetIdleIOPriority() {
#ifdef SYS_ioprio_set
  constexpr int kWhoThread = 1, kClassIdle = 3, kClassShift = 13;
  syscall(SYS_ioprio_set, kWhoThread, 0, kClassIdle << kClassShift);
#endif
}

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

void LowerThreadCpuPriority(CpuPriority priority) {
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), NiceValueOf(priority));
}

ThreadPool::~ThreadPool() = default;

ThreadPoolImpl::ThreadPoolImpl(std::string name, int limit, ThreadPlace place)
    : name_(std::move(name)), place_(place), limit_(static_cast<size_t>(std::max(limit, 0))) {}

ThreadPoolImpl::~ThreadPoolImpl() { Join(/*finish_jobs=*/false); }

void ThreadPoolImpl::JoinAllThreads() { Join(/*finish_jobs=*/false); }
void ThreadPoolImpl::WaitForJobsAndJoinAllThreads() { Join(/*finish_jobs=*/true); }

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

// Whoever reserved or joined threads, if it was another one, did so for itself. The parent runs
// what is queued: twice, two processes would write the same files.
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

void ThreadPoolImpl::SetLimitLocked(int num) {
  limit_ = static_cast<size_t>(std::max(num, 0));
  wake_.SignalAll();  // those too many end, one after the other
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
  if (is_ending_) return;
  queue_.push_back(std::move(job));
  StartThreadsLocked();
  // A single wake could reach a thread that must not work.
  if (reserved_ == 0 && threads_.size() <= limit_) {
    wake_.Signal();
  } else {
    wake_.SignalAll();
  }
}

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
  const size_t free = idle_ - std::min(idle_, reserved_ + queue_.size());
  const size_t granted = std::min(free, static_cast<size_t>(std::max(threads, 0)));
  reserved_ += granted;
  return static_cast<int>(granted);
}

int ThreadPoolImpl::ReleaseThreads(int threads) {
  MutexLock lock(&mutex_);
  const size_t released = std::min(reserved_, static_cast<size_t>(std::max(threads, 0)));
  reserved_ -= released;
  wake_.SignalAll();
  return static_cast<int>(released);
}

void ThreadPoolImpl::LowerIOPriority() { low_io_priority_.store(true, std::memory_order_relaxed); }

void ThreadPoolImpl::LowerCPUPriority(CpuPriority priority) {
  CpuPriority current = cpu_priority_.load(std::memory_order_relaxed);
  while (priority < current &&
         !cpu_priority_.compare_exchange_weak(current, priority, std::memory_order_relaxed)) {
  }
}

void ThreadPoolImpl::StartThreadsLocked() {
  while (!is_ending_ && threads_.size() < limit_ && idle_ < queue_.size() + reserved_) {
    if (!StartThreadLocked()) return;
    ++idle_;  // it will look at the queue first
  }
}

// Tried twice, as the caller cannot be told and one failed allocation must not leave jobs without
// any thread. Else they wait for the threads that there are; the next job tries again.
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

bool ThreadPoolImpl::IsExcessLocked(size_t index) const {
  return index >= limit_ && index + 1 == threads_.size();
}

bool ThreadPoolImpl::TakeJob(size_t index, Job* job) {
  MutexLock lock(&mutex_);
  for (;;) {
    if (is_ending_ && (!finish_jobs_ || queue_.empty())) {
      --idle_;
      return false;
    }
    if (!is_ending_ && IsExcessLocked(index)) {
      threads_.back().detach();
      threads_.pop_back();
      --idle_;
      wake_.SignalAll();  // the next last one may be too many as well
      return false;
    }
    const bool may_work = is_ending_ || (index < limit_ && idle_ > reserved_);
    if (!queue_.empty() && may_work) break;
    wake_.Wait();
  }
  *job = std::move(queue_.front());
  queue_.pop_front();
  --idle_;
  return true;
}

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
