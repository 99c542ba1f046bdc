// SPDX-License-Identifier: Apache-2.0
//
// Buckets are found by binary search in a table of limits, which is computed at compile time.
// Percentiles are interpolated within a bucket, and limited to the range of the recorded values.
#include "util/statistics/histogram.h"

#include <algorithm>
#include <cassert>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace ashlar {
namespace {

// Keeps the two leading digits of a number; 100 to 109 are unchanged.
constexpr uint64_t RoundToTwoDigits(uint64_t value) {
  uint64_t scale = 1;
  while (value / 10 > 10) {
    value /= 10;
    scale *= 10;
  }
  return value * scale;
}

// Computes the limits of the buckets, in doubles as RocksDB does, so that all limits are exactly
// equal to RocksDB's.
constexpr std::array<uint64_t, kHistogramBucketCount> MakeLimits() {
  std::array<uint64_t, kHistogramBucketCount> limits{};
  limits[0] = 1;
  limits[1] = 2;
  double exact = 2;
  for (size_t i = 2; i < kHistogramBucketCount; ++i) {
    exact *= 1.5;
    limits[i] = RoundToTwoDigits(static_cast<uint64_t>(exact));
  }
  return limits;
}

constexpr std::array<uint64_t, kHistogramBucketCount> kLimits = MakeLimits();
static_assert(kLimits[4] == 6 && kLimits[7] == 22 && kLimits[11] == 110 && kLimits[12] == 170);
static_assert(kLimits.back() > UINT64_MAX / 3 * 2);

// The exclusive lower limit of a bucket.
double BucketStart(size_t bucket_index) {
  return bucket_index == 0 ? 0 : static_cast<double>(kLimits[bucket_index - 1]);
}

}  // namespace

uint64_t HistogramBucketLimit(size_t bucket_index) {
  assert(bucket_index < kHistogramBucketCount);
  return kLimits[bucket_index];
}

// Returns the first bucket whose inclusive upper limit is not below the value. Values above all
// limits belong to the last bucket. Takes about seven comparisons.
size_t HistogramBucketOf(uint64_t value) {
  const auto it = std::lower_bound(kLimits.begin(), kLimits.end(), value);
  if (it == kLimits.end()) return kHistogramBucketCount - 1;
  return static_cast<size_t>(it - kLimits.begin());
}

// The sum wraps around at 2^64, like all counters.
void Histogram::Add(uint64_t value) {
  ++buckets_[HistogramBucketOf(value)];
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  ++count_;
  assert(min_ <= max_);
  sum_ += value;
  sum_of_squares_ += static_cast<double>(value) * static_cast<double>(value);
}

// The minimum of an empty histogram is UINT64_MAX, so merging it changes nothing.
void Histogram::Merge(const Histogram& other) {
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
  for (size_t i = 0; i < kHistogramBucketCount; ++i) buckets_[i] += other.buckets_[i];
}

double Histogram::Average() const {
  return empty() ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

// Computed from the sums. Rounding may make the variance slightly negative, which counts as 0.
double Histogram::StandardDeviation() const {
  if (empty()) return 0;
  const double average = Average();
  const double variance = sum_of_squares_ / static_cast<double>(count_) - average * average;
  return std::sqrt(std::max(variance, 0.0));
}

// Assumes that the values within a bucket are spread evenly.
double Histogram::Percentile(double p) const {
  assert(p >= 0);
  assert(p <= 100);
  if (empty()) return 0;
  const double threshold = static_cast<double>(count_) * (p / 100.0);
  uint64_t before = 0;
  for (size_t i = 0; i < kHistogramBucketCount; ++i) {
    const uint64_t in_bucket = buckets_[i];
    if (in_bucket == 0) continue;
    if (static_cast<double>(before + in_bucket) < threshold) {
      before += in_bucket;
      continue;
    }
    const double share = (threshold - static_cast<double>(before)) / static_cast<double>(in_bucket);
    const double start = BucketStart(i);
    const double estimate = start + (static_cast<double>(kLimits[i]) - start) * share;
    // Interpolation could leave the range of the recorded values.
    return std::clamp(estimate, static_cast<double>(min()), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}
// The numbers that the statistics print.

HistogramData Histogram::Data() const {
  HistogramData data{};
  data.median = Median();
  data.percentile95 = Percentile(95);
  data.percentile99 = Percentile(99);
  data.average = Average();
  data.standard_deviation = StandardDeviation();
  data.max = static_cast<double>(max_);
  data.min = static_cast<double>(min());
  data.count = count_;
  data.sum = sum_;
  return data;
}

// Several lines, in the form of RocksDB, since scripts parse them.
std::string Histogram::ToString() const {
  char line[256];
  snprintf(line, sizeof(line), "Count: %" PRIu64 " Average: %.4f  StdDev: %.2f\n", count_,
           Average(), StandardDeviation());
  std::string text = line;
  snprintf(line, sizeof(line), "Min: %" PRIu64 "  Median: %.4f  Max: %" PRIu64 "\n", min(),
           Median(), max_);
  text += line;
  snprintf(line, sizeof(line),
           "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f\n", Percentile(50),
           Percentile(75), Percentile(99), Percentile(99.9), Percentile(99.99));
  text += line;
  text += std::string(54, '-');
  text += '\n';
  const double percent_per_entry = empty() ? 0 : 100.0 / static_cast<double>(count_);
  uint64_t cumulative = 0;
  for (size_t i = 0; i < kHistogramBucketCount; ++i) {
    if (buckets_[i] == 0) continue;
    cumulative += buckets_[i];
    const double percent = percent_per_entry * static_cast<double>(buckets_[i]);
    snprintf(line, sizeof(line), "%c %7" PRIu64 ", %7" PRIu64 " ] %8" PRIu64 " %7.3f%% %7.3f%% ",
             i == 0 ? '[' : '(', i == 0 ? 0 : kLimits[i - 1], kLimits[i], buckets_[i], percent,
             percent_per_entry * static_cast<double>(cumulative));
    text += line;
    text.append(static_cast<size_t>(percent / 5 + 0.5), '#');  // one mark per 5 %
    text += '\n';
  }
  return text;
}

// The counters are relaxed, so a reader may see a value in some of them and not yet in others.
void HistogramShard::Add(uint64_t value) {
  buckets_[HistogramBucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  uint64_t seen = min_.load(std::memory_order_relaxed);
  while (value < seen && !min_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
  seen = max_.load(std::memory_order_relaxed);
  while (value > seen && !max_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
  sum_.fetch_add(value, std::memory_order_relaxed);
  const double square = static_cast<double>(value) * static_cast<double>(value);
  sum_of_squares_.fetch_add(square, std::memory_order_relaxed);
}

// The count is computed from the buckets, so that percentiles fit to it.
void HistogramShard::AddTo(Histogram* total) const {
  assert(total != nullptr);
  for (size_t i = 0; i < kHistogramBucketCount; ++i) {
    const uint64_t in_bucket = buckets_[i].load(std::memory_order_relaxed);
    total->buckets_[i] += in_bucket;
    total->count_ += in_bucket;
  }
  total->min_ = std::min(total->min_, min_.load(std::memory_order_relaxed));
  total->max_ = std::max(total->max_, max_.load(std::memory_order_relaxed));
  total->sum_ += sum_.load(std::memory_order_relaxed);
  total->sum_of_squares_ += sum_of_squares_.load(std::memory_order_relaxed);
}

// A value that is added at the same time may be counted in part.
void HistogramShard::Clear() {
  for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
  min_.store(UINT64_MAX, std::memory_order_relaxed);
  max_.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  sum_of_squares_.store(0, std::memory_order_relaxed);
}

}  // namespace ashlar
