// SPDX-License-Identifier: Apache-2.0
//
// The default Env: the machine's files and clock, four thread pools, and threads of their own.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "env/env_adaptors.h"
#include "env/posix/posix_error.h"
#include "env/thread_pool.h"
#include "util/mutex.h"

namespace ashlar {

namespace {

class PosixEnv : public CompositeEnv {
 public:
  PosixEnv()
      : CompositeEnv(FileSystem::Default(), SystemClock::Default()),
        pools_{std::make_unique<ThreadPoolImpl>("ashlar:bottom", 0),
               std::make_unique<ThreadPoolImpl>("ashlar:low", 1),
               std::make_unique<ThreadPoolImpl>("ashlar:high", 1),
               std::make_unique<ThreadPoolImpl>("ashlar:user", 1)} {}

  const char* Name() const override { return kDefaultName(); }
  const char* NickName() const override { return "posix"; }

  void Schedule(void (*function)(void*), void* arg, Priority pri, void* tag,
                void (*unschedule)(void*)) override {
    Pool(pri).Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority pri) override { return Pool(pri).UnSchedule(tag); }

  // Joins those that ended, or their stacks would stay until WaitForJoin(), which few call.
  void StartThread(void (*function)(void*), void* arg) override {
    std::vector<Started> ended;
    {
      MutexLock lock(&started_mutex_);
      const auto first_ended =
          std::partition(started_.begin(), started_.end(), [](const Started& started) {
            return !started.has_ended->load(std::memory_order_acquire);
          });
      ended.reserve(started_.size());
      std::move(first_ended, started_.end(), std::back_inserter(ended));
      started_.erase(first_ended, started_.end());
    }
    for (Started& started : ended) started.thread.join();
    auto has_ended = std::make_shared<std::atomic<bool>>(false);
    MutexLock lock(&started_mutex_);
    started_.reserve(started_.size() + 1);  // once the thread runs nothing may fail
    std::thread thread([function, arg, has_ended] {
      function(arg);
      has_ended->store(true, std::memory_order_release);
    });
    started_.push_back({std::move(thread), std::move(has_ended)});
  }
  void WaitForJoin() override {
    std::vector<Started> all;
    {
      MutexLock lock(&started_mutex_);
      all.swap(started_);
    }
    for (Started& started : all) started.thread.join();
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
  struct Started {
    std::thread thread;
    // Set by the thread as the last thing it does.
    std::shared_ptr<std::atomic<bool>> has_ended;
  };

  ThreadPoolImpl& Pool(Priority pri) const {
    assert(pri >= BOTTOM && pri < TOTAL);
    return *pools_[pri];
  }

  const std::array<std::unique_ptr<ThreadPoolImpl>, TOTAL> pools_;  // by Priority
  Mutex started_mutex_{LockRank::kThreadPool};
  std::vector<Started> started_ GUARDED_BY(started_mutex_);
};

}  // namespace

// Never destroyed: background threads may run until the process is gone.
Env* Env::Default() {
  static auto* env = new PosixEnv;
  return env;
}

}  // namespace ashlar
