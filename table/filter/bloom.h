// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the two Bloom filters, used by builders and readers. docs/formats/filters.md,
// sections 4 and 5. All bits of a key are in one 64-byte line, so a query costs one cache miss.
//
//   filter block = lines of 64 bytes | five bytes: the kind of the filter and the number of probes
//
// Threads: pure functions over the caller's bytes.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "util/hash/hash.h"

namespace ashlar {

inline constexpr size_t kBloomLineBytes = 64;
inline constexpr size_t kBloomMetadataBytes = 5;

// Cache-local Bloom (format_version 5 and later), over FilterHash64 of the key.
namespace cache_local_bloom {

inline constexpr int kMaxProbes = 30;  // stored in five bits; 0 and 31 have other meanings
inline constexpr uint32_t kMultiplier = 0x9e3779b9;

// The byte offset of the line of a key; `bits_bytes`, a multiple of 64, is the size of all lines.
inline uint32_t LineOffset(uint64_t hash, uint32_t bits_bytes) {
  assert(bits_bytes % kBloomLineBytes == 0);
  const uint32_t line_count = bits_bytes / kBloomLineBytes;
  return FastRange32(static_cast<uint32_t>(hash), line_count) * uint32_t{kBloomLineBytes};
}

// Sets the bits of a key in its line.
inline void Add(uint64_t hash, int probes, char* line) {
  assert(probes >= 1);
  assert(probes <= kMaxProbes);
  uint32_t x = static_cast<uint32_t>(hash >> 32);
  for (int i = 0; i < probes; ++i, x *= kMultiplier) {
    line[x >> 26] = static_cast<char>(line[x >> 26] | 1 << (x >> 23 & 7));
  }
}

// kMultiplier to the power of i. With these, the probes do not depend on each other.
inline constexpr std::array<uint32_t, kMaxProbes> kMultiplierPowers = [] {
  std::array<uint32_t, kMaxProbes> powers{};
  uint32_t power = 1;
  for (uint32_t& slot : powers) {
    slot = power;
    power *= kMultiplier;
  }
  return powers;
}();

// False if the key was not added. Hot: no branch on the bits of the filter, because one
// misprediction costs more than all probes.
inline bool MayMatch(uint64_t hash, int probes, const char* line) {
  assert(probes <= kMaxProbes);  // FilterView has checked it
  const uint32_t h = static_cast<uint32_t>(hash >> 32);
  uint32_t all = 1;
  for (int i = 0; i < probes; ++i) {
    const uint32_t x = h * kMultiplierPowers[static_cast<size_t>(i)];
    all &= static_cast<uint32_t>(static_cast<unsigned char>(line[x >> 26])) >> (x >> 23 & 7);
  }
  return (all & 1) != 0;
}

// The number of probes with the lowest false positive rate for this many bits per key, in 1/1000
// bits.
int ProbesFor(uint32_t millibits_per_key);

}  // namespace cache_local_bloom

// The Bloom filter of format_version 4 and earlier, over Hash32(key, kLegacyBloomSeed).
namespace legacy_bloom {

// `log2_line_bytes` is 6 in every filter that we write; filters from other platforms may have
// longer lines.
inline size_t LineOffset(uint32_t hash, uint32_t line_count, int log2_line_bytes) {
  assert(line_count != 0);
  return size_t{hash % line_count} << log2_line_bytes;
}

inline uint32_t Step(uint32_t hash) { return hash >> 17 | hash << 15; }

inline void Add(uint32_t hash, int probes, int log2_line_bytes, char* line) {
  const uint32_t bit_mask = (uint32_t{8} << log2_line_bytes) - 1;
  const uint32_t step = Step(hash);
  for (int i = 0; i < probes; ++i, hash += step) {
    const uint32_t bit = hash & bit_mask;
    line[bit >> 3] = static_cast<char>(line[bit >> 3] | 1 << (bit & 7));
  }
}

inline bool MayMatch(uint32_t hash, int probes, int log2_line_bytes, const char* line) {
  const uint32_t bit_mask = (uint32_t{8} << log2_line_bytes) - 1;
  const uint32_t step = Step(hash);
  uint32_t all = 1;
  for (int i = 0; i < probes; ++i, hash += step) {
    const uint32_t bit = hash & bit_mask;
    all &= static_cast<uint32_t>(static_cast<unsigned char>(line[bit >> 3])) >> (bit & 7);
  }
  return (all & 1) != 0;
}

}  // namespace legacy_bloom

}  // namespace ashlar
