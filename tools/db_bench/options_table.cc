// SPDX-License-Identifier: Apache-2.0
//
// Flags of indexes, filters and the block cache with its second tier.
#include <memory>

#include "ashlar/cache.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "tools/db_bench/blob_options.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options.h"

namespace {
const ashlar::BlockBasedTableOptions& Defaults() {
  static const ashlar::BlockBasedTableOptions defaults;
  return defaults;
}
}  // namespace

DEFINE_int64(cache_size, 32 << 20, "bytes of the block cache; 0: none; negative: the default one");
DEFINE_int32(cache_numshardbits, -1, "the cache has 2 to this many shards; negative: by size");
DEFINE_string(cache_type, "lru_cache", "lru_cache, hyper_clock_cache or auto_hyper_clock_cache");
DEFINE_double(cache_high_pri_pool_ratio, 0, "share of the cache for blocks of high priority");
DEFINE_double(cache_low_pri_pool_ratio, 0, "the same of low priority");
DEFINE_bool(use_compressed_secondary_cache, false, "the cache has a compressed second tier");
DEFINE_int64(compressed_secondary_cache_size, 32 << 20, "bytes of it");
DEFINE_int32(compressed_secondary_cache_numshardbits, 6, "it has 2 to this many shards");
DEFINE_double(compressed_secondary_cache_high_pri_pool_ratio, 0, "share for high priority");
DEFINE_double(compressed_secondary_cache_low_pri_pool_ratio, 0, "share for low priority");
DEFINE_string(compressed_secondary_cache_compression_type, "lz4", "of it: as --compression_type");
DEFINE_int64(prepopulate_block_cache, 0, "1: a flush puts its blocks into the cache");
DEFINE_bool(partition_index, false, "the index is divided into partitions");
DEFINE_bool(partition_index_and_filters, false, "the filter too");
DEFINE_bool(index_with_first_key, false, "the index holds the first key of each block");
DEFINE_int32(index_block_restart_interval, Defaults().index_block_restart_interval,
             "keys between two restarts of an index block");
DEFINE_bool(enable_index_compression, Defaults().enable_index_compression,
            "indexes are compressed");
DEFINE_int64(metadata_block_size, static_cast<int64_t>(Defaults().metadata_block_size),
             "bytes of a partition");
DEFINE_bool(pin_top_level_index_and_filter, false, "pin what finds the partitions");
DEFINE_bool(block_align, Defaults().block_align, "no block crosses a page; not with compression");
DEFINE_bool(optimize_filters_for_memory, Defaults().optimize_filters_for_memory,
            "filters are sized by what the allocator gives");

namespace ashlar {
namespace bench {

Status MakeBlockCache(std::shared_ptr<Cache>* cache) {
  if (FLAGS_cache_size <= 0) return Status::OK();
  LRUCacheOptions lru(static_cast<size_t>(FLAGS_cache_size), FLAGS_cache_numshardbits, false,
                      FLAGS_cache_high_pri_pool_ratio, nullptr, kDefaultToAdaptiveMutex,
                      kDefaultCacheMetadataChargePolicy, FLAGS_cache_low_pri_pool_ratio);
  if (FLAGS_use_compressed_secondary_cache) {
    CompressedSecondaryCacheOptions tier(static_cast<size_t>(FLAGS_compressed_secondary_cache_size),
                                         FLAGS_compressed_secondary_cache_numshardbits, false,
                                         FLAGS_compressed_secondary_cache_high_pri_pool_ratio,
                                         FLAGS_compressed_secondary_cache_low_pri_pool_ratio);
    const Status status =
        ParseCompression("--compressed_secondary_cache_compression_type",
                         FLAGS_compressed_secondary_cache_compression_type, &tier.compression_type);
    if (!status.ok()) return status;
    lru.secondary_cache = tier.MakeSharedSecondaryCache();
    if (lru.secondary_cache == nullptr) {
      return Status::InvalidArgument(
          "no second tier can be made of --compressed_secondary_cache_*");
    }
  }
  if (FLAGS_cache_type == "lru_cache") {
    *cache = lru.MakeSharedCache();
  } else if (FLAGS_cache_type == "hyper_clock_cache" ||
             FLAGS_cache_type == "auto_hyper_clock_cache") {
    HyperClockCacheOptions clock(lru.capacity, 0, lru.num_shard_bits);
    clock.secondary_cache = lru.secondary_cache;
    *cache = clock.MakeSharedCache();
  } else {
    return Status::InvalidArgument("--cache_type: lru_cache or hyper_clock_cache, not",
                                   FLAGS_cache_type);
  }
  if (*cache == nullptr) return Status::InvalidArgument("no cache can be made of --cache_*");
  return Status::OK();
}

void SetIndex(BlockBasedTableOptions* table) {
  if (FLAGS_partition_index || FLAGS_partition_index_and_filters) {
    table->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  }
  if (FLAGS_index_with_first_key) {
    table->index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
  }
  table->partition_filters = FLAGS_partition_index_and_filters;
  table->index_block_restart_interval = FLAGS_index_block_restart_interval;
  table->enable_index_compression = FLAGS_enable_index_compression;
  table->metadata_block_size = static_cast<uint64_t>(FLAGS_metadata_block_size);
  table->pin_top_level_index_and_filter = FLAGS_pin_top_level_index_and_filter;
  table->block_align = FLAGS_block_align;
  table->optimize_filters_for_memory = FLAGS_optimize_filters_for_memory;
  if (FLAGS_prepopulate_block_cache != 0) {
    table->prepopulate_block_cache = BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  }
}

}  // namespace bench
}  // namespace ashlar
