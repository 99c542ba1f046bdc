// SPDX-License-Identifier: Apache-2.0
//
// CachedObject: the base of what the block cache holds (data blocks, indexes, filters), and
// SlotTable, through which a table reader reaches its cached blocks without a hash table.
//
// Lifetime. `refs` counts the references of iterators and pinned values, and one of the cache while
// the object is in it. Whoever takes the last one away retires the object through the epoch. So an
// object found inside an EpochGuard can be used until the guard ends, without a reference, whatever
// happens to it meanwhile. For longer use, TryRef() it inside the guard; false means that it is on
// its way out and must be fetched anew.
//
//   struct DataBlock : CachedObject {
//     DataBlock() : CachedObject(&DestroyAs<DataBlock>) {}
//   };
//
// Objects are immutable once they are shared. Their destructors run late, in any thread.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>

#include "ashlar/cache.h"
#include "util/threads/epoch.h"

namespace ashlar {

class ClockShard;
struct CachedObject;

// The key of a block. File ids come from Cache::NewId or from the file's unique id.
struct BlockKey {
  uint64_t file_id = 0;
  uint64_t offset = 0;
  friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

class SlotTable;

// What a cached object keeps of the table that it stands in, which may leave first: an index that
// is evicted and read again has a new table each time, and each as large as dozens of blocks.
class SlotLink {
 public:
  void Ref() {
    [[maybe_unused]] const size_t before = refs_.fetch_add(1, std::memory_order_relaxed);
    assert(before != 0);  // nobody revives a link from nothing
  }
  void Unref();
  // Only inside an EpochGuard; null: it has left.
  SlotTable* table() const { return table_.load(std::memory_order_acquire); }
  // The table itself, when it comes; null: it leaves.
  void SetTable(SlotTable* table) { table_.store(table, std::memory_order_release); }

 private:
  std::atomic<size_t> refs_{1};  // the table's, and one of each object that stands in it
  std::atomic<SlotTable*> table_{nullptr};
};

// SlotTable: an array of pointers to cached objects, one for each block of a file, which its reader
// owns. Slots are written only by the cache: on insertion, and back to nullptr on eviction.
class SlotTable : EpochRetired {
 public:
  static SlotTable* Create(size_t slot_count);
  // Of the reader, once: nobody else looks at the slots any more.
  void Retire();

  size_t size() const { return size_; }
  size_t memory_bytes() const;
  SlotLink* link() const { return link_; }

  // Only inside an EpochGuard. Pairs with the release by which the cache publishes an object.
  CachedObject* Load(size_t i) const {
    assert(i < size_);
    return slots()[i].load(std::memory_order_acquire);
  }
  void Prefetch(size_t i) const {
    assert(i < size_);
    __builtin_prefetch(slots() + i);
  }
  std::atomic<CachedObject*>& operator[](size_t i) {
    assert(i < size_);
    return slots()[i];
  }

 private:
  using Slot = std::atomic<CachedObject*>;
  // Takes the link over, with its one reference.
  SlotTable(size_t size, SlotLink* link) : size_(size), link_(link) { link_->SetTable(this); }
  ~SlotTable() = default;
  static void Free(EpochRetired* retired);

  // The slots follow the object in the same allocation.
  Slot* slots() const { return reinterpret_cast<Slot*>(const_cast<SlotTable*>(this) + 1); }

  const size_t size_;  // slots, one per block of the file
  SlotLink* const link_;
};

struct CachedObject : EpochRetired {
  // Born with one reference, for its maker. `destroy` frees it, members and memory.
  explicit CachedObject(void (*destroy_function)(CachedObject*)) : destroy(destroy_function) {
    assert(destroy != nullptr);
  }
  CachedObject(const CachedObject&) = delete;
  CachedObject& operator=(const CachedObject&) = delete;

  // Another reference. The caller holds one already.
  void Ref() {
    [[maybe_unused]] const uint32_t before = refs.fetch_add(1, std::memory_order_relaxed);
    assert(before != 0);
  }
  // A reference to an object that was found inside the current EpochGuard. False: it is dying.
  bool TryRef() {
    uint32_t count = refs.load(std::memory_order_relaxed);
    while (count != 0) {
      if (refs.compare_exchange_weak(count, count + 1, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void Unref() {
    const uint32_t before = refs.fetch_sub(1, std::memory_order_acq_rel);
    assert(before != 0);
    if (before == 1) OnLastReference();
  }

  // Marks the object as used, for the CLOCK: once more round for each use up to kMostRounds. A hot
  // object's line stays clean: it is only read. Of uses at the same moment some may not count.
  static constexpr uint8_t kMostRounds = 3;
  void Touch() {
    const uint8_t uses = touched.load(std::memory_order_relaxed);
    if (uses < kMostRounds) touched.store(uses + 1, std::memory_order_relaxed);
  }

  // Everything below belongs to the cache.

  void OnLastReference();  // gives the charge back and retires the object

  // Fixed before the object is shared: lookups read it without a lock.
  enum Kind : uint8_t {
    kIsHandle = 1,    // a HandleEntry: came through the public Cache interface
    kHasLongKey = 2,  // a HandleEntry whose key is not 16 bytes long
  };
  // Changes under the shard's lock, while the object has references.
  enum State : uint8_t {
    kInTable = 1,      // found by lookups
    kInMainQueue = 2,  // else on probation
    kEvicted = 4,      // has left for want of room
  };

  void (*const destroy)(CachedObject*);  // frees members and memory; runs once, through the epoch
  CachedObject* queue_next = nullptr;    // under the shard's lock
  CachedObject* queue_prev = nullptr;
  // The chain of the hash table: changed under the shard's lock, followed by lookups without it.
  // Kept when the object is unlinked, for lookups that stand on it.
  std::atomic<CachedObject*> bucket_next{nullptr};
  uint64_t hash = 0;  // fixed, like the key, before the object is shared
  BlockKey key;
  ClockShard* shard = nullptr;    // where it is charged; nullptr: nowhere
  size_t charge = 0;              // what it costs the capacity; fixed while it is charged
  SlotLink* slot_link = nullptr;  // holds a reference; under the shard's lock
  uint32_t slot_index = 0;
  // Last, so that they share a line with the first members of a subclass.
  std::atomic<uint32_t> refs{1};                // 0: dying, and nobody may take another one
  uint8_t kind = 0;                             // of Kind
  uint8_t state = 0;                            // of State
  CacheEntryRole role = CacheEntryRole::kMisc;  // what statistics count it as
  std::atomic<uint8_t> touched{0};              // rounds that its uses have earned; set by readers
};

template <typename T>
void DestroyAs(CachedObject* object) {
  delete static_cast<T*>(object);
}

}  // namespace ashlar
