// SPDX-License-Identifier: Apache-2.0
//
// Latencies of one thread, counted in buckets that are at most a sixteenth wide, so that another
// thread can collect the new counts without stopping the first one.
//
// Threads: one adds, one collects.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace steadiness {

// The bucket of a number: determined by its highest bit and the four bits after it.
class Buckets {
 public:
  static constexpr uint32_t kSteps = 16, kCount = kSteps * 40;

  static uint32_t IndexOf(uint64_t value) {
    if (value < kSteps) return static_cast<uint32_t>(value);
    const auto top = static_cast<uint32_t>(63 - __builtin_clzll(value));
    const uint32_t shift = top - 4;
    const uint32_t index = (shift + 1) * kSteps + static_cast<uint32_t>(value >> shift) - kSteps;
    return index < kCount ? index : kCount - 1;
  }
  // The largest value of a bucket.
  static uint64_t LargestOf(uint32_t index) {
    if (index < kSteps) return index;
    const uint32_t shift = index / kSteps - 1;
    return ((uint64_t{index % kSteps + kSteps + 1}) << shift) - 1;
  }
};

struct Counts {
  std::array<uint64_t, Buckets::kCount> counts{};
  uint64_t total = 0;
  uint64_t max = 0;

  void Add(const Counts& other) {
    for (uint32_t i = 0; i < Buckets::kCount; i++) counts[i] += other.counts[i];
    total += other.total;
    if (other.max > max) max = other.max;
  }
  // The smallest value that is not exceeded by the given share of all values.
  uint64_t At(double share) const {
    const double wanted = share * static_cast<double>(total);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < Buckets::kCount; i++) {
      seen += counts[i];
      if (seen > 0 && static_cast<double>(seen) >= wanted) {
        return Buckets::LargestOf(i) < max ? Buckets::LargestOf(i) : max;
      }
    }
    return max;
  }
};

class Latencies {
 public:
  void Add(uint64_t micros) {
    counts_[Buckets::IndexOf(micros)].fetch_add(1, std::memory_order_relaxed);
    if (micros > max_.load(std::memory_order_relaxed)) {
      max_.store(micros, std::memory_order_relaxed);
    }
  }
  // The counts added since the last call.
  Counts Take() {
    Counts result;
    for (uint32_t i = 0; i < Buckets::kCount; i++) {
      result.counts[i] = counts_[i].exchange(0, std::memory_order_relaxed);
      result.total += result.counts[i];
    }
    result.max = max_.exchange(0, std::memory_order_relaxed);
    return result;
  }

 private:
  std::array<std::atomic<uint64_t>, Buckets::kCount> counts_{};
  std::atomic<uint64_t> max_{0};
};

}  // namespace steadiness
