// SPDX-License-Identifier: Apache-2.0
//
// A large filter does not fit into the CPU caches. Therefore the line of a key is prefetched, and
// its bits are set a few keys later.
#include "table/filter/full_filter_builder.h"

#include <algorithm>
#include <cassert>

#include "ashlar/slice_transform.h"
#include "table/filter/bloom.h"
#include "table/filter/filter_view.h"
#include "table/filter/ribbon.h"
#include "table/filter/ribbon_builder.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr size_t kPrefetchDistance = 8;  // a power of two
constexpr char kCacheLocalMark = static_cast<char>(0xff);
// The largest number of whole lines below 4 GiB.
constexpr uint64_t kMaxBitsBytes = 0xffffffc0;
constexpr int kLegacyLog2LineBytes = 6;

// For each hash calls line_of(hash), prefetches the line, and kPrefetchDistance hashes later calls
// set(hash, line).
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
  if (size_ < pieces_.size() * kPieceHashes) return;  // Clear() has kept this piece
  assert(size_ == pieces_.size() * kPieceHashes);     // all pieces are full
  pieces_.emplace_back(kPieceHashes * sizeof(uint64_t));
}

void HashList::Clear() {
  size_ = 0;
  if (pieces_.size() > 1) pieces_.resize(1);
  assert(empty());
}

// A key outside of the extractor's domain has no prefix and is added only as a whole.
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

// Both comparisons use the state before this key. Which duplicates are dropped decides the size of
// the filter, so this must be the same as in RocksDB.
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

void FullFilterBuilder::AddPrefixOfNeighbour(const Slice& user_key) {
  if (options_.prefix_extractor == nullptr) return;
  if (!options_.prefix_extractor->InDomain(user_key)) return;
  const uint64_t hash = Hash(options_.prefix_extractor->Transform(user_key));
  if (has_previous_prefix_ && hash == previous_prefix_hash_) return;
  AddHash(hash);
  if (!options_.add_whole_keys) return;
  previous_prefix_hash_ = hash;
  has_previous_prefix_ = true;
}

uint32_t FullFilterBuilder::CacheLocalBytesFor(size_t entry_count) const {
  const uint64_t bits_bytes = (entry_count * uint64_t{options_.millibits_per_key} + 7999) / 8000;
  const uint64_t whole_lines = (bits_bytes + kBloomLineBytes - 1) & ~uint64_t{kBloomLineBytes - 1};
  return static_cast<uint32_t>(std::min(whole_lines, kMaxBitsBytes));
}

int FullFilterBuilder::CacheLocalProbes() const {
  assert(!hashes_.empty());
  uint64_t millibits = options_.millibits_per_key;
  if (options_.fit_probes_to_size) {
    const uint64_t bytes = CacheLocalBytesFor(hashes_.size());
    millibits = std::min<uint64_t>(bytes * 8000 / hashes_.size(), UINT32_MAX);
  }
  return cache_local_bloom::ProbesFor(static_cast<uint32_t>(millibits));
}

uint32_t FullFilterBuilder::LegacyLineCountFor(size_t entry_count) const {
  constexpr uint64_t kMaxBits = 0xffff0000, kLineBits = kBloomLineBytes * 8;
  const uint64_t bits_per_key = (options_.millibits_per_key + 500) / 1000;
  const uint64_t bits = std::min(entry_count * bits_per_key, kMaxBits);
  // An odd number of lines spreads `hash mod lines` better.
  return static_cast<uint32_t>((bits + kLineBits - 1) / kLineBits) | 1;
}

int FullFilterBuilder::LegacyProbes() const {
  const double bits_per_key = (options_.millibits_per_key + 500) / 1000;
  return std::clamp(static_cast<int>(bits_per_key * 0.69), 1, 30);
}

// A small Ribbon filter is rounded up by more than it saves.
RibbonShape FullFilterBuilder::RibbonFor(size_t entry_count, uint64_t first_hash) const {
  constexpr uint32_t kFewSlots = 1024;
  const RibbonShape shape = RibbonShapeFor(entry_count, first_hash, options_.millibits_per_key);
  const bool is_worth_it =
      shape.slot_count >= kFewSlots || shape.bits_bytes <= CacheLocalBytesFor(entry_count);
  return is_worth_it ? shape : RibbonShape{};
}

size_t FullFilterBuilder::BytesFor(size_t entry_count, uint64_t first_hash) const {
  assert(entry_count != 0);
  if (options_.kind == FilterForm::kLegacy) {
    return size_t{LegacyLineCountFor(entry_count)} * kBloomLineBytes + kBloomMetadataBytes;
  }
  const size_t bloom_bytes = CacheLocalBytesFor(entry_count) + kBloomMetadataBytes;
  if (options_.kind == FilterForm::kCacheLocal) return bloom_bytes;
  const RibbonShape shape = RibbonFor(entry_count, first_hash);
  return shape.slot_count != 0 ? shape.bits_bytes + kBloomMetadataBytes : bloom_bytes;
}

size_t FullFilterBuilder::EstimateBytes() const {
  return hashes_.empty() ? 0 : BytesFor(hashes_.size(), hashes_[0]);
}

// Uses a binary search, because the size of a Ribbon filter has no inverse function.
size_t FullFilterBuilder::CapacityOf(size_t bytes) const {
  constexpr uint64_t kMeanHash = uint64_t{1} << 63;
  constexpr size_t kMostEntriesPerByte = 16;
  const size_t one_line = kBloomLineBytes + kBloomMetadataBytes;
  const size_t limit = std::max(bytes, one_line);
  size_t fits = 1, too_many = limit * kMostEntriesPerByte;
  while (too_many - fits > 1) {
    const size_t middle = fits + (too_many - fits) / 2;
    (BytesFor(middle, kMeanHash) <= limit ? fits : too_many) = middle;
  }
  return fits;
}

size_t FullFilterBuilder::ConstructionBytes() const {
  if (options_.kind != FilterForm::kRibbon || hashes_.empty()) return 0;
  return RibbonFor(hashes_.size(), hashes_[0]).construction_bytes();
}

PageString FullFilterBuilder::Finish(Memory memory) {
  PageString filter;
  if (!hashes_.empty()) {
    switch (options_.kind) {
      case FilterForm::kCacheLocal: filter = FinishCacheLocal(); break;
      case FilterForm::kLegacy: filter = FinishLegacy(); break;
      case FilterForm::kRibbon:
        filter = memory == Memory::kAmple ? FinishRibbon() : FinishCacheLocal();
        break;
    }
  }
  finished_bytes_ = filter.size();
  return filter;
}

void FullFilterBuilder::Reset() {
  hashes_.Clear();
  has_previous_prefix_ = false;
  finished_bytes_ = 0;
  assert(entry_count() == 0);
}

PageString FullFilterBuilder::FinishRibbon() {
  assert(!hashes_.empty());
  assert(options_.kind == FilterForm::kRibbon);
  const RibbonShape shape = RibbonFor(hashes_.size(), hashes_[0]);
  PageString filter;
  if (shape.slot_count != 0) filter = BuildRibbon(&hashes_, shape);
  return filter.empty() ? FinishCacheLocal() : filter;
}

PageString FullFilterBuilder::FinishCacheLocal() const {
  assert(!hashes_.empty());
  const uint32_t bits_bytes = CacheLocalBytesFor(hashes_.size());
  assert(bits_bytes != 0);
  assert(bits_bytes % kBloomLineBytes == 0);
  const int probes = CacheLocalProbes();
  PageString filter(bits_bytes + kBloomMetadataBytes, '\0');
  char* const bits = filter.data();
  ForEachLine(
      hashes_,
      [=](uint64_t hash) { return bits + cache_local_bloom::LineOffset(hash, bits_bytes); },
      [=](uint64_t hash, char* line) { cache_local_bloom::Add(hash, probes, line); });
  char* const metadata = bits + bits_bytes;  // mark, kind 0, number of probes, two reserved bytes
  metadata[0] = kCacheLocalMark;
  metadata[2] = static_cast<char>(probes);
  return filter;
}

PageString FullFilterBuilder::FinishLegacy() const {
  assert(!hashes_.empty());
  const uint32_t line_count = LegacyLineCountFor(hashes_.size());
  assert(line_count % 2 == 1);
  const int probes = LegacyProbes();
  const size_t bits_bytes = size_t{line_count} * kBloomLineBytes;
  PageString filter(bits_bytes + kBloomMetadataBytes, '\0');
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
  const FilterView view(filter);
  // A damaged filter that is not recognised would match everything.
  const bool is_sound = filter.size() == finished_bytes_ && !hashes_.empty() && view.CanReject();
  size_t missing = is_sound ? 0 : hashes_.size();
  for (size_t i = 0; is_sound && i < hashes_.size(); ++i) {
    missing += view.MayContainHash(hashes_[i]) ? 0 : 1;
  }
  if (missing == 0 && is_sound) return Status::OK();
  return Status::Corruption(StrCat("filter: ", missing, " of ", hashes_.size(),
                                   " keys are missing from the new filter; check the memory"));
}

}  // namespace ashlar
