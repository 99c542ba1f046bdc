// SPDX-License-Identifier: Apache-2.0
//
// Nodes of one level form a chain; `low` is the least key that may be in a node, and what lies
// between the low of a node and that of the next one is in that node or nowhere:
//
//   level 1     [ -inf  f  q ] ----------------------------> null
//                  |    |  +----------------------+
//                  |    +---------+               |
//   level 0     [ b d ] ---> [ f h k ] --> [ m ] --> [ q r t ] --> null
//                 low: none     low: f      low: m     low: q
//
// Here the leaf of m has been split off and is not known above yet. That is a state like any other:
// a search which comes down to the leaf of f sees that m is not before the low of the next node and
// goes right. An inserter locks a leaf; if that is full, it moves the upper half into a new node
// which it puts behind the leaf, and unlocks. Then it inserts the new node's {head of low, node}
// one level up in the same way. So it never holds two locks, and if memory runs out on the upper
// levels nothing is lost but steps.
//
// What never changes: a node's level and low. Nodes are never removed, pairs only move to the right
// (within a node, or to a new node behind it), and `next` only comes to lead to lower and lower
// keys.
//
// Moving right is always right. A search for K stands on a node with low <= K. It loads `high`,
// then `next`. If high < head(K), the node behind which `high` was written had a low before K; what
// `next` leads to by then has a low of at most that. Where heads are equal the low itself is
// compared. Nothing needs to be validated, and a search never goes too far.
//
// What is read in a node belongs together if the version was even before and is the same after
// (IsUnchanged). Let a load have seen a value of a later change. The load is an acquire and the
// store a release, so it sees that the version was made odd before, and validation fails. Values of
// earlier changes are overwritten by the time the version is even again, which the acquire of
// BeginRead() sees. Until it validates, a search follows only pointers that were in the node at
// some time: entries and nodes, all complete before they were stored there, and alive like the
// arena.
//
// Appending is the exception: a pair behind the last comes in without a new version. The slot is
// stored first, then the head, then the count. Heads behind the last are the greatest, so a search
// of the heads sees the array with the pair or without it, as each head is loaded once; of two
// appended pairs it cannot see the second only, since it looks for the border between smaller and
// larger heads: having seen the second head below its own, it takes the first for passed too, and
// rightly so. A copy of a leaf's entries takes `count` first, and is ranked with that count.
//
// Claim: Find() and Seek() miss no entry X whose Insert() returned before they were called. At
// every moment, by the clock of the changes (even versions and appends), X is in the one leaf whose
// [low, next->low) holds it: a split moves it together with that border, in one change. A search
// for K ends in a validated reading of a leaf with low <= K < next->low at a moment after the call.
// If X is the first entry at or after K, it is in that leaf and was seen; or it is the first of a
// leaf further right, whose low it is. A Window goes on with the `next` of its own moment: the keys
// between its leaf's low and that node's low, as far as they were there when the walk began, were
// in the copy. Going left it looks for the leaf that has `next` == this leaf, in a validated
// reading: all that is before the low of this leaf is there or further left.
//
// What `previous` is good for: it is stored after the `next` that leads back to this node could be
// read, and a node to the left stays to the left. So walking right from it ends at this node. Two
// splits may store it in either order, so it may lag; then the walk has more than one step.
//
// Two inserters of one key: the leaf that holds it is locked by the one, then by the other, and the
// second one sees the entry. Appends need the lock as well.
#include "memtable/blink_tree.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "memtable/blink_node.h"
#include "util/memory/prefetch.h"

namespace ashlar {
namespace {

std::atomic<uint64_t> next_tree_id{1};

}  // namespace

// Holds the lock of a node, unless its thread is the only inserter anyway.
class SCOPED_CAPABILITY BlinkTree::NodeGuard {
 public:
  NodeGuard(SpinLock* lock, bool is_alone) ACQUIRE(lock) NO_THREAD_SAFETY_ANALYSIS
      : lock_(is_alone ? nullptr : lock) {
    if (lock_ != nullptr) lock_->Lock();
  }
  ~NodeGuard() RELEASE() NO_THREAD_SAFETY_ANALYSIS {
    if (lock_ != nullptr) lock_->Unlock();
  }
  NodeGuard(const NodeGuard&) = delete;
  NodeGuard& operator=(const NodeGuard&) = delete;

 private:
  SpinLock* const lock_;
};

// Where a thread last inserted. A guess: any leaf of this tree would do.
struct BlinkTree::Finger {
  uint64_t tree_id;
  Node* leaf;
  uint32_t index;     // of the entry in it
  bool is_exclusive;  // of the insertion under way
};

BlinkTree::BlinkTree(const InternalKeyComparator& comparator, const Slice& common_prefix,
                     ConcurrentArena* arena, uint32_t fanout, size_t checksum_bytes)
    : comparator_(comparator),
      prefix_(comparator.order() == KeyOrder::kCustom ? "" : common_prefix.ToString()),
      arena_(arena),
      id_(next_tree_id.fetch_add(1, std::memory_order_relaxed)),
      fanout_(fanout),
      checksum_bytes_(static_cast<uint32_t>(checksum_bytes)),
      first_leaf_(new (arena->AllocateAligned(sizeof(Node))) Node(0, nullptr, 0)),
      root_(first_leaf_) {
  assert(fanout_ >= 3);  // halves of a split are not empty
  assert(fanout_ <= kMaxFanout);
}

// Keys before the prefix have the smallest head, keys after it the largest, so the order of heads
// stays that of the keys.
uint64_t BlinkTree::HeadBehindPrefix(const Slice& user_key) const {
  assert(comparator_.order() != KeyOrder::kCustom);  // such a tree has no prefix
  if (user_key.starts_with(prefix_)) [[likely]] {
    return KeyHead(user_key.data() + prefix_.size(), user_key.size() - prefix_.size(),
                   comparator_.order());
  }
  return comparator_.OrderWithTimestamp(user_key, prefix_) < 0 ? 0 : kEndHead;
}

int BlinkTree::Compare(const MemTableEntry* entry, const Position& key) const {
  const int by_user_key = comparator_.OrderWithTimestamp(entry->user_key(), key.user_key);
  if (by_user_key != 0) return by_user_key;
  const uint64_t trailer = entry->trailer();
  return trailer > key.trailer ? -1 : trailer < key.trailer ? +1 : 0;
}

// ---- Within a node

// Among the pairs from `first` on that have the key's head. Cold but for the entry looked for.
BlinkTree::Rank BlinkTree::RankAmongTied(const Node& node, uint32_t first,
                                         const Position& key) const {
  const uint32_t count = node.count();  // heads behind it may be equal to the greatest head
  uint32_t end = first;
  while (end < count && node.head(end) == key.head) ++end;
  Rank rank{.before = first};
  while (rank.before < end) {
    const uint32_t middle = rank.before + (end - rank.before) / 2;
    const MemTableEntry* entry = node.KeyAt(middle);
    const int by_user_key =
        entry == nullptr ? -1 : comparator_.OrderWithTimestamp(entry->user_key(), key.user_key);
    const uint64_t trailer = by_user_key == 0 ? entry->trailer() : 0;
    if (by_user_key < 0 || (by_user_key == 0 && trailer > key.trailer)) {
      rank.before = middle + 1;
    } else {
      end = middle;
      rank.is_user_key = by_user_key == 0;
      rank.is_equal = by_user_key == 0 && trailer == key.trailer;
    }
  }
  return rank;
}

const BlinkTree::Node* BlinkTree::BeyondTied(const Node& node, const Position& key) const {
  const Node* next = node.next.load(std::memory_order_acquire);
  if (next == nullptr) return nullptr;  // the key has the greatest head
  const bool is_beyond =
      next->low_head < key.head || (next->low_head == key.head && Compare(next->low, key) <= 0);
  return is_beyond ? next : nullptr;
}

// ---- Going down

// The child for the key, or the next node if the key is there, or the same node if it changed.
inline const BlinkTree::Node* BlinkTree::StepTowards(const Node* node, const Position& key) const {
  assert(node->level > 0);
  const uint32_t version = node->BeginRead();
  if (const Node* next = Beyond(*node, key)) return next;
  const Rank rank = RankIn(*node, key);
  const uint32_t above = rank.before + uint32_t{rank.is_equal};  // the first child after the key
  const Node* child = node->child(above == 0 ? 0 : above - 1);
  if (!node->IsUnchanged(version)) return node;
  assert(above > 0);  // the first child has the low of the node
  child->Prefetch();
  return child;
}

const BlinkTree::Node* BlinkTree::DescendTo(uint32_t level, const Position& key) const {
  const Node* node = root_.load(std::memory_order_acquire);
  assert(node->level >= level);
  while (node->level > level) node = StepTowards(node, key);
  return node;
}

// ---- Point lookups

bool BlinkTree::IsEmpty() const {
  const Node* const root = root_.load(std::memory_order_acquire);
  return root->level == 0 && root->count() == 0;
}

BlinkTree::Cursor BlinkTree::FindIn(const Node* leaf, const Position& key) const {
  assert(leaf->level == 0);
  while (true) {
    const uint32_t version = leaf->BeginRead();
    if (const Node* next = Beyond(*leaf, key)) {
      leaf = next;
      continue;
    }
    // Taken before the ranking: a newer version of the key may be appended meanwhile, behind which
    // the ranking has looked at nothing.
    const uint32_t count = leaf->count();
    const Rank rank = RankIn(*leaf, key);
    const MemTableEntry* entry = rank.is_user_key ? leaf->entry(rank.before) : nullptr;
    // Older versions of the key may begin with the next leaf.
    const bool may_be_next = entry == nullptr &&
                             leaf->high.load(std::memory_order_acquire) == key.head &&
                             rank.before >= count;
    if (!leaf->IsUnchanged(version)) continue;
    if (may_be_next) [[unlikely]]
      return FindBySeek(key);
    return {entry, leaf, rank.before, version};
  }
}

BlinkTree::Cursor BlinkTree::FindBySeek(const Position& key) const {
  Window window;
  Seek(key, &window);
  if (!window.IsValid()) return {};
  const MemTableEntry* entry = window.entries[window.index];
  if (!comparator_.SameKey(entry->user_key(), key.user_key)) return {};
  return {entry, window.leaf, window.index, window.version};
}

BlinkTree::Cursor BlinkTree::Find(const Position& key) const {
  return FindIn(DescendTo(0, key), key);
}

// All searches stand on the same level at any time, so the misses of one step overlap.
void BlinkTree::FindMany(const Position* keys, size_t count, Cursor* found) const {
  assert(count <= kMaxBatch);
  const Node* nodes[kMaxBatch];
  const Node* const root = root_.load(std::memory_order_acquire);
  std::fill_n(nodes, count, root);
  for (uint32_t level = root->level; level > 0; --level) {
    for (size_t i = 0; i < count; ++i) {
      while (nodes[i]->level == level) nodes[i] = StepTowards(nodes[i], keys[i]);
    }
  }
  // The entry that will be compared.
  for (size_t i = 0; i < count; ++i) {
    const uint32_t index = nodes[i]->CountHeadsBelow(keys[i].head);
    if (index < kMaxFanout && nodes[i]->head(index) == keys[i].head) {
      __builtin_prefetch(nodes[i]->entry(index));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    found[i] = FindIn(nodes[i], keys[i]);
    if (found[i].entry == nullptr) continue;
    const Slice value = found[i].entry->value();
    __builtin_prefetch(value.data());
    __builtin_prefetch(value.data() + value.size() / 2);
    __builtin_prefetch(value.data() + value.size());
  }
}

void BlinkTree::Next(Cursor* cursor) const {
  assert(cursor->entry != nullptr);
  const Node& leaf = *cursor->leaf;
  if (cursor->index + 1 < leaf.count()) {
    const MemTableEntry* entry = leaf.entry(cursor->index + 1);
    if (leaf.IsUnchanged(cursor->version)) [[likely]] {
      cursor->entry = entry;
      ++cursor->index;
      return;
    }
  }
  Window window;
  Seek(PositionOf(cursor->entry), &window);
  assert(window.entries[window.index] == cursor->entry);  // nothing is ever removed
  Next(&window);
  *cursor = {};
  if (window.IsValid()) {
    *cursor = {window.entries[window.index], window.leaf, window.index, window.version};
  }
}

// ---- Inserting

bool BlinkTree::Insert(const Position& key, const Slice& value, bool exclusive) {
  Finger* finger = MyFinger();
  finger->is_exclusive = exclusive;
  Node* leaf = LeafNear(key, *finger);
  MemTableEntry* entry = NewEntry(key, value);  // while the lines of the leaf arrive
  const Placed placed = Place(leaf, key, entry, *finger);
  if (placed.node == nullptr) return false;
  finger->leaf = placed.node;
  finger->index = placed.index;
  if (placed.new_node != nullptr) [[unlikely]]
    LinkUp(placed.new_node, *finger);
  return true;
}

// A few fingers per thread, so that batches over some column families do not chase each other away.
// They outlive their trees; the tree's id tells.
BlinkTree::Finger* BlinkTree::MyFinger() const {
  constexpr size_t kFingers = 4;
  static thread_local Finger fingers[kFingers];
  Finger* finger = &fingers[id_ % kFingers];
  if (finger->tree_id != id_) *finger = {.tree_id = id_, .leaf = first_leaf_};
  assert(finger->leaf->level == 0);
  return finger;
}

// The leaf of the key, or one to the left of it.
BlinkTree::Node* BlinkTree::LeafNear(const Position& key, const Finger& finger) const {
  const Node& leaf = *finger.leaf;
  const bool is_behind_low = leaf.low_head < key.head || leaf.low == nullptr ||
                             (leaf.low_head == key.head && Compare(leaf.low, key) <= 0);
  if (is_behind_low && Beyond(leaf, key) == nullptr) return finger.leaf;
  return const_cast<Node*>(DescendTo(0, key));
}

MemTableEntry* BlinkTree::NewEntry(const Position& key, const Slice& value) {
  const size_t bytes = MemTableEntry::BytesFor(key.user_key, value, checksum_bytes_);
  char* memory = arena_->Allocate(bytes);
  // An arena is filled downwards: the next entry lies there, if it is one like this.
  PrefetchToWriteBefore(memory, bytes);
  auto* entry = new (memory) MemTableEntry;
  entry->Fill(key.user_key, key.trailer, value, checksum_bytes_);
  assert(entry->user_key() == key.user_key);
  assert(entry->trailer() == key.trailer);
  return entry;
}

// Inserts {key's head, slot} into the level of `node`, there or further right.
BlinkTree::Placed BlinkTree::Place(Node* node, const Position& key, void* slot,
                                   const Finger& finger) {
  char* memory = nullptr;  // of a new node: nothing is allocated under a lock
  while (true) {
    Node* const here = node;
    if (memory == nullptr && here->count() == fanout_) {
      memory = arena_->AllocateAligned(sizeof(Node));
    }
    NodeGuard guard(&here->lock, finger.is_exclusive);
    if (const Node* next = Beyond(*here, key)) {
      node = const_cast<Node*>(next);
      continue;
    }
    const Rank rank = RankIn(*here, key);
    assert(rank.before <= here->count());
    if (rank.is_equal) return {.node = nullptr};
    if (here->count() < fanout_) [[likely]] {
      here->Insert({rank.before, key.head, slot});
      return {.node = here, .index = rank.before};
    }
    if (memory == nullptr) continue;  // filled by another since we looked
    const bool ascends = here->next.load(std::memory_order_relaxed) == nullptr ||
                         (here == finger.leaf && rank.before == finger.index + 1);
    return here->Split(memory, {rank.before, key.head, slot}, ascends);
  }
}

// Makes a new node known to the levels above. Where memory runs out it stays unknown, and so do
// the nodes that would have been split there.
void BlinkTree::LinkUp(Node* node, const Finger& finger) {
  try {
    while (node != nullptr) {
      const Position key{node->low->user_key(), node->low->trailer(), node->low_head};
      const uint32_t level = node->level + 1;
      if (root_.load(std::memory_order_acquire)->level < level) {
        if (RaiseRoot(node)) return;
        continue;
      }
      auto* parent = const_cast<Node*>(DescendTo(level, key));
      const Placed placed = Place(parent, key, node, finger);
      assert(placed.node != nullptr);  // nobody else makes it known
      node = placed.new_node;
    }
  } catch (const std::bad_alloc&) {
    assert(node != nullptr);
  }
}

// Puts a level over the root and a node to the right of it. False: another thread was faster.
bool BlinkTree::RaiseRoot(Node* right) {
  Node* root = root_.load(std::memory_order_acquire);
  if (root->level != right->level) return false;
  assert(root->low == nullptr);
  Node* above = new (arena_->AllocateAligned(sizeof(Node))) Node(root->level + 1, nullptr, 0);
  above->Append(0, root);
  above->Append(right->low_head, right);
  return root_.compare_exchange_strong(root, above, std::memory_order_release,
                                       std::memory_order_relaxed);
}

}  // namespace ashlar
