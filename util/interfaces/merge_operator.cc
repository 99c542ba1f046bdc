// SPDX-License-Identifier: Apache-2.0
//
// The defaults that let a merge operator implement only one of its forms: version 3 calls version
// 2, which calls version 1.
#include "ashlar/merge_operator.h"

#include <cassert>

namespace ashlar {

bool MergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                MergeOperationOutput* merge_out) const {
  std::deque<std::string> operands;
  for (const Slice& operand : merge_in.operand_list) {
    operands.emplace_back(operand.data(), operand.size());
  }
  return FullMerge(merge_in.key, merge_in.existing_value, operands, &merge_out->new_value,
                   merge_in.logger);
}

namespace {

// Where version 2 puts its result.
struct V2Result {
  std::string value;
  Slice existing_operand{nullptr, 0};

  Slice AsSlice() const {
    return existing_operand.data() != nullptr ? existing_operand : Slice(value);
  }
};

}  // namespace

bool MergeOperator::FullMergeV3(const MergeOperationInputV3& merge_in,
                                MergeOperationOutputV3* merge_out) const {
  const auto* columns = std::get_if<WideColumns>(&merge_in.existing_value);
  const auto* plain = std::get_if<Slice>(&merge_in.existing_value);

  const bool has_default_column =
      columns != nullptr && !columns->empty() && columns->front().name() == kDefaultWideColumnName;
  const Slice* existing = has_default_column ? &columns->front().value() : plain;
  V2Result result;
  MergeOperationOutput output(result.value, result.existing_operand);
  const bool is_merged = FullMergeV2(
      MergeOperationInput(merge_in.key, existing, merge_in.operand_list, merge_in.logger), &output);
  merge_out->op_failure_scope = output.op_failure_scope;
  if (!is_merged) return false;

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

bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                            const Slice& right_operand, std::string* new_value,
                                            Logger* logger) const {
  return Merge(key, &left_operand, right_operand, new_value, logger);
}

}  // namespace ashlar
