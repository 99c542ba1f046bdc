// SPDX-License-Identifier: Apache-2.0
//
// The rare kinds of versions, and merge operands.
#include "table/iterator/point_lookup.h"

#include <cassert>
#include <string>

#include "util/keys/wide_column_encoding.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The error for an entry of a kind that cannot be read.
[[gnu::cold]] Status RefuseKind(ValueType type) {
  if (IsPointEntryType(type)) {
    return Status::NotSupported("Get",
                                "entries with a timestamp are not supported by this version");
  }
  return Status::Corruption("Get", "unknown kind of entry: " + std::to_string(type));
}

}  // namespace

// Returns true if the lookup is decided by this entry. An operand does not decide: the entries
// below it are needed too.
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
      is_unfinished_ = true;
      operands_->Add(value, pin);
      return false;
    case kTypeWideColumnEntity: OfferEntity(value, pin); return true;
    case kTypeBlobIndex:
      outcome_ = Outcome::kFound;
      is_blob_index_ = is_unfinished_ = true;
      TakeValue(value, pin);
      return true;
    default: Fail(RefuseKind(type)); return true;
  }
}

// With operands or KeepEntities() the caller gets the stored entity and decodes it.
void PointLookup::OfferEntity(const Slice& entity, const ValuePin& pin) {
  assert(!decided());
  outcome_ = Outcome::kFound;
  is_entity_ = keeps_entities_ || operands_ != nullptr;
  if (is_entity_) return TakeValue(entity, pin);
  Slice default_column;
  const Status status = DecodeDefaultColumn(entity, &default_column);
  if (status.ok()) return TakeValue(default_column, pin);
  Fail(Status::CopyAppendMessage(status, "; of key ", KeyInError(key_.user_key)));
}

bool PointLookup::EndAtLimitSlow() {
  assert(operands_ != nullptr);
  assert(operand_limit_ != nullptr);
  if (!operands_->EndAt(operand_limit_)) return false;
  if (value_ != nullptr) value_->Reset();  // it may hold a value below the limit
  is_entity_ = is_blob_index_ = false;
  status_ = Status::OK();  // it may hold an error from below the limit
  outcome_ = Outcome::kDeleted;
  return true;
}

}  // namespace ashlar
