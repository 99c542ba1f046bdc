// SPDX-License-Identifier: Apache-2.0
//
// CachedObject: the base of the objects in the block cache (data blocks, indexes, filters); and
// SlotTable, through which a table reader finds its cached blocks without a hash table.
//
// Lifetime. `refs` counts the references of iterators and pinned values, and one reference of the
// cache while the object is in it. The thread that releases the last reference retires the object
// through the epoch. So an object that was found inside an EpochGuard can be used without a
// reference until the guard ends, whatever happens to it in between. For longer use, call TryRef()
// inside the guard; false means that the object is being destroyed and must be fetched again.
//
//   struct DataBlock : CachedObject {
//     DataBlock() : CachedObject(&DestroyAs<DataBlock>) {}
//   };
//
// Objects are immutable once they are shared. Their destructors run later, in any thread, perhaps
// under a lock of the program's cache: they only free memory.
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

// The key of a block. File ids come from Cache::NewId() or from the unique id of the file.
struct BlockKey {
  uint64_t file_id = 0;
  uint64_t offset = 0;
  friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

class SlotTable;

// The link from a cached object to the slot table that points to it. The table may be destroyed
// first: an index that is evicted and read again gets a new table each time, which is as large as
// dozens of blocks.
class SlotLink {
 public:
  void Ref() {
    [[maybe_unused]] const size_t before = refs_.fetch_add(1, std::memory_order_relaxed);
    assert(before != 0);  // a link without references cannot gain one
  }
  void Unref();
  // Only inside an EpochGuard. Null: the table is gone.
  SlotTable* table() const { return table_.load(std::memory_order_acquire); }
  // The table sets itself on creation, and null on destruction.
  void SetTable(SlotTable* table) { table_.store(table, std::memory_order_release); }

 private:
  std::atomic<size_t> refs_{1};  // one of the table, and one of each object in the table
  std::atomic<SlotTable*> table_{nullptr};
};

// SlotTable: an array of pointers to cached objects, one for each block of a file; its table reader
// owns it. Only the cache writes slots: on insertion, and null on eviction.
class SlotTable : EpochRetired {
 public:
  // A table of `slot_count` empty slots.
  static SlotTable* Create(size_t slot_count);
  // Destroys the table. Called once by the table reader, when no other thread uses the slots any
  // more.
  void Retire();

  size_t size() const { return size_; }
  size_t memory_bytes() const;
  SlotLink* link() const { return link_; }

  // Only inside an EpochGuard. Pairs with the release store by which the cache publishes an object.
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
  // Takes over the link and its reference.
  SlotTable(size_t size, SlotLink* link) : size_(size), link_(link) { link_->SetTable(this); }
  ~SlotTable() = default;
  static void Free(EpochRetired* retired);

  // The slots follow the object in the same allocation.
  Slot* slots() const { return reinterpret_cast<Slot*>(const_cast<SlotTable*>(this) + 1); }

  const size_t size_;  // number of slots: one per block of the file
  SlotLink* const link_;
};

// See the head of this file.
struct CachedObject : EpochRetired {
  // Starts with one reference, which belongs to the creator. `destroy` destroys the object and
  // frees its memory.
  explicit CachedObject(void (*destroy_function)(CachedObject*)) : destroy(destroy_function) {
    assert(destroy != nullptr);
  }
  CachedObject(const CachedObject&) = delete;
  CachedObject& operator=(const CachedObject&) = delete;

  // Adds a reference. The caller must hold one already.
  void Ref() {
    [[maybe_unused]] const uint32_t before = refs.fetch_add(1, std::memory_order_relaxed);
    assert(before != 0);
  }
  // Adds a reference to an object that was found inside the current EpochGuard. False: it is being
  // destroyed.
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
  // Releases a reference; the last one retires the object.
  void Unref() {
    const uint32_t before = refs.fetch_sub(1, std::memory_order_acq_rel);
    assert(before != 0);
    if (before == 1) OnLastReference();
  }

  // Marks the object as used for the CLOCK: each use, up to kMostRounds, keeps it for another
  // round. The cache line of a hot object stays clean, because it is only read. Of several uses at
  // the same moment some may be lost.
  static constexpr uint8_t kMostRounds = 3;
  void Touch() {
    const uint8_t uses = touched.load(std::memory_order_relaxed);
    if (uses < kMostRounds) touched.store(uses + 1, std::memory_order_relaxed);
  }

  // Everything below belongs to the cache.

  void OnLastReference();  // gives back the charge and retires the object

  // Set before the object is shared, because lookups read it without a lock.
  enum Kind : uint8_t {
    kIsHandle = 1,    // a HandleEntry, inserted through the public Cache interface
    kHasLongKey = 2,  // a HandleEntry whose key does not have 16 bytes
  };
  // Changed under the lock of the shard, while the object has references.
  enum State : uint8_t {
    kInTable = 1,      // lookups find it
    kInMainQueue = 2,  // not set: on probation
    kEvicted = 4,      // was removed because room was needed
  };

  // Destroys the object and frees its memory; called once, through the epoch.
  void (*const destroy)(CachedObject*);
  CachedObject* queue_next = nullptr;  // guarded by the lock of the shard
  CachedObject* queue_prev = nullptr;
  // The chain of the hash table: changed under the lock of the shard, read by lookups without it.
  // It is kept when the object is unlinked, for lookups that are at this object.
  std::atomic<CachedObject*> bucket_next{nullptr};
  uint64_t hash = 0;  // fixed, like the key, before the object is shared
  BlockKey key;
  ClockShard* shard = nullptr;    // the shard where the object is charged; null: nowhere
  size_t charge = 0;              // bytes of capacity; constant while the object is charged
  SlotLink* slot_link = nullptr;  // holds a reference; guarded by the lock of the shard
  uint32_t slot_index = 0;
  // These are last, so that they share a cache line with the first members of a subclass.
  std::atomic<uint32_t> refs{1};                // 0: being destroyed; no reference may be added
  uint8_t kind = 0;                             // bits of Kind
  uint8_t state = 0;                            // bits of State
  CacheEntryRole role = CacheEntryRole::kMisc;  // the role under which statistics count the object
  std::atomic<uint8_t> touched{0};              // rounds earned by uses; set by readers
};

// A `destroy` function for objects made with `new T`.
template <typename T>
void DestroyAs(CachedObject* object) {
  delete static_cast<T*>(object);
}

}  // namespace ashlar
