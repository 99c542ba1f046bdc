// SPDX-License-Identifier: Apache-2.0
//
// The parts of StampedIterator for single keys, for their merge operands, and for the end of a
// tailing iterator.
#include <cassert>
#include <utility>

#include "ashlar/db.h"
#include "db/read/operand_limits.h"
#include "db/read/stamped_iterator.h"
#include "db/read/super_version.h"
#include "db/search/wanted_prefix.h"

namespace ashlar {

StampedIterator::Found StampedIterator::Lookup(const Slice& user_key) {
  assert(is_lookup_);
  if (!BeginSeek()) return Found::kNothing;
  wanted_key_ = user_key;
  shown_ = comparator_.FirstStored(user_key);
  SeekNewestOf(shown_);
  const Found found = Decide();
  valid_ = found == Found::kValue;
  return found;
}

// The callback of the program may end the history at an operand; then there is no value below it.
Status StampedIterator::GetOperands(const Slice& user_key, const GetMergeOperandsOptions& options,
                                    PinnableSlice* operands, int* count) {
  assert(is_lookup_);
  if (!BeginSeek()) return status();
  wanted_key_ = user_key;
  shown_ = comparator_.FirstStored(user_key);
  SeekNewestOf(shown_);
  ContinueCallbackLimit limit(options.continue_cb);
  MergeBase base;
  bool has_base = false;
  if (!GatherOperands(&limit, &base, &has_base)) return status();
  PinnableSlice value;
  if (has_base) value.PinSelf(base.value);
  const Status status = HandOut({.operands = &operands_,
                                 .base = has_base ? &value : nullptr,
                                 .is_entity = has_base && base.is_entity,
                                 .has_short_pins = true},
                                options, operands, count);
  operands_.Clear();
  return status;
}

// Gathers the operands from the present entry to the value below them. Null: no limit. Versions
// that are too new for the reader's timestamp have been passed.
bool StampedIterator::GatherOperands(OperandLimit* limit, MergeBase* base, bool* has_base) {
  assert(base != nullptr && has_base != nullptr);
  operands_.Clear();
  *has_base = false;
  for (; merged_->Valid(); merged_->Next()) {
    const Slice internal_key = merged_->key();
    const Slice stored = ExtractUserKey(internal_key);
    if (!comparator_.SameKey(stored, shown_)) break;
    assert(comparator_.OrderOfStamps(comparator_.StampOf(stored), read_stamp_) <= 0);
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (TrailerSeqno(trailer) > seqno_) continue;
    const ValueType type = TrailerType(trailer);
    if (type == kTypeMerge) {
      operands_.Add(merged_->value(), merged_->PinOfValue());
      if (limit != nullptr && operands_.EndAt(limit)) break;
      continue;
    }
    base->is_entity = type == kTypeWideColumnEntity;
    *has_base = type == kTypeValue || type == kTypeBlobIndex || base->is_entity;
    if (!*has_base) break;
    base->value = merged_->value();
    if (type == kTypeBlobIndex) {
      if (!LoadBlob(stored, base->value)) return false;
      base->value = blob_value_;
    }
    break;
  }
  return merged_->status().ok();  // after an error, older versions of the key are unknown
}

// A tailing iterator has reached the end behind this version, and checks for newer entries.
void StampedIterator::LookBehind(const std::string& last_internal) {
  assert(options_.tailing && !valid_);
  if (!status().ok()) return;
  const auto before = view_.super_version()->shared_options();  // keeps the extractor of prefix_
  const Status refreshed = Refresh(options_.snapshot);
  if (!refreshed.ok()) return Fail(refreshed);
  // If SetOptions() has changed the extractor, the end stays the end until a seek.
  if (prefix_.has_value() && !IsSameExtractor(before->prefix_extractor.get(), prefix_extractor_))
    return;
  const Slice last = ExtractUserKey(last_internal);
  shown_.assign(last.data(), last.size());
  if (shows_versions()) {
    shown_internal_ = last_internal;
    merged_->Seek(shown_internal_);
  } else {
    seek_key_.clear();
    comparator_.AppendLast(&seek_key_, shown_, /*trailer=*/0);
    merged_->Seek(seek_key_);
    PassRestOfKey();
  }
  FindForwards();
}

}  // namespace ashlar
