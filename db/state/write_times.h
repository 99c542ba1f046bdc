// SPDX-License-Identifier: Apache-2.0
//
// WriteTimes has the times at which the newest sequence numbers were written: samples taken at
// intervals and at each switch of memtables, while a family keeps times
// (preserve_internal_time_seconds, preclude_last_level_data_seconds). They live in memory only;
// tables carry those that concern them (db/output/seqno_times.h).
//
// Threads: any.
#pragma once

#include <cstdint>

#include "db/output/seqno_times.h"
#include "util/threads/mutex.h"

namespace ashlar {

class WriteTimes {
 public:
  // From now on samples are kept for this time; 0: no samples are taken.
  void KeepFor(uint64_t seconds) {
    MutexLock lock(&mutex_);
    kept_seconds_ = seconds;
    if (seconds == 0) times_ = SeqnoTimes();
  }
  // Takes a sample: all numbers up to `written` have been written now.
  void Note(SequenceNumber written, uint64_t now_seconds) {
    MutexLock lock(&mutex_);
    if (kept_seconds_ == 0) return;
    times_.Add(written, now_seconds);
    if (kept_seconds_ < now_seconds) times_.ForgetBefore(now_seconds - kept_seconds_);
    if (times_.samples().size() > kMaxSamples) times_.Thin(kMaxSamples / 2);
  }
  // Adds what is known from tables.
  void Learn(const SeqnoTimes& times) {
    MutexLock lock(&mutex_);
    if (kept_seconds_ != 0) times_.Merge(times);
  }
  // A copy of all samples.
  SeqnoTimes Get() const {
    MutexLock lock(&mutex_);
    return times_;
  }

 private:
  // Families with very different periods need more than a table has room for.
  static constexpr size_t kMaxSamples = 1000;

  mutable Mutex mutex_{LockRank::kLeaf};
  uint64_t kept_seconds_ GUARDED_BY(mutex_) = 0;
  SeqnoTimes times_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
