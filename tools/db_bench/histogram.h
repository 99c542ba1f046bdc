// SPDX-License-Identifier: Apache-2.0
//
// Histogram of operation times in microseconds, printed in the shape RocksDB's users know. One
// thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ashlar {
namespace bench {

class Histogram {
 public:
  Histogram();
  void Add(uint64_t micros);
  void Merge(const Histogram& other);
  std::string ToString() const;

 private:
  // Bounds grow by half, rounded to two digits: 1, 2, 3, 4, 6, 10, 15, 22 ... beyond 10^19.
  static constexpr size_t kMaxBuckets = 128;

  double Percentile(double percent) const;
  double StandardDeviation() const;

  std::array<uint64_t, kMaxBuckets> bucket_counts_{};
  uint64_t count_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

}  // namespace bench
}  // namespace ashlar
