// SPDX-License-Identifier: Apache-2.0
//
// What tests share of policies that write data before it is decided.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/transaction_log.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {

using Rows = std::map<std::string, std::string>;

inline std::string TextOf(const Rows& rows) {
  std::string text;
  for (const auto& [key, value] : rows) StrAppend(&text, key, "=", value, " ");
  return text;
}
inline std::string ScanForward(Iterator* it) {
  std::string text;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    StrAppend(&text, it->key().ToString(), "=", it->value().ToString(), " ");
  }
  EXPECT_OK(it->status());
  return text;
}
inline std::string ScanBackward(Iterator* it) {
  std::string text;
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    text = StrCat(it->key().ToString(), "=", it->value().ToString(), " ", text);
  }
  EXPECT_OK(it->status());
  return text;
}

class HiddenDataTest : public PessimisticFixture {
 protected:
  explicit HiddenDataTest(TxnDBWritePolicy policy) {
    options_.disable_auto_compactions = true;
    db_options_.write_policy = policy;
  }
  void SetUp() override { Open(); }
  void Reopen() {
    db_.reset();
    Open();
  }
  std::unique_ptr<Transaction> BeginNamed(const std::string& name,
                                          const TransactionOptions& options = {}) {
    auto transaction = Begin(options);
    EXPECT_OK(transaction->SetName(name));
    return transaction;
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  void Compact() {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  }
  std::string Scan(const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    const std::string forward = ScanForward(it.get());
    EXPECT_EQ(ScanBackward(it.get()), forward);
    return forward;
  }
  // The batches in the log, "sequence,count hex".
  std::vector<std::string> LoggedBatches() {
    std::unique_ptr<WalIterator> it;
    EXPECT_OK(db_->GetUpdatesSince(1, &it));
    std::vector<std::string> batches;
    for (; it->Valid(); it->Next()) {
      const BatchResult batch = it->GetBatch();
      const Slice bytes(batch.writeBatchPtr->Data());
      const Slice records(bytes.data() + 12, bytes.size() - 12);
      batches.push_back(StrCat(batch.sequence, ",", batch.writeBatchPtr->Count(), " ",
                               records.ToString(/*hex=*/true)));
    }
    EXPECT_OK(it->status());
    return batches;
  }
};

}  // namespace ashlar
