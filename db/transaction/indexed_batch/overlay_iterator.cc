// SPDX-License-Identifier: Apache-2.0
//
// Each move first checks whether the batch has changed. The database iterator does the rest.
#include "db/transaction/indexed_batch/overlay_iterator.h"

#include <cassert>
#include <utility>

#include "db/transaction/indexed_batch/batch_iterators.h"
#include "db/transaction/indexed_batch/batch_run.h"
#include "db/transaction/indexed_batch/update_cursor.h"
#include "util/memory/arena.h"

namespace ashlar {

// The run on top is created by PutOnTop(), so all members that NewRun() uses are set before.
OverlayIterator::OverlayIterator(IndexedBatch* batch, uint32_t family,
                                 std::unique_ptr<DBIterator> base)
    : reader_(batch),
      batch_(batch),
      family_(family),
      cuts_(batch->cuts()),
      seen_end_(batch->end()),
      base_(std::move(base)) {
  assert(base_ != nullptr);
  base_->PutOnTop(this);
}

InternalIterator* OverlayIterator::NewRun(Arena* arena) {
  assert(arena != nullptr);
  return new (arena->AllocateAligned(sizeof(BatchRun))) BatchRun(batch_, family_);
}

bool OverlayIterator::BeginSeek() {
  misuse_ = Status::OK();
  seen_end_ = batch_->end();
  return !is_cut_off();
}

void OverlayIterator::SeekToFirst() {
  if (BeginSeek()) base_->SeekToFirst();
}
void OverlayIterator::SeekToLast() {
  if (BeginSeek()) base_->SeekToLast();
}
void OverlayIterator::Seek(const Slice& target) {
  if (BeginSeek()) base_->Seek(target);
}
void OverlayIterator::SeekForPrev(const Slice& target) {
  if (BeginSeek()) base_->SeekForPrev(target);
}

// If the batch has changed since the last move, its run is placed anew before the step.
bool OverlayIterator::BeginStep(const char* step) {
  if (!Valid()) [[unlikely]] {
    misuse_ = RefuseStep(step);
    return false;
  }
  if (batch_->end() != seen_end_) [[unlikely]] {
    seen_end_ = batch_->end();
    base_->PlaceNewestRun();
  }
  return true;
}

void OverlayIterator::Next() {
  if (BeginStep("Next")) base_->Next();
}
void OverlayIterator::Prev() {
  if (BeginStep("Prev")) base_->Prev();
}

Status OverlayIterator::status() const {
  if (is_cut_off()) return UpdatesTakenBack();
  return misuse_.ok() ? base_->status() : misuse_;
}

[[gnu::cold]] Status OverlayIterator::Refresh(const Snapshot* snapshot) {
  if (is_cut_off()) return UpdatesTakenBack();
  misuse_ = Status::OK();
  return base_->Refresh(snapshot);
}

[[gnu::cold]] Status OverlayIterator::GetProperty(std::string prop_name, std::string* prop) {
  return base_->GetProperty(std::move(prop_name), prop);
}

}  // namespace ashlar
