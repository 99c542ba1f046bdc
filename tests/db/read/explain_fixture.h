// SPDX-License-Identifier: Apache-2.0
//
// A database whose reads are made and explained; both must have the same result. Threads: one at a
// time.
#pragma once

#include "ashlar/explain.h"
#include "ashlar/filter_policy.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"

namespace ashlar {

class ExplainTest : public DbTest {
 protected:
  ExplainTest() {
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.disable_auto_compactions = true;
    options_.merge_operator = NewStringAppendOperator(",");
  }
  void SetUp() override { Open(); }
  void Open() {
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    DbTest::Open();
  }

  // The explanation has the result of the read itself.
  ReadExplanation Get(const std::string& key, const ReadOptions& options = ReadOptions()) {
    ReadExplanation explanation;
    ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    EXPECT_OK(ExplainGet(db_.get(), options, family, key, &explanation));
    std::string value;
    EXPECT_EQ(db_->Get(options, key, &value).code(), explanation.status.code());
    EXPECT_EQ(explanation.value_bytes, value.size());
    EXPECT_EQ(explanation.key, key);
    EXPECT_FALSE(explanation.ToString().empty());
    return explanation;
  }
  ReadExplanation Seek(const std::string& target, const ReadOptions& options = ReadOptions()) {
    ReadExplanation explanation;
    ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    EXPECT_OK(ExplainSeek(db_.get(), options, family, target, &explanation));
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek(target);
    CheckAnswer(*it, explanation);
    return explanation;
  }
  ReadExplanation SeekForPrev(const std::string& target,
                              const ReadOptions& options = ReadOptions()) {
    ReadExplanation explanation;
    ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    EXPECT_OK(ExplainSeekForPrev(db_.get(), options, family, target, &explanation));
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->SeekForPrev(target);
    CheckAnswer(*it, explanation);
    return explanation;
  }
  static void CheckAnswer(const Iterator& iterator, const ReadExplanation& explanation) {
    const Iterator* const it = &iterator;
    EXPECT_EQ(it->status().code(), explanation.status.code());
    EXPECT_EQ(it->Valid(), explanation.is_valid);
    if (it->Valid() && explanation.is_valid) {
      EXPECT_EQ(it->key().ToString(), explanation.found_key);
      EXPECT_EQ(it->value().size(), explanation.value_bytes);
    }
  }

  BlockBasedTableOptions table_;
};

}  // namespace ashlar
