// SPDX-License-Identifier: Apache-2.0
//
// Flags of tables, indexes, filters, the block cache with its second tier, and blob files.
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options.h"

namespace {
// Functions, because flags are static objects, which are constructed in no defined order.
const ashlar::BlockBasedTableOptions& TableDefaults() {
  static const ashlar::BlockBasedTableOptions defaults;
  return defaults;
}
const ashlar::ColumnFamilyOptions& FamilyDefaults() {
  static const ashlar::ColumnFamilyOptions defaults;
  return defaults;
}
}  // namespace

// Filters, blocks and the index.
DEFINE_double(bloom_bits, -1, "bits per key of the Bloom filter; 0 or less: no filter");
DEFINE_bool(use_ribbon_filter, false, "use Ribbon filters instead of Bloom filters");
DEFINE_int32(block_size, static_cast<int32_t>(TableDefaults().block_size), "bytes of a data block");
DEFINE_int32(block_restart_interval, TableDefaults().block_restart_interval,
             "keys between two restart points of a data block");
DEFINE_bool(use_data_block_hash_index,
            TableDefaults().data_block_index_type ==
                ashlar::BlockBasedTableOptions::kDataBlockBinaryAndHash,
            "data blocks have a hash index of their keys");
DEFINE_double(data_block_hash_table_util_ratio, TableDefaults().data_block_hash_table_util_ratio,
              "entries per bucket of the hash index of a data block");
DEFINE_int32(format_version, static_cast<int32_t>(TableDefaults().format_version),
             "version of the table format");
DEFINE_int32(checksum_type, static_cast<int32_t>(TableDefaults().checksum),
             "ChecksumType of blocks, as a number");
DEFINE_bool(cache_index_and_filter_blocks, TableDefaults().cache_index_and_filter_blocks,
            "keep index and filter blocks in the block cache");
DEFINE_bool(pin_l0_filter_and_index_blocks_in_cache,
            TableDefaults().pin_l0_filter_and_index_blocks_in_cache,
            "pin the index and filter blocks of level 0 in the block cache");
DEFINE_bool(whole_key_filtering, TableDefaults().whole_key_filtering, "filters contain whole keys");
DEFINE_bool(partition_index, false, "divide the index into partitions");
DEFINE_bool(partition_index_and_filters, false, "divide index and filter into partitions");
DEFINE_bool(index_with_first_key, false, "the index contains the first key of each block");
DEFINE_int32(index_block_restart_interval, TableDefaults().index_block_restart_interval,
             "keys between two restart points of an index block");
DEFINE_bool(enable_index_compression, TableDefaults().enable_index_compression,
            "compress index blocks");
DEFINE_int64(metadata_block_size, static_cast<int64_t>(TableDefaults().metadata_block_size),
             "bytes of a partition of index or filter");
DEFINE_bool(pin_top_level_index_and_filter, false, "pin the top-level blocks of partitions");
DEFINE_bool(block_align, TableDefaults().block_align,
            "no block crosses a page boundary; not with compression");
DEFINE_bool(optimize_filters_for_memory, TableDefaults().optimize_filters_for_memory,
            "size filters to fit the size classes of the allocator");

// The block cache and its second tier.
DEFINE_int64(cache_size, 32 << 20,
             "bytes of the block cache; 0: no cache; negative: the default cache");
DEFINE_int32(cache_numshardbits, -1,
             "binary logarithm of the number of cache shards; negative: chosen by size");
DEFINE_string(cache_type, "lru_cache",
              "lru_cache, hyper_clock_cache, fixed_hyper_clock_cache or auto_hyper_clock_cache");
DEFINE_double(cache_high_pri_pool_ratio, 0, "share of the cache for blocks of high priority");
DEFINE_double(cache_low_pri_pool_ratio, 0, "share of the cache for blocks of low priority");
DEFINE_bool(use_compressed_secondary_cache, false, "the cache has a compressed second tier");
DEFINE_int64(compressed_secondary_cache_size, 32 << 20, "bytes of the second tier");
DEFINE_int32(compressed_secondary_cache_numshardbits, 6,
             "binary logarithm of the number of shards of the second tier");
DEFINE_double(compressed_secondary_cache_high_pri_pool_ratio, 0,
              "share of the second tier for blocks of high priority");
DEFINE_double(compressed_secondary_cache_low_pri_pool_ratio, 0,
              "share of the second tier for blocks of low priority");
DEFINE_string(compressed_secondary_cache_compression_type, "lz4",
              "compression of the second tier; values as for --compression_type");
DEFINE_int64(prepopulate_block_cache, 0, "1: flushes put their blocks into the block cache");

// Blob files.
DEFINE_bool(enable_blob_files, FamilyDefaults().enable_blob_files,
            "store large values in blob files");
DEFINE_uint64(min_blob_size, FamilyDefaults().min_blob_size,
              "bytes of the smallest value that goes to a blob file");
DEFINE_uint64(blob_file_size, FamilyDefaults().blob_file_size, "bytes of a full blob file");
DEFINE_string(blob_compression_type, "none", "none, snappy, zlib, bzip2, lz4, lz4hc or zstd");
DEFINE_bool(enable_blob_garbage_collection, FamilyDefaults().enable_blob_garbage_collection,
            "compactions move live values out of old blob files");
DEFINE_double(blob_garbage_collection_age_cutoff,
              FamilyDefaults().blob_garbage_collection_age_cutoff,
              "share of the blob files, oldest first, that counts as old");
DEFINE_double(blob_garbage_collection_force_threshold,
              FamilyDefaults().blob_garbage_collection_force_threshold,
              "share of garbage in old blob files that starts a compaction; 1: never");
DEFINE_uint64(blob_compaction_readahead_size, FamilyDefaults().blob_compaction_readahead_size,
              "bytes that compactions read ahead in blob files; 0: no readahead");
DEFINE_int32(blob_file_starting_level, FamilyDefaults().blob_file_starting_level,
             "first level whose tables store values in blob files");
DEFINE_bool(use_blob_cache, false, "cache large values that were read");
DEFINE_bool(use_shared_block_and_blob_cache, true,
            "cache large values in the block cache instead of a separate cache");
DEFINE_uint64(blob_cache_size, 8 << 20, "bytes of the separate cache of large values");
DEFINE_int32(blob_cache_numshardbits, 6,
             "binary logarithm of its number of shards; negative: chosen by size");
DEFINE_int32(prepopulate_blob_cache, 0, "1: flushes put large values into the cache");

namespace ashlar {
namespace bench {
namespace {

struct NamedCompression {
  const char* name;
  CompressionType type;
};
// The names of the flags, which are those of RocksDB's db_bench.
constexpr NamedCompression kCompressions[] = {
    {"none", kNoCompression},
    {"snappy", kSnappyCompression},
    {"zlib", kZlibCompression},
    {"bzip2", kBZip2Compression},
    {"lz4", kLZ4Compression},
    {"lz4hc", kLZ4HCCompression},
    {"zstd", kZSTD},
};

// Sets the options of indexes and filters. If several flags choose an index type,
// --index_with_first_key wins.
void SetIndex(BlockBasedTableOptions* table) {
  assert(table != nullptr);
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

}  // namespace

Status ParseCompression(const char* flag, const std::string& name, CompressionType* type) {
  for (const NamedCompression& known : kCompressions) {
    if (name == known.name) {
      *type = known.type;
      return Status::OK();
    }
  }
  return Status::InvalidArgument(std::string(flag) + ": no such compression", name);
}

// No cache at all if --cache_size is not positive.
Status MakeBlockCache(std::shared_ptr<Cache>* cache) {
  if (FLAGS_cache_size <= 0) return Status::OK();
  // Also carries the settings that a clock cache shares with it.
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
      return Status::InvalidArgument("--compressed_secondary_cache_*: no cache has these settings");
    }
  }
  if (FLAGS_cache_type == "lru_cache") {
    *cache = lru.MakeSharedCache();
  } else if (FLAGS_cache_type == "hyper_clock_cache" ||
             FLAGS_cache_type == "fixed_hyper_clock_cache" ||
             FLAGS_cache_type == "auto_hyper_clock_cache") {
    // One cache for the three names: its table grows as needed.
    HyperClockCacheOptions clock(lru.capacity, 0, lru.num_shard_bits);
    clock.secondary_cache = lru.secondary_cache;
    *cache = clock.MakeSharedCache();
  } else {
    return Status::InvalidArgument("--cache_type: lru_cache or hyper_clock_cache, not",
                                   FLAGS_cache_type);
  }
  if (*cache == nullptr) {
    return Status::InvalidArgument("--cache_*: no cache has these settings");
  }
  return Status::OK();
}

std::shared_ptr<TableFactory> MakeTableFactory(const std::shared_ptr<Cache>& block_cache) {
  BlockBasedTableOptions table;
  table.block_size = static_cast<size_t>(FLAGS_block_size);
  table.block_restart_interval = FLAGS_block_restart_interval;
  table.format_version = static_cast<uint32_t>(FLAGS_format_version);
  table.checksum = static_cast<ChecksumType>(FLAGS_checksum_type);
  table.cache_index_and_filter_blocks = FLAGS_cache_index_and_filter_blocks;
  table.pin_l0_filter_and_index_blocks_in_cache = FLAGS_pin_l0_filter_and_index_blocks_in_cache;
  table.whole_key_filtering = FLAGS_whole_key_filtering;
  SetIndex(&table);
  if (FLAGS_bloom_bits > 0) {
    table.filter_policy.reset(FLAGS_use_ribbon_filter ? NewRibbonFilterPolicy(FLAGS_bloom_bits)
                                                      : NewBloomFilterPolicy(FLAGS_bloom_bits));
  }
  if (FLAGS_use_data_block_hash_index) {
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
    table.data_block_hash_table_util_ratio = FLAGS_data_block_hash_table_util_ratio;
  } else {
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinarySearch;
  }
  table.block_cache = block_cache;
  // With a negative size the factory makes its own default cache.
  table.no_block_cache = FLAGS_cache_size == 0;
  return std::shared_ptr<TableFactory>(NewBlockBasedTableFactory(table));
}

// Sets the options of blob files. `block_cache` may be null; then --use_shared_block_and_blob_cache
// is an error, because there is no cache that blobs could share with blocks.
Status SetBlobs(const std::shared_ptr<Cache>& block_cache, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  options->enable_blob_files = FLAGS_enable_blob_files;
  options->min_blob_size = FLAGS_min_blob_size;
  options->blob_file_size = FLAGS_blob_file_size;
  options->enable_blob_garbage_collection = FLAGS_enable_blob_garbage_collection;
  options->blob_garbage_collection_age_cutoff = FLAGS_blob_garbage_collection_age_cutoff;
  options->blob_garbage_collection_force_threshold = FLAGS_blob_garbage_collection_force_threshold;
  options->blob_compaction_readahead_size = FLAGS_blob_compaction_readahead_size;
  options->blob_file_starting_level = FLAGS_blob_file_starting_level;
  if (FLAGS_use_blob_cache) {
    options->blob_cache = FLAGS_use_shared_block_and_blob_cache
                              ? block_cache
                              : NewLRUCache(FLAGS_blob_cache_size, FLAGS_blob_cache_numshardbits);
    if (options->blob_cache == nullptr) {
      return Status::InvalidArgument("--use_blob_cache: there is no block cache to share",
                                     "set --cache_size, or --use_shared_block_and_blob_cache=0");
    }
    if (FLAGS_prepopulate_blob_cache == 1) {
      options->prepopulate_blob_cache = PrepopulateBlobCache::kFlushOnly;
    } else if (FLAGS_prepopulate_blob_cache != 0) {
      return Status::InvalidArgument("--prepopulate_blob_cache: 0 or 1");
    }
  }
  return ParseCompression("--blob_compression_type", FLAGS_blob_compression_type,
                          &options->blob_compression_type);
}

}  // namespace bench
}  // namespace ashlar
