// SPDX-License-Identifier: Apache-2.0
//
// The links of one level, `h|` being the head kept in a link:
//
//   front 17|-> [17 ...] 23|-> [23 ...] max|-> null
//
// An inserter of X between A and B, at each level from 0 upward,
//   1. gives X the link {head of B, B},
//   2. swings A.next from B to X with compare-and-swap (release),
//   3. lowers A.head to the head of X by an atomic minimum (release).
// Between 2 and 3, A.head is stale: too large for what A.next leads to.
//
// Why a search may trust A.head < head(key) and move without looking at the node. It loads A.head
// (acquire), then A.next. Every value of A.head was written for some node Y that A.next led to at
// that time, and the acquire makes that or a later value of A.next visible. Later values of A.next
// only lead to smaller keys, as inserts go between A and its successor. So the node it moves to has
// a head of at most A.head, thus below head(key), and the search never overshoots. A plain store in
// step 3 could raise a head that a second inserter had lowered; the minimum cannot.
//
// Why a stale head does no harm. A.head > head(key) makes the search descend although the node
// behind the link may still be before the key: on upper levels that costs steps. On level 0
//   - Seek() compares the node it is about to return and walks on while that is too small;
//   - an inserter compares the true successor on every level it links;
//   - Find() returns at once, because of the following.
//
// Claim: when Insert(N) has returned, no link of level 0 that starts before N has a head above
// head(N). Suppose A before N had. Its successor X is not after N, as N is linked. If X were N, or
// linked in after N, A.head would have been lowered or copied to at most head(N). So X is before N,
// was linked before it, and its inserter has not done step 3 yet. How did the inserter of N get
// past X? Not from X's upper links: those come after step 3 of level 0. Not from a node S beyond X
// which it reached from above: for S the claim already holds, and head(S) <= head(N). Not along
// A.head: it is too large. So it compared X itself, and then it lowered A.head on the spot ("help"
// in LinkConcurrently). A finger repeats what an earlier insert of the same thread proved. Hence
// Find() misses no node whose Insert() happened before it, which is all that a reader below the
// visible sequence number asks for.
#include "memtable/skip_list.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "util/hash.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kEndHead = std::numeric_limits<uint64_t>::max();

// A finger is given up for the top of the list when the key is further away than about 4^4 nodes.
constexpr int kFingerLevels = 4;

// Height of the node for a key: geometric, a function of the key alone so that it needs no state.
int HeightOf(const Slice& user_key, uint64_t trailer) {
  uint64_t seed = trailer * 0x9e3779b97f4a7c15ull ^ KeyHead(user_key, KeyOrder::kBytewise);
  if (user_key.size() > 8) {
    seed = Mix64(seed) + LoadLittleEndian64(user_key.data() + user_key.size() - 8);
  }
  constexpr int kTopBit = SkipList::kBranchingLog2 * (SkipList::kMaxHeight - 1);
  const uint64_t bits = Mix64(seed) | uint64_t{1} << kTopBit;
  assert(bits != 0);  // ctz of 0 is undefined
  return 1 + __builtin_ctzll(bits) / SkipList::kBranchingLog2;
}

void LowerHead(std::atomic<uint64_t>* head, uint64_t value) {
  uint64_t seen = head->load(std::memory_order_relaxed);
  while (seen > value && !head->compare_exchange_weak(seen, value, std::memory_order_release,
                                                      std::memory_order_relaxed)) {
  }
}

std::atomic<uint64_t> next_list_id{1};

}  // namespace

// Where a thread last inserted: per level the neighbours of that place, and bounds of their heads.
// Only prev[l] < key is relied upon; everything else is a guess that saves steps.
struct SkipList::Finger {
  uint64_t list_id;
  Node* prev[kMaxHeight];
  uint64_t prev_head[kMaxHeight];  // never below the true head
  Node* next[kMaxHeight];
  uint64_t next_head[kMaxHeight];

  void Reset(uint64_t id, Node* front) {
    list_id = id;
    for (int level = 0; level < kMaxHeight; ++level) {
      prev[level] = front;
      prev_head[level] = 0;
      next[level] = nullptr;
      next_head[level] = kEndHead;
    }
  }
};

SkipList::SkipList(const InternalKeyComparator& comparator, const Slice& common_prefix,
                   ConcurrentArena* arena)
    : comparator_(comparator),
      prefix_(comparator.order() == KeyOrder::kCustom ? "" : common_prefix.ToString()),
      arena_(arena),
      id_(next_list_id.fetch_add(1, std::memory_order_relaxed)),
      front_(NewNode({Slice(), 0, 0}, Slice(), kMaxHeight)) {
  for (int level = 0; level < kMaxHeight; ++level) {
    new (&front_->link(level)) Link{kEndHead, nullptr};
  }
}

// Keys before the prefix have the smallest head, keys after it the largest, so the order of heads
// stays that of the keys.
uint64_t SkipList::HeadBehindPrefix(const Slice& user_key) const {
  assert(comparator_.order() != KeyOrder::kCustom);  // such a list has no prefix
  if (user_key.starts_with(prefix_)) [[likely]] {
    return KeyHead(user_key.data() + prefix_.size(), user_key.size() - prefix_.size(),
                   comparator_.order());
  }
  return comparator_.OrderWithTimestamp(user_key, prefix_) < 0 ? 0 : kEndHead;
}

int SkipList::Compare(const Node* node, const Position& key) const {
  const int by_user_key = comparator_.OrderWithTimestamp(node->user_key(), key.user_key);
  if (by_user_key != 0) return by_user_key;
  const uint64_t trailer = node->trailer();
  return trailer > key.trailer ? -1 : trailer < key.trailer ? +1 : 0;
}

// ---- Reading

// A search on its way along the heads; it ends on the node `at` of level 0.
struct SkipList::Descent {
  const Node* at;
  int level;
  const Node* tied = nullptr;         // has the same head as the key, and is to be compared next
  const Node* known_after = nullptr;  // the last node that was compared and is not before the key
};

// Goes on to the next cache miss, which it leaves to a prefetch. True when the search has ended.
// Hot: one miss per move, none per level.
inline bool SkipList::StepDown(const Position& key, Descent* descent) const {
  if (descent->tied != nullptr) {
    const Node* tied = std::exchange(descent->tied, nullptr);
    if (IsBefore(tied, key)) {
      descent->at = tied;
    } else {
      descent->known_after = tied;
    }
  }
  for (; descent->level >= 0; --descent->level) {
    const Link& link = descent->at->link(descent->level);
    const uint64_t head = link.head.load(std::memory_order_acquire);
    if (head > key.head) continue;
    const Node* next = link.next.load(std::memory_order_acquire);
    if (head < key.head) {
      assert(next != nullptr);  // the end of a level has the greatest head
      descent->at = next;
      __builtin_prefetch(&next->link(descent->level));
      return false;
    }
    if (next == nullptr || next == descent->known_after) continue;
    descent->tied = next;
    __builtin_prefetch(next);
    return false;
  }
  return true;
}

SkipList::Descent SkipList::Descend(const Position& key) const {
  Descent descent{.at = front_, .level = height_.load(std::memory_order_relaxed) - 1};
  assert(descent.level < kMaxHeight);
  while (!StepDown(key, &descent)) {
  }
  assert(descent.tied == nullptr);
  return descent;
}

// The first node not before the key, by comparing what lies behind the landing.
const SkipList::Node* SkipList::FirstFrom(const Descent& landing, const Position& key) const {
  assert(landing.at == front_ || IsBefore(landing.at, key));
  const Node* next = landing.at->Next();
  while (next != landing.known_after && next != nullptr && IsBefore(next, key)) next = next->Next();
  return next;
}

const SkipList::Node* SkipList::LastBefore(const Position& key) const {
  const Node* at = Descend(key).at;
  for (const Node* next = at->Next(); next != nullptr && IsBefore(next, key); next = at->Next()) {
    at = next;
  }
  assert(at == front_ || IsBefore(at, key));
  return at;
}

const SkipList::Node* SkipList::Seek(const Position& key) const {
  return FirstFrom(Descend(key), key);
}

const SkipList::Node* SkipList::FoundAt(const Descent& landing, const Position& key) const {
  const Link& link = landing.at->link(0);
  if (link.head.load(std::memory_order_acquire) > key.head) return nullptr;
  return FirstFrom(landing, key);
}

const SkipList::Node* SkipList::Find(const Position& key) const {
  return FoundAt(Descend(key), key);
}

void SkipList::FindMany(const Position* keys, size_t count, const Node** found) const {
  assert(count <= kMaxBatch);
  Descent descents[kMaxBatch];
  uint8_t running[kMaxBatch];  // indexes of the searches that have not ended
  const int top = height_.load(std::memory_order_relaxed) - 1;
  for (size_t i = 0; i < count; ++i) {
    descents[i] = {.at = front_, .level = top};
    running[i] = static_cast<uint8_t>(i);
  }
  for (size_t left = count; left > 0;) {
    size_t kept = 0;
    for (size_t i = 0; i < left; ++i) {
      const uint8_t index = running[i];
      if (StepDown(keys[index], &descents[index])) {
        found[index] = FoundAt(descents[index], keys[index]);
        if (found[index] != nullptr) __builtin_prefetch(found[index]->value().data());
      } else {
        running[kept++] = index;
      }
    }
    left = kept;
  }
}

const SkipList::Node* SkipList::SeekForPrev(const Position& key) const {
  const Node* at = LastBefore(key);
  const Node* next = at->Next();
  if (next != nullptr && Compare(next, key) == 0) return next;
  return at == front_ ? nullptr : at;
}

const SkipList::Node* SkipList::First() const { return front_->Next(); }

const SkipList::Node* SkipList::Last() const {
  const Node* at = front_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    while (const Node* next = at->link(level).next.load(std::memory_order_acquire)) at = next;
  }
  return at == front_ ? nullptr : at;
}

const SkipList::Node* SkipList::Before(const Node* node) const {
  const Node* at = LastBefore(At(node->user_key(), node->trailer()));
  return at == front_ ? nullptr : at;
}

int SkipList::BackwardWindow(const Node* node, const Node** window, int capacity) const {
  assert(capacity > 0);
  // One search that remembers the last node it stood on at a level whose gaps are about
  // `capacity` / 2 nodes; then level 0 from there.
  const Node* last = node == nullptr ? Last() : Before(node);
  if (last == nullptr) return 0;
  const Position key = At(last->user_key(), last->trailer());
  const Node* at = front_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 2; --level) {
    for (;;) {
      const Node* next = at->link(level).next.load(std::memory_order_acquire);
      if (next == nullptr || !IsBefore(next, key)) break;
      at = next;
    }
  }
  int count = 0;
  for (at = at == front_ ? at->Next() : at; at != last; at = at->Next()) {
    window[count++ % capacity] = at;
  }
  window[count++ % capacity] = last;
  assert(count > 0);
  if (count <= capacity) return count;
  std::rotate(window, window + count % capacity, window + capacity);  // oldest of the ring first
  return capacity;
}

// Counts the nodes before `key` on a level that has a few hundred in all: on the levels above,
// chance would decide.
uint64_t SkipList::EstimateRank(const Position& key) const {
  const int level = std::max(0, height_.load(std::memory_order_relaxed) - 5);
  assert(level < kMaxHeight);
  uint64_t count = 0;
  const Node* at = front_;
  for (;;) {
    at = at->link(level).next.load(std::memory_order_acquire);
    if (at == nullptr || !IsBefore(at, key)) break;
    ++count;
  }
  return count << (kBranchingLog2 * level);
}

std::string SkipList::CommonPrefix() const {
  const Node* first = First();
  const Node* last = Last();
  if (first == nullptr || comparator_.order() == KeyOrder::kCustom) return "";
  assert(last != nullptr);  // nothing is ever removed
  const Slice user_key = first->user_key();
  return std::string(user_key.data(), user_key.difference_offset(last->user_key()));
}

// ---- Inserting

bool SkipList::Insert(const Position& key, const Slice& value, bool exclusive) {
  const int height = RaiseHeight(HeightOf(key.user_key, key.trailer));
  assert(height >= 1);
  assert(height <= kMaxHeight);
  Finger* finger = MyFinger();
  FindNeighbours(key, finger);
  assert(finger->prev[0] == front_ || IsBefore(finger->prev[0], key));
  // The successor is compared below; it arrives while the new node is filled.
  if (!exclusive && finger->next[0] != nullptr) __builtin_prefetch(finger->next[0]);
  Node* node = NewNode(key, value, height);
  const bool inserted = exclusive ? LinkExclusively(key, node, height, finger)
                                  : LinkConcurrently(key, node, height, finger);
  if (!inserted) return false;
  for (int level = 0; level < height; ++level) {
    finger->prev[level] = node;
    finger->prev_head[level] = key.head;
  }
  return true;
}

int SkipList::RaiseHeight(int height) {
  int seen = height_.load(std::memory_order_relaxed);
  while (height > seen && !height_.compare_exchange_weak(seen, height, std::memory_order_relaxed)) {
  }
  return height;
}

SkipList::Node* SkipList::NewNode(const Position& key, const Slice& value, int height) {
  assert(height >= 1);
  assert(height <= kMaxHeight);
  const size_t links_bytes = sizeof(Link) * static_cast<size_t>(height);
  char* memory =
      arena_->AllocateAligned(links_bytes + MemTableEntry::BytesFor(key.user_key, value));
  Node* node = new (memory + links_bytes) Node;
  node->Fill(key.user_key, key.trailer, value);
  assert(node->user_key() == key.user_key);
  assert(node->trailer() == key.trailer);
  return node;
}

// A few fingers per thread, so that batches over some column families do not chase each other away.
// They outlive their lists; the list's id tells.
SkipList::Finger* SkipList::MyFinger() const {
  constexpr size_t kFingers = 4;
  static thread_local Finger fingers[kFingers];
  Finger* finger = &fingers[id_ % kFingers];
  if (finger->list_id != id_) finger->Reset(id_, front_);
  assert(finger->list_id == id_);
  return finger;
}

// Fills the finger with neighbours of `key` on all levels: exact ones on the levels that were
// searched, and on those above nodes that are before the key.
void SkipList::FindNeighbours(const Position& key, Finger* finger) const {
  const int height = height_.load(std::memory_order_relaxed);
  int level = 0;
  for (; level < kFingerLevels && level < height; ++level) {
    const bool is_after_prev =
        finger->prev[level] == front_ || finger->prev_head[level] < key.head ||
        (finger->prev_head[level] == key.head && IsBefore(finger->prev[level], key));
    if (!is_after_prev) continue;
    if (finger->next[level] == nullptr || finger->next_head[level] > key.head) break;
    if (finger->next_head[level] == key.head && !IsBefore(finger->next[level], key)) break;
  }
  if (level == kFingerLevels || level == height) {
    finger->Reset(id_, front_);
    level = height - 1;
  }
  assert(level >= 0);
  assert(level < kMaxHeight);
  Node* at = finger->prev[level];
  uint64_t at_head = finger->prev_head[level];
  const Node* known_after = nullptr;
  for (; level >= 0; --level) {
    for (;;) {
      Link& link = at->link(level);
      const uint64_t head = link.head.load(std::memory_order_acquire);
      Node* next = link.next.load(std::memory_order_acquire);
      bool moves = head < key.head;
      if (head == key.head && next != nullptr && next != known_after) {
        moves = IsBefore(next, key);
        if (!moves) known_after = next;
      }
      if (!moves) {
        finger->next[level] = next;
        finger->next_head[level] = head;
        break;
      }
      at = next;
      at_head = head;
    }
    finger->prev[level] = at;
    finger->prev_head[level] = at_head;
  }
}

// Without other inserters heads are exact: the successor is touched only when its head equals.
bool SkipList::LinkExclusively(const Position& key, Node* node, int height, Finger* finger) {
  for (int level = 0; level < height; ++level) {
    Node* prev = finger->prev[level];
    uint64_t head;
    Node* next;
    for (;;) {
      head = prev->link(level).head.load(std::memory_order_relaxed);
      next = prev->link(level).next.load(std::memory_order_relaxed);
      if (head > key.head || next == nullptr) break;
      const int order = head < key.head ? -1 : Compare(next, key);
      if (order == 0 && level == 0) return false;
      if (order >= 0) break;
      prev = next;
    }
    assert(next == nullptr || !IsBefore(next, key));
    new (&node->link(level)) Link{head, next};
    prev->link(level).next.store(node, std::memory_order_release);
    prev->link(level).head.store(key.head, std::memory_order_release);
    finger->next[level] = next;
    finger->next_head[level] = head;
  }
  return true;
}

bool SkipList::LinkConcurrently(const Position& key, Node* node, int height, Finger* finger) {
  for (int level = 0; level < height; ++level) {
    Node* prev = finger->prev[level];
    for (;;) {
      Link& link = prev->link(level);
      const uint64_t head = link.head.load(std::memory_order_acquire);
      Node* next = link.next.load(std::memory_order_acquire);
      if (head < key.head) {
        assert(next != nullptr);
        prev = next;
        continue;
      }
      uint64_t next_head = kEndHead;
      if (next != nullptr) {
        const int order = Compare(next, key);
        next_head = HeadOf(next->user_key());
        if (order == 0 && level == 0) return false;
        if (order < 0) {
          LowerHead(&link.head, next_head);  // help: see the claim above
          prev = next;
          continue;
        }
      }
      new (&node->link(level)) Link{next_head, next};
      if (!link.next.compare_exchange_strong(next, node, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        continue;
      }
      LowerHead(&link.head, key.head);
      finger->next[level] = next;
      finger->next_head[level] = next_head;
      break;
    }
  }
  return true;
}

// ---- Proofs

// Only while nobody inserts: then heads are exact, and every level is a part of the one below.
void SkipList::CheckInvariants() const {
  uint64_t above = 0;  // nodes of the level above
  for (int level = kMaxHeight - 1; level >= 0; --level) {
    uint64_t count = 0;
    const Node* at = front_;
    for (;;) {
      const Link& link = at->link(level);
      const Node* next = link.next.load(std::memory_order_acquire);
      const uint64_t head = link.head.load(std::memory_order_relaxed);
      const bool is_exact = head == (next == nullptr ? kEndHead : HeadOf(next->user_key()));
      const bool ascends =
          next == nullptr || at == front_ || Compare(at, At(next->user_key(), next->trailer())) < 0;
      if (!is_exact || !ascends) std::abort();
      if (next == nullptr) break;
      at = next;
      ++count;
    }
    if (count < above || (count != 0 && level >= height_.load(std::memory_order_relaxed))) {
      std::abort();
    }
    above = count;
  }
}

std::string SkipList::DebugString() const {
  std::string text = StrCat("skip list of height ", height_.load(std::memory_order_relaxed),
                            ", prefix of ", prefix_.size(), " bytes; nodes");
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
    uint64_t count = 0;
    for (const Node* at = front_->link(level).next.load(std::memory_order_acquire); at != nullptr;
         at = at->link(level).next.load(std::memory_order_acquire)) {
      ++count;
    }
    StrAppend(&text, " ", count);
  }
  return text;
}

}  // namespace ashlar
