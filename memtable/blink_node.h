// SPDX-License-Identifier: Apache-2.0
//
// BlinkTree::Node: one node of the tree, how a reader makes sure of what it read, and how the
// holder of the lock changes it. Only for the tree's own files.
//
// Nine cache lines: what is asked first, four lines of heads, four of slots. Slots that are not in
// use have the greatest head, so that a search of the heads needs no count.
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

// Where a key belongs in a node.
struct BlinkTree::Rank {
  uint32_t before;           // pairs whose key is before it
  bool is_equal = false;     // the pair behind those has this very key
  bool is_user_key = false;  // or another version of it
};

// A pair to be put in front of the pair `index` of a node.
struct BlinkTree::Insertion {
  uint32_t index;
  uint64_t head;
  void* slot;
};

// What became of an insertion into a level.
struct BlinkTree::Placed {
  Node* node = nullptr;      // where the pair is; null: it was there before
  uint32_t index = 0;        // in that node
  Node* new_node = nullptr;  // which the level above does not know yet
};

class BlinkTree::Node {
 public:
  Node(uint32_t node_level, const MemTableEntry* node_low, uint64_t node_low_head)
      : level(node_level), low(node_low), low_head(node_low_head) {
    for (std::atomic<uint64_t>& head : heads_) std::construct_at(&head, kEndHead);
  }

  const uint32_t level;            // 0: a leaf, whose slots are entries; above: children
  const MemTableEntry* const low;  // no key before it is ever here; null: the leftmost of a level
  const uint64_t low_head;         // its head; 0 without
  SpinLock lock;                   // of whoever changes the node

  // The neighbours. `high` is the head of next->low; the greatest if there is none. `previous` lies
  // somewhere to the left, most of the time next to this node.
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
  // The key of a pair: the entry, or the least key that can be below the child, null in front.
  const MemTableEntry* KeyAt(uint32_t index) const {
    return level == 0 ? entry(index) : child(index)->low;
  }

  // Copies all entries of a leaf and returns their number.
  uint32_t CopyEntries(const MemTableEntry** entries) const {
    const uint32_t copied = count();
    for (uint32_t i = 0; i < copied; ++i) entries[i] = entry(i);
    return copied;
  }
  // Number of heads below the given one. Hot: six loads, no branch.
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

  // What is read between BeginRead() and an IsUnchanged() that says so belongs together.
  uint32_t BeginRead() const {
    const uint32_t version = version_.load(std::memory_order_acquire);
    return version % 2 == 0 ? version : AwaitEvenVersion();
  }
  bool IsUnchanged(uint32_t version) const {
    assert(version % 2 == 0);
    return version_.load(std::memory_order_relaxed) == version;
  }

  void Prefetch() const {
    const char* const line = reinterpret_cast<const char*>(this);
    for (size_t i = 0; i < sizeof(Node); i += 64) __builtin_prefetch(line + i);
  }

  // For a node that nobody else can reach yet.
  void Append(uint64_t head, void* slot) {
    const uint32_t at = count_.load(std::memory_order_relaxed);
    assert(at < kMaxFanout);
    std::construct_at(&heads_[at], head);
    std::construct_at(&slots_[at], slot);
    std::construct_at(&count_, at + 1);
  }
  // Behind the last pair a new one comes in without a new version: who sees its head or the count
  // sees all of it.
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
  // Moves the upper pairs of a full node into a new one, made in `memory`, and takes the pair into
  // one of the two. Where keys ascend, nobody needs room among the pairs that are there.
  Placed Split(char* memory, const Insertion& pair, bool ascends) REQUIRES(lock);

 private:
  void* slot(uint32_t index) const { return slots_[index].load(std::memory_order_acquire); }

  uint32_t AwaitEvenVersion() const;

  // The stores of a change are releases: who sees one of them sees that the version was odd.
  void BeginChange() REQUIRES(lock) {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void EndChange() REQUIRES(lock) {
    version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  Node* NewRightNode(char* memory, uint32_t cut, const Insertion* extra) const REQUIRES(lock);
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

// The next node, if the key is not before its low.
inline const BlinkTree::Node* BlinkTree::Beyond(const Node& node, const Position& key) const {
  if (node.high.load(std::memory_order_acquire) > key.head) [[likely]]
    return nullptr;
  return BeyondTied(node, key);
}

}  // namespace ashlar
