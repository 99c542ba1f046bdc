// SPDX-License-Identifier: Apache-2.0
//
// Point locks: in every order of the threads a key has one exclusive holder or several shared ones,
// each waiter is woken, nobody waits for a free key, and a deadlock has one victim.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "db/transaction/locks/point_locks.h"
#include "tests/interleave/interleave.h"
#include "util/threads/futex.h"

namespace ashlar::interleave {
namespace {

constexpr int kOwners = 3;
constexpr LockMode kShared = LockMode::kShared;
constexpr LockMode kExclusive = LockMode::kExclusive;

// Time passes when a wait with an end has let the other threads run. A wait without end is one in
// the kernel, which only a wake ends.
class YieldingClock final : public LockClock {
 public:
  uint64_t NowMicros() override { return now_; }
  int64_t UnixSeconds() override { return 0; }
  void Wait(const std::atomic<uint32_t>* word, uint32_t expected, uint64_t deadline) override {
    if (deadline == kNoDeadline) return FutexWait(*word, expected);
    sched_yield();
    now_ = std::max(now_, deadline);
  }
  void Wake(const std::atomic<uint32_t>* word) override { FutexWakeAll(*word); }

 private:
  uint64_t now_ = 1000;
};

class Owner final : public LockOwner {
 public:
  enum State : int { kStarted, kCommitting, kStolen };

  explicit Owner(TransactionID id) : LockOwner(id) {
    lock_timeout_micros = -1;
    deadlock_timeout_micros = 0;
  }
  bool StealLocks() override {
    int expected = kStarted;
    state.compare_exchange_strong(expected, kStolen);
    return expected != kCommitting;
  }
  // Whether the owner still has its locks, and keeps them from now on.
  bool Commit() {
    int expected = kStarted;
    return state.compare_exchange_strong(expected, kCommitting);
  }

  std::atomic<int> state{kStarted};
  KeyLock locks[3] = {KeyLock(0, "a"), KeyLock(0, "b"), KeyLock(0, "c")};
};

struct Table {
  Table() {
    KeyLocksOptions options;
    options.min_shards = 1;
    options.clock = &clock;
    locks = NewPointLocks(options);
  }
  // Each key is used as its mode says. Plain variables: one thread runs at a time, and every point
  // of the locks lies between the two functions.
  void Enter(int owner, int key) {
    const bool is_exclusive = owners[owner].locks[key].mode() == kExclusive;
    Require(exclusive[key] == 0, "nobody else has the key exclusively");
    Require(!is_exclusive || shared[key] == 0, "an exclusive holder is alone");
    (is_exclusive ? exclusive : shared)[key]++;
    sched_yield();
  }
  void Leave(int owner, int key) {
    (owners[owner].locks[key].mode() == kExclusive ? exclusive : shared)[key]--;
  }
  Status Acquire(int owner, int key, LockMode mode) {
    return locks->Acquire(&owners[owner], &owners[owner].locks[key], mode);
  }
  void Release(int owner, int key) { locks->Release(&owners[owner].locks[key]); }
  // Returns whether it got the key.
  bool Use(int owner, int key, LockMode mode) {
    const Status status = Acquire(owner, key, mode);
    if (!status.ok()) return false;
    Enter(owner, key);
    Leave(owner, key);
    Release(owner, key);
    return true;
  }
  void CheckEmpty() {
    const KeyLocks::Totals totals = locks->GetTotals();
    Require(totals.keys == 0, "in the end no key is locked");
    Require(totals.waiters == 0, "in the end nobody waits");
  }

  YieldingClock clock;
  std::unique_ptr<KeyLocks> locks;
  std::array<Owner, kOwners> owners{Owner(1), Owner(2), Owner(3)};
  int shared[3] = {};
  int exclusive[3] = {};
  std::atomic<int> deadlocks{0};
};

// Each thread uses key "a" in its mode.
Scenario UseInModes(std::array<LockMode, kOwners> modes) {
  auto table = std::make_shared<Table>();
  Scenario scenario;
  for (int i = 0; i < kOwners; i++) {
    scenario.threads.push_back([table, i, mode = modes[i]] {
      Require(table->Use(i, 0, mode), "a wait without end ends with the key");
    });
  }
  scenario.check = [table] { table->CheckEmpty(); };
  return scenario;
}

TEST(LockOrders, ThreeExclusiveHoldersFollowOneAnother) {
  ExpectAlways({.preemptions = 2}, [] { return UseInModes({kExclusive, kExclusive, kExclusive}); });
}

TEST(LockOrders, SharedHoldersAndAnExclusiveOne) {
  ExpectAlways({.preemptions = 2}, [] { return UseInModes({kShared, kExclusive, kShared}); });
}

TEST(LockOrders, WaitersGetTheKeyInTheirOrder) {
  ExpectAlways({.preemptions = 1}, [] {
    struct Queue : Table {
      std::atomic<int> entered{0};
      std::atomic<int> first{0};
    };
    auto table = std::make_shared<Queue>();
    Require(table->Acquire(0, 0, kExclusive).ok(), "the first one has it");
    const auto wait = [table](int owner) {
      Require(table->Acquire(owner, 0, kExclusive).ok(), "granted");
      int nobody = 0;
      table->first.compare_exchange_strong(nobody, owner);
      table->Release(owner, 0);
    };
    return Scenario{
        .threads = {[table] {
                      // Until both wait, the second one behind the first.
                      while (table->entered.load() != 2) sched_yield();
                      while (table->locks->GetWait(&table->owners[2]).holders.empty()) {
                        sched_yield();
                      }
                      table->Release(0, 0);
                    },
                    [table, wait] {
                      table->entered.store(1);
                      wait(1);
                    },
                    [table, wait] {
                      while (table->entered.load() != 1 ||
                             table->locks->GetWait(&table->owners[1]).holders.empty()) {
                        sched_yield();
                      }
                      table->entered.store(2);
                      wait(2);
                    }},
        .check = [table] { Require(table->first.load() == 1, "first come, first served"); }};
  });
}

TEST(LockOrders, AWaiterThatTimesOutIsGoneAndLetsOthersGoOn) {
  for (const LockMode last : {kShared, kExclusive}) {
    ExpectAlways({.preemptions = 1}, [last] {
      auto table = std::make_shared<Table>();
      table->owners[1].lock_timeout_micros = 10;
      return Scenario{.threads = {[table] { Require(table->Use(0, 0, kShared), "granted"); },
                                  [table] { table->Use(1, 0, kExclusive); },
                                  [table, last] { Require(table->Use(2, 0, last), "granted"); }},
                      .check = [table] { table->CheckEmpty(); }};
    });
  }
}

TEST(LockOrders, OneOfTwoUpgradesIsADeadlock) {
  ExpectAlways({.preemptions = 1}, [] {
    auto table = std::make_shared<Table>();
    const auto upgrade = [table](int owner) {
      table->owners[owner].deadlock_detect = true;
      Require(table->Acquire(owner, 0, kShared).ok(), "granted");
      const Status status = table->Acquire(owner, 0, kExclusive);
      if (status.ok()) {
        table->Enter(owner, 0);
        table->Leave(owner, 0);
      } else {
        Require(status.IsDeadlock(), "nothing else goes wrong");
        Require(table->owners[owner].locks[0].mode() == kShared, "the shared lock stays");
        table->deadlocks.fetch_add(1);
      }
      table->Release(owner, 0);
    };
    return Scenario{.threads = {[upgrade] { upgrade(0); }, [upgrade] { upgrade(1); },
                                [table] { Require(table->Use(2, 0, kExclusive), "granted"); }},
                    .check = [table] {
                      Require(table->deadlocks.load() <= 1, "one goes on");
                      table->CheckEmpty();
                    }};
  });
}

TEST(LockOrders, AnUpgradeTakenBackLetsReadersIn) {
  ExpectAlways({.preemptions = 1}, [] {
    auto table = std::make_shared<Table>();
    return Scenario{.threads = {[table] {
                                  Require(table->Acquire(0, 0, kShared).ok(), "granted");
                                  Require(table->Acquire(0, 0, kExclusive).ok(), "granted");
                                  table->locks->Downgrade(&table->owners[0].locks[0]);
                                  table->Enter(0, 0);
                                  table->Leave(0, 0);
                                  table->Release(0, 0);
                                },
                                [table] { Require(table->Use(1, 0, kShared), "granted"); },
                                [table] { Require(table->Use(2, 0, kExclusive), "granted"); }},
                    .check = [table] { table->CheckEmpty(); }};
  });
}

// A holder that has expired either commits, and is alone until it releases, or loses the key.
TEST(LockOrders, AnExpiredLockIsTakenOrCommitted) {
  ExpectAlways({.preemptions = 1}, [] {
    auto table = std::make_shared<Table>();
    table->owners[0].expiration_deadline = 500;
    table->owners[1].expiration_deadline = 2000;
    const auto commit = [table](int owner) {
      Require(table->Acquire(owner, 0, kExclusive).ok(), "granted");
      if (table->owners[owner].Commit()) {
        table->Enter(owner, 0);
        table->Leave(owner, 0);
      }
      table->locks->ReleaseAll(&table->owners[owner]);
    };
    return Scenario{.threads = {[commit] { commit(0); }, [commit] { commit(1); },
                                [table] { Require(table->Use(2, 0, kExclusive), "granted"); }},
                    .check = [table] { table->CheckEmpty(); }};
  });
}

// Owner i locks key i, then key i + 1 of `count`.
Scenario CloseCycle(int count, uint32_t detecting) {
  auto table = std::make_shared<Table>();
  Scenario scenario;
  for (int i = 0; i < count; i++) {
    table->owners[i].deadlock_detect = (detecting >> i & 1) != 0;
    scenario.threads.push_back([table, i, count] {
      Require(table->Acquire(i, i, kExclusive).ok(), "granted");
      const int next = (i + 1) % count;
      const Status status = table->Acquire(i, next, kExclusive);
      if (status.ok()) {
        table->Enter(i, next);
        table->Leave(i, next);
      } else {
        Require(status.IsDeadlock(), "nothing else goes wrong");
        Require(table->owners[i].deadlock_detect, "the victim detects deadlocks");
        table->deadlocks.fetch_add(1);
      }
      table->locks->ReleaseAll(&table->owners[i]);
    });
  }
  scenario.check = [table] {
    Require(table->deadlocks.load() <= 1, "a cycle has one victim");
    Require(static_cast<int>(table->locks->GetDeadlocks().size()) == table->deadlocks.load(),
            "and is reported once");
    table->CheckEmpty();
  };
  return scenario;
}

TEST(LockOrders, ACycleOfTwoHasOneVictim) {
  ExpectAlways({.preemptions = 3}, [] { return CloseCycle(2, 3); });
}

TEST(LockOrders, ACycleOfThreeHasOneVictim) {
  ExpectAlways({.preemptions = 1}, [] { return CloseCycle(3, 7); });
}

TEST(LockOrders, OneOfACycleDetectsIt) {
  ExpectAlways({.preemptions = 2}, [] { return CloseCycle(2, 2); });
  ExpectAlways({.preemptions = 1}, [] { return CloseCycle(3, 1); });
}

}  // namespace
}  // namespace ashlar::interleave
