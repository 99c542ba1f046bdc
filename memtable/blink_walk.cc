// SPDX-License-Identifier: Apache-2.0
//
// Iteration over the leaves of the tree in both directions, and the functions that use it:
// estimates, the common prefix, checks. An iteration copies the entries of a leaf at one moment and
// works on the copy.
#include <algorithm>
#include <cassert>
#include <cstdlib>

#include "memtable/blink_node.h"
#include "memtable/blink_tree.h"
#include "util/text/str_cat.h"

namespace ashlar {

// ---- Windows

// Copies a leaf at one moment.
void BlinkTree::Load(const Node* leaf, Window* window) const {
  assert(leaf->level == 0);
  do {
    window->leaf = leaf;
    window->version = leaf->BeginRead();
    window->count = leaf->CopyEntries(window->entries);
    window->next = leaf->next.load(std::memory_order_acquire);
  } while (!leaf->IsUnchanged(window->version));
}

void BlinkTree::SeekToFirst(Window* window) const {
  assert(window != nullptr);
  Load(first_leaf_, window);
  window->index = 0;
}

// New nodes appear to the right of their origin, so the walk goes right before it goes down.
void BlinkTree::SeekToLast(Window* window) const {
  const Node* node = root_.load(std::memory_order_acquire);
  while (node->level > 0) {
    const Node* next = node->next.load(std::memory_order_acquire);
    node = next != nullptr ? next : node->child(node->count() - 1);
  }
  for (; node != nullptr; node = window->next) Load(node, window);
  window->index = window->count - 1;  // out of range if the tree is empty
  assert(window->count > 0 || window->leaf == first_leaf_);
}

void BlinkTree::Seek(const Position& key, Window* window) const {
  assert(window != nullptr);
  const Node* leaf = DescendTo(0, key);
  LoadAt(leaf, key, window);
  if (window->index == window->count) ToNextLeaf(window);
}

// Copies the leaf of the key. True if the window is at an entry with this internal key.
bool BlinkTree::LoadAt(const Node* leaf, const Position& key, Window* window) const {
  while (true) {
    const uint32_t version = leaf->BeginRead();
    if (const Node* next = Beyond(*leaf, key)) {
      leaf = next;
      continue;
    }
    // Copied before the ranking: pairs that are appended later are not in the copy, and the rank is
    // limited to it.
    window->count = leaf->CopyEntries(window->entries);
    window->next = leaf->next.load(std::memory_order_acquire);
    const Rank rank = RankIn(*leaf, key);
    if (!leaf->IsUnchanged(version)) continue;
    window->leaf = leaf;
    window->version = version;
    window->index = std::min(rank.before, window->count);
    return rank.is_equal && rank.before < window->count;
  }
}

void BlinkTree::SeekForPrev(const Position& key, Window* window) const {
  // The low of a leaf is in the leaf and at or before the key, except in the first leaf.
  if (LoadAt(DescendTo(0, key), key, window)) return;
  window->index--;  // out of range if nothing is before the key
  assert(window->IsValid() || window->leaf == first_leaf_);
}

void BlinkTree::ToNextLeaf(Window* window) const {
  assert(window != nullptr);
  assert(window->index == window->count);
  if (window->next == nullptr) return;
  Load(window->next, window);
  window->index = 0;
  assert(window->count > 0);
}

// The node at `previous` may have been split since: the leaf in front is the one whose next node is
// this one.
void BlinkTree::ToPreviousLeaf(Window* window) const {
  assert(window != nullptr);
  const Node* const leaf = window->leaf;
  const Node* left = leaf->previous.load(std::memory_order_acquire);
  if (left == nullptr) {
    assert(leaf == first_leaf_);
    return;  // the index is out of range
  }
  do {
    assert(left != nullptr);  // every node to the left leads here
    Load(left, window);
    left = window->next;
  } while (left != leaf);
  window->index = window->count - 1;
  assert(window->count > 0);
}

// ---- Estimates

// Each pair of a level represents about the same number of entries. So pairs are counted on the
// highest level that has enough of them. The level above has fewer pairs, so this level has few
// nodes.
double BlinkTree::FractionBefore(const Position& key) const {
  constexpr uint64_t kEnough = 128;
  for (uint32_t level = root_.load(std::memory_order_acquire)->level;; --level) {
    const PairCount pairs = CountPairs(level, key);
    assert(pairs.before <= pairs.all);
    if (level > 0 && pairs.all < kEnough) continue;
    if (pairs.before == 0) return 0;
    // The last child that begins before the key may contain the key; half of it is counted.
    const double part = level > 0 ? 0.5 : 0;
    return (static_cast<double>(pairs.before) - part) / static_cast<double>(pairs.all);
  }
}

// Counts the pairs of one level.
BlinkTree::PairCount BlinkTree::CountPairs(uint32_t level, const Position& key) const {
  PairCount pairs;
  const Node* const here = DescendTo(level, key);
  for (const Node* node = LeftmostOn(level); node != nullptr;
       node = node->next.load(std::memory_order_acquire)) {
    const uint32_t count = node->count();
    if (node == here) pairs.before = pairs.all + std::min(RankIn(*node, key).before, count);
    pairs.all += count;
  }
  return pairs;
}

const BlinkTree::Node* BlinkTree::LeftmostOn(uint32_t level) const {
  const Node* node = root_.load(std::memory_order_acquire);
  while (node->level > level) node = node->child(0);  // the first child stays the first
  assert(node->low == nullptr);
  return node;
}

// A few keys may share a long prefix that later keys lack. Keys without the prefix have one of two
// heads, so that all searches would compare keys.
std::string BlinkTree::CommonPrefix() const {
  Window first, last;
  SeekToFirst(&first);
  SeekToLast(&last);
  if (!first.IsValid() || comparator_.order() == KeyOrder::kCustom) return prefix_;
  assert(last.IsValid());  // entries are never removed
  const Slice user_key = first.entries[first.index]->user_key();
  const Slice common(user_key.data(),
                     user_key.difference_offset(last.entries[last.index]->user_key()));
  return HasManyKeys() ? common.ToString() : prefix_.substr(0, common.difference_offset(prefix_));
}

// True if the nodes of some level begin with a few dozen different keys, as happens with about a
// thousand keys. Levels with very many nodes are skipped: if the nodes above begin with only few
// keys, then most entries are versions of these few.
bool BlinkTree::HasManyKeys() const {
  constexpr uint32_t kMany = 32, kEnoughNodes = 128;
  for (uint32_t level = root_.load(std::memory_order_acquire)->level + 1; level-- > 0;) {
    uint32_t nodes = 0, keys = 0;
    const MemTableEntry* before = nullptr;
    for (const Node* node = LeftmostOn(level)->next.load(std::memory_order_acquire);
         node != nullptr && keys < kMany; node = node->next.load(std::memory_order_acquire)) {
      ++nodes;
      keys += before == nullptr || before->user_key() != node->low->user_key();
      before = node->low;
    }
    if (keys == kMany) return true;
    if (nodes >= kEnoughNodes) return false;
  }
  return false;
}

// ---- Proofs

// Checks one node: pairs ascend from `low` on, and stay before the low of the next node.
[[gnu::cold]] void BlinkTree::CheckNode(const Node& node) const {
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  const uint32_t count = node.count();
  const Node* next = node.next.load(std::memory_order_relaxed);
  require(count <= fanout_ && (count > 0 || &node == first_leaf_));
  require(node.high.load(std::memory_order_relaxed) ==
          (next == nullptr ? kEndHead : next->low_head));
  require(next == nullptr || next->level == node.level);
  for (uint32_t i = 0; i < kMaxFanout; ++i) {
    if (i >= count) {
      require(node.head(i) == kEndHead);
      continue;
    }
    const MemTableEntry* entry = node.KeyAt(i);
    if (i == 0) require(entry == node.low || node.low == nullptr);
    if (entry == nullptr) {
      require(i == 0 && node.level > 0 && node.head(0) == 0);
      continue;
    }
    const Position key = PositionOf(entry);
    require(node.head(i) == key.head);
    const MemTableEntry* before = i == 0 ? nullptr : node.KeyAt(i - 1);
    require(before == nullptr || Compare(before, key) < 0);
    require(next == nullptr || Compare(next->low, key) > 0);
  }
}

// For tests; no thread may insert meanwhile.
[[gnu::cold]] void BlinkTree::CheckInvariants() const {
  const Node* const root = root_.load(std::memory_order_acquire);
  for (uint32_t level = 0; level <= root->level; ++level) {
    const Node* const leftmost = LeftmostOn(level);
    for (const Node* node = leftmost; node != nullptr;
         node = node->next.load(std::memory_order_acquire)) {
      CheckNode(*node);
      // The children are nodes of the level below, in its order. Some of those may be missing here.
      for (uint32_t i = 0; level > 0 && i < node->count(); ++i) {
        if (node->child(i)->level != level - 1) std::abort();
      }
    }
  }
}

[[gnu::cold]] std::string BlinkTree::DebugString() const {
  uint64_t entries = 0;
  std::string nodes;
  const uint32_t top = root_.load(std::memory_order_acquire)->level;
  for (uint32_t level = top + 1; level-- > 0;) {
    uint64_t on_level = 0;
    for (const Node* node = LeftmostOn(level); node != nullptr;
         node = node->next.load(std::memory_order_acquire)) {
      ++on_level;
      if (level == 0) entries += node->count();
    }
    StrAppend(&nodes, " ", on_level);
  }
  return StrCat("B-link tree of height ", top + 1, ", prefix of ", prefix_.size(),
                " bytes; entries ", entries, "; nodes", nodes);
}

}  // namespace ashlar
