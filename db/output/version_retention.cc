// SPDX-License-Identifier: Apache-2.0
//
// Stamped families. Readers of any timestamp at or above full_history_ts_low, and of any snapshot,
// must find what they found before.
#include "db/output/version_retention.h"

namespace ashlar {

// All entries of a key below the limit follow those above it, because timestamps descend. Of two
// entries of the group a reader sees the first one whose stripe it reaches. Every reader that
// reaches the second one's stripe therefore stops at the first one if that has the same stripe or
// one that more readers reach. A range tombstone hides by sequence number: one that is kept may
// hide the first entry and show the second one, unless the second one has the smaller number.
VersionRetention::Verdict VersionRetention::DecideStamped(const Slice& stored, SequenceNumber seqno,
                                                          ValueType type) {
  const size_t stripe = StripeOf(seqno);
  is_new_key_ = !has_key_ || !comparator_.SameKey(stored, key_);
  if (is_new_key_) {
    key_.assign(stored.data(), stored.size());
    has_key_ = true;
    has_hider_ = false;
  }
  newest_stripe_ = stripe;
  is_base_ = true;  // a SingleDelete is treated like a Delete: it never vanishes with its value
  const std::string& low = stamps_.full_history_ts_low;
  is_below_low_ = !low.empty() && comparator_.OrderOfStamps(comparator_.StampOf(stored), low) < 0;
  if (!is_below_low_) return Verdict::kKeep;
  const bool keeps_ranges = stamps_.has_range_tombstones;
  const bool is_hidden =
      has_hider_ &&
      (keeps_ranges ? stripe == hider_stripe_ && seqno < hider_seqno_ : stripe >= hider_stripe_);
  if (is_hidden) return Drop(DropReason::kHidden);
  if (type != kTypeMerge) {
    has_hider_ = true;
    hider_stripe_ = stripe;
    hider_seqno_ = seqno;
  }
  if (stripe != 0 || keeps_ranges) return Verdict::kKeep;
  if (IsPointTombstoneOfAnyFamily(type)) {
    return NothingBelow() ? Drop(DropReason::kObsoleteTombstone) : Verdict::kKeep;
  }
  // The record of a value in a blob file has the stored key, so that key stays.
  const bool may_change = IsValueType(type) && type != kTypeBlobIndex;
  return LosesSeqno(seqno) && may_change ? Verdict::kKeepWithoutSeqno : Verdict::kKeep;
}

}  // namespace ashlar
