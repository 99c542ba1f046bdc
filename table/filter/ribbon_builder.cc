// SPDX-License-Identifier: Apache-2.0
//
// Each key is an equation over 128 consecutive slots of a long vector: the parity of some of these
// slots must be the result of the key, one bit for each column.
//
//   banding:            equations are added one by one; each is stored at the slot of its first
//                       coefficient, after the equations that are stored there were subtracted
//   back substitution:  from the last slot to the first, the bits of each slot are computed from
//                       those of later slots
//
// If an equation becomes empty with a result other than 0, it contradicts the others; then
// everything starts again with another seed.
#include "table/filter/ribbon_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "table/filter/bloom.h"
#include "table/filter/ribbon.h"
#include "util/keys/coding.h"
#include "util/memory/page_buffer.h"

namespace ashlar {

namespace {

// For more, the number of blocks would not fit into three bytes.
constexpr size_t kMaxKeys = 950'000'000;
constexpr uint32_t kMinSlots = 2 * kRibbonBlockSlots;
constexpr char kRibbonMark = static_cast<char>(0xfe);

// The number of keys that fit into 2^i slots so that about every other seed succeeds.
double KeysForSlotsLog2(int log2) {
  constexpr double kKnown[] = {248.851, 499.532, 1001.26, 2003.97, 4005.59,
                               8000.39, 15966.6, 31828.1, 63447.3, 126506};
  constexpr int kFirst = 8, kLast = 17;
  constexpr double kGrowth = 0.0038;  // growth of the slots per key with each doubling
  if (log2 < kFirst) return 0;
  if (log2 <= kLast) return kKnown[log2 - kFirst];
  const double base = 131072.0 / kKnown[kLast - kFirst] - kLast * kGrowth;
  return static_cast<double>(uint64_t{1} << log2) / (base + log2 * kGrowth);
}

// Interpolates between powers of two.
uint32_t SlotsFor(size_t key_count) {
  assert(key_count >= 1);
  assert(key_count <= kMaxKeys);
  const auto keys = static_cast<double>(key_count);
  int log2 = static_cast<int>(std::log(keys) * 1.4426950409 + 0.5);
  double lower = KeysForSlotsLog2(log2);
  if (log2 == 0 || lower == 0) return kMinSlots;
  double upper = lower;
  if (keys < lower) {
    lower = KeysForSlotsLog2(--log2);
  } else {
    upper = KeysForSlotsLog2(log2 + 1);
  }
  const auto lower_slots = static_cast<double>(uint64_t{1} << log2);
  const double slots = (keys - lower) / (upper - lower) * lower_slots + lower_slots + 0.999999999;
  const auto whole = static_cast<uint64_t>(slots);
  const uint64_t blocks = (whole + kRibbonBlockSlots - 1) / kRibbonBlockSlots;
  return std::max(static_cast<uint32_t>(blocks * kRibbonBlockSlots), kMinSlots);
}

// 1 / the false positive rate of a cache-local Bloom filter. The rate is the mean of two lines,
// with one standard deviation more and less keys than the mean.
double OneInRate(uint32_t millibits_per_key) {
  assert(millibits_per_key != 0);
  const double bits_per_key = millibits_per_key / 1000.0;
  const int probes = cache_local_bloom::ProbesFor(millibits_per_key);
  const auto rate = [probes](double bits) {
    return std::pow(1.0 - std::exp(-probes / bits), probes);
  };
  const double keys_per_line = 512 / bits_per_key;
  const double deviation = std::sqrt(keys_per_line);
  const double crowded = rate(512 / (keys_per_line + deviation));
  const double sparse = rate(512 / (keys_per_line - deviation));
  return 1.0 / ((crowded + sparse) / 2);
}

// A column is a whole bit, so a part of the blocks gets one column less, such that the total rate
// is right.
size_t SegmentCount(uint32_t slot_count, uint64_t first_hash, double one_in) {
  const uint32_t blocks = slot_count / kRibbonBlockSlots;
  if (one_in >= 4294967295.0) return size_t{blocks} * kRibbonMaxColumns;
  if (!(one_in > 1)) return 1;
  const int low = std::bit_width(static_cast<uint32_t>(one_in)) - 1;
  const double rate = 1.0 / one_in;
  const double low_rate = std::ldexp(1.0, -low), high_rate = std::ldexp(1.0, -(low + 1));
  const double portion = (rate - high_rate) / (low_rate - high_rate);
  const double bias = (static_cast<double>(first_hash >> 32) + 0.5) / 4294967296.0;
  const double starts = slot_count - kRibbonBlockSlots + 1;
  const auto low_blocks = static_cast<uint32_t>((portion * starts + bias) / kRibbonBlockSlots);
  return size_t{blocks} * static_cast<size_t>(low) + blocks - std::min(low_blocks, blocks);
}

// The equations, stored by the slot of their first coefficient. A row without coefficients is free.
//
// The slots that are taken in the end, and so the filter, do not depend on the order in which
// equations are added. They are added in the order of the slots at which they start, in ranges of
// some thousand slots, because the rows of such a range fit into the CPU caches while those of a
// large filter do not. Also, a contradiction is then found halfway on average, and not near the
// end, when few slots are free.
class Banding {
 public:
  explicit Banding(const RibbonShape& shape)
      : slot_count_(shape.slot_count),
        rows_(size_t{slot_count_} * sizeof(Bits128)),
        results_(size_t{slot_count_} * sizeof(uint32_t)) {
    assert(rows_.size() + results_.size() >= shape.construction_bytes());
  }

  // Adds all hashes. False if they contradict each other with this seed.
  bool Solve(HashList* hashes, uint8_t ordinal_seed) {
    assert(hashes != nullptr);
    std::memset(rows_.data(), 0, size_t{slot_count_} * sizeof(Bits128));
    std::memset(results_.data(), 0, size_t{slot_count_} * sizeof(uint32_t));
    const uint32_t raw_seed = RibbonRawSeed(ordinal_seed);
    OrderBySlots(hashes, raw_seed);
    for (size_t i = 0; i < hashes->size(); ++i) {
      if (!Add(RibbonEquationOf((*hashes)[i], raw_seed, slot_count_))) return false;
    }
    return true;
  }

  Bits128 row(uint32_t slot) const { return rows()[slot]; }
  uint32_t result(uint32_t slot) const { return results()[slot]; }
  uint32_t slot_count() const { return slot_count_; }

 private:
  // Counts the hashes in each range of slots, then swaps each hash into its range, in place:
  // McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993), American flag sort.
  void OrderBySlots(HashList* hashes, uint32_t raw_seed) {
    // More ranges would not fit into the CPU caches.
    constexpr uint64_t kSlotsOfRange = 4096, kMostRanges = 2048;
    const uint64_t ranges = std::clamp<uint64_t>(slot_count_ / kSlotsOfRange, 1, kMostRanges);
    const uint64_t slots_of_range = slot_count_ / ranges + 1;
    const auto range_of = [&](uint64_t hash) {
      return RibbonEquationOf(hash, raw_seed, slot_count_).start / slots_of_range;
    };
    // For each range, the part that is not sorted yet.
    std::vector<size_t> next(ranges), end(ranges);
    for (size_t i = 0; i < hashes->size(); ++i) ++end[range_of((*hashes)[i])];
    for (size_t range = 1; range < ranges; ++range) {
      next[range] = end[range - 1];
      end[range] += end[range - 1];
    }
    assert(end[ranges - 1] == hashes->size());
    for (size_t range = 0; range < ranges; ++range) {
      while (next[range] < end[range]) {
        uint64_t hash = (*hashes)[next[range]];
        for (size_t of = range_of(hash); of != range; of = range_of(hash)) {
          std::swap(hash, (*hashes)[next[of]++]);
        }
        (*hashes)[next[range]++] = hash;
      }
    }
  }

  // Adds one equation. False if it contradicts the others.
  bool Add(RibbonEquation equation) {
    for (uint64_t slot = equation.start;;) {
      assert(slot < slot_count_);
      Bits128& row = rows()[slot];
      if (row == 0) {
        row = equation.coefficients;
        results()[slot] = equation.result;
        return true;
      }
      equation.coefficients ^= row;
      equation.result ^= results()[slot];
      if (equation.coefficients == 0) return equation.result == 0;
      const int zeros = TrailingZeros(equation.coefficients);
      equation.coefficients >>= zeros;
      slot += static_cast<uint64_t>(zeros);
    }
  }
  static int TrailingZeros(Bits128 bits) {
    assert(bits != 0);
    const auto low = static_cast<uint64_t>(bits);
    return low != 0 ? std::countr_zero(low)
                    : 64 + std::countr_zero(static_cast<uint64_t>(bits >> 64));
  }
  Bits128* rows() const { return reinterpret_cast<Bits128*>(rows_.data()); }
  uint32_t* results() const { return reinterpret_cast<uint32_t*>(results_.data()); }

  const uint32_t slot_count_;
  PageBuffer rows_;
  PageBuffer results_;
};

// Computes the slots, the last block first, and writes the segments of all blocks to `bits`.
void BackSubstitute(const Banding& banding, const RibbonColumns& columns, char* bits) {
  Bits128 state[kRibbonMaxColumns] = {};  // for each column, the 128 slots that were computed last
  const uint32_t blocks = banding.slot_count() / kRibbonBlockSlots;
  for (uint32_t block = blocks; block-- > 0;) {
    const uint32_t column_count = columns.CountIn(block);
    for (uint32_t i = kRibbonBlockSlots; i-- > 0;) {
      const uint32_t slot = block * kRibbonBlockSlots + i;
      const Bits128 row = banding.row(slot);
      const uint32_t result = banding.result(slot);
      for (uint32_t column = 0; column < column_count; ++column) {
        const Bits128 shifted = state[column] << 1;
        state[column] = shifted | (RibbonParity(shifted & row) ^ (result >> column & 1));
      }
    }
    char* const segment = bits + kRibbonSegmentBytes * columns.FirstSegmentOf(block);
    for (uint32_t column = 0; column < column_count; ++column) {
      EncodeFixed64(segment + kRibbonSegmentBytes * column, static_cast<uint64_t>(state[column]));
      EncodeFixed64(segment + kRibbonSegmentBytes * column + sizeof(uint64_t),
                    static_cast<uint64_t>(state[column] >> 64));
    }
  }
}

// Tries all seeds; empty if none works.
std::optional<uint8_t> FindSeed(HashList* hashes, Banding* banding) {
  assert(!hashes->empty());
  const auto first = static_cast<uint8_t>((*hashes)[0]);
  uint8_t seed = first;
  do {
    if (banding->Solve(hashes, seed)) return seed;
    ++seed;
  } while (seed != first);
  return std::nullopt;
}

}  // namespace

RibbonShape RibbonShapeFor(size_t key_count, uint64_t first_hash, uint32_t millibits_per_key) {
  if (key_count == 0 || key_count > kMaxKeys) return {};
  RibbonShape shape;
  shape.slot_count = SlotsFor(key_count);
  shape.bits_bytes = kRibbonSegmentBytes *
                     SegmentCount(shape.slot_count, first_hash, OneInRate(millibits_per_key));
  assert(shape.slot_count % kRibbonBlockSlots == 0);
  return shape;
}

PageString BuildRibbon(HashList* hashes, const RibbonShape& shape) {
  assert(!hashes->empty());
  assert(shape.slot_count >= kMinSlots);
  const uint32_t blocks = shape.slot_count / kRibbonBlockSlots;
  try {
    Banding banding(shape);
    const std::optional<uint8_t> seed = FindSeed(hashes, &banding);
    if (!seed.has_value()) return {};
    PageString filter(shape.bits_bytes + kBloomMetadataBytes, '\0');
    const RibbonColumns columns(shape.bits_bytes / kRibbonSegmentBytes, blocks);
    BackSubstitute(banding, columns, filter.data());
    char* const metadata = filter.data() + shape.bits_bytes;
    metadata[0] = kRibbonMark;
    metadata[1] = static_cast<char>(*seed);
    for (int i = 0; i < 3; ++i) metadata[2 + i] = static_cast<char>(blocks >> (8 * i));
    return filter;
  } catch (const std::bad_alloc&) {
    return {};  // a Bloom filter needs a twentieth of the memory
  }
}

}  // namespace ashlar
