// SPDX-License-Identifier: Apache-2.0
//
// ForkHook makes an object with threads of its own usable in a child after fork(). The child only
// has the thread that has forked.
//
// During fork() the forking thread holds the mutexes of all objects with a hook, so that no child
// gets a state that another thread was just changing. In the child each object is repaired before
// it is used: it forgets its threads and everything that was counted about them.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "util/threads/mutex.h"

namespace ashlar {

// Declare the hook as the last member of the object. Threads: any; the constructor and the
// destructor must be called without a mutex of rank kLeaf.
class ForkHook {
 public:
  // `mutex` guards the state of the object; no thread calls fork() while it holds this mutex.
  // `mend` is called in the child with the mutex held: see ForgetThread() and
  // CondVar::ForgetWaiters().
  ForkHook(Mutex* mutex, std::function<void()> mend);
  ~ForkHook();
  ForkHook(const ForkHook&) = delete;
  ForkHook& operator=(const ForkHook&) = delete;

 private:
  friend class ForkHooks;

  // Both are of the object that owns the hook.
  Mutex* const mutex_;
  const std::function<void()> mend_;
};

// For the child: the thread does not exist any more, so it cannot be joined or detached.
inline void ForgetThread(std::thread* thread) { std::construct_at(thread); }

}  // namespace ashlar
