// SPDX-License-Identifier: Apache-2.0
//
// KeyTable finds the reference of a key by its hash. Open addressing with linear probing. A slot of
// 8 bytes contains a reference and 23 bits of the hash, so a search reads the key that it finds
// from the batch, and hardly ever another one. At most 3/4 of the slots are in use. The number of
// slots need not be a power of two, so a batch that is written before it is read gets just as many
// as it needs.
//
// Keys are compared by their bytes, so the table is not for comparators that may treat different
// bytes as equal. Threads: one writer, with no reader at the same time; several readers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ashlar/slice.h"
#include "db/transaction/indexed_batch/key_ref.h"
#include "util/hash/hash.h"

namespace ashlar {

class KeyTable {
 public:
#ifndef NDEBUG
  // Searches of this thread in any table, for tests of what a call costs.
  static inline thread_local uint64_t searches = 0;
#endif

  static uint64_t HashOf(const Slice& key) { return HashBytes(key); }

  // A slot of the table that contains a reference; null: no slot.
  class Slot {
   public:
    Slot() = default;
    explicit operator bool() const { return bits_ != nullptr; }
    KeyRef ref() const { return KeyRef::FromBits(*bits_ & kRefMask); }

   private:
    friend class KeyTable;
    explicit Slot(uint64_t* bits) : bits_(bits) {}
    uint64_t* bits_ = nullptr;
  };

  size_t count() const { return count_; }
  size_t slot_count() const { return slot_count_; }

  // Prefetches the first slot of a search.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(slots_.get() + HomeOf(hash)); }

  // The result is valid until the table changes. Hot: one cache line, and the record of the key.
  Slot Find(const Slice& key, uint64_t hash, const BatchKeys& keys) const {
    assert(++searches != 0);
    if (count_ == 0) return {};
    const uint64_t tag = TagOf(hash);
    for (size_t i = HomeOf(hash); slots_[i] != kFree; i = Behind(i)) {
      const uint64_t bits = slots_[i];
      if ((bits & ~kRefMask) != tag || bits == kErased) continue;
      if (keys.KeyOf(KeyRef::FromBits(bits & kRefMask)) == key) return Slot(&slots_[i]);
    }
    return {};
  }

  // Adds a key that is not in the table.
  void Insert(uint64_t hash, KeyRef ref, const BatchKeys& keys) {
    if (taken_ >= limit_) [[unlikely]]
      Rebuild(count_ + 1, keys);
    Place(hash, ref);
    ++count_;
  }
  // Replaces the reference of a key.
  void Replace(Slot slot, KeyRef ref) {
    assert(slot);
    *slot.bits_ = (*slot.bits_ & ~kRefMask) | ref.bits();
  }
  // Removes a key. The slot stays taken until the table is rebuilt.
  void Erase(Slot slot) {
    assert(slot && count_ > 0);
    *slot.bits_ = kErased;
    --count_;
  }
  // Makes room for `count` keys in total.
  void Reserve(size_t count, const BatchKeys& keys) {
    if (count > limit_) Rebuild(count, keys);
  }
  // Removes all keys, and keeps memory for about as many.
  void Clear();

  // Calls visit(KeyRef) for all references, unordered.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; count_ != 0 && i < slot_count_; ++i) {
      if (IsInUse(slots_[i])) visit(KeyRef::FromBits(slots_[i] & kRefMask));
    }
  }

 private:
  static constexpr uint64_t kRefMask = (uint64_t{1} << KeyRef::kBits) - 1;
  // The bits of references to records at the offsets 0 and 1, which are inside the header.
  static constexpr uint64_t kFree = 0;
  static constexpr uint64_t kErased = 2;

  static bool IsInUse(uint64_t bits) { return bits != kFree && bits != kErased; }
  // The low bits of the hash, because the high bits determine the home slot.
  static uint64_t TagOf(uint64_t hash) { return hash << KeyRef::kBits; }
  size_t HomeOf(uint64_t hash) const {
    return static_cast<size_t>((static_cast<unsigned __int128>(hash) * slot_count_) >> 64);
  }
  size_t Behind(size_t i) const { return i + 1 == slot_count_ ? 0 : i + 1; }

  void Place(uint64_t hash, KeyRef ref) {
    assert(taken_ < slot_count_);  // otherwise the search would not end
    size_t i = HomeOf(hash);
    while (IsInUse(slots_[i])) i = Behind(i);
    if (slots_[i] == kFree) ++taken_;
    slots_[i] = TagOf(hash) | ref.bits();
  }
  void Rebuild(size_t count, const BatchKeys& keys);
  void Allocate(size_t slot_count);

  std::unique_ptr<uint64_t[]> slots_;
  size_t slot_count_ = 0;
  size_t limit_ = 0;  // maximal number of taken slots
  size_t taken_ = 0;  // slots in use or erased
  size_t count_ = 0;  // slots in use
};

}  // namespace ashlar
