// SPDX-License-Identifier: Apache-2.0
//
// With a mutex factory of the program, all waiting goes through its mutexes and condition
// variables.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "db/transaction/locks/range_locks.h"
#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"

namespace ashlar {
namespace {

// What a test does to the mutexes, and what it sees of them.
struct Control {
  std::atomic<int> locked{0};  // mutexes that are locked now
  std::atomic<int> waits{0};   // calls of Wait() and WaitFor()
  std::atomic<int> notified{0};
  std::atomic<bool> is_busy{false};        // TryLockFor() times out
  std::atomic<bool> is_killed{false};      // waits time out at once
  std::atomic<bool> is_broken{false};      // waits fail
  std::atomic<bool> has_no_memory{false};  // no condition variable can be made
  std::function<void()> before_throw;      // the next wait calls it without the mutex and throws
  std::function<void()> after_unlock;      // if set, called when a mutex is free again
  std::atomic<uint64_t> now_micros{1'000'000};
};

class TestMutex final : public TransactionDBMutex {
 public:
  explicit TestMutex(Control* control) : control_(control) {}
  Status Lock() override {
    mutex.lock();
    control_->locked++;
    return Status::OK();
  }
  Status TryLockFor(int64_t) override {
    if (control_->is_busy) return Status::TimedOut(Status::kMutexTimeout);
    return Lock();
  }
  void UnLock() override {
    control_->locked--;
    mutex.unlock();
    if (control_->after_unlock != nullptr) control_->after_unlock();
  }

  std::mutex mutex;

 private:
  Control* const control_;
};

class TestCondition final : public TransactionDBCondVar {
 public:
  explicit TestCondition(Control* control) : control_(control) {}
  Status Wait(std::shared_ptr<TransactionDBMutex> mutex) override { return WaitFor(mutex, -1); }
  Status WaitFor(std::shared_ptr<TransactionDBMutex> mutex, int64_t micros) override {
    std::unique_lock<std::mutex> lock(static_cast<TestMutex*>(mutex.get())->mutex, std::adopt_lock);
    control_->waits++;
    Status status;
    if (control_->before_throw != nullptr) {
      Throw(std::move(lock));
    } else if (control_->is_broken) {
      status = Status::Aborted("broken");
    } else if (control_->is_killed) {
      status = Status::TimedOut(Status::kMutexTimeout);
    } else if (micros < 0) {
      control_->locked--;
      condition_.wait(lock);
      control_->locked++;
    } else {  // nothing happens until then
      control_->now_micros += static_cast<uint64_t>(micros);
      status = Status::TimedOut();
    }
    lock.release();
    return status;
  }
  void Notify() override { NotifyAll(); }
  void NotifyAll() override {
    control_->notified++;
    condition_.notify_all();
  }

 private:
  // As a standard condition variable, it throws with the mutex locked.
  [[noreturn]] void Throw(std::unique_lock<std::mutex> lock) {
    const std::function<void()> before_throw = std::exchange(control_->before_throw, nullptr);
    control_->locked--;
    lock.unlock();
    before_throw();
    lock.lock();
    control_->locked++;
    lock.release();
    throw std::runtime_error("condition variable");
  }

  Control* const control_;
  std::condition_variable condition_;
};

class TestFactory final : public TransactionDBMutexFactory {
 public:
  explicit TestFactory(Control* control) : control_(control) {}
  std::shared_ptr<TransactionDBMutex> AllocateMutex() override {
    return std::make_shared<TestMutex>(control_);
  }
  std::shared_ptr<TransactionDBCondVar> AllocateCondVar() override {
    if (control_->has_no_memory) throw std::bad_alloc();
    return std::make_shared<TestCondition>(control_);
  }

 private:
  Control* const control_;
};

// The time of the condition variables, which passes only while one of them is waited for with a
// limit. Nothing sleeps in it.
class ControlClock final : public LockClock {
 public:
  uint64_t NowMicros() override { return control.now_micros; }
  int64_t UnixSeconds() override { return 0; }
  void Wait(const std::atomic<uint32_t>*, uint32_t, uint64_t) override { ADD_FAILURE(); }
  void Wake(const std::atomic<uint32_t>*) override { ADD_FAILURE(); }

  Control control;
};

class CustomMutexTest : public LockFixture<ControlClock> {
 protected:
  CustomMutexTest() {
    KeyLocksOptions options;
    options.min_shards = 1;
    options.mutex_factory = std::make_shared<TestFactory>(&control);
    UsePointLocks(options, 4);
  }
  ~CustomMutexTest() override {
    owners.clear();
    EXPECT_EQ(control.locked, 0);
  }

  Control& control = clock.control;
};

class CustomRangeMutexTest : public LockFixture<ControlClock*, RangeLocks> {
 protected:
  CustomRangeMutexTest() {
    auto owned = std::make_unique<ControlClock>();
    clock = owned.get();
    const auto factory = std::make_shared<TestFactory>(&owned->control);
    Use(std::make_unique<RangeLocks>(std::move(owned), factory), 4);
  }
  // Of the owner 2, whose wait throws.
  void ExpectThrown(const std::function<Status()>& acquire) {
    EXPECT_THROW(IgnoreError(acquire(), "it throws"), std::runtime_error);
    EXPECT_EQ(locks->GetTotals().waiters, 0u);
  }
};

TEST_F(CustomMutexTest, AWaitGoesThroughTheConditionVariable) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = -1;
  Waiting waiting(locks.get(), &Owner(2), "k", LockMode::kExclusive);
  while (control.waits == 0) std::this_thread::yield();
  Owner(1).Release("k");
  EXPECT_OK(waiting.Result());
  EXPECT_EQ(control.waits, 1);
  EXPECT_EQ(control.notified, 1);
}

TEST_F(CustomMutexTest, AMutexThatIsNotHadInTimeIsAnErrorOfItsOwn) {
  control.is_busy = true;
  const Status status = Owner(1).Exclude("k");
  EXPECT_TRUE(status.IsTimedOut());
  EXPECT_EQ(status.subcode(), Status::kMutexTimeout);
  EXPECT_EQ(Owner(1).Mode("k"), LockMode::kNone);
  Owner(1).lock_timeout_micros = -1;  // waits for the mutex as long as it takes
  EXPECT_OK(Owner(1).Exclude("k"));
}

TEST_F(CustomMutexTest, AWaitEndsWithItsTimeout) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = 1000;
  const uint64_t begin = clock.NowMicros();
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_EQ(clock.NowMicros(), begin + 1000);
  EXPECT_EQ(HoldersOf(locks.get(), "k"), std::vector<TransactionID>{1});
}

TEST_F(CustomMutexTest, TheProgramEndsAWaitByATimeoutBeforeItsTime) {
  ASSERT_OK(Owner(1).Exclude("k"));
  control.is_killed = true;
  Owner(2).lock_timeout_micros = int64_t{3'600'000'000};
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  Owner(3).lock_timeout_micros = -1;
  EXPECT_TRUE(IsLockTimeout(Owner(3).Exclude("k")));
}

TEST_F(CustomMutexTest, TheErrorOfAConditionVariableIsPassedOn) {
  ASSERT_OK(Owner(1).Exclude("k"));
  control.is_broken = true;
  EXPECT_EQ(Owner(2).Exclude("k").ToString(), Status::Aborted("broken").ToString());
  EXPECT_EQ(locks->GetTotals().waiters, 0u);
}

TEST_F(CustomMutexTest, AConditionVariableThatCannotBeMadeLeavesNoWait) {
  ASSERT_OK(Owner(1).Exclude("k"));
  control.has_no_memory = true;
  EXPECT_THROW(IgnoreError(Owner(2).Exclude("k"), "it throws"), std::bad_alloc);
  EXPECT_EQ(locks->GetTotals().waiters, 0u);
  Owner(1).Release("k");
  EXPECT_OK(Owner(3).Exclude("k"));
}

TEST_F(CustomMutexTest, AWaitThatThrowsIsOver) {
  ASSERT_OK(Owner(1).Exclude("k"));
  control.before_throw = [] {};
  EXPECT_THROW(IgnoreError(Owner(2).Exclude("k"), "it throws"), std::runtime_error);
  EXPECT_EQ(control.locked, 0);
  EXPECT_EQ(locks->GetTotals().waiters, 0u);
  Owner(1).Release("k");
  EXPECT_OK(Owner(3).Exclude("k"));
}

TEST_F(CustomMutexTest, ALockThatIsGrantedBeforeTheWaitThrowsHasItsOwner) {
  ASSERT_OK(Owner(1).Exclude("k"));
  control.before_throw = [&] { Owner(1).Release("k"); };
  EXPECT_THROW(IgnoreError(Owner(2).Exclude("k"), "it throws"), std::runtime_error);
  EXPECT_EQ(Owner(2).Mode("k"), LockMode::kExclusive);
  EXPECT_EQ(HoldersOf(locks.get(), "k"), std::vector<TransactionID>{2});
  Owner(2).Release("k");
  EXPECT_OK(Owner(3).Exclude("k"));
}

TEST_F(CustomMutexTest, ADeadlockIsFound) {
  Owner(2).deadlock_detect = true;
  for (const TransactionID id : {1, 2}) Owner(id).lock_timeout_micros = -1;
  ASSERT_OK(Owner(1).Exclude("a"));
  ASSERT_OK(Owner(2).Exclude("b"));
  Waiting waiting(locks.get(), &Owner(1), "b", LockMode::kExclusive);
  EXPECT_TRUE(Owner(2).Exclude("a").IsDeadlock());
  Owner(2).ReleaseAll();
  EXPECT_OK(waiting.Result());
  EXPECT_EQ(locks->GetDeadlocks().size(), 1u);
}

TEST_F(CustomMutexTest, AnExpiredLockIsTaken) {
  Owner(1).expiration_deadline = clock.NowMicros() + 2000;
  ASSERT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = -1;
  EXPECT_OK(Owner(2).Exclude("k"));
  EXPECT_TRUE(Owner(1).is_stolen);
  EXPECT_EQ(clock.NowMicros(), Owner(1).expiration_deadline);
}

TEST_F(CustomRangeMutexTest, ARangeThatIsGrantedBeforeTheWaitThrowsIsGivenBack) {
  ASSERT_OK(Owner(1).Exclude("k"));
  clock->control.before_throw = [&] { Owner(1).Release("k"); };
  ExpectThrown([&] { return Owner(2).Exclude("k"); });
  EXPECT_EQ(Owner(2).Mode("k"), LockMode::kNone);
  EXPECT_EQ(locks->GetTotals().keys, 0u);

  ASSERT_OK(Owner(1).Exclude("k"));
  clock->control.before_throw = [&] { Owner(1).Release("k"); };
  ExpectThrown([&] {
    return locks->AcquireRange(&Owner(2), 0, Endpoint("a"), Endpoint("z"), LockMode::kExclusive);
  });
  EXPECT_EQ(locks->GetTotals().keys, 0u);
}

// Those that wait for it go on.
TEST_F(CustomRangeMutexTest, ARangeThatIsGivenBackIsGrantedToTheNext) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Owner(3).lock_timeout_micros = -1;
  std::unique_ptr<Waiting> next;
  clock->control.before_throw = [&] {
    next = std::make_unique<Waiting>(locks.get(), &Owner(3), "k", LockMode::kExclusive);
    Owner(1).Release("k");
  };
  ExpectThrown([&] { return Owner(2).Exclude("k"); });
  EXPECT_OK(next->Result());
  EXPECT_EQ(HoldersOf(locks.get(), "k"), std::vector<TransactionID>{3});
}

// What the owner had before is not given back with it.
TEST_F(CustomRangeMutexTest, ARangeThatWasJoinedStays) {
  ASSERT_OK(Owner(1).Exclude("k"));
  ASSERT_OK(Owner(2).Exclude("l"));
  clock->control.before_throw = [&] {
    Owner(1).Release("k");
    ASSERT_EQ(locks->SetMaxLockMemory(locks->GetStatus().current_lock_memory), 0);
    ASSERT_OK(Owner(3).Exclude("z"));
  };
  ExpectThrown([&] { return Owner(2).Exclude("k"); });
  ASSERT_EQ(locks->SetMaxLockMemory(1 << 20), 0);
  Owner(4).lock_timeout_micros = 0;
  EXPECT_TRUE(IsLockTimeout(Owner(4).Exclude("l")));
  Owner(2).ReleaseAll();
  Owner(3).ReleaseAll();
  EXPECT_EQ(locks->GetTotals().keys, 0u);
}

// Also if another thread has found it.
TEST_F(CustomRangeMutexTest, ADeadlockIsInTheHistoryWhenItsVictimReturns) {
  Control& control = clock->control;
  for (const TransactionID id : {1, 2}) Owner(id).lock_timeout_micros = -1;
  for (const TransactionID id : {1, 2}) Owner(id).deadlock_timeout_micros = 0;
  Owner(2).deadlock_detect = true;
  std::atomic<bool> has_looked{false};
  const std::thread::id finder = std::this_thread::get_id();
  control.after_unlock = [&] {
    if (std::this_thread::get_id() != finder || control.notified == 0) return;
    while (!has_looked) std::this_thread::yield();
  };
  ASSERT_OK(Owner(1).Exclude("a"));
  ASSERT_OK(Owner(2).Exclude("b"));
  Status status;
  size_t found = 0;
  std::thread victim([&] {
    status = Owner(2).Exclude("a");
    found = locks->GetRangeDeadlockInfoBuffer().size();
    has_looked = true;
    Owner(2).ReleaseAll();
  });
  while (control.waits == 0) std::this_thread::yield();
  EXPECT_OK(Owner(1).Exclude("b"));
  victim.join();
  control.after_unlock = nullptr;
  EXPECT_TRUE(status.IsDeadlock()) << status.ToString();
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace ashlar
