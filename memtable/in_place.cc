// SPDX-License-Identifier: Apache-2.0
//
// An entry stores only the present length of its value. After a shorter value has replaced a longer
// one, the rest of the space is lost until the flush.
#include "memtable/in_place.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "util/hash/hash.h"

namespace ashlar {

// Calls the program's function, which may shorten the old value where it is or make a new one.
bool MakeInPlaceValue(InPlaceCallback callback, std::string* existing, const Slice& delta,
                      std::string* made) {
  assert(callback != nullptr);
  assert(existing != made);
  uint32_t size = existing == nullptr ? 0 : static_cast<uint32_t>(existing->size());
  std::string merged;
  const UpdateStatus status = callback(existing == nullptr ? nullptr : existing->data(),
                                       existing == nullptr ? nullptr : &size, delta, &merged);
  switch (status) {
    case UPDATE_FAILED: return false;
    case UPDATED: *made = std::move(merged); return true;
    case UPDATED_INPLACE: break;
  }
  if (existing == nullptr) {
    made->clear();
  } else {
    made->assign(*existing, 0, size);
  }
  return true;
}

InPlaceValues::InPlaceValues(size_t lock_count, size_t checksum_bytes)
    : lock_count_(std::max<size_t>(lock_count, 1)),
      checksum_bytes_(checksum_bytes),
      locks_(std::make_unique<SpinLock[]>(lock_count_)) {}

SpinLock* InPlaceValues::LockOf(const Slice& user_key) const {
  return &locks_[HashBytes(user_key) % lock_count_];
}

Slice InPlaceValues::Read(const MemTableEntry& entry, std::string* copy) const {
  assert(copy != nullptr);
  SpinLockGuard guard(LockOf(entry.user_key()));
  const Slice value = entry.value();
  copy->assign(value.data(), value.size() + checksum_bytes_);
  return Slice(copy->data(), value.size());
}

bool InPlaceValues::Overwrite(MemTableEntry* entry, const Slice& value) {
  assert(entry != nullptr);
  if (value.size() > entry->value().size()) return false;
  SpinLockGuard guard(LockOf(entry->user_key()));
  entry->Overwrite(value, checksum_bytes_);
  return true;
}

}  // namespace ashlar
