// SPDX-License-Identifier: Apache-2.0
//
// A database whose reads are explained, each beside the read itself: both say the same. Threads:
// one at a time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/explain.h"
#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

class ExplainTest : public testing::Test {
 protected:
  ExplainTest() {
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  }
  void SetUp() override { Open(); }
  void Open() {
    db_.reset();
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Merge(const std::string& key, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
  }
  void Delete(const std::string& key) { ASSERT_OK(db_->Delete(WriteOptions(), key)); }
  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), begin, end));
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  void Compact() { ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); }

  // The explanation says what the read itself says.
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

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  BlockBasedTableOptions table_;
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace ashlar
