// SPDX-License-Identifier: Apache-2.0
//
// BlinkTree keeps the entries of a memtable in internal-key order: a B-link tree whose nodes hold
// up to 32 pairs {head of a key, entry or child}. Any number of threads insert and read at once;
// nothing is removed until the whole tree dies with its arena.
//
// A head is the first bytes of a key as a number. A search within a node reads heads only, side by
// side, and touches an entry where heads are equal: usually the one it looks for. Keys that share a
// long prefix would all have the same head; a tree that is told the prefix takes its heads from the
// bytes behind it. In a custom order every head is 0 and keys are compared.
//
// Readers take no lock: each node has a version that tells them whether what they read belongs
// together. An inserter locks one node at a time, for some thirty moves of 16 bytes. Why all that
// is right is proved at the head of blink_tree.cc.
//
// Each thread remembers where it last inserted into a tree and tries that leaf first, so that
// ascending keys cost no search. Threads: all functions from any thread; Insert() with exclusive =
// true only while no other Insert() runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "memtable/entry.h"
#include "util/keys/internal_key.h"
#include "util/memory/arena.h"

namespace ashlar {

class BlinkTree {
 public:
  static constexpr uint32_t kMaxFanout = 32;
  static constexpr size_t kMaxBatch = 32;

  class Node;
  // A position in the order of internal keys, with its head. Borrows the key.
  struct Position {
    Slice user_key;
    uint64_t trailer;
    uint64_t head;
  };
  // A place for the few steps of a point lookup. Null `entry`: nowhere.
  struct Cursor {
    const MemTableEntry* entry = nullptr;
    const Node* leaf = nullptr;
    uint32_t index = 0;    // of the entry in the leaf
    uint32_t version = 0;  // of the leaf at that time
  };
  // A place for walks: the entries that a leaf had at one moment. It stands as it is while the leaf
  // splits. What is inserted meanwhile it may miss.
  struct Window {
    bool IsValid() const { return index < count; }

    uint32_t index = 0;  // where it stands
    uint32_t count = 0;
    uint32_t version = 0;        // of the leaf at that moment
    const Node* leaf = nullptr;  // null before the first Seek
    const Node* next = nullptr;  // its right neighbour at that moment
    const MemTableEntry* entries[kMaxFanout];
  };

  // `common_prefix`, which may be empty, is what most keys are expected to begin with; a wrong
  // guess costs speed only. Entries get checksums of so many bytes. A fanout below the usual one is
  // for tests. The arena outlives the tree.
  BlinkTree(const InternalKeyComparator& comparator, const Slice& common_prefix,
            ConcurrentArena* arena, uint32_t fanout = kMaxFanout, size_t checksum_bytes = 0);
  BlinkTree(const BlinkTree&) = delete;
  BlinkTree& operator=(const BlinkTree&) = delete;

  // Whether nothing was inserted before the call. What a reader may see was, so it may end here: a
  // root that is a leaf holds all there is, and keeps a part of it when it is split.
  bool IsEmpty() const;

  Position At(const Slice& user_key, uint64_t trailer) const {
    return {user_key, trailer, HeadOf(user_key)};
  }

  // Copies key and value into the tree. False, and nothing changes, if the tree holds the same
  // internal key already. If memory runs out it throws, and nothing has changed.
  bool Insert(const Position& key, const Slice& value, bool exclusive);

  // The first entry at or after `key` if its user key is that of `key`. Sees every entry whose
  // Insert() has returned, and may see others; so do all functions below.
  Cursor Find(const Position& key) const;
  // Find() for `count` keys, at most kMaxBatch, side by side, so that their cache misses overlap.
  // Best if they ascend.
  void FindMany(const Position* keys, size_t count, Cursor* found) const;
  // To the entry after, or nowhere.
  void Next(Cursor* cursor) const;

  // To the first entry, the last, the first at or after `key`, the last at or before it.
  void SeekToFirst(Window* window) const;
  void SeekToLast(Window* window) const;
  void Seek(const Position& key, Window* window) const;
  void SeekForPrev(const Position& key, Window* window) const;
  void Next(Window* window) const {
    assert(window->IsValid());
    if (++window->index == window->count) [[unlikely]]
      ToNextLeaf(window);
  }
  void Prev(Window* window) const {
    assert(window->IsValid());
    if (window->index-- == 0) [[unlikely]]
      ToPreviousLeaf(window);
  }

  // About what part of all entries lies before `key`, from 0 to 1. Costs some ten nodes, at most
  // 128.
  double FractionBefore(const Position& key) const;

  // What more keys like those now in the tree may be expected to begin with: what these have in
  // common if they are many; few can only shorten what was expected of them. Only a guess while
  // inserts go on. Costs a walk over some dozens of nodes, at most some thousands.
  std::string CommonPrefix() const;

  // Stops if an invariant named at the head of blink_tree.cc does not hold. Only while nobody
  // inserts. Walks everything.
  void CheckInvariants() const;
  // One line: height, prefix, entries, nodes per level from the top. Walks everything.
  std::string DebugString() const;

 private:
  struct Finger;
  struct Rank;
  struct Insertion;
  struct Placed;
  class NodeGuard;
  struct PairCount {
    uint64_t before = 0;  // with a key before the one asked for
    uint64_t all = 0;
  };

  uint64_t HeadOf(const Slice& user_key) const {
    if (prefix_.empty()) [[likely]]
      return KeyHead(user_key, comparator_.order());
    return HeadBehindPrefix(user_key);
  }
  uint64_t HeadBehindPrefix(const Slice& user_key) const;
  Position PositionOf(const MemTableEntry* entry) const {
    return At(entry->user_key(), entry->trailer());
  }
  int Compare(const MemTableEntry* entry, const Position& key) const;

  Rank RankIn(const Node& node, const Position& key) const;
  Rank RankAmongTied(const Node& node, uint32_t first, const Position& key) const;
  const Node* BeyondTied(const Node& node, const Position& key) const;
  const Node* Beyond(const Node& node, const Position& key) const;
  const Node* StepTowards(const Node* node, const Position& key) const;
  const Node* DescendTo(uint32_t level, const Position& key) const;
  Cursor FindIn(const Node* leaf, const Position& key) const;
  Cursor FindBySeek(const Position& key) const;
  void Load(const Node* leaf, Window* window) const;
  bool LoadAt(const Node* leaf, const Position& key, Window* window) const;
  void ToNextLeaf(Window* window) const;
  void ToPreviousLeaf(Window* window) const;
  PairCount CountPairs(uint32_t level, const Position& key) const;
  bool HasManyKeys() const;
  const Node* LeftmostOn(uint32_t level) const;
  void CheckNode(const Node& node) const;

  Finger* MyFinger() const;
  Node* LeafNear(const Position& key, const Finger& finger) const;
  MemTableEntry* NewEntry(const Position& key, const Slice& value);
  Placed Place(Node* node, const Position& key, void* slot, const Finger& finger);
  void LinkUp(Node* node, const Finger& finger);
  bool RaiseRoot(Node* right);

  const InternalKeyComparator comparator_;
  const std::string prefix_;       // what heads leave out; empty in a custom order
  ConcurrentArena* const arena_;   // of the memtable, which outlives the tree
  const uint64_t id_;              // no other tree of this process ever has it
  const uint32_t fanout_;          // how many pairs a node holds
  const uint32_t checksum_bytes_;  // behind each entry
  Node* const first_leaf_;         // for ever
  // The leftmost node of the highest level. Changed by who splits the highest level; a reader that
  // sees an old root starts lower and goes right.
  std::atomic<Node*> root_;
};

}  // namespace ashlar
