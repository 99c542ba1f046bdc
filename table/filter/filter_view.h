// SPDX-License-Identifier: Apache-2.0
//
// FilterView answers "may this file hold the key?" from the bytes of one filter block, whichever
// algorithm wrote it. Its last five bytes say which. docs/formats/filters.md.
//
// A filter that is not understood answers yes: nothing in it can make a lookup fail. The view
// borrows the bytes and never changes: any thread may ask.
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
  FilterView() = default;  // always yes
  explicit FilterView(const Slice& contents);

  // False if no key is ever rejected: the filter need not be asked.
  bool CanReject() const { return kind_ != Kind::kAlwaysTrue; }

  // `Item` has Key(), the key or prefix, and FilterHash(), its FilterHash64, perhaps remembered.
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
  bool MayContain(const Slice& key) const;
  // The same for a hash as builders keep it: the 32-bit one of a legacy filter, else FilterHash64.
  bool MayContainHash(uint64_t hash) const;

  // Starts loading what MayContain() will touch for a key of this hash.
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
  void ParseBloom(const Slice& bits, const unsigned char* metadata);
  void ParseLegacyBloom(const Slice& bits, const unsigned char* metadata);
  void ParseRibbon(const Slice& bits, const unsigned char* metadata);
  bool LegacyBloomMayContain(uint32_t hash) const;
  bool RibbonMayContain(uint64_t hash) const;

  const char* data_ = nullptr;     // the filter block, somebody else's
  Kind kind_ = Kind::kAlwaysTrue;  // stays so where anything is not understood
  uint8_t line_shift_ = 6;         // legacy Bloom: log2 of the bytes of a line
  int probe_count_ = 0;            // Bloom, both kinds
  uint32_t line_count_ = 0;        // Bloom: lines; Ribbon: blocks of 128 slots
  uint32_t raw_seed_ = 0;          // Ribbon
  RibbonColumns columns_;          // Ribbon
};

}  // namespace ashlar
