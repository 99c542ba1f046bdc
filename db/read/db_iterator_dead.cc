// SPDX-License-Identifier: Apache-2.0
//
// Rows of tombstones, and of what a range tombstone hides, that a scan steps over: they are
// counted, and told to the database where there are many; where it is known that nothing lives, a
// seek passes them.
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
// So that tests of any size come there.
constexpr uint32_t kLeastDeadToLearn = 4;
constexpr uint64_t kDeadBetweenQuestions = 2;
#else
constexpr uint32_t kLeastDeadToLearn = 128;  // some microseconds
constexpr uint64_t kDeadBetweenQuestions = 64;
#endif

}  // namespace

// True for tombstones; other kinds, operands apart, are values of features that are not there yet.
bool DBIterator::CheckKind(ValueType type) {
  if (IsPointTombstone(type)) return true;
  Fail(IsPointEntryType(type)
           ? Status::NotSupported(StrCat("iterator: entries of kind ", int{type},
                                         " are not supported by this version"))
           : Status::Corruption(StrCat("iterator: unknown kind of entry: ", int{type})));
  return false;
}

// What is learned holds for all readers, so the iterator must see everything there is as of the
// view's number: what it does not see may be alive. An iterator that leaves tombstones out sees
// rows that are dead for others, and learns nothing from them.
void DBIterator::DecideOnDead() {
  const ColumnFamilyOptions& family = view_.super_version()->options();
  const bool may_see_more =
      callback_ != nullptr || options_.ignore_range_deletions || options_.table_filter != nullptr;
  const bool may_see_less = options_.read_tier != kReadAllTier || WantedPrefix::IsUsedBy(options_);
  const bool sees_all = options_.snapshot == nullptr && !may_see_more && !may_see_less;
  // A range tombstone would also hide what is ingested behind everything later.
  covers_dead_ = family.min_tombstones_for_range_conversion != 0 && !family.cf_allow_ingest_behind;
  // kRemoveAndSkipUntil takes tombstones away, under which older entries may come to light.
  const bool may_come_back =
      family.compaction_filter != nullptr || family.compaction_filter_factory != nullptr;
  empty_ranges_ =
      covers_dead_ || may_see_more || may_come_back ? nullptr : view_.source()->empty_ranges();
  dead_least_ = 0;
  if (dead_ranges_ == nullptr || !sees_all) return;
  if (covers_dead_) dead_least_ = family.min_tombstones_for_range_conversion;
  if (empty_ranges_ != nullptr) dead_least_ = kLeastDeadToLearn;
}

// What a tombstone hides in newer runs costs a seek nothing; in its own one it is stepped over.
void DBIterator::SeekPastEmpty(const Slice& from) {
  const bool asks = empty_ranges_ != nullptr && !empty_ranges_->none();
  const bool passes = asks && empty_ranges_->FindEnd(from, seqno_, &empty_end_);
  const Slice target = passes ? Slice(empty_end_) : from;
  const uint64_t before = merged_->hidden_steps();
  SeekInternal(target, seqno_);
  if (merged_->hidden_steps() == before || covers_dead_) [[likely]]
    return;
  dead_count_ = merged_->hidden_steps() - before;
  dead_begin_ = ExtractUserKey(seek_key_).ToString();  // `from` may have been what was shown
  saved_key_ = dead_begin_;  // nothing behind it was looked at, unless an entry says so
}

// The merging iterator stands on a tombstone of saved_key_. True if it was moved behind all that is
// known to be dead.
bool DBIterator::PassEmpty() {
  if (dead_count_ == 0) dead_begin_ = saved_key_;
  const bool asks = dead_count_++ % kDeadBetweenQuestions == 0;
  if (!asks || empty_ranges_ == nullptr || empty_ranges_->none()) return false;
  if (!empty_ranges_->FindEnd(saved_key_, seqno_, &empty_end_)) return false;
  assert(comparator_.OrderWithTimestamp(saved_key_, empty_end_) < 0);
  CountReseek();
  SeekInternal(empty_end_, kMaxSequenceNumber);
  return true;
}

// The merging iterator has come from the tombstones of saved_key_ to another key.
void DBIterator::NoteBehindDead(ValueType type, const Slice& user_key) {
  if (!IsPointTombstone(type)) EndDeadRun(&user_key);
}

// A row of tombstones ends in front of the key `next`, or, if that is null, with saved_key_: what
// is behind it was perhaps not looked at.
void DBIterator::EndDeadRun(const Slice* next) {
  const bool is_long = dead_least_ != 0 && dead_count_ >= dead_least_;
  dead_count_ = 0;
  if (!is_long || !merged_->status().ok()) return;
  const Slice end = next != nullptr ? *next : Slice(saved_key_);
  covers_dead_ ? dead_ranges_->CoverDeadRange(view_, dead_begin_, end)
               : dead_ranges_->LearnDeadRange(view_, dead_begin_, end);
}

}  // namespace ashlar
