// SPDX-License-Identifier: Apache-2.0
//
// A token bucket. One mutex guards all of its state. This costs little, because a request
// represents many kilobytes of I/O.
#include "env/rate_limiter.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "ashlar/statistics.h"

namespace ashlar {

namespace {

constexpr int kRefillsPerTuning = 100;
// The lowest rate that automatic tuning chooses is 1/kLowestPartOfMax of the maximum.
constexpr int64_t kLowestPartOfMax = 20;

template <typename Array>
int64_t TotalOf(const Array& counts, Env::IOPriority pri) {
  if (pri != Env::IO_TOTAL) return counts[pri];
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// The clock for intervals. NowMicros() is not suitable: if the time of day is set back, all
// requests would wait for the difference.
uint64_t SteadyMicros(SystemClock* clock) { return clock->NowNanos() / 1000; }

}  // namespace

// Requests as much as one request may have: at most a burst and, with an alignment, whole units.
// The caller moves the returned number of bytes, and asks again for the rest.
size_t RateLimiter::RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                                 Statistics* stats, RateLimiter::OpType op_type) {
  if (io_priority >= Env::IO_TOTAL || !IsRateLimited(op_type)) return bytes;
  bytes = std::min(bytes, static_cast<size_t>(GetSingleBurstBytes()));
  // At least one unit, even if a burst is smaller, or the caller could never move anything.
  if (alignment > 0) bytes = std::max(alignment, bytes / alignment * alignment);
  Request(static_cast<int64_t>(bytes), io_priority, stats, op_type);
  return bytes;
}

void AwaitTokens(RateLimiter* limiter, size_t bytes, Env::IOPriority priority,
                 Statistics* statistics, RateLimiter::OpType type) {
  if (limiter == nullptr) return;
  while (bytes > 0) {
    const size_t granted = limiter->RequestToken(bytes, 0, priority, statistics, type);
    if (granted == 0) return;  // a limiter of the program that grants nothing must not block us
    bytes -= std::min(granted, bytes);
  }
}

GenericRateLimiter::GenericRateLimiter(const GenericRateLimiterOptions& options)
    : RateLimiter(options.mode),
      options_(options),
      bytes_per_second_(options.is_auto_tuned ? std::max<int64_t>(options.bytes_per_second / 2, 1)
                                              : options.bytes_per_second),
      max_bytes_per_second_(options.bytes_per_second),
      single_burst_bytes_(options.single_burst_bytes) {
  assert(options_.clock != nullptr);
  assert(options.bytes_per_second > 0);
  assert(options.refill_period_micros > 0);
}

// Waiting threads return at once, as if their bytes were granted. The destructor waits until they
// have left.
GenericRateLimiter::~GenericRateLimiter() {
  MutexLock lock(&mutex_);
  is_ending_ = true;
  for (auto& queue : queues_) {
    for (Waiter* waiter : queue) waiter->wake.Signal();
  }
  while (waiter_count_ > 0) all_gone_.Wait();
}

void GenericRateLimiter::SetBytesPerSecond(int64_t bytes_per_second) {
  // A rate of 0 would make every request wait for ever, so such a call is ignored.
  if (bytes_per_second <= 0) return;
  MutexLock lock(&mutex_);
  bytes_per_second_ = bytes_per_second;
  max_bytes_per_second_ = bytes_per_second;
}

Status GenericRateLimiter::SetSingleBurstBytes(int64_t single_burst_bytes) {
  if (single_burst_bytes < 0) {
    return Status::InvalidArgument("SetSingleBurstBytes: the number must not be negative");
  }
  // 0 means that a burst is what one refill brings.
  MutexLock lock(&mutex_);
  single_burst_bytes_ = single_burst_bytes;
  return Status::OK();
}

// Computed with 128 bits, since the product of rate and period can exceed 64 bits.
int64_t GenericRateLimiter::RefillBytesLocked() const {
  const auto bytes = static_cast<__int128>(bytes_per_second_) * options_.refill_period_micros;
  // At least one byte, so that even the slowest rate makes progress.
  return static_cast<int64_t>(std::max<__int128>(bytes / 1000000, 1));
}

int64_t GenericRateLimiter::GetSingleBurstBytes() const {
  MutexLock lock(&mutex_);
  return single_burst_bytes_ > 0 ? single_burst_bytes_ : RefillBytesLocked();
}

int64_t GenericRateLimiter::GetBytesPerSecond() const {
  MutexLock lock(&mutex_);
  return bytes_per_second_;
}

int64_t GenericRateLimiter::GetTotalBytesThrough(Env::IOPriority pri) const {
  MutexLock lock(&mutex_);
  return TotalOf(total_bytes_, pri);
}

int64_t GenericRateLimiter::GetTotalRequests(Env::IOPriority pri) const {
  MutexLock lock(&mutex_);
  return TotalOf(total_requests_, pri);
}

Status GenericRateLimiter::GetTotalPendingRequests(int64_t* total_pending_requests,
                                                   Env::IOPriority pri) const {
  assert(total_pending_requests != nullptr);
  MutexLock lock(&mutex_);
  *total_pending_requests = 0;
  for (int p = Env::IO_LOW; p < Env::IO_TOTAL; ++p) {
    if (pri == Env::IO_TOTAL || pri == p) {
      *total_pending_requests += static_cast<int64_t>(queues_[static_cast<size_t>(p)].size());
    }
  }
  return Status::OK();
}

void GenericRateLimiter::Request(int64_t bytes, Env::IOPriority pri, Statistics* stats) {
  Serve(bytes, pri, stats, OpType::kWrite);
}

void GenericRateLimiter::Request(int64_t bytes, Env::IOPriority pri, Statistics* stats,
                                 OpType op_type) {
  if (IsRateLimited(op_type)) Serve(bytes, pri, stats, op_type);
}

// Without statistics the time of the wait is not measured, and a request that need not wait costs
// little more than the mutex.
void GenericRateLimiter::Serve(int64_t bytes, Env::IOPriority pri, Statistics* stats,
                               OpType op_type) {
  const uint64_t start_micros = stats == nullptr ? 0 : SteadyMicros(options_.clock.get());
  assert(bytes >= 0);
  const bool has_waited = Take(bytes, pri);
  if (stats == nullptr) return;
  const bool is_read = op_type == OpType::kRead;
  stats->recordTick(is_read ? RATE_LIMITER_REQUESTS_READ : RATE_LIMITER_REQUESTS_WRITE, 1);
  stats->recordTick(is_read ? RATE_LIMITER_BYTES_READ : RATE_LIMITER_BYTES_WRITE,
                    static_cast<uint64_t>(bytes));
  if (!has_waited) return;
  const uint64_t waited_micros = SteadyMicros(options_.clock.get()) - start_micros;
  stats->recordTick(NUMBER_RATE_LIMITER_DRAINS, 1);
  stats->recordTick(
      is_read ? RATE_LIMITER_DELAYED_REQUESTS_READ : RATE_LIMITER_DELAYED_REQUESTS_WRITE, 1);
  stats->recordTick(
      is_read ? RATE_LIMITER_TOTAL_WAIT_MICROS_READ : RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE,
      waited_micros);
  stats->recordInHistogram(is_read ? RATE_LIMITER_WAIT_MICROS_READ : RATE_LIMITER_WAIT_MICROS_WRITE,
                           waited_micros);
}

// Takes `bytes` from the bucket. Returns whether there were too few, so that the thread had to
// wait.
bool GenericRateLimiter::Take(int64_t bytes, Env::IOPriority pri) {
  assert(pri < Env::IO_TOTAL);
  assert(bytes >= 0);
  MutexLock lock(&mutex_);
  if (is_ending_) return false;
  ++total_requests_[pri];
  total_bytes_[pri] += bytes;
  const uint64_t now = SteadyMicros(options_.clock.get());
  // While there is a leader, only the leader refills the bucket, when it wakes up.
  if (now >= next_refill_micros_ && !has_leader_) RefillLocked(now);
  // A request must not overtake those that wait already.
  if (!HasWaitersLocked() && available_bytes_ >= bytes) {
    available_bytes_ -= bytes;
    return false;
  }
  // The waiter lives on the stack of its thread, which returns only after it has left the queue.
  Waiter waiter(&mutex_, bytes);
  queues_[pri].push_back(&waiter);
  ++waiter_count_;
  GrantLocked();  // what is available now, in the order of the queues
  WaitLocked(&waiter);
  std::erase(queues_[pri], &waiter);  // it is still queued only if the limiter is being destroyed
  assert(waiter_count_ > 0);
  if (--waiter_count_ == 0 && is_ending_) all_gone_.SignalAll();
  return true;
}

void GenericRateLimiter::WaitLocked(Waiter* waiter) {
  assert(waiter != nullptr);
  // Only one thread, the leader, waits for the next refill, with a timeout. The other threads sleep
  // until the leader grants their bytes, or until one of them becomes the next leader.
  // Checked again after each wake-up, because a signal may also mean that the limiter is ending.
  while (waiter->bytes_left > 0 && !is_ending_) {
    if (has_leader_) {
      waiter->wake.Wait();
      continue;
    }
    has_leader_ = true;
    // The mutex is free during this wait, so requests can be granted meanwhile.
    AwaitRefillLocked(waiter);
    has_leader_ = false;
    const uint64_t now = SteadyMicros(options_.clock.get());
    if (now >= next_refill_micros_) RefillLocked(now);
  }
  // This thread is done. If other threads still want bytes, one of them must wait for the next
  // refill.
  if (!has_leader_) WakeNextLeaderLocked();
}

// TimedWait() takes a deadline in the time of day. So the rest of the interval is added to that
// time just before the wait.
void GenericRateLimiter::AwaitRefillLocked(Waiter* waiter) {
  const uint64_t now = SteadyMicros(options_.clock.get());
  if (now >= next_refill_micros_) return;
  assert(next_refill_micros_ > now);
  const uint64_t deadline = options_.clock->NowMicros() + (next_refill_micros_ - now);
  options_.clock->TimedWait(&waiter->wake, std::chrono::microseconds(deadline));
}

void GenericRateLimiter::RefillLocked(uint64_t now) {
  assert(!has_leader_);
  next_refill_micros_ = now + static_cast<uint64_t>(options_.refill_period_micros);
  const int64_t refill = RefillBytesLocked();
  // Unused tokens are kept for at most one period, so that an idle time does not allow a larger
  // burst.
  assert(refill > 0);
  available_bytes_ = std::min(available_bytes_ + refill, refill);
  // A refill while somebody waits shows that the rate is too low for the demand.
  if (HasWaitersLocked()) ++drained_count_;
  if (options_.is_auto_tuned && ++refill_count_ == kRefillsPerTuning) TuneLocked();
  GrantLocked();
}

// Serves the queues in their order. The first request that cannot be served in full gets what is
// left, and ends the round.
void GenericRateLimiter::GrantLocked() {
  assert(available_bytes_ >= 0);
  for (const Env::IOPriority pri : DrawOrderLocked()) {
    auto& queue = queues_[pri];
    while (!queue.empty()) {
      Waiter* waiter = queue.front();
      const int64_t granted = std::min(waiter->bytes_left, available_bytes_);
      assert(granted >= 0);
      available_bytes_ -= granted;
      waiter->bytes_left -= granted;
      // The rest is granted by the next refill; the place in the queue stays.
      if (waiter->bytes_left > 0) return;
      queue.pop_front();
      waiter->wake.Signal();
    }
  }
}

// The order of the queues: by priority, but sometimes a lower one comes first, so that it never
// waits for ever.
std::array<Env::IOPriority, Env::IO_TOTAL> GenericRateLimiter::DrawOrderLocked() {
  std::array<Env::IOPriority, Env::IO_TOTAL> order = {Env::IO_USER, Env::IO_HIGH, Env::IO_MID,
                                                      Env::IO_LOW};
  const auto fairness = static_cast<uint64_t>(std::max(options_.fairness, 1));
  if (random_.OneIn(fairness)) std::swap(order[1], order[2]);
  if (random_.OneIn(fairness)) std::swap(order[2], order[3]);
  return order;
}

bool GenericRateLimiter::HasWaitersLocked() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& queue) { return !queue.empty(); });
}

// Wakes a waiting thread of the highest priority, which then becomes the leader.
void GenericRateLimiter::WakeNextLeaderLocked() {
  for (size_t pri = Env::IO_TOTAL; pri-- > 0;) {
    if (queues_[pri].empty()) continue;
    queues_[pri].front()->wake.Signal();
    return;
  }
}

// Adapts the rate to the demand. The rate is raised if requests had to wait at more than 90 % of
// the refills, and lowered if they had to wait at less than half of them.
void GenericRateLimiter::TuneLocked() {
  assert(drained_count_ <= kRefillsPerTuning);
  const int percent = drained_count_ * 100 / kRefillsPerTuning;
  refill_count_ = 0;
  drained_count_ = 0;
  // Steps of five percent, so that the rate follows the demand without jumping.
  const int64_t step = std::max<int64_t>(bytes_per_second_ / 20, 1);
  const int64_t lowest = std::max<int64_t>(max_bytes_per_second_ / kLowestPartOfMax, 1);
  // Nobody had to wait at all, so the lowest rate is enough.
  if (percent == 0) {
    bytes_per_second_ = lowest;
  } else if (percent < 50) {
    bytes_per_second_ = std::max(lowest, bytes_per_second_ - step);
  } else if (percent > 90) {
    bytes_per_second_ = std::min(max_bytes_per_second_, bytes_per_second_ + step);
  }
}

RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                   int32_t fairness, RateLimiter::Mode mode, bool auto_tuned,
                                   int64_t single_burst_bytes) {
  GenericRateLimiterOptions options;
  options.bytes_per_second = rate_bytes_per_sec;
  options.refill_period_micros = refill_period_us;
  options.fairness = fairness;
  options.mode = mode;
  options.is_auto_tuned = auto_tuned;
  options.single_burst_bytes = single_burst_bytes;
  return new GenericRateLimiter(options);
}

}  // namespace ashlar
