// SPDX-License-Identifier: Apache-2.0
//
// The list of families is replaced as a whole; readers look into it in an epoch.
#include "db/transaction/locks/lock_families.h"

#include <algorithm>
#include <cassert>

namespace ashlar {

// No reader is left, so the last list need not be retired through the epoch.
LockFamilies::~LockFamilies() { delete list_.load(std::memory_order_relaxed); }

// Takes no lock: the list is replaced as a whole when a family is added, and the old list is freed
// when no epoch can see it. The families themselves live as long as this object.
LockFamilies::Family* LockFamilies::Find(uint32_t family) const {
  EpochGuard guard;
  const List* const list = list_.load(std::memory_order_acquire);
  if (list == nullptr) return nullptr;
  const auto at =
      std::lower_bound(list->families.begin(), list->families.end(), family,
                       [](const Family* one, uint32_t number) { return one->number < number; });
  return at != list->families.end() && (*at)->number == family ? *at : nullptr;
}

LockFamilies::Family* LockFamilies::FindOrAdd(uint32_t family) {
  if (Family* const known = Find(family)) return known;
  List* old = nullptr;
  Family* added = nullptr;
  {
    MutexLock lock(&change_mutex_);
    if (Family* const known = Find(family)) return known;
    all_.push_back(std::make_unique<Family>(family));
    added = all_.back().get();
    old = list_.load(std::memory_order_relaxed);
    // The new list is complete before it is published by the store below. Readers that loaded the
    // old one keep using it until they leave their epoch.
    auto* const list = new List;
    if (old != nullptr) list->families = old->families;
    const auto place = std::find_if(list->families.begin(), list->families.end(),
                                    [&](const Family* one) { return one->number > family; });
    list->families.insert(place, added);
    list_.store(list, std::memory_order_release);
  }
  // Without the mutex held, because retiring may run deleters of other objects.
  if (old != nullptr) EpochRetireDelete(old);
  return added;
}

void LockFamilies::Drop(uint32_t family) {
  FindOrAdd(family)->is_dropped.store(true, std::memory_order_release);
  // The mark of the family comes first: a thread that sees `has_dropped_` set looks for the mark.
  has_dropped_.store(true, std::memory_order_release);
}

void LockFamilies::Restore(uint32_t family) {
  if (Family* const known = Find(family)) known->is_dropped.store(false, std::memory_order_release);
}

bool LockFamilies::FindDropped(uint32_t family) const {
  const Family* const known = Find(family);
  return known != nullptr && known->is_dropped.load(std::memory_order_acquire);
}

// Counts first and looks afterwards, so two threads at once cannot both take the last place. While
// a thread that was refused has not taken its count back, another may be refused as well although a
// place has become free: the limit need not be exact in that direction.
bool LockFamilies::CountKey(uint32_t family) {
  Family* const known = Find(family);
  assert(known != nullptr && "Prepare() has added the family");
  if (known->keys.fetch_add(1, std::memory_order_relaxed) < max_keys_) return true;
  known->keys.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void LockFamilies::DiscountKey(uint32_t family) {
  Find(family)->keys.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace ashlar
