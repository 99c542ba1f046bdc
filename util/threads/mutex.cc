// SPDX-License-Identifier: Apache-2.0
//
// Mutexes are built on pthreads: timed waits then use the monotonic clock, and all tools for
// threads understand the mutexes. For the check of ranks, each thread has a list of the mutexes
// that it holds. These are few, so the list is a small array that is searched linearly.
#include "util/threads/mutex.h"

#include <sched.h>
#include <time.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "util/threads/epoch.h"
#include "util/threads/simulated.h"

namespace ashlar {

namespace {

// Ends the process. For errors that only a bug or a broken system can cause, after which data would
// be at risk.
[[noreturn]] void Die(const char* what, int detail) {
  std::fprintf(stderr, "ashlar: %s (%d)\n", what, detail);
  std::abort();
}

void CheckResult(const char* call, int result) {
  if (result != 0) Die(call, result);
}

}  // namespace

#if ASHLAR_CHECK_LOCK_RANKS

namespace {

// Far more than the ranks allow.
constexpr int kMaxHeld = 32;
thread_local constinit const Mutex* held_mutexes[kMaxHeld] = {};
thread_local constinit int held_count = 0;

// Notes a mutex before it is locked, so a violation of the order is reported even where it would be
// a deadlock.
void Push(const Mutex* mutex) {
  if (held_count == kMaxHeld) Die("too many mutexes held by one thread", held_count);
  held_mutexes[held_count++] = mutex;
}

}  // namespace

void Mutex::NoteAcquire() const {
  for (int i = 0; i < held_count; ++i) {
    if (held_mutexes[i]->rank_ >= rank_) {
      std::fprintf(stderr, "ashlar: a mutex of rank %d is taken while one of rank %d is held\n",
                   static_cast<int>(rank_), static_cast<int>(held_mutexes[i]->rank_));
      std::abort();
    }
  }
  Push(this);
}

// Any order is allowed here, because TryLock() cannot cause a deadlock.
void Mutex::NoteTryAcquired() const { Push(this); }

void Mutex::NoteRelease() const {
  for (int i = held_count - 1; i >= 0; --i) {
    if (held_mutexes[i] != this) continue;
    for (int j = i; j + 1 < held_count; ++j) held_mutexes[j] = held_mutexes[j + 1];
    --held_count;
    return;
  }
  Die("a mutex is released by a thread that does not hold it", static_cast<int>(rank_));
}

void Mutex::AssertHeld() const {
  for (int i = 0; i < held_count; ++i) {
    if (held_mutexes[i] == this) return;
  }
  Die("a mutex is not held where it must be", static_cast<int>(rank_));
}

bool HoldsRank(LockRank rank) {
  for (int i = 0; i < held_count; ++i) {
    if (held_mutexes[i]->rank() == rank) return true;
  }
  return false;
}

#else

void Mutex::AssertHeld() const {}

bool HoldsRank(LockRank) { return false; }

#endif

Mutex::Mutex(LockRank rank) : rank_(rank) {
  CheckResult("pthread_mutex_init", pthread_mutex_init(&native_, nullptr));
}

Mutex::~Mutex() { pthread_mutex_destroy(&native_); }

CondVar::CondVar(Mutex* mutex) : mutex_(mutex) { Init(); }

// Timed waits use the monotonic clock, which does not jump when the time of day is set.
void CondVar::Init() {
  pthread_condattr_t attributes;
  CheckResult("pthread_condattr_init", pthread_condattr_init(&attributes));
  CheckResult("pthread_condattr_setclock", pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
  CheckResult("pthread_cond_init", pthread_cond_init(&native_, &attributes));
  pthread_condattr_destroy(&attributes);
}

CondVar::~CondVar() { pthread_cond_destroy(&native_); }

namespace {

thread_local constinit SleepReplacement* sleep_replacement = nullptr;

// For simulations: another function runs in the place of a sleep. The mutex is free meanwhile, as
// in a real wait.
bool RunInsteadOfSleep(Mutex* mutex, uint64_t micros) NO_THREAD_SAFETY_ANALYSIS {
  assert(mutex != nullptr);
  mutex->Unlock();
  const bool is_over = sleep_replacement->RunInsteadOfSleep(micros);
  mutex->Lock();
  return is_over;
}

}  // namespace

SleepReplacement* SetSleepReplacement(SleepReplacement* replacement) {
  return std::exchange(sleep_replacement, replacement);
}

bool IsSimulated() { return sleep_replacement != nullptr; }

// During the wait the mutex stays in the thread's list of held mutexes. This is harmless, because
// the thread cannot take another mutex while it waits.
void CondVar::Wait() {
  mutex_->AssertHeld();
  assert(!InEpoch() && "a sleep inside an EpochGuard");
  if (sleep_replacement != nullptr) {
    RunInsteadOfSleep(mutex_, UINT64_MAX);
    return;
  }
  CheckResult("pthread_cond_wait", pthread_cond_wait(&native_, &mutex_->native_));
}

bool CondVar::WaitFor(uint64_t micros) {
  mutex_->AssertHeld();
  assert(!InEpoch() && "a sleep inside an EpochGuard");
  if (sleep_replacement != nullptr) return RunInsteadOfSleep(mutex_, micros);
  constexpr int64_t kNanosPerSecond = 1000 * 1000 * 1000;
  // The sum of the nanoseconds may carry into the seconds.
  timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  const uint64_t nanos = static_cast<uint64_t>(deadline.tv_nsec) + micros % 1000000 * 1000;
  deadline.tv_sec += static_cast<time_t>(micros / 1000000 + nanos / kNanosPerSecond);
  deadline.tv_nsec = static_cast<long>(nanos % kNanosPerSecond);
  return pthread_cond_timedwait(&native_, &mutex_->native_, &deadline) != 0;
}

// Spins for a short time. Then it lets other threads run, because the thread that holds the lock
// may have been preempted.
void SpinLock::LockSlowly() {
  constexpr int kSpins = 100;
  for (int i = 0;; ++i) {
    if (TryLock()) return;
    if (i < kSpins) {
      SpinPause();
    } else {
      sched_yield();
    }
  }
}

}  // namespace ashlar
