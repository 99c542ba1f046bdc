// SPDX-License-Identifier: Apache-2.0
//
// Recognises filters, and answers the queries that are not inline. Every number that decides which
// bytes are read is checked here once against the size of the block.
#include "table/filter/filter_view.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "util/keys/coding.h"

namespace ashlar {
namespace {

struct HashedKey {
  const Slice& key;
  const Slice& Key() const { return key; }
  uint64_t FilterHash() const { return FilterHash64(key); }
};

Bits128 LoadSegment(const char* p) {
  return Bits128{DecodeFixed64(p + 8)} << 64 | DecodeFixed64(p);
}

}  // namespace

FilterView::FilterView(const Slice& contents) : data_(contents.data()) {
  if (contents.empty()) return;
  if (contents.size() <= kBloomMetadataBytes) {
    kind_ = Kind::kAlwaysFalse;  // writers store this if no key was added
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
  const uint64_t segments = bits.size() / kRibbonSegmentBytes;
  if (blocks < 2 || segments == 0) return;
  raw_seed_ = RibbonRawSeed(metadata[1]);
  line_count_ = blocks;
  columns_ = RibbonColumns(segments, blocks);
  kind_ = Kind::kRibbon;
}

bool FilterView::MayContain(const Slice& key) const { return MayContainItem(HashedKey{key}); }

bool FilterView::MayContainHash(uint64_t hash) const {
  switch (kind_) {
    case Kind::kBloom: return cache_local_bloom::MayMatch(hash, probe_count_, LineOf(hash));
    case Kind::kRibbon: return RibbonMayContain(hash);
    case Kind::kLegacyBloom: return LegacyBloomMayContain(static_cast<uint32_t>(hash));
    case Kind::kAlwaysFalse: return false;
    case Kind::kAlwaysTrue: break;
  }
  return true;
}

bool FilterView::LegacyBloomMayContain(uint32_t hash) const {
  assert(kind_ == Kind::kLegacyBloom);
  const char* const line = data_ + legacy_bloom::LineOffset(hash, line_count_, line_shift_);
  return legacy_bloom::MayMatch(hash, probe_count_, line_shift_, line);
}

// Each column of the solution must give the corresponding bit of the result. An equation that
// begins inside a block continues in the next one, so that up to two segments are read for each
// column. Stops at the first column that differs.
bool FilterView::RibbonMayContain(uint64_t hash) const {
  assert(kind_ == Kind::kRibbon);
  const uint64_t slots = uint64_t{kRibbonBlockSlots} * line_count_;
  const RibbonEquation equation = RibbonEquationOf(hash, raw_seed_, slots);
  const auto block = static_cast<uint32_t>(equation.start / kRibbonBlockSlots);
  const auto shift = static_cast<uint32_t>(equation.start % kRibbonBlockSlots);
  const uint32_t columns = columns_.CountIn(block);
  const char* const here = data_ + kRibbonSegmentBytes * columns_.FirstSegmentOf(block);
  const char* const behind = here + kRibbonSegmentBytes * columns;
  for (uint32_t column = 0; column < columns; ++column) {
    Bits128 bits =
        LoadSegment(here + kRibbonSegmentBytes * column) & (equation.coefficients << shift);
    if (shift != 0) {
      bits ^= LoadSegment(behind + kRibbonSegmentBytes * column) &
              (equation.coefficients >> (kRibbonBlockSlots - shift));
    }
    if (RibbonParity(bits) != (equation.result >> column & 1)) return false;
  }
  return true;
}

}  // namespace ashlar
