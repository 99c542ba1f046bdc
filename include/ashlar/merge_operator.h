// SPDX-License-Identifier: Apache-2.0
//
// MergeOperator gives DB::Merge() its meaning: it folds operands into a value when the value is
// read or compacted. Its name is stored in the database and must be the same at every open.
//
// Implementations are called from many threads at once without locking, must not throw, and must
// give the same result for the same input.
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

class ASHLAR_EXPORT MergeOperator : public Customizable {
 public:
  virtual ~MergeOperator() {}

  static const char* Type() { return "MergeOperator"; }
  // By name, as option texts and OPTIONS files give it: uint64add, put, put_v1, max, stringappend
  // and stringappendtest (with delimiter=","), bytesxor, sortlist, or the long names of these. For
  // any other *result stays as it is, and the status is OK if opts.ignore_unsupported_options, else
  // NotSupported. Empty or "nullptr": none.
  static Status CreateFromString(const ConfigOptions& opts, const std::string& id,
                                 std::shared_ptr<MergeOperator>* result);

  // Oldest form of FullMergeV2, for subclasses that still have it.
  virtual bool FullMerge(const Slice& /*key*/, const Slice* /*existing_value*/,
                         const std::deque<std::string>& /*operand_list*/,
                         std::string* /*new_value*/, Logger* /*logger*/) const {
    return false;
  }

  // What there is to merge. Valid during the call.
  struct MergeOperationInput {
    explicit MergeOperationInput(const Slice& _key, const Slice* _existing_value,
                                 const std::vector<Slice>& _operand_list, Logger* _logger)
        : key(_key),
          existing_value(_existing_value),
          operand_list(_operand_list),
          logger(_logger) {}

    const Slice& key;
    const Slice* existing_value;             // null: the key has no value
    const std::vector<Slice>& operand_list;  // oldest first, at least one
    Logger* logger;                          // for complaints; may be null
  };

  // How far a failed merge reaches. Flushes and compactions in the background never fail of it:
  // they keep the operands, and count it in NUMBER_MERGE_FAILURES.
  enum class OpFailureScope {
    kDefault,    // same as kTryMerge
    kTryMerge,   // fails reads, and the CompactRange() that met it
    kMustMerge,  // fails reads only; CompactRange() keeps the operands too
    kOpFailureScopeMax,
  };

  // Where the result goes: into new_value, or existing_operand is pointed at one of the inputs,
  // which saves copying it.
  struct MergeOperationOutput {
    explicit MergeOperationOutput(std::string& _new_value, Slice& _existing_operand)
        : new_value(_new_value), existing_operand(_existing_operand) {}

    std::string& new_value;
    Slice& existing_operand;
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;  // looked at after a failure
  };

  // Folds all operands into the existing value. False makes the caller's operation fail with
  // Corruption(kMergeOperatorFailed). The default copies the operands and calls FullMerge().
  virtual bool FullMergeV2(const MergeOperationInput& merge_in,
                           MergeOperationOutput* merge_out) const;

  // The same for values that may have columns, on both sides.
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

    // A value, columns, or one of the inputs.
    NewValue new_value;
    OpFailureScope op_failure_scope = OpFailureScope::kDefault;
  };

  // The default calls FullMergeV2(); of an entity with the default column, the other columns stay.
  virtual bool FullMergeV3(const MergeOperationInputV3& merge_in,
                           MergeOperationOutputV3* merge_out) const;

  // Makes one operand of two adjacent ones, left older than right, with the same effect. False
  // leaves them apart, which is always correct.
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left_operand*/,
                            const Slice& /*right_operand*/, std::string* /*new_value*/,
                            Logger* /*logger*/) const {
    return false;
  }

  // Makes one operand of many, oldest first. The default calls PartialMerge() pair by pair.
  virtual bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                 std::string* new_value, Logger* logger) const;

  const char* Name() const override = 0;

  // Whether PartialMergeMulti() may be called with a single operand.
  virtual bool AllowSingleOperand() const { return false; }

  // Asked during a lookup with the operands found so far, newest first: true ends the search, and
  // what is older counts as absent.
  virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }
};

// For operations that are associative and whose operands look like values: one function serves
// everywhere.
class ASHLAR_EXPORT AssociativeMergeOperator : public MergeOperator {
 public:
  ~AssociativeMergeOperator() override {}

  // *new_value := existing_value (null: none) combined with value. False as FullMergeV2().
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value,
                     std::string* new_value, Logger* logger) const = 0;

 private:
  bool FullMergeV2(const MergeOperationInput& merge_in,
                   MergeOperationOutput* merge_out) const override;
  bool PartialMerge(const Slice& key, const Slice& left_operand, const Slice& right_operand,
                    std::string* new_value, Logger* logger) const override;
};

}  // namespace ashlar
