// SPDX-License-Identifier: Apache-2.0
//
// In automatic mode the bounds decide: all entries between the target and a bound have the prefix
// if the bound itself has the prefix, or if the bound is the first key after all keys with the
// prefix.
#include "db/search/wanted_prefix.h"

#include <cassert>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"

namespace ashlar {
namespace {

// Whether `bound` is the first key after all keys that have the prefix.
bool FollowsPrefix(const SliceTransform& extractor, const Slice& prefix, const Slice& bound,
                   const Comparator* comparator) {
  size_t full_bytes = 0;
  return comparator == BytewiseComparator() && extractor.FullLengthEnabled(&full_bytes) &&
         prefix.size() == full_bytes && bound.size() == full_bytes &&
         comparator->IsSameLengthImmediateSuccessor(prefix, bound);
}

}  // namespace

bool IsSameExtractor(const SliceTransform* a, const SliceTransform* b) {
  return a == b || (a != nullptr && b != nullptr && a->AsString() == b->AsString());
}

bool WantedPrefix::IsUsedBy(const ReadOptions& options) {
  return (options.prefix_same_as_start || options.auto_prefix_mode) && !options.total_order_seek;
}

void WantedPrefix::Set(const SliceTransform* extractor, const Slice& target,
                       const ReadOptions& options, const Comparator* comparator) {
  Clear();
  if (extractor == nullptr || !IsUsedBy(options) || !extractor->InDomain(target)) return;
  const Slice prefix = extractor->Transform(target);
  prefix_.assign(prefix.data(), prefix.size());
  extractor_ = extractor;
  holds_forwards_ = holds_backwards_ = options.prefix_same_as_start;
  if (options.prefix_same_as_start) return;
  const Slice* const upper = options.iterate_upper_bound;
  const Slice* const lower = options.iterate_lower_bound;
  holds_forwards_ =
      upper != nullptr && (Has(*upper) || FollowsPrefix(*extractor, prefix_, *upper, comparator));
  holds_backwards_ = lower != nullptr && Has(*lower);
}

bool WantedPrefix::Has(const Slice& user_key) const {
  assert(extractor_ != nullptr);
  return extractor_->InDomain(user_key) && extractor_->Transform(user_key) == Slice(prefix_);
}

bool WantedPrefix::IsElsewhere(const Slice& user_key) const {
  assert(extractor_ != nullptr);
  return extractor_->InDomain(user_key) && extractor_->Transform(user_key) != Slice(prefix_);
}

}  // namespace ashlar
