// SPDX-License-Identifier: Apache-2.0
//
// A limit on tasks, and the waiters for room.
#include "util/threads/concurrent_task_limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace ashlar {
namespace {

class Counter final : public TaskLimiter::Waiter {
 public:
  void OnRoom() override { told++; }
  std::atomic<int> told{0};
};

TEST(TaskLimiter, NoMoreTokensThanItsLimitButThoseThatAreForced) {
  TaskLimiter limiter("name", 2);
  auto first = limiter.Take(false), second = limiter.Take(false);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(limiter.Take(false), nullptr);
  auto forced = limiter.Take(true);
  EXPECT_EQ(limiter.GetOutstandingTask(), 3);
  first.reset();
  EXPECT_EQ(limiter.Take(false), nullptr);
  second.reset();
  EXPECT_NE(limiter.Take(false), nullptr);
  limiter.SetMaxOutstandingTask(0);
  EXPECT_EQ(limiter.Take(false), nullptr);
  limiter.ResetMaxOutstandingTask();
  EXPECT_NE(limiter.Take(false), nullptr);
}

TEST(TaskLimiter, OfThePublicOnesItKnowsItsOwn) {
  const std::unique_ptr<ConcurrentTaskLimiter> ours(NewConcurrentTaskLimiter("n", 1));
  EXPECT_EQ(TaskLimiter::From(ours.get()), ours.get());
  EXPECT_EQ(TaskLimiter::From(nullptr), nullptr);
  class Foreign final : public ConcurrentTaskLimiter {
   public:
    const std::string& GetName() const override { return name; }
    void SetMaxOutstandingTask(int32_t) override {}
    void ResetMaxOutstandingTask() override {}
    int32_t GetOutstandingTask() const override { return 0; }
    std::string name;
  } foreign;
  EXPECT_EQ(TaskLimiter::From(&foreign), nullptr);
}

TEST(TaskLimiter, WaitersAreToldOnceWhenThereIsRoom) {
  TaskLimiter limiter("name", 1);
  Counter waiter;
  EXPECT_FALSE(limiter.Await(&waiter)) << "there is room";
  auto token = limiter.Take(false), forced = limiter.Take(true);
  EXPECT_TRUE(limiter.Await(&waiter));
  EXPECT_TRUE(limiter.Await(&waiter));
  token.reset();
  EXPECT_EQ(waiter.told, 0) << "the forced one is still there";
  forced.reset();
  EXPECT_EQ(waiter.told, 1);
  limiter.SetMaxOutstandingTask(0);
  EXPECT_EQ(waiter.told, 1);
  EXPECT_TRUE(limiter.Await(&waiter));
  limiter.SetMaxOutstandingTask(1);
  EXPECT_EQ(waiter.told, 2);
  limiter.SetMaxOutstandingTask(0);
  EXPECT_TRUE(limiter.Await(&waiter));
  limiter.Forget(&waiter);
  limiter.ResetMaxOutstandingTask();
  EXPECT_EQ(waiter.told, 2);
}

// Forget() returns when no thread is in OnRoom().
TEST(TaskLimiter, ForgettingWaitsForWhoIsTelling) {
  class Slow final : public TaskLimiter::Waiter {
   public:
    void OnRoom() override {
      is_inside = true;
      is_inside.notify_all();
      may_go.wait(false);
      is_over = true;
    }
    std::atomic<bool> is_inside{false}, may_go{false}, is_over{false};
  } waiter;
  TaskLimiter limiter("name", 0);
  ASSERT_TRUE(limiter.Await(&waiter));
  std::thread teller([&] { limiter.SetMaxOutstandingTask(1); });
  waiter.is_inside.wait(false);
  std::thread forgetter([&] {
    limiter.Forget(&waiter);
    EXPECT_TRUE(waiter.is_over);
  });
  waiter.may_go = true;
  waiter.may_go.notify_all();
  teller.join();
  forgetter.join();
}

}  // namespace
}  // namespace ashlar
