// SPDX-License-Identifier: Apache-2.0
//
// trailers_ holds the trailers of the operands while they are added, and the trailers of the
// results afterwards.
#include "db/output/operand_fold.h"

#include <cassert>
#include <deque>

namespace ashlar {

namespace {

// False for a slice without data, as that of a result that is no input of the merge.
bool LiesIn(const Slice& part, const Slice& whole) {
  return part.data() != nullptr && part.data() >= whole.data() &&
         part.data() <= whole.data() + whole.size();
}

}  // namespace

// The first, newest operand of a key. It is copied or pinned, since the runs move on.
void OperandFold::Begin(const Slice& internal_key, const Slice& operand, const ValuePin& pin) {
  assert(has_operator());
  assert(!Valid());
  const Slice user_key = ExtractUserKey(internal_key);
  user_key_.assign(user_key.data(), user_key.size());
  operands_.Clear();
  trailers_.clear();
  position_ = 0;
  is_folded_ = false;
  Add(internal_key, operand, pin);
}

void OperandFold::Add(const Slice& internal_key, const Slice& operand, const ValuePin& pin) {
  const uint64_t trailer = ExtractTrailer(internal_key);
  assert(TrailerType(trailer) == kTypeMerge);
  assert(trailers_.empty() || trailer < trailers_.back());
  operands_.Add(operand, pin);
  trailers_.push_back(trailer);
}

// `base` is the entry below the operands, if `below` says that there is one. *took_base tells
// whether the result replaces it.
Status OperandFold::Finish(Below below, const Slice& base, bool drops_seqno, bool* took_base) {
  assert(took_base != nullptr);
  assert(!operands_.empty());
  *took_base = false;
  const SequenceNumber newest = TrailerSeqno(trailers_.front());
  merged_ = Merged();
  Status status;
  if (below != Below::kUnknown) {
    if (MergeAll(below, base, &status)) {
      *took_base = true;
      MakeOne(PackTrailer(drops_seqno ? 0 : newest, merged_.type()));
    }
    return status;
  }
  const std::vector<Slice> oldest_first = operands_.Reversed();
  const std::deque<Slice> operands(oldest_first.begin(), oldest_first.end());
  if (MergePartially(tools_, user_key_, operands, &merged_.value)) {
    MakeOne(PackTrailer(newest, kTypeMerge));
  }
  return status;
}

// Folds all operands into one value. Returns false if the operands are kept; *status then says
// whether the job may go on.
bool OperandFold::MergeAll(Below below, const Slice& base, Status* status) {
  assert(below != Below::kUnknown);
  assert(status->ok());
  const MergeBase existing{.value = base, .is_entity = below == Below::kEntity};
  const Status merged =
      MergeFully(tools_, user_key_, below == Below::kNothing ? nullptr : &existing,
                 operands_.Reversed(), &merged_);
  if (merged.ok()) {
    // The base is in a block of the runs, which move on before the result is written.
    if (LiesIn(merged_.input, base)) {
      merged_.value.assign(merged_.input.data(), merged_.input.size());
      merged_.input = Slice(nullptr, 0);
    }
    return true;
  }
  const bool is_operators_fault = merged.subcode() == Status::kMergeOperatorFailed;
  const bool keeps =
      is_operators_fault && (on_failure_ == OnFailure::kKeepOperands ||
                             merged_.failure_scope == MergeOperator::OpFailureScope::kMustMerge);
  if (!keeps) *status = merged;
  return false;
}

void OperandFold::MakeOne(uint64_t trailer) {
  assert(!is_folded_);
  is_folded_ = true;
  trailers_.assign(1, trailer);
}

Slice OperandFold::value() const {
  assert(Valid());
  return is_folded_ ? merged_.AsSlice() : operands_.all()[position_];
}

void OperandFold::MakeKey() {
  assert(Valid());
  key_.clear();
  AppendInternalKey(&key_, user_key_, trailers_[position_]);
}

}  // namespace ashlar
