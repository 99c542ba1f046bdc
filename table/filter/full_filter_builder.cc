// SPDX-License-Identifier: Apache-2.0
//
// A large filter does not fit into the caches, so the bits of a key are set a few keys after its
// line was prefetched.
#include "table/filter/full_filter_builder.h"

#include <algorithm>
#include <cassert>

#include "ashlar/slice_transform.h"
#include "table/filter/bloom.h"
#include "util/coding.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

constexpr size_t kPrefetchDistance = 8;  // a power of two
constexpr char kCacheLocalMark = static_cast<char>(0xff);
constexpr uint64_t kMaxBitsBytes = 0xffffffc0;
constexpr int kLegacyLog2LineBytes = 6;

// Calls line_of(hash) kPrefetchDistance hashes ahead of set(hash, line).
template <typename LineOf, typename Set>
void ForEachLine(const HashList& hashes, LineOf line_of, Set set) {
  char* lines[kPrefetchDistance];
  const size_t count = hashes.size();
  const size_t head = std::min(count, kPrefetchDistance);
  for (size_t i = 0; i < head; ++i) {
    lines[i] = line_of(hashes[i]);
    __builtin_prefetch(lines[i], /*rw=*/1);
  }
  for (size_t i = 0; i < count; ++i) {
    char*& slot = lines[i % kPrefetchDistance];
    set(hashes[i], slot);
    if (i + kPrefetchDistance >= count) continue;
    slot = line_of(hashes[i + kPrefetchDistance]);
    __builtin_prefetch(slot, /*rw=*/1);
  }
}

}  // namespace

void HashList::AddPiece() {
  assert(size_ == pieces_.size() * kPieceHashes);  // the pieces there are, are full
  pieces_.emplace_back(kPieceHashes * sizeof(uint64_t));
}

void FullFilterBuilder::AddKeyWithPrefix(const Slice& user_key) {
  assert(options_.prefix_extractor != nullptr);
  const SliceTransform& extractor = *options_.prefix_extractor;
  const bool is_in_domain = extractor.InDomain(user_key);
  if (options_.add_whole_keys && is_in_domain) {
    AddKeyAndPrefix(Hash(user_key), Hash(extractor.Transform(user_key)));
  } else if (options_.add_whole_keys) {
    AddHash(Hash(user_key));
  } else if (is_in_domain) {
    AddHash(Hash(extractor.Transform(user_key)));
  }
}

// Both comparisons are with the state before this key: the duplicates that are kept and dropped
// decide the size of the filter.
void FullFilterBuilder::AddKeyAndPrefix(uint64_t key_hash, uint64_t prefix_hash) {
  assert(options_.add_whole_keys);
  const bool has_last = !hashes_.empty();
  const uint64_t last = has_last ? hashes_.back() : 0;
  const bool has_prefix = has_previous_prefix_;
  const uint64_t previous_prefix = previous_prefix_hash_;
  const bool is_known_prefix = (has_prefix && prefix_hash == previous_prefix) ||
                               prefix_hash == key_hash || (has_last && prefix_hash == last);
  if (!is_known_prefix) hashes_.push_back(prefix_hash);
  previous_prefix_hash_ = prefix_hash;
  has_previous_prefix_ = true;
  const bool is_known_key =
      (has_last && key_hash == last) || (has_prefix && key_hash == previous_prefix);
  if (!is_known_key) hashes_.push_back(key_hash);
}

uint32_t FullFilterBuilder::CacheLocalBytes() const {
  const uint64_t bits_bytes = (hashes_.size() * uint64_t{options_.millibits_per_key} + 7999) / 8000;
  const uint64_t whole_lines = (bits_bytes + kBloomLineBytes - 1) & ~uint64_t{kBloomLineBytes - 1};
  return static_cast<uint32_t>(std::min(whole_lines, kMaxBitsBytes));
}

int FullFilterBuilder::CacheLocalProbes() const {
  assert(!hashes_.empty());
  uint64_t millibits = options_.millibits_per_key;
  if (options_.fit_probes_to_size) {
    millibits = std::min<uint64_t>(uint64_t{CacheLocalBytes()} * 8000 / hashes_.size(), UINT32_MAX);
  }
  return cache_local_bloom::ProbesFor(static_cast<uint32_t>(millibits));
}

uint32_t FullFilterBuilder::LegacyLineCount() const {
  constexpr uint64_t kMaxBits = 0xffff0000, kLineBits = kBloomLineBytes * 8;
  const uint64_t bits_per_key = (options_.millibits_per_key + 500) / 1000;
  const uint64_t bits = std::min(hashes_.size() * bits_per_key, kMaxBits);
  // An odd number of lines spreads `hash mod lines` better.
  return static_cast<uint32_t>((bits + kLineBits - 1) / kLineBits) | 1;
}

int FullFilterBuilder::LegacyProbes() const {
  const double bits_per_key = (options_.millibits_per_key + 500) / 1000;
  return std::clamp(static_cast<int>(bits_per_key * 0.69), 1, 30);
}

size_t FullFilterBuilder::EstimateBytes() const {
  if (hashes_.empty()) return 0;
  const size_t bits_bytes = options_.kind == BloomKind::kCacheLocal
                                ? CacheLocalBytes()
                                : size_t{LegacyLineCount()} * kBloomLineBytes;
  return bits_bytes + kBloomMetadataBytes;
}

std::string FullFilterBuilder::Finish() {
  if (hashes_.empty()) return {};
  return options_.kind == BloomKind::kCacheLocal ? FinishCacheLocal() : FinishLegacy();
}

std::string FullFilterBuilder::FinishCacheLocal() const {
  const uint32_t bits_bytes = CacheLocalBytes();
  assert(bits_bytes != 0);
  assert(bits_bytes % kBloomLineBytes == 0);
  const int probes = CacheLocalProbes();
  std::string filter(bits_bytes + kBloomMetadataBytes, '\0');
  char* const bits = filter.data();
  ForEachLine(
      hashes_,
      [=](uint64_t hash) { return bits + cache_local_bloom::LineOffset(hash, bits_bytes); },
      [=](uint64_t hash, char* line) { cache_local_bloom::Add(hash, probes, line); });
  char* const metadata = bits + bits_bytes;  // mark, kind 0, probes, two reserved bytes
  metadata[0] = kCacheLocalMark;
  metadata[2] = static_cast<char>(probes);
  return filter;
}

std::string FullFilterBuilder::FinishLegacy() const {
  const uint32_t line_count = LegacyLineCount();
  assert(line_count % 2 == 1);
  const int probes = LegacyProbes();
  const size_t bits_bytes = size_t{line_count} * kBloomLineBytes;
  std::string filter(bits_bytes + kBloomMetadataBytes, '\0');
  char* const bits = filter.data();
  ForEachLine(
      hashes_,
      [=](uint64_t hash) {
        return bits + legacy_bloom::LineOffset(static_cast<uint32_t>(hash), line_count,
                                               kLegacyLog2LineBytes);
      },
      [=](uint64_t hash, char* line) {
        legacy_bloom::Add(static_cast<uint32_t>(hash), probes, kLegacyLog2LineBytes, line);
      });
  bits[bits_bytes] = static_cast<char>(probes);
  EncodeFixed32(bits + bits_bytes + 1, line_count);
  return filter;
}

Status FullFilterBuilder::CheckFilter(const Slice& filter) const {
  if (hashes_.empty() && filter.empty()) return Status::OK();
  const bool is_right_size = filter.size() == EstimateBytes() && !hashes_.empty();
  size_t missing = is_right_size ? 0 : hashes_.size();
  if (is_right_size && options_.kind == BloomKind::kCacheLocal) {
    const uint32_t bits_bytes = CacheLocalBytes();
    const int probes = CacheLocalProbes();
    for (size_t i = 0; i < hashes_.size(); ++i) {
      const uint64_t hash = hashes_[i];
      const char* line = filter.data() + cache_local_bloom::LineOffset(hash, bits_bytes);
      missing += cache_local_bloom::MayMatch(hash, probes, line) ? 0 : 1;
    }
  } else if (is_right_size) {
    const uint32_t line_count = LegacyLineCount();
    const int probes = LegacyProbes();
    for (size_t i = 0; i < hashes_.size(); ++i) {
      const auto hash = static_cast<uint32_t>(hashes_[i]);
      const char* line =
          filter.data() + legacy_bloom::LineOffset(hash, line_count, kLegacyLog2LineBytes);
      missing += legacy_bloom::MayMatch(hash, probes, kLegacyLog2LineBytes, line) ? 0 : 1;
    }
  }
  if (missing == 0) return Status::OK();
  return Status::Corruption(StrCat("filter: ", missing, " of ", hashes_.size(),
                                   " keys are missing from the new filter; check the memory"));
}

}  // namespace ashlar
