// SPDX-License-Identifier: Apache-2.0
//
// Folding of merge operands: the only place that calls the merge operator of a family, for point
// reads, iterators, flushes, compactions and writes.
//
// The operator is code of the program, so it is called without a lock and outside of epochs. An
// exception that it throws counts as a failure. The status of a failure is
// Corruption(kMergeOperatorFailed) with the key. Threads: any.
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
class MergeOperands;
class PointLookup;
class Statistics;
class SystemClock;
struct GetMergeOperandsOptions;
struct ReadOptions;

// The surroundings of a merge. All of them outlive the call.
struct MergeTools {
  const MergeOperator* merge_operator = nullptr;  // null: the family has none
  Logger* info_log = nullptr;                     // for messages of the operator; may be null
  Statistics* statistics = nullptr;               // null: off
  SystemClock* clock = nullptr;                   // times calls of the operator; null: untimed
};

// The value below the operands: the newest entry that is older than all of them.
struct MergeBase {
  Slice value;
  bool is_entity = false;  // `value` is the stored form of columns
};

// Where a fold puts its result.
struct Merged {
  std::string value;
  bool is_entity = false;  // `value` is the stored form of columns
  // If its data is not null, the result is this slice: one of the operands, the base value, or a
  // column of the base. `value` is unused then.
  Slice input{nullptr, 0};
  MergeOperator::OpFailureScope failure_scope = MergeOperator::OpFailureScope::kDefault;

  // The kind of entry that stores the result.
  ValueType type() const { return is_entity ? kTypeWideColumnEntity : kTypeValue; }
  Slice AsSlice() const { return input.data() != nullptr ? input : Slice(value); }
};

// Folds the operands into `base`. There is at least one operand, and the oldest comes first. `base`
// is null if there is no value below the operands. Returns InvalidArgument without an operator, and
// Corruption if the base is a malformed entity.
Status MergeFully(const MergeTools& tools, const Slice& key, const MergeBase* base,
                  const std::vector<Slice>& operands, Merged* result);

// Makes one operand out of several, which are ordered oldest first. Returns false if the operator
// cannot; *result is then undefined.
bool MergePartially(const MergeTools& tools, const Slice& key, const std::deque<Slice>& operands,
                    std::string* result);

// Ends a lookup that has run and met operands: folds the operands into the lookup's value. Returns
// the status for the user, as StatusOf() does for other lookups.
Status ResolveMerge(const MergeTools& tools, const ReadOptions& options, PointLookup* lookup);

// What a key has as it is stored: the value below its merge operands, and the operands.
struct UnmergedValue {
  bool has_base = false;
  bool is_entity = false;  // `base` is the stored form of columns
  std::string base;
  std::vector<std::string> operands;  // oldest first
};

// Copies what a lookup has found that has run without a limit of operands. NotFound if that is
// nothing.
Status CopyUnmerged(const PointLookup& lookup, UnmergedValue* unmerged);

// What a lookup has gathered for a program that merges operands itself.
struct GatheredOperands {
  MergeOperands* operands = nullptr;  // newest first; null: none
  PinnableSlice* base = nullptr;      // the value below them; null: none
  bool is_entity = false;             // of the base: it has wide columns
  // The pins of the operands hold only as long as the iterator that found them, so operands are
  // copied.
  bool has_short_pins = false;
};
// Hands out the value below the operands first, then the operands one by one, oldest first. See
// below for the arguments.
Status HandOut(const GatheredOperands& gathered, const GetMergeOperandsOptions& options,
               PinnableSlice* operands, int* count);

// Ends any lookup that has run: hands out the value below the operands first, then the operands one
// by one, oldest first. `operands` has room for options.expected_max_number_of_operands values;
// *count is set to the number of values, and if there are more than that, nothing is handed out
// (Incomplete).
Status HandOutOperands(PointLookup* lookup, const GetMergeOperandsOptions& options,
                       PinnableSlice* operands, int* count);

}  // namespace ashlar
