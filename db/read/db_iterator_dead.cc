// SPDX-License-Identifier: Apache-2.0
//
// A scan may step over long rows of dead entries: tombstones, and entries hidden by a range
// tombstone. The iterator counts them and reports long rows to the database. If the database
// already knows that a range holds no live key, the iterator passes the range by a seek.
#include <cassert>

#include "ashlar/compaction_filter.h"
#include "ashlar/options.h"
#include "db/read/db_iterator.h"
#include "db/read/super_version.h"
#include "memtable/empty_ranges.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

#ifdef ASHLAR_INVARIANTS
// Small numbers, so that tests of any size reach this code.
constexpr uint32_t kLeastDeadToLearn = 4;
constexpr uint64_t kDeadBetweenQuestions = 2;
#else
constexpr uint32_t kLeastDeadToLearn = 128;  // stepping over so many takes some microseconds
constexpr uint64_t kDeadBetweenQuestions = 64;
#endif

}  // namespace

// Returns true for a tombstone. Values and operands were handled before, so any other kind is
// unknown or not supported, and fails the iterator.
bool DBIterator::CheckKind(ValueType type) {
  if (IsPointTombstone(type)) return true;
  Fail(IsPointEntryType(type)
           ? Status::NotSupported(StrCat("iterator: entries of kind ", int{type},
                                         " are not supported by this version"))
           : Status::Corruption(StrCat("iterator: unknown kind of entry: ", int{type})));
  return false;
}

// Decides whether this iterator may report dead rows, and whether it may use reported ones. All
// readers use a reported row, so a reporting iterator must see every entry of the database as of
// its sequence number: a key that it does not see may be alive. An iterator that ignores tombstones
// sees keys that are dead for other readers, so it does not use reported rows. The same is true of
// an iterator with a batch on top of the database: tombstones of the batch are invisible to other
// readers, and the batch may have keys where the database has none.
void DBIterator::DecideOnDead() {
  const ColumnFamilyOptions& family = view_.super_version()->options();
  const bool may_miss_tombstones =
      options_.ignore_range_deletions || options_.table_filter != nullptr;
  const bool may_see_more = SeesOutOfOrder() || may_miss_tombstones;
  const bool may_see_less = options_.read_tier != kReadAllTier || WantedPrefix::IsUsedBy(options_);
  const bool sees_all = options_.snapshot == nullptr && !may_see_more && !may_see_less;
  // With ingestion behind, a covering range tombstone would also hide older data that is ingested
  // later.
  covers_dead_ = family.min_tombstones_for_range_conversion != 0 && !family.cf_allow_ingest_behind;
  // kRemoveAndSkipUntil drops tombstones, and older entries below them may become visible again.
  const bool may_come_back =
      family.compaction_filter != nullptr || family.compaction_filter_factory != nullptr;
  empty_ranges_ =
      covers_dead_ || may_see_more || may_come_back ? nullptr : view_.source()->empty_ranges();
  dead_least_ = 0;
  if (dead_ranges_ == nullptr || !sees_all) return;
  if (covers_dead_) dead_least_ = family.min_tombstones_for_range_conversion;
  if (empty_ranges_ != nullptr) dead_least_ = kLeastDeadToLearn;
}

// Entries that the seek steps over because a range tombstone hides them belong to the row too. A
// tombstone of a newer run is passed by one seek per stretch, but the entries of the tombstone's
// own run are passed one by one.
void DBIterator::SeekPastEmpty(const Slice& from) {
  const bool asks = empty_ranges_ != nullptr && !empty_ranges_->none();
  const bool passes = asks && empty_ranges_->FindEnd(from, seqno_, &empty_end_);
  const Slice target = passes ? Slice(empty_end_) : from;
  const uint64_t before = merged_->hidden_steps();
  SeekInternal(target, SeekSeqno());
  if (merged_->hidden_steps() == before || covers_dead_) [[likely]]
    return;
  dead_count_ = merged_->hidden_steps() - before;
  dead_begin_ = ExtractUserKey(seek_key_).ToString();  // `from` may point to the old key shown
  saved_key_ = dead_begin_;  // the row ends here unless an entry after it is found
}

// The merging iterator is at a tombstone of saved_key_. Returns true if it was moved to the end of
// a range that is known to be dead.
bool DBIterator::PassEmpty() {
  assert(direction_ == Direction::kForward);
  if (dead_count_ == 0) dead_begin_ = saved_key_;
  // Asking costs more than a step, so only every kDeadBetweenQuestions-th tombstone asks.
  const bool asks = dead_count_++ % kDeadBetweenQuestions == 0;
  if (!asks || empty_ranges_ == nullptr || empty_ranges_->none()) return false;
  if (!empty_ranges_->FindEnd(saved_key_, seqno_, &empty_end_)) return false;
  assert(comparator_.OrderWithTimestamp(saved_key_, empty_end_) < 0);
  CountReseek();
  SeekInternal(empty_end_, kMaxSequenceNumber);
  return true;
}

// The merging iterator has moved from the tombstones of saved_key_ to another key, `user_key`. A
// row ends at an entry that is alive.
void DBIterator::NoteBehindDead(ValueType type, const Slice& user_key) {
  if (!IsPointTombstone(type)) EndDeadRun(&user_key);
}

// Ends a row of tombstones before the key `next`. Null: the row ends with saved_key_, because the
// iterator may not have checked the keys behind it.
void DBIterator::EndDeadRun(const Slice* next) {
  const bool is_long = dead_least_ != 0 && dead_count_ >= dead_least_;
  assert(!is_long || dead_ranges_ != nullptr);  // see DecideOnDead()
  dead_count_ = 0;
  if (!is_long || !merged_->status().ok()) return;
  const Slice end = next != nullptr ? *next : Slice(saved_key_);
  covers_dead_ ? dead_ranges_->CoverDeadRange(view_, dead_begin_, end)
               : dead_ranges_->LearnDeadRange(view_, dead_begin_, end);
}

}  // namespace ashlar
