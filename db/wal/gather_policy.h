// SPDX-License-Identifier: Apache-2.0
//
// GatherPolicy decides how long a thread that is about to sync a log waits for other threads that
// will need a sync soon. Threads that write in a closed loop return with the next record as soon as
// a sync has completed. Without a wait, half of them would always miss the sync that the other half
// starts.
//
//   sync of A, with C and D  |  B begins at once: alone  |  A, C and D: the next one
//   sync of A, with C and D  |  B waits a moment: B, A, C and D in one
//
// The policy expects as many threads as there were at the end of the last sync. If they do not
// arrive in time, the next syncs begin at once: first one sync, then two, then four and so on,
// until a wait succeeds again.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace ashlar {

class GatherPolicy {
 public:
  // Before an operation: the longest time to wait until others() threads have arrived. 0: begin at
  // once.
  uint64_t TakeWaitMicros() {
    if (others_ == 0) return 0;
    if (to_skip_ > 0) {
      --to_skip_;
      return 0;
    }
    return std::clamp<uint64_t>(last_micros_ / 2, 1, kMostMicros);
  }
  size_t others() const { return others_; }

  // Called after a wait; `have_come` says whether the expected threads arrived.
  void NoteWait(bool have_come) {
    to_skip_ = have_come ? 0 : next_skip_;
    next_skip_ = have_come ? 1 : std::min(2 * next_skip_, kMostSkipped);
    assert(next_skip_ > 0);
  }
  // After an operation: the number of other threads that wait for this or the next operation, and
  // its duration.
  void NoteRun(size_t others, uint64_t micros) {
    others_ = others;
    last_micros_ = micros;
  }

 private:
  static constexpr uint64_t kMostMicros = 500;  // a few turns of a scheduler
  static constexpr uint32_t kMostSkipped = 1024;

  size_t others_ = 0;         // number of other threads at the end of the last operation
  uint64_t last_micros_ = 0;  // duration of the last operation
  uint32_t to_skip_ = 0;      // operations that begin at once
  uint32_t next_skip_ = 1;    // the value of to_skip_ after the next unsuccessful wait
};

}  // namespace ashlar
