// SPDX-License-Identifier: Apache-2.0
//
// The nodes of one level form a chain. `low` is the least key that may be in a node. A key between
// the low of a node and the low of the next node is in that node or not in the level:
//
//   level 1     [ -inf  f  q ] ----------------------------> null
//                  |    |  +----------------------+
//                  |    +---------+               |
//   level 0     [ b d ] ---> [ f h k ] --> [ m ] --> [ q r t ] --> null
//                 low: none     low: f      low: m     low: q
//
// In this example the leaf of m was just split off, and the level above does not contain it yet.
// This is a normal state: a search for m comes down to the leaf of f, sees that m is not before the
// low of the next node, and moves right. An inserter locks a leaf. If the leaf is full, it moves
// the upper half into a new node, puts that behind the leaf, and unlocks. Then it inserts {head of
// low, new node} one level up in the same way. So it never holds two locks. If memory runs out on
// the upper levels, nothing is lost; searches only need more steps.
//
// Invariants: the level and the low of a node never change. Nodes are never removed. Pairs only
// move to the right (within a node, or to a new node behind it). Over time, `next` of a node leads
// to lower and lower keys.
//
// Moving right is always correct. A search for K is at a node with low <= K. It loads `high`, then
// `next`. If high < head(K), then the next node for which `high` was written had a low before K,
// and the node to which `next` leads when it is loaded has at most that low. If heads are equal,
// the low itself is compared. No validation is needed, and a search never moves too far.
//
// Values that were read in a node are consistent if the version was even before and is the same
// afterwards (IsUnchanged). Proof: assume that a load has seen a value of a later change. The load
// is an acquire and the store a release, so the reader also sees that the version was made odd
// before, and validation fails. Values of earlier changes were overwritten before the version
// became even again, which the acquire in BeginRead() sees. Until validation a search only follows
// pointers that were in the node at some time: they lead to entries and nodes that were complete
// before they were stored there, and that live as long as the arena.
//
// Appending is an exception: a new last pair does not change the version. The slot is stored first,
// then the head, then the count. Heads behind the last pair are the greatest, and each head is
// loaded once, so a search of the heads sees the array with or without the pair. It cannot see only
// the second of two appended pairs, because it looks for the border between smaller and larger
// heads: if it has seen that the second head is below its own, it counts the first pair as passed
// too, which is correct. A copy of the entries of a leaf loads `count` first, and ranks in the copy
// are limited to that count.
//
// Claim: Find() and Seek() miss no entry X whose Insert() returned before they were called. At
// every moment, in the order of the changes (even versions and appends), X is in the one leaf with
// low <= X < next->low, because a split moves X and that border in one change. A search for K ends
// with a validated reading of a leaf with low <= K < next->low at a moment after the call. If X is
// the first entry at or after K, then X is in this leaf and was seen, or X is the first entry and
// the low of a leaf further right. A Window continues with the `next` of its own moment: all keys
// between the low of its leaf and the low of that node which were in the tree when the iteration
// began are in the copy. Moving left, it looks for the leaf whose `next` is this leaf, in a
// validated reading: everything before the low of this leaf is there or further left.
//
// `previous` is stored only after the `next` that leads back to this node could be read, and a node
// to the left stays to the left. So moving right from `previous` always ends at this node. Two
// splits may store it in either order, so it may be out of date; then the way takes more than one
// step.
//
// Two inserters of the same key lock the same leaf one after the other, and the second one sees the
// entry of the first. Appends need the lock as well.
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

// Holds the lock of a node, unless this thread is the only inserter.
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

// Where a thread last inserted. Only a guess: any leaf of this tree is correct.
struct BlinkTree::InsertHint {
  uint64_t tree_id;
  Node* leaf;
  uint32_t index;     // of the entry in the leaf
  bool is_exclusive;  // whether the current insertion is exclusive
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
  assert(fanout_ >= 3);  // so that no half of a split is empty
  assert(fanout_ <= kMaxFanout);
}

// Keys before the prefix get the smallest head and keys behind it the greatest, so heads have the
// order of the keys.
uint64_t BlinkTree::HeadBehindPrefix(const Slice& user_key) const {
  assert(comparator_.order() != KeyOrder::kCustom);  // such a tree has no prefix
  if (user_key.starts_with(prefix_)) [[likely]] {
    return KeyHead(user_key.data() + prefix_.size(), user_key.size() - prefix_.size(),
                   comparator_.order());
  }
  return comparator_.OrderWithTimestamp(user_key, prefix_) < 0 ? 0 : kEndHead;
}

// Negative, 0 or positive if the entry is before, at or behind the key.
int BlinkTree::Compare(const MemTableEntry* entry, const Position& key) const {
  assert(entry != nullptr);
  const int by_user_key = comparator_.OrderWithTimestamp(entry->user_key(), key.user_key);
  if (by_user_key != 0) return by_user_key;
  const uint64_t trailer = entry->trailer();
  return trailer > key.trailer ? -1 : trailer < key.trailer ? +1 : 0;
}

// ---- Within a node

// Compares keys among the pairs from `first` on that have the head of the key. Rarely needed,
// except for the entry that a search finds.
BlinkTree::Rank BlinkTree::RankAmongTied(const Node& node, uint32_t first,
                                         const Position& key) const {
  const uint32_t count = node.count();  // unused heads may equal the greatest head
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

// Returns the child for the key; or the next node if the key is there; or the same node if it
// changed during the read.
inline const BlinkTree::Node* BlinkTree::StepTowards(const Node* node, const Position& key) const {
  assert(node != nullptr);
  assert(node->level > 0);
  const uint32_t version = node->BeginRead();
  if (const Node* next = Beyond(*node, key)) return next;
  const Rank rank = RankIn(*node, key);
  const uint32_t above = rank.before + uint32_t{rank.is_equal};  // the first child behind the key
  const Node* child = node->child(above == 0 ? 0 : above - 1);
  if (!node->IsUnchanged(version)) return node;
  assert(above > 0);  // the first child has the low of the node
  child->Prefetch();
  return child;
}

// The node of the given level for the key, or a node to the left of it.
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

// Find() from a leaf on.
BlinkTree::Cursor BlinkTree::FindIn(const Node* leaf, const Position& key) const {
  assert(leaf->level == 0);
  while (true) {
    const uint32_t version = leaf->BeginRead();
    if (const Node* next = Beyond(*leaf, key)) {
      leaf = next;
      continue;
    }
    // Loaded before the ranking: a newer version of the key may be appended in between, and the
    // ranking has not looked at the places behind it.
    const uint32_t count = leaf->count();
    const Rank rank = RankIn(*leaf, key);
    const MemTableEntry* entry = rank.is_user_key ? leaf->entry(rank.before) : nullptr;
    // Older versions of the key may be in the next leaf.
    const bool may_be_next = entry == nullptr &&
                             leaf->high.load(std::memory_order_acquire) == key.head &&
                             rank.before >= count;
    if (!leaf->IsUnchanged(version)) continue;
    if (may_be_next) [[unlikely]]
      return FindBySeek(key);
    return {entry, leaf, rank.before, version};
  }
}

// Find() if the entry may be in the next leaf.
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

// All searches are on the same level at any time, so their cache misses overlap.
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
  // Prefetches the entries that will be compared.
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

// The fast path reads the leaf and then checks that no insertion has moved its entries meanwhile.
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
  assert(window.entries[window.index] == cursor->entry);  // entries are never removed
  Next(&window);
  *cursor = {};
  if (window.IsValid()) {
    *cursor = {window.entries[window.index], window.leaf, window.index, window.version};
  }
}

// ---- Inserting

// False if the key with this sequence number exists already.
bool BlinkTree::Insert(const Position& key, const Slice& value, bool exclusive) {
  InsertHint* hint = ThreadHint();
  hint->is_exclusive = exclusive;
  Node* leaf = LeafNear(key, *hint);
  MemTableEntry* entry = NewEntry(key, value);  // while the cache lines of the leaf are loaded
  const Placed placed = Place(leaf, key, entry, *hint);
  if (placed.node == nullptr) return false;
  hint->leaf = placed.node;
  hint->index = placed.index;
  if (placed.new_node != nullptr) [[unlikely]]
    LinkUp(placed.new_node, *hint);
  return true;
}

// A few hints per thread, so that batches over several column families do not overwrite each
// other's hints. Hints outlive their trees; the id of the tree tells whether a hint is valid.
BlinkTree::InsertHint* BlinkTree::ThreadHint() const {
  constexpr size_t kHints = 4;
  static thread_local InsertHint hints[kHints];
  InsertHint* hint = &hints[id_ % kHints];
  if (hint->tree_id != id_) *hint = {.tree_id = id_, .leaf = first_leaf_};
  assert(hint->leaf->level == 0);
  return hint;
}

// The leaf of the key, or a leaf to the left of it.
BlinkTree::Node* BlinkTree::LeafNear(const Position& key, const InsertHint& hint) const {
  const Node& leaf = *hint.leaf;
  const bool is_behind_low = leaf.low_head < key.head || leaf.low == nullptr ||
                             (leaf.low_head == key.head && Compare(leaf.low, key) <= 0);
  if (is_behind_low && Beyond(leaf, key) == nullptr) return hint.leaf;
  return const_cast<Node*>(DescendTo(0, key));
}

// Allocates and fills an entry.
MemTableEntry* BlinkTree::NewEntry(const Position& key, const Slice& value) {
  const size_t bytes = MemTableEntry::BytesFor(key.user_key, value, checksum_bytes_);
  char* memory = arena_->Allocate(bytes);
  // An arena is filled downwards, so the next entry will be there if it has a similar size.
  PrefetchToWriteBefore(memory, bytes);
  auto* entry = new (memory) MemTableEntry;
  entry->Fill(key.user_key, key.trailer, value, checksum_bytes_);
  assert(entry->user_key() == key.user_key);
  assert(entry->trailer() == key.trailer);
  return entry;
}

// Inserts {head of the key, slot} into the level of `node`, in this node or one further right.
BlinkTree::Placed BlinkTree::Place(Node* node, const Position& key, void* slot,
                                   const InsertHint& hint) {
  char* memory = nullptr;  // for a new node, because nothing is allocated under a lock
  while (true) {
    Node* const here = node;
    if (memory == nullptr && here->count() == fanout_) {
      memory = arena_->AllocateAligned(sizeof(Node));
    }
    NodeGuard guard(&here->lock, hint.is_exclusive);
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
    if (memory == nullptr) continue;  // another thread filled the node in between
    const bool ascends = here->next.load(std::memory_order_relaxed) == nullptr ||
                         (here == hint.leaf && rank.before == hint.index + 1);
    return here->Split(memory, {rank.before, key.head, slot}, ascends);
  }
}

// Inserts a new node into the level above, and so on for nodes that are split there. If memory runs
// out, the level above stays without it.
void BlinkTree::LinkUp(Node* node, const InsertHint& hint) {
  try {
    while (node != nullptr) {
      const Position key{node->low->user_key(), node->low->trailer(), node->low_head};
      const uint32_t level = node->level + 1;
      if (root_.load(std::memory_order_acquire)->level < level) {
        if (RaiseRoot(node)) return;
        continue;
      }
      auto* parent = const_cast<Node*>(DescendTo(level, key));
      const Placed placed = Place(parent, key, node, hint);
      assert(placed.node != nullptr);  // no other thread inserts this node
      node = placed.new_node;
    }
  } catch (const std::bad_alloc&) {
    assert(node != nullptr);
  }
}

// Creates a level above the root and a node to the right of it. False: another thread was faster.
bool BlinkTree::RaiseRoot(Node* right) {
  assert(right != nullptr);
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
