// SPDX-License-Identifier: Apache-2.0
//
// Filters of the program, and data that is written before its transaction is decided. The filter
// here is that of a program which keeps the fields of an object under keys of their own: it drops a
// field whose object does not exist.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "ashlar/compaction_filter.h"
#include "tests/db/transaction/hidden_data_fixture.h"

namespace ashlar {
namespace {

// Whether the object "o1" of the field "f1" exists.
class FieldFilter final : public CompactionFilter {
 public:
  FieldFilter(DB* db, std::set<std::string>* asked) : db_(db), asked_(asked) {}
  bool Filter(int, const Slice& key, const Slice& value, std::string*, bool*) const override {
    asked_->insert(key.ToString() + "=" + value.ToString());
    if (!key.starts_with("f")) return false;
    std::string object;
    return db_->Get(ReadOptions(), "o" + key.ToString().substr(1), &object).IsNotFound();
  }
  const char* Name() const override { return "FieldFilter"; }

 private:
  DB* const db_;
  std::set<std::string>* const asked_;
};

class FieldFilters final : public CompactionFilterFactory {
 public:
  bool ShouldFilterTableFileCreation(TableFileCreationReason) const override { return true; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    if (db == nullptr) return nullptr;
    return std::make_unique<FieldFilter>(db, &asked);
  }
  const char* Name() const override { return "FieldFilters"; }

  DB* db = nullptr;  // null: nothing is filtered
  std::set<std::string> asked;
};

class HiddenFiltersTest : public HiddenDataTest,
                          public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  HiddenFiltersTest() : HiddenDataTest(GetParam()) {
    options_.compaction_filter_factory = filters_;
    if (GetParam() == WRITE_UNPREPARED) db_options_.default_write_batch_flush_threshold = 1;
  }
  void SetUp() override {
    HiddenDataTest::SetUp();
    filters_->db = db_.get();
  }

  const std::shared_ptr<FieldFilters> filters_ = std::make_shared<FieldFilters>();
};

TEST_P(HiddenFiltersTest, FiltersDoNotGetWhatIsUndecided) {
  ASSERT_OK(Put("f9", "old"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("f1", "new"));
  ASSERT_OK(transaction->Put("o1", "new"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(Put("f8", "later"));
  Flush();
  Compact();
  EXPECT_EQ(filters_->asked, (std::set<std::string>{"f8=later", "f9=old"}));
  EXPECT_EQ(Scan(), "");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(Scan(), "f1=new o1=new ");
  Compact();
  EXPECT_EQ(filters_->asked.count("f1=new"), 1u);
  EXPECT_EQ(Scan(), "f1=new o1=new ");
}

TEST_P(HiddenFiltersTest, WhatIsBelowUndecidedDataStays) {
  ASSERT_OK(Put("o1", "old"));
  ASSERT_OK(Put("f1", "old"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("f1", "new"));
  ASSERT_OK(transaction->Delete("o1"));
  ASSERT_OK(transaction->Prepare());
  Flush();
  Compact();
  EXPECT_EQ(Scan(), "f1=old o1=old ");
  ASSERT_OK(transaction->Rollback());
  Compact();
  EXPECT_EQ(Scan(), "f1=old o1=old ");
}

INSTANTIATE_TEST_SUITE_P(Policies, HiddenFiltersTest,
                         testing::Values(WRITE_PREPARED, WRITE_UNPREPARED), PolicyName);

}  // namespace
}  // namespace ashlar
