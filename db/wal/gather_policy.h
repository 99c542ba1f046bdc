// SPDX-License-Identifier: Apache-2.0
//
// GatherPolicy says how long a thread that is about to sync a log waits for others who will want
// the same. Threads that write in a closed loop come back as soon as a sync has served them:
// without a wait half of them would always miss the sync that the other half begins.
//
//   sync of A, with C and D  |  B begins at once: alone  |  A, C and D: the next one
//   sync of A, with C and D  |  B waits a moment: B, A, C and D in one
//
// Who was there when the last sync ended is expected for the next one. If they do not come in time,
// the next syncs begin at once: one, then two, four ... until a wait is worth it again.
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
  // Before an operation: how long to wait at most until as many others() have come. 0: begin at
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

  // After a wait.
  void NoteWait(bool have_come) {
    to_skip_ = have_come ? 0 : next_skip_;
    next_skip_ = have_come ? 1 : std::min(2 * next_skip_, kMostSkipped);
    assert(next_skip_ > 0);
  }
  // After an operation: how many others wait, for it or for the next one, and how long it took.
  void NoteRun(size_t others, uint64_t micros) {
    others_ = others;
    last_micros_ = micros;
  }

 private:
  static constexpr uint64_t kMostMicros = 500;  // a few turns of a scheduler
  static constexpr uint32_t kMostSkipped = 1024;

  size_t others_ = 0;
  uint64_t last_micros_ = 0;
  uint32_t to_skip_ = 0;    // operations that begin at once
  uint32_t next_skip_ = 1;  // after the next wait in vain
};

}  // namespace ashlar
