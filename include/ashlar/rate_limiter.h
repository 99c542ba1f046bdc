// SPDX-License-Identifier: Apache-2.0
//
// RateLimiter limits the bytes per second that flushes and compactions read or write. Several
// databases may share it. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Statistics;

// A limit on I/O. Created by NewGenericRateLimiter(), or implemented by the program.
class ASHLAR_EXPORT RateLimiter {
 public:
  enum class OpType { kRead, kWrite };
  // Which operations are limited.
  enum class Mode { kReadsOnly, kWritesOnly, kAllIo };

  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  virtual ~RateLimiter() {}

  // Changes the rate. Takes effect with the next refill.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;
  // Sets the maximum number of bytes for one Request(); 0 = the bytes of one refill.
  virtual Status SetSingleBurstBytes(int64_t /*single_burst_bytes*/) {
    return Status::NotSupported("SetSingleBurstBytes: not offered by this rate limiter");
  }

  // Waits until `bytes` (at most GetSingleBurstBytes()) may be read or written. A program's own
  // limiter overrides one of these three forms; by default each form calls the one before it.
  virtual void Request(const int64_t /*bytes*/, const Env::IOPriority /*pri*/) {}
  virtual void Request(const int64_t bytes, const Env::IOPriority pri, Statistics* /*stats*/) {
    Request(bytes, pri);
  }
  virtual void Request(const int64_t bytes, const Env::IOPriority pri, Statistics* stats,
                       OpType op_type) {
    if (IsRateLimited(op_type)) Request(bytes, pri, stats);
  }
  // Requests as many of the `bytes` as one request may ask for, rounded to a multiple of
  // `alignment` if that is not 0. Returns the number of bytes that were granted.
  virtual size_t RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                              Statistics* stats, RateLimiter::OpType op_type);

  // Maximum number of bytes for one Request().
  virtual int64_t GetSingleBurstBytes() const = 0;
  // Totals since the limiter was created; IO_TOTAL sums over all priorities.
  virtual int64_t GetTotalBytesThrough(const Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(const Env::IOPriority pri = Env::IO_TOTAL) const = 0;
  virtual Status GetTotalPendingRequests(int64_t* /*total_pending_requests*/,
                                         const Env::IOPriority /*pri*/ = Env::IO_TOTAL) const {
    return Status::NotSupported("GetTotalPendingRequests: not offered by this rate limiter");
  }
  virtual int64_t GetBytesPerSecond() const = 0;

  // Whether operations of this type are limited.
  virtual bool IsRateLimited(OpType op_type) {
    if (mode_ == Mode::kAllIo) return true;
    return op_type == OpType::kWrite ? mode_ == Mode::kWritesOnly : mode_ == Mode::kReadsOnly;
  }

 protected:
  Mode GetMode() const { return mode_; }

 private:
  const Mode mode_;
};

// Creates a token bucket. The caller owns it.
//   rate_bytes_per_sec  the rate; if auto_tuned is true, its upper bound
//   refill_period_us    microseconds between refills; a longer period allows larger bursts
//   fairness            one out of this many times, requests of lower priority are served first
//   mode                which operations are limited
//   auto_tuned          adapt the rate to the demand
//   single_burst_bytes  maximum number of bytes of one request; 0 = the bytes of one refill
ASHLAR_EXPORT RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly, bool auto_tuned = false,
    int64_t single_burst_bytes = 0);

}  // namespace ashlar
