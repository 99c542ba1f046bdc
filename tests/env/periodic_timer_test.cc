// SPDX-License-Identifier: Apache-2.0
//
// The timer: which tasks are called and when, and which are not called any more. The test passes
// the time.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "env/periodic_timer.h"
#include "tests/support/forked_child.h"
#include "tests/support/skip.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // longer than any test

class Task final : public PeriodicTask {
 public:
  void RunPeriodically() override {
    calls++;
    if (on_call) on_call();
  }
  std::atomic<int> calls{0};
  std::function<void()> on_call;
};

class PeriodicTimerTest : public testing::Test {
 protected:
  ~PeriodicTimerTest() override {
    timer_.Forget(&first_);
    timer_.Forget(&second_);
  }

  Task first_, second_;
  PeriodicTimer timer_;
};

TEST_F(PeriodicTimerTest, CallsAtEachPeriod) {
  ASSERT_TRUE(timer_.Set(&first_, 2 * kHour));
  timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 0);
  timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 1);
  timer_.PassTime(2 * kHour);
  EXPECT_EQ(first_.calls, 2);
}

TEST_F(PeriodicTimerTest, EachTaskHasItsOwnPeriod) {
  ASSERT_TRUE(timer_.Set(&first_, kHour));
  ASSERT_TRUE(timer_.Set(&second_, 3 * kHour));
  for (int i = 0; i < 6; i++) timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 6);
  EXPECT_EQ(second_.calls, 2);
}

TEST_F(PeriodicTimerTest, MissedCallsAreNotMadeUpFor) {
  ASSERT_TRUE(timer_.Set(&first_, kHour));
  timer_.PassTime(100 * kHour);
  EXPECT_EQ(first_.calls, 1);
}

TEST_F(PeriodicTimerTest, TheSamePeriodAgainChangesNothingAnotherOneBegins) {
  ASSERT_TRUE(timer_.Set(&first_, 2 * kHour));
  timer_.PassTime(kHour);
  ASSERT_TRUE(timer_.Set(&first_, 2 * kHour));
  timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 1);
  timer_.PassTime(kHour);
  ASSERT_TRUE(timer_.Set(&first_, 3 * kHour));
  timer_.PassTime(2 * kHour);
  EXPECT_EQ(first_.calls, 1);
  timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 2);
}

TEST_F(PeriodicTimerTest, PeriodZeroEndsIt) {
  ASSERT_TRUE(timer_.Set(&first_, kHour));
  ASSERT_TRUE(timer_.Set(&second_, kHour));
  ASSERT_TRUE(timer_.Set(&first_, 0));
  timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 0);
  EXPECT_EQ(second_.calls, 1);
}

TEST_F(PeriodicTimerTest, ATaskMayForgetItselfAndChangeItsPeriod) {
  first_.on_call = [this] { timer_.Forget(&first_); };
  second_.on_call = [this] { timer_.Set(&second_, 2 * kHour); };
  ASSERT_TRUE(timer_.Set(&first_, kHour));
  ASSERT_TRUE(timer_.Set(&second_, kHour));
  timer_.PassTime(kHour);
  timer_.PassTime(kHour);
  EXPECT_EQ(first_.calls, 1);
  EXPECT_EQ(second_.calls, 1);
  timer_.PassTime(kHour);
  EXPECT_EQ(second_.calls, 2);
}

// TSan and ASan detect an access to the task afterwards.
TEST_F(PeriodicTimerTest, AForgottenTaskIsNotRunning) {
  for (int i = 0; i < 100; i++) {
    auto task = std::make_unique<Task>();
    ASSERT_TRUE(timer_.Set(task.get(), 1));
    timer_.PassTime(1);
    timer_.Forget(task.get());
    const int calls = task->calls;
    task->calls = 0;
    EXPECT_GE(calls, 1);
  }
}

TEST_F(PeriodicTimerTest, AChildStartsAThreadOfItsOwn) {
  if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
  ASSERT_TRUE(timer_.Set(&first_, kHour));
  timer_.PassTime(kHour);
  EXPECT_TRUE(PassesInChild([this] {
    if (!timer_.Set(&first_, kHour)) return false;  // the same as before
    timer_.PassTime(kHour);
    return first_.calls == 2;
  }));
}

TEST_F(PeriodicTimerTest, AChildDoesNotWaitForACallInItsParent) {
  std::atomic<bool> is_called{false}, may_end{false};
  first_.on_call = [&] {
    is_called = true;
    while (!may_end) std::this_thread::yield();
  };
  ASSERT_TRUE(timer_.Set(&first_, 1));
  while (!is_called) std::this_thread::yield();
  EXPECT_TRUE(PassesInChild([this] {
    timer_.Forget(&first_);
    return true;
  }));
  may_end = true;
  timer_.Forget(&first_);
}

}  // namespace
}  // namespace ashlar
