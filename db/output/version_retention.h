// SPDX-License-Identifier: Apache-2.0
//
// VersionRetention decides which versions of a user key a flush or compaction must keep.
//
// Snapshots divide the sequence numbers into stripes. The readers of one stripe see only its newest
// version of a key, so one version per stripe is kept. If that is a merge operand, the versions on
// which it builds are kept too: the older ones down to the first that is not an operand. A
// tombstone that every reader sees is dropped if no older version is left below for it to hide.
//
// A SingleDelete is kept behind a newer version too, unless nothing is left below. A SingleDelete
// that is written later may be dropped together with that newer version (EntryStream), and then the
// older SingleDelete hides versions again.
//
// In a stamped family, all versions with a timestamp at or above full_history_ts_low are kept: each
// is what some reader sees. The versions of a key below it form a group, in which the rule of the
// stripes holds, except that their sequence numbers may have any order. Range tombstones that are
// kept may then hide a version but not the one below it, so fewer versions are dropped if there are
// any.
//
// The entries of a sorted run are passed in order. Pure, apart from the state of the current key.
#pragma once

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/types.h"
#include "db/output/deeper_levels.h"
#include "util/keys/internal_key.h"

namespace ashlar {

inline bool IsValueType(ValueType type) {
  return type == kTypeValue || type == kTypeWideColumnEntity || type == kTypeBlobIndex;
}

// What the retention of a stamped family needs besides.
struct StampLimits {
  std::string full_history_ts_low;  // empty: it was never raised, and everything is kept
  // The inputs have range tombstones that some readers of the kept versions see and others do not.
  bool has_range_tombstones = false;
};

class VersionRetention {
 public:
  enum class Verdict : uint8_t {
    kKeep,
    kKeepWithoutSeqno,  // its number may become 0: every reader sees it, and nothing is older
    kDrop,
  };
  enum class DropReason : uint8_t {
    kNone,
    kHidden,
    kHiddenBySingle,  // the entry right before is a SingleDelete in the same stripe
    kObsoleteTombstone,
  };

  // `snapshots` is ascending. `below` null: deeper levels may hold any key. `is_bottommost`: no
  // deeper level holds a key of the job's range. Entries from `first_young` on keep their numbers
  // even there, because the numbers tell when they were written.
  VersionRetention(const InternalKeyComparator& comparator, std::vector<SequenceNumber> snapshots,
                   DeeperLevels* below, bool is_bottommost, StampLimits stamps = {},
                   SequenceNumber first_young = kMaxSequenceNumber)
      : comparator_(comparator),
        snapshots_(std::move(snapshots)),
        below_(below),
        is_bottommost_(is_bottommost),
        loses_seqno_below_(is_bottommost ? first_young : 0),
        stamps_(std::move(stamps)) {
    assert(std::is_sorted(snapshots_.begin(), snapshots_.end()));
  }

  // Decides about the next entry of the run.
  Verdict Decide(const Slice& user_key, SequenceNumber seqno, ValueType type) {
    if (comparator_.stamp_bytes() != 0) [[unlikely]]
      return DecideStamped(user_key, seqno, type);
    const size_t stripe = StripeOf(seqno);
    is_new_key_ = !has_key_ || !comparator_.SameKey(user_key, key_);
    if (is_new_key_) {
      key_.assign(user_key.data(), user_key.size());
      has_key_ = true;
    } else if (stripe == newest_stripe_ && !ends_with_operand_) {
      const bool stays = type == kTypeSingleDeletion && !(stripe == 0 && NothingBelow());
      if (!stays) return Drop(std::exchange(hides_next_as_, DropReason::kHidden));
    }
    newest_stripe_ = stripe;
    hides_next_as_ = DropReason::kHidden;
    if (type == kTypeSingleDeletion) [[unlikely]] {
      hides_next_as_ = DropReason::kHiddenBySingle;
      is_base_ = !is_new_key_ && ends_with_operand_;
    }
    ends_with_operand_ = type == kTypeMerge;
    // The oldest snapshot sees stripe 0, and therefore every other reader does too.
    if (stripe != 0) return Verdict::kKeep;
    if (IsPointTombstone(type)) {
      return NothingBelow() ? Drop(DropReason::kObsoleteTombstone) : Verdict::kKeep;
    }
    return LosesSeqno(seqno) && IsValueType(type) ? Verdict::kKeepWithoutSeqno : Verdict::kKeep;
  }

  // The number of snapshots that do not see `seqno`: 0 if all of them do.
  size_t StripeOf(SequenceNumber seqno) const {
    if (snapshots_.empty() || seqno <= snapshots_.front()) return 0;
    return static_cast<size_t>(std::lower_bound(snapshots_.begin(), snapshots_.end(), seqno) -
                               snapshots_.begin());
  }

  // Why the last dropped entry was dropped.
  DropReason drop_reason() const { return drop_reason_; }
  // Whether the last entry was the first one of its user key.
  bool is_new_key() const { return is_new_key_; }
  // For a SingleDelete that was kept last: whether merge operands build on it.
  bool is_base() const { return is_base_; }
  // The stripe of the last entry; for a hidden entry, the stripe of the entry that hides it.
  size_t stripe() const { return newest_stripe_; }
  // Whether a tombstone in the place of the last entry, which was kept, would hide nothing.
  bool IsTombstoneObsolete() {
    if (stripe() != 0) return false;
    if (comparator_.stamp_bytes() == 0) return NothingBelow();
    return is_below_low_ && !stamps_.has_range_tombstones && NothingBelow();
  }
  // Whether no deeper level holds a version of the last entry's user key.
  bool NothingBelow() {
    assert(has_key_);
    return is_bottommost_ || (below_ != nullptr && !below_->MayContain(key_));
  }
  // Whether an entry that every reader sees may lose this number.
  bool LosesSeqno(SequenceNumber seqno) const { return seqno < loses_seqno_below_; }

 private:
  [[gnu::noinline]] Verdict DecideStamped(const Slice& stored, SequenceNumber seqno,
                                          ValueType type);
  Verdict Drop(DropReason reason) {
    drop_reason_ = reason;
    return Verdict::kDrop;
  }

  const InternalKeyComparator comparator_;
  const std::vector<SequenceNumber> snapshots_;
  DeeperLevels* const below_;
  const bool is_bottommost_;
  const SequenceNumber loses_seqno_below_;  // 0: no entry loses its number
  const StampLimits stamps_;
  std::string key_;
  bool has_key_ = false;
  bool is_new_key_ = false;
  size_t newest_stripe_ = 0;        // of the last version of key_ that was not hidden
  bool ends_with_operand_ = false;  // the last version that was kept is a merge operand
  bool is_base_ = false;
  DropReason drop_reason_ = DropReason::kNone;
  DropReason hides_next_as_ =
      DropReason::kHidden;  // reason for the versions hidden by the last one

  // The members below are used only for families with user-defined timestamps.
  bool is_below_low_ = false;  // the last entry
  // The last version of the group that is not a merge operand: older ones may be hidden behind it.
  bool has_hider_ = false;
  size_t hider_stripe_ = 0;
  SequenceNumber hider_seqno_ = 0;
};

}  // namespace ashlar
