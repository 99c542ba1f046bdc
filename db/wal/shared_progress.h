// SPDX-License-Identifier: Apache-2.0
//
// SharedProgress lets many threads share one slow operation on a log (a write, a sync): one thread
// runs it for all bytes that are ready; the others wait, and the next round serves all of them
// together.
//
// The first error is final: every thread that has not been served gets it, and the operation is
// never run again. Threads: any. The thread that ran the operation accesses the object once more to
// wake the others, so the object must outlive every call, even if other calls have returned.
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

  // The operation is complete for all bytes before this offset.
  uint64_t done() const { return done_.load(std::memory_order_acquire); }

  // Returns when done() >= end, or with the first error. Until then, if no thread runs the
  // operation, this thread does: it calls ready() for the offset up to which the operation is
  // possible, which must be at least `end`, and then run(from, to). ready() has no side effects.
  // `gathers`: the thread may first wait briefly for others (gather_policy.h).
  template <typename Ready, typename Run>
  Status Reach(uint64_t end, Ready&& ready, Run&& run, bool gathers = false) {
    return ReachWhenReady(
        end, ready, run, [] { return true; }, gathers);
  }
  // The same for a thread that calls before ready() >= end. It waits with await() for this
  // condition only if it would have to run the operation; other threads may run meanwhile. If
  // await() returns false, the condition will never hold, and an error is set.
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
      // Called without the mutex, because served threads do not need it.
      if (is_awaited) FutexWakeAll(round_);
      if (turn.kind == Turn::kAwaitRound) AwaitRound(turn);
      if (turn.kind == Turn::kAwaitReady && !await()) return error();
    }
    return Status::OK();
  }

  // Runs `run` while no other operation runs, at any state of the progress.
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

  // After this call every unserved thread gets this error, unless an earlier error is set.
  void Fail(const Status& error) {
    MutexLock lock(&mutex_);
    NoteError(error);
    if (EndRound()) FutexWakeAll(round_);
  }
  Status error() const {
    MutexLock lock(&mutex_);
    return error_;
  }
  // One line: the progress, whether the operation is running, and the first error.
  std::string DebugString() const {
    MutexLock lock(&mutex_);
    return StrCat("done to ", done(), is_running_ ? ", is running" : "",
                  error_.ok() ? std::string() : ", failed: " + error_.ToString());
  }

 private:
  // The next action of a thread that is not served yet.
  struct Turn {
    enum Kind { kRun, kAwaitRound, kAwaitReady };
    Kind kind = kRun;
    uint32_t round = 0;  // the round whose end the thread waits for
    // Longest wait, for the first gathering thread; 0: no limit.
    uint64_t wait_micros = 0;
  };

  static uint64_t NowMicros() { return SystemClock::Default()->NowNanos() / 1000; }

  // Among gathering threads the last to arrive runs the operation, because it is awake. A thread
  // that is not ready changes nothing, so that another may run meanwhile.
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
  // Waits for the end of the round, or as the first gathering thread for a limited time.
  void AwaitRound(const Turn& turn) {
    if (turn.wait_micros > 0) {
      FutexWaitFor(round_, turn.round, turn.wait_micros);
      MutexLock lock(&mutex_);
      if (round_.load(std::memory_order_relaxed) != turn.round) return;
      if (is_gathering_) {
        --waiting_;
        return EndGathering(/*have_come=*/false);  // this thread then runs the operation
      }
    }
    FutexWait(round_, turn.round);
  }
  void EndGathering(bool have_come) REQUIRES(mutex_) {
    is_gathering_ = false;
    gathering_.NoteWait(have_come);
  }
  // Runs the operation once. Returns whether threads must be woken.
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
    assert(done_.load(std::memory_order_relaxed) == from);  // no other thread runs the operation
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
  // Returns whether threads must be woken. Threads that are not served increment waiting_ again.
  bool EndRound() REQUIRES(mutex_) {
    round_.fetch_add(1, std::memory_order_release);
    is_gathering_ = false;
    return std::exchange(waiting_, 0) > 0;
  }

  mutable Mutex mutex_{LockRank::kLeaf};
  bool is_running_ GUARDED_BY(mutex_) = false;  // one thread runs the operation
  // No thread runs it yet: the first one waits for others.
  bool is_gathering_ GUARDED_BY(mutex_) = false;
  size_t waiting_ GUARDED_BY(mutex_) = 0;  // number of threads that wait for the end of the round
  GatherPolicy gathering_ GUARDED_BY(mutex_);
  Status error_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> done_{0};   // written by the running thread under mutex_
  std::atomic<uint32_t> round_{0};  // ends with each operation; written under mutex_
};

}  // namespace ashlar
