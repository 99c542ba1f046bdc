// SPDX-License-Identifier: Apache-2.0
//
// The ends of lifetimes: cached objects and slot tables are freed through the epoch, a link when
// its last reference is released.
#include "cache/cached_object.h"

#include <cassert>
#include <memory>

#include "cache/clock_shard.h"
#include "cache/handle_entry.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

void SlotLink::Unref() {
  const size_t before = refs_.fetch_sub(1, std::memory_order_acq_rel);
  assert(before != 0);
  if (before == 1) delete this;
}

// The table and its slots are one piece of memory, of whole pages.
SlotTable* SlotTable::Create(size_t slot_count) {
  auto link = std::make_unique<SlotLink>();
  void* const memory = AllocatePages(sizeof(SlotTable) + slot_count * sizeof(Slot));
  SlotTable* const table = new (memory) SlotTable(slot_count, link.release());
  for (size_t i = 0; i < slot_count; ++i) new (table->slots() + i) Slot(nullptr);
  return table;
}

// An eviction that is clearing a slot now has found the table inside an epoch, so the table is
// freed later.
void SlotTable::Retire() {
  link_->SetTable(nullptr);
  link_->Unref();
  EpochRetireMemory(this, &Free, memory_bytes());
}

void SlotTable::Free(EpochRetired* retired) {
  auto* const table = static_cast<SlotTable*>(retired);
  const size_t bytes = table->memory_bytes();
  table->~SlotTable();
  FreePages(table, bytes);
}

size_t SlotTable::memory_bytes() const { return sizeof(SlotTable) + size_ * sizeof(Slot); }

namespace {

// Runs when no epoch can see the object any more.
void FreeObject(EpochRetired* retired) {
  CachedObject* const object = static_cast<CachedObject*>(retired);
  assert(object->refs.load(std::memory_order_relaxed) == 0);
  SlotLink* const link = object->slot_link;
  object->destroy(object);
  if (link != nullptr) link->Unref();
}

}  // namespace

// A cache of the program may hold its lock now, so nothing is freed here that could call it again.
void CachedObject::OnLastReference() {
  assert(refs.load(std::memory_order_relaxed) == 0);
  assert((state & kInTable) == 0);
  if (shard != nullptr) shard->GiveBack(charge);
  // Programs expect that the deleter of their value runs now. The entry itself may still be read by
  // a lookup that found it before.
  if (kind & kIsHandle) static_cast<HandleEntry*>(this)->DeleteValue();
  EpochRetireMemory(this, &FreeObject, charge);
}

}  // namespace ashlar
