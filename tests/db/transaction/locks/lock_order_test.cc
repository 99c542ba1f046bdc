// SPDX-License-Identifier: Apache-2.0
//
// Several owners that wait for one key, each in a thread: who gets it when.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

using Ids = std::vector<TransactionID>;

class LockOrderTest : public LockFixture<ManualClock> {
 protected:
  LockOrderTest() {
    UsePointLocks({}, 20);
    for (const auto& [id, owner] : owners) owner->lock_timeout_micros = kLongMicros;
  }
  ~LockOrderTest() override {
    // A test that failed may have left waiters.
    for (const auto& [id, owner] : owners) {
      if (!waiting.contains(id)) owner->ReleaseAll();
    }
    clock.Advance(kLongMicros);
    waiting.clear();
  }

  void Waits(TransactionID id, LockMode mode) {
    waiting[id] = std::make_unique<Waiting>(locks.get(), &Owner(id), "k", mode);
    EXPECT_FALSE(waiting[id]->has_returned());
  }
  Ids Holders() { return HoldersOf(locks.get(), "k"); }
  // A holder that has waited leaves.
  void Release(TransactionID id) {
    if (waiting.contains(id)) {
      EXPECT_OK(waiting[id]->Result());
    }
    Owner(id).Release("k");
  }

  static constexpr int64_t kLongMicros = int64_t{3'600'000'000};
  static constexpr LockMode kShared = LockMode::kShared;
  static constexpr LockMode kExclusive = LockMode::kExclusive;
  std::map<TransactionID, std::unique_ptr<Waiting>> waiting;
};

TEST_F(LockOrderTest, FirstComeFirstServed) {
  ASSERT_OK(Owner(1).Exclude("k"));
  for (TransactionID id = 2; id <= 7; id++) Waits(id, kExclusive);
  for (TransactionID id = 1; id <= 7; id++) {
    EXPECT_EQ(Holders(), Ids{id});
    Release(id);
  }
}

TEST_F(LockOrderTest, AdjacentSharedWaitersGetTheKeyTogether) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Waits(2, kShared);
  Waits(3, kShared);
  Waits(4, kExclusive);
  Waits(5, kShared);
  Waits(6, kShared);
  Release(1);
  EXPECT_EQ(Holders(), (Ids{2, 3}));
  Release(2);
  EXPECT_EQ(Holders(), Ids{3});
  Release(3);
  EXPECT_EQ(Holders(), Ids{4});
  Release(4);
  EXPECT_EQ(Holders(), (Ids{5, 6}));
  Release(6);
  Release(5);
}

TEST_F(LockOrderTest, EachGrantWakesOneThread) {
  ASSERT_OK(Owner(1).Exclude("k"));
  for (TransactionID id = 2; id <= 13; id++) Waits(id, kShared);
  Waits(14, kExclusive);
  Waits(15, kExclusive);
  Release(1);
  EXPECT_EQ(clock.wakes(), 12);  // more than a thread collects while it has the lock of a shard
  for (TransactionID id = 2; id <= 13; id++) Release(id);
  EXPECT_EQ(clock.wakes(), 13);
  Release(14);
  EXPECT_EQ(clock.wakes(), 14);
  Release(15);
  EXPECT_EQ(clock.wakes(), 14);
}

TEST_F(LockOrderTest, ANewcomerDoesNotOvertakeAWaitingWriter) {
  ASSERT_OK(Owner(1).Share("k"));
  Waits(2, kExclusive);
  Owner(3).lock_timeout_micros = 0;
  ASSERT_TRUE(IsLockTimeout(Owner(3).Share("k")));
  Waits(4, kShared);
  EXPECT_EQ(locks->GetWait(&Owner(4)).holders, Ids{2});
  Release(1);
  EXPECT_EQ(Holders(), Ids{2});
  Release(2);
  EXPECT_EQ(Holders(), Ids{4});
  Release(4);
}

TEST_F(LockOrderTest, AHolderHasItsKeyAgainWhileOthersWait) {
  ASSERT_OK(Owner(1).Share("k"));
  Waits(2, kExclusive);
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(1).Exclude("k"));  // alone: at once
  Release(1);
  Release(2);
}

TEST_F(LockOrderTest, AnUpgradeGoesAheadOfOtherWriters) {
  ASSERT_OK(Owner(1).Share("k"));
  ASSERT_OK(Owner(2).Share("k"));
  Waits(3, kExclusive);
  Waits(2, kExclusive);
  Release(1);
  ASSERT_EQ(locks->GetTotals().waiters, 1u) << "the upgrade is granted";
  EXPECT_OK(waiting[2]->Result());
  EXPECT_EQ(Holders(), Ids{2});
  EXPECT_EQ(Owner(2).Mode("k"), kExclusive);
  Release(2);
  EXPECT_EQ(Holders(), Ids{3});
  Release(3);
}

TEST_F(LockOrderTest, AnUpgradeThatTimesOutLetsTheOtherOneGoOn) {
  ASSERT_OK(Owner(1).Share("k"));
  ASSERT_OK(Owner(2).Share("k"));
  Owner(1).lock_timeout_micros = 100;
  Waits(1, kExclusive);
  Waits(2, kExclusive);
  clock.Advance(100);
  EXPECT_TRUE(IsLockTimeout(waiting[1]->Result()));
  EXPECT_EQ(Holders(), (Ids{1, 2}));
  Owner(1).Release("k");
  Release(2);
}

TEST_F(LockOrderTest, AWaiterThatGivesUpLetsThoseBehindItGoOn) {
  ASSERT_OK(Owner(1).Share("k"));
  Owner(2).lock_timeout_micros = 100;
  Waits(2, kExclusive);
  Waits(3, kShared);
  Waits(4, kShared);
  Waits(5, kExclusive);
  Waits(6, kShared);
  clock.Advance(100);
  EXPECT_TRUE(IsLockTimeout(waiting[2]->Result()));
  EXPECT_EQ(Holders(), (Ids{1, 3, 4}));
  for (const TransactionID id : {1, 3, 4, 5, 6}) Release(id);
}

TEST_F(LockOrderTest, AWaiterInTheMiddleGivesUp) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Waits(2, kExclusive);
  Owner(3).lock_timeout_micros = 100;
  Waits(3, kExclusive);
  Waits(4, kExclusive);
  clock.Advance(100);
  EXPECT_TRUE(IsLockTimeout(waiting[3]->Result()));
  Waits(5, kExclusive);
  for (const TransactionID id : {1, 2, 4, 5}) {
    EXPECT_EQ(Holders(), Ids{id});
    Release(id);
  }
}

TEST_F(LockOrderTest, TheLastWaiterGivesUp) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Waits(2, kExclusive);
  Owner(3).lock_timeout_micros = 100;
  Waits(3, kExclusive);
  clock.Advance(100);
  EXPECT_TRUE(IsLockTimeout(waiting[3]->Result()));
  Waits(4, kExclusive);
  for (const TransactionID id : {1, 2, 4}) {
    EXPECT_EQ(Holders(), Ids{id});
    Release(id);
  }
}

TEST_F(LockOrderTest, TheFirstSharedHolderLeavesItsQueueToTheNext) {
  for (const TransactionID id : {1, 2, 3}) ASSERT_OK(Owner(id).Share("k"));
  Waits(4, kExclusive);
  Release(1);
  Waits(5, kExclusive);
  Release(3);
  EXPECT_EQ(Holders(), Ids{2});
  Release(2);
  EXPECT_EQ(Holders(), Ids{4});
  Release(4);
  Release(5);
}

TEST_F(LockOrderTest, AnExpiredLockGoesToTheFirstWaiter) {
  Owner(1).expiration_deadline = clock.NowMicros() + 50;
  ASSERT_OK(Owner(1).Exclude("k"));
  Waits(2, kExclusive);
  Waits(3, kExclusive);
  clock.Advance(50);
  EXPECT_OK(waiting[2]->Result());
  EXPECT_EQ(Holders(), Ids{2});
  Release(2);
  Release(3);
}

TEST_F(LockOrderTest, TheLockOfAnOwnerThatHasWaitedExpiresToo) {
  ASSERT_OK(Owner(1).Exclude("k"));
  Owner(2).expiration_deadline = clock.NowMicros() + 50;
  Waits(2, kExclusive);
  Waits(3, kExclusive);
  Release(1);
  EXPECT_OK(waiting[2]->Result());
  clock.Advance(50);
  EXPECT_OK(waiting[3]->Result());
  EXPECT_TRUE(Owner(2).is_stolen);
  Release(3);
}

TEST_F(LockOrderTest, OwnersThatExpireOneAfterTheOtherAllLoseTheKey) {
  const uint64_t now = clock.NowMicros();
  for (TransactionID id = 1; id <= 4; id++) Owner(id).expiration_deadline = now + 10 * id;
  ASSERT_OK(Owner(1).Exclude("k"));
  for (TransactionID id = 2; id <= 5; id++) Waits(id, kExclusive);
  for (TransactionID id = 2; id <= 5; id++) {
    clock.Advance(10);
    EXPECT_OK(waiting[id]->Result());
    EXPECT_TRUE(Owner(id - 1).is_stolen);
  }
  Release(5);
}

}  // namespace
}  // namespace ashlar
