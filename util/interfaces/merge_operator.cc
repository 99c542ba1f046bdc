// SPDX-License-Identifier: Apache-2.0
//
// The defaults that let a merge operator override only one of the versions: version 3 calls version
// 2, which calls version 1.
#include "ashlar/merge_operator.h"

#include <cassert>

namespace ashlar {

// Version 1 gets copies of the operands, because it takes strings.
bool MergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                MergeOperationOutput* merge_out) const {
  assert(merge_out != nullptr);
  std::deque<std::string> operands;
  for (const Slice& operand : merge_in.operand_list) {
    operands.emplace_back(operand.data(), operand.size());
  }
  return FullMerge(merge_in.key, merge_in.existing_value, operands, &merge_out->new_value,
                   merge_in.logger);
}

namespace {

// The place for the result of version 2: a new value, or a reference to one of the operands.
struct V2Result {
  std::string value;
  Slice existing_operand{nullptr, 0};

  Slice AsSlice() const {
    return existing_operand.data() != nullptr ? existing_operand : Slice(value);
  }
};

}  // namespace

// For operators that only know version 2. Of an entity they see the default column, and the other
// columns stay as they are.
bool MergeOperator::FullMergeV3(const MergeOperationInputV3& merge_in,
                                MergeOperationOutputV3* merge_out) const {
  assert(merge_out != nullptr);
  const auto* columns = std::get_if<WideColumns>(&merge_in.existing_value);
  const auto* plain = std::get_if<Slice>(&merge_in.existing_value);

  // Version 2 knows no columns: the default column is shown as the value.
  const bool has_default_column =
      columns != nullptr && !columns->empty() && columns->front().name() == kDefaultWideColumnName;
  const Slice* existing = has_default_column ? &columns->front().value() : plain;
  V2Result result;
  MergeOperationOutput output(result.value, result.existing_operand);
  const bool is_merged = FullMergeV2(
      MergeOperationInput(merge_in.key, existing, merge_in.operand_list, merge_in.logger), &output);
  // The scope matters only after a failure, and so is set before that is returned.
  merge_out->op_failure_scope = output.op_failure_scope;
  if (!is_merged) return false;

  // The operands change the default column; the others are copied.
  if (columns != nullptr) {
    MergeOperationOutputV3::NewColumns new_columns;
    new_columns.emplace_back(kDefaultWideColumnName.ToString(), result.AsSlice().ToString());
    for (size_t i = has_default_column ? 1 : 0; i < columns->size(); ++i) {
      new_columns.emplace_back((*columns)[i].name().ToString(), (*columns)[i].value().ToString());
    }
    merge_out->new_value = std::move(new_columns);
  } else if (result.existing_operand.data() != nullptr) {
    merge_out->new_value = result.existing_operand;
  } else {
    merge_out->new_value = std::move(result.value);
  }
  return true;
}

// From left to right, two at a time. Nothing is changed if any step refuses.
bool MergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                      std::string* new_value, Logger* logger) const {
  assert(!operand_list.empty());
  if (operand_list.size() < 2) return false;
  std::string merged(operand_list[0].data(), operand_list[0].size());
  for (size_t i = 1; i < operand_list.size(); ++i) {
    std::string next;
    if (!PartialMerge(key, merged, operand_list[i], &next, logger)) return false;
    merged.swap(next);
  }
  new_value->swap(merged);
  return true;
}

// Each result is the existing value of the next operand.
bool AssociativeMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                           MergeOperationOutput* merge_out) const {
  const Slice* existing = merge_in.existing_value;
  Slice merged;
  std::string merged_space;
  for (const Slice& operand : merge_in.operand_list) {
    std::string next;
    if (!Merge(merge_in.key, existing, operand, &next, merge_in.logger)) return false;
    merged_space.swap(next);
    merged = Slice(merged_space);
    existing = &merged;
  }
  merge_out->new_value.swap(merged_space);
  return true;
}

// The operator is associative, so that the left operand can stand for an existing value.
bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                            const Slice& right_operand, std::string* new_value,
                                            Logger* logger) const {
  return Merge(key, &left_operand, right_operand, new_value, logger);
}

}  // namespace ashlar
