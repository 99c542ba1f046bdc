// SPDX-License-Identifier: Apache-2.0
//
// The ends of lives: a slot table goes with its last reference at once, because whoever reads slots
// holds one; a cached object goes through the epoch.
#include "cache/cached_object.h"

#include "cache/clock_shard.h"
#include "cache/handle_entry.h"
#include "util/page_allocator.h"

namespace ashlar {

SlotTable* SlotTable::Create(size_t slot_count) {
  void* const memory = AllocatePages(sizeof(SlotTable) + slot_count * sizeof(Slot));
  SlotTable* const table = new (memory) SlotTable(slot_count);
  for (size_t i = 0; i < slot_count; ++i) new (table->slots() + i) Slot(nullptr);
  return table;
}

void SlotTable::Unref() {
  const size_t before = refs_.fetch_sub(1, std::memory_order_acq_rel);
  assert(before != 0);
  if (before != 1) return;
  const size_t bytes = memory_bytes();
  this->~SlotTable();
  FreePages(this, bytes);
}

size_t SlotTable::memory_bytes() const { return sizeof(SlotTable) + size_ * sizeof(Slot); }

namespace {

void FreeObject(EpochRetired* retired) {
  CachedObject* const object = static_cast<CachedObject*>(retired);
  assert(object->refs.load(std::memory_order_relaxed) == 0);
  SlotTable* const table = object->slot_table;
  object->destroy(object);
  if (table != nullptr) table->Unref();
}

}  // namespace

void CachedObject::OnLastReference() {
  assert(refs.load(std::memory_order_relaxed) == 0);
  assert((state & kInTable) == 0);
  if (shard != nullptr) shard->GiveBack(charge);
  // Programs expect the deleter of what they inserted to run now. The entry itself may still be
  // looked at by a lookup that is passing by.
  if (kind & kIsHandle) static_cast<HandleEntry*>(this)->DeleteValue();
  EpochRetire(this, &FreeObject, charge);
}

}  // namespace ashlar
