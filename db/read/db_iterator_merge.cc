// SPDX-License-Identifier: Apache-2.0
//
// Keys whose newest visible version is a merge operand. The operands and the value below them are
// gathered and merged ("folded") into the value that is shown.
#include <cassert>

#include "ashlar/statistics.h"
#include "db/read/db_iterator.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"

namespace ashlar {

// Gathers the operands of saved_key_, from the one at which the merging iterator is, to the value
// below them. *base points into the memory of the merging iterator or into blob_value_. Returns
// false after a failure.
bool DBIterator::GatherOperands(MergeBase* base, bool* has_base) {
  assert(has_base != nullptr);
  operands_.Clear();
  *has_base = false;
  uint64_t recent_steps = 0;
  while (merged_->Valid()) {
    const Slice internal_key = merged_->key();
    if (!comparator_.SameKey(ExtractUserKey(internal_key), saved_key_)) break;
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (!IsVisible(TrailerSeqno(trailer))) {
      StepOverHidden(&recent_steps);
      continue;
    }
    const ValueType type = TrailerType(trailer);
    if (type == kTypeMerge) {
      operands_.Add(merged_->value(), merged_->PinOfValue());
      merged_->Next();
      continue;
    }
    base->is_entity = type == kTypeWideColumnEntity;
    *has_base = type == kTypeValue || type == kTypeBlobIndex || base->is_entity;
    if (*has_base) {
      base->value = merged_->value();
      if (type == kTypeBlobIndex) {
        const Slice stored_key = ExtractUserKey(internal_key);
        blob_key_.assign(stored_key.data(), stored_key.size());
        if (!LoadBlob(base->value)) return false;
        base->value = blob_value_;
      }
    } else if (!CheckKind(type)) {
      return false;
    }
    break;
  }
  assert(!operands_.empty());
  return merged_->status().ok();  // after an error, older versions of the key are unknown
}

// Shows the folded value. Leaves the merging iterator at the value below the operands, or behind
// the key if there is no such value.
void DBIterator::FoldForward(const Slice& user_key) {
  assert(direction_ == Direction::kForward);
  assert(!valid_);
  SaveKey(user_key);
  MergeBase base;
  bool has_base = false;
  if (!GatherOperands(&base, &has_base)) return;
  direction_ = Direction::kFolded;
  valid_ = Fold(has_base ? &base : nullptr, operands_.Reversed());
}

// Going backward, after a seek to the newest visible version of saved_key_: folds the operands from
// there on, shows the result, and moves before the key. Returns false if there is no result.
bool DBIterator::FoldNewestVersion() {
  assert(direction_ == Direction::kReverse);
  MergeBase base;
  bool has_base = false;
  if (!GatherOperands(&base, &has_base)) return false;
  if (has_base) saved_value_.assign(base.value.data(), base.value.size());
  base.value = saved_value_;
  StepBeforeSavedKey();
  return merged_->status().ok() && Fold(has_base ? &base : nullptr, operands_.Reversed());
}

// Folds the operands into the value to show. Returns false if the operator failed.
bool DBIterator::Fold(const MergeBase* base, const std::vector<Slice>& oldest_first) {
  assert(!oldest_first.empty());
  AddPerfCount(&PerfContextBase::internal_merge_count, oldest_first.size());
  RecordInHistogram(statistics_, READ_NUM_MERGE_OPERANDS, oldest_first.size());
  Merged merged;
  Status status = MergeFully(merge_, saved_key_, base, oldest_first, &merged);
  if (!status.ok()) {
    Fail(std::move(status));
    return false;
  }
  const bool is_input = merged.input.data() != nullptr;
  if (!is_input) saved_value_.swap(merged.value);
  shows_entity_ = is_unprepared_ = false;
  if (merged.is_entity) return ShowEntity(saved_value_);
  shown_value_ = is_input ? merged.input : Slice(saved_value_);
  return true;
}

}  // namespace ashlar
