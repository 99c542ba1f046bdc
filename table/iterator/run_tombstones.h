// SPDX-License-Identifier: Apache-2.0
//
// RunTombstones tells a merge where the range tombstones of one sorted run hold.
//
// The merge asks for one stretch of keys after the other, each within which nothing changes: it is
// under a tombstone of the run, or under none.
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

// A place between entries: before all versions of a user key, or behind them all. Only a tombstone
// that was cut at a file's border ends behind its last key.
struct KeyPosition {
  Slice user_key;
  bool is_behind = false;

  static int Compare(const InternalKeyComparator& comparator, const KeyPosition& a,
                     const KeyPosition& b) {
    const int order = comparator.OrderWithoutTimestamp(a.user_key, b.user_key);
    return order != 0 ? order : int{a.is_behind} - int{b.is_behind};
  }
  // The internal key at this position, which no entry has, except that one behind everything may
  // be the oldest version that a key can have.
  uint64_t trailer() const { return is_behind ? 0 : PackTrailer(kMaxSequenceNumber, kMaxValue); }
};

// Hears of tombstones of a run that nobody knew of when the merge began.
class TombstoneWatcher {
 public:
  virtual void OnTombstonesMet() = 0;

 protected:
  ~TombstoneWatcher() = default;
};

class RunTombstones {
 public:
  // Its end lives until the next call.
  struct Stretch {
    SequenceNumber seqno = 0;  // of the newest tombstone that the reader sees there; 0: none
    bool has_end = false;      // if not, it goes on to the last key, backwards to the first
    KeyPosition end;           // in the direction of the walk
  };

  RunTombstones() = default;
  virtual ~RunTombstones();
  RunTombstones(const RunTombstones&) = delete;
  RunTombstones& operator=(const RunTombstones&) = delete;

  // From here until the next Restart(), positions only ascend and all calls are StretchFrom(), or
  // they only descend and all calls are StretchBefore().
  virtual void Restart() = 0;
  // The stretch that begins at the position, or within which it lies: as far as it goes forward.
  virtual Stretch StretchFrom(const KeyPosition& from) = 0;
  // The same backwards, of what lies directly in front of the position.
  virtual Stretch StretchBefore(const KeyPosition& before) = 0;
  // False: has none so far, and tells the watcher when that changes.
  virtual bool HasAny() const = 0;
  // Outlives this. A run all of whose tombstones are known from the start tells it nothing.
  virtual void Watch(TombstoneWatcher* watcher) = 0;
  // What it knows and where its walk stands; a line for each list.
  virtual std::string DebugString() const = 0;
};

// FragmentWalk finds the stretches of one list of tombstones.
class FragmentWalk {
 public:
  // The callback may be null.
  FragmentWalk(std::shared_ptr<const FragmentedTombstones> tombstones, SequenceNumber upper_seqno,
               const ReadCallback* callback)
      : comparator_(tombstones->comparator()),
        fragments_(std::move(tombstones), upper_seqno, callback) {}

  void Restart() { is_started_ = false; }
  RunTombstones::Stretch StretchFrom(const KeyPosition& from);
  RunTombstones::Stretch StretchBefore(const KeyPosition& before);
  // Without a line's end.
  std::string DebugString() const {
    return is_started_ ? fragments_.DebugString() : std::string("not started");
  }

 private:
  KeyPosition begin() const { return {fragments_.begin(), false}; }
  KeyPosition end() const { return {fragments_.end(), fragments_.end_is_inclusive()}; }
  bool EndsBy(const KeyPosition& position) const {
    return KeyPosition::Compare(comparator_, end(), position) <= 0;
  }
  bool BeginsAtOrBehind(const KeyPosition& position) const {
    return KeyPosition::Compare(comparator_, begin(), position) >= 0;
  }

  InternalKeyComparator comparator_;
  TombstoneIterator fragments_;  // once started, on the first fragment not passed yet
  bool is_started_ = false;
};

// The tombstones of a run that has one list of them: a memtable.
class ListTombstones final : public RunTombstones {
 public:
  // `tombstones` is not null. Shows those at or below `upper_seqno` that the callback, if there is
  // one, does not refuse.
  ListTombstones(std::shared_ptr<const FragmentedTombstones> tombstones, SequenceNumber upper_seqno,
                 const ReadCallback* callback = nullptr)
      : walk_(std::move(tombstones), upper_seqno, callback) {}

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
