// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of the Ribbon filter, used by builders and readers. docs/formats/filters.md,
// section 6. A row has 128 coefficients; results have up to 32 columns.
//
//   filter block = segments of 16 bytes, block after block, one for each column of the block
//                  | five bytes: the kind of the filter, its seed and its number of blocks
//
// Threads: pure functions over the caller's bytes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace ashlar {

using Bits128 = unsigned __int128;

inline constexpr uint32_t kRibbonBlockSlots = 128;
inline constexpr size_t kRibbonSegmentBytes = 16;
inline constexpr uint32_t kRibbonMaxColumns = 32;

inline uint32_t RibbonParity(Bits128 bits) {
  return static_cast<uint32_t>(
      __builtin_parityll(static_cast<uint64_t>(bits) ^ static_cast<uint64_t>(bits >> 64)));
}

// The seed for the hash, from the small number that the filter stores.
inline uint32_t RibbonRawSeed(uint8_t ordinal_seed) {
  uint64_t seed = ordinal_seed * 0xc78219a23eeadd03ull;
  seed ^= (seed & 0xf0f0f0f0f0f0f0f0ull) >> 4;
  return static_cast<uint32_t>(seed);
}

// The equation of a key: `result` is the parity of those slots behind `start` that `coefficients`
// selects.
struct RibbonEquation {
  uint64_t start = 0;        // at most slot_count - 128
  Bits128 coefficients = 0;  // the lowest bit is always set
  uint32_t result = 0;       // one bit for each column
};

inline RibbonEquation RibbonEquationOf(uint64_t filter_hash, uint32_t raw_seed,
                                       uint64_t slot_count) {
  assert(slot_count >= kRibbonBlockSlots);
  const uint64_t mixed = (filter_hash ^ raw_seed) * 0x6193d459236a3a0dull;
  const uint64_t a = mixed * 0xc28f82822b650bedull;
  const uint64_t start_count = slot_count - kRibbonBlockSlots + 1;
  return {.start = static_cast<uint64_t>((Bits128{mixed} * start_count) >> 64),
          .coefficients = Bits128{a} << 64 | (a ^ 0xc367844a6e52731dull) | 1,
          .result = static_cast<uint32_t>(__builtin_bswap64(a))};
}

// Which segments belong to which block. The first blocks may have one column less than the others.
class RibbonColumns {
 public:
  RibbonColumns() = default;
  RibbonColumns(uint64_t segment_count, uint32_t block_count) {
    assert(segment_count != 0);
    assert(block_count != 0);
    uint64_t most = (segment_count + block_count - 1) / block_count;
    uint64_t upper_start = most * block_count - segment_count;
    if (most > kRibbonMaxColumns) {
      most = kRibbonMaxColumns;
      upper_start = 0;
    }
    most_ = static_cast<uint32_t>(most);
    upper_start_ = static_cast<uint32_t>(upper_start);
  }

  uint32_t CountIn(uint32_t block) const { return most_ - (block < upper_start_ ? 1 : 0); }
  uint64_t FirstSegmentOf(uint32_t block) const {
    return uint64_t{block} * most_ - std::min(block, upper_start_);
  }

 private:
  uint32_t most_ = 0;         // number of columns of the blocks from upper_start_ on
  uint32_t upper_start_ = 0;  // blocks before this one have one column less
};

}  // namespace ashlar
