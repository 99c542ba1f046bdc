// SPDX-License-Identifier: Apache-2.0
//
// The two functions of a program that may end a lookup among merge operands: the operator's
// ShouldMerge(), and the continue_cb of GetMergeOperands(). They are called operand by operand,
// newest first, as if the operands were just being read.
//
// Both are code of the program, so they are called outside of epochs: after the search in memory,
// and after each table. Threads: one at a time.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "ashlar/merge_operator.h"
#include "table/iterator/merge_operands.h"

namespace ashlar {

// Ends the lookup when ShouldMerge() of the operator returns true for the operands met so far.
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
      return false;  // ending early only saves work; the fold itself reports a failing operator
    }
  }

  const MergeOperator* const merge_operator_;
  std::vector<Slice> asked_;  // newest first
};

// Ends the lookup when the callback returns false for an operand.
class ContinueCallbackLimit final : public OperandLimit {
 public:
  // An empty callback never ends a lookup.
  explicit ContinueCallbackLimit(std::function<bool(Slice)> goes_on)
      : goes_on_(std::move(goes_on)) {}

 private:
  bool EndsWith(const Slice& operand) override { return goes_on_ && !goes_on_(operand); }

  const std::function<bool(Slice)> goes_on_;
};

}  // namespace ashlar
