// SPDX-License-Identifier: Apache-2.0
//
// Transactions whose database locks ranges.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

class RangeTransactionTest : public PessimisticFixture {
 protected:
  void SetUp() override {
    manager_.reset(NewRangeLockManager(nullptr));
    db_options_.lock_mgr_handle = manager_;
    Open();
  }
  size_t RangeCount() { return manager_->GetRangeLockStatusData().size(); }

  std::shared_ptr<RangeLockManagerHandle> manager_;
};

TEST_F(RangeTransactionTest, ARangeIsLockedUntilTheCommit) {
  auto holder = Begin();
  ASSERT_OK(holder->GetRangeLock(db_->DefaultColumnFamily(), Endpoint("b"), Endpoint("d")));
  auto other = Begin();
  EXPECT_TRUE(other->Put("c", "1").IsTimedOut());
  EXPECT_TRUE(Put("b", "1").IsTimedOut());
  ASSERT_OK(other->Put("a", "1"));
  ASSERT_OK(holder->Put("c", "2"));
  ASSERT_OK(holder->Commit());
  ASSERT_OK(other->Put("c", "1"));
  ASSERT_OK(other->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "c"), "1");
  EXPECT_EQ(RangeCount(), 0u);
}

TEST_F(RangeTransactionTest, KeysAreLockedAsRanges) {
  auto holder = Begin();
  ASSERT_OK(holder->Put("k", "1"));
  EXPECT_EQ(RangeCount(), 1u);
  auto other = Begin();
  EXPECT_TRUE(
      other->GetRangeLock(db_->DefaultColumnFamily(), Endpoint("a"), Endpoint("z")).IsTimedOut());
  ASSERT_OK(holder->Rollback());
  EXPECT_EQ(RangeCount(), 0u);
  EXPECT_OK(other->GetRangeLock(db_->DefaultColumnFamily(), Endpoint("a"), Endpoint("z")));
}

}  // namespace
}  // namespace ashlar
