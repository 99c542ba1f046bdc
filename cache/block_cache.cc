// SPDX-License-Identifier: Apache-2.0
//
// Blocks of tables in a cache. If the cache is not the built-in one, its deleter (HelperOfRole)
// releases the cache's reference to an object; the object is then destroyed through the epoch, as
// always. Such a cache may call the deleter under its own lock, and other retired objects, such as
// table readers, may call the cache when they are destroyed. So the deleter frees only memory, and
// what else is due is destroyed here, after the cache has returned.
#include "cache/block_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "cache/clock_cache.h"

namespace ashlar {

namespace {

Slice BytesOf(const BlockKey& key) {
  return Slice(reinterpret_cast<const char*>(&key), sizeof(key));
}

constexpr BlockForms kNoForms;
// How many insertions a thread makes, including objects that are passed, until it checks the size
// of the heap of blocks. This is about a quarter of a megabyte, as for other charged memory.
constexpr uint32_t kInsertionsPerLook = 64;

}  // namespace

// `clock_` is null for a cache of another class, which then is used through the public interface
// only.
BlockCacheView::BlockCacheView(std::shared_ptr<Cache> cache, const BlockForms* forms)
    : cache_(std::move(cache)),
      clock_(ClockCache::From(cache_.get())),
      forms_(forms != nullptr ? forms : &kNoForms),
      has_second_tier_(clock_ != nullptr && clock_->HasSecondTier()) {
  assert(cache_ != nullptr);
  if (forms != nullptr && clock_ != nullptr) clock_->SetForms(forms);
}

// Finds an object without a reference, for use inside the epoch. Another kind of cache cannot do
// this.
CachedObject* BlockCacheView::Lookup(const BlockKey& key) {
  assert(InEpoch());
  if (clock_ == nullptr) return nullptr;
  CachedObject* const object = clock_->LookupInEpoch(key);
  if (object == nullptr || (object->kind & CachedObject::kIsHandle)) return nullptr;
  object->Touch();
  return object;
}

// Also stores the object into the slot, so that the next read of the same block needs no lookup.
CachedObject* BlockCacheView::Lookup(const BlockKey& key, SlotTable* table, uint32_t slot_index) {
  CachedObject* const object = Lookup(key);
  if (object == nullptr || clock_ == nullptr || table == nullptr) return object;
  assert(slot_index < table->size());
  // The object is in the cache but not in the slot: another reader of the file has inserted it.
  if (table->Load(slot_index) != object) clock_->PublishSlot(object, table, slot_index);
  return object;
}

CachedObject* BlockCacheView::LookupRef(const BlockKey& key, CacheEntryRole role) {
  if (clock_ == nullptr) return LookupRefByHandle(key, role);
  EpochGuard guard;
  CachedObject* const object = Lookup(key);
  return object != nullptr && object->TryRef() ? object : nullptr;
}

// Finds an object in a cache that is not the built-in one. While the handle is held, the cache
// keeps its reference to the object.
CachedObject* BlockCacheView::LookupRefByHandle(const BlockKey& key, CacheEntryRole role) {
  assert(!InEpoch());
  Cache::CreateContext context;
  Cache::Handle* const handle = cache_->Lookup(BytesOf(key), forms_->Of(role), &context);
  if (handle == nullptr) return nullptr;
  // The program may have inserted something else under this key, which must not be used as an
  // object.
  const Cache::CacheItemHelper* const helper = cache_->GetCacheItemHelper(handle);
  const bool is_ours = helper != nullptr && helper->del_cb == &DropReference;
  CachedObject* const object =
      is_ours ? static_cast<CachedObject*>(cache_->Value(handle)) : nullptr;
  if (object != nullptr) object->Ref();
  cache_->Release(handle);
  return object;
}

CachedObject* BlockCacheView::TakeFromSecondTier(const BlockKey& key, CacheEntryRole role,
                                                 Statistics* statistics, bool will_insert) {
  assert(!InEpoch());
  assert(has_second_tier_);
  return static_cast<CachedObject*>(clock_->TakeFromSecondTier({.key = BytesOf(key),
                                                                .helper = forms_->Of(role),
                                                                .stats = statistics,
                                                                .moves = will_insert}));
}

void BlockCacheView::PutIntoSecondTier(const BlockKey& key, CachedObject* object,
                                       CacheEntryRole role) {
  assert(has_second_tier_);
  clock_->PutIntoSecondTier(BytesOf(key), object, forms_->Of(role));
}

Status BlockCacheView::Insert(const BlockInsertion& insertion) {
  CachedObject* const object = insertion.object;
  assert(object->refs.load(std::memory_order_relaxed) !=
         0);                         // the caller's, which may be taken over
  assert(object->shard == nullptr);  // not in any cache yet
  assert(insertion.table == nullptr || insertion.slot_index < insertion.table->size());
  object->charge = insertion.charge;
  object->role = insertion.role;
  if (clock_ == nullptr) {  // the built-in cache sets the key itself
    object->key = insertion.key;
    Status status = cache_->Insert(BytesOf(insertion.key), object, forms_->Of(insertion.role),
                                   insertion.charge, nullptr, insertion.priority);
    EpochReclaimIfDue();
    return status;
  }
  LookAtHeap();
  Status status = clock_->InsertObject(
      {.key = insertion.key,
       .admission = {.object = object,
                     .is_important = insertion.priority == Cache::Priority::HIGH,
                     .is_doubtful = insertion.priority == Cache::Priority::BOTTOM,
                     .table = insertion.table,
                     .slot_index = insertion.slot_index}});
  EpochReclaimIfDue();
  return status;
}

// Charges a block without inserting it, if the built-in cache decides so.
bool BlockCacheView::PassBy(const BlockInsertion& insertion) {
  assert(insertion.object != nullptr);
  assert(insertion.object->shard == nullptr);
  if (clock_ == nullptr || has_second_tier_) return false;
  CachedObject* const object = insertion.object;
  object->charge = insertion.charge;
  object->role = insertion.role;
  if (!clock_->PassBy(insertion.key, object)) return false;
  LookAtHeap();  // as for an insertion
  return true;
}

bool BlockCacheView::HasRoom(const BlockKey& key) const {
  assert(UsesSlots());
  return clock_->HasRoom(key);
}

// Tells the cache from time to time how much memory the heap of blocks holds. The heap serves
// several caches; this one is responsible for the same share of the heap as of the blocks in it.
void BlockCacheView::LookAtHeap() {
  thread_local uint32_t insertions = 0;
  if (forms_->heap_use == nullptr || ++insertions % kInsertionsPerLook != 0) return;
  const auto [held, used] = forms_->heap_use();
  if (used == 0) return;
  const size_t usage = clock_->GetUsage(), of_blocks = std::min(usage, used);
  const double share = static_cast<double>(of_blocks) / static_cast<double>(used);
  clock_->FollowHeld(usage - of_blocks + static_cast<size_t>(static_cast<double>(held) * share));
}

void BlockCacheView::Erase(const BlockKey& key) {
  if (clock_ != nullptr) {
    clock_->EraseObject(key);
  } else {
    cache_->Erase(BytesOf(key));
  }
}

}  // namespace ashlar
