// SPDX-License-Identifier: Apache-2.0
//
// GenericRateLimiter: the token bucket of NewGenericRateLimiter(), with a clock that tests can
// replace.
//
// Every refill period the bucket is filled with the bytes of one period. Requests that find too few
// bytes wait in a queue for their priority. One of the waiting threads, the leader, waits for the
// next refill and then grants the bytes: USER first, then HIGH, MID, LOW. Once in `fairness` times
// (at random, with a fixed seed) a lower priority goes before a higher one, so that none starves. A
// large request is granted over several periods. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "ashlar/rate_limiter.h"
#include "ashlar/system_clock.h"
#include "env/port_cond_var.h"
#include "util/random.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Waits until all bytes may be moved, with as many requests as necessary. `limiter` null: returns
// at once.
void AwaitTokens(RateLimiter* limiter, size_t bytes, Env::IOPriority priority,
                 Statistics* statistics, RateLimiter::OpType type);

// Constant, except for the rates, which the limiter copies.
struct GenericRateLimiterOptions {
  int64_t bytes_per_second = 0;  // above 0; with is_auto_tuned the upper bound
  int64_t refill_period_micros = 100 * 1000;
  int32_t fairness = 10;
  RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly;
  bool is_auto_tuned = false;
  int64_t single_burst_bytes = 0;  // 0: one refill
  std::shared_ptr<SystemClock> clock = SystemClock::Default();
};

// All state is under one mutex, which is held while nothing but memory is touched.
class GenericRateLimiter : public RateLimiter {
 public:
  explicit GenericRateLimiter(const GenericRateLimiterOptions& options);
  // Releases all waiting threads at once.
  ~GenericRateLimiter() override;

  void SetBytesPerSecond(int64_t bytes_per_second) override;
  Status SetSingleBurstBytes(int64_t single_burst_bytes) override;
  using RateLimiter::Request;
  void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats) override;
  void Request(int64_t bytes, Env::IOPriority pri, Statistics* stats, OpType op_type) override;
  int64_t GetSingleBurstBytes() const override;
  int64_t GetTotalBytesThrough(Env::IOPriority pri) const override;
  int64_t GetTotalRequests(Env::IOPriority pri) const override;
  Status GetTotalPendingRequests(int64_t* total_pending_requests,
                                 Env::IOPriority pri) const override;
  int64_t GetBytesPerSecond() const override;

 private:
  // A thread that waits for bytes.
  // Lives on the stack of its thread. The queue has a pointer to it until its bytes are granted.
  struct Waiter {
    Waiter(Mutex* mutex, int64_t bytes) : wake(mutex), bytes_left(bytes) {}
    port::CondVar wake;
    int64_t bytes_left;
  };

  // Takes the bytes and counts them in the statistics, which may be null.
  void Serve(int64_t bytes, Env::IOPriority pri, Statistics* stats, OpType op_type);
  // Takes `bytes`, and waits until they are granted. Returns whether it had to wait.
  bool Take(int64_t bytes, Env::IOPriority pri) EXCLUDES(mutex_);
  // The bytes of one refill period; at least 1.
  int64_t RefillBytesLocked() const REQUIRES(mutex_);
  // Waits until the bytes of the waiter are granted.
  void WaitLocked(Waiter* waiter) REQUIRES(mutex_);
  // As the leader: waits until the next refill is due, or until the waiter is signalled.
  void AwaitRefillLocked(Waiter* waiter) REQUIRES(mutex_);
  // Fills the bucket and grants bytes.
  void RefillLocked(uint64_t now) REQUIRES(mutex_);
  // Grants available bytes to waiters.
  void GrantLocked() REQUIRES(mutex_);
  // The order in which the queues are served this time.
  std::array<Env::IOPriority, Env::IO_TOTAL> DrawOrderLocked() REQUIRES(mutex_);
  // Whether any request is queued.
  bool HasWaitersLocked() const REQUIRES(mutex_);
  // Signals one waiter, so that there is a leader as long as there are waiters.
  void WakeNextLeaderLocked() REQUIRES(mutex_);
  // Adapts the rate to the demand, with is_auto_tuned.
  void TuneLocked() REQUIRES(mutex_);

  const GenericRateLimiterOptions options_;
  mutable Mutex mutex_{LockRank::kRateLimiter};
  // Signalled for the destructor, when the last waiter has left.
  CondVar all_gone_{&mutex_};
  int64_t bytes_per_second_ GUARDED_BY(mutex_);
  // The bound of the auto-tuned rate.
  int64_t max_bytes_per_second_ GUARDED_BY(mutex_);
  int64_t single_burst_bytes_ GUARDED_BY(mutex_);
  int64_t available_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t next_refill_micros_ GUARDED_BY(mutex_) = 0;  // in time of the monotonic clock
  // A thread is in AwaitRefillLocked().
  bool has_leader_ GUARDED_BY(mutex_) = false;
  bool is_ending_ GUARDED_BY(mutex_) = false;
  // Threads in Take() that have queued, including granted ones that have not woken up yet.
  int waiter_count_ GUARDED_BY(mutex_) = 0;
  Random64 random_ GUARDED_BY(mutex_){301};
  // By priority. Pointers to objects on the stacks of the waiting threads.
  std::array<std::deque<Waiter*>, Env::IO_TOTAL> queues_ GUARDED_BY(mutex_);
  std::array<int64_t, Env::IO_TOTAL> total_bytes_ GUARDED_BY(mutex_){};
  std::array<int64_t, Env::IO_TOTAL> total_requests_ GUARDED_BY(mutex_){};
  // Counters of the current tuning period.
  int refill_count_ GUARDED_BY(mutex_) = 0;
  // Refills at which requests were waiting.
  int drained_count_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
