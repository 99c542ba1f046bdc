// SPDX-License-Identifier: Apache-2.0
//
// VersionRetention decides which versions of a user key a flush or compaction must keep.
//
// Snapshots cut the sequence numbers into stripes. Readers of one stripe see only its newest
// version of a key, so of each stripe one version is kept; where that is a merge operand, also what
// it stands on: the older ones down to the first that is none. A tombstone that every reader sees
// may go when nothing older is left below that it would have to hide.
//
// A SingleDelete is kept behind a newer version, too, unless nothing is left below: whoever writes
// one later may have it vanish together with that version (EntryStream), and then it hides again.
//
// Feed it the entries of a sorted run in order. Pure but for what it remembers of the current key.
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

class VersionRetention {
 public:
  enum class Verdict : uint8_t {
    kKeep,
    kKeepWithoutSeqno,  // the number may become 0: nothing older exists and every reader sees it
    kDrop,
  };
  enum class DropReason : uint8_t {
    kNone,
    kHidden,
    kHiddenBySingle,  // the entry right in front is a SingleDelete, for the same readers
    kObsoleteTombstone,
  };

  // `snapshots` ascend. `below` may be null: then anything may exist below. `is_bottommost`: no
  // deeper level holds any key of the job's range.
  VersionRetention(const InternalKeyComparator& comparator, std::vector<SequenceNumber> snapshots,
                   DeeperLevels* below, bool is_bottommost)
      : comparator_(comparator),
        snapshots_(std::move(snapshots)),
        below_(below),
        is_bottommost_(is_bottommost) {}

  Verdict Decide(const Slice& user_key, SequenceNumber seqno, ValueType type) {
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
    // Stripe 0 is what the oldest snapshot sees: so does every other reader.
    if (stripe != 0) return Verdict::kKeep;
    if (IsPointTombstone(type)) {
      return NothingBelow() ? Drop(DropReason::kObsoleteTombstone) : Verdict::kKeep;
    }
    return is_bottommost_ && IsValueType(type) ? Verdict::kKeepWithoutSeqno : Verdict::kKeep;
  }

  // How many snapshots do not see `seqno`: 0 if all do.
  size_t StripeOf(SequenceNumber seqno) const {
    if (snapshots_.empty() || seqno <= snapshots_.front()) return 0;
    return static_cast<size_t>(std::lower_bound(snapshots_.begin(), snapshots_.end(), seqno) -
                               snapshots_.begin());
  }

  // Why the last entry was dropped.
  DropReason drop_reason() const { return drop_reason_; }
  // The last entry was the first one of its user key.
  bool is_new_key() const { return is_new_key_; }
  // Of a SingleDelete that was kept last: merge operands stand on it.
  bool is_base() const { return is_base_; }
  // How many snapshots do not see the last entry; of a hidden one that is how many do not see what
  // hides it.
  size_t stripe() const { return newest_stripe_; }
  // No deeper level holds a version of the last entry's user key.
  bool NothingBelow() {
    assert(has_key_);
    return is_bottommost_ || (below_ != nullptr && !below_->MayContain(key_));
  }
  bool is_bottommost() const { return is_bottommost_; }

 private:
  Verdict Drop(DropReason reason) {
    drop_reason_ = reason;
    return Verdict::kDrop;
  }

  const InternalKeyComparator comparator_;
  const std::vector<SequenceNumber> snapshots_;
  DeeperLevels* const below_;
  const bool is_bottommost_;
  std::string key_;
  bool has_key_ = false;
  bool is_new_key_ = false;
  size_t newest_stripe_ = 0;        // of the versions of key_ met so far, the last one
  bool ends_with_operand_ = false;  // the last version that was kept is a merge operand
  bool is_base_ = false;
  DropReason drop_reason_ = DropReason::kNone;
  DropReason hides_next_as_ = DropReason::kHidden;  // by the last version that was not hidden
};

}  // namespace ashlar
