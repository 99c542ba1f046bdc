// SPDX-License-Identifier: Apache-2.0
//
// ClockShard: one part of the built-in cache: a hash table that is read without locks, and two
// queues that decide what leaves.
//
// Lookups run inside an EpochGuard. Everything that changes the shard takes its lock, does no
// allocation of unknown size under it, frees nothing under it, and calls nobody: what must be freed
// comes back in a Departed list for the caller.
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

// A key as the table compares it: 16 bytes as two numbers, any other length as bytes.
struct CacheKeyView {
  uint64_t hash = 0;
  BlockKey block;
  Slice bytes;
  bool is_long = false;
};

// The chains of one table size, and what is remembered of objects that are not in the table: a
// fingerprint for each place, overwritten by the next of that place, so that it forgets at about
// the pace of evictions. Replaced as a whole when the table grows, and then retired.
struct HashBuckets : EpochRetired {
  static HashBuckets* Create(unsigned bits);
  static void Free(EpochRetired* buckets);

  size_t size() const { return size_t{1} << bits; }
  // The high bits choose the bucket; the low ones have chosen the shard.
  size_t IndexOf(uint64_t hash) const { return hash >> (64 - bits); }
  std::atomic<CachedObject*>& Head(size_t index) {
    assert(index < size());
    return heads()[index];
  }
  std::atomic<CachedObject*>& HeadFor(uint64_t hash) { return heads()[IndexOf(hash)]; }

  // What is remembered of an object: that it left from probation unused, or was passed by.
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
  // The low bits, which have chosen the shard, tell the kinds apart; 0 is an empty place.
  static uint32_t PrintOf(uint64_t hash, Ghost ghost) {
    return (static_cast<uint32_t>(hash) & ~uint32_t{3}) | static_cast<uint32_t>(ghost);
  }
  std::atomic<uint32_t>& GhostFor(uint64_t hash) {
    return reinterpret_cast<std::atomic<uint32_t>*>(heads() + size())[IndexOf(hash)];
  }
};

// Objects and tables that have left a shard and await their end, outside its lock.
struct Departed {
  void Add(CachedObject* object) {
    assert(object->refs.load(std::memory_order_relaxed) == 0);
    assert(object->shard == nullptr);  // its charge has been given back
    object->queue_next = objects;
    objects = object;
  }
  CachedObject* objects = nullptr;  // linked by queue_next; no reference is left
  HashBuckets* buckets = nullptr;
};

class alignas(64) ClockShard {
 public:
  ClockShard();
  ~ClockShard();  // what is still in it leaks
  ClockShard(const ClockShard&) = delete;
  ClockShard& operator=(const ClockShard&) = delete;

  // Inside an EpochGuard. The object may be on its way out; TryRef() tells.
  CachedObject* Find(const CacheKeyView& key);

  enum class Result : uint8_t { kInserted, kCharged, kNoRoom };
  struct Admission {
    CachedObject* object = nullptr;  // hash, key, charge and role are set
    bool is_important = false;       // skips probation
    bool is_doubtful = false;        // stays on probation even if it comes back
    SlotTable* table = nullptr;
    uint32_t slot_index = 0;
    bool stays_out = false;  // it is larger than all shards: nobody is to find it
  };
  // On kInserted one reference has become the shard's. kCharged: the object stays out, but counts
  // as long as somebody uses it. The object under the same key departs in all cases.
  Result Insert(const Admission& admission, Departed* departed);
  // For an object that is cheap to read again: true, if the shard is full and does not remember to
  // have passed the same by lately. It is charged as long as somebody uses it, and nobody finds it.
  // Takes no lock; inside an EpochGuard.
  bool PassBy(CachedObject* object);
  // Charges an object that is in no table. False: no room, and the capacity is strict.
  bool ChargeStandalone(CachedObject* object, Departed* departed);
  // Takes back what an object was charged, when its last reference has gone.
  void GiveBack(size_t charge) {
    [[maybe_unused]] const size_t before = usage_.fetch_sub(charge, std::memory_order_relaxed);
    assert(before >= charge);
  }

  void Erase(const CacheKeyView& key, Departed* departed);
  // Removes the object if the shard's reference is the only one.
  bool EraseIfUnreferenced(CachedObject* object, Departed* departed);
  void EraseUnreferenced(Departed* departed);
  // At the end of the cache: removes every object, referenced or not.
  void EraseAll(Departed* departed);

  // Puts an object of the table into a slot, and out of the one it was in.
  void PublishSlot(CachedObject* object, SlotTable* table, uint32_t slot_index);

  void SetCapacity(size_t capacity, Departed* departed);
  void SetStrict(bool is_strict);

  size_t usage() const { return usage_.load(std::memory_order_relaxed); }
  // Whether some of the capacity is left: insertions do not push out anything soon.
  bool HasRoom() const {
    const size_t capacity = capacity_.load(std::memory_order_relaxed);
    return usage() < capacity - capacity / kFreeShare;
  }
  bool IsOverCapacity() const { return usage() > capacity_.load(std::memory_order_relaxed); }
  size_t PinnedUsage();
  size_t count();
  size_t bucket_count();

  // Calls back for the objects of about `limit` entries from *position on, under the lock, and
  // moves the position, which survives growth of the table. False when the end is reached.
  bool Walk(uint64_t* position, size_t limit, const std::function<void(CachedObject*)>& callback);

  // Stops if the queues, the table and the charges contradict each other. Invariant builds call it
  // after as many changes as the shard has entries, so that its cost stays in proportion.
  void CheckInvariants();
  // One line: usage, and what the queues hold.
  std::string DebugString();

 private:
  static constexpr size_t kFreeShare = 32;  // of the capacity, that is left while there is room

  // A doubly linked list through queue_next and queue_prev, newest first.
  struct Queue {
    void PushFront(CachedObject* object);
    void Remove(CachedObject* object);
    CachedObject* front = nullptr;  // entered last
    CachedObject* back = nullptr;   // looked at next by the clock
    size_t count = 0;
    size_t bytes = 0;  // sum of the charges
  };

  CachedObject* FindLocked(const CacheKeyView& key) REQUIRES(lock_);
  void MakeRoom(size_t charge, Departed* departed) REQUIRES(lock_);
  bool StepClock(Departed* departed) REQUIRES(lock_);
  void Link(const Admission& admission) REQUIRES(lock_);
  void Unlink(CachedObject* object) REQUIRES(lock_);
  void Detach(CachedObject* object, Departed* departed) REQUIRES(lock_);
  bool EvictLocked(CachedObject* object, Departed* departed) REQUIRES(lock_);
  void ClearSlot(CachedObject* object) REQUIRES(lock_);
  void GrowIfNeeded(Departed* departed) REQUIRES(lock_);
  void RelinkInto(HashBuckets* from, HashBuckets* to) REQUIRES(lock_);
  Queue& QueueOf(const CachedObject* object) REQUIRES(lock_) {
    return object->state & CachedObject::kInMainQueue ? main_ : probation_;
  }
  bool WasEvictedLately(uint64_t hash) REQUIRES(lock_);
  void CheckInvariantsLocked() REQUIRES(lock_);
  void NoteChange() REQUIRES(lock_);

  // Read by lookups. Odd while the table is being replaced.
  std::atomic<uint32_t> version_{0};
  std::atomic<HashBuckets*> buckets_;

  alignas(64) Mutex lock_{LockRank::kCacheShard};
  Queue probation_ GUARDED_BY(lock_);
  Queue main_ GUARDED_BY(lock_);
  bool has_evicted_ GUARDED_BY(lock_) = false;  // from probation, since the table grew
  // Whether an insertion that finds no room fails, instead of exceeding the capacity.
  bool is_strict_ GUARDED_BY(lock_) = false;
  size_t unchecked_changes_ GUARDED_BY(lock_) = 0;  // invariant builds: since the last deep check
  // Written under the lock, and by GiveBack; read by anyone.
  std::atomic<size_t> usage_{0};
  std::atomic<size_t> capacity_{0};
};

}  // namespace ashlar
