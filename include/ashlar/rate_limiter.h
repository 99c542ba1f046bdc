// SPDX-License-Identifier: Apache-2.0
//
// RateLimiter: bytes per second that flushes and compactions may read or write. May be shared by
// databases. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Statistics;

class ASHLAR_EXPORT RateLimiter {
 public:
  enum class OpType { kRead, kWrite };
  // What is limited.
  enum class Mode { kReadsOnly, kWritesOnly, kAllIo };

  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  virtual ~RateLimiter() {}

  // Takes effect with the next refill.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;
  // The most one Request() may ask for; 0 = what one refill gives.
  virtual Status SetSingleBurstBytes(int64_t /*single_burst_bytes*/) {
    return Status::NotSupported("SetSingleBurstBytes: not offered by this rate limiter");
  }

  // Waits until `bytes` (at most GetSingleBurstBytes()) may be moved. A limiter of one's own
  // overrides one of these; each form calls the one above it.
  virtual void Request(const int64_t /*bytes*/, const Env::IOPriority /*pri*/) {}
  virtual void Request(const int64_t bytes, const Env::IOPriority pri, Statistics* /*stats*/) {
    Request(bytes, pri);
  }
  virtual void Request(const int64_t bytes, const Env::IOPriority pri, Statistics* stats,
                       OpType op_type) {
    if (IsRateLimited(op_type)) Request(bytes, pri, stats);
  }
  // Waits for as much of `bytes` as one request may be, rounded to `alignment` if that is above 0;
  // returns how much was granted.
  virtual size_t RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                              Statistics* stats, RateLimiter::OpType op_type);

  virtual int64_t GetSingleBurstBytes() const = 0;
  // Totals since the start; IO_TOTAL sums over all priorities.
  virtual int64_t GetTotalBytesThrough(const Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(const Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual Status GetTotalPendingRequests(int64_t* /*total_pending_requests*/,
                                         const Env::IOPriority /*pri*/ = Env::IO_TOTAL) const {
    return Status::NotSupported("GetTotalPendingRequests: not offered by this rate limiter");
  }
  virtual int64_t GetBytesPerSecond() const = 0;

  virtual bool IsRateLimited(OpType op_type) {
    if (mode_ == Mode::kAllIo) return true;
    return op_type == OpType::kWrite ? mode_ == Mode::kWritesOnly : mode_ == Mode::kReadsOnly;
  }

 protected:
  Mode GetMode() const { return mode_; }

 private:
  const Mode mode_;
};

// The usual token bucket; the caller owns it.
//   rate_bytes_per_sec  the rate; with auto_tuned its upper bound
//   refill_period_us    how often tokens are given out: longer allows larger bursts
//   fairness            one of this many requests of lower priority goes first
//   single_burst_bytes  the most one request may ask for; 0 = one refill
ASHLAR_EXPORT RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly, bool auto_tuned = false,
    int64_t single_burst_bytes = 0);

}  // namespace ashlar
