// SPDX-License-Identifier: Apache-2.0
//
// One question for each batch; most answers change nothing.
//
// The filter is code of the program, so it is called without the DB mutex. Its answers are checked
// before they are used.
#include "db/opening/replay_filter.h"

#include <cassert>
#include <map>

#include "db/column_family/column_family_data.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The filter learns which families exist and up to which log each of them has been flushed.
void ReplayFilter::TellFamilies(const FamilySet& families) {
  if (filter_ == nullptr) return;
  std::map<uint32_t, uint64_t> log_numbers;
  std::map<std::string, uint32_t> ids;
  for (const ColumnFamilyData* family : families.All()) {
    log_numbers[family->id()] = family->versions()->log_number.value();
    ids[family->name()] = family->id();
  }
  assert(ids.size() == log_numbers.size());
  const MutexUnlock unlock(mutex_);
  filter_->ColumnFamilyLogNumberMap(log_numbers, ids);
}

Result<ReplayFilter::Verdict> ReplayFilter::Ask(FileNumber log_number, const std::string& path,
                                                Slice* batch) {
  assert(batch != nullptr);
  if (filter_ == nullptr) return Verdict::kApply;
  bool is_changed = false;
  auto answer = WalFilter::WalProcessingOption::kContinueProcessing;
  {
    const MutexUnlock unlock(mutex_);
    const WriteBatch original(batch->ToString());
    replacement_.Clear();
    answer =
        filter_->LogRecordFound(log_number.value(), path, original, &replacement_, &is_changed);
  }
  auto verdict = JudgeAnswer(answer, is_changed, batch);
  if (verdict.ok() && (is_changed || *verdict != Verdict::kApply)) changed_batches_++;
  return verdict;
}

// Translates the answer. A number that is no enumerator gives an error instead of undefined
// behaviour.
Result<ReplayFilter::Verdict> ReplayFilter::JudgeAnswer(WalFilter::WalProcessingOption answer,
                                                        bool is_changed, Slice* batch) {
  switch (answer) {
    case WalFilter::WalProcessingOption::kContinueProcessing:
      if (is_changed) RETURN_IF_ERROR(TakeReplacement(batch));
      return Verdict::kApply;
    case WalFilter::WalProcessingOption::kIgnoreCurrentRecord: return Verdict::kSkip;
    case WalFilter::WalProcessingOption::kStopReplay: return Verdict::kStop;
    case WalFilter::WalProcessingOption::kCorruptedRecord: return Verdict::kDamaged;
    case WalFilter::WalProcessingOption::kWalProcessingOptionMax: break;
  }
  return Status::NotSupported(StrCat("WAL filter ", filter_->Name(), ": unknown answer ",
                                     static_cast<int>(answer), " about a batch"));
}

// Replaces the batch by the one that the filter has made, under the same sequence number. It may
// not have more updates than the original, whose numbers would then overlap those of the next
// batch.
Status ReplayFilter::TakeReplacement(Slice* batch) {
  assert(batch->size() >= kWriteBatchHeaderBytes);
  const uint32_t most = DecodeFixed32(batch->data() + 8);
  const uint32_t count = replacement_.Count();
  if (replacement_.GetDataSize() < kWriteBatchHeaderBytes) {
    return Status::NotSupported(
        StrCat("WAL filter ", filter_->Name(), ": made a batch of fewer bytes than a header has"));
  }
  if (count > most) {
    return Status::NotSupported(StrCat("WAL filter ", filter_->Name(), ": made ", count,
                                       " updates of a batch of ", most, "; it may make no more"));
  }
  WriteBatchInternal::SetSequence(&replacement_, DecodeFixed64(batch->data()));
  *batch = WriteBatchInternal::Contents(replacement_);
  return Status::OK();
}

}  // namespace ashlar
