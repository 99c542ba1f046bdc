// SPDX-License-Identifier: Apache-2.0
//
// Code of the program that throws inside a transaction, or while the database locks a key for its
// own write, leaves no lock behind.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "ashlar/comparator.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "util/result.h"

namespace ashlar {
namespace {

// The order of bytes. While it is armed it throws as soon as it compares "bad" with another key.
class ThrowingOrder final : public Comparator {
 public:
  const char* Name() const override { return "throwing"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const bool is_bad = a == Slice("bad") || b == Slice("bad");
    if (is_armed && is_bad && a != b) throw std::runtime_error("bad");
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  bool is_armed = false;
};

struct ThrowingNotifier final : TransactionNotifier {
  void SnapshotCreated(const Snapshot*) override { throw std::runtime_error("notifier"); }
};

class PessimisticExceptionsTest : public PessimisticFixture {
 protected:
  PessimisticExceptionsTest() { options_.comparator = &order_; }
  ~PessimisticExceptionsTest() override {
    order_.is_armed = false;
    db_.reset();
  }
  ThrowingOrder order_;
};

class OptimisticExceptionsTest : public OptimisticFixture {
 protected:
  OptimisticExceptionsTest() { options_.comparator = &order_; }
  ~OptimisticExceptionsTest() override {
    order_.is_armed = false;
    Close();
  }
  ThrowingOrder order_;
};

TEST_F(PessimisticExceptionsTest, ACheckThatThrowsLeavesNoLock) {
  Open();
  ASSERT_OK(Put("a", "1"));
  auto transaction = BeginWithSnapshot();
  ASSERT_OK(transaction->Put("b", "1"));
  ASSERT_OK(Put("c", "1"));  // the memtable is newer than the snapshot, and is searched
  order_.is_armed = true;
  EXPECT_THROW(IgnoreError(transaction->Put("bad", "1"), "it throws"), std::runtime_error);
  order_.is_armed = false;
  EXPECT_EQ(LockCount(), 1u);
  EXPECT_EQ(transaction->GetNumKeys(), 1u);
  ASSERT_OK(Put("bad", "2"));
  ASSERT_OK(transaction->Commit());
}

TEST_F(PessimisticExceptionsTest, ANotifierThatThrowsLeavesNoLock) {
  Open();
  auto transaction = Begin();
  transaction->SetSnapshotOnNextOperation(std::make_shared<ThrowingNotifier>());
  EXPECT_THROW(IgnoreError(transaction->Put("a", "1"), "it throws"), std::runtime_error);
  EXPECT_EQ(LockCount(), 0u);
  ASSERT_OK(transaction->Put("a", "2"));
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "2");
}

// The notifier hears of the snapshot behind the commit, which cannot be taken back.
TEST_F(PessimisticExceptionsTest, ANotifierOfACommitThatThrowsLeavesItCommitted) {
  Open();
  for (const bool is_prepared : {false, true}) {
    auto transaction = Begin();
    ASSERT_OK(transaction->Put("a", is_prepared ? "2" : "1"));
    if (is_prepared) {
      ASSERT_OK(transaction->SetName("name"));
      ASSERT_OK(transaction->Prepare());
    }
    const TxnTimestamp timestamp = is_prepared ? 2 : 1;
    EXPECT_THROW(IgnoreError(transaction->CommitAndTryCreateSnapshot(
                                 std::make_shared<ThrowingNotifier>(), timestamp),
                             "it throws"),
                 std::runtime_error);
    EXPECT_EQ(LockCount(), 0u);
    EXPECT_EQ(transaction->GetState(), Transaction::COMMITTED);
    EXPECT_EQ(ValueOf(db_.get(), "a"), is_prepared ? "2" : "1");
    EXPECT_EQ(db_->GetTransactionByName("name"), nullptr);
  }
}

TEST_F(PessimisticExceptionsTest, ACallbackThatThrowsInAWaitForARangeEndsTheWait) {
  const std::shared_ptr<RangeLockManagerHandle> manager(NewRangeLockManager(nullptr));
  db_options_.lock_mgr_handle = manager;
  Open();
  auto holder = Begin();
  ASSERT_OK(holder->Put("a", "1"));
  manager->SetIsKilledCallback([]() -> bool { throw std::runtime_error("callback"); });
  TransactionOptions options;
  options.lock_timeout = 60'000;
  auto waiter = Begin(options);
  EXPECT_THROW(IgnoreError(waiter->Put("a", "2"), "it throws"), std::runtime_error);
  manager->SetIsKilledCallback(nullptr);
  EXPECT_TRUE(waiter->GetWaitingTxns(nullptr, nullptr).empty());
  ASSERT_OK(holder->Commit());
  ASSERT_OK(waiter->Put("a", "3"));
  EXPECT_TRUE(Put("a", "4").IsTimedOut());
  ASSERT_OK(waiter->Commit());
  EXPECT_EQ(LockCount(), 0u);
  EXPECT_EQ(ValueOf(db_.get(), "a"), "3");
}

TEST_F(OptimisticExceptionsTest, ACheckThatThrowsLeavesNoBucket) {
  Open();
  ASSERT_OK(Put("a", "1"));
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("bad", "1"));
  ASSERT_OK(Put("c", "1"));
  order_.is_armed = true;
  EXPECT_THROW(IgnoreError(transaction->Commit(), "it throws"), std::runtime_error);
  order_.is_armed = false;
  ASSERT_OK(Put("bad", "2"));  // would wait for ever for the bucket
  EXPECT_TRUE(transaction->Commit().IsBusy());
}

// A write that is refused before it is logged. The sync of a plain write has no buckets.
TEST_F(OptimisticExceptionsTest, AWriteThatThrowsLeavesNoBucket) {
  Open();
  ASSERT_OK(Put("a", "1"));
  order_.is_armed = true;
  EXPECT_THROW(IgnoreError(Put("bad", "1"), "it throws"), std::runtime_error);
  order_.is_armed = false;
  EXPECT_FALSE(Put("bad", "2").ok()) << "memory and log differ";
}

}  // namespace
}  // namespace ashlar
