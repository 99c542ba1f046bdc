// SPDX-License-Identifier: Apache-2.0
//
// What an iterator sees besides the versions up to its number, and what it does not see: data of
// transactions that are not decided; and a run of updates that are not in the database, on top of
// it: how an iterator gets the run, and how the iterator continues after the updates have changed.
// Between the updates and the entries that a snapshot sees there may be newer entries, which the
// snapshot hides.
#include <cassert>
#include <cstring>
#include <string>

#include "ashlar/snapshot.h"
#include "db/read/db_iterator.h"
#include "db/read/newest_run.h"
#include "db/read/super_version.h"
#include "util/threads/epoch.h"

namespace ashlar {

DBIterator* DBIterator::From(Iterator* iterator) {
  std::string address;
  if (!iterator->GetProperty(kAddressProperty, &address).ok()) return nullptr;
  DBIterator* found = nullptr;
  if (address.size() != sizeof(found)) return nullptr;
  std::memcpy(&found, address.data(), sizeof(found));
  return static_cast<Iterator*>(found) == iterator ? found : nullptr;
}

// The bytes of the pointer; see kAddressProperty.
Status DBIterator::GetAddress(std::string* address) const {
  const DBIterator* const self = this;
  address->assign(reinterpret_cast<const char*>(&self), sizeof(self));
  return Status::OK();
}

void DBIterator::PutOnTop(NewestRun* newest) {
  assert(newest != nullptr && newest_ == nullptr);
  newest_ = newest;
  newest_seqno_ = NewestRun::kFirstSeqno;
  assert(seqno_ < newest_seqno_);
  valid_ = false;
  operands_.Clear();
  merged_->AddNewest(newest->NewRun(arena_.get()));
  DecideOnDead();
}

// Going forward, the merging iterator may stay on the entry that is shown: the next move passes it
// like an older version of its key.
void DBIterator::PlaceNewestRun() {
  assert(valid_ && newest_ != nullptr);
  if (direction_ == Direction::kForward) saved_key_.assign(user_key_.data(), user_key_.size());
  seek_key_.clear();
  if (direction_ == Direction::kReverse) {
    AppendInternalKey(&seek_key_, saved_key_, PackTrailer(kMaxSequenceNumber, kMaxValue));
  } else {
    AppendInternalKey(&seek_key_, saved_key_, /*trailer=*/0);
    direction_ = Direction::kFolded;
    shown_value_ = Slice();
    shows_entity_ = false;
  }
  merged_->PlaceNewest(seek_key_);
}

// Leaves a version that the iterator does not see, in the direction of older versions.
void DBIterator::StepOverHidden(uint64_t* recent_steps) {
  assert(merged_->Valid());
  const Slice internal_key = merged_->key();
  if (TrailerSeqno(ExtractTrailer(internal_key)) <= seqno_) return merged_->Next();
  PassRecent(ExtractUserKey(internal_key), recent_steps);
}

// The number at which the iterator reads and, where transactions write before they are decided, the
// callback that hides their data. Decisions that the table has forgotten may be newer than a view
// without a snapshot, and a view may lack the memtable of writes before them; then it is taken
// again.
void DBIterator::ChooseNumber(bool is_view_held) {
  const Snapshot* const snapshot = options_.snapshot;
  seqno_ = snapshot != nullptr ? snapshot->GetSequenceNumber() : view_.seqno();
  if (undecided_ != nullptr && undecided_->is_used()) [[unlikely]] {
    decided_.reset();
    callback_ = nullptr;
    for (bool is_new = false;; is_new = true) {
      if (is_new) {
        view_ = view_.source()->AcquireView();
        if (options_.background_purge_on_iterator_cleanup) view_.PurgeInBackground();
        seqno_ = view_.seqno();
      }
      const EpochGuard guard;
      const UndecidedList* const list = undecided_->Load();
      const bool is_fixed = snapshot != nullptr || is_view_held;
      const bool is_current = view_.source()->super_version() == view_.super_version();
      if (!is_fixed && (seqno_ < list->forgotten_up_to() || !is_current)) continue;
      decided_.emplace(list, seqno_, own_);
      break;
    }
    if (!decided_->SeesAll()) callback_ = &*decided_;
  }
  if (callback_ != nullptr) seqno_ = callback_->bound();
}

}  // namespace ashlar
