// SPDX-License-Identifier: Apache-2.0
//
// The public Cache interface over the shards. A Handle is a pointer to a CachedObject: a
// HandleEntry if it was inserted through this interface, otherwise a block of a table reader.
#include "cache/clock_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr int kMaxChosenShardBits = 6;
// Smaller caches do not follow the size of the heap (FollowHeld()): free memory that the heap keeps
// for reuse would be too large a part of them.
constexpr size_t kLeastWithAside = size_t{64} << 20;

// Shards are locked one by one, so more shards mean fewer waits, but each must have room for the
// largest block.
size_t ShardCount(const ClockCacheOptions& options) {
  assert(options.min_shard_bytes != 0);
  int bits = options.sharded.num_shard_bits;
  if (bits < 0) {
    const size_t fitting = options.sharded.capacity / options.min_shard_bytes;
    bits = std::min(static_cast<int>(std::bit_width(fitting)) - 1, kMaxChosenShardBits);
  }
  return size_t{1} << std::clamp(bits, 0, kMaxShardBits);
}

// The capacity of each shard, rounded up, so that a capacity above 0 leaves no shard without room.
size_t PerShard(size_t capacity, size_t shard_count) {
  assert(shard_count != 0);
  return capacity / shard_count + (capacity % shard_count != 0);
}

// A handle is the address of its object; the public interface only hides the type.
CachedObject* ObjectOf(Cache::Handle* handle) {
  assert(handle != nullptr);
  return reinterpret_cast<CachedObject*>(handle);
}
Cache::Handle* HandleOf(CachedObject* object) { return reinterpret_cast<Cache::Handle*>(object); }

HandleEntry* EntryOf(CachedObject* object) {
  assert(object != nullptr);
  return object->kind & CachedObject::kIsHandle ? static_cast<HandleEntry*>(object) : nullptr;
}

// The value that the program has inserted. A block of a table reader is its own value.
Cache::ObjectPtr ValueOf(CachedObject* object) {
  HandleEntry* const entry = EntryOf(object);
  return entry != nullptr ? entry->value : object;
}

// The charge that the program gave, without the charge for the entry's own memory.
size_t PlainChargeOf(CachedObject* object) {
  HandleEntry* const entry = EntryOf(object);
  return entry != nullptr ? entry->charge - entry->metadata_charge : object->charge;
}

Slice KeySliceOf(CachedObject* object) {
  assert(object != nullptr);
  if (object->kind & CachedObject::kHasLongKey) return EntryOf(object)->long_key();
  return Slice(reinterpret_cast<const char*>(&object->key), sizeof(object->key));
}

// All caches of this class that exist. From() searches them, because the library does without
// run-time type information.
struct Registry {
  Mutex mutex{LockRank::kLeaf};
  std::unordered_set<const Cache*> caches GUARDED_BY(mutex);
};
// Never destroyed, because a cache may be destroyed after static objects.
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

template <size_t... kRoles>
constexpr std::array<Cache::CacheItemHelper, sizeof...(kRoles)> MakeObjectHelpers(
    std::index_sequence<kRoles...>) {
  return {Cache::CacheItemHelper(static_cast<CacheEntryRole>(kRoles), &DropReference)...};
}

}  // namespace

void DropReference(Cache::ObjectPtr object, MemoryAllocator*) {
  static_cast<CachedObject*>(object)->Unref();
}

const Cache::CacheItemHelper* HelperOfRole(CacheEntryRole role) {
  static const auto helpers = MakeObjectHelpers(std::make_index_sequence<kNumCacheEntryRoles>());
  assert(static_cast<size_t>(role) < helpers.size());
  return &helpers[static_cast<size_t>(role)];
}

[[gnu::cold]] ClockCache::ClockCache(const ClockCacheOptions& options)
    : Cache(options.sharded.memory_allocator),
      name_(options.name),
      // Negative seeds request a seed of our choice. Every cache gets the same one, since their
      // keys differ.
      hash_seed_(static_cast<uint32_t>(std::max(options.sharded.hash_seed, 0))),
      charges_metadata_(options.sharded.metadata_charge_policy == kFullChargeCacheMetadata),
      shard_count_(ShardCount(options)),
      shard_mask_(shard_count_ - 1),
      shards_(new ClockShard[shard_count_]),
      capacity_(0),
      is_strict_(false),
      second_tier_(options.sharded.secondary_cache),
      demotion_(options.demotion),
      second_tier_share_(options.second_tier_share),
      owns_second_tier_(options.owns_second_tier) {
  assert(std::has_single_bit(shard_count_));  // ShardOf() takes bits of the hash
  assert(options.second_tier_share == 0 || owns_second_tier_);
  assert(second_tier_ != nullptr || !owns_second_tier_);
  SetCapacity(options.sharded.capacity);
  SetStrictCapacityLimit(options.sharded.strict_capacity_limit);
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mutex);
  registry.caches.insert(this);
}

// A disowned cache leaves its memory to the end of the process.
[[gnu::cold]] ClockCache::~ClockCache() {
  {
    Registry& registry = TheRegistry();
    MutexLock lock(&registry.mutex);
    registry.caches.erase(this);
  }
  if (is_disowned_) return;
  Departed departed;
  for (size_t i = 0; i < shard_count_; ++i) shards_[i].EraseAll(&departed);
  Finish(departed);
  // Retired blocks may still need the allocator, which may be destroyed together with the cache.
  if (memory_allocator() != nullptr && !InEpoch()) {
    EpochDrain();
  } else {
    EpochReclaim();
  }
}

ClockCache* ClockCache::From(Cache* cache) {
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mutex);
  return registry.caches.count(cache) != 0 ? static_cast<ClockCache*>(cache) : nullptr;
}

// A key with the size of a block key is stored in the object itself, and compared as two numbers.
CacheKeyView ClockCache::ViewOf(const Slice& key) const {
  CacheKeyView view;
  if (key.size() == sizeof(view.block)) {
    std::memcpy(&view.block, key.data(), sizeof(view.block));
    view.hash = HashOf(view.block);
  } else {
    view.bytes = key;
    view.is_long = true;
    view.hash = HashBytes(key, hash_seed_);
  }
  return view;
}

HandleEntry* ClockCache::MakeEntry(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                                   size_t charge) {
  HandleEntry* const entry = HandleEntry::Create(key, obj, helper, memory_allocator());
  entry->hash = ViewOf(key).hash;
  entry->metadata_charge = charges_metadata_ ? entry->memory_bytes() : 0;
  entry->charge = charge + entry->metadata_charge;
  assert(entry->charge >= charge);  // cannot overflow, because charges are sizes of memory
  return entry;
}

Status ClockCache::InsertObject(const ObjectInsertion& insertion) {
  CachedObject* const object = insertion.admission.object;
  assert((object->kind & CachedObject::kIsHandle) == 0);
  object->key = insertion.key;
  object->hash = HashOf(insertion.key);
  ClockShard::Admission admission = insertion.admission;
  admission.stays_out = object->charge > GetCapacity();
  Departed departed;
  const auto result = ShardOf(object->hash).Insert(admission, &departed);
  Finish(departed);
  if (result == ClockShard::Result::kInserted) return Status::OK();
  if (result == ClockShard::Result::kNoRoom && object->refs.load(std::memory_order_relaxed) > 1) {
    return Status::MemoryLimit(StrCat(name_, ": no room for ", object->charge,
                                      " bytes within the strict capacity of ", GetCapacity(),
                                      "; raise the capacity or release what is pinned"));
  }
  // Without room, and without another reference, the object counts as inserted and evicted at once.
  object->Unref();
  return Status::OK();
}

void ClockCache::EraseObject(const BlockKey& key) {
  const uint64_t hash = HashOf(key);
  Departed departed;
  ShardOf(hash).Erase({.hash = hash, .block = key, .bytes = Slice(), .is_long = false}, &departed);
  Finish(departed);
}

Status ClockCache::Insert(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                          size_t charge, Handle** handle, Priority priority,
                          const Slice& /*compressed_val*/, CompressionType /*type*/) {
  HandleEntry* const entry = MakeEntry(key, obj, helper, charge);
  if (handle != nullptr) entry->Ref();
  Departed departed;
  const auto result = ShardOf(entry->hash)
                          .Insert({.object = entry,
                                   .is_important = priority == Priority::HIGH,
                                   .is_doubtful = priority == Priority::BOTTOM},
                                  &departed);
  Finish(departed);
  if (result == ClockShard::Result::kInserted) {
    if (handle != nullptr) *handle = HandleOf(entry);
    return Status::OK();
  }
  // Without a handle the caller cannot use the entry, so this counts as an eviction right after the
  // insertion.
  if (handle == nullptr) {
    entry->Unref();  // as if it had been evicted at once
    return Status::OK();
  }
  *handle = nullptr;
  entry->owns_value = false;
  entry->Unref();
  entry->Unref();
  return Status::MemoryLimit(StrCat(name_, ": no room for ", charge,
                                    " bytes within the strict capacity of ", GetCapacity()));
}

// Makes an entry that no lookup finds. It is charged if there is room or the capacity is not
// strict.
Cache::Handle* ClockCache::CreateStandalone(const Slice& key, ObjectPtr obj,
                                            const CacheItemHelper* helper, size_t charge,
                                            bool allow_uncharged) {
  HandleEntry* const entry = MakeEntry(key, obj, helper, charge);
  Departed departed;
  const bool is_charged = ShardOf(entry->hash).ChargeStandalone(entry, &departed);
  Finish(departed);
  if (is_charged) return HandleOf(entry);
  if (allow_uncharged) {
    entry->charge = 0;
    entry->metadata_charge = 0;
    return HandleOf(entry);
  }
  entry->owns_value = false;
  entry->Unref();
  return nullptr;
}

Cache::Handle* ClockCache::Lookup(const Slice& key, const CacheItemHelper* helper,
                                  CreateContext* context, Priority priority, Statistics* stats) {
  const CacheKeyView view = ViewOf(key);
  {
    // Most lookups end here, without a lock.
    EpochGuard guard;
    CachedObject* const object = ShardOf(view.hash).Find(view);
    if (object != nullptr && object->TryRef()) {
      object->Touch();
      return HandleOf(object);
    }
  }
  if (second_tier_ == nullptr) [[likely]]
    return nullptr;
  return LookupInSecondTier(key, helper, context, priority, stats);
}

bool ClockCache::Ref(Handle* handle) {
  assert(handle != nullptr);
  ObjectOf(handle)->Ref();
  return true;
}

bool ClockCache::Release(Handle* handle, bool erase_if_last_ref) {
  assert(handle != nullptr);
  CachedObject* const object = ObjectOf(handle);
  ClockShard& shard = ShardOf(object->hash);
  Departed departed;
  bool is_last = false, is_erased = false;
  {
    const EpochGuard guard;  // keeps the object readable after its reference was released
    const uint32_t before = object->refs.fetch_sub(1, std::memory_order_acq_rel);
    assert(before != 0);
    is_last = before == 1;
    // The reference of the shard is left. An entry that exceeds the capacity is evicted now, since
    // it could not be before.
    if (before == 2 && (erase_if_last_ref || shard.IsOverCapacity())) {
      is_erased = shard.EraseIfUnreferenced(object, &departed);
    }
  }
  // No other thread can find the object any more. Deleters of the program must run outside of
  // epochs.
  if (is_last) object->OnLastReference();
  Finish(departed);
  return is_last || is_erased;
}

Cache::ObjectPtr ClockCache::Value(Handle* handle) { return ValueOf(ObjectOf(handle)); }

void ClockCache::Erase(const Slice& key) {
  const CacheKeyView view = ViewOf(key);
  Departed departed;
  ShardOf(view.hash).Erase(view, &departed);
  Finish(departed);
}

uint64_t ClockCache::NewId() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

void ClockCache::SetCapacity(size_t capacity) {
  IgnoreError(Divide(capacity, second_tier_share()), "a second tier may refuse to change");
}

// Divides the capacity between the tiers, and the first part among the shards.
Status ClockCache::Divide(size_t capacity, double second_tier_share) {
  assert(second_tier_share >= 0);
  assert(second_tier_share <= 1);
  Status status;
  size_t first = capacity;
  if (second_tier_ != nullptr && (second_tier_share > 0 || this->second_tier_share() > 0)) {
    const auto second = static_cast<size_t>(static_cast<double>(capacity) * second_tier_share);
    first -= std::min(first, second);
    status = second_tier_->SetCapacity(second);
  }
  second_tier_share_.store(second_tier_share, std::memory_order_relaxed);
  capacity_.store(capacity, std::memory_order_relaxed);
  first_tier_bytes_.store(first);
  DivideAmongShards();
  return status;
}

// Sets the capacity of each shard. If several threads do this at the same time, the last one sees
// the values of all others, or repeats the loop.
void ClockCache::DivideAmongShards() {
  const auto shared_bytes = [this] {
    const size_t first = first_tier_bytes_.load();
    return first - std::min(aside_.load(), first);
  };
  size_t shared = 0;
  do {
    shared = shared_bytes();
    Departed departed;
    for (size_t i = 0; i < shard_count_; ++i) {
      shards_[i].SetCapacity(PerShard(shared, shard_count_), &departed);
    }
    Finish(departed);
  } while (shared != shared_bytes());
}

// Called with the memory that the heap holds for the blocks of this cache. What exceeds the
// capacity is set aside in small steps, an eighth of the capacity at most.
void ClockCache::FollowHeld(size_t bytes) {
  const size_t capacity = GetCapacity(), step = capacity / 1024, most = capacity / 8;
  const size_t before = aside_.load();
  size_t wanted = before;
  if (capacity < kLeastWithAside) {
    wanted = 0;
  } else if (bytes > capacity + step) {
    wanted = std::min(before + step, most);
  } else if (bytes + step < capacity) {
    wanted = before - std::min(before, step);
  }
  if (wanted == before) return;
  aside_.store(wanted);
  DivideAmongShards();
}

void ClockCache::SetStrictCapacityLimit(bool is_strict) {
  is_strict_.store(is_strict, std::memory_order_relaxed);
  for (size_t i = 0; i < shard_count_; ++i) shards_[i].SetStrict(is_strict);
}

bool ClockCache::HasStrictCapacityLimit() const {
  return is_strict_.load(std::memory_order_relaxed);
}

size_t ClockCache::GetCapacity() const { return capacity_.load(std::memory_order_relaxed); }

size_t ClockCache::GetUsage() const {
  size_t usage = 0;
  for (size_t i = 0; i < shard_count_; ++i) usage += shards_[i].usage();
  return usage;
}

size_t ClockCache::GetOccupancyCount() const {
  size_t count = 0;
  for (size_t i = 0; i < shard_count_; ++i) count += shards_[i].count();
  return count;
}

size_t ClockCache::GetTableAddressCount() const {
  size_t count = 0;
  for (size_t i = 0; i < shard_count_; ++i) count += shards_[i].bucket_count();
  return count;
}

size_t ClockCache::GetUsage(Handle* handle) const { return ObjectOf(handle)->charge; }

size_t ClockCache::GetPinnedUsage() const {
  size_t usage = 0;
  for (size_t i = 0; i < shard_count_; ++i) usage += shards_[i].PinnedUsage();
  return usage;
}

size_t ClockCache::GetCharge(Handle* handle) const { return PlainChargeOf(ObjectOf(handle)); }

const Cache::CacheItemHelper* ClockCache::GetCacheItemHelper(Handle* handle) const {
  return HelperOf(ObjectOf(handle));
}

void ClockCache::ApplyToAllEntries(const EntryCallback& callback,
                                   const ApplyToAllEntriesOptions& opts) {
  const auto apply = [&callback, this](CachedObject* object) {
    callback(KeySliceOf(object), ValueOf(object), PlainChargeOf(object), HelperOf(object));
  };
  // The lock of a shard is released between steps, so that other threads need not wait for the
  // whole walk.
  const size_t limit = std::max<size_t>(opts.average_entries_per_lock, 1);
  for (size_t i = 0; i < shard_count_; ++i) {
    uint64_t position = 0;
    while (shards_[i].Walk(&position, limit, apply)) {
    }
  }
}

void ClockCache::ApplyToHandle(Cache*, Handle* handle, const EntryCallback& callback) {
  CachedObject* const object = ObjectOf(handle);
  callback(KeySliceOf(object), ValueOf(object), PlainChargeOf(object), HelperOf(object));
}

// Objects that are retired already may hold references that would keep others here.
void ClockCache::EraseUnRefEntries() {
  if (!InEpoch()) EpochReclaim();
  for (size_t i = 0; i < shard_count_; ++i) {
    Departed departed;
    shards_[i].EraseUnreferenced(&departed);
    Finish(departed);
  }
}

std::string ClockCache::GetPrintableOptions() const {
  return StrCat("    capacity : ", GetCapacity(),
                "\n    num_shard_bits : ", std::bit_width(shard_count_) - 1,
                "\n    strict_capacity_limit : ", HasStrictCapacityLimit() ? 1 : 0,
                "\n    memory_allocator : ",
                memory_allocator() != nullptr ? memory_allocator()->Name() : "None", "\n");
}

[[gnu::cold]] void ClockCache::CheckInvariants() {
  for (size_t i = 0; i < shard_count_; ++i) shards_[i].CheckInvariants();
}

[[gnu::cold]] std::string ClockCache::DebugString() {
  std::string text = StrCat(name_, ": usage ", GetUsage(), " of ", GetCapacity(), ", ",
                            GetOccupancyCount(), " entries in ", shard_count_, " shards\n");
  for (size_t i = 0; i < shard_count_; ++i) {
    if (shards_[i].count() != 0)
      StrAppend(&text, "shard ", i, ": ", shards_[i].DebugString(), "\n");
  }
  return text;
}

// Destroys what left the shards. Called without their locks, because destruction may call the
// program.
void ClockCache::Finish(const Departed& departed) {
  if (departed.buckets != nullptr) {
    EpochRetireMemory(departed.buckets, &HashBuckets::Free, departed.buckets->memory_bytes());
  }
  for (CachedObject *object = departed.objects, *next; object != nullptr; object = next) {
    next = object->queue_next;
    assert(object->refs.load(std::memory_order_relaxed) == 0);  // no other thread can find it
    HandleEntry* const entry = EntryOf(object);
    if (object->state & CachedObject::kEvicted) {
      if (second_tier_ != nullptr) [[unlikely]]
        Demote(object);
      if (entry != nullptr && eviction_callback_) Evicted(entry);
    }
    object->OnLastReference();
  }
}

// The program's callback may take the value over; then the cache does not delete it.
void ClockCache::Evicted(HandleEntry* entry) {
  assert(entry != nullptr);
  assert(entry->owns_value);
  assert(eviction_callback_);
  // An object in the main queue was used at least once on probation, so it has had a hit.
  const bool was_hit = (entry->state & CachedObject::kInMainQueue) != 0;
  if (eviction_callback_(KeySliceOf(entry), HandleOf(entry), was_hit)) entry->owns_value = false;
}

}  // namespace ashlar
