// SPDX-License-Identifier: Apache-2.0
//
// ClockCache: the built-in cache behind NewLRUCache and HyperClockCacheOptions: shards with tables
// that are read without locks, and a CLOCK with probation to choose what leaves (clock_shard.cc).
//
// Two ways in. The public Cache interface hands out counted handles. BlockCacheView inserts
// CachedObjects and finds them inside an EpochGuard, without a reference. Both see one set of keys,
// capacity and charges: a handle to a block is a CachedObject, and its value the object itself.
//
// Each shard has an equal part of the capacity. No callback runs under a lock, but those of
// ApplyToAllEntries.
#pragma once

#include <atomic>
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

// 2 to this power: the most parts that a program may ask for.
inline constexpr int kMaxShardBits = 19;

struct ClockCacheOptions {
  const char* name = "ClockCache";
  ShardedCacheOptions sharded;
  // A smaller shard would lose too much to uneven filling. For num_shard_bits == -1.
  size_t min_shard_bytes = 512 * 1024;
  // Of what leaves for want of room, what goes to the second tier although it comes there for the
  // first time: nothing, what had been used here, or all.
  enum class Demotion : uint8_t { kSecondTime, kUsed, kAll };
  Demotion demotion = Demotion::kSecondTime;
  // The share of the capacity that is the second tier's; 0: that has one of its own.
  double second_tier_share = 0;
};

class ClockCache final : public Cache {
 public:
  explicit ClockCache(const ClockCacheOptions& options);
  ~ClockCache() override;

  // The cache itself if it is of this class, else nullptr.
  static ClockCache* From(Cache* cache);

  // For BlockCacheView; see there.
  CachedObject* LookupInEpoch(const BlockKey& key) {
    const uint64_t hash = HashOf(key);
    return ShardOf(hash).Find({.hash = hash, .block = key, .bytes = Slice(), .is_long = false});
  }
  struct ObjectInsertion {
    BlockKey key;
    ClockShard::Admission admission;
  };
  Status InsertObject(const ObjectInsertion& insertion);
  bool PassBy(const BlockKey& key, CachedObject* object) {
    object->key = key;
    object->hash = HashOf(key);
    const EpochGuard guard;
    return !HasStrictCapacityLimit() && ShardOf(object->hash).PassBy(object);
  }
  bool HasRoom(const BlockKey& key) const { return ShardOf(HashOf(key)).HasRoom(); }
  void EraseObject(const BlockKey& key);
  void PublishSlot(CachedObject* object, SlotTable* table, uint32_t slot_index) {
    ShardOf(object->hash).PublishSlot(object, table, slot_index);
  }
  // For BlockCacheView: all that use a cache have the same forms.
  void SetForms(const BlockForms* forms) { forms_.store(forms, std::memory_order_release); }
  bool HasSecondTier() const { return second_tier_ != nullptr; }
  // An object that the second tier makes of what it holds under the key; null: it holds nothing.
  ObjectPtr TakeFromSecondTier(const Slice& key, const CacheItemHelper* helper, Statistics* stats);
  // What is held at present for all that is here, with what is charged to nobody, such as room
  // between blocks. While that is more than the capacity, less and less of it is filled: a step a
  // call, an eighth at most, and nothing of a small cache; while it is less, more again.
  void FollowHeld(size_t bytes);
  // Divides the capacity anew between this and its second tier.
  Status Divide(size_t capacity, double second_tier_share);
  void SetDemotion(ClockCacheOptions::Demotion demotion) {
    demotion_.store(demotion, std::memory_order_relaxed);
  }
  double second_tier_share() const { return second_tier_share_.load(std::memory_order_relaxed); }

  void CheckInvariants();
  // A line for the cache, and one for each shard that holds something.
  std::string DebugString();

  // Cache.
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
    // Both numbers are often small and regular; the second product spreads what the first has
    // mixed.
    const uint64_t mixed = FoldedMultiply(key.file_id ^ 0x9e3779b97f4a7c15 ^ hash_seed_,
                                          key.offset ^ 0xd6e8feb86659fd93);
    return FoldedMultiply(mixed, 0xa0761d6478bd642f);
  }
  CacheKeyView ViewOf(const Slice& key) const;
  ClockShard& ShardOf(uint64_t hash) const { return shards_[hash & shard_mask_]; }
  HandleEntry* MakeEntry(const Slice& key, ObjectPtr obj, const CacheItemHelper* helper,
                         size_t charge);
  // Gives the shards their parts of what is left of the first tier's.
  void DivideAmongShards();
  // Ends what has left a shard. Not under a lock.
  void Finish(const Departed& departed);
  void Evicted(HandleEntry* entry);
  void Demote(CachedObject* object);
  const CacheItemHelper* HelperOf(CachedObject* object) const;
  std::unique_ptr<SecondaryCacheResultHandle> AskSecondTier(const Slice& key,
                                                            const CacheItemHelper* helper,
                                                            CreateContext* context,
                                                            Statistics* stats);
  Handle* LookupInSecondTier(const Slice& key, const CacheItemHelper* helper,
                             CreateContext* context, Priority priority, Statistics* stats);

  const char* const name_;
  const uint32_t hash_seed_;
  const bool charges_metadata_;  // whether an entry's own memory counts
  const size_t shard_count_;     // a power of two
  const uint64_t shard_mask_;    // the low bits of a hash that choose the shard
  const std::unique_ptr<ClockShard[]> shards_;
  // As last set by the user; the shards have their parts of it.
  std::atomic<size_t> capacity_;
  std::atomic<size_t> first_tier_bytes_{0};  // of the capacity
  std::atomic<size_t> aside_{0};             // of the first tier's; see FollowHeld()
  std::atomic<bool> is_strict_;
  std::atomic<uint64_t> next_id_{1};               // of NewId()
  std::atomic<const BlockForms*> forms_{nullptr};  // of blocks; null: none is saved
  const std::shared_ptr<SecondaryCache> second_tier_;
  std::atomic<ClockCacheOptions::Demotion> demotion_;
  std::atomic<double> second_tier_share_;
  bool is_disowned_ = false;  // the destructor leaves everything alone
};

}  // namespace ashlar
