// SPDX-License-Identifier: Apache-2.0
//
// The rare kinds of versions a point lookup can meet.
#include "table/iterator/point_lookup.h"

#include <string>

namespace ashlar {

namespace {

Status RefuseKind(ValueType type) {
  const char* what = type == kTypeBlobIndex          ? "values in blob files"
                     : type == kTypeWideColumnEntity ? "wide-column entities"
                     : IsPointEntryType(type)        ? "entries with a timestamp"
                                                     : nullptr;
  if (what != nullptr) {
    return Status::NotSupported("Get", std::string(what) + " are not supported by this version");
  }
  return Status::Corruption("Get", "unknown kind of entry: " + std::to_string(type));
}

}  // namespace

bool PointLookup::OfferUnusual(uint64_t trailer, const Slice& value, const ValuePin& pin) {
  assert(!decided());
  if (callback_ != nullptr && !callback_->IsVisible(TrailerSeqno(trailer))) return false;
  const ValueType type = TrailerType(trailer);
  switch (type) {
    case kTypeValue:
      outcome_ = Outcome::kFound;
      TakeValue(value, pin);
      return true;
    case kTypeDeletion:
    case kTypeSingleDeletion: outcome_ = Outcome::kDeleted; return true;
    case kTypeMerge:
      if (operands_ == nullptr) operands_ = std::make_unique<MergeOperands>();
      operands_->Add(value, pin);
      return false;
    default: Fail(RefuseKind(type)); return true;
  }
}

bool PointLookup::EndAtLimitSlow() {
  if (!operands_->EndAt(operand_limit_)) return false;
  if (value_ != nullptr) value_->Reset();  // of a base below the limit
  status_ = Status::OK();                  // of an error below it
  outcome_ = Outcome::kDeleted;
  return true;
}

}  // namespace ashlar
