// SPDX-License-Identifier: Apache-2.0
//
// Mutexes for the parts of a lock table that tell a test of their use. Nobody may wait for a lock.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "ashlar/utilities/transaction_db_mutex.h"

namespace ashlar {

// Called with the number of the part when a thread is about to lock it.
using OnPartLocked = std::function<void(int part)>;

class WatchedMutexes final : public TransactionDBMutexFactory {
 public:
  explicit WatchedMutexes(OnPartLocked on_locked) : on_locked_(std::move(on_locked)) {}

  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<Watched>(this, count_++);
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    ADD_FAILURE() << "a thread waits for a lock";
    return nullptr;
  }

 private:
  class Watched final : public TransactionDBMutex {
   public:
    Watched(WatchedMutexes* all, int part) : all_(all), part_(part) {}
    Status Lock() override {
      all_->on_locked_(part_);
      mutex_.lock();
      return Status::OK();
    }
    Status TryLockFor(int64_t) override { return Lock(); }
    void UnLock() override { mutex_.unlock(); }

   private:
    WatchedMutexes* const all_;
    const int part_;
    std::mutex mutex_;
  };

  const OnPartLocked on_locked_;
  int count_ = 0;
};

}  // namespace ashlar
