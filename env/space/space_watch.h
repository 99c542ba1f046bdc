// SPDX-License-Identifier: Apache-2.0
//
// SpaceWatch checks periodically how much disk space is free, for objects that wait for space.
//
// Threads: any. The waiters are called by a thread of the watch. In a child process after fork()
// this thread is started by the next call of Await().
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/file_system.h"
#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

// An object that waits for disk space, such as a database that stopped for lack of it. It outlives
// its registration: Forget() comes before its destruction.
class SpaceWaiter {
 public:
  virtual ~SpaceWaiter() = default;
  // A directory on the disk in question.
  virtual const std::string& directory() const = 0;
  // Called without locks, by one thread at a time. `free_bytes` is UINT64_MAX if the file system
  // cannot report it. Returns true if the object need not wait any longer.
  virtual bool TryWith(uint64_t free_bytes) = 0;
};

// One per SstFileManager. The thread sleeps while there are no waiters.
class SpaceWatch {
 public:
  // `poll_micros`: the pause between two rounds of calls.
  SpaceWatch(std::shared_ptr<FileSystem> fs, uint64_t poll_micros)
      : fs_(std::move(fs)), poll_micros_(poll_micros) {
    assert(fs_ != nullptr);
  }
  // Every waiter must have been removed before.
  ~SpaceWatch();
  SpaceWatch(const SpaceWatch&) = delete;
  SpaceWatch& operator=(const SpaceWatch&) = delete;

  // Calls TryWith() of `waiter` from time to time until it returns true. Has no effect on a waiter
  // that is already waiting. Returns false if there is no thread to watch.
  bool Await(SpaceWaiter* waiter);
  // Removes the waiter, and waits for a call of it that is running. After that it is not called any
  // more. Must not be called from within TryWith() of the same waiter.
  void Forget(SpaceWaiter* waiter);
  // More space may be free now: call the waiters without waiting for the end of the pause.
  void LookAgain();

 private:
  // The body of the thread.
  void Run();
  // UINT64_MAX if the file system cannot tell.
  uint64_t FreeBytes(const std::string& directory) const;
  void MendInChild();

  const std::shared_ptr<FileSystem> fs_;
  const uint64_t poll_micros_;

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  // Not owned. Each is in the list at most once.
  std::vector<SpaceWaiter*> waiters_ GUARDED_BY(mutex_);
  // The waiter whose TryWith() is running, or null. Forget() waits for it.
  SpaceWaiter* called_ GUARDED_BY(mutex_) = nullptr;
  bool waits_again_ GUARDED_BY(mutex_) = false;  // `called_` was added again during its call
  // Another round must begin without a pause.
  bool looks_again_ GUARDED_BY(mutex_) = false;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);  // started for the first waiter
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
