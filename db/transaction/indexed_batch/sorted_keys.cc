// SPDX-License-Identifier: Apache-2.0
//
// Build() fills blocks to 7/8. A full block is split in the middle, except if keys are inserted in
// ascending order: a key behind all others begins a new block when the last one is full.
#include "db/transaction/indexed_batch/sorted_keys.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <memory>

#include "util/memory/page_buffer.h"

namespace ashlar {
namespace {

constexpr size_t kBuiltPairs = 112;  // pairs in each block that Build() makes
constexpr size_t kRecordsAhead = 16;
constexpr size_t kSampledKeys = 64;
constexpr uint64_t kGreatestHead = std::numeric_limits<uint64_t>::max();

// The number of items in [0, count), ascending, that are before the target: the items with a
// smaller head, and among those with the same head the first ones for which is_before(index) is
// true.
template <typename IsBefore>
size_t CountBeforeByHead(const uint64_t* heads, size_t count, uint64_t head,
                         const IsBefore& is_before) {
  size_t low = static_cast<size_t>(std::lower_bound(heads, heads + count, head) - heads);
  size_t high = low;
  if (low < count && heads[low] == head) {
    high = static_cast<size_t>(std::upper_bound(heads + low, heads + count, head) - heads);
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    is_before(middle) ? low = middle + 1 : high = middle;
  }
  return low;
}

size_t CommonBytes(const Slice& a, const Slice& b) {
  const size_t limit = std::min(a.size(), b.size());
  size_t n = 0;
  while (n < limit && a[n] == b[n]) ++n;
  return n;
}

}  // namespace

// The head of a key behind the common prefix. A key without the prefix gets the least or the
// greatest head, depending on its order relative to the prefix.
uint64_t SortedKeys::HeadOf(const Slice& key) const {
  if (key.starts_with(prefix_)) [[likely]] {
    return KeyHead(key.data() + prefix_.size(), key.size() - prefix_.size(), comparator_->order());
  }
  return comparator_->OrderWithTimestamp(key, prefix_) < 0 ? 0 : kGreatestHead;
}

size_t SortedKeys::BlocksUpTo(const Target& target) const {
  return CountBeforeByHead(
      first_heads_.data(), first_heads_.size(), target.head, [&](size_t block) {
        return comparator_->OrderWithTimestamp(KeyAt(block, 0), target.key) <= 0;
      });
}

size_t SortedKeys::CountBefore(size_t block, const Target& target) const {
  return CountBeforeByHead(
      blocks_[block]->heads, blocks_[block]->count, target.head, [&](size_t index) {
        return comparator_->OrderWithTimestamp(KeyAt(block, index), target.key) < 0;
      });
}

KeyRef SortedKeys::At(const Place& place) const {
  assert(IsValid(place) && place.index < blocks_[place.block]->count);
  return KeyRef::FromBits(blocks_[place.block]->refs[place.index]);
}

SortedKeys::Place SortedKeys::AtOrAfter(const Slice& key) const {
  const Target target = TargetOf(key);
  const size_t blocks = BlocksUpTo(target);
  if (blocks == 0) return First();
  Place place{.block = blocks - 1, .index = CountBefore(blocks - 1, target)};
  if (place.index == blocks_[place.block]->count) place = {.block = blocks, .index = 0};
  return place;
}

SortedKeys::Place SortedKeys::Last() const {
  if (blocks_.empty()) return First();
  return {.block = blocks_.size() - 1, .index = blocks_.back()->count - 1};
}

bool SortedKeys::Find(const Slice& key, Place* place) const {
  assert(place != nullptr);
  *place = AtOrAfter(key);
  return IsValid(*place) && comparator_->OrderWithTimestamp(keys_->KeyOf(At(*place)), key) == 0;
}

void SortedKeys::Next(Place* place) const {
  assert(place != nullptr);
  assert(IsValid(*place));
  if (++place->index < blocks_[place->block]->count) return;
  *place = {.block = place->block + 1, .index = 0};
}

void SortedKeys::Prev(Place* place) const {
  assert(place != nullptr);
  assert(IsValid(*place));
  if (place->index-- > 0) return;
  if (place->block-- == 0) return;  // wrapped: not valid
  place->index = blocks_[place->block]->count - 1;
}

// Backwards the subtraction may wrap around; the last comparison then finds that there is nothing
// to prefetch.
void SortedKeys::PrefetchAhead(const Place& place, bool is_forward) const {
  assert(IsValid(place));
  const Block* block = blocks_[place.block].get();
  size_t ahead = is_forward ? place.index + kRecordsAhead : place.index - kRecordsAhead;
  if (is_forward && ahead >= block->count && place.block + 1 < blocks_.size()) {
    ahead -= block->count;
    block = blocks_[place.block + 1].get();
  }
  if (ahead < block->count) keys_->Prefetch(KeyRef::FromBits(block->refs[ahead]));
}

void SortedKeys::Insert(const Slice& key, KeyRef ref) {
  const Target target = TargetOf(key);
  const size_t blocks = BlocksUpTo(target);
  const Place place =
      blocks == 0 ? First() : Place{.block = blocks - 1, .index = CountBefore(blocks - 1, target)};
  InsertAt(place, target.head, ref);
  if (++count_ >= review_count_) ReviewPrefix();
}

// A full block is split, except behind the last key: ascending insertion begins a new block there,
// which leaves the earlier blocks full instead of half full. first_heads_ always repeats the first
// head of each block.
void SortedKeys::InsertAt(Place place, uint64_t head, KeyRef ref) {
  const bool is_last = place.block + 1 >= blocks_.size() &&
                       (blocks_.empty() || place.index == blocks_.back()->count);
  if (is_last && (blocks_.empty() || place.index == kBlockPairs)) {
    AddBlock(head);
    place = {.block = blocks_.size() - 1, .index = 0};
  } else if (blocks_[place.block]->count == kBlockPairs) {
    const size_t cut = Split(place.block);
    if (place.index > cut) place = {.block = place.block + 1, .index = place.index - cut};
  }
  Block& block = *blocks_[place.block];
  std::copy_backward(block.heads + place.index, block.heads + block.count,
                     block.heads + block.count + 1);
  std::copy_backward(block.refs + place.index, block.refs + block.count,
                     block.refs + block.count + 1);
  block.heads[place.index] = head;
  block.refs[place.index] = ref.bits();
  ++block.count;
  if (place.index == 0) first_heads_[place.block] = head;
}

// Moves the upper half of a full block to a new block behind it. Returns the size of the lower
// half.
size_t SortedKeys::Split(size_t block) {
  constexpr size_t kCut = kBlockPairs / 2;
  std::unique_ptr<Block> upper = NewBlock();
  Block& lower = *blocks_[block];
  assert(lower.count == kBlockPairs);
  std::copy(lower.heads + kCut, lower.heads + kBlockPairs, upper->heads);
  std::copy(lower.refs + kCut, lower.refs + kBlockPairs, upper->refs);
  upper->count = kBlockPairs - kCut;
  lower.count = kCut;
  const auto behind = static_cast<ptrdiff_t>(block + 1);
  first_heads_.insert(first_heads_.begin() + behind, upper->heads[0]);
  blocks_.insert(blocks_.begin() + behind, std::move(upper));
  return kCut;
}

std::unique_ptr<SortedKeys::Block> SortedKeys::NewBlock() {
  if (spare_ == nullptr) return std::make_unique_for_overwrite<Block>();
  spare_->count = 0;
  return std::move(spare_);
}

SortedKeys::Block* SortedKeys::AddBlock(uint64_t first_head) {
  first_heads_.push_back(first_head);
  return blocks_.emplace_back(NewBlock()).get();
}

void SortedKeys::Replace(const Slice& key, KeyRef ref) {
  Place place;
  [[maybe_unused]] const bool is_there = Find(key, &place);
  assert(is_there);
  blocks_[place.block]->refs[place.index] = ref.bits();
}

// An empty block is removed at once, so every block has at least one key.
void SortedKeys::Erase(const Slice& key) {
  Place place;
  [[maybe_unused]] const bool is_there = Find(key, &place);
  assert(is_there);
  Block& block = *blocks_[place.block];
  std::copy(block.heads + place.index + 1, block.heads + block.count, block.heads + place.index);
  std::copy(block.refs + place.index + 1, block.refs + block.count, block.refs + place.index);
  --block.count;
  --count_;
  const auto at = static_cast<ptrdiff_t>(place.block);
  if (block.count == 0) {
    first_heads_.erase(first_heads_.begin() + at);
    blocks_.erase(blocks_.begin() + at);
  } else if (place.index == 0) {
    first_heads_[place.block] = block.heads[0];
  }
}

void SortedKeys::Clear() {
  prefix_.clear();
  if (!blocks_.empty()) spare_ = std::move(blocks_.front());
  blocks_.clear();
  first_heads_.clear();
  count_ = 0;
  review_count_ = kBlockPairs;
}

// With an unknown order, keys of one prefix need not be neighbours, so that a prefix would be of no
// use.
std::string SortedKeys::CommonPrefix(std::span<const Pair> pairs) const {
  if (comparator_->order() == KeyOrder::kCustom || pairs.empty()) return {};
  std::string prefix = keys_->KeyOf(KeyRef::FromBits(pairs.front().ref)).ToString();
  for (size_t i = 0; i < pairs.size() && !prefix.empty(); ++i) {
    PrefetchKey(pairs, i + kRecordsAhead);
    const Slice key = keys_->KeyOf(KeyRef::FromBits(pairs[i].ref));
    if (!key.starts_with(prefix)) prefix.resize(CommonBytes(key, prefix));
  }
  return prefix;
}

void SortedKeys::PrefetchKey(std::span<const Pair> pairs, size_t i) const {
  if (i < pairs.size()) keys_->Prefetch(KeyRef::FromBits(pairs[i].ref));
}

// Up to one block of pairs is sorted on the stack, more of them in pages that are freed at once.
void SortedKeys::Build(const KeyTable& table) {
  Clear();
  count_ = table.count();
  review_count_ = std::max(2 * count_, kBlockPairs);
  if (count_ <= kBlockPairs) {
    Pair pairs[kBlockPairs];
    return SortIn({pairs, count_}, table);
  }
  const PageBuffer space(count_ * sizeof(Pair));
  SortIn({reinterpret_cast<Pair*>(space.data()), count_}, table);
}

// Computes the heads. Returns false, with some heads missing, if a key does not have the prefix.
bool SortedKeys::MakeHeads(std::span<Pair> pairs) const {
  for (size_t i = 0; i < pairs.size(); ++i) {
    PrefetchKey(pairs, i + kRecordsAhead);
    const Slice key = keys_->KeyOf(KeyRef::FromBits(pairs[i].ref));
    if (!key.starts_with(prefix_)) return false;
    pairs[i].head = HeadOf(key);
  }
  return true;
}

void SortedKeys::SortIn(std::span<Pair> pairs, const KeyTable& table) {
  size_t filled = 0;
  table.ForEach([&](KeyRef ref) { pairs[filled++] = {0, ref.bits()}; });
  assert(filled == pairs.size());
  // The pairs come in the order of hashes, so the first ones are a sample. In most batches all keys
  // have the prefix that the keys of the sample share.
  prefix_ = CommonPrefix(pairs.first(std::min(pairs.size(), kSampledKeys)));
  if (!MakeHeads(pairs)) {
    prefix_ = CommonPrefix(pairs);
    MakeHeads(pairs);
  }
  std::sort(pairs.begin(), pairs.end(), [this](const Pair& a, const Pair& b) {
    if (a.head != b.head) return a.head < b.head;
    return comparator_->OrderWithTimestamp(keys_->KeyOf(KeyRef::FromBits(a.ref)),
                                           keys_->KeyOf(KeyRef::FromBits(b.ref))) < 0;
  });
  blocks_.reserve(pairs.size() / kBuiltPairs + 1);
  first_heads_.reserve(pairs.size() / kBuiltPairs + 1);
  Block* block = nullptr;
  for (const Pair& pair : pairs) {
    if (block == nullptr || block->count == kBuiltPairs) block = AddBlock(pair.head);
    block->heads[block->count] = pair.head;
    block->refs[block->count++] = pair.ref;
  }
}

// All keys between the first and the last one have the common prefix of these two.
void SortedKeys::ReviewPrefix() {
  review_count_ = 2 * count_;
  if (comparator_->order() == KeyOrder::kCustom) return;
  const Place last = Last();
  const Slice first_key = KeyAt(0, 0);
  const size_t common = CommonBytes(first_key, KeyAt(last.block, last.index));
  if (prefix_.size() == common) return;
  prefix_.assign(first_key.data(), common);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    Block& block = *blocks_[i];
    for (size_t j = 0; j < block.count; ++j) block.heads[j] = HeadOf(KeyAt(i, j));
    first_heads_[i] = block.heads[0];
  }
}

}  // namespace ashlar
