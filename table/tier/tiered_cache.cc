// SPDX-License-Identifier: Apache-2.0
//
// The public functions that create second tiers, and caches whose two tiers share one budget.
#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "ashlar/cache.h"
#include "cache/clock_cache.h"
#include "table/tier/compressed_secondary_cache.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether the number is from 0 to 1; false for NaN.
bool IsShare(double share) { return share >= 0 && share <= 1; }

using Demotion = ClockCacheOptions::Demotion;
// When an entry that leaves the first tier is offered to the second tier.
Demotion DemotionOf(TieredAdmissionPolicy policy) {
  switch (policy) {
    case kAdmPolicyAllowCacheHits: return Demotion::kUsed;
    case kAdmPolicyAllowAll: return Demotion::kAll;
    default: return Demotion::kSecondTime;
  }
}

}  // namespace

std::shared_ptr<SecondaryCache> CompressedSecondaryCacheOptions::MakeSharedSecondaryCache() const {
  auto made = CompressedSecondaryCache::Make(*this);
  return made.ok() ? made.Take() : nullptr;
}

std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    const CompressedSecondaryCacheOptions& opts) {
  return opts.MakeSharedSecondaryCache();
}

std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    size_t capacity, int num_shard_bits, bool strict_capacity_limit, double high_pri_pool_ratio,
    double low_pri_pool_ratio, std::shared_ptr<MemoryAllocator> memory_allocator,
    bool use_adaptive_mutex, CacheMetadataChargePolicy metadata_charge_policy,
    CompressionType compression_type, bool enable_custom_split_merge,
    const CacheEntryRoleSet& _do_not_compress_roles) {
  return CompressedSecondaryCacheOptions(capacity, num_shard_bits, strict_capacity_limit,
                                         high_pri_pool_ratio, low_pri_pool_ratio,
                                         std::move(memory_allocator), use_adaptive_mutex,
                                         metadata_charge_policy, compression_type,
                                         enable_custom_split_merge, _do_not_compress_roles)
      .MakeSharedSecondaryCache();
}

// Null for options that are not supported: the call has no status.
std::shared_ptr<Cache> NewTieredCache(const TieredCacheOptions& cache_opts) {
  const bool is_sound =
      // Kinds of caches and policies that this library does not have are refused.
      cache_opts.cache_opts != nullptr && cache_opts.nvm_sec_cache == nullptr &&
      cache_opts.cache_type < kCacheTypeMax && cache_opts.adm_policy != kAdmPolicyThreeQueue &&
      cache_opts.adm_policy < kAdmPolicyMax && IsShare(cache_opts.compressed_secondary_ratio) &&
      cache_opts.cache_opts->secondary_cache == nullptr;
  if (!is_sound) return nullptr;
  ClockCacheOptions options;
  options.sharded = *cache_opts.cache_opts;
  // These options must also be valid for a first tier alone.
  LRUCacheOptions probe;
  static_cast<ShardedCacheOptions&>(probe) = options.sharded;
  probe.capacity = 0;
  if (probe.MakeSharedCache() == nullptr) return nullptr;
  options.name = cache_opts.cache_type == kCacheTypeLRU ? "LRUCache" : "HyperClockCache";
  options.min_shard_bytes = size_t{8} << 20;
  options.sharded.capacity = cache_opts.total_capacity;
  options.sharded.secondary_cache = cache_opts.comp_cache_opts.MakeSharedSecondaryCache();
  if (options.sharded.secondary_cache == nullptr) return nullptr;
  options.demotion = DemotionOf(cache_opts.adm_policy);
  options.second_tier_share = cache_opts.compressed_secondary_ratio;
  options.owns_second_tier = true;
  // Null tells the caller that the options are not valid.
  auto cache = std::make_shared<ClockCache>(options);
  // With a share of 0, the capacity in the options of the second tier is not used either.
  const Status status = cache->Divide(cache_opts.total_capacity, options.second_tier_share);
  if (!status.ok()) return nullptr;
  if (options.second_tier_share == 0) {
    IgnoreError(options.sharded.secondary_cache->SetCapacity(0), "our cache supports it");
  }
  return cache;
}

// Changes the sizes of both tiers while the cache is in use. Entries that no longer fit are
// evicted. A second tier that the program gave to its cache has the capacity that the program
// chose, and may serve other caches.
Status UpdateTieredCache(const std::shared_ptr<Cache>& cache, int64_t total_capacity,
                         double compressed_secondary_ratio, TieredAdmissionPolicy adm_policy) {
  ClockCache* const clock = cache == nullptr ? nullptr : ClockCache::From(cache.get());
  if (clock == nullptr || !clock->owns_second_tier()) {
    return Status::InvalidArgument("UpdateTieredCache: not a cache of NewTieredCache()");
  }
  if (adm_policy == kAdmPolicyThreeQueue) {
    return Status::NotSupported("UpdateTieredCache: a third tier is not built");
  }
  const bool keeps_share = compressed_secondary_ratio == std::numeric_limits<double>::max();
  if (!keeps_share && !IsShare(compressed_secondary_ratio)) {
    return Status::InvalidArgument(
        StrCat("UpdateTieredCache: compressed_secondary_ratio must be from 0 to 1"));
  }
  if (adm_policy != kAdmPolicyMax) clock->SetDemotion(DemotionOf(adm_policy));
  if (total_capacity < 0 && keeps_share) return Status::OK();
  return clock->Divide(
      total_capacity < 0 ? clock->GetCapacity() : static_cast<size_t>(total_capacity),
      keeps_share ? clock->second_tier_share() : compressed_secondary_ratio);
}

}  // namespace ashlar
