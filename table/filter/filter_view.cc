// SPDX-License-Identifier: Apache-2.0
//
// Recognising filters, and the queries that are not inline. Every number that decides where bits
// are read is checked here once against the size of the block.
#include "table/filter/filter_view.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "util/coding.h"

namespace ashlar {
namespace {

constexpr uint32_t kRibbonBlockSlots = 128;
constexpr size_t kSegmentBytes = 16;
constexpr uint32_t kMaxColumns = 32;

struct HashedKey {
  const Slice& key;
  const Slice& Key() const { return key; }
  uint64_t FilterHash() const { return FilterHash64(key); }
};

using Bits128 = unsigned __int128;

Bits128 LoadSegment(const char* p) {
  return Bits128{DecodeFixed64(p + 8)} << 64 | DecodeFixed64(p);
}
uint32_t Parity(Bits128 bits) {
  return static_cast<uint32_t>(
      std::popcount(static_cast<uint64_t>(bits) ^ static_cast<uint64_t>(bits >> 64)) & 1);
}
uint64_t HighProduct(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((Bits128{a} * b) >> 64);
}

}  // namespace

FilterView::FilterView(const Slice& contents) : data_(contents.data()) {
  if (contents.empty()) return;
  if (contents.size() <= kBloomMetadataBytes) {
    kind_ = Kind::kAlwaysFalse;  // written for "no key was added"
    return;
  }
  const Slice bits(contents.data(), contents.size() - kBloomMetadataBytes);
  const auto* metadata = reinterpret_cast<const unsigned char*>(bits.data() + bits.size());
  const int marker = static_cast<signed char>(metadata[0]);
  if (marker > 0) ParseLegacyBloom(bits, metadata);
  if (marker == -1) ParseBloom(bits, metadata);
  if (marker == -2) ParseRibbon(bits, metadata);
}

void FilterView::ParseBloom(const Slice& bits, const unsigned char* metadata) {
  const int probe_count = metadata[2] & 31;
  const int line_log = metadata[2] >> 5;
  if (metadata[1] != 0 || metadata[3] != 0 || metadata[4] != 0) return;
  if (line_log != 0 || probe_count == 0 || probe_count > cache_local_bloom::kMaxProbes) return;
  if (bits.size() % kBloomLineBytes != 0 || bits.size() / kBloomLineBytes > UINT32_MAX) return;
  probe_count_ = probe_count;
  line_count_ = static_cast<uint32_t>(bits.size() / kBloomLineBytes);
  kind_ = Kind::kBloom;
}

void FilterView::ParseLegacyBloom(const Slice& bits, const unsigned char* metadata) {
  probe_count_ = metadata[0];
  line_count_ = DecodeFixed32(reinterpret_cast<const char*>(metadata + 1));
  if (line_count_ == 0 || bits.size() % line_count_ != 0) return;
  const size_t line_bytes = bits.size() / line_count_;
  if (!std::has_single_bit(line_bytes) || line_bytes > (size_t{1} << 20)) return;
  line_shift_ = static_cast<uint8_t>(std::countr_zero(line_bytes));
  kind_ = Kind::kLegacyBloom;
}

void FilterView::ParseRibbon(const Slice& bits, const unsigned char* metadata) {
  const uint32_t blocks = metadata[2] | metadata[3] << 8 | metadata[4] << 16;
  const uint64_t segments = bits.size() / kSegmentBytes;
  if (blocks < 2 || segments == 0) return;
  uint64_t columns = (segments + blocks - 1) / blocks;
  uint64_t upper_start = columns * blocks - segments;
  if (columns > kMaxColumns) {
    columns = kMaxColumns;
    upper_start = 0;
  }
  uint64_t seed = metadata[1] * 0xc78219a23eeadd03ull;
  seed ^= (seed & 0xf0f0f0f0f0f0f0f0ull) >> 4;
  raw_seed_ = static_cast<uint32_t>(seed);
  line_count_ = blocks;
  columns_ = static_cast<uint32_t>(columns);
  upper_start_ = static_cast<uint32_t>(upper_start);
  kind_ = Kind::kRibbon;
}

bool FilterView::MayContain(const Slice& key) const { return MayContainItem(HashedKey{key}); }

bool FilterView::LegacyBloomMayContain(const Slice& key) const {
  assert(kind_ == Kind::kLegacyBloom);
  const uint32_t hash = Hash32(key.data(), key.size(), kLegacyBloomSeed);
  const char* const line = data_ + legacy_bloom::LineOffset(hash, line_count_, line_shift_);
  return legacy_bloom::MayMatch(hash, probe_count_, line_shift_, line);
}

bool FilterView::RibbonMayContain(uint64_t hash) const {
  assert(kind_ == Kind::kRibbon);
  assert(columns_ <= kMaxColumns);
  const uint64_t slots = uint64_t{kRibbonBlockSlots} * line_count_;
  const uint64_t starts = slots - kRibbonBlockSlots + 1;
  const uint64_t mixed = (hash ^ raw_seed_) * 0x6193d459236a3a0dull;
  const uint64_t start = HighProduct(mixed, starts);
  const uint64_t a = mixed * 0xc28f82822b650bedull;
  const Bits128 coefficients = Bits128{a} << 64 | (a ^ 0xc367844a6e52731dull) | 1;
  const auto result = static_cast<uint32_t>(__builtin_bswap64(a));

  assert(start < starts);
  const auto block = static_cast<uint32_t>(start / kRibbonBlockSlots);
  const auto shift = static_cast<uint32_t>(start % kRibbonBlockSlots);
  const uint32_t columns = columns_ - (block < upper_start_ ? 1 : 0);
  const uint64_t segment = uint64_t{block} * columns_ - std::min<uint64_t>(block, upper_start_);
  const char* const here = data_ + kSegmentBytes * segment;
  const char* const behind = here + kSegmentBytes * columns;
  for (uint32_t column = 0; column < columns; ++column) {
    Bits128 bits = LoadSegment(here + kSegmentBytes * column) & (coefficients << shift);
    if (shift != 0) {
      bits ^= LoadSegment(behind + kSegmentBytes * column) &
              (coefficients >> (kRibbonBlockSlots - shift));
    }
    if (Parity(bits) != (result >> column & 1)) return false;
  }
  return true;
}

}  // namespace ashlar
