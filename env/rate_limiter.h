// SPDX-License-Identifier: Apache-2.0
//
// GenericRateLimiter: the token bucket behind NewGenericRateLimiter(), with its clock exposed.
//
// Every refill period the bucket is filled with one period's bytes. Requests that find too little
// wait in a queue per priority; one of the waiters, the leader, waits for the next refill and then
// hands the bytes out: USER first, then HIGH, MID, LOW, but once in `fairness` times (by a seeded
// draw) a lower priority goes before a higher one, so that none starves. A large request is filled
// over several periods. Any thread.
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

// Waits until all of the bytes may be moved, in as many requests as that takes. Null: at once.
void AwaitTokens(RateLimiter* limiter, size_t bytes, Env::IOPriority priority,
                 Statistics* statistics, RateLimiter::OpType type);

struct GenericRateLimiterOptions {
  int64_t bytes_per_second = 0;  // > 0; with is_auto_tuned the upper bound
  int64_t refill_period_micros = 100 * 1000;
  int32_t fairness = 10;
  RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly;
  bool is_auto_tuned = false;
  int64_t single_burst_bytes = 0;  // 0 = one refill
  std::shared_ptr<SystemClock> clock = SystemClock::Default();
};

class GenericRateLimiter : public RateLimiter {
 public:
  explicit GenericRateLimiter(const GenericRateLimiterOptions& options);
  // Lets all waiters go at once.
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
  struct Waiter {
    Waiter(Mutex* mutex, int64_t bytes) : wake(mutex), bytes_left(bytes) {}
    port::CondVar wake;
    int64_t bytes_left;
  };

  // Takes them and tells the statistics, which may be null.
  void Serve(int64_t bytes, Env::IOPriority pri, Statistics* stats, OpType op_type);
  bool Take(int64_t bytes, Env::IOPriority pri) EXCLUDES(mutex_);
  int64_t RefillBytesLocked() const REQUIRES(mutex_);
  void WaitLocked(Waiter* waiter) REQUIRES(mutex_);
  void AwaitRefillLocked(Waiter* waiter) REQUIRES(mutex_);
  void RefillLocked(uint64_t now) REQUIRES(mutex_);
  void GrantLocked() REQUIRES(mutex_);
  std::array<Env::IOPriority, Env::IO_TOTAL> DrawOrderLocked() REQUIRES(mutex_);
  bool HasWaitersLocked() const REQUIRES(mutex_);
  void WakeNextLeaderLocked() REQUIRES(mutex_);
  void TuneLocked() REQUIRES(mutex_);

  const GenericRateLimiterOptions options_;
  mutable Mutex mutex_{LockRank::kRateLimiter};
  CondVar all_gone_{&mutex_};
  int64_t bytes_per_second_ GUARDED_BY(mutex_);
  int64_t max_bytes_per_second_ GUARDED_BY(mutex_);
  int64_t single_burst_bytes_ GUARDED_BY(mutex_);
  int64_t available_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t next_refill_micros_ GUARDED_BY(mutex_) = 0;  // of the clock that is never set
  bool has_leader_ GUARDED_BY(mutex_) = false;
  bool is_ending_ GUARDED_BY(mutex_) = false;
  int waiter_count_ GUARDED_BY(mutex_) = 0;
  Random64 random_ GUARDED_BY(mutex_){301};
  std::array<std::deque<Waiter*>, Env::IO_TOTAL> queues_ GUARDED_BY(mutex_);
  std::array<int64_t, Env::IO_TOTAL> total_bytes_ GUARDED_BY(mutex_){};
  std::array<int64_t, Env::IO_TOTAL> total_requests_ GUARDED_BY(mutex_){};
  // Of the current tuning round.
  int refill_count_ GUARDED_BY(mutex_) = 0;
  int drained_count_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ashlar
