// SPDX-License-Identifier: Apache-2.0
//
// Functions that create caches. advanced_cache.h, which this header includes, has the class itself.
//
//   ashlar::BlockBasedTableOptions table_options;
//   table_options.block_cache = ashlar::HyperClockCacheOptions(512 << 20).MakeSharedCache();
//
// A cache may be shared by column families and databases. Thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/data_structure.h"
#include "ashlar/export.h"
#include "ashlar/memory_allocator.h"

namespace ashlar {

class Cache;
class Logger;
class SecondaryCache;

using BlockCache = Cache;
using RowCache = Cache;

// What an entry contains. Used for charging and statistics.
enum class CacheEntryRole {
  kDataBlock,
  kFilterBlock,
  kFilterMetaBlock,
  kDeprecatedFilterBlock,
  kIndexBlock,
  kOtherBlock,
  kWriteBuffer,
  kCompressionDictionaryBuildingBuffer,
  kFilterConstruction,
  kBlockBasedTableReader,
  kFileMetadata,
  kBlobValue,
  kBlobCache,
  kMisc,  // must be last
};
constexpr uint32_t kNumCacheEntryRoles = static_cast<uint32_t>(CacheEntryRole::kMisc) + 1;

// Returns the name of a role: "DataBlock", "FilterBlock" and so on.
ASHLAR_EXPORT const std::string& GetCacheEntryRoleName(CacheEntryRole);

using CacheEntryRoleSet = SmallEnumSet<CacheEntryRole, CacheEntryRole::kMisc>;

// Names of the entries in the map property DB::Properties::kBlockCacheEntryStats.
struct ASHLAR_EXPORT BlockCacheEntryStatsMapKeys {
  static const std::string& CacheId();
  static const std::string& CacheCapacityBytes();
  static const std::string& LastCollectionDurationSeconds();
  static const std::string& LastCollectionAgeSeconds();
  static std::string EntryCount(CacheEntryRole);
  static std::string UsedBytes(CacheEntryRole);
  static std::string UsedPercent(CacheEntryRole);
};

ASHLAR_EXPORT extern const bool kDefaultToAdaptiveMutex;

// Whether the memory for the cache's own data structures counts against its capacity.
enum CacheMetadataChargePolicy {
  kDontChargeCacheMetadata,
  kFullChargeCacheMetadata,
};
const CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy = kFullChargeCacheMetadata;

// Options that all built-in caches have.
struct ShardedCacheOptions {
  // Capacity in bytes.
  size_t capacity = 0;
  // Base-two logarithm of the number of shards; -1 = chosen from the capacity.
  int num_shard_bits = -1;
  // If an insertion finds no room, it fails with MemoryLimit instead of exceeding the capacity.
  bool strict_capacity_limit = false;
  // A hint without effect: entries have memory of their own.
  std::shared_ptr<MemoryAllocator> memory_allocator;
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
  // A second tier. It receives data blocks, filters and compression dictionaries that are evicted
  // from this cache; index blocks are read from the file again instead. Entries of the program's
  // own go there if their helper can save them.
  std::shared_ptr<SecondaryCache> secondary_cache;
  // How keys are distributed to shards: depending on the given seed; negative values are one fixed
  // seed.
  static constexpr int32_t kQuasiRandomHashSeed = -1;
  static constexpr int32_t kHostHashSeed = -2;
  int32_t hash_seed = kHostHashSeed;

  ShardedCacheOptions() {}
  ShardedCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : capacity(_capacity),
        num_shard_bits(_num_shard_bits),
        strict_capacity_limit(_strict_capacity_limit),
        memory_allocator(std::move(_memory_allocator)),
        metadata_charge_policy(_metadata_charge_policy) {}
};

// Options of an LRU cache.
struct ASHLAR_EXPORT LRUCacheOptions : public ShardedCacheOptions {
  // Hints without effect, which must be valid fractions: what stays is decided by use, and blocks
  // of indexes and filters stay longer than data blocks.
  double high_pri_pool_ratio = 0.5;
  double low_pri_pool_ratio = 0.0;
  // A hint without effect.
  bool use_adaptive_mutex = kDefaultToAdaptiveMutex;

  LRUCacheOptions() {}
  LRUCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      double _high_pri_pool_ratio, std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      bool _use_adaptive_mutex = kDefaultToAdaptiveMutex,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
      double _low_pri_pool_ratio = 0.0)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        high_pri_pool_ratio(_high_pri_pool_ratio),
        low_pri_pool_ratio(_low_pri_pool_ratio),
        use_adaptive_mutex(_use_adaptive_mutex) {}

  // Create the cache; nullptr if the options contradict each other.
  std::shared_ptr<Cache> MakeSharedCache() const;
  std::shared_ptr<RowCache> MakeSharedRowCache() const;
};

// Create an LRU cache. A capacity of 0 is allowed: then the cache holds only entries that are in
// use.
ASHLAR_EXPORT std::shared_ptr<Cache> NewLRUCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    double high_pri_pool_ratio = 0.5, std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
    double low_pri_pool_ratio = 0.0);
ASHLAR_EXPORT std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts);

// Options of a second tier that holds compressed blocks in memory. An entry is inserted when it is
// offered for the second time, and removed when it is looked up.
struct ASHLAR_EXPORT CompressedSecondaryCacheOptions : public LRUCacheOptions {
  // kNoCompression, or a compression type that this build supports; otherwise creating the cache
  // returns nullptr.
  CompressionType compression_type = CompressionType::kLZ4Compression;
  CompressionOptions compression_opts;
  // A hint without effect.
  bool enable_custom_split_merge = false;
  // Entries of these roles are stored without compression.
  CacheEntryRoleSet do_not_compress_roles = {CacheEntryRole::kFilterBlock};

  CompressedSecondaryCacheOptions() {}
  CompressedSecondaryCacheOptions(
      size_t _capacity, int _num_shard_bits, bool _strict_capacity_limit,
      double _high_pri_pool_ratio, double _low_pri_pool_ratio = 0.0,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      bool _use_adaptive_mutex = kDefaultToAdaptiveMutex,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
      CompressionType _compression_type = CompressionType::kLZ4Compression,
      bool _enable_custom_split_merge = false,
      const CacheEntryRoleSet& _do_not_compress_roles = {CacheEntryRole::kFilterBlock})
      : LRUCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit, _high_pri_pool_ratio,
                        std::move(_memory_allocator), _use_adaptive_mutex, _metadata_charge_policy,
                        _low_pri_pool_ratio),
        compression_type(_compression_type),
        enable_custom_split_merge(_enable_custom_split_merge),
        do_not_compress_roles(_do_not_compress_roles) {}

  // Creates the cache; nullptr if the options are invalid.
  std::shared_ptr<SecondaryCache> MakeSharedSecondaryCache() const;
};

// Create a compressed second tier; see the options above.
ASHLAR_EXPORT std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    double high_pri_pool_ratio = 0.5, double low_pri_pool_ratio = 0.0,
    std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
    CompressionType compression_type = CompressionType::kLZ4Compression,
    bool enable_custom_split_merge = false,
    const CacheEntryRoleSet& _do_not_compress_roles = {CacheEntryRole::kFilterBlock});
ASHLAR_EXPORT std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    const CompressedSecondaryCacheOptions& opts);

// Options of the lock-free CLOCK cache, which is the recommended cache for blocks.
struct ASHLAR_EXPORT HyperClockCacheOptions : public ShardedCacheOptions {
  // Hints without effect: the hash table grows as needed.
  size_t estimated_entry_charge;
  size_t min_avg_entry_charge = 450;
  // A hint without effect.
  int eviction_effort_cap = 30;

  explicit HyperClockCacheOptions(
      size_t _capacity, size_t _estimated_entry_charge = 0, int _num_shard_bits = -1,
      bool _strict_capacity_limit = false,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        estimated_entry_charge(_estimated_entry_charge) {}

  // Creates the cache; nullptr if the options contradict each other.
  std::shared_ptr<Cache> MakeSharedCache() const;
};

// Deprecated: creates an LRU cache.
ASHLAR_EXPORT std::shared_ptr<Cache> NewClockCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy);

// The kind of the first tier of a tiered cache.
enum PrimaryCacheType {
  kCacheTypeLRU,
  kCacheTypeHCC,
  kCacheTypeMax,
};

// Which entries that are evicted from the first tier go to the compressed tier: entries that are
// evicted for the second time (kAdmPolicyAuto, kAdmPolicyPlaceholder), additionally those that had
// a hit in the first tier (kAdmPolicyAllowCacheHits), or all (kAdmPolicyAllowAll).
// kAdmPolicyThreeQueue requires nvm_sec_cache.
enum TieredAdmissionPolicy {
  kAdmPolicyAuto,
  kAdmPolicyPlaceholder,
  kAdmPolicyAllowCacheHits,
  kAdmPolicyThreeQueue,
  kAdmPolicyAllowAll,
  kAdmPolicyMax,
};

// Options of a block cache and a compressed tier that share one capacity. GetCapacity() returns the
// sum. A third tier is not built: if nvm_sec_cache is set, NewTieredCache() returns nullptr.
struct TieredCacheOptions {
  ShardedCacheOptions* cache_opts = nullptr;
  PrimaryCacheType cache_type = PrimaryCacheType::kCacheTypeLRU;
  TieredAdmissionPolicy adm_policy = TieredAdmissionPolicy::kAdmPolicyAuto;
  CompressedSecondaryCacheOptions comp_cache_opts;
  // Capacity of both tiers in bytes, and the fraction of it, from 0 to 1, for the compressed tier.
  size_t total_capacity = 0;
  double compressed_secondary_ratio = 0.0;
  std::shared_ptr<SecondaryCache> nvm_sec_cache;
};

// Creates a tiered cache; nullptr if the options contradict each other.
ASHLAR_EXPORT std::shared_ptr<Cache> NewTieredCache(const TieredCacheOptions& cache_opts);
// Changes a tiered cache. A negative capacity, max() and kAdmPolicyMax mean "no change".
// InvalidArgument if the cache is not tiered.
ASHLAR_EXPORT Status
UpdateTieredCache(const std::shared_ptr<Cache>& cache, int64_t total_capacity = -1,
                  double compressed_secondary_ratio = std::numeric_limits<double>::max(),
                  TieredAdmissionPolicy adm_policy = TieredAdmissionPolicy::kAdmPolicyMax);

}  // namespace ashlar

#include "ashlar/advanced_cache.h"  // IWYU pragma: export
