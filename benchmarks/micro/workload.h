// SPDX-License-Identifier: Apache-2.0
//
// Keys of the micro-benchmarks, in the form of db_bench: a number in 8 bytes, then '0' up to 16
// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/random.h"

namespace ashlar {

inline std::string BenchKey(uint64_t number) {
  std::string key(16, '0');
  for (size_t i = 0; i < 8; ++i) key[7 - i] = static_cast<char>(number >> (8 * i));
  return key;
}

inline std::string BenchInternalKey(uint64_t number, SequenceNumber seqno) {
  std::string key = BenchKey(number);
  const uint64_t trailer = PackTrailer(seqno, kTypeValue);
  for (size_t i = 0; i < 8; ++i) key.push_back(static_cast<char>(trailer >> (8 * i)));
  return key;
}

// Keys of `count` random numbers below `range`, generated before the measurement.
inline std::vector<std::string> RandomBenchKeys(size_t count, uint64_t range, uint64_t seed) {
  Random64 random(seed);
  std::vector<std::string> keys;
  keys.reserve(count);
  for (size_t i = 0; i < count; ++i) keys.push_back(BenchKey(random.Uniform(range)));
  return keys;
}

}  // namespace ashlar
