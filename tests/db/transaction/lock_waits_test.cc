// SPDX-License-Identifier: Apache-2.0
//
// Waits for the locks of other transactions: deadlocks, and the messages of refusals.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/db/transaction/transaction_fixture.h"
#include "tests/db/transaction/watched_mutexes.h"

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

// Reads a key whenever the lock table is used.
class ReleaseTest : public PessimisticFixture,
                    public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  ReleaseTest() {
    db_options_.write_policy = GetParam();
    db_options_.default_write_batch_flush_threshold = 1;
    db_options_.custom_mutex_factory = std::make_shared<WatchedMutexes>([this](int) {
      if (is_watching_) seen_.push_back(ValueOf(db_.get(), "a"));
    });
  }
  void SetUp() override { Open(); }
  void TearDown() override { db_.reset(); }  // it uses what is declared here
  // What readers saw while a lock was released by the call.
  template <typename Call>
  std::set<std::string> SeenDuring(const Call& call) {
    is_watching_ = true;
    EXPECT_OK(call());
    is_watching_ = false;
    const std::vector<std::string> seen = std::exchange(seen_, {});
    return {seen.begin(), seen.end()};
  }

  bool is_watching_ = false;
  std::vector<std::string> seen_;
};

INSTANTIATE_TEST_SUITE_P(Policies, ReleaseTest, WritePolicies(), PolicyName);

// Whoever takes a lock next must see what its holder has committed, and decided.
TEST_P(ReleaseTest, LocksAreReleasedWhenTheDecisionIsVisible) {
  using Seen = std::set<std::string>;
  for (const bool is_prepared : {false, true}) {
    SCOPED_TRACE(is_prepared);
    ASSERT_OK(Put("a", "before"));
    auto transaction = BeginNamed("x");
    ASSERT_OK(transaction->Put("a", "after"));
    ASSERT_OK(transaction->Put("b", "after"));
    if (is_prepared) {
      ASSERT_OK(transaction->Prepare());
    }
    EXPECT_EQ(SeenDuring([&] { return transaction->Commit(); }), Seen{"after"});
    EXPECT_EQ(SeenDuring([&] { return Put("a", "put"); }), (Seen{"after", "put"}));
    auto undone = BeginNamed("y");
    ASSERT_OK(undone->Put("a", "undone"));
    ASSERT_OK(undone->Put("b", "undone"));
    if (is_prepared) {
      ASSERT_OK(undone->Prepare());
    }
    EXPECT_EQ(SeenDuring([&] { return undone->Rollback(); }), Seen{"put"});
  }
}

}  // namespace
}  // namespace ashlar
