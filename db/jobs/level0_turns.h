// SPDX-License-Identifier: Apache-2.0
//
// Level0Turns lets compactions of level 0 run before those of deeper levels. If a long compaction
// of a deeper level occupies the last available thread, it pauses between two entries while a short
// compaction of level 0, on which writers would soon have to wait, runs in its place.
//
// Afterwards the long compaction runs for at least as long as it has paused: the level into which
// level 0 is compacted must be compacted as well.
//
// Threads: any. A thread that calls YieldIfAsked() holds no lock.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <functional>
#include <utility>

#include "ashlar/system_clock.h"

namespace ashlar {

class Level0Turns {
 public:
  // The clock outlives the object.
  explicit Level0Turns(SystemClock* clock) : clock_(clock) { assert(clock != nullptr); }

  // `run` executes a waiting compaction of level 0 in the calling thread, or does nothing if there
  // is none any more. It is called without the DB mutex. SetRun() is called before the first job
  // that yields begins.
  void SetRun(std::function<void()> run) { run_ = std::move(run); }

  // Whether an urgent compaction of level 0 waits for a thread. Written under the DB mutex.
  void SetWaiting(bool is_waiting) { is_waiting_.store(is_waiting, std::memory_order_relaxed); }
  bool is_waiting() const { return is_waiting_.load(std::memory_order_relaxed); }

  // One running job that yields. All threads of the job may call it at the same time.
  class Yielder {
   public:
    explicit Yielder(Level0Turns* turns) : turns_(*turns) {}
    // Called about every thousand entries.
    void YieldIfAsked() {
      if (turns_.is_waiting()) [[unlikely]]
        Yield();
    }

   private:
    void Yield();

    Level0Turns& turns_;
    std::atomic<bool> is_away_{false};          // a thread of the job runs level 0 right now
    std::atomic<uint64_t> earliest_micros_{0};  // no pause before this time
  };

 private:
  SystemClock* const clock_;
  std::function<void()> run_;
  std::atomic<bool> is_waiting_{false};
};

}  // namespace ashlar
