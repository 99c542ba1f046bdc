// SPDX-License-Identifier: Apache-2.0
//
// Deadlocks: found once each, and never where there is none. One thread plays all owners, so each
// wait lies inside of the wait before it; at the end are threads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Ids = std::vector<TransactionID>;

class DeadlockTest : public LockFixture<ScriptClock> {
 protected:
  DeadlockTest() { Make({}); }
  void Make(const KeyLocksOptions& options) {
    UsePointLocks(options, 80);
    for (const auto& [id, owner] : owners) {
      owner->deadlock_detect = true;
      owner->deadlock_timeout_micros = 0;
    }
  }
  static std::string Key(TransactionID id) { return "key" + std::to_string(id); }

  // Each owner from 1 to `count` locks its key, then waits for that of the next one; the last one
  // closes the cycle. Returns what it is told; the others time out.
  Status CloseCycle(TransactionID count) {
    for (TransactionID id = 1; id <= count; id++) EXPECT_OK(Owner(id).Exclude(Key(id)));
    Status closing;
    for (TransactionID id = 2; id < count; id++) {
      clock.OnWait(
          [this, id] { EXPECT_TRUE(IsLockTimeout(Owner(id).Exclude(Key(id + 1)))) << id; });
    }
    clock.OnWait([this, count, &closing] { closing = Owner(count).Exclude(Key(1)); });
    EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude(Key(2))));
    return closing;
  }
  static Ids IdsOf(const DeadlockPath& path) {
    Ids ids;
    for (const DeadlockInfo& info : path.path) ids.push_back(info.m_txn_id);
    return ids;
  }
};

TEST_F(DeadlockTest, ACycleOfAnyLengthIsFoundByTheOneThatClosesIt) {
  for (TransactionID count = 2; count <= 20; count++) {
    const Status status = CloseCycle(count);
    EXPECT_TRUE(status.IsDeadlock()) << count << ": " << status.ToString();
    EXPECT_EQ(locks->GetDeadlocks().size(), std::min<size_t>(count - 1, 5)) << "once each";
    EXPECT_EQ(locks->GetDeadlocks()[0].path.size(), count);
    for (TransactionID id = 1; id <= count; id++) Owner(id).ReleaseAll();
  }
}

TEST_F(DeadlockTest, ADeadlockNamesTheKeyAndTheNextOne) {
  const std::string text = CloseCycle(3).ToString();
  EXPECT_NE(text.find("transaction 3 waits for transaction 1"), std::string::npos) << text;
  EXPECT_NE(text.find("number 0"), std::string::npos) << text;
}

TEST_F(DeadlockTest, TheHistoryHasThePathWithTheVictimLast) {
  EXPECT_TRUE(CloseCycle(3).IsDeadlock());
  const std::vector<DeadlockPath> history = locks->GetDeadlocks();
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(IdsOf(history[0]), (Ids{1, 2, 3}));
  EXPECT_EQ(history[0].path[0].m_waiting_key, "key2");
  EXPECT_EQ(history[0].path[2].m_waiting_key, "key1");
  EXPECT_TRUE(history[0].path[2].m_exclusive);
  EXPECT_EQ(history[0].path[2].m_cf_id, 0u);
  EXPECT_FALSE(history[0].limit_exceeded);
  EXPECT_EQ(history[0].deadlock_time,
            clock.UnixSeconds() - 1);  // the others' timeout is since then
}

TEST_F(DeadlockTest, TheVictimKeepsItsLocks) {
  EXPECT_TRUE(CloseCycle(2).IsDeadlock());
  EXPECT_EQ(HoldersOf(locks.get(), Key(2)), Ids{2});
  EXPECT_EQ(Owner(2).Mode(Key(1)), LockMode::kNone);
}

TEST_F(DeadlockTest, TheHistoryKeepsTheNewest) {
  Make({.max_deadlocks = 2});
  for (TransactionID count = 2; count <= 5; count++) {
    EXPECT_TRUE(CloseCycle(count).IsDeadlock());
    for (TransactionID id = 1; id <= count; id++) Owner(id).ReleaseAll();
  }
  ASSERT_EQ(locks->GetDeadlocks().size(), 2u);
  EXPECT_EQ(locks->GetDeadlocks()[0].path.size(), 5u);
  EXPECT_EQ(locks->GetDeadlocks()[1].path.size(), 4u);
  locks->SetMaxDeadlocks(1);
  ASSERT_EQ(locks->GetDeadlocks().size(), 1u);
  EXPECT_EQ(locks->GetDeadlocks()[0].path.size(), 5u);
  locks->SetMaxDeadlocks(0);
  EXPECT_TRUE(CloseCycle(2).IsDeadlock());
  EXPECT_TRUE(locks->GetDeadlocks().empty());
}

TEST_F(DeadlockTest, ASharedHolderInACycleIsFound) {
  EXPECT_OK(Owner(1).Share("a"));
  EXPECT_OK(Owner(2).Share("a"));
  EXPECT_OK(Owner(3).Exclude("b"));
  clock.OnWait([&] { EXPECT_TRUE(Owner(3).Exclude("a").IsDeadlock()); });
  EXPECT_TRUE(IsLockTimeout(Owner(2).Share("b")));
  EXPECT_EQ(IdsOf(locks->GetDeadlocks()[0]), (Ids{2, 3}));
}

TEST_F(DeadlockTest, ACycleThroughAQueueIsFound) {
  // 3 could share "a" with 1, but may not overtake 2, which waits for 1; 1 waits for 3.
  EXPECT_OK(Owner(1).Share("a"));
  EXPECT_OK(Owner(3).Exclude("b"));
  clock.OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("b"))); });
  clock.OnWait([&] { EXPECT_TRUE(Owner(3).Share("a").IsDeadlock()); });
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("a")));
  ASSERT_EQ(locks->GetDeadlocks().size(), 1u);
  EXPECT_EQ(IdsOf(locks->GetDeadlocks()[0]), (Ids{2, 1, 3}));
}

TEST_F(DeadlockTest, OfTwoUpgradesOnlyTheSecondIsADeadlock) {
  // The first one would search first if it came to that.
  Owner(1).deadlock_timeout_micros = 500;
  Owner(2).deadlock_timeout_micros = 100'000;
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  clock.OnWait([&] {
    EXPECT_TRUE(Owner(2).Exclude("k").IsDeadlock());
    Owner(2).ReleaseAll();
  });
  EXPECT_OK(Owner(1).Exclude("k"));
}

TEST_F(DeadlockTest, AnUpgradeDoesNotWaitForItself) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("k")));
  EXPECT_TRUE(locks->GetDeadlocks().empty());
}

TEST_F(DeadlockTest, AChainIsNoDeadlock) {
  for (TransactionID id = 1; id <= 21; id++) EXPECT_OK(Owner(id).Exclude(Key(id)));
  for (TransactionID id = 2; id <= 20; id++) {
    clock.OnWait([this, id] { EXPECT_TRUE(IsLockTimeout(Owner(id).Exclude(Key(id + 1)))); });
  }
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude(Key(2))));
  EXPECT_TRUE(locks->GetDeadlocks().empty());
}

TEST_F(DeadlockTest, ManyWaitersForOneKeyAreNoDeadlock) {
  EXPECT_OK(Owner(1).Exclude("k"));
  for (TransactionID id = 3; id <= 80; id++) {
    clock.OnWait([this, id] { EXPECT_TRUE(IsLockTimeout(Owner(id).Exclude("k"))) << id; });
  }
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_TRUE(locks->GetDeadlocks().empty());
}

TEST_F(DeadlockTest, ACycleOfOthersIsNotMine) {
  for (const TransactionID id : {1, 2}) Owner(id).deadlock_detect = false;
  EXPECT_OK(Owner(1).Exclude(Key(1)));
  EXPECT_OK(Owner(2).Exclude(Key(2)));
  clock.OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude(Key(1)))); });
  clock.OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(3).Exclude(Key(1)))); });
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude(Key(2))));
  EXPECT_TRUE(locks->GetDeadlocks().empty());
}

// ---- When

TEST_F(DeadlockTest, ASearchBeginsAfterItsTimeout) {
  Owner(2).deadlock_timeout_micros = 700;
  EXPECT_OK(Owner(1).Exclude("a"));
  EXPECT_OK(Owner(2).Exclude("b"));
  clock.OnWait([&] {
    const uint64_t before = clock.now;
    EXPECT_TRUE(Owner(2).Exclude("a").IsDeadlock());
    EXPECT_EQ(clock.now, before + 700);
  });
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("b")));
}

TEST_F(DeadlockTest, AShortWaitSearchesAtItsEnd) {
  Owner(2).deadlock_timeout_micros = 700;
  Owner(2).lock_timeout_micros = 300;
  EXPECT_OK(Owner(1).Exclude("a"));
  EXPECT_OK(Owner(2).Exclude("b"));
  clock.OnWait([&] {
    const uint64_t before = clock.now;
    EXPECT_TRUE(Owner(2).Exclude("a").IsDeadlock());
    EXPECT_EQ(clock.now, before + 300);
  });
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("b")));
}

TEST_F(DeadlockTest, WithoutWaitingNothingIsSearched) {
  Owner(2).lock_timeout_micros = 0;
  EXPECT_OK(Owner(1).Exclude("a"));
  EXPECT_OK(Owner(2).Exclude("b"));
  clock.OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("a"))); });
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("b")));
}

// ---- Depth

TEST_F(DeadlockTest, ACycleAsLongAsTheDepthIsFound) {
  for (TransactionID id = 1; id <= 4; id++) Owner(id).deadlock_detect_depth = 4;
  EXPECT_TRUE(CloseCycle(4).IsDeadlock());
  EXPECT_FALSE(locks->GetDeadlocks()[0].limit_exceeded);
}

TEST_F(DeadlockTest, ALongerCycleIsTakenForADeadlockWithoutPath) {
  Owner(5).deadlock_detect_depth = 4;
  EXPECT_TRUE(CloseCycle(5).IsDeadlock());
  ASSERT_EQ(locks->GetDeadlocks().size(), 1u);
  EXPECT_TRUE(locks->GetDeadlocks()[0].limit_exceeded);
  EXPECT_TRUE(locks->GetDeadlocks()[0].path.empty());
}

TEST_F(DeadlockTest, ALongChainIsTakenForADeadlock) {
  // From the end of the chain: each one waits for one that waits already.
  for (TransactionID id = 1; id <= 6; id++) EXPECT_OK(Owner(id).Exclude(Key(id)));
  for (TransactionID id = 1; id <= 6; id++) Owner(id).deadlock_detect_depth = 3;
  for (TransactionID id = 4; id >= 1; id--) {
    clock.OnWait([this, id] {
      const Status status = Owner(id).Exclude(Key(id + 1));
      EXPECT_EQ(status.IsDeadlock(), id == 1) << id << " finds " << 5 - id << " waiters";
    });
  }
  EXPECT_TRUE(IsLockTimeout(Owner(5).Exclude(Key(6))));
}

// ---- Owners that do not detect deadlocks

TEST_F(DeadlockTest, WithoutDetectionACycleTimesOut) {
  for (TransactionID id = 1; id <= 3; id++) Owner(id).deadlock_detect = false;
  EXPECT_TRUE(IsLockTimeout(CloseCycle(3)));
  EXPECT_TRUE(locks->GetDeadlocks().empty());
}

TEST_F(DeadlockTest, TheOneThatDetectsFindsACycleThroughOthers) {
  for (TransactionID id = 1; id <= 3; id++) Owner(id).deadlock_detect = false;
  EXPECT_TRUE(CloseCycle(4).IsDeadlock());
  EXPECT_EQ(IdsOf(locks->GetDeadlocks()[0]), (Ids{1, 2, 3, 4}));
}

TEST_F(DeadlockTest, TheOneThatClosesACycleWakesTheOneThatDetects) {
  Owner(1).deadlock_detect = false;
  Owner(3).deadlock_detect = false;
  for (TransactionID id = 1; id <= 3; id++) EXPECT_OK(Owner(id).Exclude(Key(id)));
  clock.OnWait([&] {
    EXPECT_TRUE(Owner(2).Exclude(Key(3)).IsDeadlock());
    Owner(2).ReleaseAll();
  });
  clock.OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(3).Exclude(Key(1)))); });
  EXPECT_OK(Owner(1).Exclude(Key(2)));
  ASSERT_EQ(locks->GetDeadlocks().size(), 1u);
  EXPECT_EQ(IdsOf(locks->GetDeadlocks()[0]), (Ids{3, 1, 2}));
}

TEST_F(DeadlockTest, ACycleBesideOneWithoutDetectionIsFound) {
  // 4 closes two cycles through 5: one of 1, which does not detect, and one of 2, which does.
  for (const TransactionID id : {1, 4, 5}) Owner(id).deadlock_detect = false;
  EXPECT_OK(Owner(4).Exclude("d"));
  EXPECT_OK(Owner(1).Share("a"));
  EXPECT_OK(Owner(2).Share("a"));
  clock.OnWait([&] { EXPECT_TRUE(Owner(2).Exclude("d").IsDeadlock()); });
  clock.OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(4).Exclude("a"))); });
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("d")));
  ASSERT_EQ(locks->GetDeadlocks().size(), 1u);
  EXPECT_EQ(IdsOf(locks->GetDeadlocks()[0]), (Ids{4, 2}));
}

// ---- Against a model

// Random requests, each inside of the wait before it. A request that would close a cycle of the
// model's graph is refused, and no other.
class Model {
 public:
  // The owners for which `id` must wait if it asks for the key now; empty: it gets the key.
  Ids BlockersOf(TransactionID id, int key, bool exclusive) const {
    Ids blockers;
    for (const auto& [holder, is_exclusive] : holders[key]) {
      if (holder != id && (exclusive || is_exclusive)) blockers.push_back(holder);
    }
    if (holders[key].contains(id)) return blockers;  // an upgrade overtakes
    for (const auto& [waiter, is_exclusive] : queues[key]) {
      if (exclusive || is_exclusive) blockers.push_back(waiter);
    }
    return blockers;
  }
  bool Reaches(TransactionID from, TransactionID to) const {
    std::set<TransactionID> seen;
    Ids todo{from};
    while (!todo.empty()) {
      const TransactionID id = todo.back();
      todo.pop_back();
      if (id == to) return true;
      if (!seen.insert(id).second || !waits_for.contains(id)) continue;
      for (const TransactionID next : waits_for.at(id)) todo.push_back(next);
    }
    return false;
  }

  static constexpr int kKeys = 5;
  std::map<TransactionID, bool> holders[kKeys];               // and whether exclusive
  std::vector<std::pair<TransactionID, bool>> queues[kKeys];  // who waits, in order
  std::map<TransactionID, Ids> waits_for;
};

class RandomDeadlocks {
 public:
  explicit RandomDeadlocks(uint64_t seed) : random_(seed) {
    KeyLocksOptions options;
    options.min_shards = 1;
    options.clock = &clock_;
    locks_ = NewPointLocks(options);
    for (TransactionID id = 1; id <= kOwners; id++) {
      owners_[id] = std::make_unique<TestOwner>(locks_.get(), id);
      owners_[id]->deadlock_detect = true;
      owners_[id]->deadlock_timeout_micros = 0;
      free_.push_back(id);
    }
  }
  // Owners that do not wait ask for keys until one waits, and then the rest inside of that wait.
  void Run() {
    for (int i = 0; i < 12 && !free_.empty(); i++) {
      const size_t place = random_.Uniform(free_.size());
      const TransactionID id = free_[place];
      const int key = static_cast<int>(random_.Uniform(Model::kKeys));
      const bool exclusive = random_.OneIn(2);
      const auto held = model_.holders[key].find(id);
      if (held != model_.holders[key].end() && (held->second || !exclusive)) continue;
      const Ids blockers = model_.BlockersOf(id, key, exclusive);
      bool closes = false;
      for (const TransactionID blocker : blockers) closes |= model_.Reaches(blocker, id);
      if (blockers.empty()) {
        model_.holders[key][id] = exclusive;
        ASSERT_OK(Ask(id, key, exclusive));
      } else if (closes) {
        ASSERT_TRUE(Ask(id, key, exclusive).IsDeadlock());
        deadlocks++;
      } else {
        model_.waits_for[id] = blockers;
        AddWaiter(id, key, exclusive);
        free_.erase(free_.begin() + static_cast<ptrdiff_t>(place));
        clock_.OnWait([this] { Run(); });
        ASSERT_TRUE(IsLockTimeout(Ask(id, key, exclusive)));
        return;  // time has passed, and nobody waits any more
      }
    }
  }
  int deadlocks = 0;

 private:
  // Where an upgrade enters, those behind it wait for it as well: they did so before, as for a
  // holder, unless they share with it.
  void AddWaiter(TransactionID id, int key, bool exclusive) {
    auto& queue = model_.queues[key];
    if (!model_.holders[key].contains(id)) {
      queue.emplace_back(id, exclusive);
      return;
    }
    for (const auto& [waiter, is_exclusive] : queue) {
      if (!model_.holders[key].contains(waiter)) model_.waits_for[waiter].push_back(id);
    }
    queue.insert(queue.begin(), {id, exclusive});
  }
  Status Ask(TransactionID id, int key, bool exclusive) {
    return owners_[id]->Acquire(std::to_string(key),
                                exclusive ? LockMode::kExclusive : LockMode::kShared);
  }

  static constexpr TransactionID kOwners = 7;
  Random64 random_;
  ScriptClock clock_;
  std::unique_ptr<KeyLocks> locks_;
  std::map<TransactionID, std::unique_ptr<TestOwner>> owners_;
  Model model_;
  Ids free_;
};

TEST(RandomDeadlocksTest, TheOneThatClosesACycleIsTheVictimAndNobodyElse) {
  int deadlocks = 0;
  for (uint64_t seed = 1; seed <= 4'000; seed++) {
    RandomDeadlocks run(seed);
    run.Run();
    deadlocks += run.deadlocks;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(deadlocks, 1000);
}

// ---- Several threads

// A thread other than the victim gets the time only when the victim has looked at the history.
class HistoryClock final : public ManualClock {
 public:
  int64_t UnixSeconds() override {
    while (std::this_thread::get_id() != victim && !has_looked) std::this_thread::yield();
    return ManualClock::UnixSeconds();
  }
  std::thread::id victim;
  std::atomic<bool> has_looked{false};
};

class VictimTest : public LockFixture<HistoryClock> {
 protected:
  VictimTest() { UsePointLocks({}, 2); }
};

TEST_F(VictimTest, ADeadlockIsInTheHistoryWhenItsVictimReturns) {
  for (const TransactionID id : {1, 2}) Owner(id).lock_timeout_micros = -1;
  Owner(1).deadlock_timeout_micros = 0;
  Owner(2).deadlock_timeout_micros = int64_t{3'600'000'000};  // only 1 searches
  Owner(2).deadlock_detect = true;
  ASSERT_OK(Owner(1).Exclude("a"));
  ASSERT_OK(Owner(2).Exclude("b"));
  Status status;
  size_t found = 0;
  std::thread victim([&] {
    clock.victim = std::this_thread::get_id();
    status = Owner(2).Exclude("a");
    found = locks->GetDeadlocks().size();
    clock.has_looked = true;
    Owner(2).ReleaseAll();
  });
  while (locks->GetTotals().waiters == 0) std::this_thread::yield();
  EXPECT_OK(Owner(1).Exclude("b"));
  victim.join();
  EXPECT_TRUE(status.IsDeadlock()) << status.ToString();
  EXPECT_EQ(found, 1u);
}

}  // namespace
}  // namespace ashlar
