// SPDX-License-Identifier: Apache-2.0
//
// A database in memory with three families, for tests of WriteBatchWithIndex: the default one and
// "reverse" join merge operands with commas, "plain" has no merge operator.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

class BatchFixture : public testing::Test {
 protected:
  void SetUp() override {
    env_.reset(NewMemEnv(Env::Default()));
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    ASSERT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
    ASSERT_OK(DB::Open(options, "/db", &db_));
    family_ = db_->DefaultColumnFamily();
    Options reverse = options;
    reverse.comparator = ReverseBytewiseComparator();
    ASSERT_OK(db_->CreateColumnFamily(reverse, "reverse", &reverse_));
    Options plain = options;
    plain.merge_operator = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(plain, "plain", &plain_));
  }
  void TearDown() override {
    ASSERT_OK(db_->DestroyColumnFamilyHandle(reverse_));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(plain_));
  }

  void PutAll(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) ASSERT_OK(db_->Put(WriteOptions(), key, "db " + key));
  }
  // The value, or the status.
  std::string FromBatch(WriteBatchWithIndex* batch, ColumnFamilyHandle* family,
                        const std::string& key) {
    std::string value;
    const Status status = batch->GetFromBatch(family, DBOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }
  std::string FromBoth(WriteBatchWithIndex* batch, ColumnFamilyHandle* family,
                       const std::string& key, const ReadOptions& options = ReadOptions()) {
    std::string value;
    const Status status = batch->GetFromBatchAndDB(db_.get(), options, family, key, &value);
    return status.ok() ? value : status.ToString();
  }
  // "key=value ..." from where the iterator stands to its end.
  static std::string Rest(Iterator* iterator) {
    std::string text;
    for (; iterator->Valid(); iterator->Next()) text += Shown(*iterator) + " ";
    return iterator->status().ok() ? text : iterator->status().ToString();
  }
  static std::string RestBackwards(Iterator* iterator) {
    std::string text;
    for (; iterator->Valid(); iterator->Prev()) text += Shown(*iterator) + " ";
    return iterator->status().ok() ? text : iterator->status().ToString();
  }
  static std::string Shown(const Iterator& iterator) {
    return iterator.key().ToString() + "=" + iterator.value().ToString();
  }

  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* family_ = nullptr;   // the default one
  ColumnFamilyHandle* reverse_ = nullptr;  // in the opposite order
  ColumnFamilyHandle* plain_ = nullptr;    // without a merge operator
};

}  // namespace ashlar
