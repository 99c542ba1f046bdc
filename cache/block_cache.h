// SPDX-License-Identifier: Apache-2.0
//
// BlockCacheView: the one interface through which table readers use a block cache, whichever Cache
// the program has given. With the built-in cache a hit takes no lock and no reference. Any other
// cache is used through its public interface; the only difference for the caller is speed.
//
// Threads: any number. The view shares the Cache. Objects must not outlive both.
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

// The helper for objects in a cache of the program: it names the role and deletes objects. Objects
// with this helper are not saved to a second tier.
const Cache::CacheItemHelper* HelperOfRole(CacheEntryRole role);
// The deleter of this helper: releases the reference of the cache.
void DropReference(Cache::ObjectPtr object, MemoryAllocator* allocator);

// An object that is to be inserted.
struct BlockInsertion {
  BlockKey key;
  CachedObject* object = nullptr;
  size_t charge = 0;  // all memory that belongs to the object, in bytes
  CacheEntryRole role = CacheEntryRole::kDataBlock;
  Cache::Priority priority = Cache::Priority::LOW;
  // The slot in which the object is published; null: in none.
  SlotTable* table = nullptr;
  uint32_t slot_index = 0;
};

// The heap of cached blocks, over all databases and caches of the process.
struct BlockHeapUse {
  size_t held_bytes = 0;  // bytes allocated from the system
  size_t used_bytes = 0;  // the part of them that is in blocks
};

// How objects of each role are deleted and saved for a second tier, and the heap from which they
// are allocated. Lives until the program ends.
struct BlockForms {
  BlockHeapUse (*heap_use)() = nullptr;  // null: they have no heap of their own
  const Cache::CacheItemHelper* of_role[kNumCacheEntryRoles] = {};  // null: not saved
  const Cache::CacheItemHelper* Of(CacheEntryRole role) const {
    const Cache::CacheItemHelper* const form = of_role[static_cast<size_t>(role)];
    return form != nullptr ? form : HelperOfRole(role);
  }
};

class BlockCacheView {
 public:
  // `forms` apply to all objects that are inserted; null: none is saved.
  explicit BlockCacheView(std::shared_ptr<Cache> cache, const BlockForms* forms = nullptr);
  BlockCacheView(const BlockCacheView&) = delete;
  BlockCacheView& operator=(const BlockCacheView&) = delete;

  // Only inside an EpochGuard: returns the object, valid until the guard ends, or null. Marks it as
  // used. Only the built-in cache is asked, because Lookup() of a program's cache may do things
  // that are forbidden inside a guard.
  CachedObject* Lookup(const BlockKey& key);
  // The same; also puts the object into a slot if it is not there, for example because the file was
  // opened again.
  CachedObject* Lookup(const BlockKey& key, SlotTable* table, uint32_t slot_index);
  // Returns the object with a reference, which the caller must Unref(); or null. Not inside an
  // EpochGuard. `role` is the role of the object; a program's cache needs it to restore the object
  // from its second tier.
  CachedObject* LookupRef(const BlockKey& key, CacheEntryRole role = CacheEntryRole::kMisc);

  // For the second tier of the built-in cache: restores the object under the key, with a reference
  // and in no cache. Null if the tier does not have it. Not inside an EpochGuard. If the caller
  // will insert the object (`will_insert`), the tier may erase it.
  bool HasSecondTier() const { return has_second_tier_; }
  CachedObject* TakeFromSecondTier(const BlockKey& key, CacheEntryRole role, Statistics* statistics,
                                   bool will_insert);
  // Gives an object back to the second tier whose insertion was refused. The caller keeps its
  // reference. Not inside an EpochGuard.
  void PutIntoSecondTier(const BlockKey& key, CachedObject* object, CacheEntryRole role);

  // Adds the object and replaces the one with the same key. After OK the cache owns the caller's
  // reference, even if it had no room and dropped the object at once; inside an EpochGuard the
  // caller may use the object until the guard ends. If the caller holds another reference, the
  // object counts as pinned: it is admitted even beyond the capacity, unless the capacity is
  // strict. MemoryLimit if there is no room then: the object stays with the caller, uncached and
  // uncharged.
  Status Insert(const BlockInsertion& insertion);

  // For objects that are cheap to read again. True: the cache is full and has not seen this key
  // recently, so the object is not inserted; it is charged as long as it has references. False: the
  // caller should insert it.
  bool PassBy(const BlockInsertion& insertion);

  // True if an insertion under this key will not cause evictions soon. Only if UsesSlots().
  bool HasRoom(const BlockKey& key) const;

  void Erase(const BlockKey& key);

  // Returns a file id that no other call for this Cache returns.
  uint64_t NewFileId() { return cache_->NewId(); }

  // True if the cache fills slots. Only the built-in cache does, because a cache does not see a hit
  // through a slot, and others could not handle that.
  bool UsesSlots() const { return clock_ != nullptr; }
  Cache* cache() const { return cache_.get(); }

 private:
  CachedObject* LookupRefByHandle(const BlockKey& key, CacheEntryRole role);
  // Compares what the heap of blocks holds with the capacity, now and then.
  void LookAtHeap();

  const std::shared_ptr<Cache> cache_;
  ClockCache* const clock_;  // the same as cache_ if that is the built-in cache; else null
  const BlockForms* const forms_;
  const bool has_second_tier_;
};

}  // namespace ashlar
