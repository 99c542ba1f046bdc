// SPDX-License-Identifier: Apache-2.0
//
// Level0Turns lets compactions of level 0 go before those of deeper levels: a long one that has the
// last thread there may be stops between two entries while a short one of level 0, for which
// writers would wait soon, runs in its place.
//
// Afterwards the long one goes on for at least as long as it has waited: what level 0 is compacted
// into must be compacted too.
//
// Threads: any; a thread that yields holds no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "ashlar/system_clock.h"

namespace ashlar {

class Level0Turns {
 public:
  explicit Level0Turns(SystemClock* clock) : clock_(clock) {}  // which outlives it
  // `run` does, in the calling thread, a compaction of level 0 that waits, or nothing if there is
  // none any more. It is called without the DB mutex. Before the first job that yields.
  void SetRun(std::function<void()> run) { run_ = std::move(run); }

  // Whether one waits for a thread.
  void SetWaiting(bool is_waiting) { is_waiting_.store(is_waiting, std::memory_order_relaxed); }
  bool is_waiting() const { return is_waiting_.load(std::memory_order_relaxed); }

  // A job that yields; its threads may call at the same time.
  class Yielder {
   public:
    explicit Yielder(Level0Turns* turns) : turns_(*turns) {}
    // Every thousand entries or so.
    void YieldIfAsked() {
      if (turns_.is_waiting()) [[unlikely]]
        Yield();
    }

   private:
    void Yield();

    Level0Turns& turns_;
    std::atomic<bool> is_away_{false};          // one of its threads is
    std::atomic<uint64_t> earliest_micros_{0};  // until when it goes on
  };

 private:
  SystemClock* const clock_;
  std::function<void()> run_;
  std::atomic<bool> is_waiting_{false};
};

}  // namespace ashlar
