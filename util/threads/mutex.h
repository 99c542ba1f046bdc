// SPDX-License-Identifier: Apache-2.0
//
// Mutexes with ranks, condition variables, and a spin lock for sections of a few instructions.
//
// A thread may only take a Mutex whose rank is greater than that of every Mutex it holds. Builds
// with assertions stop at the first acquisition against that order, whether or not it would have
// deadlocked this time. Clang's thread-safety analysis sees every lock through the annotations.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cassert>
#include <cstdint>

#include "util/threads/thread_annotations.h"

#if defined(ASHLAR_INVARIANTS) || !defined(NDEBUG)
#define ASHLAR_CHECK_LOCK_RANKS 1
#else
#define ASHLAR_CHECK_LOCK_RANKS 0
#endif

namespace ashlar {

// Outermost first.
enum class LockRank : uint8_t {
  kUtility,  // layers above the database: transactions, backups, tools, tests
  kDb,
  kWal,
  kSnapshots,
  kTableCache,
  kCacheShard,
  kStatistics,
  kRateLimiter,
  kThreadPool,
  kLogger,
  kFileSystem,  // of file systems in memory, and of wrappers
  kFile,
  kEpoch,
  kLeaf,  // nothing is locked under it
};

// Whether this thread holds a mutex of this rank. Builds without the check of ranks answer false.
bool HoldsRank(LockRank rank);

class CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(LockRank rank);
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ACQUIRE() {
    NoteAcquire();
    pthread_mutex_lock(&native_);
  }
  bool TryLock() TRY_ACQUIRE(true) {
    if (pthread_mutex_trylock(&native_) != 0) return false;
    NoteTryAcquired();
    return true;
  }
  void Unlock() RELEASE() {
    NoteRelease();
    pthread_mutex_unlock(&native_);
  }
  // Stops a build with assertions if this thread does not hold the mutex.
  void AssertHeld() const ASSERT_CAPABILITY(this);

  // For a thread that forks, which takes mutexes of one rank side by side (env/fork_hook.h).
  void LockForFork() NO_THREAD_SAFETY_ANALYSIS { pthread_mutex_lock(&native_); }
  void UnlockAfterFork() NO_THREAD_SAFETY_ANALYSIS { pthread_mutex_unlock(&native_); }

  LockRank rank() const { return rank_; }

 private:
  friend class CondVar;

#if ASHLAR_CHECK_LOCK_RANKS
  void NoteAcquire() const;
  void NoteTryAcquired() const;
  void NoteRelease() const;
#else
  void NoteAcquire() const {}
  void NoteTryAcquired() const {}
  void NoteRelease() const {}
#endif

  pthread_mutex_t native_;
  const LockRank rank_;
};

// What it means to hold the DB mutex, as one thing that clang's analysis follows through every path
// by which the mutex is reached (core_.mutex, scheduler_.core_->mutex...): state behind it says
// GUARDED_BY(db_mutex), functions that need it say REQUIRES(db_mutex). It names no object. That a
// thread holds the mutex of the right database is what AssertHeld() proves: a thread never holds
// two, as both would have one rank.
class CAPABILITY("DB mutex") DbMutexRole {};
extern DbMutexRole db_mutex;  // for annotations only; there is no definition

// The mutex of one open database.
class DbMutex {
 public:
  DbMutex() = default;

  void Lock() ACQUIRE(db_mutex) NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void Unlock() RELEASE(db_mutex) NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  // Stops a build with assertions if this thread does not hold the mutex.
  void AssertHeld() const ASSERT_CAPABILITY(db_mutex) { mutex_.AssertHeld(); }

 private:
  friend class MutexLock;
  friend class MutexUnlock;
  friend class CondVar;

  Mutex mutex_{LockRank::kDb};
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  explicit MutexLock(DbMutex* mutex) ACQUIRE(db_mutex) NO_THREAD_SAFETY_ANALYSIS
      : mutex_(&mutex->mutex_) {
    mutex_->Lock();
  }
  ~MutexLock() RELEASE() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// Lets go of a held mutex for a scope, and takes it again.
class SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex* mutex) RELEASE(mutex) : mutex_(mutex) { mutex_->Unlock(); }
  explicit MutexUnlock(DbMutex* mutex) RELEASE(db_mutex) NO_THREAD_SAFETY_ANALYSIS
      : mutex_(&mutex->mutex_) {
    mutex_->Unlock();
  }
  ~MutexUnlock() RELEASE() NO_THREAD_SAFETY_ANALYSIS { mutex_->Lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex* const mutex_;
};

// What a thread does instead of sleeping when it is the only one of a simulation
// (env/sim/sim_env.h).
class SleepReplacement {
 public:
  virtual ~SleepReplacement() = default;
  // Called in place of a wait, with the mutex of the condition variable free. `micros`: the limit
  // of the wait; UINT64_MAX = none. True: the time is over.
  virtual bool RunInsteadOfSleep(uint64_t micros) = 0;
};
// Of the calling thread; null: it sleeps. Answers the one before.
SleepReplacement* SetSleepReplacement(SleepReplacement* replacement);

// A condition variable bound to one mutex, which every wait needs held. Wakes may be spurious: wait
// in a loop.
class CondVar {
 public:
  explicit CondVar(Mutex* mutex);  // outlives the condition variable
  explicit CondVar(DbMutex* mutex) : CondVar(&mutex->mutex_) {}
  ~CondVar();
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait() NO_THREAD_SAFETY_ANALYSIS;
  // Waits at most that long on the monotonic clock. True: the time is over.
  bool WaitFor(uint64_t micros) NO_THREAD_SAFETY_ANALYSIS;
  void Signal() { pthread_cond_signal(&native_); }
  void SignalAll() { pthread_cond_broadcast(&native_); }
  // In a child after fork(), where those that waited are not: else a signal may go to one of them,
  // and the destructor waits for them.
  void ForgetWaiters() { Init(); }

 private:
  void Init();

  pthread_cond_t native_;
  Mutex* const mutex_;
};

// For sections of a few instructions that are rarely contended and never block. Not ranked: take
// nothing else while holding it.
class CAPABILITY("mutex") SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  bool TryLock() TRY_ACQUIRE(true) {
    return !is_locked_.load(std::memory_order_relaxed) &&
           !is_locked_.exchange(true, std::memory_order_acquire);
  }
  void Lock() ACQUIRE() {
    if (!TryLock()) LockSlowly();
  }
  void Unlock() RELEASE() { is_locked_.store(false, std::memory_order_release); }

 private:
  void LockSlowly() NO_THREAD_SAFETY_ANALYSIS;

  std::atomic<bool> is_locked_{false};
};

// Says that a guard takes over a lock which its thread has taken already, by TryLock() say.
struct AdoptLock {};

class SCOPED_CAPABILITY SpinLockGuard {
 public:
  explicit SpinLockGuard(SpinLock* lock) ACQUIRE(lock) : lock_(lock) { lock_->Lock(); }
  SpinLockGuard(SpinLock* lock, AdoptLock) REQUIRES(lock) : lock_(lock) {}
  ~SpinLockGuard() RELEASE() { lock_->Unlock(); }
  SpinLockGuard(const SpinLockGuard&) = delete;
  SpinLockGuard& operator=(const SpinLockGuard&) = delete;

 private:
  SpinLock* const lock_;
};

// Tells the processor that this thread spins.
inline void SpinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace ashlar
