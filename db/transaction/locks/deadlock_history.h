// SPDX-License-Identifier: Apache-2.0
//
// DeadlockHistory keeps the latest deadlocks. Path: DeadlockPath or RangeDeadlockPath.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "util/threads/mutex.h"

namespace ashlar {

template <typename Path>
class DeadlockHistory {
 public:
  explicit DeadlockHistory(uint32_t size) : size_(size) {}

  void Add(Path path) {
    MutexLock lock(&mutex_);
    // A size of 0 turns the history off.
    if (size_ == 0) return;
    if (paths_.size() == size_) paths_.pop_back();
    paths_.push_front(std::move(path));
  }
  std::vector<Path> NewestFirst() {
    MutexLock lock(&mutex_);
    return {paths_.begin(), paths_.end()};
  }
  // Keeps the newest ones, as many as there is room for.
  void SetSize(uint32_t size) {
    MutexLock lock(&mutex_);
    size_ = size;
    while (paths_.size() > size_) paths_.pop_back();
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  uint32_t size_ GUARDED_BY(mutex_);
  std::deque<Path> paths_ GUARDED_BY(mutex_);  // newest first
};

}  // namespace ashlar
