// SPDX-License-Identifier: Apache-2.0
//
// TombstoneSlab is the part of the key space around the position of a merge in which the same range
// tombstones hold.
//
//     run 0    .......[====@9====).................       entries shown in each slab:
//     run 1    ...............[=======@5=======)...       A: all runs
//     run 2    ....................................       B: run 0, from 9 on
//              <--A--><----B----><------C-----><-A->      C: run 0; run 1, from 5 on
//
// The newest run with a tombstone over the slab hides all entries of every older run there, because
// they are older than the tombstone. Of its own entries it hides those with smaller numbers than
// the tombstone. Tombstones of older runs do not matter, so they are not even asked for.
//
// A slab is built at its near end, run by run from the newest one, until a run covers it. Its far
// end is the nearest position where one of these runs changes. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>

#include "table/iterator/run_tombstones.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class TombstoneSlab {
 public:
  static constexpr uint32_t kNoRun = UINT32_MAX;

  explicit TombstoneSlab(const InternalKeyComparator& comparator) : comparator_(comparator) {}

  // Makes this the slab of all keys, without tombstones.
  void Clear();
  // Adds the stretch of run number `run` at the near end; runs come in the order of their numbers.
  // True if the run covers the slab: older runs do not need to be added. `is_forward`: keys ascend
  // from the near end to the far end.
  bool Narrow(uint32_t run, const RunTombstones::Stretch& stretch, bool is_forward);
  // Copies the key of the far end, which was borrowed until now. Called after the last Narrow().
  void Close();
  // Returns the far end and moves its key to `key`. Afterwards this is the slab of all keys.
  KeyPosition TakeEnd(std::string* key);

  // The run that covers the slab, or kNoRun; and the sequence number of its tombstone.
  uint32_t covering_run() const { return covering_run_; }
  SequenceNumber seqno() const {
    assert(covering_run_ != kNoRun);
    return seqno_;
  }
  bool has_end() const { return has_end_; }
  // The far end, valid until the next change. Only if has_end().
  const KeyPosition& end() const {
    assert(has_end_);
    return end_;
  }
  // The key head of the far end.
  uint64_t end_head() const {
    assert(has_end_);
    return end_head_;
  }
  // True if the entry sorts before the far end. Backwards such entries are outside of the slab.
  bool EntryIsBeforeEnd(const Slice& user_key, uint64_t head) const {
    assert(has_end_);
    if (head != end_head_) return head < end_head_;
    return EntryIsBefore(comparator_, user_key, end_);
  }
  // True if all versions of `user_key` sort before the position.
  static bool EntryIsBefore(const InternalKeyComparator& comparator, const Slice& user_key,
                            const KeyPosition& position) {
    const int order = comparator.OrderWithoutTimestamp(user_key, position.user_key);
    return order < 0 || (order == 0 && position.is_behind);
  }

  // For example: covered by run 2 at 7, until '6b'.
  std::string DebugString() const;

 private:
  const InternalKeyComparator comparator_;
  uint32_t covering_run_ = kNoRun;
  SequenceNumber seqno_ = 0;
  bool has_end_ = false;
  KeyPosition end_;  // its key is borrowed between Narrow() and Close(), afterwards it is end_key_
  uint64_t end_head_ = 0;  // the head of end_key_, after Close()
  std::string end_key_;
};

}  // namespace ashlar
