// SPDX-License-Identifier: Apache-2.0
//
// A merge operator of the program: it appends operands, and the beginning of an operand can have a
// special meaning.
#pragma once

#include <rocksdb/merge_operator.h>

#include <deque>
#include <string>

namespace differential {

// "!" makes the merge fail, "=x" makes the value x, "^x" makes the value the operand itself
// (returned as existing operand if it is the last one); all other operands are appended after a
// dot. Consecutive operands without special meaning can be merged with each other, and the result
// does not depend on where that happens.
class CarefulOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "differential.Careful"; }
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* result, rocksdb::Logger* logger) const override;
};

}  // namespace differential
