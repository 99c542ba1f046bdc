// SPDX-License-Identifier: Apache-2.0
//
// Locks allocate nothing once the table has grown. This file replaces operator new of the program
// by one that counts its calls.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/locks/lock_tools.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class LockCostTest : public testing::Test {
 protected:
  LockCostTest() {
    KeyLocksOptions options;
    options.clock = &clock;
    options.max_locks_per_family = 100'000;
    locks = NewPointLocks(options);
    for (int i = 0; i < 1000; i++) keys.push_back("key" + std::to_string(i));
  }
  // Locks all keys for one owner and releases them. Returns the allocations.
  uint64_t LockAll() {
    const uint64_t before = thread_allocations;
    for (size_t i = 0; i < keys.size(); i++) {
      records[i].Set(0, keys[i]);
      EXPECT_TRUE(locks->Acquire(&owner, &records[i], LockMode::kShared).ok());
      EXPECT_TRUE(locks->Acquire(&owner, &records[i], LockMode::kExclusive).ok());
    }
    locks->ReleaseAll(&owner);
    return thread_allocations - before;
  }

  ScriptClock clock;
  std::unique_ptr<KeyLocks> locks;
  LockOwner owner{1};
  KeyLock records[1000];
  std::vector<std::string> keys;
};

TEST_F(LockCostTest, LocksAllocateNothingTheSecondTime) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  EXPECT_GT(LockAll(), 0u);
  EXPECT_EQ(LockAll(), 0u);
  EXPECT_EQ(LockAll(), 0u);
}

TEST_F(LockCostTest, AnOwnerAndALockOnTheStackAllocateNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  uint64_t before = 0;
  for (TransactionID id = 2; id < 100; id++) {
    if (id == 3) before = thread_allocations;  // the family is known now
    LockOwner writer(id);
    KeyLock lock(0, "k");
    ASSERT_OK(locks->Acquire(&writer, &lock, LockMode::kExclusive));
    locks->Release(&lock);
  }
  EXPECT_EQ(thread_allocations - before, 0u);
}

}  // namespace
}  // namespace ashlar
