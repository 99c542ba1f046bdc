// SPDX-License-Identifier: Apache-2.0
// BlinkTree stores the entries of a memtable in internal-key order. It is a B-link tree whose nodes
// have up to 32 pairs {head of a key, entry or child}. Any number of threads insert and read at the
// same time. Nothing is removed until the whole tree is freed with its arena.
//
// A head is the number that the first bytes of a key form. A search within a node reads the heads,
// which are contiguous, and reads an entry only if heads are equal: usually the entry that it looks
// for. Keys with a long common prefix would all have the same head; a tree that gets the prefix
// makes its heads from the bytes behind it. With a custom order every head is 0, and keys are
// compared.
//
// Readers take no lock: each node has a version, which tells a reader whether the values that it
// read are consistent. An inserter locks one node at a time, for about thirty moves of 16 bytes.
// The proof of correctness is in the head comment of blink_tree.cc.
//
// Each thread remembers the leaf of its last insertion into a tree and tries this leaf first, so
// ascending keys need no search. Threads: all functions from any thread; Insert() with exclusive =
// true only while no other Insert() runs.
#pragma once

#include <atomic>
#include <cassert>
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
  // A position for the few steps of a point lookup. Null `entry`: at no entry.
  struct Cursor {
    const MemTableEntry* entry = nullptr;
    const Node* leaf = nullptr;
    uint32_t index = 0;    // index of the entry in the leaf
    uint32_t version = 0;  // version of the leaf when the entry was found
  };
  // A position for iterators: a copy of the entries that a leaf had at one moment. A split of the
  // leaf does not change the copy. Entries that are inserted later may be missed.
  struct Window {
    bool IsValid() const { return index < count; }

    uint32_t index = 0;  // the current entry
    uint32_t count = 0;
    uint32_t version = 0;        // version of the leaf at that moment
    const Node* leaf = nullptr;  // null before the first Seek()
    const Node* next = nullptr;  // the right neighbour of the leaf at that moment
    const MemTableEntry* entries[kMaxFanout];
  };

  // `common_prefix`, which may be empty, is the expected common prefix of most keys; a wrong guess
  // only costs speed. Entries get checksums of `checksum_bytes` bytes. A smaller fanout is for
  // tests. The arena outlives the tree.
  BlinkTree(const InternalKeyComparator& comparator, const Slice& common_prefix,
            ConcurrentArena* arena, uint32_t fanout = kMaxFanout, size_t checksum_bytes = 0);
  BlinkTree(const BlinkTree&) = delete;
  BlinkTree& operator=(const BlinkTree&) = delete;

  // True if nothing was inserted before the call. Everything that a reader must see was inserted
  // before, so the reader may stop. A root that is a leaf has all entries, and keeps some of them
  // when it is split.
  bool IsEmpty() const;

  // The position of an internal key.
  Position At(const Slice& user_key, uint64_t trailer) const {
    return {user_key, trailer, HeadOf(user_key)};
  }

  // Copies key and value into the tree. False, and nothing changes, if the tree contains the same
  // internal key already. Throws if memory runs out, and nothing has changed then.
  bool Insert(const Position& key, const Slice& value, bool exclusive);

  // The first entry at or after `key`, if it has the same user key. This and all functions below
  // see every entry whose Insert() has returned, and may see others.
  Cursor Find(const Position& key) const;
  // Find() for `count` keys, at most kMaxBatch, at the same time, so that their cache misses
  // overlap. Best with ascending keys.
  void FindMany(const Position* keys, size_t count, Cursor* found) const;
  // Moves to the next entry, or to none.
  void Next(Cursor* cursor) const;

  // Move to the first entry, the last entry, the first one at or after `key`, or the last one at or
  // before it.
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

  // The estimated part of all entries that is before `key`, from 0 to 1. Reads about ten nodes, at
  // most 128.
  double FractionBefore(const Position& key) const;

  // The expected common prefix of future keys: the common prefix of the keys in the tree if they
  // are many. If they are few, they can only shorten the prefix that was expected for this tree.
  // Inexact while insertions run. Reads some dozens of nodes, at most some thousands.
  std::string CommonPrefix() const;

  // Aborts if an invariant from the head comment of blink_tree.cc does not hold. Only while no
  // thread inserts. Reads everything.
  void CheckInvariants() const;
  // One line: height, prefix, entries, and nodes per level from the top. Reads everything.
  std::string DebugString() const;

 private:
  struct InsertHint;
  struct Rank;
  struct Insertion;
  struct Placed;
  class NodeGuard;
  // Numbers of pairs on one level.
  struct PairCount {
    uint64_t before = 0;  // pairs whose keys are before the given key
    uint64_t all = 0;
  };

  uint64_t HeadOf(const Slice& user_key) const {
    if (prefix_.empty()) [[likely]]
      return KeyHead(user_key, comparator_.order());
    return HeadBehindPrefix(user_key);
  }
  // The head of a key if the tree has a prefix.
  uint64_t HeadBehindPrefix(const Slice& user_key) const;
  Position PositionOf(const MemTableEntry* entry) const {
    return At(entry->user_key(), entry->trailer());
  }
  int Compare(const MemTableEntry* entry, const Position& key) const;

  Rank RankIn(const Node& node, const Position& key) const;
  // RankIn() and Beyond() if heads are equal, so keys must be compared.
  Rank RankAmongTied(const Node& node, uint32_t first, const Position& key) const;
  const Node* BeyondTied(const Node& node, const Position& key) const;
  const Node* Beyond(const Node& node, const Position& key) const;
  // One step of a search; see blink_tree.cc for this and the following functions.
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

  // The hint of this thread for this tree.
  InsertHint* ThreadHint() const;
  Node* LeafNear(const Position& key, const InsertHint& hint) const;
  MemTableEntry* NewEntry(const Position& key, const Slice& value);
  Placed Place(Node* node, const Position& key, void* slot, const InsertHint& hint);
  void LinkUp(Node* node, const InsertHint& hint);
  bool RaiseRoot(Node* right);

  const InternalKeyComparator comparator_;
  const std::string prefix_;       // heads begin behind it; empty in a custom order
  ConcurrentArena* const arena_;   // the arena of the memtable, which outlives the tree
  const uint64_t id_;              // unique among all trees of this process
  const uint32_t fanout_;          // pairs that a node can have
  const uint32_t checksum_bytes_;  // behind each entry
  Node* const first_leaf_;         // never changes
  // The leftmost node of the highest level. Changed by the thread that splits the highest level. A
  // reader that sees an old root starts on a lower level and moves right.
  std::atomic<Node*> root_;
};

}  // namespace ashlar
