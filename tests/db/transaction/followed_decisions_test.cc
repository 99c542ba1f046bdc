// SPDX-License-Identifier: Apache-2.0
//
// Secondaries beside a primary whose transactions write before they are decided: readers that stay
// at the state of before while a decision arrives, and decisions in logs that are gone.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "tests/db/following/secondary_db.h"
#include "tests/db/transaction/hidden_data_fixture.h"

namespace ashlar {
namespace {

class FollowedDecisionsTest : public HiddenDataTest {
 protected:
  FollowedDecisionsTest() : HiddenDataTest(WRITE_PREPARED) {}
  void TearDown() override {
    secondary_.Close();
    if (other_ != nullptr) {
      EXPECT_OK(db_->DestroyColumnFamilyHandle(other_));
    }
    HiddenDataTest::TearDown();
  }
  void CreateOther() { ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other_)); }
  void OpenSecondary() {
    Options options = options_;
    options.allow_2pc = true;
    std::vector<std::string> families = {kDefaultColumnFamilyName};
    if (other_ != nullptr) families.emplace_back("other");
    secondary_.Open(options, "/db", families);
  }
  void DropOther() {
    ASSERT_OK(db_->DropColumnFamily(other_));
    secondary_.CatchUp();
  }
  // Writes the key in a transaction that is prepared and committed at once.
  void CommitInTwoPhases(const std::string& name, const std::string& key) {
    auto transaction = BeginNamed(name);
    ASSERT_OK(transaction->Put(key, name));
    ASSERT_OK(transaction->Prepare());
    ASSERT_OK(transaction->Commit());
  }
  // A reader that repeats a step for ever cannot be stopped, so the program ends.
  static void ExpectToEnd(const std::function<void()>& reads) {
    std::promise<void> ended;
    const std::future<void> end = ended.get_future();
    std::thread thread([&] {
      reads();
      ended.set_value();
    });
    if (end.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
      std::fprintf(stderr, "the reads do not end\n");
      std::abort();
    }
    thread.join();
  }

  SecondaryDb secondary_;
  ColumnFamilyHandle* other_ = nullptr;
};

TEST_F(FollowedDecisionsTest, ADroppedFamilyIsReadWhateverIsDecidedLater) {
  CreateOther();
  ASSERT_OK(db_->Put(WriteOptions(), other_, "k", "v"));
  OpenSecondary();
  DropOther();
  for (const char* name : {"x", "y"}) CommitInTwoPhases(name, "a");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("a"), "y");
  ExpectToEnd([this] { EXPECT_EQ(secondary_.Get("k", 1), "v"); });
  ExpectToEnd([this] { EXPECT_EQ(secondary_.ReadRows(1), (Rows{{"k", "v"}})); });
  EXPECT_EQ(ValueOf(db_.get(), "a"), "y");
}

// The readers of the family stay at the moment before the decision.
TEST_F(FollowedDecisionsTest, WhatWasUndecidedInADroppedFamilyStaysHidden) {
  CreateOther();
  ASSERT_OK(db_->Put(WriteOptions(), other_, "k", "0"));
  OpenSecondary();
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put(other_, "k", "1"));
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  secondary_.CatchUp();
  DropOther();
  ASSERT_OK(transaction->Commit());
  CommitInTwoPhases("y", "b");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("a") + secondary_.Get("b"), "1y");
  ExpectToEnd([this] { EXPECT_EQ(secondary_.Get("k", 1), "0"); });
  ExpectToEnd([this] { EXPECT_EQ(secondary_.ReadRows(1), (Rows{{"k", "0"}})); });
  ReadOptions read;
  read.snapshot = secondary_->GetSnapshot();
  EXPECT_EQ(secondary_.Get("k", 1, read), "0");
  EXPECT_EQ(secondary_.ReadRows(1, read), (Rows{{"k", "0"}}));
  secondary_->ReleaseSnapshot(read.snapshot);
}

// The decision has no data, so the tables tell no number above the one that readers have.
TEST_F(FollowedDecisionsTest, ADecisionInALogThatIsGoneIsLaterThanTheReadersOfBefore) {
  ASSERT_OK(Put("k", "v0"));
  OpenSecondary();
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("k", "v1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(Put("l", "0"));
  secondary_.CatchUp();
  ReadOptions read;
  read.snapshot = secondary_->GetSnapshot();
  const std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions(), secondary_.Family(0)));
  const Rows before{{"k", "v0"}, {"l", "0"}};
  ASSERT_OK(transaction->Commit());
  Flush();
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "v1");
  EXPECT_EQ(secondary_.Get("k", 0, read), "v0");
  EXPECT_EQ(secondary_.ReadRows(0, read), before);
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), before);
  ASSERT_OK(Put("k", "v2"));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "v2");
  EXPECT_EQ(secondary_.Get("k", 0, read), "v0");
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), before);
  secondary_->ReleaseSnapshot(read.snapshot);
}

// Nothing was written behind the prepared data.
TEST_F(FollowedDecisionsTest, ADecisionInALogThatIsGoneIsSeenAtOnce) {
  ASSERT_OK(Put("k", "v0"));
  OpenSecondary();
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("k", "v1"));
  ASSERT_OK(transaction->Prepare());
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "v0");
  ASSERT_OK(transaction->Commit());
  Flush();
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "v1");
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"k", "v1"}}));
}

}  // namespace
}  // namespace ashlar
