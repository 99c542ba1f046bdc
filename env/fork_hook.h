// SPDX-License-Identifier: Apache-2.0
//
// ForkHook makes an object that has threads of its own usable in a child after fork(), which has
// none but the thread that forked.
//
// The thread that forks holds the mutexes of all objects with a hook meanwhile, so that no child
// gets a state that another thread was changing. In the child each object is then mended, before
// anybody uses it: threads are forgotten, and what was counted of them.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "util/threads/mutex.h"

namespace ashlar {

// Declare it as the object's last member. Threads: any, if the constructor and the destructor are
// called without a mutex of rank kLeaf.
class ForkHook {
 public:
  // `mutex` guards the object's state; nobody forks while holding it. `mend` is called in the
  // child, with the mutex held: see ForgetThread() and CondVar::ForgetWaiters().
  ForkHook(Mutex* mutex, std::function<void()> mend);
  ~ForkHook();
  ForkHook(const ForkHook&) = delete;
  ForkHook& operator=(const ForkHook&) = delete;

 private:
  friend class ForkHooks;

  Mutex* const mutex_;
  const std::function<void()> mend_;
};

// In the child: behind `thread` there is none any more, that could be joined or detached.
inline void ForgetThread(std::thread* thread) { std::construct_at(thread); }

}  // namespace ashlar
