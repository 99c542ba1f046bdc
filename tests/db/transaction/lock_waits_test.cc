// SPDX-License-Identifier: Apache-2.0
//
// Waits for the locks of other transactions: deadlocks, and the messages of refusals.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

class LockWaitsTest : public PessimisticFixture {
 protected:
  void SetUp() override { Open(); }
};

TEST_F(LockWaitsTest, ARefusalNamesTheFamily) {
  auto holder = Begin();
  ASSERT_OK(holder->Put("held", "1"));
  auto transaction = BeginWithSnapshot();
  const auto expect_named = [](const Status& status) {
    EXPECT_NE(status.ToString().find("column family default"), std::string::npos)
        << status.ToString();
  };
  expect_named(transaction->Put("held", "2"));
  ASSERT_OK(Put("written", "1"));
  expect_named(transaction->Put("written", "2"));
}

// A cycle of two transactions, of which either may be refused. Returns when both are rolled back.
void MakeDeadlock(Transaction* one, Transaction* two) {
  ASSERT_OK(one->Put("a", "1"));
  ASSERT_OK(two->Put("b", "2"));
  const auto is_refused = [](Transaction* transaction, const char* key) {
    const Status status = transaction->Put(key, "x");
    EXPECT_OK(transaction->Rollback());
    return status.subcode() == Status::SubCode::kDeadlock;
  };
  bool is_one_refused = false;
  std::thread waiter([&] { is_one_refused = is_refused(one, "b"); });
  while (one->GetWaitingTxns(nullptr, nullptr).empty()) std::this_thread::yield();
  const bool is_two_refused = is_refused(two, "a");
  waiter.join();
  EXPECT_NE(is_one_refused, is_two_refused);
}

TEST_F(LockWaitsTest, SoManyDeadlocksAreRememberedAsTheOptionsSay) {
  db_.reset();
  db_options_.max_num_deadlocks = 2;
  Open();
  TransactionOptions options;
  options.deadlock_detect = true;
  options.lock_timeout = 60'000;
  options.deadlock_timeout_us = 0;
  auto one = Begin(options);
  auto two = Begin(options);
  for (int i = 0; i < 3; ++i) MakeDeadlock(one.get(), two.get());
  EXPECT_EQ(db_->GetDeadlockInfoBuffer().size(), 2u);
}

// With the timeout of the options the search would begin after an hour.
TEST_F(LockWaitsTest, SetDeadlockTimeoutCountsFromTheNextWaitOn) {
  TransactionOptions options;
  options.deadlock_detect = true;
  options.lock_timeout = 4 * 3'600'000;
  options.deadlock_timeout_us = int64_t{3'600'000'000};
  auto one = Begin(options);
  auto two = Begin(options);
  two->SetDeadlockTimeout(0);
  MakeDeadlock(one.get(), two.get());
}

}  // namespace
}  // namespace ashlar
