// SPDX-License-Identifier: Apache-2.0
//
// Folding merge operands: the one place that calls a family's merge operator, for point reads,
// iterators, flushes, compactions and writes.
//
// The operator is a user's code: it is called without a lock and outside of epochs. What it throws
// is taken for a failure. Failing is Corruption(kMergeOperatorFailed) with the key. Threads: any.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class Logger;
class PointLookup;
class Statistics;
class SystemClock;
struct GetMergeOperandsOptions;
struct ReadOptions;

// All of them outlive the call.
struct MergeTools {
  const MergeOperator* merge_operator = nullptr;  // null: the family has none
  Logger* info_log = nullptr;                     // for the operator's complaints; may be null
  Statistics* statistics = nullptr;               // null: off
  SystemClock* clock = nullptr;
};

// The value below the operands.
struct MergeBase {
  Slice value;
  bool is_entity = false;  // `value` is the stored form of columns
};

// Where a fold puts its result.
struct Merged {
  std::string value;
  bool is_entity = false;   // `value` is the stored form of columns
  Slice input{nullptr, 0};  // set: the result is this one of the inputs, or a column of the base
  MergeOperator::OpFailureScope failure_scope = MergeOperator::OpFailureScope::kDefault;

  // As the kind of an entry says it.
  ValueType type() const { return is_entity ? kTypeWideColumnEntity : kTypeValue; }
  Slice AsSlice() const { return input.data() != nullptr ? input : Slice(value); }
};

// Folds the operands, oldest first and at least one, into `base`; null: there is no value below
// them. InvalidArgument without an operator, Corruption if the base is a malformed entity.
Status MergeFully(const MergeTools& tools, const Slice& key, const MergeBase* base,
                  const std::vector<Slice>& operands, Merged* result);

// Makes one operand of several, oldest first. False if the operator does not; then *result means
// nothing.
bool MergePartially(const MergeTools& tools, const Slice& key, const std::deque<Slice>& operands,
                    std::string* result);

// Ends a lookup that has run and met operands: folds them into its value. Returns what the user is
// told, as StatusOf() does for other lookups.
Status ResolveMerge(const MergeTools& tools, const ReadOptions& options, PointLookup* lookup);

// Ends any lookup that has run by handing out the operands one by one, the value below them first.
// `operands` has room for as many as the options expect; *count is how many there are.
Status HandOutOperands(PointLookup* lookup, const GetMergeOperandsOptions& options,
                       PinnableSlice* operands, int* count);

}  // namespace ashlar
