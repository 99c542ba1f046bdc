// SPDX-License-Identifier: Apache-2.0
//
// ClockCache: the built-in cache of NewLRUCache and HyperClockCacheOptions. It has shards with hash
// tables that are read without locks, and a CLOCK with probation that decides what is evicted
// (clock_shard.cc).
//
// There are two interfaces. The public Cache interface returns counted handles. BlockCacheView
// inserts CachedObjects and finds them inside an EpochGuard, without a reference. Both use the same
// keys, capacity and charges: the handle of a block is its CachedObject, and its value is the
// object itself.
//
// Each shard has an equal part of the capacity. No callback runs under a lock, except those of
// ApplyToAllEntries().
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/advanced_cache.h"
#include "ashlar/secondary_cache.h"
#include "cache/block_cache.h"
#include "cache/clock_shard.h"
#include "cache/handle_entry.h"
#include "util/hash/hash.h"

namespace ashlar {

// 2 to this power is the largest number of shards that a program may request.
inline constexpr int kMaxShardBits = 19;

struct ClockCacheOptions {
  const char* name = "ClockCache";
  ShardedCacheOptions sharded;
  // With num_shard_bits == -1, shards are at least this large, because smaller shards would waste
  // too much by uneven filling.
  size_t min_shard_bytes = 512 * 1024;
  // Which evicted objects the second tier must take although it sees them for the first time: none,
  // those that were used here, or all.
  enum class Demotion : uint8_t { kSecondTime, kUsed, kAll };
  Demotion demotion = Demotion::kSecondTime;
  // The share of the capacity that belongs to the second tier; 0: that tier has its own capacity.
  double second_tier_share = 0;
  // Whether the second tier was made for this cache alone, which may divide its capacity anew.
  bool owns_second_tier = false;
};

class ClockCache final : public Cache {
 public:
  explicit ClockCache(const ClockCacheOptions& options);
  ~ClockCache() override;

  // Returns `cache` as this class if it is one, else null.
  static ClockCache* From(Cache* cache);

  // The functions of BlockCacheView; see there.
  CachedObject* LookupInEpoch(const BlockKey& key) {
    const uint64_t hash = HashOf(key);
    return ShardOf(hash).Find({.hash = hash, .block = key, .bytes = Slice(), .is_long = false});
  }
  // An insertion of BlockCacheView.
  struct ObjectInsertion {
    BlockKey key;
    ClockShard::Admission admission;
  };
  Status InsertObject(const ObjectInsertion& insertion);
  bool PassBy(const BlockKey& key, CachedObject* object) {
    assert(object != nullptr);
    object->key = key;
    object->hash = HashOf(key);
    const EpochGuard guard;
    return !HasStrictCapacityLimit() && ShardOf(object->hash).PassBy(object);
  }
  bool HasRoom(const BlockKey& key) const { return ShardOf(HashOf(key)).HasRoom(); }
  void EraseObject(const BlockKey& key);
  void PublishSlot(CachedObject* object, SlotTable* table, uint32_t slot_index) {
    assert(object != nullptr);
    ShardOf(object->hash).PublishSlot(object, table, slot_index);
  }
  // For BlockCacheView. All users of a cache have the same forms.
  void SetForms(const BlockForms* forms) { forms_.store(forms, std::memory_order_release); }
  bool HasSecondTier() const { return second_tier_ != nullptr; }
  // A lookup in the second tier. `moves`: the caller will insert the object into the first tier, so
  // the second one may erase it.
  struct SecondTierRead {
    Slice key;
    const CacheItemHelper* helper = nullptr;
    Statistics* stats = nullptr;
    bool moves = true;
  };
  // Restores the object under the key from the second tier; null: the tier does not have it.
  ObjectPtr TakeFromSecondTier(const SecondTierRead& read);
  // Gives an object back to the second tier that was to move and found no room in the first.
  void PutIntoSecondTier(const Slice& key, ObjectPtr object, const CacheItemHelper* helper);
  // `bytes` is the memory that is held for all cached objects, including memory that is charged to
  // no object, such as gaps between blocks. While it exceeds the capacity, a smaller and smaller
  // part of the capacity is filled: one step less per call, at most an eighth less; small caches
  // are not reduced. While it is below the capacity, the reduction is undone step by step.
  void FollowHeld(size_t bytes);
  // Divides a new capacity between this cache and its second tier, which it owns if it has a share.
  Status Divide(size_t capacity, double second_tier_share);
  void SetDemotion(ClockCacheOptions::Demotion demotion) {
    demotion_.store(demotion, std::memory_order_relaxed);
  }
  double second_tier_share() const { return second_tier_share_.load(std::memory_order_relaxed); }
  bool owns_second_tier() const { return owns_second_tier_; }

  void CheckInvariants();
  // One line for the cache, and one for each shard that is not empty.
  std::string DebugString();

  // The functions of Cache.
  const char* Name() const override { return name_; }
  Status Insert(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed_val,
                CompressionType type) override;
  Handle* CreateStandalone(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                           size_t charge, bool allow_uncharged) override;
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, CreateContext* create_context,
                 Priority priority, Statistics* stats) override;
  bool Ref(Handle* handle) override;
  using Cache::Release;
  bool Release(Handle* handle, bool erase_if_last_ref) override;
  ObjectPtr Value(Handle* handle) override;
  void Erase(const Slice& key) override;
  uint64_t NewId() override;
  void SetCapacity(size_t capacity) override;
  void SetStrictCapacityLimit(bool is_strict) override;
  bool HasStrictCapacityLimit() const override;
  size_t GetCapacity() const override;
  size_t GetUsage() const override;
  size_t GetOccupancyCount() const override;
  size_t GetTableAddressCount() const override;
  size_t GetUsage(Handle* handle) const override;
  size_t GetPinnedUsage() const override;
  size_t GetCharge(Handle* handle) const override;
  const CacheItemHelper* GetCacheItemHelper(Handle* handle) const override;
  void DisownData() override { is_disowned_ = true; }
  using EntryCallback = std::function<void(const Slice& key, ObjectPtr obj, size_t charge,
                                           const CacheItemHelper* helper)>;
  void ApplyToAllEntries(const EntryCallback& callback,
                         const ApplyToAllEntriesOptions& opts) override;
  void ApplyToHandle(Cache* cache, Handle* handle, const EntryCallback& callback) override;
  void EraseUnRefEntries() override;
  std::string GetPrintableOptions() const override;
  uint32_t GetHashSeed() const override { return hash_seed_; }

 private:
  uint64_t HashOf(const BlockKey& key) const {
    // Both numbers are often small and regular; the second product spreads the bits that the first
    // one has mixed.
    const uint64_t mixed = FoldedMultiply(key.file_id ^ 0x9e3779b97f4a7c15 ^ hash_seed_,
                                          key.offset ^ 0xd6e8feb86659fd93);
    return FoldedMultiply(mixed, 0xa0761d6478bd642f);
  }
  // The form of a key in which shards compare it.
  CacheKeyView ViewOf(const Slice& key) const;
  ClockShard& ShardOf(uint64_t hash) const { return shards_[hash & shard_mask_]; }
  // A new entry with one reference.
  HandleEntry* MakeEntry(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                         size_t charge);
  // Gives each shard its part of the first tier's capacity, less the reduction of FollowHeld().
  void DivideAmongShards();
  // Releases the objects that a shard has evicted. Must not be called under a lock.
  void Finish(const Departed& departed);
  // Calls the eviction callback of the program.
  void Evicted(HandleEntry* entry);
  // Offers an evicted object to the second tier.
  void Demote(CachedObject* object);
  void Offer(const Slice& key, ObjectPtr object, const CacheItemHelper* helper, bool is_forced);
  const CacheItemHelper* HelperOf(CachedObject* object) const;
  // Looks in the second tier; null if it has nothing under the key.
  std::unique_ptr<SecondaryCacheResultHandle> AskSecondTier(const SecondTierRead& read,
                                                            CreateContext* context);
  Handle* LookupInSecondTier(const Slice& key, const CacheItemHelper* helper,
                             CreateContext* context, Priority priority, Statistics* stats);

  const char* const name_;
  const uint32_t hash_seed_;
  const bool charges_metadata_;  // the memory of an entry itself is charged too
  const size_t shard_count_;     // a power of two
  const uint64_t shard_mask_;    // the low bits of a hash, which select the shard
  const std::unique_ptr<ClockShard[]> shards_;
  // The capacity that the user has set. Each shard has its part of it.
  std::atomic<size_t> capacity_;
  // The part of the capacity that is not the second tier's.
  std::atomic<size_t> first_tier_bytes_{0};
  std::atomic<size_t> aside_{0};  // the reduction of the first tier; see FollowHeld()
  std::atomic<bool> is_strict_;
  std::atomic<uint64_t> next_id_{1};               // for NewId()
  std::atomic<const BlockForms*> forms_{nullptr};  // for blocks; null: none is saved
  const std::shared_ptr<SecondaryCache> second_tier_;
  std::atomic<ClockCacheOptions::Demotion> demotion_;
  std::atomic<double> second_tier_share_;
  const bool owns_second_tier_;
  bool is_disowned_ = false;  // the destructor frees nothing
};

}  // namespace ashlar
