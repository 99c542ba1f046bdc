// SPDX-License-Identifier: Apache-2.0
//
// Splits of a node, and waiting readers.
#include "memtable/blink_node.h"

#include <sched.h>

#include <cassert>
#include <new>

namespace ashlar {

// Waits for the short time in which a writer moves pairs.
uint32_t BlinkTree::Node::AwaitEvenVersion() const {
  constexpr int kSpins = 100;
  for (int i = 0;; ++i) {
    const uint32_t version = version_.load(std::memory_order_acquire);
    if (version % 2 == 0) return version;
    if (i < kSpins) {
      SpinPause();
    } else {
      sched_yield();
    }
  }
}

BlinkTree::Placed BlinkTree::Node::Split(char* memory, const Insertion& pair, bool ascends) {
  const uint32_t count = count_.load(std::memory_order_relaxed);
  assert(pair.index <= count);
  // If the pair comes first, keys are expected to descend. Only the leftmost leaf can see that.
  const bool is_last = pair.index == count;
  const uint32_t cut = is_last && ascends ? count : pair.index == 0 ? 0 : count / 2;
  const bool goes_right = pair.index > cut || cut == count;
  Node* right = NewRightNode(memory, cut, goes_right ? &pair : nullptr);
  CutAt(cut, right, goes_right ? nullptr : &pair);
  // Only now, because `right` must be reachable from the left first; see the proof in
  // blink_tree.cc.
  Node* const next_of_right = right->next.load(std::memory_order_relaxed);
  if (next_of_right != nullptr) next_of_right->previous.store(right, std::memory_order_release);
  if (goes_right) return {.node = right, .index = pair.index - cut, .new_node = right};
  return {.node = this, .index = pair.index, .new_node = right};
}

// The new node gets the pairs from `cut` on and, unless it is null, `extra` among them.
BlinkTree::Node* BlinkTree::Node::NewRightNode(char* memory, uint32_t cut,
                                               const Insertion* extra) const {
  const uint32_t count = count_.load(std::memory_order_relaxed);
  assert(cut < count || extra != nullptr);  // only the first leaf may be empty
  const MemTableEntry* right_low = nullptr;
  if (cut < count) {
    right_low = KeyAt(cut);
  } else if (level == 0) {
    right_low = static_cast<const MemTableEntry*>(extra->slot);
  } else {
    right_low = static_cast<const Node*>(extra->slot)->low;
  }
  Node* right = new (memory) Node(level, right_low, cut < count ? head(cut) : extra->head);
  for (uint32_t i = cut; i <= count; ++i) {
    if (extra != nullptr && extra->index == i) right->Append(extra->head, extra->slot);
    if (i < count) right->Append(head(i), slot(i));
  }
  std::construct_at(&right->previous, const_cast<Node*>(this));
  std::construct_at(&right->next, next.load(std::memory_order_relaxed));
  std::construct_at(&right->high, high.load(std::memory_order_relaxed));
  return right;
}

// Removes the pairs from `cut` on, which `right` has now, and makes `right` the next node. Inserts
// `extra` into the remaining pairs unless it is null.
void BlinkTree::Node::CutAt(uint32_t cut, Node* right, const Insertion* extra) {
  assert(right != nullptr);
  const uint32_t count = count_.load(std::memory_order_relaxed);
  assert(cut <= count);
  assert(extra == nullptr || extra->index <= cut);
  assert(cut > 0 || extra != nullptr);  // only the first leaf may be empty
  BeginChange();
  next.store(right, std::memory_order_release);
  high.store(right->low_head, std::memory_order_release);
  uint32_t left = cut;
  if (extra != nullptr) InsertChanging(*extra, left++);
  for (uint32_t i = left; i < count; ++i) heads_[i].store(kEndHead, std::memory_order_release);
  count_.store(left, std::memory_order_release);
  EndChange();
}

}  // namespace ashlar
