// SPDX-License-Identifier: Apache-2.0
//
// SharedProgress lets many threads share one slow operation on a log (a write, a sync): one thread
// runs it for all bytes that are ready, the others wait and are served by the next round together.
//
// The first error is final and given to everybody who has not been served, and nothing is run after
// it. Threads: any; who has run the operation touches the object once more to wake the others, so
// it outlives every call, not only the last one that returns.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <string>
#include <utility>

#include "ashlar/status.h"
#include "ashlar/system_clock.h"
#include "db/wal/gather_policy.h"
#include "util/text/str_cat.h"
#include "util/threads/futex.h"
#include "util/threads/mutex.h"

namespace ashlar {

class SharedProgress {
 public:
  SharedProgress() = default;
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;

  // Everything before it is done.
  uint64_t done() const { return done_.load(std::memory_order_acquire); }

  // Returns when done() >= end, or with the first error. While it is not, and nobody runs the
  // operation, this thread does: it asks ready() up to where it can be done, which must be at least
  // `end` by the time of the call, and then calls run(from, to). ready() only looks.
  // `gathers`: it may first wait a moment for others (gather_policy.h).
  template <typename Ready, typename Run>
  Status Reach(uint64_t end, Ready&& ready, Run&& run, bool gathers = false) {
    return ReachWhenReady(
        end, ready, run, [] { return true; }, gathers);
  }
  // The same for who comes before ready() >= end: it waits for that only if it is to run, by
  // await(), while others may run. False: it never will be, and there is an error.
  template <typename Ready, typename Run, typename Await>
  Status ReachWhenReady(uint64_t end, Ready&& ready, Run&& run, Await&& await, bool gathers) {
    while (done() < end) {
      Turn turn;
      bool is_awaited = false;
      {
        MutexLock lock(&mutex_);
        if (!error_.ok()) return error_;
        const uint64_t from = done_.load(std::memory_order_relaxed);
        if (from >= end) break;
        turn = TakeTurn(/*is_ready=*/ready() >= end, gathers);
        if (turn.kind == Turn::kRun) is_awaited = RunOnce(from, ready, run, gathers);
        assert(turn.kind != Turn::kRun || !error_.ok() || done() >= end);
      }
      // Without the mutex: those who were served need it no more.
      if (is_awaited) FutexWakeAll(round_);
      if (turn.kind == Turn::kAwaitRound) AwaitRound(turn);
      if (turn.kind == Turn::kAwaitReady && !await()) return error();
    }
    return Status::OK();
  }

  // Runs `run` while no other operation does, whatever the progress is.
  template <typename Run>
  Status RunAlone(Run&& run) {
    while (true) {
      uint32_t round;
      {
        MutexLock lock(&mutex_);
        round = round_.load(std::memory_order_relaxed);
        if (!is_running_) {
          if (!error_.ok()) return error_;
          is_running_ = true;
          Status status;
          {
            MutexUnlock unlock(&mutex_);
            status = run();
          }
          is_running_ = false;
          if (!status.ok()) NoteError(status);
          if (EndRound()) FutexWakeAll(round_);
          return status;
        }
        ++waiting_;
      }
      FutexWait(round_, round);
    }
  }

  // From now on everybody gets this error, unless there is one already.
  void Fail(const Status& error) {
    MutexLock lock(&mutex_);
    NoteError(error);
    if (EndRound()) FutexWakeAll(round_);
  }
  Status error() const {
    MutexLock lock(&mutex_);
    return error_;
  }
  // How far it has come, whether the operation runs, and the error that ended it; one line.
  std::string DebugString() const {
    MutexLock lock(&mutex_);
    return StrCat("done to ", done(), is_running_ ? ", is running" : "",
                  error_.ok() ? std::string() : ", failed: " + error_.ToString());
  }

 private:
  // What a thread does that is not served yet.
  struct Turn {
    enum Kind { kRun, kAwaitRound, kAwaitReady };
    Kind kind = kRun;
    uint32_t round = 0;  // whose end it waits for
    // At most, for the first of those who gather; 0: however long it takes.
    uint64_t wait_micros = 0;
  };

  static uint64_t NowMicros() { return SystemClock::Default()->NowNanos() / 1000; }

  // Of those who gather the last one runs: it is awake. One that is not ready yet leaves things as
  // they are, so that another may run meanwhile.
  Turn TakeTurn(bool is_ready, bool gathers) REQUIRES(mutex_) {
    Turn turn;
    turn.round = round_.load(std::memory_order_relaxed);
    bool waits = is_running_;
    if (!is_running_ && is_gathering_) {
      waits = waiting_ < gathering_.others();
    } else if (!is_running_) {
      if (gathers) turn.wait_micros = gathering_.TakeWaitMicros();
      waits = is_gathering_ = turn.wait_micros > 0;
    }
    if (waits) {
      turn.kind = Turn::kAwaitRound;
      ++waiting_;
    } else if (!is_ready) {
      turn.kind = Turn::kAwaitReady;
    } else if (is_gathering_) {
      EndGathering(/*have_come=*/true);
    }
    return turn;
  }
  void AwaitRound(const Turn& turn) {
    if (turn.wait_micros > 0) {
      FutexWaitFor(round_, turn.round, turn.wait_micros);
      MutexLock lock(&mutex_);
      if (round_.load(std::memory_order_relaxed) != turn.round) return;
      if (is_gathering_) {
        --waiting_;
        return EndGathering(/*have_come=*/false);  // and takes its turn, which is to run
      }
    }
    FutexWait(round_, turn.round);
  }
  void EndGathering(bool have_come) REQUIRES(mutex_) {
    is_gathering_ = false;
    gathering_.NoteWait(have_come);
  }
  // Whether somebody is to be woken.
  template <typename Ready, typename Run>
  bool RunOnce(uint64_t from, Ready&& ready, Run&& run, bool gathers) REQUIRES(mutex_) {
    is_running_ = true;
    Status status;
    uint64_t to = from;
    const uint64_t start_micros = gathers ? NowMicros() : 0;
    {
      MutexUnlock unlock(&mutex_);
      to = ready();
      status = run(from, to);
    }
    if (gathers) gathering_.NoteRun(waiting_, NowMicros() - start_micros);
    is_running_ = false;
    assert(done_.load(std::memory_order_relaxed) == from);  // nobody else runs
    if (status.ok()) {
      done_.store(to, std::memory_order_release);
    } else {
      NoteError(status);
    }
    return EndRound();
  }
  void NoteError(const Status& error) REQUIRES(mutex_) {
    if (error_.ok()) error_ = error;
  }
  // Whether somebody is to be woken. Those who are not served count themselves again.
  bool EndRound() REQUIRES(mutex_) {
    round_.fetch_add(1, std::memory_order_release);
    is_gathering_ = false;
    return std::exchange(waiting_, 0) > 0;
  }

  mutable Mutex mutex_{LockRank::kLeaf};
  bool is_running_ GUARDED_BY(mutex_) = false;    // one thread runs the operation
  bool is_gathering_ GUARDED_BY(mutex_) = false;  // nobody does yet: the first waits for others
  size_t waiting_ GUARDED_BY(mutex_) = 0;         // threads, for the end of the round
  GatherPolicy gathering_ GUARDED_BY(mutex_);
  Status error_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> done_{0};   // written by the running thread under mutex_
  std::atomic<uint32_t> round_{0};  // ends with each operation; written under mutex_
};

}  // namespace ashlar
