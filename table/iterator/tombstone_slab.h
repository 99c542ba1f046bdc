// SPDX-License-Identifier: Apache-2.0
//
// TombstoneSlab is the piece of key space around a merge's position within which the same range
// tombstones hold.
//
//     run 0    .......[====@9====).................       entries shown in each slab:
//     run 1    ...............[=======@5=======)...       A: all runs
//     run 2    ....................................       B: run 0, from 9 on
//              <--A--><----B----><------C-----><-A->      C: run 0; run 1, from 5 on
//
// The newest run with a tombstone over the slab hides all of every older run: whatever they hold
// there is older than the tombstone. Of its own entries it hides those below the tombstone's
// number. Tombstones of older runs do not matter, so nobody has to know them there.
//
// A slab is built at its near end, run by run from the newest on, until one covers it; its far end
// is the nearest place where any of those changes. Threads: one at a time.
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

  // The slab of all keys, without tombstones.
  void Clear();
  // Takes in what run number `run` has at the near end, the next older one after those before.
  // True if it covers the slab: then there are no more to take in. `is_forward`: from the near end
  // to the far end keys ascend.
  bool Narrow(uint32_t run, const RunTombstones::Stretch& stretch, bool is_forward);
  // Keeps the far end, whose key was borrowed until now.
  void Close();
  // The far end, whose key moves to `key`; the slab is that of all keys then.
  KeyPosition TakeEnd(std::string* key);

  // The run that covers the slab, or kNoRun; and of its tombstone the number.
  uint32_t covering_run() const { return covering_run_; }
  SequenceNumber seqno() const {
    assert(covering_run_ != kNoRun);
    return seqno_;
  }
  bool has_end() const { return has_end_; }
  // The far end. Lives until the next change.
  const KeyPosition& end() const {
    assert(has_end_);
    return end_;
  }
  uint64_t end_head() const {
    assert(has_end_);
    return end_head_;
  }
  // Whether the entry lies in front of the far end as keys ascend: backwards those are outside.
  bool EntryIsBeforeEnd(const Slice& user_key, uint64_t head) const {
    assert(has_end_);
    if (head != end_head_) return head < end_head_;
    return EntryIsBefore(comparator_, user_key, end_);
  }
  static bool EntryIsBefore(const InternalKeyComparator& comparator, const Slice& user_key,
                            const KeyPosition& position) {
    const int order = comparator.OrderWithoutTimestamp(user_key, position.user_key);
    return order < 0 || (order == 0 && position.is_behind);
  }

  // [covered by run 2 at 7, until 'k']
  std::string DebugString() const;

 private:
  const InternalKeyComparator comparator_;
  uint32_t covering_run_ = kNoRun;
  SequenceNumber seqno_ = 0;
  bool has_end_ = false;
  KeyPosition end_;        // between Narrow() and Close() borrowed, then in end_key_
  uint64_t end_head_ = 0;  // of its key, once closed
  std::string end_key_;
};

}  // namespace ashlar
