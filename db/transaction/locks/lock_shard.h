// SPDX-License-Identifier: Apache-2.0
//
// LockShard is one part of the table of locked keys: an open-addressing array of slots, of which
// each refers to the first holder of a key. Linear probing; erasing moves later slots back, so
// there are no tombstones. Two slots lie in the shard itself: as long as few keys are locked, an
// uncontended lock touches this one cache line.
//
// Threads: everything with the lock of the shard held.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "db/transaction/locks/key_locks.h"
#include "util/threads/mutex.h"

namespace ashlar {

class LockWaiter;

struct LockSlot {
  uint64_t hash;
  KeyLock* first;  // the first holder; null: the slot is empty
};

class alignas(64) LockShard {
 public:
  LockShard() = default;
  ~LockShard() {
    if (slots_ != own_slots_) delete[] slots_;
  }
  LockShard(const LockShard&) = delete;
  LockShard& operator=(const LockShard&) = delete;

  // The lock of the shard. It is held for a few loads and stores only, never while a thread sleeps.
  // It is not used if the KeyLocks has mutexes of a custom factory.
  SpinLock spin_lock;

 private:
  uint32_t peak_ = 0;  // the most keys since there was none

 public:
  LockWaiter* first_waiter = nullptr;  // of all keys

  // The first holder of the key of `lock`; null: the key is not locked.
  KeyLock* FirstHolder(const KeyLock& lock) const;
  // Puts the first lock of a key into the table. The key must not be in it, and the table must have
  // room.
  void Insert(KeyLock* first);
  bool HasRoom() const { return keys_ < RoomOf(capacity_); }
  // The first holder of a key leaves: `heir` takes its place, or the slot is erased if that is
  // null.
  void Replace(const KeyLock* first, KeyLock* heir);

  uint32_t keys() const { return keys_; }
  // The capacity of the array to move to: a larger one if there is no room, a smaller one if no
  // key is locked and far fewer were locked lately than the array has room for; else 0.
  size_t WantedCapacity() const;
  // The bytes of the array outside of the shard.
  size_t array_bytes() const { return slots_ == own_slots_ ? 0 : capacity_ * sizeof(LockSlot); }
  // Moves everything into an array of WantedCapacity() empty slots. Returns the old array, to be
  // freed without the lock.
  std::unique_ptr<LockSlot[]> MoveTo(std::unique_ptr<LockSlot[]> slots, size_t capacity);

  // Calls visit(KeyLock* first) for each locked key.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < capacity_; i++) {
      if (slots_[i].first != nullptr) visit(slots_[i].first);
    }
  }

 private:
  // The number of slots in the shard itself: with two, the whole shard fills one cache line.
  static constexpr uint32_t kOwnSlots = 2;
  static constexpr uint32_t kKeptSlots = 64;  // an array of this size is never given up
  // The array of the shard may be full; others keep a quarter of their slots empty.
  static uint32_t RoomOf(uint32_t capacity) {
    return capacity == kOwnSlots ? capacity : capacity / 4 * 3;
  }
  uint32_t Mask() const { return capacity_ - 1; }
  void EraseAt(uint32_t i);

  uint32_t capacity_ = kOwnSlots;  // power of two
  uint32_t keys_ = 0;
  // `own_slots_`, or an array on the heap that the shard owns.
  LockSlot* slots_ = own_slots_;
  LockSlot own_slots_[kOwnSlots] = {};
};
// An uncontended lock shall touch one cache line.
static_assert(sizeof(LockShard) == 64);

}  // namespace ashlar
