// SPDX-License-Identifier: Apache-2.0
//
// A node is complete before it can be reached. It is linked from the lowest height upwards, each
// link with a release store; readers use acquire loads. Nothing is ever removed. So a reader meets
// nodes in order on every height, and on the lowest height it meets all nodes whose insertion has
// returned.
//
// An iterator is in a bucket as long as its steps stay within one prefix. This is correct because
// no key with another prefix lies between two keys with the same prefix. Only the bytewise orders
// guarantee that; with a custom order no iterator enters a bucket. The first step that leaves the
// prefix, and every step backwards, continues in the sorted list of all entries. An entry that is
// being inserted may be in the bucket and not yet in that list.
#include "memtable/hash_rep.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>

#include "util/hash/hash.h"
#include "util/memory/arena.h"

namespace ashlar {

struct HashRep::Node {
  const MemTableEntry* entry;  // null: the head of a bucket
  uint32_t count;  // of a head: number of nodes behind it; guarded by the lock of the bucket
  int height;
  std::atomic<Node*> next[1];  // `height` pointers

  Node* Next(int level) const { return next[level].load(std::memory_order_acquire); }
};

HashRep::HashRep(const InternalKeyComparator& comparator, const RepresentationOptions& options,
                 size_t checksum_bytes, Allocator* allocator)
    : comparator_(comparator),
      shape_(options.hash),
      prefixes_(options.prefixes),
      checksum_bytes_(checksum_bytes),
      walks_buckets_(comparator.order() != KeyOrder::kCustom),
      allocator_(allocator),
      buckets_(std::make_unique<Bucket[]>(options.hash.buckets)),
      entries_(comparator) {
  assert(prefixes_ != nullptr);
  assert(shape_.buckets > 0);
  assert(shape_.max_height >= 1);
  assert(shape_.max_height <= kMostHeight);
}

HashRep::~HashRep() = default;  // the allocator owns the nodes

size_t HashRep::BucketOf(const Slice& user_key) const {
  const uint64_t hash = HashBytes(PartOf(user_key));
  return static_cast<size_t>((static_cast<unsigned __int128>(hash) * shape_.buckets) >> 64);
}

// The pointers above level 0 follow the node in the same piece of memory.
HashRep::Node* HashRep::NewNode(int height, const MemTableEntry* entry) {
  assert(height >= 1);
  const size_t bytes = sizeof(Node) + sizeof(std::atomic<Node*>) * static_cast<size_t>(height - 1);
  Node* const node = new (allocator_->AllocateAligned(bytes)) Node;
  node->entry = entry;
  node->count = 0;
  node->height = height;
  for (int level = 0; level < height; ++level) {
    new (&node->next[level]) std::atomic<Node*>(nullptr);
  }
  return node;
}

bool HashRep::IsBefore(const Node& node, const Slice& user_key, uint64_t trailer) const {
  const int order = comparator_.OrderWithTimestamp(node.entry->user_key(), user_key);
  return order != 0 ? order < 0 : node.entry->trailer() > trailer;
}

// Searches a list with express lanes from the highest level down. `before`, if not null, gets the
// last node before the position on each level.
const HashRep::Node* HashRep::FindIn(const Node* head, const Slice& user_key, uint64_t trailer,
                                     Node** before) const {
  assert(head != nullptr);
  const Node* node = head;
  for (int level = head->height - 1; level >= 0; --level) {
    for (const Node* next = node->Next(level);
         next != nullptr && IsBefore(*next, user_key, trailer); next = node->Next(level)) {
      node = next;
    }
    if (before != nullptr) before[level] = const_cast<Node*>(node);
  }
  return node->Next(0);
}

const HashRep::Node* HashRep::Find(const Slice& user_key, uint64_t trailer) const {
  const Node* const head = buckets_[BucketOf(user_key)].load(std::memory_order_acquire);
  return head == nullptr ? nullptr : FindIn(head, user_key, trailer, nullptr);
}

// Short lists stay plain; in longer ones each level has about one of `branching` nodes of the level
// below.
int HashRep::DrawHeight(uint64_t salt, uint32_t count) const {
  assert(shape_.max_height >= 1);
  assert(shape_.max_height <= kMostHeight);
  if (count < shape_.entries_before_high) return 1;
  int height = 1;
  const auto branching = static_cast<uint64_t>(std::max(shape_.branching, 2));
  for (uint64_t bits = Mix64(salt); height < shape_.max_height && bits % branching == 0;
       bits = Mix64(bits)) {
    ++height;
  }
  return height;
}

// A lock protects several buckets. Readers take none: a node is complete before it is linked.
bool HashRep::Insert(const Slice& user_key, uint64_t trailer, const Slice& value) {
  const size_t bytes = MemTableEntry::BytesFor(user_key, value, checksum_bytes_);
  auto* const entry = new (allocator_->Allocate(bytes)) MemTableEntry;
  entry->Fill(user_key, trailer, value, checksum_bytes_);
  const size_t index = BucketOf(user_key);
  {
    SpinLockGuard guard(&locks_[index % kLocks]);
    Node* head = buckets_[index].load(std::memory_order_relaxed);
    if (head == nullptr) {
      head = NewNode(shape_.max_height, nullptr);
      buckets_[index].store(head, std::memory_order_release);
    }
    Node* before[kMostHeight];
    const Node* const found = FindIn(head, user_key, trailer, before);
    const bool is_there = found != nullptr && found->entry->trailer() == trailer &&
                          comparator_.SameKey(found->entry->user_key(), user_key);
    if (is_there) return false;
    Node* const node = NewNode(DrawHeight(trailer ^ index, head->count++), entry);
    for (int level = 0; level < node->height; ++level) {
      node->next[level].store(before[level]->Next(level), std::memory_order_relaxed);
      before[level]->next[level].store(node, std::memory_order_release);
    }
  }
  entries_.Add(entry);
  return true;
}

bool HashRep::VisitVersions(const LookupKey& key, void* argument, Visit visit) const {
  for (const Node* node = Find(key.user_key, key.trailer); node != nullptr; node = node->Next(0)) {
    const MemTableEntry& entry = *node->entry;
    if (!comparator_.SameKey(entry.user_key(), key.user_key)) return false;
    if (visit(argument, entry.internal_key(), entry.value())) return true;
  }
  return false;
}

class HashRep::Iterator final : public InternalIterator {
 public:
  Iterator(const HashRep* rep, bool stays_in_prefix)
      : rep_(rep), stays_in_prefix_(stays_in_prefix && rep->walks_buckets_) {}

  void SeekToFirst() override {
    LeaveBucket();
    all_->SeekToFirst();
    ShowOfAll();
  }
  void SeekToLast() override {
    LeaveBucket();
    all_->SeekToLast();
    ShowOfAll();
  }
  void Seek(const Slice& target) override {
    const Slice user_key = ExtractUserKey(target);
    node_ = rep_->Find(user_key, ExtractTrailer(target));
    if (IsInPrefixOf(user_key)) return ShowNode();
    if (stays_in_prefix_ && rep_->prefixes_->InDomain(user_key)) return End();
    LeaveBucket();
    all_->Seek(target);
    ShowOfAll();
  }
  void SeekForPrev(const Slice& target) override {
    LeaveBucket();
    all_->SeekForPrev(target);
    ShowOfAll();
  }
  ValuePin PinOfValue() const override { return ValuePin::Lasting(rep_); }

 protected:
  // Walks in one bucket as long as the prefix stays the same. At the end of the prefix it goes on
  // in the list of all keys, unless the reader asked for this prefix only.
  void NextSlow() override {
    if (node_ == nullptr) {
      all_->Next();
      return ShowOfAll();
    }
    const Slice here = key_;
    node_ = node_->Next(0);
    if (IsInPrefixOf(ExtractUserKey(here))) return ShowNode();
    if (stays_in_prefix_) return End();
    LeaveBucket();
    all_->Seek(here);
    if (all_->Valid() && all_->key() == here) all_->Next();
    ShowOfAll();
  }
  void PrevSlow() override {
    if (node_ == nullptr) {
      all_->Prev();
      return ShowOfAll();
    }
    const Slice here = key_;
    LeaveBucket();
    all_->SeekForPrev(here);
    if (all_->Valid() && all_->key() == here) all_->Prev();
    ShowOfAll();
  }

 private:
  // True if node_ is set and no entry is between the key and the node.
  bool IsInPrefixOf(const Slice& user_key) const {
    if (node_ == nullptr || !rep_->walks_buckets_) return false;
    const SliceTransform& prefixes = *rep_->prefixes_;
    const Slice other = node_->entry->user_key();
    return prefixes.InDomain(user_key) && prefixes.InDomain(other) &&
           prefixes.Transform(other) == prefixes.Transform(user_key);
  }
  void End() {
    node_ = nullptr;
    valid_ = false;
  }
  // Continues in the list of all entries.
  void LeaveBucket() {
    node_ = nullptr;
    all_.reset(rep_->entries_.NewIterator(nullptr));
  }
  void ShowNode() {
    valid_ = true;
    key_ = node_->entry->internal_key();
    value_ = node_->entry->value();
  }
  void ShowOfAll() {
    valid_ = all_->Valid();
    if (!valid_) return;
    key_ = all_->key();
    value_ = all_->value();
  }

  const HashRep* const rep_;
  const bool stays_in_prefix_;  // the reader does not need entries behind the prefix of a seek
  const Node* node_ = nullptr;  // the position in a bucket; null: the position is in all_
  std::unique_ptr<InternalIterator> all_;  // all entries at some moment
};

// Another extractor has other prefixes: the family's extractor may have changed since.
InternalIterator* HashRep::NewIterator(Arena* arena, const SliceTransform* prefixes) const {
  const bool stays_in_prefix = prefixes == prefixes_.get();
  if (arena == nullptr) return new Iterator(this, stays_in_prefix);
  return new (arena->AllocateAligned(sizeof(Iterator))) Iterator(this, stays_in_prefix);
}

}  // namespace ashlar
