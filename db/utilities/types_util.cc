// SPDX-License-Identifier: Apache-2.0
//
// Of one user key, entries with newer timestamps come first, and of one timestamp those with higher
// sequence numbers.
#include <cassert>

#include "ashlar/utilities/types_util.h"

#include "util/keys/internal_key.h"
#include "util/text/data_in_errors.h"

namespace ashlar {
namespace {

EntryType EntryTypeOf(ValueType type) {
  switch (type) {
    case kTypeValue: return kEntryPut;
    case kTypeDeletion: return kEntryDelete;
    case kTypeSingleDeletion: return kEntrySingleDelete;
    case kTypeMerge: return kEntryMerge;
    case kTypeRangeDeletion: return kEntryRangeDeletion;
    case kTypeBlobIndex: return kEntryBlobIndex;
    case kTypeDeletionWithTimestamp: return kEntryDeleteWithTimestamp;
    case kTypeWideColumnEntity: return kEntryWideColumnEntity;
    case kTypeValuePreferredSeqno: return kEntryTimedPut;
    default: return kEntryOther;
  }
}

// Appends timestamp bytes and a trailer to the key.
Status MakeBound(const Slice& user_key, const Comparator* comparator, char stamp_byte,
                 uint64_t trailer, std::string* internal_key) {
  if (comparator == nullptr) return Status::InvalidArgument("internal key: the comparator is null");
  if (internal_key == nullptr) return Status::InvalidArgument("internal key: the result is null");
  const std::string stored =
      user_key.ToString() + std::string(comparator->timestamp_size(), stamp_byte);
  assert(stored.size() == user_key.size() + comparator->timestamp_size());
  internal_key->clear();
  AppendInternalKey(internal_key, stored, trailer);
  return Status::OK();
}

}  // namespace

Status GetInternalKeyForSeek(const Slice& user_key, const Comparator* comparator,
                             std::string* internal_key) {
  // The first possible internal key of the user key: greatest timestamp, greatest sequence number.
  return MakeBound(user_key, comparator, '\xff', PackTrailer(kMaxSequenceNumber, kValueTypeForSeek),
                   internal_key);
}

Status GetInternalKeyForSeekForPrev(const Slice& user_key, const Comparator* comparator,
                                    std::string* internal_key) {
  // The last possible one: least timestamp, sequence number 0, least type.
  return MakeBound(user_key, comparator, '\0', PackTrailer(0, kTypeDeletion), internal_key);
}

Status ParseEntry(const Slice& internal_key, const Comparator* comparator,
                  ParsedEntryInfo* parsed_entry) {
  if (comparator == nullptr) return Status::InvalidArgument("ParseEntry: the comparator is null");
  if (parsed_entry == nullptr) return Status::InvalidArgument("ParseEntry: the result is null");
  ParsedInternalKey key;
  const size_t stamp_bytes = comparator->timestamp_size();
  // The bytes come from the program, so bad ones get a status.
  if (!ParseInternalKey(internal_key, &key) || key.user_key.size() < stamp_bytes) {
    return Status::InvalidArgument("not an internal key", KeyInError(internal_key));
  }
  const size_t key_bytes = key.user_key.size() - stamp_bytes;
  // The slices refer to the bytes of the program, which must outlive the result.
  parsed_entry->user_key = Slice(key.user_key.data(), key_bytes);
  parsed_entry->timestamp = Slice(key.user_key.data() + key_bytes, stamp_bytes);
  parsed_entry->sequence = key.seqno;
  parsed_entry->type = EntryTypeOf(key.type);
  return Status::OK();
}

}  // namespace ashlar
