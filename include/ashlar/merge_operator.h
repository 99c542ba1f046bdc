// SPDX-License-Identifier: Apache-2.0
//
// MergeOperator defines what DB::Merge() does: it combines operands with a value when the value is
// read or compacted. Its name is stored in the database and must be the same at every open.
//
// Implementations are called from many threads at the same time without locking, must not throw,
// and must return the same result for the same input.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class Logger;
struct ConfigOptions;

// A program overrides FullMergeV2() or FullMergeV3(), or derives from
// AssociativeMergeOperator.
class ASHLAR_EXPORT MergeOperator : public Customizable {
 public:
  virtual ~MergeOperator() {}

  static const char* Type() { return "MergeOperator"; }
  // Creates a built-in operator from its name, as used in option texts and OPTIONS files:
  // uint64add, put, put_v1, max, stringappend and stringappendtest (with delimiter=","), bytesxor,
  // sortlist, or their long names. An empty name or "nullptr" gives nullptr. For any other name
  // *result is not changed, and the status is OK if opts.ignore_unsupported_options is set, else
  // NotSupported.
  static Status CreateFromString(const ConfigOptions& opts, const std::string& id,
                                 std::shared_ptr<MergeOperator>* result);

  // The oldest form of FullMergeV2(), for existing subclasses.
  virtual bool FullMerge(const Slice& /*key*/, const Slice* /*existing_value*/,
                         const std::deque<std::string>& /*operand_list*/,
                         std::string* /*new_value*/, Logger* /*logger*/) const {
    return false;
  }

  // The input of a merge. Valid during the call.
  struct MergeOperationInput {
    explicit MergeOperationInput(const Slice& _key, const Slice* _existing_value,
                                 const std::vector<Slice>& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(_existing_value),
          operand_list(_operand_list),
          logger(_logger) {}

    const Slice& key;
    const Slice* existing_value;             // nullptr: the key has no value
    const std::vector<Slice>& operand_list;  // oldest first, at least one
    Logger* logger;                          // for messages; may be nullptr
  };

  // Which operations fail because of a failed merge. Flushes and background compactions never fail
  // for this reason: they keep the operands and count the failure in NUMBER_MERGE_FAILURES.
  enum class OpFailureScope {
    kDefault,    // same as kTryMerge
    kTryMerge,   // reads, and a CompactRange() call that needs the merge
    kMustMerge,  // reads only; CompactRange() keeps the operands too
    kOpFailureScopeMax,
  };

  // The output of a merge: either new_value is set, or existing_operand is set to one of the
  // inputs, which avoids copying it.
  struct MergeOperationOutput {
    explicit MergeOperationOutput(std::string& _new_value, Slice& _existing_operand)
        : new_value(_new_value), existing_operand(_existing_operand) {}

    std::string& new_value;
    Slice& existing_operand;
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;  // used after a failure
  };

  // Combines all operands with the existing value. If it returns false, the operation fails with
  // Corruption (subcode kMergeOperatorFailed). The default implementation copies the operands and
  // calls FullMerge().
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;

  // The same for input and output values that may have columns.
  struct MergeOperationInputV3 {
    using ExistingValue = std::variant<std::monostate, Slice, WideColumns>;
    using OperandList = std::vector<Slice>;

    explicit MergeOperationInputV3(const Slice& _key, ExistingValue&& _existing_value,
                                   const OperandList& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(std::move(_existing_value)),
          operand_list(_operand_list),
          logger(_logger) {}

    const Slice& key;
    ExistingValue existing_value;  // monostate: the key has no value
    const OperandList& operand_list;
    Logger* logger;
  };

  struct MergeOperationOutputV3 {
    using NewColumns = std::vector<std::pair<std::string, std::string>>;
    using NewValue = std::variant<std::string, NewColumns, Slice>;

    // A value, columns, or one of the input slices.
    NewValue new_value;
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  // The default implementation calls FullMergeV2(). Of an entity, it merges the default column and
  // keeps the other columns.
  virtual bool FullMergeV3(const MergeOperationInputV3& merge_in,
                           MergeOperationOutputV3* merge_out) const;

  // Combines two adjacent operands into one with the same effect; left_operand is the older one. If
  // it returns false, both are kept, which is always correct.
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                            const Slice& /*right_operand*/, std::string* /*new_value*/,
                            Logger* /*logger*/) const {
    return false;
  }

  // Combines many operands, oldest first, into one. The default implementation calls PartialMerge()
  // for pairs.
  virtual bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;

  const char* Name() const override = 0;

  // Whether PartialMergeMulti() may be called with a single operand.
  virtual bool AllowSingleOperand() const { return false; }

  // Called during a lookup with the operands found so far, newest first. If it returns true, the
  // search ends, and everything older is ignored.
  virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }
};

// For operations that are associative and whose operands have the same form as values: one function
// does everything.
class ASHLAR_EXPORT AssociativeMergeOperator : public MergeOperator {
 public:
  ~AssociativeMergeOperator() override {}

  // Sets *new_value to the combination of existing_value (nullptr: none) and `value`. Returns false
  // on failure, like FullMergeV2().
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value, Logger* logger) const = 0;

 private:
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
};

}  // namespace ashlar
