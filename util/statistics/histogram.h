// SPDX-License-Identifier: Apache-2.0
//
// Histogram counts values by size class and estimates percentiles from the counts.
//
// The classes are those of RocksDB, so that printed percentiles can be compared: the limits grow by
// half, cut to two digits (1, 2, 3, 4, 6, 10, 15, 22, ...). HistogramShard is the same with relaxed
// atomics, for values that many threads record; a sum of shards need not be consistent. A Histogram
// is used by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/statistics.h"

namespace ashlar {

inline constexpr size_t kHistogramBucketCount = 109;

// The inclusive upper limit of a bucket. Limits are ascending. The last bucket also has all greater
// values.
uint64_t HistogramBucketLimit(size_t bucket_index);
// The bucket for `value`.
size_t HistogramBucketOf(uint64_t value);

// A value of about 900 bytes. Units are those of the caller.
class Histogram {
 public:
  void Clear() { *this = Histogram(); }
  void Add(uint64_t value);
  void Merge(const Histogram& other);

  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t min() const { return empty() ? 0 : min_; }
  uint64_t max() const { return max_; }
  double Average() const;
  double StandardDeviation() const;
  double Median() const { return Percentile(50.0); }
  // `p` is from 0 to 100.
  double Percentile(double p) const;

  // The summary of the public interface.
  HistogramData Data() const;
  // Several lines: count, average, percentiles, and a bar for each bucket.
  std::string ToString() const;

 private:
  friend class HistogramShard;

  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  double sum_of_squares_ = 0;
  std::array<uint64_t, kHistogramBucketCount> buckets_{};
};

// The shard of a histogram for one thread or a few. Usually one thread writes, but any thread may
// write or read. All orders are relaxed, because the counters publish no other data.
class HistogramShard {
 public:
  void Add(uint64_t value);
  void AddTo(Histogram* total) const;
  void Clear();

 private:
  std::atomic<uint64_t> min_{UINT64_MAX};
  std::atomic<uint64_t> max_{0};
  std::atomic<uint64_t> sum_{0};
  std::atomic<double> sum_of_squares_{0};
  std::array<std::atomic<uint64_t>, kHistogramBucketCount> buckets_{};
};

}  // namespace ashlar
