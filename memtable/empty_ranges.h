// SPDX-License-Identifier: Apache-2.0
//
// EmptyRanges knows ranges of a column family in which nothing is alive, so that scans do not step
// over the deleted entries again and again.
//
// The typical case is a queue: rows are added at the tail and deleted at the head. A reader that
// looks for the head steps over everything that was deleted before, in memtables and tables, until
// compactions have removed it. A scan that stepped over a long row of tombstones reports the range,
// and later scans skip it.
//
// A range must be known to be empty as of a sequence number, and for all later numbers until a
// writer adds something. This takes two scans:
//
//   1. The first scan puts the range under watch. From then on a writer that adds something inside
//      the range breaks it. Afterwards the scan asks for the last sequence number that was given
//      out: every writer with a later number sees the watch.
//   2. A scan that sees all numbers up to that one and also finds nothing alive makes the range
//      known to be empty since its own number.
//
// A range grows in the same way: the known part stays known, and the added part is under watch. A
// range grows at its end only. Breaking a range ends all of it.
//
// Threads: any number.
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
  // The user comparator outlives this object, and has no timestamps.
  explicit EmptyRanges(const InternalKeyComparator& comparator);
  ~EmptyRanges();  // no thread may use it any more
  EmptyRanges(const EmptyRanges&) = delete;
  EmptyRanges& operator=(const EmptyRanges&) = delete;

  // True if there is no range, so nothing can be found or broken.
  bool none() const { return count_.load(std::memory_order_acquire) == 0; }

  // Called by a writer before its entry becomes visible: the key may be alive from now on.
  void Break(const Slice& user_key);

  // For a reader at `seqno`, which was published before the call: if the key is in a range that is
  // empty for this reader, sets *end to the end of the range and returns true.
  bool FindEnd(const Slice& user_key, SequenceNumber seqno, std::string* end) const;

  // The result of a scan: nothing was alive in [begin, end) as of `seqno`.
  struct Finding {
    Slice begin, end;
    SequenceNumber seqno = 0;
    uint64_t version = 0;  // number of the version that was scanned
  };
  // Records a finding. Parts that the scan skipped were found with FindEnd(). last_given_out()
  // returns the last sequence number that a writer has got. Never waits: if another thread changes
  // the ranges, the finding is dropped.
  void Learn(const Finding& finding, const std::function<SequenceNumber()>& last_given_out);
  // Between Suspend() and Resume() entries may come into the family, or come back, without a call
  // of Break() (for example by ingestion). All ranges are forgotten, and findings of scans of
  // versions before `version` are ignored.
  void Suspend();
  void Resume(uint64_t version);

  std::string DebugString() const;

 private:
  struct Range;
  // Few, because writers check all of them.
  static constexpr size_t kPlaces = 4;

  // True if the key is at or behind the begin of the range and before `end`.
  bool Holds(const Range& range, const Slice& user_key, const Slice& end) const;
  // The result of merging a finding into the range that it touches; null if nothing is new.
  std::unique_ptr<Range> Grown(const Range& old, const Finding& finding) const;
  // Where a new or grown range goes.
  std::atomic<Range*>* PlaceOf(const Finding& finding) REQUIRES(lock_);
  // Publishes a range, or null, and retires the one before.
  void Replace(std::atomic<Range*>* place, std::unique_ptr<Range> range) REQUIRES(lock_);

  const InternalKeyComparator comparator_;
  SpinLock lock_;  // held by threads that change the ranges
  // Stored under the lock; read in epochs.
  std::atomic<Range*> places_[kPlaces] = {};
  std::atomic<size_t> count_{0};           // number of ranges
  size_t next_ GUARDED_BY(lock_) = 0;      // the next range to be replaced if all places are taken
  int suspensions_ GUARDED_BY(lock_) = 0;  // calls of Suspend() without Resume()
  uint64_t first_version_ GUARDED_BY(lock_) = 0;  // scans of older versions are ignored
};

}  // namespace ashlar
