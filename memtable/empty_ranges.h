// SPDX-License-Identifier: Apache-2.0
//
// EmptyRanges: where in a column family nothing lives, so that scans need not step over what was
// deleted there again and again.
//
// A queue is the case in point: rows are put at the tail and deleted at the head, and whoever looks
// for the head steps over all that was deleted before, in memtables and tables alike, until
// compactions have taken it away. A scan that came over a long row of tombstones tells where; the
// next ones go on behind it.
//
// That a range is empty must be known as of a sequence number, and hold for all later ones until a
// write says otherwise. So it takes two scans:
//
//   1. The first one puts the range under watch. From then on writers that add something in it
//      break it. Then the last number that was given out until then is asked for: whoever has a
//      later one has seen the watch.
//   2. A scan that sees all numbers up to that one, and finds nothing alive either, makes the range
//      known to be empty since its own number.
//
// A range grows in the same way: what is known stays so, and what was added is under watch. It
// grows at its end only. What breaks a range ends all of it.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/threads/mutex.h"

namespace ashlar {

class EmptyRanges {
 public:
  // The user comparator outlives it, and has no timestamps.
  explicit EmptyRanges(const InternalKeyComparator& comparator);
  ~EmptyRanges();  // nobody uses it any more
  EmptyRanges(const EmptyRanges&) = delete;
  EmptyRanges& operator=(const EmptyRanges&) = delete;

  // Whether there is nothing to ask for and nothing to break.
  bool none() const { return count_.load(std::memory_order_acquire) == 0; }

  // By a writer, before its entry is visible: the key may be alive from now on.
  void Break(const Slice& user_key);

  // By a reader that sees what is there as of `seqno`: if the key lies in a range in which it sees
  // nothing, the range's end goes to *end. The number was published before the call.
  bool FindEnd(const Slice& user_key, SequenceNumber seqno, std::string* end) const;

  struct Finding {
    Slice begin, end;
    SequenceNumber seqno = 0;
    uint64_t version = 0;  // number of the version that was scanned
  };
  // A scan as of a number found nothing alive in [begin, end); what it left out, FindEnd() told it.
  // last_given_out() is the last sequence number that a writer has. Never waits: what comes at a
  // bad time is not learned.
  void Learn(const Finding& finding, const std::function<SequenceNumber()>& last_given_out);
  // In between something may come into the family, or back, that writers do not tell of: all is
  // forgotten, and what scans of versions before `version` find is not believed.
  void Suspend();
  void Resume(uint64_t version);

  std::string DebugString() const;

 private:
  struct Range;
  // Writers look at all of them.
  static constexpr size_t kPlaces = 4;

  bool Holds(const Range& range, const Slice& user_key, const Slice& end) const;
  // What a finding makes of the range that it touches; null: nothing new.
  std::unique_ptr<Range> Grown(const Range& old, const Finding& finding) const;
  std::atomic<Range*>* PlaceOf(const Finding& finding) REQUIRES(lock_);
  void Replace(std::atomic<Range*>* place, std::unique_ptr<Range> range) REQUIRES(lock_);

  const InternalKeyComparator comparator_;
  SpinLock lock_;  // of those who change what is known
  // Written under the lock.
  std::atomic<Range*> places_[kPlaces] = {};
  std::atomic<size_t> count_{0};       // of places taken
  size_t next_ GUARDED_BY(lock_) = 0;  // whose turn it is to go, if all are taken
  int suspensions_ GUARDED_BY(lock_) = 0;
  uint64_t first_version_ GUARDED_BY(lock_) = 0;  // whose scans are believed
};

}  // namespace ashlar
