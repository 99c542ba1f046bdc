// SPDX-License-Identifier: Apache-2.0
//
// RangeTree is an interval tree of the ranges that are locked in one family: a treap in the order
// of their starts, in which each node knows the greatest end below it. Ranges may overlap.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/comparator.h"
#include "db/transaction/locks/key_locks.h"

namespace ashlar {

// An end of a range that owns its bytes.
struct RangeEnd {
  explicit RangeEnd(const Endpoint& end) : key(end.slice.ToString()), is_after(end.inf_suffix) {}

  std::string key;
  bool is_after;  // true: behind all keys that begin with `key`; false: before them
};

// Compares two ends. An end is a place before or behind all keys with a prefix, so of two ends of
// which one is a prefix of the other only the shorter one decides; `comparator` compares the bytes
// that both have.
int CompareEnds(const Comparator& comparator, const RangeEnd& a, const RangeEnd& b);

// A locked range of one owner, both ends included.
class RangeLock {
 public:
  RangeLock(LockOwner* owner, const Endpoint& start, const Endpoint& end, LockMode mode,
            bool is_key)
      : owner(owner), start(start), end(end), mode(mode), is_key(is_key) {}
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;

  // The bytes by which this range counts against the limit of memory.
  size_t MemoryBytes() const { return sizeof(*this) + start.key.size() + end.key.size(); }

  LockOwner* const owner;
  const RangeEnd start;
  RangeEnd end;
  // Changed only while the range is in the tree of its family, with the mutex of the RangeLocks
  // held.
  LockMode mode;
  bool is_key;             // made by a KeyLock, which may release it
  bool is_joined = false;  // also has what other requests of the owner were granted
  uint32_t family = 0;
  // The list of all ranges of the owner, in all families.
  RangeLock* next_of_owner = nullptr;
  RangeLock* previous_of_owner = nullptr;

 private:
  friend class RangeTree;

  RangeLock* left_ = nullptr;
  RangeLock* right_ = nullptr;
  const RangeEnd* last_end_ = nullptr;  // the greatest one of this subtree
  uint64_t priority_ = 0;               // not less than those of the children
};

// The ranges of one family. The tree has pointers; the caller owns the ranges.
class RangeTree {
 public:
  // The comparator outlives the tree.
  explicit RangeTree(const Comparator* comparator) : comparator_(comparator) {}
  RangeTree(const RangeTree&) = delete;
  RangeTree& operator=(const RangeTree&) = delete;

  bool IsEmpty() const { return root_ == nullptr; }
  int Compare(const RangeEnd& a, const RangeEnd& b) const {
    return CompareEnds(*comparator_, a, b);
  }
  bool Overlap(const RangeEnd& start, const RangeEnd& end, const RangeEnd& other_start,
               const RangeEnd& other_end) const {
    return Compare(start, other_end) <= 0 && Compare(other_start, end) <= 0;
  }

  // Inserts or removes a range that the caller owns. Its start does not change meanwhile.
  void Insert(RangeLock* range);
  void Remove(RangeLock* range);
  // Moves the end of a range in the tree.
  void SetEnd(RangeLock* range, const RangeEnd& end);

  // Calls visit(RangeLock*) for the ranges that overlap [start, end], in the order of their starts,
  // until it returns false. `visit` does not change the tree.
  template <typename Visit>
  void ForOverlapping(const RangeEnd& start, const RangeEnd& end, const Visit& visit) const {
    VisitOverlapping(root_, start, end, visit);
  }
  // Like the function above, but visits all ranges.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    VisitAll(root_, visit);
  }

 private:
  // Two ranges may have the same start. Their addresses then decide, so that the order is strict
  // and a removal finds the right one.
  bool IsLess(const RangeLock& a, const RangeLock& b) const {
    const int order = Compare(a.start, b.start);
    return order != 0 ? order < 0 : &a < &b;
  }
  void Update(RangeLock* range) const;
  RangeLock* InsertInto(RangeLock* root, RangeLock* range);
  RangeLock* RemoveFrom(RangeLock* root, const RangeLock* range);
  void UpdatePathTo(RangeLock* root, const RangeLock* range);
  // Divides a subtree into the ranges before and behind one that is in none of them.
  void Split(RangeLock* root, const RangeLock& at, RangeLock** less, RangeLock** more);
  // Joins two subtrees of which the first is before the second.
  RangeLock* Join(RangeLock* less, RangeLock* more);

  template <typename Visit>
  bool VisitOverlapping(RangeLock* root, const RangeEnd& start, const RangeEnd& end,
                        const Visit& visit) const {
    // Nothing in this subtree reaches as far as `start`.
    if (root == nullptr || Compare(*root->last_end_, start) < 0) return true;
    if (!VisitOverlapping(root->left_, start, end, visit)) return false;
    // This range and all behind it start after `end`.
    if (Compare(root->start, end) > 0) return true;
    if (Compare(root->end, start) >= 0 && !visit(root)) return false;
    return VisitOverlapping(root->right_, start, end, visit);
  }
  template <typename Visit>
  static void VisitAll(RangeLock* root, const Visit& visit) {
    if (root == nullptr) return;
    VisitAll(root->left_, visit);
    visit(root);
    VisitAll(root->right_, visit);
  }

  const Comparator* const comparator_;
  RangeLock* root_ = nullptr;
  uint64_t inserted_ = 0;  // for priorities
};

}  // namespace ashlar
