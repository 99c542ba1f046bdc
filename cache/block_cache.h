// SPDX-License-Identifier: Apache-2.0
//
// BlockCacheView: the one interface through which table readers use a block cache, whichever Cache
// the user has given. With the built-in cache a hit takes no lock and counts no reference; with any
// other it goes through that cache's public interface, and the caller sees no difference but speed.
//
// Threads: any number. The view holds the Cache; objects must not outlive both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ashlar/advanced_cache.h"
#include "ashlar/status.h"
#include "cache/cached_object.h"

namespace ashlar {

class ClockCache;

struct BlockInsertion {
  BlockKey key;
  CachedObject* object = nullptr;
  size_t charge = 0;  // all the memory that goes with the object
  CacheEntryRole role = CacheEntryRole::kDataBlock;
  Cache::Priority priority = Cache::Priority::LOW;
  // Where to publish the object, if anywhere.
  SlotTable* table = nullptr;
  uint32_t slot_index = 0;
};

class BlockCacheView {
 public:
  explicit BlockCacheView(std::shared_ptr<Cache> cache);
  BlockCacheView(const BlockCacheView&) = delete;
  BlockCacheView& operator=(const BlockCacheView&) = delete;

  // Only inside an EpochGuard: the object, valid until the guard ends, or nullptr. Marks it used.
  // Only the built-in cache is asked; a program's own may do anything in its Lookup(), which has no
  // place inside a guard.
  CachedObject* Lookup(const BlockKey& key);
  // The same, and puts the object into a slot if it is not in it yet (the file was reopened, say).
  CachedObject* Lookup(const BlockKey& key, SlotTable* table, uint32_t slot_index);
  // With a reference: the caller must Unref(). Not inside an EpochGuard.
  CachedObject* LookupRef(const BlockKey& key);

  // Adds the object, replacing what was under its key. On OK the caller's reference has become the
  // cache's, even if the cache found no room and dropped it at once; inside an EpochGuard the
  // caller may use the object until the guard ends. An object of which the caller keeps a further
  // reference counts as pinned: it is admitted above the capacity, unless the capacity is strict.
  // MemoryLimit if that leaves no room: the object stays the caller's, uncached and uncharged.
  Status Insert(const BlockInsertion& insertion);

  void Erase(const BlockKey& key);

  // A new file id: no two calls for one Cache give the same.
  uint64_t NewFileId() { return cache_->NewId(); }

  // Whether slots are filled: only with the built-in cache, because a hit through a slot is unseen
  // by the cache, which only the built-in one can bear.
  bool UsesSlots() const { return clock_ != nullptr; }
  Cache* cache() const { return cache_.get(); }

 private:
  CachedObject* LookupRefByHandle(const BlockKey& key);

  const std::shared_ptr<Cache> cache_;
  ClockCache* const clock_;  // cache_, if it is the built-in one
};

}  // namespace ashlar
