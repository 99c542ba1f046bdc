// SPDX-License-Identifier: Apache-2.0
//
// KeyHeadIndex finds a user key among many sorted ones. It has an array with the eight bytes of
// each key that follow the prefix common to all keys, and searches it without branches. It compares
// whole keys only if these bytes are equal.
//
// Immutable after Build(). The keys are borrowed and must outlive the index. If the keys differ
// from those of another index in a few keys only, the index can be built from that one. Then the
// unchanged keys are not read, unless the common prefix changes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"
#include "util/splice.h"

namespace ashlar {

// Returns the index of the first of `count` ascending heads that is not below `head`, or `count`.
// Hot: log2(count) loads, and no branch that depends on the data.
inline size_t LowerBoundHead(const uint64_t* heads, size_t count, uint64_t head) {
  assert(heads != nullptr || count == 0);
  const uint64_t* base = heads;
  size_t rest = count;
  while (rest > 1) {
    const size_t half = rest / 2;
    base += base[half - 1] < head ? half : 0;
    rest -= half;
  }
  return static_cast<size_t>(base - heads) + (rest == 1 && *base < head ? 1 : 0);
}

// One of several such searches in different arrays, which advance together. The members have no
// defaults, so that an array of searches costs nothing.
struct HeadSearch {
  const uint64_t* base;
  size_t rest;  // number of heads from `base` on that are left; at least one
  uint64_t head;

  // The number of heads below `head`; `heads` is the begin of the searched array.
  size_t Result(const uint64_t* heads) const {
    return static_cast<size_t>(base - heads) + (*base < head ? 1 : 0);
  }
};

// Completes all searches. Each round advances every search by a step, so that their cache misses
// overlap. Hot: no branch that depends on the data.
inline void AdvanceHeadSearches(HeadSearch* searches, size_t count) {
  size_t longest = 0;
  for (size_t i = 0; i < count; ++i) longest = std::max(longest, searches[i].rest);
  for (; longest > 1; longest -= longest / 2) {
    for (HeadSearch* search = searches; search != searches + count; ++search) {
      const size_t half = search->rest / 2;  // 0 after the search has ended
      search->base += search->base[half - (half != 0)] < search->head ? half : 0;
      search->rest -= half;
    }
  }
}

class KeyHeadIndex {
 public:
  KeyHeadIndex() = default;

  // `keys` are in ascending order of the comparator; they may contain equal keys.
  // In O(n). The comparator outlives the index.
  void Build(const InternalKeyComparator& comparator, std::vector<Slice> keys) {
    comparator_ = &comparator;
    keys_ = std::move(keys);
    prefix_ = CommonPrefix();
    heads_.clear();
    heads_.reserve(keys_.size());
    for (const Slice& key : keys_) heads_.push_back(HeadAfterPrefix(key));
  }
  // Builds the index for the keys of `base` after the changes in `splice`. The keys that stay are
  // those of `base`, which must be valid as long as this index.
  void Build(const InternalKeyComparator& comparator, const KeyHeadIndex& base,
             const Splice<Slice>& splice) {
    std::vector<Slice> keys = splice.Apply(base.keys_, [](const Slice& key) { return key; });
    if (base.keys_.empty()) return Build(comparator, std::move(keys));
    comparator_ = &comparator;
    keys_ = std::move(keys);
    prefix_ = CommonPrefix();
    // Every head depends on the prefix, so that all are computed anew.
    if (prefix_ != base.prefix_) return Build(comparator, std::move(keys_));
    heads_ = splice.Apply(base.heads_, [this](const Slice& key) { return HeadAfterPrefix(key); });
  }

  size_t size() const { return keys_.size(); }

  // The index of the first key that is not before `user_key`, or size().
  size_t LowerBound(const Slice& user_key) const {
    if (keys_.empty()) return 0;
    if (!prefix_.empty() && !user_key.starts_with(prefix_)) {
      // In a bytewise order all keys are on the same side of a key without their prefix.
      return comparator_->OrderWithoutTimestamp(user_key, prefix_) < 0 ? 0 : keys_.size();
    }
    const uint64_t head = HeadAfterPrefix(user_key);
    size_t index = LowerBoundHead(heads_.data(), heads_.size(), head);
    if (index < heads_.size() && heads_[index] == head) index = ResolveTie(index, user_key);
    return index;
  }

  // Without the bytes of the keys, which are borrowed.
  size_t MemoryBytes() const {
    return keys_.capacity() * sizeof(Slice) + heads_.capacity() * sizeof(uint64_t);
  }

 private:
  // In both bytewise orders, a common prefix of the first and the last key is a prefix of all keys.
  Slice CommonPrefix() const {
    if (keys_.size() < 2 || comparator_->order() == KeyOrder::kCustom) return Slice();
    return Slice(keys_.front().data(), keys_.front().difference_offset(keys_.back()));
  }
  uint64_t HeadAfterPrefix(const Slice& key) const {
    return KeyHead(key.data() + prefix_.size(), key.size() - prefix_.size(), comparator_->order());
  }
  // Compares whole keys among those whose heads equal heads[first].
  size_t ResolveTie(size_t first, const Slice& user_key) const {
    const auto ties_end = std::upper_bound(heads_.begin() + static_cast<ptrdiff_t>(first),
                                           heads_.end(), heads_[first]);
    const auto found = std::lower_bound(keys_.begin() + static_cast<ptrdiff_t>(first),
                                        keys_.begin() + (ties_end - heads_.begin()), user_key,
                                        [this](const Slice& a, const Slice& b) {
                                          return comparator_->OrderWithoutTimestamp(a, b) < 0;
                                        });
    return static_cast<size_t>(found - keys_.begin());
  }

  const InternalKeyComparator* comparator_ = nullptr;
  Slice prefix_;  // points into keys_.front()
  std::vector<Slice> keys_;
  std::vector<uint64_t> heads_;
};

}  // namespace ashlar
