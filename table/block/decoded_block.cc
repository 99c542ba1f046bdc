// SPDX-License-Identifier: Apache-2.0
//
// Two passes with the cursor: the first measures, the second copies.
#include "table/block/decoded_block.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>

#include "table/block/block_cursor.h"

namespace ashlar {
namespace {

// Smaller blocks gain nothing.
constexpr uint32_t kMinEntries = 4;

}  // namespace

DecodedBlock::Plan DecodedBlock::Prepare(const Block& block, KeyOrder order) {
  Plan plan;
  if (block.size() > kMaxBlockBytes) return plan;
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat());
  Slice key, value;
  std::string first_key;
  size_t key_bytes = 0, value_bytes = 0, max_key_bytes = 0, prefix_bytes = 0;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    if (plan.count++ == 0) {
      first_key = ExtractUserKey(key).ToString();
      prefix_bytes = order == KeyOrder::kCustom ? 0 : first_key.size();
    }
    prefix_bytes = Slice(first_key.data(), prefix_bytes).difference_offset(ExtractUserKey(key));
    key_bytes += key.size();
    value_bytes += value.size();
    max_key_bytes = std::max(max_key_bytes, key.size());
  }
  if (cursor.error() != nullptr || plan.count < kMinEntries) return plan;
  assert(key_bytes >= plan.count * prefix_bytes);  // each key begins with the prefix
  assert(max_key_bytes >= prefix_bytes + kTrailerBytes);
  plan.prefix_bytes = static_cast<uint32_t>(prefix_bytes);
  plan.max_key_bytes = static_cast<uint32_t>(max_key_bytes);
  plan.memory_bytes = plan.count * (sizeof(uint64_t) + sizeof(Place)) + sizeof(Place) +
                      prefix_bytes + (key_bytes - plan.count * prefix_bytes) + value_bytes +
                      kSlackBytes;
  // If keys share long prefixes with their neighbours but not with all keys, the decoded block
  // would be much larger.
  plan.is_worthwhile = plan.memory_bytes <= block.size() + block.size() / 2;
  return plan;
}

bool DecodedBlock::Build(const Block& block, const Plan& plan, KeyOrder order, char* memory,
                         DecodedBlock* decoded) {
  assert(decoded != nullptr);
  assert(plan.is_worthwhile);
  assert(reinterpret_cast<uintptr_t>(memory) % alignof(uint64_t) == 0);
  auto* const heads = reinterpret_cast<uint64_t*>(memory);
  auto* const places = reinterpret_cast<Place*>(heads + plan.count);
  char* const prefix = reinterpret_cast<char*>(places + plan.count + 1);
  char* const entries = prefix + plan.prefix_bytes;
  BlockCursor cursor;
  cursor.Attach(&block, BlockKeyFormat());
  Slice key, value;
  char* p = entries;
  uint32_t i = 0;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value), ++i) {
    if (i == 0) std::memcpy(prefix, key.data(), plan.prefix_bytes);
    key.remove_prefix(plan.prefix_bytes);
    heads[i] = KeyHead(ExtractUserKey(key), order);
    places[i].begin = static_cast<uint32_t>(p - entries);
    std::memcpy(p, key.data(), key.size());
    p += key.size();
    places[i].value = static_cast<uint32_t>(p - entries);
    std::memcpy(p, value.data(), value.size());
    p += value.size();
  }
  assert(i == plan.count);  // the block is the one that was measured
  assert(static_cast<size_t>(p - memory) + kSlackBytes <= plan.memory_bytes);
  places[i].begin = static_cast<uint32_t>(p - entries);
  places[i].value = places[i].begin;
  decoded->heads_ = heads;
  decoded->places_ = places;
  decoded->prefix_ = prefix;
  decoded->entries_ = entries;
  decoded->count_ = plan.count;
  decoded->prefix_bytes_ = plan.prefix_bytes;
  decoded->max_key_bytes_ = plan.max_key_bytes;
  return std::is_sorted(heads, heads + plan.count);
}

// Entry `first` is before the target and has the same head. Finds the first entry that is not
// before the target.
size_t DecodedBlock::BehindTie(const InternalKeyComparator& icmp, size_t first,
                               const Slice& user_rest, uint64_t trailer) const {
  assert(first < count_);
  const uint64_t head = heads_[first];
  size_t left = first + 1, right = count_;
  while (left < right) {
    const size_t middle = left + (right - left) / 2;
    const bool is_before = heads_[middle] == head && IsBefore(icmp, middle, user_rest, trailer);
    left = is_before ? middle + 1 : left;
    right = is_before ? right : middle;
  }
  assert(left > first);
  return left;
}

}  // namespace ashlar
