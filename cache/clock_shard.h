// SPDX-License-Identifier: Apache-2.0
//
// ClockShard: one part of the built-in cache: a hash table that is read without locks, and two
// queues that decide what is evicted.
//
// Lookups run inside an EpochGuard. Functions that change the shard take its lock. Under the lock
// they make no allocation of unknown size, free nothing, and call no other class; objects that must
// be freed are returned in a Departed list.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "ashlar/slice.h"
#include "cache/cached_object.h"
#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

// A key in the form in which the table compares it: 16 bytes as two numbers, any other length as
// bytes.
struct CacheKeyView {
  uint64_t hash = 0;
  BlockKey block;
  Slice bytes;
  bool is_long = false;
};

// The chains of a table of one size, and the memory of objects that are not in the table: a
// fingerprint in each place, which the next fingerprint for that place overwrites, so that it
// forgets at about the speed of evictions. When the table grows, the whole object is replaced and
// retired.
struct HashBuckets : EpochRetired {
  static HashBuckets* Create(unsigned bits);
  static void Free(EpochRetired* buckets);

  size_t size() const { return size_t{1} << bits; }
  // The high bits select the bucket; the low bits have selected the shard.
  size_t IndexOf(uint64_t hash) const { return hash >> (64 - bits); }
  std::atomic<CachedObject*>& Head(size_t index) {
    assert(index < size());
    return heads()[index];
  }
  std::atomic<CachedObject*>& HeadFor(uint64_t hash) { return heads()[IndexOf(hash)]; }

  // What is remembered about an object: it left probation unused, or it was passed by.
  enum class Ghost : uint32_t { kEvicted = 1, kPassedBy = 2 };
  void Remember(uint64_t hash, Ghost ghost) {
    GhostFor(hash).store(PrintOf(hash, ghost), std::memory_order_relaxed);
  }
  bool Remembers(uint64_t hash, Ghost ghost) {
    return GhostFor(hash).load(std::memory_order_relaxed) == PrintOf(hash, ghost);
  }
  void Forget(uint64_t hash) { GhostFor(hash).store(0, std::memory_order_relaxed); }

  size_t memory_bytes() const {
    return sizeof(*this) + size() * (sizeof(CachedObject*) + sizeof(uint32_t));
  }

  const unsigned bits;  // log2 of the number of chains

 private:
  explicit HashBuckets(unsigned b) : bits(b) {}
  std::atomic<CachedObject*>* heads() {
    return reinterpret_cast<std::atomic<CachedObject*>*>(this + 1);
  }
  // Adds the kind in the low bits, which are the same for the whole shard; 0 is an empty place.
  static uint32_t PrintOf(uint64_t hash, Ghost ghost) {
    return (static_cast<uint32_t>(hash) & ~uint32_t{3}) | static_cast<uint32_t>(ghost);
  }
  std::atomic<uint32_t>& GhostFor(uint64_t hash) {
    return reinterpret_cast<std::atomic<uint32_t>*>(heads() + size())[IndexOf(hash)];
  }
};

// Objects and tables that have left a shard, for the caller to free outside of the lock.
struct Departed {
  void Add(CachedObject* object) {
    assert(object->refs.load(std::memory_order_relaxed) == 0);
    assert(object->shard == nullptr);  // its charge was given back
    object->queue_next = objects;
    objects = object;
  }
  CachedObject* objects = nullptr;  // linked by queue_next; they have no references
  HashBuckets* buckets = nullptr;
};

class alignas(64) ClockShard {
 public:
  ClockShard();
  ~ClockShard();  // objects that are still in the shard leak
  ClockShard(const ClockShard&) = delete;
  ClockShard& operator=(const ClockShard&) = delete;

  // Finds an object; null: none. Inside an EpochGuard. The object may be about to be destroyed;
  // TryRef() tells.
  CachedObject* Find(const CacheKeyView& key);

  enum class Result : uint8_t { kInserted, kCharged, kNoRoom };
  // An object that is to be inserted.
  struct Admission {
    CachedObject* object = nullptr;  // its hash, key, charge and role are set
    bool is_important = false;       // skips probation
    bool is_doubtful = false;        // stays on probation even if it was evicted recently
    SlotTable* table = nullptr;
    uint32_t slot_index = 0;
    // The charge exceeds the capacity of all shards together, so the object must not be found.
    bool stays_out = false;
  };
  // kInserted: the shard has taken over one reference. kCharged: the object is not in the table,
  // but is charged as long as it has references. kNoRoom: neither. The object with the same key is
  // removed in all cases.
  Result Insert(const Admission& admission, Departed* departed);
  // For objects that are cheap to read again. True if the shard is full and has not passed by the
  // same key recently: then the object is not in the table, but is charged as long as it has
  // references. Takes no lock; inside an EpochGuard.
  bool PassBy(CachedObject* object);
  // Charges an object that is in no table. False: there is no room, and the capacity is strict.
  bool ChargeStandalone(CachedObject* object, Departed* departed);
  // Subtracts the charge of an object whose last reference was released.
  void GiveBack(size_t charge) {
    [[maybe_unused]] const size_t before = usage_.fetch_sub(charge, std::memory_order_relaxed);
    assert(before >= charge);
  }

  // Removes the object with this key, referenced or not.
  void Erase(const CacheKeyView& key, Departed* departed);
  // Removes the object if the reference of the shard is the only one.
  bool EraseIfUnreferenced(CachedObject* object, Departed* departed);
  void EraseUnreferenced(Departed* departed);
  // Removes every object, referenced or not. Called only when the cache is destroyed.
  void EraseAll(Departed* departed);

  // Puts an object of the table into a slot, and removes it from its previous slot.
  void PublishSlot(CachedObject* object, SlotTable* table, uint32_t slot_index);

  void SetCapacity(size_t capacity, Departed* departed);
  void SetStrict(bool is_strict);

  size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  // True if some of the capacity is free, so insertions will not cause evictions soon.
  bool HasRoom() const {
    const size_t capacity = capacity_.load(std::memory_order_relaxed);
    return usage() < capacity - capacity / kFreeShare;
  }
  bool IsOverCapacity() const { return usage() > capacity_.load(std::memory_order_relaxed); }
  size_t PinnedUsage();
  size_t count();
  size_t bucket_count();

  // Calls `callback` for the objects of about `limit` entries from *position on, under the lock,
  // and advances the position, which stays valid when the table grows. False when the end was
  // reached.
  bool Walk(uint64_t* position, size_t limit, const std::function<void(CachedObject*)>& callback);

  // Aborts if the queues, the table and the charges contradict each other. Builds with invariant
  // checks call it after as many changes as the shard has entries, so its cost stays in proportion.
  void CheckInvariants();
  // One line: the usage and the contents of the queues.
  std::string DebugString();

 private:
  // A shard has room if more than this part (1/32) of the capacity is free.
  static constexpr size_t kFreeShare = 32;

  // A doubly linked list through queue_next and queue_prev; the newest object is first.
  struct Queue {
    void PushFront(CachedObject* object);
    void Remove(CachedObject* object);
    CachedObject* front = nullptr;  // the newest object
    CachedObject* back = nullptr;   // the next object for the CLOCK
    size_t count = 0;
    size_t bytes = 0;  // sum of the charges
  };

  CachedObject* FindLocked(const CacheKeyView& key) REQUIRES(lock_);
  // Evicts until `charge` fits, or gives up.
  void MakeRoom(size_t charge, Departed* departed) REQUIRES(lock_);
  bool StepClock(Departed* departed) REQUIRES(lock_);
  // Puts an object into the table, a queue, and its slot.
  void Link(const Admission& admission) REQUIRES(lock_);
  void Unlink(CachedObject* object) REQUIRES(lock_);
  void Detach(CachedObject* object, Departed* departed) REQUIRES(lock_);
  bool EvictLocked(CachedObject* object, Departed* departed) REQUIRES(lock_);
  // Sets the slot of the object to null, unless it contains another object.
  void ClearSlot(CachedObject* object) REQUIRES(lock_);
  // Replaces the table by one of twice the size if it is full.
  void GrowIfNeeded(Departed* departed) REQUIRES(lock_);
  void RelinkInto(HashBuckets* from, HashBuckets* to) REQUIRES(lock_);
  Queue& QueueOf(const CachedObject* object) REQUIRES(lock_) {
    return object->state & CachedObject::kInMainQueue ? main_ : probation_;
  }
  // True if the object was recently evicted from probation. Forgets that.
  bool WasEvictedLately(uint64_t hash) REQUIRES(lock_);
  void CheckInvariantsLocked() REQUIRES(lock_);
  // Counts a change for CheckInvariants().
  void NoteChange() REQUIRES(lock_);

  // Read by lookups. Odd while the table is being replaced.
  std::atomic<uint32_t> version_{0};
  std::atomic<HashBuckets*> buckets_;

  alignas(64) Mutex lock_{LockRank::kCacheShard};
  Queue probation_ GUARDED_BY(lock_);
  Queue main_ GUARDED_BY(lock_);
  // An object was evicted from probation since the table grew.
  bool has_evicted_ GUARDED_BY(lock_) = false;
  // An insertion without room fails; else it may exceed the capacity.
  bool is_strict_ GUARDED_BY(lock_) = false;
  // The number of changes since the invariants were checked last. Counted only in builds with
  // invariant checks.
  size_t unchecked_changes_ GUARDED_BY(lock_) = 0;
  // Stored under the lock, and by GiveBack() and PassBy(); any thread loads them.
  std::atomic<size_t> usage_{0};
  std::atomic<size_t> capacity_{0};
};

}  // namespace ashlar
