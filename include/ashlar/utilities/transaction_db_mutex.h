// SPDX-License-Identifier: Apache-2.0
//
// Mutexes and condition variables that a program may give to TransactionDB, for instance to let its
// own scheduler see waiting transactions.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class ASHLAR_EXPORT TransactionDBMutex {
 public:
  virtual ~TransactionDBMutex() {}

  virtual Status Lock() = 0;
  // At most so many microseconds; TimedOut(kMutexTimeout) after that. Negative: no limit.
  virtual Status TryLockFor(int64_t timeout_time) = 0;
  virtual void UnLock() = 0;
};

class ASHLAR_EXPORT TransactionDBCondVar {
 public:
  virtual ~TransactionDBCondVar() {}

  // The caller holds the mutex; it is released while waiting. WaitFor as TryLockFor.
  virtual Status Wait(std::shared_ptr<TransactionDBMutex> mutex) = 0;
  virtual Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t timeout_time) = 0;
  virtual void Notify() = 0;
  virtual void NotifyAll() = 0;
};

// Called from many threads at once.
class ASHLAR_EXPORT TransactionDBMutexFactory {
 public:
  virtual ~TransactionDBMutexFactory() {}

  virtual std::shared_ptr<TransactionDBMutex> AllocateMutex() = 0;
  virtual std::shared_ptr<TransactionDBCondVar> AllocateCondVar() = 0;
};

}  // namespace ashlar
