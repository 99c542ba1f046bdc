// SPDX-License-Identifier: Apache-2.0
//
// The rare kinds of records, and the error messages. The common kinds are decoded in the header,
// inlined into their callers.
#include "db/write/write_batch_reader.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

// Each case of a tag with a family number reads the number and continues as the tag without it.
bool WriteBatchReader::TakeRareRecord(WriteBatchRecord* record) {
  assert(record != nullptr);
  switch (record->type) {
    case kTypeColumnFamilySingleDeletion:
      if (!TakeFamily(record, kTypeSingleDeletion)) return false;
      [[fallthrough]];
    case kTypeSingleDeletion: return TakeKey(record);
    case kTypeColumnFamilyRangeDeletion:
      if (!TakeFamily(record, kTypeRangeDeletion)) return false;
      [[fallthrough]];
    case kTypeRangeDeletion:
      return Take(&record->key, "the begin of a range") &&
             Take(&record->value, "the end of a range");
    case kTypeColumnFamilyBlobIndex:
      return TakeFamily(record, kTypeBlobIndex) && TakeKeyAndValue(record);
    case kTypeColumnFamilyWideColumnEntity:
      return TakeFamily(record, kTypeWideColumnEntity) && TakeKeyAndValue(record);
    case kTypeBlobIndex:
    case kTypeWideColumnEntity: return TakeKeyAndValue(record);
    case kTypeColumnFamilyValuePreferredSeqno:
      return TakeFamily(record, kTypeValuePreferredSeqno) && TakeTimedPut(record);
    case kTypeValuePreferredSeqno: return TakeTimedPut(record);
    case kTypeLogData: record->key = Slice(); return Take(&record->value, "a blob of log data");
    case kTypeEndPrepareXID:
    case kTypeCommitXID:
    case kTypeRollbackXID: record->key = Slice(); return Take(&record->value, "a transaction name");
    case kTypeCommitXIDAndTimestamp:
      return Take(&record->key, "a commit timestamp") && Take(&record->value, "a transaction name");
    case kTypeNoop:
    case kTypeBeginPrepareXID:
    case kTypeBeginPersistedPrepareXID:
    case kTypeBeginUnprepareXID: record->key = record->value = Slice(); return true;
    // The error names the offset of the tag, which has been consumed.
    default: --next_; return Fail("a known tag");
  }
}

bool WriteBatchReader::TakeTimedPut(WriteBatchRecord* record) {
  assert(record != nullptr);
  if (!TakeKeyAndValue(record)) return false;
  return record->value.size() >= sizeof(uint64_t) || Fail("a value with a write time");
}

// The error is stored as an offset and a constant text, so that the hot path carries no Status.
Status WriteBatchReader::status() const {
  if (error_expected_ == nullptr) return Status::OK();
  const size_t batch_bytes = static_cast<size_t>(limit_ - begin_);
  if (error_offset_ < batch_bytes) {
    const auto found = static_cast<unsigned char>(begin_[error_offset_]);
    return Status::Corruption(StrCat("write batch of ", batch_bytes, " bytes: offset ",
                                     error_offset_, ": expected ", error_expected_, ", found byte ",
                                     static_cast<int>(found)));
  }
  return Status::Corruption(StrCat("write batch of ", batch_bytes, " bytes: expected ",
                                   error_expected_, ", found the end"));
}

}  // namespace ashlar
