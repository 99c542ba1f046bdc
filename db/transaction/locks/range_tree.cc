// SPDX-License-Identifier: Apache-2.0
//
// A treap by splitting and joining. Each change updates the greatest ends on its way back.
//
// A treap is a search tree by the starts of the ranges, and at the same time a heap by random
// priorities, which keeps it balanced: the expected depth is logarithmic. So recursion is shallow.
#include "db/transaction/locks/range_tree.h"

#include <algorithm>
#include <cassert>

#include "util/hash/hash.h"

namespace ashlar {

// The shorter end decides. If it is behind all keys with its prefix, it is also behind the longer
// end, which begins with that prefix; else it is before it.
int CompareEnds(const Comparator& comparator, const RangeEnd& a, const RangeEnd& b) {
  const size_t common = std::min(a.key.size(), b.key.size());
  const int order = comparator.Compare(Slice(a.key.data(), common), Slice(b.key.data(), common));
  if (order != 0) return order;
  if (a.key.size() < b.key.size()) return a.is_after ? 1 : -1;
  if (a.key.size() > b.key.size()) return b.is_after ? -1 : 1;
  return static_cast<int>(a.is_after) - static_cast<int>(b.is_after);
}

// Computes the greatest end of a subtree from those of its children, which are right already.
void RangeTree::Update(RangeLock* range) const {
  assert(range != nullptr);
  range->last_end_ = &range->end;
  for (const RangeLock* child : {range->left_, range->right_}) {
    if (child != nullptr && Compare(*child->last_end_, *range->last_end_) > 0) {
      range->last_end_ = child->last_end_;
    }
  }
}

// Cuts a subtree into the ranges before `at` and the rest. The priorities are hashes of a counter,
// which spread like random numbers, so the depth of the recursion is logarithmic in the number of
// ranges with high probability.
void RangeTree::Split(RangeLock* root, const RangeLock& at, RangeLock** less, RangeLock** more) {
  if (root == nullptr) {
    *less = *more = nullptr;
    return;
  }
  if (IsLess(*root, at)) {
    Split(root->right_, at, &root->right_, more);
    *less = root;
  } else {
    Split(root->left_, at, less, &root->left_);
    *more = root;
  }
  Update(root);
}

// The opposite of Split(): all ranges of `less` are before those of `more`. The range with the
// greater priority becomes the root.
RangeLock* RangeTree::Join(RangeLock* less, RangeLock* more) {
  if (less == nullptr) return more;
  if (more == nullptr) return less;
  RangeLock* const root = less->priority_ >= more->priority_ ? less : more;
  if (root == less) {
    root->right_ = Join(root->right_, more);
  } else {
    root->left_ = Join(less, root->left_);
  }
  Update(root);
  return root;
}

// Goes down as long as the priorities are not smaller. There the subtree is split by the start of
// the new range, and the two halves become its children.
RangeLock* RangeTree::InsertInto(RangeLock* root, RangeLock* range) {
  if (root != nullptr && root->priority_ >= range->priority_) {
    RangeLock*& side = IsLess(*range, *root) ? root->left_ : root->right_;
    side = InsertInto(side, range);
    Update(root);
    return root;
  }
  Split(root, *range, &range->left_, &range->right_);
  Update(range);
  return range;
}

void RangeTree::Insert(RangeLock* range) {
  assert(range != nullptr);
  assert(range->left_ == nullptr && range->right_ == nullptr);
  range->priority_ = Mix64(++inserted_);
  root_ = InsertInto(root_, range);
}

RangeLock* RangeTree::RemoveFrom(RangeLock* root, const RangeLock* range) {
  assert(root != nullptr && "the range is in the tree");
  if (root == range) return Join(root->left_, root->right_);
  RangeLock*& side = IsLess(*range, *root) ? root->left_ : root->right_;
  side = RemoveFrom(side, range);
  Update(root);
  return root;
}

void RangeTree::Remove(RangeLock* range) {
  assert(range != nullptr);
  root_ = RemoveFrom(root_, range);
  range->left_ = range->right_ = nullptr;
}

// The path has to be computed from below: the node itself first, then its ancestors.
void RangeTree::UpdatePathTo(RangeLock* root, const RangeLock* range) {
  assert(root != nullptr && "the range is in the tree");
  if (root != range) UpdatePathTo(IsLess(*range, *root) ? root->left_ : root->right_, range);
  Update(root);
}

void RangeTree::SetEnd(RangeLock* range, const RangeEnd& end) {
  assert(range != nullptr);
  range->end = end;
  UpdatePathTo(root_, range);
}

}  // namespace ashlar
