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

// Made at first use and never destroyed: a process may fork while it ends.
class ForkHooks {
 public:
  static ForkHooks& Get() {
    static ForkHooks& hooks = *new ForkHooks;
    return hooks;
  }

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
    // Fails for want of memory only; then children of this process must not use databases.
    (void)pthread_atfork([] { Get().Prepare(); }, [] { Get().EndInParent(); },
                         [] { Get().EndInChild(); });
  }

  // Who holds the mutex of an object waits for that of no other, so any order will do.
  void Prepare() NO_THREAD_SAFETY_ANALYSIS {
    mutex_.LockForFork();
    for (const ForkHook* hook : hooks_) hook->mutex_->LockForFork();
  }
  void EndInParent() NO_THREAD_SAFETY_ANALYSIS {
    for (const ForkHook* hook : hooks_) hook->mutex_->UnlockAfterFork();
    mutex_.UnlockAfterFork();
  }
  void EndInChild() NO_THREAD_SAFETY_ANALYSIS {
    for (const ForkHook* hook : hooks_) hook->mend_();
    EndInParent();
  }

  Mutex mutex_{LockRank::kLeaf};
  std::vector<const ForkHook*> hooks_ GUARDED_BY(mutex_);
};

ForkHook::ForkHook(Mutex* mutex, std::function<void()> mend)
    : mutex_(mutex), mend_(std::move(mend)) {
  assert(mutex_ != nullptr && mend_ != nullptr);
  ForkHooks::Get().Add(this);
}
ForkHook::~ForkHook() { ForkHooks::Get().Remove(this); }

}  // namespace ashlar
