// SPDX-License-Identifier: Apache-2.0
//
// SpaceWatch asks from time to time how much space there is, for those who wait for some.
//
// Threads: any; waiters are called by a thread of the watch. In a child after fork() that begins
// with the next one that waits there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/file_system.h"
#include "env/fork_hook.h"
#include "util/threads/mutex.h"

namespace ashlar {

class SpaceWaiter {
 public:
  virtual ~SpaceWaiter() = default;
  // A directory on the disk in question.
  virtual const std::string& directory() const = 0;
  // Called without locks, by one thread at a time. `free_bytes`: UINT64_MAX if the file system does
  // not say. True: it waits no more.
  virtual bool TryWith(uint64_t free_bytes) = 0;
};

class SpaceWatch {
 public:
  SpaceWatch(std::shared_ptr<FileSystem> fs, uint64_t poll_micros)
      : fs_(std::move(fs)), poll_micros_(poll_micros) {}
  // Nobody waits any more.
  ~SpaceWatch();
  SpaceWatch(const SpaceWatch&) = delete;
  SpaceWatch& operator=(const SpaceWatch&) = delete;

  // Until its TryWith() says that it is done. One that waits already goes on. False: there is no
  // thread to watch.
  bool Await(SpaceWaiter* waiter);
  // It is not called any more when this returns, and not while it is being called: so not by
  // itself.
  void Forget(SpaceWaiter* waiter);
  // There may be more space than a moment ago.
  void LookAgain();

 private:
  void Run();
  uint64_t FreeBytes(const std::string& directory) const;
  void MendInChild();

  const std::shared_ptr<FileSystem> fs_;
  const uint64_t poll_micros_;

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  std::vector<SpaceWaiter*> waiters_ GUARDED_BY(mutex_);
  SpaceWaiter* called_ GUARDED_BY(mutex_) = nullptr;
  bool waits_again_ GUARDED_BY(mutex_) = false;  // `called_` came back during its call
  bool looks_again_ GUARDED_BY(mutex_) = false;
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_ GUARDED_BY(mutex_);  // from the first waiter on
  const ForkHook fork_hook_{&mutex_, [this] { MendInChild(); }};
};

}  // namespace ashlar
