// SPDX-License-Identifier: Apache-2.0
//
// Locks on ranges: which ranges exclude each other, escalation, waits, deadlocks. One thread plays
// all owners.
#include "db/transaction/locks/range_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Ids = std::vector<TransactionID>;

class RangeLocksTest : public LockFixture<ScriptClock*, RangeLocks> {
 protected:
  RangeLocksTest() {
    auto owned = std::make_unique<ScriptClock>();
    clock = owned.get();
    Use(std::make_unique<RangeLocks>(std::move(owned), nullptr), 5);
    for (const auto& [id, owner] : owners) owner->deadlock_timeout_micros = 0;
  }
  ~RangeLocksTest() override {
    owners.clear();
    EXPECT_EQ(locks->GetStatus().current_lock_memory, 0u);
  }
  Status Range(TransactionID id, const Endpoint& start, const Endpoint& end,
               LockMode mode = LockMode::kExclusive, uint32_t family = 0) {
    return locks->AcquireRange(&Owner(id), family, start, end, mode);
  }
  Status Range(TransactionID id, const char* start, const char* end,
               LockMode mode = LockMode::kExclusive) {
    return Range(id, Endpoint(start), Endpoint(end), mode);
  }
  // Whether the owner can have the key at once; if so it does not keep it.
  bool CanHave(TransactionID id, const std::string& key, LockMode mode = LockMode::kExclusive) {
    const int64_t timeout = std::exchange(Owner(id).lock_timeout_micros, 0);
    const Status status = Owner(id).Acquire(key, mode);
    Owner(id).lock_timeout_micros = timeout;
    if (status.ok()) Owner(id).Release(key);
    return status.ok();
  }
  // "start..end id" for each range, in order.
  std::vector<std::string> Ranges() {
    std::vector<std::string> ranges;
    for (const auto& [family, info] : locks->GetRangeLockStatusData()) {
      std::string text = info.start.slice + (info.start.inf_suffix ? "+" : "") + ".." +
                         info.end.slice + (info.end.inf_suffix ? "+" : "");
      ranges.push_back(text + " " + std::to_string(info.ids[0]) + (info.exclusive ? "" : "s"));
    }
    std::sort(ranges.begin(), ranges.end());
    return ranges;
  }
};

TEST_F(RangeLocksTest, ARangeHasItsEndsAndAllBetween) {
  ASSERT_OK(Range(1, "b", "d"));
  for (const char* key : {"b", "bb", "c", "d"}) EXPECT_FALSE(CanHave(2, key)) << key;
  for (const char* key : {"", "a", "azz", "d0", "e"}) EXPECT_TRUE(CanHave(2, key)) << key;
}

TEST_F(RangeLocksTest, ASupremumHasAllKeysWithThePrefix) {
  ASSERT_OK(Range(1, Endpoint("b"), Endpoint("d", true)));
  for (const char* key : {"d", "d0", "d\xff\xff"}) EXPECT_FALSE(CanHave(2, key)) << key;
  EXPECT_TRUE(CanHave(2, "e"));
}

TEST_F(RangeLocksTest, AStartAtASupremumIsBehindThePrefix) {
  ASSERT_OK(Range(1, Endpoint("b", true), Endpoint("d")));
  for (const char* key : {"b", "b0", "b\xff"}) EXPECT_TRUE(CanHave(2, key)) << key;
  EXPECT_FALSE(CanHave(2, "c"));
}

TEST_F(RangeLocksTest, EndsAreInTheOrderOfPrefixes) {
  const std::vector<Endpoint> ends = {Endpoint("a"),       Endpoint("ab"), Endpoint("ab", true),
                                      Endpoint("a", true), Endpoint("b"),  Endpoint("b", true)};
  for (size_t i = 0; i < ends.size(); i++) {
    for (size_t j = 0; j < ends.size(); j++) {
      const int order = CompareEnds(*BytewiseComparator(), RangeEnd(ends[i]), RangeEnd(ends[j]));
      EXPECT_EQ(order < 0, i < j) << i << " " << j;
      EXPECT_EQ(order > 0, i > j) << i << " " << j;
    }
  }
}

TEST_F(RangeLocksTest, ARangeThatEndsBeforeItBeginsIsRefused) {
  EXPECT_TRUE(Range(1, "d", "b").IsInvalidArgument());
}

TEST_F(RangeLocksTest, AFamilyHasTheOrderOfItsComparator) {
  locks->AddFamily(3, ReverseBytewiseComparator());
  EXPECT_TRUE(Range(1, Endpoint("b"), Endpoint("d"), LockMode::kExclusive, 3).IsInvalidArgument());
  EXPECT_OK(Range(1, Endpoint("d"), Endpoint("b"), LockMode::kExclusive, 3));
  Owner(2).lock_timeout_micros = 0;
  EXPECT_TRUE(IsLockTimeout(Owner(2).Acquire("c", LockMode::kShared, 3)));
  EXPECT_OK(Owner(2).Acquire("a", LockMode::kShared, 3));
  EXPECT_TRUE(CanHave(2, "c")) << "another family";
}

TEST_F(RangeLocksTest, SharedRangesOverlap) {
  ASSERT_OK(Range(1, "a", "c", LockMode::kShared));
  ASSERT_OK(Range(2, "b", "d", LockMode::kShared));
  EXPECT_FALSE(CanHave(3, "b"));
  EXPECT_TRUE(CanHave(3, "b", LockMode::kShared));
  EXPECT_FALSE(CanHave(1, "b"));
  EXPECT_TRUE(CanHave(1, "a"));
}

TEST_F(RangeLocksTest, OwnRangesDoNotExcludeTheirOwner) {
  ASSERT_OK(Range(1, "a", "c"));
  EXPECT_OK(Range(1, "b", "d"));
  EXPECT_OK(Owner(1).Exclude("b"));
  EXPECT_OK(Owner(1).Share("a"));
  EXPECT_EQ(locks->GetTotals().keys, 2u) << "what is covered needs no range of its own";
}

TEST_F(RangeLocksTest, ReleasingAKeyLeavesTheRangeAroundIt) {
  ASSERT_OK(Owner(1).Exclude("b"));
  ASSERT_OK(Range(1, "a", "c"));
  Owner(1).Release("b");
  EXPECT_FALSE(CanHave(2, "b"));
  ASSERT_OK(Owner(1).Exclude("b"));
  Owner(1).Release("b");
  EXPECT_FALSE(CanHave(2, "b"));
}

TEST_F(RangeLocksTest, ReleasingAKeyLeavesARangeOfThatKey) {
  ASSERT_OK(Range(1, "b", "b"));
  ASSERT_OK(Owner(1).Exclude("b"));
  Owner(1).Release("b");
  EXPECT_FALSE(CanHave(2, "b"));
}

TEST_F(RangeLocksTest, AKeyIsUpgradedAndTakenBack) {
  ASSERT_OK(Owner(1).Share("b"));
  ASSERT_OK(Owner(1).Exclude("b"));
  EXPECT_FALSE(CanHave(2, "b", LockMode::kShared));
  locks->Downgrade(Owner(1).Lock("b"));
  EXPECT_TRUE(CanHave(2, "b", LockMode::kShared));
  EXPECT_FALSE(CanHave(2, "b"));
  Owner(1).Release("b");
  EXPECT_TRUE(CanHave(2, "b"));
}

TEST_F(RangeLocksTest, SeveralRecoveredOwnersHoldAKey) {
  locks->AcquireRecovered(&Owner(1), Owner(1).Lock("k"));
  locks->AcquireRecovered(&Owner(2), Owner(2).Lock("k"));
  Owner(1).ReleaseAll();
  EXPECT_FALSE(CanHave(3, "k"));
  Owner(2).ReleaseAll();
  EXPECT_TRUE(CanHave(3, "k"));
}

TEST_F(RangeLocksTest, ADroppedFamilyIsRefused) {
  locks->DropFamily(7);
  EXPECT_TRUE(Owner(1).Acquire("a", LockMode::kShared, 7).IsInvalidArgument());
  EXPECT_OK(Owner(1).Acquire("a", LockMode::kShared, 8));
}

// ---- Waiting

TEST_F(RangeLocksTest, AWaitEndsWhenTheRangeIsReleased) {
  ASSERT_OK(Range(1, "a", "c"));
  clock->OnWait([&] {
    EXPECT_EQ(locks->GetWait(&Owner(2)).holders, Ids{1});
    EXPECT_EQ(locks->GetWait(&Owner(2)).key, "b");
    Owner(1).ReleaseAll();
  });
  EXPECT_OK(Range(2, "b", "d"));
  EXPECT_EQ(Ranges(), std::vector<std::string>{"b..d 2"});
  EXPECT_EQ(locks->GetStatus().lock_wait_count, 1u);
  EXPECT_TRUE(locks->GetWait(&Owner(2)).holders.empty());
}

TEST_F(RangeLocksTest, AWaitEndsWithItsTimeout) {
  ASSERT_OK(Range(1, "a", "c"));
  const uint64_t before = clock->now;
  const Status status = Range(2, "b", "d");
  EXPECT_TRUE(IsLockTimeout(status)) << status.ToString();
  EXPECT_NE(status.ToString().find("transaction 1"), std::string::npos) << status.ToString();
  EXPECT_EQ(clock->now, before + 1'000'000);
  EXPECT_EQ(locks->GetWait(&Owner(2)).holders, Ids{1});
}

TEST_F(RangeLocksTest, ANewcomerDoesNotOvertakeAWaiter) {
  ASSERT_OK(Range(1, "a", "c", LockMode::kShared));
  clock->OnWait([&] {
    EXPECT_FALSE(CanHave(3, "d", LockMode::kShared)) << "2 waits for it";
    EXPECT_TRUE(CanHave(3, "e", LockMode::kShared));
    EXPECT_TRUE(CanHave(1, "b", LockMode::kShared)) << "2 waits for 1 anyway";
    EXPECT_TRUE(CanHave(1, "d")) << "2 waits for 1 anyway";
  });
  EXPECT_TRUE(IsLockTimeout(Range(2, "b", "d")));
  EXPECT_TRUE(CanHave(3, "d", LockMode::kShared));
}

TEST_F(RangeLocksTest, ReleasingGrantsAllThatDoNotExcludeEachOther) {
  ASSERT_OK(Range(1, "a", "z"));
  clock->OnWait([&] {
    clock->OnWait([&] {
      clock->OnWait([&] {
        Owner(1).ReleaseAll();
        EXPECT_EQ(Ranges(), (std::vector<std::string>{"b..c 2", "d..e 3"}));
      });
      EXPECT_TRUE(IsLockTimeout(Range(4, "c", "d")));
    });
    EXPECT_OK(Range(3, "d", "e"));
  });
  EXPECT_OK(Range(2, "b", "c"));
  EXPECT_EQ(clock->wakes, 2);
}

TEST(RangeLocksThreadsTest, AWaiterThatGivesUpLetsThoseBehindItGoOn) {
  auto owned = std::make_unique<ManualClock>();
  ManualClock* const clock = owned.get();
  RangeLocks locks(std::move(owned), nullptr);
  TestOwner first(&locks, 1), second(&locks, 2), third(&locks, 3);
  second.lock_timeout_micros = 100;
  third.lock_timeout_micros = -1;
  ASSERT_OK(first.Share("k"));
  Waiting writer(&locks, &second, "k", LockMode::kExclusive);
  Waiting reader(&locks, &third, "k", LockMode::kShared);
  EXPECT_FALSE(reader.has_returned());
  clock->Advance(100);
  EXPECT_TRUE(IsLockTimeout(writer.Result()));
  EXPECT_OK(reader.Result());
}

TEST_F(RangeLocksTest, AKilledWaitIsAborted) {
  ASSERT_OK(Range(1, "a", "c"));
  int polls = 0;
  locks->SetIsKilledCallback([&] { return ++polls == 4; });
  Owner(2).lock_timeout_micros = -1;
  const uint64_t before = clock->now;
  const Status status = Range(2, "b", "d");
  EXPECT_TRUE(status.IsAborted()) << status.ToString();
  EXPECT_EQ(clock->now, before + 300'000) << "asked each 100 ms";
  locks->SetIsKilledCallback(nullptr);
}

// ---- Memory

TEST_F(RangeLocksTest, NeighboursOfOneOwnerAreJoinedWhenMemoryIsShort) {
  for (int i = 10; i < 30; i++) ASSERT_OK(Owner(1).Exclude("a" + std::to_string(i)));
  ASSERT_OK(Owner(2).Exclude("b"));
  for (int i = 10; i < 30; i++) ASSERT_OK(Owner(1).Exclude("c" + std::to_string(i)));
  ASSERT_EQ(locks->SetMaxLockMemory(locks->GetStatus().current_lock_memory), 0);
  ASSERT_OK(Owner(1).Exclude("d"));
  EXPECT_EQ(Ranges(), (std::vector<std::string>{"a10..a29 1", "b..b 2", "c10..c29 1", "d..d 1"}));
  EXPECT_EQ(locks->GetStatus().escalation_count, 1u);
  EXPECT_FALSE(CanHave(2, "a155")) << "a key between";
  Owner(1).Release("a15");
  EXPECT_FALSE(CanHave(2, "a15")) << "its range has gone into a larger one";
}

TEST_F(RangeLocksTest, SharedAndExclusiveRangesAreNotJoined) {
  ASSERT_OK(Owner(1).Exclude("a"));
  ASSERT_OK(Owner(1).Share("b"));
  ASSERT_OK(Owner(1).Share("c"));
  ASSERT_EQ(locks->SetMaxLockMemory(locks->GetStatus().current_lock_memory), 0);
  ASSERT_OK(Owner(1).Exclude("e"));
  EXPECT_EQ(Ranges(), (std::vector<std::string>{"a..a 1", "b..c 1s", "e..e 1"}));
}

TEST_F(RangeLocksTest, NothingIsJoinedAcrossABarrier) {
  locks->SetEscalationBarrierFunc([](const Endpoint& a, const Endpoint& b) {
    return a.slice.ToString()[0] != b.slice.ToString()[0];
  });
  for (const char* key : {"a1", "a2", "b1", "b2", "b3"}) ASSERT_OK(Owner(1).Exclude(key));
  ASSERT_EQ(locks->SetMaxLockMemory(locks->GetStatus().current_lock_memory), 0);
  ASSERT_OK(Owner(1).Exclude("b4"));
  EXPECT_EQ(Ranges(), (std::vector<std::string>{"a1..a2 1", "b1..b3 1", "b4..b4 1"}));
}

TEST_F(RangeLocksTest, ARangeThatHasNoRoomIsRefused) {
  locks->SetEscalationBarrierFunc([](const Endpoint&, const Endpoint&) { return true; });
  ASSERT_OK(Owner(1).Exclude("a"));
  const size_t used = locks->GetStatus().current_lock_memory;
  EXPECT_NE(locks->SetMaxLockMemory(used - 1), 0) << "less than is used";
  ASSERT_EQ(locks->SetMaxLockMemory(used), 0);
  EXPECT_EQ(locks->GetMaxLockMemory(), used);
  EXPECT_TRUE(Owner(1).Exclude("b").IsLockLimit());
  Owner(1).Release("a");
  EXPECT_OK(Owner(1).Exclude("b"));
}

// ---- Deadlocks

TEST_F(RangeLocksTest, ADeadlockOfRangesIsFoundByTheOneThatClosesIt) {
  for (const TransactionID id : {1, 2}) Owner(id).deadlock_detect = true;
  ASSERT_OK(Range(1, "a", "c"));
  ASSERT_OK(Range(2, "x", "z"));
  clock->OnWait([&] { EXPECT_TRUE(Range(2, Endpoint("b"), Endpoint("b", true)).IsDeadlock()); });
  EXPECT_TRUE(IsLockTimeout(Range(1, "y", "y")));
  const std::vector<RangeDeadlockPath> history = locks->GetRangeDeadlockInfoBuffer();
  ASSERT_EQ(history.size(), 1u);
  ASSERT_EQ(history[0].path.size(), 2u);
  EXPECT_EQ(history[0].path[0].m_txn_id, 1u);
  EXPECT_EQ(history[0].path[0].m_start.slice, "y");
  EXPECT_EQ(history[0].path[1].m_txn_id, 2u) << "the victim is the last one";
  EXPECT_EQ(history[0].path[1].m_end.slice, "b");
  EXPECT_TRUE(history[0].path[1].m_end.inf_suffix);
  EXPECT_TRUE(history[0].path[1].m_exclusive);
  locks->SetRangeDeadlockInfoBufferSize(0);
  EXPECT_TRUE(locks->GetRangeDeadlockInfoBuffer().empty());
}

TEST_F(RangeLocksTest, AWaiterThatDetectsIsTheVictimOfAnotherOne) {
  Owner(1).deadlock_detect = true;
  ASSERT_OK(Owner(1).Exclude("a"));
  ASSERT_OK(Owner(2).Exclude("b"));
  clock->OnWait([&] {
    // Ends when 1, which is the victim, has released: not before, so it times out here.
    EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("a")));
  });
  EXPECT_TRUE(Owner(1).Exclude("b").IsDeadlock());
  EXPECT_EQ(locks->GetRangeDeadlockInfoBuffer().size(), 1u);
}

TEST_F(RangeLocksTest, ADeadlockThatAnEscalationClosesIsFound) {
  for (const TransactionID id : {1, 2}) Owner(id).deadlock_detect = true;
  ASSERT_OK(Owner(1).Share("b"));
  ASSERT_OK(Owner(1).Share("f"));
  ASSERT_OK(Owner(2).Exclude("x"));
  ASSERT_OK(Range(3, "a", "g", LockMode::kShared));
  clock->OnWait([&] {  // 2 waits only for 3
    clock->OnWait([&] {
      ASSERT_EQ(locks->SetMaxLockMemory(locks->GetStatus().current_lock_memory), 0);
      ASSERT_OK(Owner(4).Exclude("z"));
      EXPECT_EQ(Ranges(), (std::vector<std::string>{"a..g 3s", "b..f 1s", "x..x 2", "z..z 4"}));
    });
    // 1 gets the key when 2, which is the victim, has released: not before, so it times out here.
    EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("x")));
  });
  EXPECT_TRUE(Owner(2).Exclude("d").IsDeadlock());
  const std::vector<RangeDeadlockPath> history = locks->GetRangeDeadlockInfoBuffer();
  ASSERT_EQ(history.size(), 1u);
  ASSERT_EQ(history[0].path.size(), 2u);
  EXPECT_EQ(history[0].path[0].m_txn_id, 1u);
  EXPECT_EQ(history[0].path[1].m_txn_id, 2u);
}

TEST_F(RangeLocksTest, TwoUpgradesAreADeadlock) {
  for (const TransactionID id : {1, 2}) Owner(id).deadlock_detect = true;
  ASSERT_OK(Owner(1).Share("k"));
  ASSERT_OK(Owner(2).Share("k"));
  clock->OnWait([&] {
    EXPECT_TRUE(Owner(2).Exclude("k").IsDeadlock());
    Owner(2).ReleaseAll();
  });
  EXPECT_OK(Owner(1).Exclude("k"));
}

TEST_F(RangeLocksTest, AChainIsNoDeadlock) {
  for (const TransactionID id : {1, 2, 3}) Owner(id).deadlock_detect = true;
  ASSERT_OK(Owner(1).Exclude("a"));
  ASSERT_OK(Owner(2).Exclude("b"));
  clock->OnWait([&] { EXPECT_TRUE(IsLockTimeout(Owner(3).Exclude("b"))); });
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("a")));
  EXPECT_TRUE(locks->GetRangeDeadlockInfoBuffer().empty());
}

// ---- The tree

TEST(RangeTreeTest, RandomRangesOverlapAsInAList) {
  Random64 random(7);
  LockOwner owner(1);
  RangeTree tree(BytewiseComparator());
  std::vector<std::unique_ptr<RangeLock>> list;
  for (int i = 0; i < 2'000; i++) {
    std::string bytes[2] = {random.Letters(1 + random.Uniform(3)),
                            random.Letters(1 + random.Uniform(3))};
    bool is_after[2] = {random.OneIn(2), random.OneIn(2)};
    const auto end = [&](int n) { return Endpoint(bytes[n], is_after[n]); };
    const bool is_swapped = tree.Compare(RangeEnd(end(0)), RangeEnd(end(1))) > 0;
    const Endpoint start = end(is_swapped ? 1 : 0);
    const Endpoint last = end(is_swapped ? 0 : 1);
    if (random.OneIn(2) || list.empty()) {
      list.push_back(std::make_unique<RangeLock>(&owner, start, last, LockMode::kShared, false));
      tree.Insert(list.back().get());
    } else {
      const size_t place = random.Uniform(list.size());
      std::swap(list[place], list.back());
      if (random.OneIn(4) && tree.Compare(list.back()->start, RangeEnd(last)) <= 0) {
        tree.SetEnd(list.back().get(), RangeEnd(last));
      } else {
        tree.Remove(list.back().get());
        list.pop_back();
      }
    }
    std::set<const RangeLock*> expected;
    for (const auto& range : list) {
      if (tree.Overlap(range->start, range->end, RangeEnd(start), RangeEnd(last))) {
        expected.insert(range.get());
      }
    }
    std::set<const RangeLock*> found;
    const RangeLock* previous = nullptr;
    tree.ForOverlapping(RangeEnd(start), RangeEnd(last), [&](const RangeLock* range) {
      EXPECT_TRUE(previous == nullptr || tree.Compare(previous->start, range->start) <= 0);
      previous = range;
      return found.insert(range).second;
    });
    ASSERT_EQ(found, expected) << i;
  }
}

}  // namespace
}  // namespace ashlar
