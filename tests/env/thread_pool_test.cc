// SPDX-License-Identifier: Apache-2.0
//
// Thread pools: every job runs once; limits, unscheduling, joining. Threads meet at barriers, and
// never sleep for that.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ashlar/env.h"
#include "env/thread_list.h"
#include "env/thread_pool.h"
#include "tests/support/forked_child.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Opens once, for all waiting threads.
class Gate {
 public:
  void Open() {
    std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

// Opens when `count` threads have arrived.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  void Arrive() {
    std::unique_lock lock(mutex_);
    if (--missing_ == 0) changed_.notify_all();
    changed_.wait(lock, [&] { return missing_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
};

TEST(ThreadPool, EveryJobRunsOnce) {
  ThreadPoolImpl pool("test", 4);
  std::atomic<int> sum{0};
  for (int i = 1; i <= 1000; ++i) pool.SubmitJob([&sum, i] { sum += i; });
  pool.WaitForJobsAndJoinAllThreads();
  EXPECT_EQ(sum.load(), 500500);
  EXPECT_EQ(pool.GetQueueLen(), 0u);
}

TEST(ThreadPool, AsManyJobsRunAtOnceAsTheLimitSays) {
  ThreadPoolImpl pool("test", 3);
  Meeting meeting(3);
  for (int i = 0; i < 3; ++i) pool.SubmitJob([&] { meeting.Arrive(); });
  pool.WaitForJobsAndJoinAllThreads();
}

TEST(ThreadPool, OneThreadRunsJobsInOrder) {
  ThreadPoolImpl pool("test", 1);
  std::vector<int> order;
  for (int i = 0; i < 50; ++i) pool.SubmitJob([&order, i] { order.push_back(i); });
  pool.WaitForJobsAndJoinAllThreads();
  ASSERT_EQ(order.size(), 50u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPool, WithoutThreadsJobsWaitForTheLimitToRise) {
  ThreadPoolImpl pool("test", 0);
  Gate ran;
  pool.SubmitJob([&] { ran.Open(); });
  EXPECT_EQ(pool.GetQueueLen(), 1u);
  pool.SetBackgroundThreads(1);
  ran.Wait();
}

TEST(ThreadPool, JoiningDropsWhatIsStillQueued) {
  ThreadPoolImpl pool("test", 1);
  Gate started, finish;
  std::atomic<bool> second_ran{false};
  pool.SubmitJob([&] {
    started.Open();
    finish.Wait();
  });
  started.Wait();
  pool.SubmitJob([&] { second_ran = true; });
  std::thread joiner([&] { pool.JoinAllThreads(); });
  while (pool.GetQueueLen() != 0) std::this_thread::yield();
  finish.Open();
  joiner.join();
  EXPECT_FALSE(second_ran.load());
}

TEST(ThreadPool, APoolWorksAgainAfterJoining) {
  ThreadPoolImpl pool("test", 2);
  std::atomic<int> count{0};
  for (int round = 0; round < 3; ++round) {
    pool.SubmitJob([&] { ++count; });
    pool.WaitForJobsAndJoinAllThreads();
  }
  EXPECT_EQ(count.load(), 3);
}

TEST(ThreadPool, QueuedJobsCanBeTakenBackByTag) {
  ThreadPoolImpl pool("test", 1);
  Gate started, finish;
  pool.SubmitJob([&] {
    started.Open();
    finish.Wait();
  });
  started.Wait();
  static std::atomic<int> ran, taken_back;
  ran = 0, taken_back = 0;
  const auto run = [](void*) { ++ran; };
  const auto take_back = [](void*) { ++taken_back; };
  int tag = 0, other_tag = 0;
  pool.Schedule(run, nullptr, &tag, take_back);
  pool.Schedule(run, nullptr, &other_tag, take_back);
  pool.Schedule(run, nullptr, &tag, nullptr);
  EXPECT_EQ(pool.UnSchedule(&tag), 2);
  finish.Open();
  pool.WaitForJobsAndJoinAllThreads();
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(taken_back.load(), 1);
}

TEST(ThreadPool, ALowerLimitHoldsAtOnceAndAHigherStartsThreads) {
  ThreadPoolImpl pool("test", 4);
  Meeting all_run(5);
  Gate finish;
  for (int i = 0; i < 4; ++i) {
    pool.SubmitJob([&] {
      all_run.Arrive();
      finish.Wait();
    });
  }
  all_run.Arrive();
  pool.SetBackgroundThreads(1);
  std::atomic<int> running{0}, most{0};
  Meeting last_ran(2);
  for (int i = 0; i < 20; ++i) {
    pool.SubmitJob([&, i] {
      const int now = ++running;
      int seen = most.load();
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      --running;
      if (i == 19) last_ran.Arrive();
    });
  }
  finish.Open();
  last_ran.Arrive();
  EXPECT_EQ(most.load(), 1);
  pool.IncBackgroundThreadsIfNeeded(1);
  EXPECT_EQ(pool.GetBackgroundThreads(), 1);
  pool.IncBackgroundThreadsIfNeeded(2);
  EXPECT_EQ(pool.GetBackgroundThreads(), 2);
  Meeting two(2);
  for (int i = 0; i < 2; ++i) pool.SubmitJob([&] { two.Arrive(); });
  pool.WaitForJobsAndJoinAllThreads();
}

TEST(ThreadPool, ReservedThreadsTakeNoJobs) {
  ThreadPoolImpl pool("test", 2);
  Meeting both(2);
  std::atomic<int> done{0};
  for (int i = 0; i < 2; ++i) {
    pool.SubmitJob([&] {
      both.Arrive();
      ++done;
    });
  }
  // Both threads exist; wait until they are idle again.
  int reserved = 0;
  while ((reserved += pool.ReserveThreads(2 - reserved)) < 2) std::this_thread::yield();
  Gate ran;
  pool.SubmitJob([&] { ran.Open(); });
  EXPECT_EQ(pool.GetQueueLen(), 1u);
  EXPECT_EQ(pool.ReleaseThreads(1), 1);
  ran.Wait();
  EXPECT_EQ(pool.ReleaseThreads(5), 1);
}

TEST(ThreadPool, AJobMaySubmitAnother) {
  ThreadPoolImpl pool("test", 1);
  Gate ran;
  pool.SubmitJob([&] { pool.SubmitJob([&] { ran.Open(); }); });
  ran.Wait();
}

TEST(ThreadPool, TheFactoryMakesOne) {
  const std::unique_ptr<ThreadPool> pool(NewThreadPool(2));
  EXPECT_EQ(pool->GetBackgroundThreads(), 2);
  std::atomic<bool> ran{false};
  pool->SubmitJob([&] { ran = true; });
  pool->WaitForJobsAndJoinAllThreads();
  EXPECT_TRUE(ran.load());
}

class ForkedPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
    Gate ran;
    pool_->SubmitJob([&] { ran.Open(); });
    ran.Wait();
    while (pool_->ReserveThreads(1) == 0) std::this_thread::yield();  // its thread waits for a job
  }
  static bool RunsAJob(ThreadPool* pool) {
    Gate ran;
    pool->SubmitJob([&] { ran.Open(); });
    ran.Wait();
    return true;
  }

  ThreadStatusUpdater list_;
  std::unique_ptr<ThreadPoolImpl> pool_ =
      std::make_unique<ThreadPoolImpl>("test", 1, ThreadPlace{&list_, ThreadStatus::USER});
};

// The parent's idle threads do not count in the child, nor do its reservations, which took all
// threads.
TEST_F(ForkedPoolTest, AChildHasThreadsOfItsOwn) {
  EXPECT_TRUE(PassesInChild([this] {
    const bool is_empty = list_.List().empty();
    return RunsAJob(pool_.get()) && is_empty && list_.List().size() == 1;
  }));
  pool_->ReleaseThreads(1);
  EXPECT_TRUE(RunsAJob(pool_.get()));
}

TEST_F(ForkedPoolTest, AChildMayEndThePool) {
  EXPECT_TRUE(PassesInChild([this] {
    pool_->JoinAllThreads();
    pool_.reset();
    return true;
  }));
}

TEST_F(ForkedPoolTest, WhatIsQueuedIsTheParents) {
  std::atomic<int> runs{0};
  pool_->SubmitJob([&] { ++runs; });  // the only thread is reserved
  EXPECT_TRUE(PassesInChild(
      [&] { return RunsAJob(pool_.get()) && runs == 0 && pool_->GetQueueLen() == 0; }));
  EXPECT_EQ(runs, 0);
  pool_->ReleaseThreads(1);
  pool_->WaitForJobsAndJoinAllThreads();
  EXPECT_EQ(runs, 1);
}

TEST(EnvThreads, AChildWaitsForNoThreadOfItsParents) {
  static std::atomic<bool> may_end, has_begun;
  may_end = has_begun = false;
  Env* const env = Env::Default();
  env->StartThread(
      [](void*) {
        has_begun = true;
        while (!may_end) std::this_thread::yield();
      },
      nullptr);
  while (!has_begun) std::this_thread::yield();
  EXPECT_TRUE(PassesInChild([env] {
    env->WaitForJoin();
    return true;
  }));
  may_end = true;
  env->WaitForJoin();
}

TEST(EnvThreads, EachPriorityHasItsPool) {
  Env* env = Env::Default();
  static Gate gates[Env::TOTAL];
  for (const auto pri : {Env::BOTTOM, Env::LOW, Env::HIGH, Env::USER}) {
    env->IncBackgroundThreadsIfNeeded(1, pri);
    env->Schedule([](void* gate) { static_cast<Gate*>(gate)->Open(); }, &gates[pri], pri);
    gates[pri].Wait();
  }
  EXPECT_EQ(env->UnSchedule(nullptr, Env::LOW), 0);
}

}  // namespace
}  // namespace ashlar
