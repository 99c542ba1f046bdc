// SPDX-License-Identifier: Apache-2.0
//
// To sort a few keys, the place of each is determined by counting the heads that are smaller. This
// takes quadratic time. But for 32 keys these are a few hundred independent comparisons, while
// sorting random keys would mispredict about every second branch. Keys with equal heads are then
// sorted among themselves.
#include "util/keys/key_order.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace ashlar {
namespace {

constexpr size_t kFew = 32;

// Compares two indexes by their keys. Equal keys are in the order of their indexes, so that the
// order is total and the sort need not be stable.
class ByKey {
 public:
  ByKey(const InternalKeyComparator& comparator, std::span<const Slice> keys)
      : comparator_(comparator), keys_(keys) {}
  // Not inlined, because std::sort would contain a dozen copies of it.
  [[gnu::noinline]] bool operator()(uint32_t a, uint32_t b) const { return IsBefore(a, b); }
  bool IsBefore(uint32_t a, uint32_t b) const {
    const int by_key = comparator_.OrderWithoutTimestamp(keys_[a], keys_[b]);
    return by_key != 0 ? by_key < 0 : a < b;
  }

 private:
  const InternalKeyComparator& comparator_;
  const std::span<const Slice> keys_;
};

// The length of the longest prefix that all keys of `order` have in common.
size_t CommonPrefixBytes(std::span<const Slice> keys, std::span<const uint32_t> order) {
  assert(!order.empty());
  const Slice& first = keys[order[0]];
  size_t bytes = first.size();
  for (const uint32_t i : order) {
    bytes = std::min(bytes, Slice(first.data(), bytes).difference_offset(keys[i]));
  }
  return bytes;
}

// Sorts up to kFew indexes by the heads behind the common prefix; see the head of this file.
void SortFew(const InternalKeyComparator& comparator, std::span<const Slice> keys,
             std::span<uint32_t> order) {
  const size_t count = order.size();
  assert(count <= kFew);
  assert(comparator.order() != KeyOrder::kCustom);
  const size_t prefix = CommonPrefixBytes(keys, order);
  std::array<uint64_t, kFew> heads;
  for (size_t i = 0; i < count; ++i) {
    const Slice& key = keys[order[i]];
    heads[i] = KeyHead(key.data() + prefix, key.size() - prefix, comparator.order());
  }
  std::array<uint32_t, kFew> sorted;
  std::array<uint64_t, kFew> sorted_heads;
  for (size_t i = 0; i < count; ++i) {
    uint64_t place = 0;
    for (size_t j = 0; j < count; ++j) {
      place += heads[j] < heads[i] ? 1 : 0;
    }
    // Equal heads keep their order, so that each place is taken once.
    for (size_t j = 0; j < i; ++j) place += heads[j] == heads[i] ? 1 : 0;
    assert(place < count);
    sorted[place] = order[i];
    sorted_heads[place] = heads[i];
  }
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && sorted_heads[end] == sorted_heads[begin]) ++end;
    if (end - begin == 1) continue;
    std::sort(sorted.begin() + static_cast<ptrdiff_t>(begin),
              sorted.begin() + static_cast<ptrdiff_t>(end), ByKey(comparator, keys));
  }
  std::copy_n(sorted.begin(), count, order.begin());
}

}  // namespace

// Batches often come sorted; then one pass over the keys is all.
void SortKeys(const InternalKeyComparator& comparator, std::span<const Slice> keys,
              std::span<uint32_t> order) {
  const ByKey is_before(comparator, keys);
  const bool is_sorted = std::is_sorted(
      order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return is_before.IsBefore(a, b); });
  if (is_sorted) return;
  if (order.size() <= kFew && comparator.order() != KeyOrder::kCustom) {
    return SortFew(comparator, keys, order);
  }
  std::sort(order.begin(), order.end(), is_before);
}

}  // namespace ashlar
