// SPDX-License-Identifier: Apache-2.0
//
// The entry and its key are one allocation.
#include "cache/handle_entry.h"

#include <cassert>
#include <cstring>
#include <new>

namespace ashlar {

namespace {

void DestroyEntry(CachedObject* object) {
  assert(object != nullptr);
  assert(object->kind & CachedObject::kIsHandle);
  HandleEntry* const entry = static_cast<HandleEntry*>(object);
  entry->~HandleEntry();
  ::operator delete(entry);
}

}  // namespace

HandleEntry::HandleEntry() : CachedObject(&DestroyEntry) {}

// The key follows the entry in the same piece of memory.
HandleEntry* HandleEntry::Create(const Slice& key, Cache::ObjectPtr value,
                                 const Cache::CacheItemHelper* helper, MemoryAllocator* allocator) {
  HandleEntry* const entry = new (::operator new(sizeof(HandleEntry) + key.size())) HandleEntry;
  std::memcpy(static_cast<void*>(entry + 1), key.data(), key.size());
  entry->kind = kIsHandle;
  if (key.size() == sizeof(entry->key)) {
    std::memcpy(&entry->key, key.data(), sizeof(entry->key));
  } else {
    entry->kind |= kHasLongKey;
  }
  entry->value = value;
  entry->helper = helper;
  entry->role = helper != nullptr ? helper->role : CacheEntryRole::kMisc;
  entry->allocator = allocator;
  entry->key_bytes = key.size();
  assert(entry->long_key() == key);
  return entry;
}

}  // namespace ashlar
