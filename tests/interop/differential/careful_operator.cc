// SPDX-License-Identifier: Apache-2.0
//
// The operands of CarefulOperator.
#include "careful_operator.h"

namespace differential {
namespace {

char MarkOf(const rocksdb::Slice& operand) {
  const char first = operand.empty() ? '\0' : operand[0];
  return first == '!' || first == '=' || first == '^' ? first : '\0';
}

}  // namespace

bool CarefulOperator::FullMergeV2(const MergeOperationInput& input,
                                  MergeOperationOutput* output) const {
  bool has_value = input.existing_value != nullptr;
  std::string value = has_value ? input.existing_value->ToString() : "";
  for (const rocksdb::Slice& operand : input.operand_list) {
    const char mark = MarkOf(operand);
    if (mark == '!') return false;
    if (mark == '=') {
      value.assign(operand.data() + 1, operand.size() - 1);
    } else if (mark == '^') {
      value = operand.ToString();
    } else {
      if (has_value) value += ".";
      value.append(operand.data(), operand.size());
    }
    has_value = true;
  }
  const rocksdb::Slice& last = input.operand_list.back();
  if (MarkOf(last) == '^')
    output->existing_operand = last;
  else
    output->new_value = value;
  return true;
}

bool CarefulOperator::PartialMergeMulti(const rocksdb::Slice&,
                                        const std::deque<rocksdb::Slice>& operands,
                                        std::string* result, rocksdb::Logger*) const {
  result->clear();
  bool is_first = true;
  for (const rocksdb::Slice& operand : operands) {
    if (MarkOf(operand) != '\0') return false;
    if (!is_first) result->append(".");
    result->append(operand.data(), operand.size());
    is_first = false;
  }
  return true;
}

}  // namespace differential
