// SPDX-License-Identifier: Apache-2.0
//
// The wrapped operator is called with slices of the inputs, without copies.
#include "db/utilities/ttl/ttl_merge.h"

#include <cassert>
#include <utility>
#include <variant>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// False, with a line in the log, if one of them is too short for a time.
template <typename Operands>
bool StripOperands(const Slice& key, const Operands& stored, Logger* logger, Operands* stripped) {
  assert(stripped != nullptr);
  for (const Slice& operand : stored) {
    if (operand.size() < kWriteTimeBytes) {
      Log(InfoLogLevel::ERROR_LEVEL, logger,
          "DBWithTTL: a merge operand of key %s has %zu bytes, less than its time of write needs",
          KeyInError(key).c_str(), operand.size());
      return false;
    }
    stripped->push_back(WithoutWriteTime(operand));
  }
  return true;
}

}  // namespace

TtlMergeOperator::TtlMergeOperator(std::shared_ptr<MergeOperator> user_operator,
                                   std::shared_ptr<SystemClock> clock, bool keeps_time)
    : user_(std::move(user_operator)), clock_(std::move(clock)), keeps_time_(keeps_time) {
  assert(clock_ != nullptr);
}

bool TtlMergeOperator::IsInstanceOf(const std::string& id) const {
  return id == "Merge By TTL" || MergeOperator::IsInstanceOf(id);
}

// The time of the merged value: that of the newest operand, or the present time, depending on the
// options.
bool TtlMergeOperator::TimeOfResult(const Slice& newest, Logger* logger, int64_t* seconds) const {
  assert(seconds != nullptr);
  if (keeps_time_) {
    // The newest operand was checked with the others, so it has a time.
    *seconds = WriteTimeOf(newest);
    return true;
  }
  const Status status = ReadWriteTime(clock_.get(), seconds);
  if (!status.ok()) {
    Log(InfoLogLevel::ERROR_LEVEL, logger, "DBWithTTL: merge: %s", status.ToString().c_str());
  }
  return status.ok();
}

// Takes the times off the value and the operands, merges them with the user's operator, and adds
// one time to the result.
bool TtlMergeOperator::FullMergeV3(const MergeOperationInputV3& merge_in,
                                   MergeOperationOutputV3* merge_out) const {
  assert(merge_out != nullptr);
  assert(!merge_in.operand_list.empty());
  if (user_ == nullptr) return false;
  std::vector<Slice> operands;
  operands.reserve(merge_in.operand_list.size());
  if (!StripOperands(merge_in.key, merge_in.operand_list, merge_in.logger, &operands)) return false;
  MergeOperationInputV3::ExistingValue existing;
  if (const auto* stored = std::get_if<Slice>(&merge_in.existing_value)) {
    // The existing value is stripped like an operand; a deque or vector of one serves for that.
    std::vector<Slice> value;
    if (!StripOperands(merge_in.key, {*stored}, merge_in.logger, &value)) return false;
    assert(value.size() == 1);
    existing = value.front();
  } else if (!std::holds_alternative<std::monostate>(merge_in.existing_value)) {
    return false;  // an entity has no time
  }
  const MergeOperationInputV3 stripped(merge_in.key, std::move(existing), operands,
                                       merge_in.logger);
  if (!user_->FullMergeV3(stripped, merge_out)) return false;
  assert(operands.size() == merge_in.operand_list.size());
  int64_t seconds = 0;
  if (!TimeOfResult(merge_in.operand_list.back(), merge_in.logger, &seconds)) return false;
  // A slice refers to one of the inputs, and needs a copy to get a new time.
  if (const auto* same = std::get_if<Slice>(&merge_out->new_value)) {
    merge_out->new_value = same->ToString();
  }
  auto* const value = std::get_if<std::string>(&merge_out->new_value);
  if (value == nullptr) return false;  // columns
  AppendWriteTime(value, seconds);
  return true;
}

bool TtlMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                    const Slice& right_operand, std::string* new_value,
                                    Logger* logger) const {
  if (user_ == nullptr) return false;
  std::vector<Slice> operands;
  if (!StripOperands(key, {left_operand, right_operand}, logger, &operands)) return false;
  assert(operands.size() == 2);
  if (!user_->PartialMerge(key, operands[0], operands[1], new_value, logger)) return false;
  int64_t seconds = 0;
  if (!TimeOfResult(right_operand, logger, &seconds)) return false;
  AppendWriteTime(new_value, seconds);
  return true;
}

bool TtlMergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                         std::string* new_value, Logger* logger) const {
  assert(!operand_list.empty());
  if (user_ == nullptr) return false;
  std::deque<Slice> operands;
  if (!StripOperands(key, operand_list, logger, &operands)) return false;
  assert(operands.size() == operand_list.size());
  if (!user_->PartialMergeMulti(key, operands, new_value, logger)) return false;
  assert(new_value != nullptr);
  int64_t seconds = 0;
  if (!TimeOfResult(operand_list.back(), logger, &seconds)) return false;
  AppendWriteTime(new_value, seconds);
  return true;
}

bool TtlMergeOperator::ShouldMerge(const std::vector<Slice>& operands) const {
  if (user_ == nullptr) return false;
  std::vector<Slice> stripped;
  stripped.reserve(operands.size());
  return StripOperands("", operands, nullptr, &stripped) && user_->ShouldMerge(stripped);
}

Status TtlMergeOperator::ConfigureOptions(
    const ConfigOptions& config, const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  auto rest = options;
  if (const auto given = rest.find("user_operator"); given != rest.end()) {
    RETURN_IF_ERROR(MergeOperator::CreateFromString(config, given->second, &user_));
    rest.erase(given);
  }
  return MergeOperator::ConfigureOptions(config, rest, unused);
}

std::string TtlMergeOperator::SerializeOptions(const ConfigOptions& config,
                                               const std::string& /*prefix*/) const {
  return StrCat("user_operator=", user_ == nullptr ? "nullptr" : user_->ToString(config), ";");
}

}  // namespace ashlar
