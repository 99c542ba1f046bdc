// SPDX-License-Identifier: Apache-2.0
//
// One list of all hooks, and one set of handlers for it (pthread_atfork).
#include "env/fork_hook.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

namespace ashlar {

// Handlers cannot be removed from a process again. Therefore one set serves all hooks, which come
// and go.
// Created at first use and never destroyed, because a process may fork while it ends.
class ForkHooks {
 public:
  static ForkHooks& Get() {
    static ForkHooks& hooks = *new ForkHooks;
    return hooks;
  }

  // Waits while another thread is in fork().
  void Add(const ForkHook* hook) {
    MutexLock lock(&mutex_);
    hooks_.push_back(hook);
  }
  void Remove(const ForkHook* hook) {
    MutexLock lock(&mutex_);
    assert(std::find(hooks_.begin(), hooks_.end(), hook) != hooks_.end());
    std::erase(hooks_, hook);
  }

 private:
  ForkHooks() {
    // Fails only if memory is missing; children of this process must not use databases then.
    (void)pthread_atfork([] { Get().Prepare(); }, [] { Get().EndInParent(); },
                         [] { Get().EndInChild(); });
  }

  // A thread that holds the mutex of one object never waits for that of another one, so any order
  // is correct.
  // Runs before the fork, in the forking thread, which then holds all these mutexes.
  void Prepare() NO_THREAD_SAFETY_ANALYSIS {
    mutex_.LockForFork();
    for (const ForkHook* hook : hooks_) hook->mutex_->LockForFork();
  }
  void EndInParent() NO_THREAD_SAFETY_ANALYSIS {
    for (const ForkHook* hook : hooks_) hook->mutex_->UnlockAfterFork();
    mutex_.UnlockAfterFork();
  }
  // The mutexes are held by this thread, in the child as well. Each object is repaired before its
  // mutex is released.
  void EndInChild() NO_THREAD_SAFETY_ANALYSIS {
    for (const ForkHook* hook : hooks_) hook->mend_();
    EndInParent();
  }

  Mutex mutex_{LockRank::kLeaf};
  std::vector<const ForkHook*> hooks_ GUARDED_BY(mutex_);
};

ForkHook::ForkHook(Mutex* mutex, std::function<void()> mend)
    : mutex_(mutex), mend_(std::move(mend)) {
  assert(mutex_ != nullptr);
  assert(mend_ != nullptr);
  ForkHooks::Get().Add(this);
}
ForkHook::~ForkHook() { ForkHooks::Get().Remove(this); }

}  // namespace ashlar
