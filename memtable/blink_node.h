// SPDX-License-Identifier: Apache-2.0
//
// BlinkTree::Node: one node of the tree; how a reader validates what it read, and how the holder of
// the lock changes the node. Only for the files of the tree.
//
// A node has nine cache lines: one with the fields that are needed first, four with heads, four
// with slots. Unused slots have the greatest head, so a search of the heads does not need the
// number of pairs.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>

#include "memtable/blink_tree.h"
#include "util/threads/mutex.h"

namespace ashlar {

inline constexpr uint64_t kEndHead = std::numeric_limits<uint64_t>::max();

// The position of a key in a node.
struct BlinkTree::Rank {
  uint32_t before;           // number of pairs whose keys are before the key
  bool is_equal = false;     // the next pair has this internal key
  bool is_user_key = false;  // the next pair has this user key
};

// A pair that is to be inserted in front of pair `index` of a node.
struct BlinkTree::Insertion {
  uint32_t index;
  uint64_t head;
  void* slot;
};

// The result of an insertion into a level of the tree.
struct BlinkTree::Placed {
  Node* node = nullptr;  // contains the pair now; null: the pair was there already
  uint32_t index = 0;    // index of the pair in that node
  // Was created by a split; the level above does not contain it yet. Null: no split.
  Node* new_node = nullptr;
};

class BlinkTree::Node {
 public:
  Node(uint32_t node_level, const MemTableEntry* node_low, uint64_t node_low_head)
      : level(node_level), low(node_low), low_head(node_low_head) {
    for (std::atomic<uint64_t>& head : heads_) std::construct_at(&head, kEndHead);
  }

  const uint32_t level;  // 0: a leaf, whose slots are entries; above: slots are children
  // No key before it is ever in this node; null: leftmost node of its level.
  const MemTableEntry* const low;
  const uint64_t low_head;  // the head of `low`; 0 without it
  SpinLock lock;            // held by the thread that changes the node

  // The neighbours. `high` is the head of next->low, or the greatest head without a next node.
  // `previous` is a node further left, usually the direct neighbour.
  std::atomic<Node*> next{nullptr};
  std::atomic<uint64_t> high{kEndHead};
  std::atomic<Node*> previous{nullptr};

  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  uint64_t head(uint32_t index) const { return heads_[index].load(std::memory_order_acquire); }
  MemTableEntry* entry(uint32_t index) const {
    assert(level == 0);
    return static_cast<MemTableEntry*>(slot(index));
  }
  Node* child(uint32_t index) const {
    assert(level > 0);
    return static_cast<Node*>(slot(index));
  }
  // The key of a pair: the entry, or the least key that can be below the child; null for the
  // leftmost child of a level.
  const MemTableEntry* KeyAt(uint32_t index) const {
    return level == 0 ? entry(index) : child(index)->low;
  }

  // Copies the entries of a leaf and returns their number.
  uint32_t CopyEntries(const MemTableEntry** entries) const {
    const uint32_t copied = count();
    for (uint32_t i = 0; i < copied; ++i) entries[i] = entry(i);
    return copied;
  }
  // The number of heads below `bound`. Hot: six loads without a branch.
  uint32_t CountHeadsBelow(uint64_t bound) const {
    uint32_t at = 0;
    const auto step = [&](uint32_t half) { at += half * uint32_t{head(at + half - 1) < bound}; };
    static_assert(kMaxFanout == 32);
    step(16);
    step(8);
    step(4);
    step(2);
    step(1);
    return at + uint32_t{head(at) < bound};
  }

  // Values that are loaded between BeginRead() and a call of IsUnchanged() that returns true are
  // consistent with each other.
  uint32_t BeginRead() const {
    const uint32_t version = version_.load(std::memory_order_acquire);
    return version % 2 == 0 ? version : AwaitEvenVersion();
  }
  bool IsUnchanged(uint32_t version) const {
    assert(version % 2 == 0);
    return version_.load(std::memory_order_relaxed) == version;
  }

  // Starts loading all cache lines of the node.
  void Prefetch() const {
    const char* const line = reinterpret_cast<const char*>(this);
    for (size_t i = 0; i < sizeof(Node); i += 64) __builtin_prefetch(line + i);
  }

  // Appends a pair to a node that no other thread can reach yet.
  void Append(uint64_t head, void* slot) {
    const uint32_t at = count_.load(std::memory_order_relaxed);
    assert(at < kMaxFanout);
    std::construct_at(&heads_[at], head);
    std::construct_at(&slots_[at], slot);
    std::construct_at(&count_, at + 1);
  }
  // Inserts a pair. A new last pair does not need a new version: a reader that sees its head or the
  // new count sees the complete pair.
  void Insert(const Insertion& pair) REQUIRES(lock) {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    assert(count < kMaxFanout);
    assert(pair.index <= count);
    if (pair.index == count) {
      SetPair(count, pair.head, pair.slot);
      count_.store(count + 1, std::memory_order_release);
      return;
    }
    BeginChange();
    InsertChanging(pair, count);
    count_.store(count + 1, std::memory_order_release);
    EndChange();
  }
  // Moves the upper pairs of a full node into a new node in `memory`, and inserts the pair into one
  // of the two. If `ascends` is set and the pair is the last one, it becomes the only pair of the
  // new node, because ascending keys need no room between existing pairs.
  Placed Split(char* memory, const Insertion& pair, bool ascends) REQUIRES(lock);

 private:
  void* slot(uint32_t index) const { return slots_[index].load(std::memory_order_acquire); }

  // Waits for the end of a change.
  uint32_t AwaitEvenVersion() const;

  // All stores of a change are release stores: a reader that sees one of them also sees that the
  // version is odd.
  void BeginChange() REQUIRES(lock) {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void EndChange() REQUIRES(lock) {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Creates the right half of a split.
  Node* NewRightNode(char* memory, uint32_t cut, const Insertion* extra) const REQUIRES(lock);
  // Removes the right half from this node.
  void CutAt(uint32_t cut, Node* right, const Insertion* extra) REQUIRES(lock);
  void InsertChanging(const Insertion& pair, uint32_t count) REQUIRES(lock) {
    for (uint32_t i = count; i > pair.index; --i) {
      SetPair(i, heads_[i - 1].load(std::memory_order_relaxed),
              slots_[i - 1].load(std::memory_order_relaxed));
    }
    SetPair(pair.index, pair.head, pair.slot);
  }
  void SetPair(uint32_t index, uint64_t head, void* slot) REQUIRES(lock) {
    slots_[index].store(slot, std::memory_order_release);
    heads_[index].store(head, std::memory_order_release);
  }

  std::atomic<uint32_t> version_{0};  // odd while pairs are moved
  std::atomic<uint32_t> count_{0};
  alignas(8) std::atomic<uint64_t> heads_[kMaxFanout];  // ascending
  std::atomic<void*> slots_[kMaxFanout];
};

inline BlinkTree::Rank BlinkTree::RankIn(const Node& node, const Position& key) const {
  const uint32_t first = node.CountHeadsBelow(key.head);
  if (first == kMaxFanout || node.head(first) != key.head) return {.before = first};
  return RankAmongTied(node, first, key);
}

// The next node, if the key is not before its `low`; else null.
inline const BlinkTree::Node* BlinkTree::Beyond(const Node& node, const Position& key) const {
  if (node.high.load(std::memory_order_acquire) > key.head) [[likely]]
    return nullptr;
  return BeyondTied(node, key);
}

}  // namespace ashlar
