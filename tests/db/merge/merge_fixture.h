// SPDX-License-Identifier: Apache-2.0
//
// A database in memory with an operator that tells what it was given, for the tests of merges.
// Threads: one at a time.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Joins what there is with dots; "-" stands for no value. Operands that begin with '!' fail, those
// with '^' throw.
class Joiner : public MergeOperator {
 public:
  const char* Name() const override { return "Joiner"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    calls++;
    out->op_failure_scope = scope;
    std::string joined = in.existing_value == nullptr ? "-" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) {
      if (operand.starts_with("!")) return false;
      if (operand.starts_with("^")) throw std::runtime_error("too much");
      joined += "." + operand.ToString();
    }
    out->new_value = joined;
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* joined,
                         Logger*) const override {
    if (!merges_partially) return false;
    for (const Slice& operand : operands) {
      if (operand.starts_with("!") || operand.starts_with("^")) return false;
      *joined += (joined->empty() ? "" : ".") + operand.ToString();
    }
    return true;
  }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return stop_after > 0 && operands.size() >= stop_after;
  }

  mutable std::atomic<int> calls{0};
  OpFailureScope scope = OpFailureScope::kDefault;
  bool merges_partially = false;
  size_t stop_after = 0;  // 0: never
};

class MergeTest : public testing::Test {
 protected:
  MergeTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.statistics = CreateDBStatistics();
    options_.merge_operator = joiner_;
    Open();
  }
  ~MergeTest() override { db_.reset(); }

  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void Reopen() {
    db_.reset();
    Open();
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Delete(const std::string& key) { ASSERT_OK(db_->Delete(WriteOptions(), key)); }
  void Merge(const std::string& key, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
  }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  Status Compact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(options, nullptr, nullptr);
  }
  ReadOptions At(const Snapshot* snapshot) {
    ReadOptions read;
    read.snapshot = snapshot;
    return read;
  }
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr) {
    std::string value;
    const Status status = db_->Get(At(snapshot), key, &value);
    if (status.ok()) return value;
    return status.subcode() == Status::kMergeOperatorFailed ? "failed" : status.ToString();
  }
  // All rows, "key=value", in both directions; they must agree.
  std::string Scan(const Snapshot* snapshot = nullptr) {
    std::unique_ptr<Iterator> it(db_->NewIterator(At(snapshot)));
    std::string forward, backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      StrAppend(&forward, it->key().ToString(), "=", it->value().ToString(), " ");
    }
    EXPECT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      backward = StrCat(it->key().ToString(), "=", it->value().ToString(), " ", backward);
    }
    EXPECT_OK(it->status());
    EXPECT_EQ(forward, backward);
    return forward;
  }
  std::string Operands(const std::string& key, GetMergeOperandsOptions options = {}) {
    if (options.expected_max_number_of_operands == 0) options.expected_max_number_of_operands = 9;
    std::vector<PinnableSlice> operands(9);
    int count = -1;
    const Status status = db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), key,
                                                operands.data(), &options, &count);
    if (status.IsIncomplete()) return StrCat("incomplete ", count);
    if (!status.ok()) return status.ToString();
    std::string text;
    for (int i = 0; i < count; i++) StrAppend(&text, i == 0 ? "" : " ", operands[i].ToString());
    return text;
  }
  uint64_t Ticker(Tickers ticker) { return options_.statistics->getTickerCount(ticker); }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Joiner> joiner_ = std::make_shared<Joiner>();
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace ashlar
