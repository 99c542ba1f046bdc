// SPDX-License-Identifier: Apache-2.0
//
// Rows of point tombstones that a scan steps over: they are counted, and told to the database where
// there are many.
#include "ashlar/options.h"
#include "db/read/db_iterator.h"
#include "db/read/super_version.h"

namespace ashlar {

// 0 unless the iterator sees everything there is as of the view's number: what it does not see may
// be alive.
uint32_t DBIterator::LeastDead() const {
  const ColumnFamilyOptions& family = view_.super_version()->options();
  const bool may_skip_tables = options_.table_filter != nullptr ||
                               options_.read_tier != kReadAllTier ||
                               WantedPrefix::IsUsedBy(options_);
  const bool sees_all = options_.snapshot == nullptr && callback_ == nullptr &&
                        !options_.ignore_range_deletions && !may_skip_tables;
  return dead_ranges_ != nullptr && sees_all ? family.min_tombstones_for_range_conversion : 0;
}

// The merging iterator has come from tombstones, the last one of saved_key_, to this entry.
void DBIterator::NoteBehindDead(const Slice& internal_key) {
  const uint64_t trailer = ExtractTrailer(internal_key);
  const ValueType type = TrailerType(trailer);
  const bool is_dead = type == kTypeDeletion || type == kTypeSingleDeletion;
  const Slice user_key = ExtractUserKey(internal_key);
  if (is_dead || TrailerSeqno(trailer) > seqno_ || comparator_.SameKey(user_key, saved_key_))
    return;
  EndDeadRun(&user_key);
}

// A row of tombstones ends in front of the key `next`, or, if that is null, with saved_key_: what
// is behind it was perhaps not looked at.
void DBIterator::EndDeadRun(const Slice* next) {
  const bool is_long = dead_count_ != 0 && dead_count_ >= dead_least_;
  dead_count_ = 0;
  if (!is_long || !merged_->status().ok()) return;
  dead_ranges_->CoverDeadRange(view_, dead_begin_, next != nullptr ? *next : Slice(saved_key_));
}

}  // namespace ashlar
