// SPDX-License-Identifier: Apache-2.0
//
// A merge operator whose operands name the function that combines them, so that each key can have a
// function of its own, and can change it:
//
//   AddAggregator("sum", std::make_unique<MySum>());
//   options.merge_operator = GetAggMergeOperator();
//   std::string operand;
//   Status s = EncodeAggFuncAndPayload("sum", "2", operand);
//   if (s.ok()) s = db->Merge(WriteOptions(), "key", operand);
//
// A value that is read is encoded in the same way; ExtractAggFuncAndValue() splits it. If an
// operand has another function than the ones before it, these are combined first, and the result is
// the first input of the new function. Operands without a name (kUnnamedFuncName) at the beginning
// take the name of the operand that follows them.
//
// Operands that cannot be combined are kept: the value then names the function "kErrorFuncName",
// and its payload is the list of what was to be merged, oldest first (ExtractList()). Reasons are a
// malformed operand, a name that is not registered, and a function that fails.
//
// The bytes are those of RocksDB. Threads: any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// A function of the program. Called by several threads at the same time.
class ASHLAR_EXPORT Aggregator {
 public:
  virtual ~Aggregator() = default;
  // Combines the payloads, oldest first; there is at least one. False: they cannot be combined.
  virtual bool Aggregate(const std::vector<Slice>& values, std::string& result) const = 0;
  // Whether payloads may be combined in several steps, in any grouping of neighbours.
  virtual bool DoPartialAggregate() const { return true; }
};

// Registers a function for the whole process and for as long as it runs. InvalidArgument if it is
// null. A function that is registered under the name already is replaced; operations that run may
// still use it, so it is never deleted.
ASHLAR_EXPORT Status AddAggregator(const std::string& function_name,
                                   std::unique_ptr<Aggregator>&& agg);

// The operator; one object for the whole process. Its name is "AggMergeOperator.v1".
ASHLAR_EXPORT std::shared_ptr<MergeOperator> GetAggMergeOperator();

// Sets `output` to an operand. InvalidArgument unless the name is registered or kUnnamedFuncName.
ASHLAR_EXPORT Status EncodeAggFuncAndPayload(const Slice& function_name, const Slice& payload,
                                             std::string& output);
// Splits an operand or a value; the slices point into `op`. False if it is malformed.
ASHLAR_EXPORT bool ExtractAggFuncAndValue(const Slice& op, Slice& func, Slice& value);
// Splits a list, each element of which has its length in front. False if it is malformed.
ASHLAR_EXPORT bool ExtractList(const Slice& encoded_list, std::vector<Slice>& decoded_list);

// The name of operands without a function: "".
ASHLAR_EXPORT extern const std::string kUnnamedFuncName;
// The name in a value that could not be combined: "kErrorFuncName".
ASHLAR_EXPORT extern const std::string kErrorFuncName;

}  // namespace ashlar
