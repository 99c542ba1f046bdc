// SPDX-License-Identifier: Apache-2.0
//
// The thread calls all waiters one after the other and then pauses.
#include "env/space/space_watch.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

namespace ashlar {

SpaceWatch::~SpaceWatch() {
  std::thread thread;
  {
    MutexLock lock(&mutex_);
    assert(waiters_.empty());
    is_stopping_ = true;
    changed_.SignalAll();
    thread.swap(thread_);
  }
  if (thread.joinable()) thread.join();
}

void SpaceWatch::MendInChild() NO_THREAD_SAFETY_ANALYSIS {
  changed_.ForgetWaiters();
  if (thread_.get_id() == std::this_thread::get_id()) return;  // a waiter called fork()
  ForgetThread(&thread_);
  called_ = nullptr;
}

bool SpaceWatch::Await(SpaceWaiter* waiter) {
  MutexLock lock(&mutex_);
  assert(!is_stopping_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::exception&) {
      return false;
    }
  }
  // The waiter asked for another call while it was called: its result `true` is outdated then.
  if (waiter == called_) waits_again_ = true;
  if (std::find(waiters_.begin(), waiters_.end(), waiter) != waiters_.end()) return true;
  waiters_.push_back(waiter);
  changed_.SignalAll();
  return true;
}

void SpaceWatch::Forget(SpaceWaiter* waiter) {
  MutexLock lock(&mutex_);
  std::erase(waiters_, waiter);
  // The waiter is about to be destroyed by the caller.
  while (called_ == waiter) changed_.Wait();
  std::erase(waiters_, waiter);  // it may have been added again during the call
}

void SpaceWatch::LookAgain() {
  MutexLock lock(&mutex_);
  looks_again_ = true;
  changed_.SignalAll();
}

uint64_t SpaceWatch::FreeBytes(const std::string& directory) const {
  // An unknown amount of space counts as enough: the waiter then finds out by trying.
  uint64_t bytes = 0;
  const IOStatus status = fs_->GetFreeSpace(directory, IOOptions(), &bytes, nullptr);
  return status.ok() ? bytes : UINT64_MAX;
}

void SpaceWatch::Run() {
  MutexLock lock(&mutex_);
  while (!is_stopping_) {
    // Reset before the round, so that a LookAgain() during the round starts another.
    looks_again_ = false;
    // A copy, because waiters come and go while the mutex is released.
    const std::vector<SpaceWaiter*> round = waiters_;
    for (SpaceWaiter* waiter : round) {
      if (is_stopping_) return;
      // The waiter may have been forgotten, and destroyed, since the round began.
      if (std::find(waiters_.begin(), waiters_.end(), waiter) == waiters_.end()) continue;
      called_ = waiter;
      waits_again_ = false;
      bool is_done = false;
      {
        MutexUnlock unlock(&mutex_);
        is_done = waiter->TryWith(FreeBytes(waiter->directory()));
      }
      called_ = nullptr;
      if (is_done && !waits_again_) std::erase(waiters_, waiter);
      changed_.SignalAll();
    }
    if (is_stopping_ || looks_again_) continue;
    if (waiters_.empty()) {
      changed_.Wait();
    } else {
      changed_.WaitFor(poll_micros_);
    }
  }
}

}  // namespace ashlar
