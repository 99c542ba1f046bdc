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
class Statistics;

// Deletes objects in a cache that is not ours, and says their role: the form of what is not saved.
const Cache::CacheItemHelper* HelperOfRole(CacheEntryRole role);
// The deleter in it: drops the cache's reference.
void DropReference(Cache::ObjectPtr object, MemoryAllocator* allocator);

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

// What the heap of cached blocks holds: of all databases and caches.
struct BlockHeapUse {
  size_t held_bytes = 0;
  size_t used_bytes = 0;  // of those, in blocks
};

// How objects of each role are deleted, and saved for a second tier, and which heap they are from.
// Lives for ever.
struct BlockForms {
  BlockHeapUse (*heap_use)() = nullptr;  // null: from no heap of their own
  const Cache::CacheItemHelper* of_role[kNumCacheEntryRoles] = {};  // null: not saved
  const Cache::CacheItemHelper* Of(CacheEntryRole role) const {
    const Cache::CacheItemHelper* const form = of_role[static_cast<size_t>(role)];
    return form != nullptr ? form : HelperOfRole(role);
  }
};

class BlockCacheView {
 public:
  // `forms` are those of all objects that are inserted; null: none is saved.
  explicit BlockCacheView(std::shared_ptr<Cache> cache, const BlockForms* forms = nullptr);
  BlockCacheView(const BlockCacheView&) = delete;
  BlockCacheView& operator=(const BlockCacheView&) = delete;

  // Only inside an EpochGuard: the object, valid until the guard ends, or nullptr. Marks it used.
  // Only the built-in cache is asked; a program's own may do anything in its Lookup(), which has no
  // place inside a guard.
  CachedObject* Lookup(const BlockKey& key);
  // The same, and puts the object into a slot if it is not in it yet (the file was reopened, say).
  CachedObject* Lookup(const BlockKey& key, SlotTable* table, uint32_t slot_index);
  // With a reference: the caller must Unref(). Not inside an EpochGuard. `role` is that of the
  // object, which a program's own cache may bring in from its second tier.
  CachedObject* LookupRef(const BlockKey& key, CacheEntryRole role = CacheEntryRole::kMisc);

  // The second tier of the built-in cache: what it holds under the key, made anew for the caller,
  // with a reference and in no cache. Null if it holds nothing. Not inside an EpochGuard.
  bool HasSecondTier() const { return has_second_tier_; }
  CachedObject* TakeFromSecondTier(const BlockKey& key, CacheEntryRole role,
                                   Statistics* statistics);

  // Adds the object, replacing what was under its key. On OK the caller's reference has become the
  // cache's, even if the cache found no room and dropped it at once; inside an EpochGuard the
  // caller may use the object until the guard ends. An object of which the caller keeps a further
  // reference counts as pinned: it is admitted above the capacity, unless the capacity is strict.
  // MemoryLimit if that leaves no room: the object stays the caller's, uncached and uncharged.
  Status Insert(const BlockInsertion& insertion);

  // For what is cheap to read again. True: the cache is full and sees this for the first time
  // lately, so it stays out; it is charged as long as somebody uses it. False: it is to be
  // inserted.
  bool PassBy(const BlockInsertion& insertion);

  // Whether what is inserted under the key will not push out anything soon. Only of a cache that
  // uses slots.
  bool HasRoom(const BlockKey& key) const;

  void Erase(const BlockKey& key);

  // A new file id: no two calls for one Cache give the same.
  uint64_t NewFileId() { return cache_->NewId(); }

  // Whether slots are filled: only with the built-in cache, because a hit through a slot is unseen
  // by the cache, which only the built-in one can bear.
  bool UsesSlots() const { return clock_ != nullptr; }
  Cache* cache() const { return cache_.get(); }

 private:
  CachedObject* LookupRefByHandle(const BlockKey& key, CacheEntryRole role);
  void LookAtHeap();

  const std::shared_ptr<Cache> cache_;
  ClockCache* const clock_;  // cache_, if it is the built-in one
  const BlockForms* const forms_;
  const bool has_second_tier_;
};

}  // namespace ashlar
