// SPDX-License-Identifier: Apache-2.0
//
// SortedKeys keeps the references of a family's keys in key order: a list of blocks of up to 128
// pairs {head of the key, reference}, and an array of the heads of the blocks' first keys.
//
// A search compares heads, and reads keys from the batch only where heads are equal. A head
// consists of the bytes behind the prefix that all keys share; the prefix is determined again each
// time the number of keys has doubled. A key without the prefix gets the least or the greatest
// head. With a custom order all heads are 0, and keys are compared. Threads: one writer, with no
// reader at the same time; several readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "db/transaction/indexed_batch/key_ref.h"
#include "db/transaction/indexed_batch/key_table.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class SortedKeys {
 public:
  // The position of a key in the order. Any change of the keys invalidates it.
  struct Place {
    size_t block = 0;
    size_t index = 0;
  };

  // Both arguments are borrowed.
  SortedKeys(const InternalKeyComparator* comparator, const BatchKeys* keys)
      : comparator_(comparator), keys_(keys) {}

  size_t count() const { return count_; }
  size_t block_count() const { return blocks_.size(); }

  // Replaces the contents by all keys of a table.
  void Build(const KeyTable& table);
  // Adds a key that is not in the list.
  void Insert(const Slice& key, KeyRef ref);
  // Replaces the reference of a key that is in the list.
  void Replace(const Slice& key, KeyRef ref);
  // Removes a key that is in the list.
  void Erase(const Slice& key);
  void Clear();

  // Sets *place to the key. If it is not in the list, returns false and sets *place to the first
  // key after it.
  bool Find(const Slice& key, Place* place) const;
  // The first key at or after `key`; not valid if there is none.
  Place AtOrAfter(const Slice& key) const;
  Place First() const { return {}; }
  Place Last() const;  // not valid if there is none

  bool IsValid(const Place& place) const { return place.block < blocks_.size(); }
  // The reference at a valid place.
  KeyRef At(const Place& place) const;
  // Move a valid place. It becomes invalid behind the last key and before the first one.
  void Next(Place* place) const;
  void Prev(Place* place) const;
  // Like Prev(), but a place behind the last key is allowed too and moves to the last key.
  void Before(Place* place) const {
    if (IsValid(*place)) return Prev(place);
    *place = Last();
  }
  // Prefetches the record of a key some places ahead, if it is in this block or the next one.
  void PrefetchAhead(const Place& place, bool is_forward) const;

 private:
  static constexpr size_t kBlockPairs = 128;
  // Two arrays instead of one of pairs, so that a search touches the heads only. Both have `count`
  // items in use, in the order of the keys.
  struct Block {
    size_t count = 0;
    uint64_t heads[kBlockPairs];
    uint64_t refs[kBlockPairs];  // bits of references
  };
  // A key while the list is built: its head and the bits of its reference.
  struct Pair {
    uint64_t head;
    uint64_t ref;
  };
  // A key that is searched for, with its head.
  struct Target {
    Slice key;
    uint64_t head;
  };

  uint64_t HeadOf(const Slice& key) const;
  Target TargetOf(const Slice& key) const { return {key, HeadOf(key)}; }
  Slice KeyAt(size_t block, size_t index) const {
    return keys_->KeyOf(KeyRef::FromBits(blocks_[block]->refs[index]));
  }
  // The number of blocks whose first key is before or at the target.
  size_t BlocksUpTo(const Target& target) const;
  // The number of keys in the block that are before the target.
  size_t CountBefore(size_t block, const Target& target) const;
  void InsertAt(Place place, uint64_t head, KeyRef ref);
  // See sorted_keys.cc. With InsertAt() the only functions that move pairs from block to block.
  size_t Split(size_t block);
  // Appends an empty block.
  Block* AddBlock(uint64_t first_head);
  std::unique_ptr<Block> NewBlock();
  // The longest common prefix of the keys; empty in a custom order.
  std::string CommonPrefix(std::span<const Pair> pairs) const;
  void PrefetchKey(std::span<const Pair> pairs, size_t i) const;
  bool MakeHeads(std::span<Pair> pairs) const;
  // Sorts the pairs of a table, and fills an empty list with them.
  void SortIn(std::span<Pair> pairs, const KeyTable& table);
  // Determines the common prefix again, and computes the heads anew if it has changed.
  void ReviewPrefix();

  const InternalKeyComparator* const comparator_;
  const BatchKeys* const keys_;
  std::string prefix_;                          // of all keys; empty in a custom order
  std::vector<std::unique_ptr<Block>> blocks_;  // none is empty
  std::unique_ptr<Block> spare_;                // kept for reuse; null: none
  std::vector<uint64_t> first_heads_;           // the first head of each block
  size_t count_ = 0;
  size_t review_count_ = kBlockPairs;  // ReviewPrefix() is due at this number of keys
};

}  // namespace ashlar
