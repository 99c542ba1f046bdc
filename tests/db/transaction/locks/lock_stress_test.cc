// SPDX-License-Identifier: Apache-2.0
//
// Threads that lock a few keys at random: a key is never used by two that exclude each other, and
// in the end everything is free. Run under the thread sanitizer after each change.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/system_clock.h"
#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr int kKeys = 6;

// Shared by all threads.
struct Used {
  void Enter(int key, bool is_exclusive) {
    if (is_exclusive) {
      EXPECT_EQ(exclusive[key].fetch_add(1), 0);
      EXPECT_EQ(shared[key].load(), 0);
      written[key]++;
    } else {
      shared[key].fetch_add(1);
      EXPECT_EQ(exclusive[key].load(), 0);
      EXPECT_GE(written[key], 0);
    }
  }
  void Leave(int key, bool is_exclusive) { (is_exclusive ? exclusive : shared)[key].fetch_sub(1); }

  std::atomic<int> exclusive[kKeys] = {};
  std::atomic<int> shared[kKeys] = {};
  int written[kKeys] = {};  // plain: the locks guard it
};

class Worker {
 public:
  Worker(KeyLocks* locks, Used* used, TransactionID id)
      : used_(used), random_(id), owner_(locks, id) {
    owner_.deadlock_detect = id % 2 == 0;
    owner_.deadlock_timeout_micros = static_cast<int64_t>(random_.Uniform(200));
  }
  // Locks up to four keys, some of them twice, and releases them.
  void RunTransaction() {
    owner_.lock_timeout_micros = random_.OneIn(4) ? 0 : static_cast<int64_t>(random_.Uniform(2000));
    LockMode held[kKeys] = {};
    for (uint64_t i = 0, count = 1 + random_.Uniform(4); i < count; i++) {
      const int key = static_cast<int>(random_.Uniform(kKeys));
      const LockMode mode = random_.OneIn(2) ? LockMode::kShared : LockMode::kExclusive;
      const Status status = owner_.Acquire(std::to_string(key), mode);
      if (!status.ok()) {
        EXPECT_TRUE(status.IsTimedOut() || status.IsDeadlock()) << status.ToString();
        failures++;
        break;
      }
      if (held[key] >= mode) continue;
      if (held[key] != LockMode::kNone) used_->Leave(key, false);
      held[key] = mode;
      used_->Enter(key, mode == LockMode::kExclusive);
    }
    for (int key = 0; key < kKeys; key++) {
      if (held[key] != LockMode::kNone) used_->Leave(key, held[key] == LockMode::kExclusive);
    }
    owner_.ReleaseAll();
    transactions++;
  }
  int transactions = 0;
  int failures = 0;

 private:
  Used* const used_;
  Random64 random_;
  TestOwner owner_;
};

TEST(LockStressTest, KeysAreUsedAsTheirModesSay) {
  const std::unique_ptr<LockClock> clock = NewLockClock(SystemClock::Default().get());
  KeyLocksOptions options;
  options.min_shards = 1;
  options.clock = clock.get();
  const std::unique_ptr<KeyLocks> locks = NewPointLocks(options);
  Used used;
  constexpr int kThreads = 6;
  std::vector<std::thread> threads;
  std::atomic<int> succeeded{0};
  for (int i = 1; i <= kThreads; i++) {
    threads.emplace_back([&, i] {
      Worker worker(locks.get(), &used, static_cast<TransactionID>(i));
      for (int n = 0; n < 2000; n++) worker.RunTransaction();
      succeeded += worker.transactions - worker.failures;
    });
  }
  // Reports run at any time.
  for (int i = 0; i < 200; i++) {
    for (const auto& [family, info] : locks->Describe()) {
      EXPECT_FALSE(info.ids.empty());
      EXPECT_TRUE(!info.exclusive || info.ids.size() == 1);
    }
    locks->GetDeadlocks();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(succeeded, 1000);
  EXPECT_EQ(locks->GetTotals().keys, 0u);
  EXPECT_EQ(locks->GetTotals().waiters, 0u);
}

TEST(LockStressTest, CountersUnderALockLoseNothing) {
  const std::unique_ptr<LockClock> clock = NewLockClock(SystemClock::Default().get());
  KeyLocksOptions options;
  options.clock = clock.get();
  const std::unique_ptr<KeyLocks> locks = NewPointLocks(options);
  int64_t counter = 0;  // plain
  constexpr int kThreads = 4;
  constexpr int kRounds = 3000;
  std::vector<std::thread> threads;
  for (int i = 1; i <= kThreads; i++) {
    threads.emplace_back([&, i] {
      LockOwner owner(static_cast<TransactionID>(i));
      owner.lock_timeout_micros = -1;
      KeyLock lock(0, "counter");
      for (int n = 0; n < kRounds; n++) {
        ASSERT_OK(locks->Acquire(&owner, &lock, LockMode::kExclusive));
        counter++;
        owner.is_ending = n % 2 == 0;
        locks->Release(&lock);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, kThreads * kRounds);
}

}  // namespace
}  // namespace ashlar
