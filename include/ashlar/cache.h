// SPDX-License-Identifier: Apache-2.0
//
// Caches: how to make one. The class itself is in advanced_cache.h, which this header brings in.
//
//   ashlar::BlockBasedTableOptions table_options;
//   table_options.block_cache = ashlar::HyperClockCacheOptions(512 << 20).MakeSharedCache();
//
// A cache may be shared by column families and databases, and is thread safe.
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

// What an entry holds, for charging and statistics.
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

// "DataBlock", "FilterBlock", ...
ASHLAR_EXPORT const std::string& GetCacheEntryRoleName(CacheEntryRole);

using CacheEntryRoleSet = SmallEnumSet<CacheEntryRole, CacheEntryRole::kMisc>;

// Keys of the map property DB::Properties::kBlockCacheEntryStats.
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

// Whether the cache's own bookkeeping counts against the capacity.
enum CacheMetadataChargePolicy {
  kDontChargeCacheMetadata,
  kFullChargeCacheMetadata,
};
const CacheMetadataChargePolicy kDefaultCacheMetadataChargePolicy = kFullChargeCacheMetadata;

struct ShardedCacheOptions {
  // Bytes.
  size_t capacity = 0;
  // Base-two logarithm of the number of shards; -1 = chosen from the capacity.
  int num_shard_bits = -1;
  // An insertion that finds no room fails with MemoryLimit, instead of exceeding the capacity.
  bool strict_capacity_limit = false;
  // Where entries are allocated; nullptr = new.
  std::shared_ptr<MemoryAllocator> memory_allocator;
  CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy;
  // A second tier behind this cache, which gets data blocks, filters and dictionaries that leave
  // for want of room; parsed indexes are read from their file again. Entries of a program's own go
  // there if their helper can save them.
  std::shared_ptr<SecondaryCache> secondary_cache;
  // How keys are spread over shards: differently in each process, by host, or by a given seed.
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

struct ASHLAR_EXPORT LRUCacheOptions : public ShardedCacheOptions {
  // Share of the capacity kept for entries of high priority (index and filter blocks), and of low.
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

  // nullptr if the options contradict each other.
  std::shared_ptr<Cache> MakeSharedCache() const;
  std::shared_ptr<RowCache> MakeSharedRowCache() const;
};

// A capacity of 0 is legal: the cache then holds only what is in use.
ASHLAR_EXPORT std::shared_ptr<Cache> NewLRUCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    double high_pri_pool_ratio = 0.5, std::shared_ptr<MemoryAllocator> memory_allocator = nullptr,
    bool use_adaptive_mutex = kDefaultToAdaptiveMutex,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy,
    double low_pri_pool_ratio = 0.0);
ASHLAR_EXPORT std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts);

// A second tier that holds compressed blocks in memory. An entry is taken when it comes for the
// second time, and leaves when it is asked for.
struct ASHLAR_EXPORT CompressedSecondaryCacheOptions : public LRUCacheOptions {
  // kNoCompression, or one that this build has; else making one returns nullptr.
  CompressionType compression_type = CompressionType::kLZ4Compression;
  CompressionOptions compression_opts;
  // A hint without effect.
  bool enable_custom_split_merge = false;
  // Saved as they are.
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

  std::shared_ptr<SecondaryCache> MakeSharedSecondaryCache() const;
};

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

// The lock-free CLOCK cache: the one to prefer for blocks.
struct ASHLAR_EXPORT HyperClockCacheOptions : public ShardedCacheOptions {
  // Average bytes of an entry; 0 = the table grows as needed.
  size_t estimated_entry_charge;
  // With estimated_entry_charge == 0: the smallest average that need be expected.
  size_t min_avg_entry_charge = 450;
  // How long an insertion searches for a victim among pinned entries before it gives up.
  int eviction_effort_cap = 30;

  explicit HyperClockCacheOptions(
      size_t _capacity, size_t _estimated_entry_charge = 0, int _num_shard_bits = -1,
      bool _strict_capacity_limit = false,
      std::shared_ptr<MemoryAllocator> _memory_allocator = nullptr,
      CacheMetadataChargePolicy _metadata_charge_policy = kDefaultCacheMetadataChargePolicy)
      : ShardedCacheOptions(_capacity, _num_shard_bits, _strict_capacity_limit,
                            std::move(_memory_allocator), _metadata_charge_policy),
        estimated_entry_charge(_estimated_entry_charge) {}

  // nullptr if the options contradict each other.
  std::shared_ptr<Cache> MakeSharedCache() const;
};

// Deprecated: gives an LRU cache.
ASHLAR_EXPORT std::shared_ptr<Cache> NewClockCache(
    size_t capacity, int num_shard_bits = -1, bool strict_capacity_limit = false,
    CacheMetadataChargePolicy metadata_charge_policy = kDefaultCacheMetadataChargePolicy);

enum PrimaryCacheType {
  kCacheTypeLRU,
  kCacheTypeHCC,
  kCacheTypeMax,
};

// Which evicted entries go to the compressed tier: those that come for the second time
// (kAdmPolicyAuto, kAdmPolicyPlaceholder), those besides that had been used in the first tier, or
// all. kAdmPolicyThreeQueue needs nvm_sec_cache.
enum TieredAdmissionPolicy {
  kAdmPolicyAuto,
  kAdmPolicyPlaceholder,
  kAdmPolicyAllowCacheHits,
  kAdmPolicyThreeQueue,
  kAdmPolicyAllowAll,
  kAdmPolicyMax,
};

// A block cache and a compressed tier under one budget: GetCapacity() of the cache is the sum. A
// third tier is not built: with nvm_sec_cache NewTieredCache() returns nullptr.
struct TieredCacheOptions {
  ShardedCacheOptions* cache_opts = nullptr;
  PrimaryCacheType cache_type = PrimaryCacheType::kCacheTypeLRU;
  TieredAdmissionPolicy adm_policy = TieredAdmissionPolicy::kAdmPolicyAuto;
  CompressedSecondaryCacheOptions comp_cache_opts;
  // Bytes of both, and the share of the compressed one: 0 to 1.
  size_t total_capacity = 0;
  double compressed_secondary_ratio = 0.0;
  std::shared_ptr<SecondaryCache> nvm_sec_cache;
};

// nullptr if the options contradict each other.
ASHLAR_EXPORT std::shared_ptr<Cache> NewTieredCache(const TieredCacheOptions& cache_opts);
// Negative, max() and kAdmPolicyMax leave things as they are. InvalidArgument for another cache.
ASHLAR_EXPORT Status
UpdateTieredCache(const std::shared_ptr<Cache>& cache, int64_t total_capacity = -1,
                  double compressed_secondary_ratio = std::numeric_limits<double>::max(),
                  TieredAdmissionPolicy adm_policy = TieredAdmissionPolicy::kAdmPolicyMax);

}  // namespace ashlar

#include "ashlar/advanced_cache.h"  // IWYU pragma: export
