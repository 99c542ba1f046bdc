// SPDX-License-Identifier: Apache-2.0
//
// The rules of point locks: who gets a key, when, and what those are told who do not get it.
#include "db/transaction/locks/point_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/status_matchers.h"
#include "util/text/data_in_errors.h"

namespace ashlar {
namespace {

using Ids = std::vector<TransactionID>;

// One thread plays all owners.
class PointLocksTest : public LockFixture<ScriptClock> {
 protected:
  PointLocksTest() { Make({}); }
  void Make(const KeyLocksOptions& options) { UsePointLocks(options, 6); }
  Ids HoldersOf(const std::string& key) { return ashlar::HoldersOf(locks.get(), key); }
};

// ---- Modes

TEST_F(PointLocksTest, SharedLocksAreHeldTogether) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_EQ(HoldersOf("k"), (std::vector<TransactionID>{1, 2}));
}

TEST_F(PointLocksTest, AnExclusiveLockKeepsOthersOut) {
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(2).Share("k")));
  EXPECT_TRUE(IsLockTimeout(Owner(3).Exclude("k")));
}

TEST_F(PointLocksTest, ASharedLockKeepsExclusiveOnesOut) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
}

TEST_F(PointLocksTest, KeysOfDifferentFamiliesAreDifferentLocks) {
  EXPECT_OK(Owner(1).Acquire("k", LockMode::kExclusive, 1));
  EXPECT_OK(Owner(2).Acquire("k", LockMode::kExclusive, 2));
}

TEST_F(PointLocksTest, AnEmptyKeyIsAKey) {
  EXPECT_OK(Owner(1).Exclude(""));
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("")));
}

TEST_F(PointLocksTest, AnOwnLockIsHadAgainInAWeakerMode) {
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_EQ(Owner(1).Mode("k"), LockMode::kExclusive);
  EXPECT_TRUE(IsLockTimeout(Owner(2).Share("k")));
}

TEST_F(PointLocksTest, ALoneSharedHolderUpgradesAtOnce) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_EQ(clock.waits, 0);
  EXPECT_TRUE(IsLockTimeout(Owner(2).Share("k")));
}

TEST_F(PointLocksTest, AnUpgradeWaitsForTheOtherHolders) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_OK(Owner(3).Share("k"));
  clock.OnWait([&] { Owner(2).Release("k"); });
  clock.OnWait([&] { Owner(3).Release("k"); });
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_EQ(clock.waits, 2);
  EXPECT_EQ(HoldersOf("k"), std::vector<TransactionID>{1});
}

TEST_F(PointLocksTest, AFailedUpgradeLeavesTheSharedLock) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("k")));
  EXPECT_EQ(Owner(1).Mode("k"), LockMode::kShared);
  EXPECT_EQ(HoldersOf("k"), (std::vector<TransactionID>{1, 2}));
  EXPECT_OK(Owner(3).Share("k"));
}

TEST_F(PointLocksTest, AnUpgradeTakenBackLetsWaitingReadersIn) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(1).Exclude("k"));
  clock.OnWait([&] { locks->Downgrade(Owner(1).Lock("k")); });
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_EQ(clock.waits, 1) << "at once";
  EXPECT_EQ(HoldersOf("k"), (std::vector<TransactionID>{1, 2}));
  EXPECT_EQ(Owner(1).Mode("k"), LockMode::kShared);
}

// ---- Waiting

TEST_F(PointLocksTest, AWaitEndsWithItsTimeout) {
  EXPECT_OK(Owner(1).Exclude("k"));
  const uint64_t before = clock.now;
  Owner(2).lock_timeout_micros = 300'000;
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_EQ(clock.now, before + 300'000);
}

TEST_F(PointLocksTest, ATimeoutOfZeroDoesNotWait) {
  EXPECT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = 0;
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_EQ(clock.waits, 0);
  Owner(1).Release("k");
  EXPECT_OK(Owner(2).Exclude("k"));
}

TEST_F(PointLocksTest, ANegativeTimeoutWaitsAsLongAsItTakes) {
  EXPECT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = -1;
  clock.OnWait([&] { clock.now += uint64_t{1'000'000'000'000}; });
  clock.OnWait([&] { Owner(1).Release("k"); });
  EXPECT_OK(Owner(2).Exclude("k"));
}

TEST_F(PointLocksTest, TheGreatestTimeoutDoesNotOverflow) {
  EXPECT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = std::numeric_limits<int64_t>::max();
  clock.OnWait([&] { Owner(1).Release("k"); });
  EXPECT_OK(Owner(2).Exclude("k"));
}

TEST_F(PointLocksTest, AWakeWithoutReasonDoesNotEndAWait) {
  EXPECT_OK(Owner(1).Exclude("k"));
  for (int i = 0; i < 3; i++) clock.OnWait([] {});
  clock.OnWait([&] { Owner(1).Release("k"); });
  EXPECT_OK(Owner(2).Exclude("k"));
  EXPECT_EQ(clock.waits, 4);
}

TEST_F(PointLocksTest, ATimeoutNamesFamilyKeyAndHolder) {
  AllowDataInErrors();
  Make({.family_name = [](uint32_t family) { return "family_" + std::to_string(family); }});
  EXPECT_OK(Owner(4).Acquire("apple", LockMode::kExclusive, 7));
  const Status status = Owner(2).Acquire("apple", LockMode::kShared, 7);
  EXPECT_TRUE(IsLockTimeout(status));
  EXPECT_NE(status.ToString().find("family_7"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("6170706C65"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("transaction 4"), std::string::npos) << status.ToString();
}

// ---- Expiry

TEST_F(PointLocksTest, AnExpiredLockIsTakenWhenItExpires) {
  Owner(1).expiration_deadline = clock.now + 50'000;
  EXPECT_OK(Owner(1).Exclude("k"));
  const uint64_t before = clock.now;
  EXPECT_OK(Owner(2).Exclude("k"));
  EXPECT_EQ(clock.now, before + 50'000);
  EXPECT_TRUE(Owner(1).is_stolen);
  EXPECT_EQ(HoldersOf("k"), Ids{2});
}

TEST_F(PointLocksTest, AnExpiredLockIsTakenWithoutWaiting) {
  Owner(1).expiration_deadline = clock.now;
  EXPECT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = 0;
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_EQ(clock.waits, 0);
}

TEST_F(PointLocksTest, ALockThatHasNotExpiredStays) {
  Owner(1).expiration_deadline = clock.now + 1;
  EXPECT_OK(Owner(1).Exclude("k"));
  Owner(2).lock_timeout_micros = 0;
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_EQ(Owner(1).steal_attempts, 0);
}

TEST_F(PointLocksTest, AWaitForAnExpiredHolderThatCommitsLastsItsOwnTimeout) {
  Owner(1).expiration_deadline = clock.now + 50'000;
  Owner(1).may_be_stolen = false;
  EXPECT_OK(Owner(1).Exclude("k"));
  const uint64_t before = clock.now;
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_EQ(clock.now, before + 1'000'000);
  EXPECT_GT(Owner(1).steal_attempts, 0);
  EXPECT_EQ(HoldersOf("k"), Ids{1});
}

TEST_F(PointLocksTest, ASharedLockExpiresWithItsLastHolder) {
  const uint64_t before = clock.now;
  Owner(1).expiration_deadline = before + 50'000;
  Owner(2).expiration_deadline = before + 80'000;
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_OK(Owner(3).Exclude("k"));
  EXPECT_EQ(clock.now, before + 80'000);
  EXPECT_EQ(HoldersOf("k"), Ids{3});
}

TEST_F(PointLocksTest, ASharedHolderWithoutDeadlineKeepsTheLockForAll) {
  Owner(1).expiration_deadline = clock.now + 50'000;
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(3).Exclude("k")));
  EXPECT_FALSE(Owner(1).is_stolen);
}

TEST_F(PointLocksTest, TheLastHolderWithoutDeadlineLeavesAnExpiredOneBehind) {
  Owner(1).expiration_deadline = clock.now + 50'000;
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  clock.OnWait([&] { clock.now += 60'000; });
  clock.OnWait([&] { Owner(2).Release("k"); });
  EXPECT_OK(Owner(3).Exclude("k"));
  EXPECT_EQ(clock.waits, 2);
  EXPECT_TRUE(Owner(1).is_stolen);
}

TEST_F(PointLocksTest, AnUpgradeTakesExpiredLocks) {
  Owner(1).expiration_deadline = clock.now + 50'000;
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_OK(Owner(2).Exclude("k"));
  EXPECT_EQ(HoldersOf("k"), Ids{2});
  EXPECT_FALSE(Owner(2).is_stolen);
}

TEST_F(PointLocksTest, AllKeysOfAnExpiredOwnerCanBeTaken) {
  Owner(1).expiration_deadline = clock.now;
  EXPECT_OK(Owner(1).Exclude("a"));
  EXPECT_OK(Owner(1).Exclude("b"));
  EXPECT_OK(Owner(2).Exclude("a"));
  EXPECT_EQ(HoldersOf("b"), Ids{1});
  EXPECT_OK(Owner(3).Exclude("b"));
}

TEST_F(PointLocksTest, AnOwnerReleasesALockThatWasTaken) {
  Owner(1).expiration_deadline = clock.now;
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_OK(Owner(2).Exclude("k"));
  Owner(1).ReleaseAll();
  EXPECT_EQ(HoldersOf("k"), Ids{2});
  EXPECT_EQ(Owner(1).Mode("k"), LockMode::kNone);
}

TEST_F(PointLocksTest, ALockThatWasTakenIsNotUpgraded) {
  Owner(1).expiration_deadline = clock.now;
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Exclude("k"));
  EXPECT_TRUE(Owner(1).Exclude("k").IsExpired());
  locks->Release(Owner(1).Lock("k"));
  Owner(2).ReleaseAll();
  EXPECT_OK(Owner(1).Exclude("k"));
}

TEST_F(PointLocksTest, TakingBackAnUpgradeOfALockThatWasTakenDoesNothing) {
  Owner(1).expiration_deadline = clock.now;
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_OK(Owner(2).Exclude("k"));
  locks->Downgrade(Owner(1).Lock("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(3).Share("k")));
}

// ---- Limits and families

TEST_F(PointLocksTest, AFamilyHasAtMostSoManyLockedKeys) {
  Make({.max_locks_per_family = 2});
  EXPECT_OK(Owner(1).Exclude("a"));
  EXPECT_OK(Owner(1).Exclude("b"));
  const Status status = Owner(2).Exclude("c");
  EXPECT_TRUE(status.IsLockLimit()) << status.ToString();
  EXPECT_OK(Owner(2).Acquire("c", LockMode::kExclusive, 1));
  EXPECT_OK(Owner(1).Exclude("a"));
  Owner(1).Release("a");
  EXPECT_OK(Owner(2).Exclude("c"));
}

TEST_F(PointLocksTest, AKeyWithSeveralHoldersCountsOnce) {
  Make({.max_locks_per_family = 1});
  EXPECT_OK(Owner(1).Share("a"));
  EXPECT_OK(Owner(2).Share("a"));
  Owner(1).Release("a");
  EXPECT_OK(Owner(2).Exclude("a"));
  EXPECT_TRUE(Owner(1).Share("b").IsLockLimit());
  Owner(2).Release("a");
  EXPECT_OK(Owner(1).Share("b"));
}

TEST_F(PointLocksTest, AKeyThatPassesToAWaiterStillCounts) {
  Make({.max_locks_per_family = 1});
  EXPECT_OK(Owner(1).Exclude("a"));
  clock.OnWait([&] { Owner(1).Release("a"); });
  EXPECT_OK(Owner(2).Exclude("a"));
  EXPECT_TRUE(Owner(1).Exclude("b").IsLockLimit());
}

TEST_F(PointLocksTest, ALimitOfZeroIsNone) {
  Make({.max_locks_per_family = 0});
  for (int i = 0; i < 100; i++) EXPECT_OK(Owner(1).Exclude(std::to_string(i)));
}

TEST_F(PointLocksTest, ADroppedFamilyIsRefused) {
  EXPECT_OK(Owner(1).Acquire("a", LockMode::kExclusive, 3));
  locks->DropFamily(3);
  EXPECT_TRUE(Owner(1).Acquire("b", LockMode::kExclusive, 3).IsInvalidArgument());
  EXPECT_TRUE(Owner(2).Acquire("a", LockMode::kExclusive, 3).IsInvalidArgument());
  EXPECT_OK(Owner(2).Acquire("a", LockMode::kExclusive, 2));
  EXPECT_EQ(locks->Describe().count(3), 0u);
  EXPECT_EQ(locks->Describe().count(2), 1u);
}

TEST_F(PointLocksTest, ANumberThatIsUsedAgainIsAFamilyAgain) {
  locks->DropFamily(3);
  locks->AddFamily(3, nullptr);
  EXPECT_OK(Owner(1).Acquire("b", LockMode::kExclusive, 3));
}

TEST_F(PointLocksTest, PointLocksHaveNoRanges) {
  EXPECT_TRUE(locks->AcquireRange(&Owner(1), 0, Endpoint("a"), Endpoint("b"), LockMode::kShared)
                  .IsNotSupported());
}

// ---- Recovered locks

TEST_F(PointLocksTest, SeveralRecoveredOwnersHoldAKey) {
  Make({.max_locks_per_family = 1});
  locks->AcquireRecovered(&Owner(1), Owner(1).Lock("k"));
  locks->AcquireRecovered(&Owner(2), Owner(2).Lock("k"));
  locks->AcquireRecovered(&Owner(2), Owner(2).Lock("k2"));
  EXPECT_EQ(HoldersOf("k"), (Ids{1, 2}));
  clock.OnWait([&] { Owner(1).ReleaseAll(); });
  clock.OnWait([&] { Owner(2).ReleaseAll(); });
  EXPECT_OK(Owner(3).Share("k"));
  EXPECT_EQ(clock.waits, 2);
  EXPECT_EQ(HoldersOf("k"), Ids{3});
}

// ---- Reports

TEST_F(PointLocksTest, TheTableIsDescribedByFamily) {
  EXPECT_OK(Owner(1).Acquire("a", LockMode::kExclusive, 1));
  EXPECT_OK(Owner(1).Acquire("b", LockMode::kShared, 2));
  EXPECT_OK(Owner(2).Acquire("b", LockMode::kShared, 2));
  const auto table = locks->Describe();
  ASSERT_EQ(table.size(), 2u);
  const KeyLockInfo& a = table.find(1)->second;
  EXPECT_EQ(a.key, "a");
  EXPECT_EQ(a.ids, Ids{1});
  EXPECT_TRUE(a.exclusive);
  const KeyLockInfo& b = table.find(2)->second;
  EXPECT_EQ(b.key, "b");
  EXPECT_EQ(b.ids.size(), 2u);
  EXPECT_FALSE(b.exclusive);
}

TEST_F(PointLocksTest, AWaitIsReportedWhileItLasts) {
  EXPECT_OK(Owner(1).Acquire("k", LockMode::kShared, 5));
  EXPECT_OK(Owner(2).Acquire("k", LockMode::kShared, 5));
  clock.OnWait([&] {
    LockWait wait = locks->GetWait(&Owner(3));
    std::sort(wait.holders.begin(), wait.holders.end());
    EXPECT_EQ(wait.holders, (Ids{1, 2}));
    EXPECT_EQ(wait.family, 5u);
    EXPECT_EQ(wait.key, "k");
    Owner(1).ReleaseAll();
    EXPECT_EQ(locks->GetWait(&Owner(3)).holders, Ids{2});
    EXPECT_EQ(locks->GetTotals().waiters, 1u);
    Owner(2).ReleaseAll();
    EXPECT_EQ(locks->GetTotals().waiters, 0u);
  });
  EXPECT_OK(Owner(3).Acquire("k", LockMode::kExclusive, 5));
  EXPECT_TRUE(locks->GetWait(&Owner(3)).holders.empty());
}

TEST_F(PointLocksTest, AWaitThatTimedOutIsReportedUntilTheNextOne) {
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  EXPECT_EQ(locks->GetWait(&Owner(2)).holders, Ids{1});
  EXPECT_EQ(locks->GetWait(&Owner(2)).key, "k");
  clock.OnWait([&] { Owner(1).ReleaseAll(); });
  EXPECT_OK(Owner(2).Exclude("k"));
  EXPECT_TRUE(locks->GetWait(&Owner(2)).holders.empty());
}

TEST_F(PointLocksTest, AUpgradeIsReportedWithoutItsOwnLock) {
  EXPECT_OK(Owner(1).Share("k"));
  EXPECT_OK(Owner(2).Share("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(1).Exclude("k")));
  EXPECT_EQ(locks->GetWait(&Owner(1)).holders, Ids{2});
}

TEST_F(PointLocksTest, AnOwnerThatIsUsedAgainHasNoPast) {
  EXPECT_OK(Owner(1).Exclude("k"));
  EXPECT_TRUE(IsLockTimeout(Owner(2).Exclude("k")));
  Owner(2).Reuse(20);
  EXPECT_TRUE(locks->GetWait(&Owner(2)).holders.empty());
  EXPECT_OK(Owner(2).Exclude("other"));
  EXPECT_EQ(HoldersOf("other"), Ids{20});
}

// ---- Memory

TEST_F(PointLocksTest, TheTableGrowsAndShrinks) {
  const uint64_t empty = locks->GetTotals().table_bytes;
  constexpr int kKeys = 50'000;
  for (int i = 0; i < kKeys; i++) ASSERT_OK(Owner(1).Exclude(std::to_string(i)));
  EXPECT_EQ(locks->GetTotals().keys, uint64_t{kKeys});
  const uint64_t full = locks->GetTotals().table_bytes;
  EXPECT_GT(full, empty + kKeys * 16);
  EXPECT_LT(full, empty + kKeys * 16 * 4);
  for (int i = 0; i < kKeys; i++) ASSERT_EQ(Owner(1).Mode(std::to_string(i)), LockMode::kExclusive);
  for (int i = 0; i < kKeys; i += 2) Owner(1).Release(std::to_string(i));
  for (int i = 0; i < kKeys; i++) {
    Owner(2).lock_timeout_micros = 0;
    ASSERT_EQ(Owner(2).Exclude(std::to_string(i)).ok(), i % 2 == 0) << i;
  }
  Owner(1).ReleaseAll();
  Owner(2).ReleaseAll();
  EXPECT_EQ(locks->GetTotals().table_bytes, full);
  // What a time of few locks does not need is given back.
  for (int i = 0; i < kKeys; i++) {
    ASSERT_OK(Owner(1).Exclude(std::to_string(i)));
    Owner(1).ReleaseAll();
  }
  EXPECT_LT(locks->GetTotals().table_bytes, full / 8);
}

}  // namespace
}  // namespace ashlar
