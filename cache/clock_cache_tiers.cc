// SPDX-License-Identifier: Apache-2.0
//
// ClockCache and its second tier. Evicted objects are offered to the second tier by the thread that
// has evicted them, under no lock. Objects that are not found are looked for there.
#include <cassert>
#include <memory>
#include <new>

#include "cache/clock_cache.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/threads/epoch.h"

namespace ashlar {

const Cache::CacheItemHelper* ClockCache::HelperOf(CachedObject* object) const {
  assert(object != nullptr);
  if (object->kind & CachedObject::kIsHandle) return static_cast<HandleEntry*>(object)->helper;
  const BlockForms* const forms = forms_.load(std::memory_order_acquire);
  return forms != nullptr ? forms->Of(object->role) : HelperOfRole(object->role);
}

void ClockCache::Demote(CachedObject* object) {
  assert(object != nullptr);
  assert(object->state & CachedObject::kEvicted);
  const CacheItemHelper* const helper = HelperOf(object);
  if (helper == nullptr || !helper->IsSecondaryCacheCompatible()) return;
  const bool is_entry = (object->kind & CachedObject::kIsHandle) != 0;
  HandleEntry* const entry = is_entry ? static_cast<HandleEntry*>(object) : nullptr;
  const Slice key = object->kind & CachedObject::kHasLongKey
                        ? entry->long_key()
                        : Slice(reinterpret_cast<const char*>(&object->key), sizeof(object->key));
  // An object that was used on probation was evicted from the main queue.
  const bool was_used = (object->state & CachedObject::kInMainQueue) != 0;
  using Demotion = ClockCacheOptions::Demotion;
  const Demotion demotion = demotion_.load(std::memory_order_relaxed);
  const bool is_forced = demotion == Demotion::kAll || (demotion == Demotion::kUsed && was_used);
  Offer(key, is_entry ? entry->value : object, helper, is_forced);
}

// Without memory the entry is dropped: an exception would lose the other objects that were evicted
// with it, or an object that no cache has yet.
void ClockCache::Offer(const Slice& key, ObjectPtr object, const CacheItemHelper* helper,
                       bool is_forced) {
  assert(object != nullptr);
  try {
    IgnoreError(second_tier_->Insert(key, object, helper, is_forced), "a tier may refuse an entry");
  } catch (const std::bad_alloc&) {
  }
}

std::unique_ptr<SecondaryCacheResultHandle> ClockCache::AskSecondTier(const SecondTierRead& read,
                                                                      CreateContext* context) {
  const CacheItemHelper* const helper = read.helper;
  Statistics* const stats = read.stats;
  assert(!InEpoch());
  assert(second_tier_ != nullptr);
  if (helper == nullptr || !helper->IsSecondaryCacheCompatible()) return nullptr;
  bool is_kept = false;
  auto found = second_tier_->Lookup(read.key, helper, context, /*wait=*/true,
                                    /*advise_erase=*/read.moves, stats, is_kept);
  if (found == nullptr) return nullptr;
  if (!found->IsReady()) found->Wait();
  if (found->Value() == nullptr) return nullptr;
  RecordTick(stats, SECONDARY_CACHE_HITS);
  switch (helper->role) {
    case CacheEntryRole::kDataBlock: RecordTick(stats, SECONDARY_CACHE_DATA_HITS); break;
    case CacheEntryRole::kFilterBlock: RecordTick(stats, SECONDARY_CACHE_FILTER_HITS); break;
    case CacheEntryRole::kIndexBlock: RecordTick(stats, SECONDARY_CACHE_INDEX_HITS); break;
    default: break;
  }
  return found;
}

Cache::ObjectPtr ClockCache::TakeFromSecondTier(const SecondTierRead& read) {
  CreateContext context;
  const auto found = AskSecondTier(read, &context);
  return found == nullptr ? nullptr : found->Value();
}

void ClockCache::PutIntoSecondTier(const Slice& key, ObjectPtr object,
                                   const CacheItemHelper* helper) {
  assert(!InEpoch());
  Offer(key, object, helper, /*is_forced=*/true);
}

// For an entry of the program, which it gets with a handle even if there is no room.
Cache::Handle* ClockCache::LookupInSecondTier(const Slice& key, const CacheItemHelper* helper,
                                              CreateContext* context, Priority priority,
                                              Statistics* stats) {
  const auto found = AskSecondTier({.key = key, .helper = helper, .stats = stats}, context);
  if (found == nullptr) return nullptr;
  Handle* handle = nullptr;
  const Status status = Insert(key, found->Value(), helper, found->Size(), &handle, priority,
                               Slice(), CompressionType::kNoCompression);
  if (status.ok()) return handle;
  PutIntoSecondTier(key, found->Value(), helper);
  return CreateStandalone(key, found->Value(), helper, found->Size(), /*allow_uncharged=*/true);
}

}  // namespace ashlar
