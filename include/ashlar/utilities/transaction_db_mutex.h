// SPDX-License-Identifier: Apache-2.0
//
// Mutexes and condition variables that a program can supply to TransactionDB, for example so that
// its own scheduler knows about waiting transactions.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// A mutex.
class ASHLAR_EXPORT TransactionDBMutex {
 public:
  virtual ~TransactionDBMutex() {}

  virtual Status Lock() = 0;
  // Waits at most timeout_time microseconds; then TimedOut with the subcode kMutexTimeout.
  // Negative: no limit.
  virtual Status TryLockFor(int64_t timeout_time) = 0;
  virtual void UnLock() = 0;
};

// A condition variable for TransactionDBMutex.
class ASHLAR_EXPORT TransactionDBCondVar {
 public:
  virtual ~TransactionDBCondVar() {}

  // Release the mutex, which the caller must hold, while they wait. timeout_time as for
  // TryLockFor().
  virtual Status Wait(std::shared_ptr<TransactionDBMutex> mutex) = 0;
  virtual Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_time) = 0;
  virtual void Notify() = 0;
  virtual void NotifyAll() = 0;
};

// Creates mutexes and condition variables. Called from many threads at the same time.
class ASHLAR_EXPORT TransactionDBMutexFactory {
 public:
  virtual ~TransactionDBMutexFactory() {}

  virtual std::shared_ptr<TransactionDBMutex> AllocateMutex() = 0;
  virtual std::shared_ptr<TransactionDBCondVar> AllocateCondVar() = 0;
};

}  // namespace ashlar
