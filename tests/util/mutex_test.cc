// SPDX-License-Identifier: Apache-2.0
//
// Mutexes exclude each other's holders, builds with assertions enforce ranks, and timed waits end.
#include "util/threads/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace ashlar {
namespace {

template <typename Lock>
int CountWith(Lock* lock) {
  constexpr int kThreads = 4, kRounds = 5000;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        lock->Lock();
        ++count;
        lock->Unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return count;
}

TEST(Mutex, Excludes) {
  Mutex mutex(LockRank::kLeaf);
  EXPECT_EQ(CountWith(&mutex), 20000);
}

TEST(SpinLock, Excludes) {
  SpinLock lock;
  EXPECT_EQ(CountWith(&lock), 20000);
}

TEST(Mutex, TryLockFailsWhileAnotherThreadHoldsIt) {
  Mutex mutex(LockRank::kLeaf);
  MutexLock lock(&mutex);
  bool taken = true;
  std::thread([&] {
    if (!mutex.TryLock()) {
      taken = false;
      return;
    }
    mutex.Unlock();
  }).join();
  EXPECT_FALSE(taken);
}

TEST(MutexUnlock, GivesTheMutexBackForItsScope) {
  Mutex mutex(LockRank::kLeaf);
  MutexLock lock(&mutex);
  {
    MutexUnlock unlock(&mutex);
    std::thread([&] { MutexLock inner(&mutex); }).join();
  }
  mutex.AssertHeld();
}

TEST(CondVar, WakesAWaiter) {
  Mutex mutex(LockRank::kLeaf);
  CondVar ready(&mutex);
  bool is_ready = false;
  std::thread setter([&] {
    MutexLock lock(&mutex);
    is_ready = true;
    ready.SignalAll();
  });
  {
    MutexLock lock(&mutex);
    while (!is_ready) ready.Wait();
  }
  setter.join();
  EXPECT_TRUE(is_ready);
}

TEST(CondVar, TimedWaitEndsByItself) {
  Mutex mutex(LockRank::kLeaf);
  CondVar never(&mutex);
  MutexLock lock(&mutex);
  while (!never.WaitFor(100)) {
  }
  mutex.AssertHeld();
}

#if ASHLAR_CHECK_LOCK_RANKS

TEST(LockRanks, AllowOutermostFirst) {
  Mutex db(LockRank::kDb), wal(LockRank::kWal), leaf(LockRank::kLeaf);
  MutexLock a(&db);
  MutexLock b(&wal);
  MutexLock c(&leaf);
  db.AssertHeld();
  leaf.AssertHeld();
}

void TakeBoth(Mutex* first, Mutex* second) {
  MutexLock a(first);
  MutexLock b(second);
}

TEST(LockRanksDeathTest, StopTheWrongOrder) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Mutex db(LockRank::kDb), wal(LockRank::kWal);
  EXPECT_DEATH(TakeBoth(&wal, &db), "rank 2 is taken while one of rank 3 is held");
}

TEST(LockRanksDeathTest, StopTwoOfOneRank) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Mutex a(LockRank::kCacheShard), b(LockRank::kCacheShard);
  EXPECT_DEATH(TakeBoth(&a, &b), "rank");
}

TEST(LockRanksDeathTest, AssertHeldStopsAThreadThatDoesNotHold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Mutex mutex(LockRank::kLeaf);
  EXPECT_DEATH(mutex.AssertHeld(), "not held");
}

#endif

}  // namespace
}  // namespace ashlar
