// SPDX-License-Identifier: Apache-2.0
//
// Each key is converted to a number: the eight bytes behind the common prefix of all keys. Mean and
// variance of the gaps are updated with each key, by Welford's method.
#include "table/index/uniform_keys.h"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ashlar {

namespace {

// With fewer keys guessing saves nothing.
constexpr size_t kFewestKeys = 8;

uint64_t NumberBehind(const Slice& key, size_t prefix_bytes) {
  assert(prefix_bytes <= key.size());
  uint64_t number = 0;
  for (size_t i = prefix_bytes; i < prefix_bytes + sizeof(number); ++i) {
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return number;
}

}  // namespace

bool AreKeysUniform(std::span<const Slice> keys, double most_variation) {
  if (keys.size() < kFewestKeys || !(most_variation >= 0)) return false;
  const size_t prefix_bytes = keys.front().difference_offset(keys.back());  // keys are sorted
  uint64_t previous = NumberBehind(keys.front(), prefix_bytes);
  double mean = 0, squares = 0;  // the mean of the gaps, and the sum of squared distances from it
  for (size_t i = 1; i < keys.size(); ++i) {
    const uint64_t number = NumberBehind(keys[i], prefix_bytes);
    assert(previous <= number);
    const auto gap = static_cast<double>(number - previous);
    const double distance = gap - mean;
    mean += distance / static_cast<double>(i);
    squares += distance * (gap - mean);
    previous = number;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(keys.size() - 1));
  return deviation <= most_variation * mean;
}

}  // namespace ashlar
