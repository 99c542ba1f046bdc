// SPDX-License-Identifier: Apache-2.0
//
// FilterView answers whether a file may contain a key, from the bytes of one filter block of any
// kind. The last five bytes name the kind. docs/formats/filters.md.
//
// A filter of an unknown kind always answers yes: nothing in a filter can make a lookup fail. The
// view borrows the bytes and never changes: any thread may ask.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "table/filter/bloom.h"
#include "table/filter/ribbon.h"
#include "util/hash/hash.h"

namespace ashlar {

class FilterView {
 public:
  FilterView() = default;  // answers always yes
  // Recognises the filter. `contents` must outlive the view.
  explicit FilterView(const Slice& contents);

  // False if no key is ever rejected, so the filter does not need to be asked.
  bool CanReject() const { return kind_ != Kind::kAlwaysTrue; }

  // False only if the key was not added. `Item` has Key(), the key or prefix, and FilterHash(), its
  // FilterHash64, which it may compute lazily.
  template <typename Item>
  bool MayContainItem(const Item& item) const {
    switch (kind_) {
      case Kind::kBloom:
        return cache_local_bloom::MayMatch(item.FilterHash(), probe_count_,
                                           LineOf(item.FilterHash()));
      case Kind::kRibbon: return RibbonMayContain(item.FilterHash());
      case Kind::kLegacyBloom: return LegacyBloomMayContain(LegacyHash(item.Key()));
      case Kind::kAlwaysFalse: return false;
      case Kind::kAlwaysTrue: break;
    }
    return true;
  }
  // Like the function above, but takes the key or prefix itself instead of its hash.
  bool MayContain(const Slice& key) const;
  // The same for a hash from a builder: the 32-bit hash for a legacy filter, else FilterHash64.
  bool MayContainHash(uint64_t hash) const;

  // Starts loading the memory that MayContain() will read for a key with this hash.
  void Prefetch(uint64_t filter_hash) const {
    if (kind_ == Kind::kBloom) __builtin_prefetch(LineOf(filter_hash));
  }

 private:
  enum class Kind : uint8_t { kAlwaysTrue, kAlwaysFalse, kBloom, kLegacyBloom, kRibbon };

  const char* LineOf(uint64_t hash) const {
    assert(line_count_ != 0);
    return data_ + kBloomLineBytes * FastRange32(static_cast<uint32_t>(hash), line_count_);
  }
  static uint32_t LegacyHash(const Slice& key) {
    return Hash32(key.data(), key.size(), kLegacyBloomSeed);
  }
  // Each sets kind_ and the numbers of a filter of this kind, if they are valid.
  void ParseBloom(const Slice& bits, const unsigned char* metadata);
  void ParseLegacyBloom(const Slice& bits, const unsigned char* metadata);
  void ParseRibbon(const Slice& bits, const unsigned char* metadata);
  bool LegacyBloomMayContain(uint32_t hash) const;
  bool RibbonMayContain(uint64_t hash) const;

  const char* data_ = nullptr;     // the filter block; borrowed
  Kind kind_ = Kind::kAlwaysTrue;  // stays so if anything is unknown or invalid
  uint8_t line_shift_ = 6;         // legacy Bloom: log2 of the bytes of a line
  int probe_count_ = 0;            // both kinds of Bloom filters
  uint32_t line_count_ = 0;        // Bloom: number of lines; Ribbon: number of blocks of 128 slots
  uint32_t raw_seed_ = 0;          // Ribbon only
  RibbonColumns columns_;          // Ribbon only
};

}  // namespace ashlar
