// SPDX-License-Identifier: Apache-2.0
//
// What may end a lookup among merge operands: the operator's ShouldMerge(), or the continue_cb of
// GetMergeOperands(). Both are asked operand by operand, newest first, as if it were being read.
//
// They are users' code, so they are asked outside of epochs: after what is in memory was searched,
// and then after each table. Threads: one at a time.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "ashlar/merge_operator.h"
#include "table/iterator/merge_operands.h"

namespace ashlar {

class ShouldMergeLimit final : public OperandLimit {
 public:
  // The operator, which may be null, outlives the limit.
  explicit ShouldMergeLimit(const MergeOperator* merge_operator)
      : merge_operator_(merge_operator) {}

 private:
  bool EndsWith(const Slice& operand) override {
    if (merge_operator_ == nullptr) return false;
    asked_.push_back(operand);
    try {
      return merge_operator_->ShouldMerge(asked_);
    } catch (...) {
      return false;  // an early end is a favour; the fold itself will tell
    }
  }

  const MergeOperator* const merge_operator_;
  std::vector<Slice> asked_;  // newest first
};

class ContinueCallbackLimit final : public OperandLimit {
 public:
  // The callback may be empty.
  explicit ContinueCallbackLimit(std::function<bool(Slice)> goes_on)
      : goes_on_(std::move(goes_on)) {}

 private:
  bool EndsWith(const Slice& operand) override { return goes_on_ && !goes_on_(operand); }

  const std::function<bool(Slice)> goes_on_;
};

}  // namespace ashlar
