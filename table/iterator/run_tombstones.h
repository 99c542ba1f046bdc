// SPDX-License-Identifier: Apache-2.0
//
// RunTombstones tells a merge which parts of the key space the range tombstones of one sorted run
// cover.
//
// The merge asks for one stretch of keys after the other. Within a stretch nothing changes: all of
// it is under one tombstone of the run, or under none.
//
//     tombstones     [c .... f)@9  [f .. h)@4          [m ..... q)@7
//     stretches  ....|         |        |              |       |......  (backwards the same)
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "table/range_del/fragmented_tombstones.h"
#include "table/range_del/tombstone_iterator.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// A position between entries: before all versions of a user key, or behind all of them. Only a
// tombstone that was cut at the largest key of a file ends behind a key.
struct KeyPosition {
  Slice user_key;
  bool is_behind = false;

  static int Compare(const InternalKeyComparator& comparator, const KeyPosition& a,
                     const KeyPosition& b) {
    const int order = comparator.OrderWithoutTimestamp(a.user_key, b.user_key);
    return order != 0 ? order : int{a.is_behind} - int{b.is_behind};
  }
  // The trailer of the internal key at this position. No entry has this internal key, except that
  // the position behind a key is equal to the oldest possible version of the key.
  uint64_t trailer() const { return is_behind ? 0 : PackTrailer(kMaxSequenceNumber, kMaxValue); }
};

// Notified when a run finds tombstones that were not known when the merge began.
class TombstoneWatcher {
 public:
  virtual void OnTombstonesMet() = 0;

 protected:
  ~TombstoneWatcher() = default;
};

// The range tombstones of one run.
class RunTombstones {
 public:
  // A stretch of keys. Its end is valid until the next call.
  struct Stretch {
    // The sequence number of the newest tombstone that covers the stretch and that the reader sees;
    // 0 if there is no such tombstone.
    SequenceNumber seqno = 0;
    // False: the stretch continues to the last key (backwards: to the first one).
    bool has_end = false;
    KeyPosition end;  // the far end in the direction of the walk
  };

  RunTombstones() = default;
  virtual ~RunTombstones();
  RunTombstones(const RunTombstones&) = delete;
  RunTombstones& operator=(const RunTombstones&) = delete;

  // Begins a new walk. Until the next Restart(), either all calls are StretchFrom() with ascending
  // positions, or all calls are StretchBefore() with descending positions.
  virtual void Restart() = 0;
  // The stretch that contains the position, from there to its end.
  virtual Stretch StretchFrom(const KeyPosition& from) = 0;
  // Like the function above for a walk backwards: the stretch that ends directly before the
  // position.
  virtual Stretch StretchBefore(const KeyPosition& before) = 0;
  // False: no tombstones were found so far; the watcher is notified when that changes.
  virtual bool HasAny() const = 0;
  // Sets the watcher, which outlives this object. A run that knows all its tombstones from the
  // start does not notify it.
  virtual void Watch(TombstoneWatcher* watcher) = 0;
  // The known tombstones and the position of the walk; one line for each list.
  virtual std::string DebugString() const = 0;
};

// FragmentWalk finds the stretches of one list of tombstones.
class FragmentWalk {
 public:
  // Walks the tombstones at or below `upper_seqno` that the callback, which may be null, calls
  // visible; of a stamped family those up to the timestamp, null: all of them.
  FragmentWalk(std::shared_ptr<const FragmentedTombstones> tombstones, SequenceNumber upper_seqno,
               const ReadCallback* callback, const Slice* upper_stamp)
      : comparator_(tombstones->comparator()),
        fragments_(std::move(tombstones), upper_seqno, callback, upper_stamp) {}

  void Restart() { is_started_ = false; }
  RunTombstones::Stretch StretchFrom(const KeyPosition& from);
  RunTombstones::Stretch StretchBefore(const KeyPosition& before);
  // One line without its end.
  std::string DebugString() const {
    return is_started_ ? fragments_.DebugString() : std::string("not started");
  }

 private:
  // The begin and the end of the current fragment.
  KeyPosition begin() const { return {fragments_.begin(), false}; }
  KeyPosition end() const { return {fragments_.end(), fragments_.end_is_inclusive()}; }
  // True if the current fragment ends at or before the position; below, if it begins at or behind
  // it.
  bool EndsBy(const KeyPosition& position) const {
    return KeyPosition::Compare(comparator_, end(), position) <= 0;
  }
  bool BeginsAtOrBehind(const KeyPosition& position) const {
    return KeyPosition::Compare(comparator_, begin(), position) >= 0;
  }

  InternalKeyComparator comparator_;
  TombstoneIterator fragments_;  // after the start on the first fragment that was not passed
  bool is_started_ = false;
};

// The tombstones of a run that has one list of them: a memtable.
class ListTombstones final : public RunTombstones {
 public:
  // `tombstones` must not be null. Tombstones at or below `upper_seqno` count if the callback,
  // which may be null, calls them visible.
  ListTombstones(std::shared_ptr<const FragmentedTombstones> tombstones, SequenceNumber upper_seqno,
                 const ReadCallback* callback = nullptr, const Slice* upper_stamp = nullptr)
      : walk_(std::move(tombstones), upper_seqno, callback, upper_stamp) {}

  void Restart() override { walk_.Restart(); }
  Stretch StretchFrom(const KeyPosition& from) override { return walk_.StretchFrom(from); }
  Stretch StretchBefore(const KeyPosition& before) override { return walk_.StretchBefore(before); }
  bool HasAny() const override { return true; }
  void Watch(TombstoneWatcher*) override {}
  std::string DebugString() const override { return walk_.DebugString() + "\n"; }

 private:
  FragmentWalk walk_;
};

}  // namespace ashlar
