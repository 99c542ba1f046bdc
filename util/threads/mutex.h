// SPDX-License-Identifier: Apache-2.0
//
// Mutexes with ranks, condition variables, and a spin lock for sections of a few instructions.
//
// A thread may only take a Mutex whose rank is greater than the ranks of all mutexes that it holds.
// Builds with assertions stop at the first violation of that order, even if there is no deadlock
// this time. The annotations let Clang's thread-safety analysis check every lock.
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

// The outermost rank comes first.
enum class LockRank : uint8_t {
  kUtility,    // layers above the database: transactions, backups, tools, tests
  kFollowing,  // a catch-up with another process that writes the database
  kDb,
  kWal,
  kSnapshots,
  kTableCache,
  kCacheShard,
  kStatistics,
  kRateLimiter,
  kThreadPool,
  kLogger,
  kTrace,       // a running trace, whose writer operates on a file
  kFileSystem,  // file systems in memory, and wrappers
  kFile,
  kEpoch,
  kLeaf,  // no other mutex is taken while it is held
};

// Whether this thread holds a mutex of this rank. Always false in builds that do not check ranks.
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

  // For a thread that calls fork() and takes several mutexes of the same rank (env/fork_hook.h).
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

// The role of holding the DB mutex, as one object for clang's analysis, which the different paths
// to the mutex share (core_.mutex, scheduler_.core_->mutex...). State that the mutex protects is
// marked GUARDED_BY(db_mutex), functions that need it are marked REQUIRES(db_mutex). The role does
// not say which mutex it is. AssertHeld() proves that a thread holds the mutex of the right
// database: it never holds two, because both would have the same rank.
class CAPABILITY("DB mutex") DbMutexRole {};
extern DbMutexRole db_mutex;  // only for annotations; it has no definition

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

// Releases a held mutex for a scope, and takes it again at the end.
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

// What a thread does instead of sleeping if it is the only thread of a simulation
// (env/sim/sim_env.h).
class SleepReplacement {
 public:
  virtual ~SleepReplacement() = default;
  // Called instead of a wait, while the mutex of the condition variable is released. `micros` is
  // the limit of the wait, or UINT64_MAX for none. Returns true if the time is over.
  virtual bool RunInsteadOfSleep(uint64_t micros) = 0;
};
// Sets the replacement for the calling thread; null means that it sleeps. Returns the previous one.
SleepReplacement* SetSleepReplacement(SleepReplacement* replacement);

// A condition variable for one mutex, which must be held for every wait. Waits may end without a
// signal, so that they must be in a loop.
class CondVar {
 public:
  explicit CondVar(Mutex* mutex);  // outlives the condition variable
  explicit CondVar(DbMutex* mutex) : CondVar(&mutex->mutex_) {}
  ~CondVar();
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void Wait() NO_THREAD_SAFETY_ANALYSIS;
  // Waits for at most `micros` on the monotonic clock. Returns true if the time is over.
  bool WaitFor(uint64_t micros) NO_THREAD_SAFETY_ANALYSIS;
  void Signal() { pthread_cond_signal(&native_); }
  void SignalAll() { pthread_cond_broadcast(&native_); }
  // For a child after fork(), in which the waiting threads do not exist. Otherwise a signal could
  // go to one of them, and the destructor would wait for them.
  void ForgetWaiters() { Init(); }

 private:
  void Init();

  pthread_cond_t native_;
  Mutex* const mutex_;
};

// For sections of a few instructions that are rarely contended and never block. It has no rank; no
// other lock may be taken while it is held.
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

// Tells a guard to take over a lock that the thread already holds, for example after TryLock().
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

// Tells the processor that this thread is spinning.
inline void SpinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace ashlar
