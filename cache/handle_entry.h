// SPDX-License-Identifier: Apache-2.0
//
// HandleEntry: an entry of the built-in cache that was inserted through the public Cache interface;
// its Cache::Handle. Its value is deleted with the last reference, the entry itself later, through
// the epoch.
#pragma once

#include <cstddef>

#include "ashlar/advanced_cache.h"
#include "ashlar/slice.h"
#include "cache/cached_object.h"

namespace ashlar {

struct HandleEntry : CachedObject {
  // A new entry with one reference. The key is copied.
  static HandleEntry* Create(const Slice& key, Cache::ObjectPtr value,
                             const Cache::CacheItemHelper* helper, MemoryAllocator* allocator);

  // The key in its original form.
  Slice long_key() const { return Slice(reinterpret_cast<const char*>(this + 1), key_bytes); }
  size_t memory_bytes() const { return sizeof(HandleEntry) + key_bytes; }

  // Deletes the value with its helper, unless the user has taken it back.
  void DeleteValue() {
    if (owns_value && helper != nullptr && helper->del_cb != nullptr) {
      helper->del_cb(value, allocator);
    }
  }

  Cache::ObjectPtr value = nullptr;                // belongs to the user; deleted by the helper
  const Cache::CacheItemHelper* helper = nullptr;  // outlives the entry, as the interface requires
  MemoryAllocator* allocator = nullptr;            // of the cache; passed to the helper
  size_t metadata_charge = 0;                      // the part of `charge` that the cache has added
  size_t key_bytes = 0;                            // length of the copy of the key behind the entry
  bool owns_value = true;                          // false: the user has taken the value back

 private:
  HandleEntry();
  // The key follows the object in the same allocation.
};

}  // namespace ashlar
