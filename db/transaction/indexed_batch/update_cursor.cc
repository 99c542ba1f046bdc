// SPDX-License-Identifier: Apache-2.0
//
// A cursor holds the place of a key in the order and one of the key's updates. After a write places
// are invalid; the cursor finds both again by the key and the offset of the update shown.
#include "db/transaction/indexed_batch/update_cursor.h"

#include <cassert>

namespace ashlar {

Status UpdatesTakenBack() {
  return Status::InvalidArgument(
      "the updates that the iterator walks over were taken back, by a rollback or by Clear()");
}

// Sorts the family if it is not sorted yet.
bool UpdateCursor::BeginSeek() {
  is_valid_ = false;
  if (is_cut_off()) return false;
  family_ = batch_->SortedFamily(family_id_);
  seen_end_ = batch_->end();
  return family_ != nullptr;
}

void UpdateCursor::ShowAt(const SortedKeys::Place& place, bool is_newest) {
  assert(family_ != nullptr);
  place_ = place;
  is_valid_ = sorted().IsValid(place);
  if (!is_valid_) return;
  const UpdateIndex& index = batch_->Indexed();
  shown_ = is_newest ? index.Newest(sorted().At(place)) : index.Oldest(sorted().At(place));
  Show();
}

void UpdateCursor::Show() { record_ = batch_->Indexed().keys().RecordAt(shown_.offset); }

void UpdateCursor::SeekToFirst() {
  if (BeginSeek()) ShowAt(sorted().First(), /*is_newest=*/true);
}

void UpdateCursor::SeekToLast() {
  if (BeginSeek()) ShowAt(sorted().Last(), /*is_newest=*/false);
}

void UpdateCursor::Seek(const Slice& key) {
  if (BeginSeek()) ShowAt(sorted().AtOrAfter(key), /*is_newest=*/true);
}

void UpdateCursor::SeekAfter(const Slice& key) {
  if (!BeginSeek()) return;
  SortedKeys::Place place;
  if (sorted().Find(key, &place)) sorted().Next(&place);
  ShowAt(place, /*is_newest=*/true);
}

void UpdateCursor::SeekForPrev(const Slice& key) {
  if (!BeginSeek()) return;
  SortedKeys::Place place;
  if (!sorted().Find(key, &place)) sorted().Before(&place);
  ShowAt(place, /*is_newest=*/false);
}

void UpdateCursor::SeekBefore(const Slice& key) {
  if (!BeginSeek()) return;
  SortedKeys::Place place = sorted().AtOrAfter(key);
  sorted().Before(&place);
  ShowAt(place, /*is_newest=*/false);
}

// Finds the place of the current key again. The key still exists, because no update was taken back;
// its reference may have changed.
void UpdateCursor::FindAgain() {
  assert(Valid() && is_behind());
  family_ = batch_->SortedFamily(family_id_);
  seen_end_ = batch_->end();
  [[maybe_unused]] const bool is_there = sorted().Find(record_.key, &place_);
  assert(is_there);
}

// After writes the current update may have been replaced. Then the step starts from where it was.
void UpdateCursor::Next() {
  assert(Valid());
  if (is_behind()) [[unlikely]] {
    FindAgain();
    const uint64_t offset = shown_.offset;
    const UpdateIndex& index = batch_->Indexed();
    shown_ = index.Newest(sorted().At(place_));
    bool is_older = shown_.offset < offset;
    while (!is_older && index.ToOlder(&shown_)) is_older = shown_.offset < offset;
    if (is_older) return Show();
    return NextKey();
  }
  if (batch_->Indexed().ToOlder(&shown_)) return Show();
  NextKey();
}

// Backwards the updates of a key come from the oldest to the newest. If the batch has changed since
// the last move, the place of the current update is found again by its offset in the batch.
void UpdateCursor::Prev() {
  assert(Valid());
  const UpdateIndex* index = &batch_->Indexed();
  if (is_behind()) [[unlikely]] {
    FindAgain();
    const uint64_t offset = shown_.offset;
    shown_ = index->Oldest(sorted().At(place_));
    bool is_newer = shown_.offset > offset;
    while (!is_newer && index->ToNewer(&shown_)) is_newer = shown_.offset > offset;
    if (is_newer) return Show();
  } else if (index->ToNewer(&shown_)) {
    return Show();
  }
  sorted().Prev(&place_);
  ShowAt(place_, /*is_newest=*/false);
}

void UpdateCursor::ToNewest() {
  assert(Valid());
  if (is_behind()) FindAgain();
  ShowAt(place_, /*is_newest=*/true);
}

void UpdateCursor::NextKey() {
  assert(Valid());
  if (is_behind()) [[unlikely]]
    FindAgain();
  sorted().Next(&place_);
  if (sorted().IsValid(place_)) sorted().PrefetchAhead(place_, /*is_forward=*/true);
  ShowAt(place_, /*is_newest=*/true);
}

void UpdateCursor::PrevKey() {
  assert(Valid());
  if (is_behind()) [[unlikely]]
    FindAgain();
  sorted().Prev(&place_);
  ShowAt(place_, /*is_newest=*/true);
}

}  // namespace ashlar
