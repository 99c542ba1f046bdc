// SPDX-License-Identifier: Apache-2.0
//
// Jobs on the threads of a pool.
#include "db/utilities/copy/copy_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/utilities/copy/copy_progress.h"
#include "env/sim/sim_env.h"
#include "tests/support/status_matchers.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

TEST(CopyPool, EveryJobRunsOnce) {
  for (const int threads : {-1, 0, 1, 3, 100}) {
    CopyPool pool(threads);
    std::vector<std::atomic<int>> runs(50);
    ASSERT_OK(pool.Run({.count = runs.size(), .job = [&](size_t i) {
                          ++runs[i];
                          return Status::OK();
                        }}));
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
  CopyPool pool(2);
  ASSERT_OK(pool.Run({.count = 0, .job = [](size_t) { return Status::Corruption(); }}));
}

TEST(CopyPool, AnErrorEndsTheRestUnlessTheyGoOn) {
  CopyPool pool(1);
  int runs = 0;
  const auto fails_from_third = [&](size_t i) {
    ++runs;
    return i < 2 ? Status::OK() : Status::Corruption(std::to_string(i));
  };
  EXPECT_EQ(pool.Run({.count = 9, .job = fails_from_third}).ToString(), "Corruption: 2");
  EXPECT_EQ(runs, 3);
  runs = 0;
  EXPECT_EQ(
      pool.Run({.count = 9, .job = fails_from_third, .after_error = CopyPool::AfterError::kGoOn})
          .ToString(),
      "Corruption: 2");
  EXPECT_EQ(runs, 9);
}

TEST(CopyPool, TheErrorOfTheFirstJobCounts) {
  CopyPool pool(4);
  EXPECT_EQ(pool.Run({.count = 30,
                      .job = [](size_t i) { return Status::Corruption(std::to_string(i)); },
                      .after_error = CopyPool::AfterError::kGoOn})
                .ToString(),
            "Corruption: 0");
}

// Two jobs wait for each other.
TEST(CopyPool, JobsRunBesideEachOther) {
  CopyPool pool(2);
  Mutex mutex(LockRank::kLeaf);
  CondVar both(&mutex);
  int begun = 0;
  ASSERT_OK(pool.Run({.count = 2, .job = [&](size_t) {
                        MutexLock lock(&mutex);
                        ++begun;
                        both.SignalAll();
                        while (begun < 2) both.Wait();
                        return Status::OK();
                      }}));
}

TEST(CopyPool, AllCallersTogetherHaveItsThreads) {
  CopyPool pool(2);
  std::atomic<int> running{0}, most{0};
  const auto call = [&] {
    EXPECT_OK(pool.Run({.count = 200, .job = [&](size_t) {
                          const int now = ++running;
                          int seen = most;
                          while (seen < now && !most.compare_exchange_weak(seen, now)) {
                          }
                          std::this_thread::yield();
                          --running;
                          return Status::OK();
                        }}));
  };
  std::thread first(call), second(call), third(call);
  first.join();
  second.join();
  third.join();
  EXPECT_LE(most, 2);
}

TEST(CopyPool, AJobMayBeginAnotherCall) {
  CopyPool pool(1);
  int inner = 0;
  ASSERT_OK(pool.Run({.count = 2, .job = [&](size_t) {
                        return pool.Run({.count = 3, .job = [&](size_t) {
                                           ++inner;
                                           return Status::OK();
                                         }});
                      }}));
  EXPECT_EQ(inner, 6);
}

// The second job holds the other slot until the first one's inner jobs are done.
TEST(CopyPool, InnerJobsNeedNoOtherSlot) {
  CopyPool pool(2);
  Mutex mutex(LockRank::kLeaf);
  CondVar changed(&mutex);
  int begun = 0;
  bool is_inner_done = false, is_too_late = false;
  const auto run_inner = [&] {
    const Status status = pool.Run({.count = 3, .job = [](size_t) { return Status::OK(); }});
    MutexLock lock(&mutex);
    is_inner_done = true;
    changed.SignalAll();
    return status;
  };
  ASSERT_OK(pool.Run({.count = 2, .job = [&](size_t i) {
                        {
                          MutexLock lock(&mutex);
                          ++begun;
                          changed.SignalAll();
                          while (begun < 2) changed.Wait();
                        }
                        if (i == 0) return run_inner();
                        MutexLock lock(&mutex);
                        while (!is_inner_done && !is_too_late) {
                          is_too_late = changed.WaitFor(60'000'000);
                        }
                        return Status::OK();
                      }}));
  EXPECT_FALSE(is_too_late);
}

TEST(CopyPool, ASimulationHasOneThread) {
  SimExecutor executor(1);
  CopyPool pool(4);
  std::set<std::thread::id> threads;
  for (const auto priority : {std::optional<CpuPriority>(), std::optional(CpuPriority::kLow)}) {
    ASSERT_OK(pool.Run({.count = 8,
                        .job =
                            [&](size_t) {
                              threads.insert(std::this_thread::get_id());
                              return Status::OK();
                            },
                        .cpu_priority = priority}));
  }
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

// That of the caller stays as it is.
TEST(CopyPool, ALowPriorityIsThatOfItsThreadsAlone) {
  CopyPool pool(1);
  const auto mine = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); };
  const int before = mine();
  int within = 0;
  ASSERT_OK(pool.Run({.count = 1,
                      .job =
                          [&](size_t) {
                            within = mine();
                            return Status::OK();
                          },
                      .cpu_priority = CpuPriority::kIdle}));
  EXPECT_EQ(within, 19);
  EXPECT_EQ(mine(), before);
}

TEST(CopyProgress, IntervalsAreOfAllThreadsTogether) {
  int calls = 0;
  CopyProgress progress([&calls] { ++calls; }, 10);
  for (int i = 0; i < 9; i++) ASSERT_OK(progress.Add(1));
  EXPECT_EQ(calls, 0);
  ASSERT_OK(progress.Add(1));
  EXPECT_EQ(calls, 1);
  ASSERT_OK(progress.Add(35));
  EXPECT_EQ(calls, 2);
  ASSERT_OK(CopyProgress(nullptr, 1).Add(100));
}

}  // namespace
}  // namespace ashlar
