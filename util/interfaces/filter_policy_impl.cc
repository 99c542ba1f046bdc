// SPDX-License-Identifier: Apache-2.0
//
// The built-in filter policies. The size of the filters is determined once, when a policy is
// created.
#include "util/interfaces/filter_policy_impl.h"

#include <cassert>
#include <cstdio>

#include "util/interfaces/self_cast.h"

namespace ashlar {
namespace {

constexpr double kMaxBitsPerKey = 100.0;

// Thousandths of a bit, rounded, within the range that the filters support.
int Millibits(double bits_per_key) {
  // The negated comparison also rejects NaN. With less than half a bit per key a filter costs more
  // than it saves.
  if (!(bits_per_key >= 0.5)) return 0;
  if (bits_per_key < 1.0) return 1000;
  if (bits_per_key > kMaxBitsPerKey) bits_per_key = kMaxBitsPerKey;
  // The small excess rounds halves up in spite of floating point errors.
  return static_cast<int>(bits_per_key * 1000.0 + 0.500001);
}

}  // namespace

// Bits per key are kept in thousandths. 0 means no filter.
BuiltinFilterPolicy::BuiltinFilterPolicy(FilterKind kind, double bits_per_key,
                                         int bloom_before_level)
    : named_kind_(kind), given_bits_per_key_(bits_per_key) {
  assert(kind == FilterKind::kBloom || kind == FilterKind::kRibbon);
  info_.millibits_per_key = Millibits(bits_per_key);
  info_.kind = info_.millibits_per_key == 0 ? FilterKind::kNone : kind;
  info_.bloom_before_level = bloom_before_level;
}

const char* BuiltinFilterPolicy::Name() const {
  return named_kind_ == FilterKind::kRibbon ? "ribbonfilter" : "bloomfilter";
}

// The text from which CreateFromString() makes an equal policy.
std::string BuiltinFilterPolicy::GetId() const {
  char bits[40];
  snprintf(bits, sizeof(bits), ":%.6g:", given_bits_per_key_);
  std::string id = Name();
  id += bits;
  if (named_kind_ == FilterKind::kRibbon) {
    id += std::to_string(info_.bloom_before_level);
  } else {
    id += "false";
  }
  return id;
}

bool BuiltinFilterPolicy::IsInstanceOf(const std::string& name) const {
  return name == kClassName() || name == kBuiltinFilterName || FilterPolicy::IsInstanceOf(name);
}

// See the class: the table code does it.
FilterBitsBuilder* BuiltinFilterPolicy::GetBuilderWithContext(const FilterBuildingContext&) const {
  return nullptr;
}

FilterBitsReader* BuiltinFilterPolicy::GetFilterBitsReader(const Slice&) const { return nullptr; }

// A policy of the program is asked by calls; of a built-in one all is known at once.
FilterPolicyInfo DescribeFilterPolicy(const FilterPolicy* policy) {
  if (policy == nullptr) return {};
  const auto* builtin = SelfCast<BuiltinFilterPolicy>(policy);
  if (builtin != nullptr) return builtin->info();
  FilterPolicyInfo custom;
  custom.kind = FilterKind::kCustom;
  return custom;
}

// The caller owns the policy.
const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                         bool /*IGNORED_use_block_based_builder*/) {
  return new BuiltinFilterPolicy(FilterKind::kBloom, bits_per_key, 0);
}

// The caller owns the policy.
FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key, int bloom_before_level) {
  return new BuiltinFilterPolicy(FilterKind::kRibbon, bloom_equivalent_bits_per_key,
                                 bloom_before_level);
}

}  // namespace ashlar
