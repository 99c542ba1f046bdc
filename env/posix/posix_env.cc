// SPDX-License-Identifier: Apache-2.0
//
// The default Env: the files and the clock of the operating system, four thread pools, and threads
// that programs start one by one.
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <functional>
#include <memory>
#include <thread>

#include "env/env_adaptors.h"
#include "env/fork_hook.h"
#include "env/posix/posix_error.h"
#include "env/thread_list.h"
#include "env/thread_pool.h"
#include "util/threads/mutex.h"

namespace ashlar {

namespace {

// Env::Default(). Schedule() queues work in the pool of its priority; StartThread() gives the
// function a thread of its own. Any thread may call any function.
class PosixEnv : public CompositeEnv {
 public:
  PosixEnv()
      : CompositeEnv(FileSystem::Default(), SystemClock::Default()),
        // BOTTOM has no threads until a program gives it some.
        pools_{NewPool("ashlar:bottom", 0, ThreadStatus::BOTTOM_PRIORITY),
               NewPool("ashlar:low", 1, ThreadStatus::LOW_PRIORITY),
               NewPool("ashlar:high", 1, ThreadStatus::HIGH_PRIORITY),
               NewPool("ashlar:user", 1, ThreadStatus::USER)} {
    thread_status_updater_ = &threads_;
  }

  const char* Name() const override { return kDefaultName(); }
  const char* NickName() const override { return "posix"; }

  void Schedule(void (*function)(void*), void* arg, Priority pri, void* tag,
                void (*unschedule)(void*)) override {
    Pool(pri).Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority pri) override { return Pool(pri).UnSchedule(tag); }

  // The thread is detached, because nobody has to join it.
  void StartThread(void (*function)(void*), void* arg) override {
    MutexLock lock(&started_mutex_);
    assert(function != nullptr);
    // The new thread cannot count itself down before the count is raised below, because this thread
    // holds the mutex.
    std::thread([this, function, arg] {
      function(arg);
      MutexLock end(&started_mutex_);
      assert(started_count_ > 0);
      if (--started_count_ == 0) all_ended_.SignalAll();
    }).detach();
    ++started_count_;
  }
  // Waits for the threads of StartThread() only, not for the pools.
  void WaitForJoin() override {
    MutexLock lock(&started_mutex_);
    while (started_count_ > 0) all_ended_.Wait();
  }

  int ReserveThreads(int threads, Priority pri) override {
    return Pool(pri).ReserveThreads(threads);
  }
  int ReleaseThreads(int threads, Priority pri) override {
    return Pool(pri).ReleaseThreads(threads);
  }
  unsigned int GetThreadPoolQueueLen(Priority pri) const override {
    return Pool(pri).GetQueueLen();
  }
  void SetBackgroundThreads(int number, Priority pri) override {
    Pool(pri).SetBackgroundThreads(number);
  }
  int GetBackgroundThreads(Priority pri) override { return Pool(pri).GetBackgroundThreads(); }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    Pool(pri).IncBackgroundThreadsIfNeeded(number);
  }
  void LowerThreadPoolIOPriority(Priority pri) override { Pool(pri).LowerIOPriority(); }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    Pool(pool).LowerCPUPriority(pri);
    return Status::OK();
  }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    Pool(pool).LowerCPUPriority(CpuPriority::kLow);
  }

  Status GetHostName(char* name, uint64_t len) override {
    if (gethostname(name, static_cast<size_t>(len)) == 0) return Status::OK();
    if (errno == EFAULT || errno == EINVAL) {
      return Status::InvalidArgument("gethostname: the buffer is too small");
    }
    return PosixError("gethostname", "", errno);
  }

 private:
  std::unique_ptr<ThreadPoolImpl> NewPool(const char* name, int limit,
                                          ThreadStatus::ThreadType type) {
    return std::make_unique<ThreadPoolImpl>(name, limit, ThreadPlace{&threads_, type});
  }
  // The pools exist as long as the Env; each has its own mutex.
  ThreadPoolImpl& Pool(Priority pri) const {
    assert(pri >= BOTTOM);
    assert(pri < TOTAL);
    return *pools_[pri];
  }
  // Runs in the child after fork(), where only the forking thread exists: the counted threads and
  // the waiters are gone.
  void MendInChild() NO_THREAD_SAFETY_ANALYSIS {
    all_ended_.ForgetWaiters();
    started_count_ = 0;
  }

  // Shared by the pools, and therefore declared before them: a pool removes its threads from the
  // list when it ends.
  ThreadStatusUpdater threads_;
  const std::array<std::unique_ptr<ThreadPoolImpl>, TOTAL> pools_;  // by Priority
  Mutex started_mutex_{LockRank::kThreadPool};
  CondVar all_ended_{&started_mutex_};
  int started_count_ GUARDED_BY(started_mutex_) = 0;  // threads that are running
  const ForkHook fork_hook_{&started_mutex_, [this] { MendInChild(); }};
};

}  // namespace

// Never destroyed: background threads may run until the process ends.
Env* Env::Default() {
  static auto* env = new PosixEnv;
  return env;
}

}  // namespace ashlar
