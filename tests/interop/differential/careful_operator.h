// SPDX-License-Identifier: Apache-2.0
//
// A merge operator of the program's own: it appends, and what an operand begins with can say more.
#pragma once

#include <rocksdb/merge_operator.h>

#include <deque>
#include <string>

namespace differential {

// "!" fails the merge, "=x" makes the value x, "^x" makes it the operand itself (handed back as
// such where it is the last one); anything else is appended behind a dot. Runs of operands that say
// nothing special merge among themselves, and the result is the same wherever that happens.
class CarefulOperator : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "differential.Careful"; }
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override;
  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* result, rocksdb::Logger* logger) const override;
};

}  // namespace differential
