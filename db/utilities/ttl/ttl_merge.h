// SPDX-License-Identifier: Apache-2.0
//
// Wraps a merge operator, which sees values and operands without their times. The result gets the
// present time, or that of the newest operand. A merge fails if the value or an operand is too
// short for a time, if the value has wide columns, or if the clock fails.
//
// Threads: any, as for MergeOperator.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "db/utilities/ttl/write_time.h"

namespace ashlar {

class TtlMergeOperator final : public MergeOperator {
 public:
  // `keeps_time`: results get the time of the newest operand. `user_operator` may be null until the
  // option "user_operator" of a text is set; without it, merges fail.
  TtlMergeOperator(std::shared_ptr<MergeOperator> user_operator, std::shared_ptr<SystemClock> clock,
                   bool keeps_time);

  static const char* kClassName() { return "TtlMergeOperator"; }
  const char* Name() const override { return kClassName(); }
  bool IsInstanceOf(const std::string& id) const override;
  const Customizable* Inner() const override { return user_.get(); }
  const std::shared_ptr<MergeOperator>& user_operator() const { return user_; }

  bool FullMergeV3(const MergeOperationInputV3& merge_in,
                   MergeOperationOutputV3* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                         std::string* new_value, Logger* logger) const override;
  bool AllowSingleOperand() const override {
    return user_ != nullptr && user_->AllowSingleOperand();
  }
  bool ShouldMerge(const std::vector<Slice>& operands) const override;

 protected:
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config,
                               const std::string& prefix) const override;

 private:
  // The time of a result whose newest operand is stored like this. False if the clock fails.
  bool TimeOfResult(const Slice& newest, Logger* logger, int64_t* seconds) const;

  std::shared_ptr<MergeOperator> user_;
  const std::shared_ptr<SystemClock> clock_;
  // TtlOptions::merge_keeps_time.
  const bool keeps_time_;
};

}  // namespace ashlar
