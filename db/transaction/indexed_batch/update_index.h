// SPDX-License-Identifier: Apache-2.0
//
// UpdateIndex finds the updates of a batch by family and key.
//
// Each family has its keys in a hash table and, from the first walk over them on, also in order. A
// family whose comparator may treat different bytes as equal has them in order only. The updates of
// a key are one record, or a chain with the newest update first; in a batch that overwrites, only
// the newest plain update is in the chain.
//
// Threads: one writer, with no reader at the same time; several readers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "ashlar/comparator.h"
#include "db/transaction/indexed_batch/key_ref.h"
#include "db/transaction/indexed_batch/key_table.h"
#include "db/transaction/indexed_batch/sorted_keys.h"
#include "db/transaction/indexed_batch/update_chains.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class UpdateIndex {
 public:
  // One family of a batch. Lives as long as the index.
  class Family {
   public:
    Family(uint32_t id, const Comparator* comparator, const BatchKeys* keys);
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    uint32_t id() const { return id_; }
    const InternalKeyComparator& comparator() const { return comparator_; }
    // The keys in order; valid only if is_sorted().
    const SortedKeys& sorted() const { return sorted_; }
    bool is_sorted() const { return is_sorted_.load(std::memory_order_acquire); }
    // The number of updates that the index shows, and how many of them have replaced a
    // SingleDelete.
    uint32_t update_count() const { return update_count_; }
    uint32_t replaced_single_delete_count() const { return replaced_single_delete_count_; }

   private:
    friend class UpdateIndex;

    void OrderBy(const Comparator* comparator);

    const uint32_t id_;
    InternalKeyComparator comparator_;
    bool is_hashed_;
    KeyTable table_;
    SortedKeys sorted_;
    std::atomic<bool> is_sorted_;  // whether sorted_ is kept; set under the batch's mutex
    uint32_t update_count_ = 0;
    uint32_t replaced_single_delete_count_ = 0;
  };

  // An update that the index shows, and its place among the updates of its key.
  struct Shown {
    KeyRef ref;
    uint32_t update = UpdateChains::kNone;  // the index in the chain; kNone: the only update
    uint64_t offset = 0;                    // of the record in the batch
  };

  // `overwrites`: plain updates replace the newest one of their key. The batch is borrowed.
  UpdateIndex(const WriteBatch* batch, bool overwrites)
      : overwrites_(overwrites), keys_(batch, &chains_) {}
  UpdateIndex(const UpdateIndex&) = delete;
  UpdateIndex& operator=(const UpdateIndex&) = delete;

  const BatchKeys& keys() const { return keys_; }
  bool overwrites() const { return overwrites_; }

  // The family with this id; null if the batch has no update of it.
  Family* Find(uint32_t id) const;
  // Adds a family.
  Family* Make(uint32_t id, const Comparator* comparator);
  // Changes the order of a family. The index must be empty.
  void OrderBy(Family* family, const Comparator* comparator) { family->OrderBy(comparator); }
  const std::vector<std::unique_ptr<Family>>& families() const { return families_; }

  // Adds a record of the batch, which must be behind all indexed records.
  void Add(Family* family, const WriteBatchRecord& record, uint64_t offset);
  // Takes back the record that was added last.
  void TakeBack(Family* family, const WriteBatchRecord& record, uint64_t offset);
  // Makes room for `key_count` more keys.
  void Reserve(Family* family, size_t key_count) {
    if (family->is_hashed_) family->table_.Reserve(family->table_.count() + key_count, keys_);
  }
  // Prefetches the memory that Add() will read first.
  void Prefetch(const Family& family, const Slice& key) const {
    if (family.is_hashed_ && family.table_.count() != 0) {
      family.table_.Prefetch(KeyTable::HashOf(key));
    }
  }
  // Sorts the keys of a family, and keeps them sorted from now on. Called under the batch's mutex.
  void Sort(Family* family);
  void Clear();

  // Finds the newest update of a key. Returns false if there is none.
  bool FindNewest(const Family& family, const Slice& key, Shown* shown) const;
  // The newest and the oldest update of the key of a reference.
  Shown Newest(KeyRef ref) const;
  Shown Oldest(KeyRef ref) const;
  // Moves to the next update of the same key. Returns false at the last one, without moving.
  bool ToOlder(Shown* shown) const;
  bool ToNewer(Shown* shown) const;
  // The number of updates of the key up to this one, including the replaced ones.
  uint32_t OrdinalOf(const Shown& shown) const;
  bool ReplacedSingleDelete(const Shown& shown) const;

  // The number of sub-batches into which the batch would have to be divided so that each contains a
  // key only once.
  uint32_t sub_batch_count() const { return static_cast<uint32_t>(sub_batches_.size()) + 1; }

 private:
  // Finds the reference of a key. *slot is set only if the family has a hash table.
  bool FindEntry(const Family& family, const Slice& key, KeyTable::Slot* slot, KeyRef* ref) const;
  // Adds an update of a key that has updates already.
  void AddAgain(Family* family, const WriteBatchRecord& record, uint64_t offset,
                KeyTable::Slot slot, KeyRef ref);
  // Gives a key another reference, in the table and in the order.
  void SetRef(Family* family, const Slice& key, KeyTable::Slot slot, KeyRef ref);

  const bool overwrites_;
  UpdateChains chains_;
  const BatchKeys keys_;
  std::vector<std::unique_ptr<Family>> families_;  // ascending by number
  std::vector<uint64_t> sub_batches_;  // offsets at which the sub-batches begin, except the first
};

}  // namespace ashlar
