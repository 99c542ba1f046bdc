// SPDX-License-Identifier: Apache-2.0
//
// The array of slots of a part of the table of locked keys.
//
// A slot is found by linear probing from its home, the place that the hash selects. Invariant: on
// the way from the home of a key to its slot there is no empty slot. So a search may end at the
// first empty slot.
#include "db/transaction/locks/lock_shard.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace ashlar {

// The own array of the shard may be full, so the search also ends after one round.
KeyLock* LockShard::FirstHolder(const KeyLock& lock) const {
  for (uint32_t i = lock.hash() & Mask(), steps = 0; steps < capacity_; i = (i + 1) & Mask()) {
    const LockSlot& slot = slots_[i];
    if (slot.first == nullptr) return nullptr;
    if (slot.hash == lock.hash() && slot.first->family() == lock.family() &&
        slot.first->key() == lock.key()) {
      return slot.first;
    }
    steps++;
  }
  return nullptr;
}

void LockShard::Insert(KeyLock* first) {
  assert(HasRoom() && FirstHolder(*first) == nullptr);
  uint32_t i = first->hash() & Mask();
  while (slots_[i].first != nullptr) i = (i + 1) & Mask();
  slots_[i] = {first->hash(), first};
  keys_++;
  peak_ = keys_ == 1 ? 1 : std::max(peak_, keys_);
}

// The own two slots grow to an array of 8 and then by doubling. An array shrinks only when it is
// empty, and only if since the last time it was empty less than an eighth of it was used; so a load
// that comes and goes does not move it to and fro.
size_t LockShard::WantedCapacity() const {
  if (!HasRoom()) return capacity_ == kOwnSlots ? 8 : size_t{capacity_} * 2;
  if (keys_ != 0 || capacity_ <= kKeptSlots || peak_ >= capacity_ / 8) return 0;
  return std::bit_ceil(std::max(kKeptSlots, peak_ * 2));
}

// The loop ends, because the caller passes the first holder of a locked key, which is in the array.
void LockShard::Replace(const KeyLock* first, KeyLock* heir) {
  assert(first != nullptr);
  uint32_t i = first->hash() & Mask();
  while (slots_[i].first != first) i = (i + 1) & Mask();
  if (heir != nullptr) {
    assert(heir->hash() == first->hash() && heir->key() == first->key());
    slots_[i].first = heir;
    return;
  }
  EraseAt(i);
}

// Fills the hole with the next slot that a search from its own place would reach through the hole.
void LockShard::EraseAt(uint32_t hole) {
  assert(keys_ > 0 && slots_[hole].first != nullptr);
  slots_[hole].first = nullptr;
  keys_--;
  for (uint32_t i = (hole + 1) & Mask(); slots_[i].first != nullptr; i = (i + 1) & Mask()) {
    const uint32_t home = slots_[i].hash & Mask();
    if (((i - home) & Mask()) < ((i - hole) & Mask())) continue;  // its home is behind the hole
    slots_[hole] = std::exchange(slots_[i], LockSlot{});
    hole = i;
  }
}

// All slots get a new place, as their home depends on the capacity.
std::unique_ptr<LockSlot[]> LockShard::MoveTo(std::unique_ptr<LockSlot[]> slots, size_t capacity) {
  assert((capacity & (capacity - 1)) == 0 && keys_ < RoomOf(static_cast<uint32_t>(capacity)));
  std::unique_ptr<LockSlot[]> old(slots_ != own_slots_ ? slots_ : nullptr);
  const LockSlot* const from = slots_;
  const uint32_t count = capacity_;
  slots_ = slots.release();
  capacity_ = static_cast<uint32_t>(capacity);
  peak_ = keys_;
  for (uint32_t i = 0; i < count; i++) {
    if (from[i].first == nullptr) continue;
    uint32_t to = from[i].hash & Mask();
    while (slots_[to].first != nullptr) to = (to + 1) & Mask();
    slots_[to] = from[i];
  }
  return old;
}

}  // namespace ashlar
