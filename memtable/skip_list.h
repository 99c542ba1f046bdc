// SPDX-License-Identifier: Apache-2.0
//
// SkipList keeps the entries of a memtable in internal-key order. Any number of threads insert and
// read at once, without locks; nothing is removed until the whole list dies with its arena.
//
// A link is a pair {head, next}: the first bytes of the key it leads to, as a number, beside the
// pointer. A search that does not move along a link therefore never touches the node behind it,
// which halves the cache misses. How the pair stays trustworthy although its halves are written one
// after the other is proved at the head of skip_list.cc.
//
// Keys that share a long prefix would all have the same head; a list that is told the prefix takes
// its heads from the bytes behind it. In a custom order every head is 0 and keys are compared.
//
// Each thread remembers where it last inserted into a list and starts from there when the next key
// falls nearby, so that ascending keys cost no search. Threads: all functions from any thread;
// Insert() with exclusive = true only while no other Insert() runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "memtable/entry.h"
#include "util/arena.h"
#include "util/internal_key.h"

namespace ashlar {

class SkipList {
 public:
  static constexpr int kMaxHeight = 12;
  static constexpr int kBranchingLog2 = 2;  // every fourth node of a level reaches the next one
  static constexpr size_t kMaxBatch = 32;

  class Node;
  // A position in the order of internal keys, with its head. Borrows the key.
  struct Position {
    Slice user_key;
    uint64_t trailer;
    uint64_t head;
  };

  // `common_prefix`, which may be empty, is what most keys are expected to begin with; a wrong
  // guess costs speed only. The arena outlives the list.
  SkipList(const InternalKeyComparator& comparator, const Slice& common_prefix,
           ConcurrentArena* arena);
  SkipList(const SkipList&) = delete;
  SkipList& operator=(const SkipList&) = delete;

  Position At(const Slice& user_key, uint64_t trailer) const {
    return {user_key, trailer, HeadOf(user_key)};
  }

  // Copies key and value into the list. False, and nothing changes, if the list holds the same
  // internal key already.
  bool Insert(const Position& key, const Slice& value, bool exclusive);

  // The first node at or after `key`, or null. Sees every node whose Insert() has returned, and
  // may see others.
  const Node* Seek(const Position& key) const;
  // The last node at or before `key`, or null.
  const Node* SeekForPrev(const Position& key) const;
  // Like Seek(), but may also return null if the node's user key is not that of `key`: saves the
  // first touch of a node that would be of no use.
  const Node* Find(const Position& key) const;
  // Find() for `count` keys, at most kMaxBatch, side by side, so that their cache misses overlap.
  void FindMany(const Position* keys, size_t count, const Node** found) const;
  const Node* First() const;
  const Node* Last() const;
  // The last node before `node`, or null. Costs a search: see BackwardWindow for many.
  const Node* Before(const Node* node) const;

  // Collects the nodes before `node` (before the end of the list when null), nearest last, into
  // `window`, at least one if there is any and at most `capacity`. Returns their number. Costs
  // about one search.
  int BackwardWindow(const Node* node, const Node** window, int capacity) const;

  // About how many nodes lie before `key`. Costs some hundred steps.
  uint64_t EstimateRank(const Position& key) const;

  // What the keys now in the list have in common. Only a guess while inserts go on.
  std::string CommonPrefix() const;

  // Stops if a level is out of order, a head is not that of its node, or a level holds more than
  // the one below. Only while nobody inserts. Walks everything.
  void CheckInvariants() const;
  // One line: height, prefix, nodes per level from the top. Walks everything.
  std::string DebugString() const;

 private:
  struct Link;
  struct Finger;

  uint64_t HeadOf(const Slice& user_key) const {
    if (prefix_.empty()) [[likely]]
      return KeyHead(user_key, comparator_.order());
    return HeadBehindPrefix(user_key);
  }
  uint64_t HeadBehindPrefix(const Slice& user_key) const;
  int Compare(const Node* node, const Position& key) const;
  bool IsBefore(const Node* node, const Position& key) const { return Compare(node, key) < 0; }
  const Node* LastBefore(const Position& key) const;
  struct Descent;
  Descent Descend(const Position& key) const;
  bool StepDown(const Position& key, Descent* descent) const;
  const Node* FirstFrom(const Descent& landing, const Position& key) const;
  const Node* FoundAt(const Descent& landing, const Position& key) const;

  int RaiseHeight(int height);
  Node* NewNode(const Position& key, const Slice& value, int height);
  Finger* MyFinger() const;
  void FindNeighbours(const Position& key, Finger* finger) const;
  bool LinkExclusively(const Position& key, Node* node, int height, Finger* finger);
  bool LinkConcurrently(const Position& key, Node* node, int height, Finger* finger);

  const InternalKeyComparator comparator_;
  const std::string prefix_;      // what heads leave out; empty in a custom order
  ConcurrentArena* const arena_;  // of the memtable, which outlives the list
  const uint64_t id_;             // no other list of this process ever has it
  Node* const front_;             // before every key; all kMaxHeight links
  // Highest level that any node reaches. Only grows; a reader that sees an old value starts lower.
  std::atomic<int> height_{1};
};

// The link of one level. `head` is never below the true head of `next` while a reader that loaded
// `head` first looks at it; UINT64_MAX for the end of the list.
struct SkipList::Link {
  std::atomic<uint64_t> head;
  std::atomic<Node*> next;
};

// One arena allocation: links from the highest level down to level 0, then the entry. So level 0
// and the key share a cache line most of the time.
class SkipList::Node : public MemTableEntry {
 public:
  const Node* Next() const { return link(0).next.load(std::memory_order_acquire); }

 private:
  friend class SkipList;

  Link& link(int level) { return *(reinterpret_cast<Link*>(this) - 1 - level); }
  const Link& link(int level) const { return *(reinterpret_cast<const Link*>(this) - 1 - level); }
};

}  // namespace ashlar
