// SPDX-License-Identifier: Apache-2.0
//
// What an iterator shows besides the committed versions up to its sequence number, and what it
// hides. It hides the data of undecided transactions. It shows a run of updates on top of the
// database that are not in the database, such as those of an indexed batch: how the iterator gets
// the run, and how it continues after the updates have changed. Between these updates and the
// entries of its snapshot there may be newer entries, which the snapshot hides.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "ashlar/snapshot.h"
#include "db/read/db_iterator.h"
#include "db/read/newest_run.h"
#include "db/read/super_version.h"
#include "util/threads/epoch.h"

namespace ashlar {

// Asks by a private property, since the iterator may be wrapped in another class, or be one of the
// program; the answer is only trusted if it is the iterator itself.
DBIterator* DBIterator::From(Iterator* iterator) {
  assert(iterator != nullptr);
  std::string address;
  if (!iterator->GetProperty(kAddressProperty, &address).ok()) return nullptr;
  DBIterator* found = nullptr;
  if (address.size() != sizeof(found)) return nullptr;
  std::memcpy(&found, address.data(), sizeof(found));
  return static_cast<Iterator*>(found) == iterator ? found : nullptr;
}

// The bytes of the pointer; see kAddressProperty.
Status DBIterator::GetAddress(std::string* address) const {
  assert(address != nullptr);
  const DBIterator* const self = this;
  address->assign(reinterpret_cast<const char*>(&self), sizeof(self));
  return Status::OK();
}

std::shared_ptr<const SliceTransform> DBIterator::family_prefixes() const {
  return view_.super_version()->options().prefix_extractor;
}

void DBIterator::PutOnTop(NewestRun* newest) {
  assert(newest != nullptr);
  assert(newest_ == nullptr);
  newest_ = newest;
  newest_seqno_ = NewestRun::kFirstSeqno;
  assert(seqno_ < newest_seqno_);
  valid_ = false;
  operands_.Clear();
  merged_->AddNewest(newest->NewRun(arena_.get()));
  DecideOnDead();
}

// Places the run anew after its updates have changed. Going forward, the merging iterator may stay
// at the entry that is shown: the next move passes it like an older version of its key.
void DBIterator::PlaceNewestRun() {
  assert(valid_);
  assert(newest_ != nullptr);
  if (direction_ == Direction::kForward) SaveKey(user_key_);
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

// Moves past a version that the iterator does not see, toward older versions.
void DBIterator::StepOverHidden(uint64_t* recent_steps) {
  assert(merged_->Valid());
  const Slice internal_key = merged_->key();
  if (TrailerSeqno(ExtractTrailer(internal_key)) <= seqno_) return merged_->Next();
  PassRecent(ExtractUserKey(internal_key), recent_steps);
}

// Chooses the sequence number at which the iterator reads. Where transactions write data before
// they are decided, also chooses the callback that hides this data. The list of undecided
// transactions forgets old decisions; a view without a snapshot must be newer than those, and it
// must include the memtable of all writes before them. If it is not, a newer view is taken. There
// is none of a family that another process has dropped: the list keeps what is hidden there.
void DBIterator::ChooseNumber(bool is_view_held) {
  const Snapshot* const snapshot = options_.snapshot;
  seqno_ = snapshot != nullptr
               ? std::min(snapshot->GetSequenceNumber(), view_.super_version()->newest_seqno())
               : view_.seqno();
  if (undecided_ != nullptr && undecided_->is_used()) [[unlikely]] {
    decided_.reset();
    callback_ = nullptr;
    bool is_newest = snapshot != nullptr || is_view_held;
    while (true) {
      {
        const EpochGuard guard;
        const UndecidedList* const list = undecided_->Load();
        const bool is_current = view_.source()->super_version() == view_.super_version();
        if (is_newest || (is_current && seqno_ >= list->forgotten_up_to())) {
          decided_.emplace(list, seqno_, own_);
          break;
        }
      }
      ReadView fresh = view_.source()->AcquireView();
      is_newest = fresh.super_version() == view_.super_version() && fresh.seqno() == seqno_;
      view_ = std::move(fresh);
      if (options_.background_purge_on_iterator_cleanup) view_.PurgeInBackground();
      seqno_ = view_.seqno();
    }
    if (!decided_->SeesAll()) callback_ = &*decided_;
  }
  if (callback_ != nullptr) seqno_ = callback_->bound();
}

}  // namespace ashlar
