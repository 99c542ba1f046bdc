// SPDX-License-Identifier: Apache-2.0
//
// A database in memory with a merge operator that shows its inputs, for the tests of merges.
// Threads: one at a time.
#pragma once

#include <atomic>
#include <stdexcept>

#include "ashlar/merge_operator.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Joins the value, or "-" if there is none, and the operands with dots. Operands that begin with
// '!' fail, those with '^' throw.
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

class MergeTest : public DbTest {
 protected:
  MergeTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.statistics = CreateDBStatistics();
    options_.merge_operator = joiner_;
    Open();
  }

  Status TryCompact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    return db_->CompactRange(options, nullptr, nullptr);
  }
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr) {
    std::string value;
    const Status status = db_->Get(AsOf(snapshot), key, &value);
    if (status.ok()) return value;
    return status.subcode() == Status::kMergeOperatorFailed ? "failed" : status.ToString();
  }
  // All rows as "key=value " in both directions, which must agree.
  std::string Scan(const Snapshot* snapshot = nullptr) {
    std::unique_ptr<Iterator> it(db_->NewIterator(AsOf(snapshot)));
    std::string forward, backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      StrAppend(&forward, RowAt(*it), " ");
    }
    EXPECT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      backward = StrCat(RowAt(*it), " ", backward);
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

  const std::shared_ptr<Joiner> joiner_ = std::make_shared<Joiner>();
};

}  // namespace ashlar
