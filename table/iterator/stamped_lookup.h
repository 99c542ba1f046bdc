// SPDX-License-Identifier: Apache-2.0
//
// StampedLookup decides the read of one key in a family with timestamps. Each sorted run offers the
// first version of the key that the reader may see. Timestamps may be written in any order, so all
// runs that may have the key are asked, in any order: the newest timestamp wins, and of equal ones
// the greatest sequence number.
//
// It decides by values and point tombstones. It gives up if more is needed: merge operands, blob
// indexes, entities, range tombstones. The caller then reads through a StampedIterator
// (db/read/stamped_iterator.h), whose Lookup() has the same result in all other cases.
//
// It lives on the stack of the reading thread. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/slice.h"
#include "table/iterator/point_lookup.h"
#include "util/keys/internal_key.h"
#include "util/memory/stack_array.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

class StampedLookup {
 public:
  struct Target {
    Slice user_key;  // without a timestamp
    Slice stamp;     // the newest timestamp that the reader sees
    SequenceNumber seqno = 0;
  };

  // The comparator and the bytes of the user key outlive the lookup.
  StampedLookup(const InternalKeyComparator& comparator, const Target& target)
      : comparator_(comparator),
        stored_(target.user_key.size() + target.stamp.size()),
        key_(Store(target), target.seqno, comparator.order()),
        user_key_(target.user_key, target.seqno, comparator.order()),
        asked_(user_key_, nullptr) {
    assert(target.stamp.size() == comparator.stamp_bytes());
  }
  StampedLookup(const StampedLookup&) = delete;
  StampedLookup& operator=(const StampedLookup&) = delete;

  // The stored key with the timestamp of the reader: no version in front of it may be seen.
  const LookupKey& key() const { return key_; }
  Slice read_stamp() const { return comparator_.StampOf(key_.user_key); }
  // The lookup of the key without a timestamp, as filters know it. It has the counters and, after
  // Finish(), the outcome, but no value.
  PointLookup* asked() { return &asked_; }

  // Takes a version of the key that is not in front of key(). True if the reader sees it: then
  // older versions of this run do not matter.
  bool Offer(const Slice& internal_key, const Slice& value, const ValuePin& pin) {
    ++offered_count_;
    const uint64_t trailer = ExtractTrailer(internal_key);
    if (TrailerSeqno(trailer) > key_.snapshot()) {
      AddPerfCount(&PerfContextBase::internal_key_skipped_count);
      return false;
    }
    ++visible_count_;
    const Slice stamp = comparator_.StampOf(ExtractUserKey(internal_key));
    if (!has_version_ || IsBehind(stamp, trailer)) Take(stamp, trailer, value, pin);
    return true;
  }
  // How many versions were offered, and for how many of them Offer() has returned true.
  uint32_t offered_count() const { return offered_count_; }
  uint32_t visible_count() const { return visible_count_; }
  // The level of the table that is searched next. Not called for memtables, which come first.
  void EnterLevel(int level) { level_ = level; }

  bool has_version() const { return has_version_; }
  // The timestamp of the winner so far, which may be a tombstone.
  Slice stamp() const { return stamp_; }

  void GiveUp() { has_given_up_ = true; }
  bool has_given_up() const { return has_given_up_; }
  void Fail(Status status) { asked_.Fail(std::move(status)); }

  // All runs were asked, or the lookup has failed: sets the outcome.
  void Finish() {
    assert(!has_given_up_);
    if (asked_.decided() || !has_version_) return;
    // What a memtable has answered counts as its answer, although tables were asked too.
    const bool is_of_memtable = asked_.counters.level == PointLookup::Counters::kNoLevel;
    if (is_of_memtable) asked_.counters.tables_probed = 0;
    const bool is_value = TrailerType(trailer_) == kTypeValue;
    asked_.Offer(PackTrailer(TrailerSeqno(trailer_), is_value ? kTypeValue : kTypeDeletion),
                 Slice(), ValuePin());
  }
  // The value that was found.
  Slice value() const { return value_; }
  // Hands it out; may be called once.
  void MoveValueTo(PinnableSlice* value) {
    if (pinned_.IsPinned()) {
      value->PinSlice(value_, &pinned_);
    } else {
      value->PinSelf(value_);
    }
  }

 private:
  // Longer keys need an allocation.
  static constexpr size_t kKeyOnStack = 120;

  Slice Store(const Target& target) {
    const size_t key_bytes = target.user_key.size();
    if (key_bytes != 0) std::memcpy(stored_.data(), target.user_key.data(), key_bytes);
    std::memcpy(stored_.data() + key_bytes, target.stamp.data(), target.stamp.size());
    return Slice(stored_.data(), stored_.size());
  }

  // Whether the winner so far comes behind this version.
  bool IsBehind(const Slice& stamp, uint64_t trailer) const {
    const int order = comparator_.OrderOfStamps(stamp_, stamp);
    return order != 0 ? order < 0 : trailer_ < trailer;
  }

  // Short values are copied to the stack at first: the reader's place for the value must not change
  // if a tombstone wins.
  void Take(const Slice& stamp, uint64_t trailer, const Slice& value, const ValuePin& pin) {
    has_version_ = true;
    stamp_.assign(stamp.data(), stamp.size());
    trailer_ = trailer;
    asked_.counters.level = level_;
    pinned_.Reset();
    const ValueType type = TrailerType(trailer);
    if (type != kTypeValue) {
      value_ = Slice();
      if (!IsPointTombstoneOfAnyFamily(type)) GiveUp();
    } else if (value.size() <= sizeof(copy_)) {
      std::memcpy(copy_, value.data(), value.size());
      value_ = Slice(copy_, value.size());
    } else {
      PointLookup::Keep(value, pin, &pinned_);
      value_ = pinned_;
    }
  }

  const InternalKeyComparator& comparator_;
  StackArray<char, kKeyOnStack> stored_;
  const LookupKey key_;
  const LookupKey user_key_;
  PointLookup asked_;
  // Of the winner so far. A timestamp is usually short enough for no allocation. The value is in
  // one of the two members behind it.
  std::string stamp_;
  uint64_t trailer_ = 0;
  Slice value_;
  PinnableSlice pinned_;
  char copy_[PointLookup::kCopyBytes];
  uint32_t offered_count_ = 0;
  uint32_t visible_count_ = 0;
  int level_ = PointLookup::Counters::kNoLevel;
  bool has_version_ = false;
  bool has_given_up_ = false;
};

}  // namespace ashlar
