// SPDX-License-Identifier: Apache-2.0
//
// What the table code needs to know of a filter policy: its kind and size. The public FilterPolicy
// object only carries these. Immutable; thread safe.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/filter_policy.h"

namespace ashlar {

enum class FilterKind : uint8_t {
  kNone,    // no policy, or fewer than half a bit per key
  kBloom,   // current Bloom filter; the legacy one below format_version 5
  kRibbon,  // above bloom_before_level; Bloom otherwise
  kCustom,  // a policy of the user's own
};

struct FilterPolicyInfo {
  FilterKind kind = FilterKind::kNone;
  // Bloom: bits per key, in thousandths. Ribbon: those of the Bloom filter that is as precise.
  int millibits_per_key = 0;
  int bloom_before_level = 0;

  double bits_per_key() const { return millibits_per_key / 1000.0; }
};

// `policy` may be nullptr.
FilterPolicyInfo DescribeFilterPolicy(const FilterPolicy* policy);

// The name under which files record built-in filters.
inline constexpr char kBuiltinFilterName[] = "rocksdb.BuiltinBloomFilter";

// The policy behind NewBloomFilterPolicy() and NewRibbonFilterPolicy().
class BuiltinFilterPolicy final : public FilterPolicy {
 public:
  BuiltinFilterPolicy(FilterKind kind, double bits_per_key, int bloom_before_level);

  static const char* kClassName() { return "ashlar.BuiltinFilterPolicy"; }
  const char* Name() const override;
  std::string GetId() const override;  // "bloomfilter:10:false", "ribbonfilter:10:0"
  bool IsInstanceOf(const std::string& name) const override;
  const char* CompatibilityName() const override { return kBuiltinFilterName; }
  FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext&) const override;
  FilterBitsReader* GetFilterBitsReader(const Slice&) const override;

  const FilterPolicyInfo& info() const { return info_; }

 private:
  FilterKind named_kind_;  // stays when too few bits turn the filter off
  double given_bits_per_key_;
  FilterPolicyInfo info_;
};

}  // namespace ashlar
