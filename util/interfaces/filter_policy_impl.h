// SPDX-License-Identifier: Apache-2.0
//
// What the table code needs to know about a filter policy: its kind and size. A built-in
// FilterPolicy object only carries these. Immutable, for any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/filter_policy.h"

namespace ashlar {

// What a policy asks for. Which filter a table gets depends on its level and format version, too.
enum class FilterKind : uint8_t {
  kNone,    // no policy, or less than half a bit per key
  kBloom,   // the current Bloom filter; the legacy one below format_version 5
  kRibbon,  // Ribbon, but Bloom on levels above bloom_before_level
  kCustom,  // a policy written by the program
};

struct FilterPolicyInfo {
  FilterKind kind = FilterKind::kNone;
  // Bits per key in thousandths. For Ribbon filters, those of a Bloom filter with the same false
  // positive rate.
  int millibits_per_key = 0;
  // For Ribbon: levels above this one get Bloom filters, which are faster to build.
  int bloom_before_level = 0;

  double bits_per_key() const { return millibits_per_key / 1000.0; }
};

// `policy` may be null: then there is no filter.
FilterPolicyInfo DescribeFilterPolicy(const FilterPolicy* policy);

// The name that files record for all built-in filters.
inline constexpr char kBuiltinFilterName[] = "rocksdb.BuiltinBloomFilter";

// The class of the policies that NewBloomFilterPolicy() and NewRibbonFilterPolicy() return. It
// builds no filters itself: the table code does, according to info().
class BuiltinFilterPolicy final : public FilterPolicy {
 public:
  BuiltinFilterPolicy(FilterKind kind, double bits_per_key, int bloom_before_level);

  static const char* kClassName() { return "ashlar.BuiltinFilterPolicy"; }
  const char* Name() const override;
  std::string GetId() const override;  // "bloomfilter:10:false", "ribbonfilter:10:0"
  bool IsInstanceOf(const std::string& name) const override;
  const char* CompatibilityName() const override { return kBuiltinFilterName; }
  // Null, because the table code builds the filters of this class.
  FilterBitsBuilder* GetBuilderWithContext(const FilterBuildingContext&) const override;
  FilterBitsReader* GetFilterBitsReader(const Slice&) const override;

  const FilterPolicyInfo& info() const { return info_; }

 private:
  FilterKind named_kind_;  // kept even if too few bits turn the filter off
  double given_bits_per_key_;
  FilterPolicyInfo info_;
};

}  // namespace ashlar
