// SPDX-License-Identifier: Apache-2.0
//
// Table formats: the options of the block-based format, and the factory that holds them.
//
//   ashlar::BlockBasedTableOptions table_options;
//   table_options.block_cache = ashlar::NewLRUCache(512 << 20);
//   table_options.filter_policy.reset(ashlar::NewBloomFilterPolicy(10));
//   options.table_factory.reset(ashlar::NewBlockBasedTableFactory(table_options));
//
// "A hint without effect" means that any value is accepted and ignored; "not built yet" means that
// any value but the stated one is refused with NotSupported when the database is opened; "dynamic"
// options can be changed with DB::SetOptions(). Tables without blocks are described in
// docs/guide/coming-from-rocksdb.md and docs/formats/plain_table.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/cleanable.h"
#include "ashlar/customizable.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {

class FilterPolicy;
class FlushBlockPolicyFactory;
class PersistentCache;
class RandomAccessFileReader;
class TableBuilder;
class TableFactory;
class TableReader;
class UserDefinedIndexFactory;
class WritableFileWriter;
struct ConfigOptions;
struct TableBuilderOptions;
struct TableReaderOptions;

// Allocates the memory for the blocks of one read. Not built yet: see ReadOptions.
class ASHLAR_EXPORT ReadScopedBlockBufferProvider {
 public:
  // A piece of memory; `cleanup` releases it.
  struct Lease {
    char* data = nullptr;
    size_t size = 0;
    SharedCleanablePtr cleanup;
  };
  virtual ~ReadScopedBlockBufferProvider() {}
  virtual Status Allocate(size_t size, size_t alignment, Lease* out) = 0;
};

// The numbers are stored in table files.
enum ChecksumType : char {
  kNoChecksum = 0x0,
  kCRC32c = 0x1,
  kxxHash = 0x2,
  kxxHash64 = 0x3,
  kXXH3 = 0x4,
};

// Which metadata blocks stay in the block cache as long as their table is open. If metadata blocks
// are not cached (cache_index_and_filter_blocks = false), only the tier of partitions matters.
enum class PinningTier {
  kFallback,           // as the older options say
  kNone,               // no blocks
  kFlushedAndSimilar,  // blocks of L0 files of at most 1.5 write buffers
  kAll,                // blocks of all tables
};

// Pinning of top-level index blocks, of partitions, and of indexes and filters without partitions.
struct MetadataCacheOptions {
  PinningTier top_level_index_pinning = PinningTier::kFallback;
  PinningTier partition_pinning = PinningTier::kFallback;
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

// Whether memory of one kind is charged to the block cache.
struct CacheEntryRoleOptions {
  enum class Decision {
    kEnabled,
    kDisabled,
    kFallback,
  };
  Decision charged = Decision::kFallback;

  bool operator==(const CacheEntryRoleOptions& other) const { return charged == other.charged; }
  bool operator!=(const CacheEntryRoleOptions& other) const { return !(*this == other); }
};

// Which kinds of memory besides blocks are charged to the block cache: as `options` says, unless
// options_overrides has an entry for the kind.
struct CacheUsageOptions {
  CacheEntryRoleOptions options;
  std::map<CacheEntryRole, CacheEntryRoleOptions> options_overrides;
};

// Options of block-based tables. Fixed when the factory is made, except for those that are marked
// as dynamic.
struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; }

  // Decides where a data block ends; nullptr = by size.
  std::shared_ptr<FlushBlockPolicyFactory> flush_block_policy_factory;
  // Keep index blocks, filter blocks and compression dictionaries in the block cache, where they
  // can be evicted and share one budget with data blocks. Needs a block cache. If false, they stay
  // in memory while their table is open, and do not count against the capacity of the cache unless
  // cache_usage_options charges CacheEntryRole::kBlockBasedTableReader.
  bool cache_index_and_filter_blocks = false;
  // Keep index and filter blocks in the cache longer than data blocks that are used as often.
  bool cache_index_and_filter_blocks_with_high_priority = true;
  // Keep the index and filter blocks of L0 files, and their partitions, in the cache while the
  // table is open.
  bool pin_l0_filter_and_index_blocks_in_cache = false;
  // Keep the top level of partitioned indexes in the cache while the table is open, on all levels.
  // The top level of partitioned filters always stays in memory with the table.
  bool pin_top_level_index_and_filter = true;
  // Which metadata blocks stay in the cache while the table is open. Replaces the two options
  // above.
  MetadataCacheOptions metadata_cache_options;
  enum IndexType : char {
    kBinarySearch = 0x00,
    kHashSearch = 0x01,               // with a hash table of key prefixes
    kTwoLevelIndexSearch = 0x02,      // partitioned
    kBinarySearchWithFirstKey = 0x03  // with the first key of each block
  };
  // Layout of the index in new tables; all layouts can be read. kHashSearch needs a
  // prefix_extractor. Its hash table is written for RocksDB, which searches with it; Ashlar does
  // not use it.
  IndexType index_type = kBinarySearch;
  enum BlockSearchType : char { kBinary = 0x00, kInterpolation = 0x01, kAuto = 0x02 };
  // Search algorithm inside index blocks. A hint without effect.
  BlockSearchType index_block_search_type = kBinary;
  enum DataBlockIndexType : char {
    kDataBlockBinarySearch = 0,
    kDataBlockBinaryAndHash = 1,
  };
  // Whether data blocks have a hash index of their keys. It takes one or two bytes per entry that
  // do not compress. It saves a point read only few comparisons, because blocks that are read again
  // are decoded, and compressing a block with zstd takes a quarter longer. Omitted with
  // comparators of the program and with timestamps.
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;
  // Entries per bucket of the hash index of data blocks.
  double data_block_hash_table_util_ratio = 0.75;
  // Type of the block checksums in new tables.
  ChecksumType checksum = kXXH3;
  // Do not use a block cache; block_cache must be nullptr then.
  bool no_block_cache = false;
  // Cache for blocks. nullptr = each table factory creates its own cache of 32 MiB.
  std::shared_ptr<Cache> block_cache = nullptr;
  // A page cache on another device. Not built yet: must be nullptr.
  std::shared_ptr<PersistentCache> persistent_cache = nullptr;
  // Size of the entries, before compression, at which a data block ends. Bytes. Dynamic.
  uint64_t block_size = 4 * 1024;
  // A block ends early if at most this many percent of block_size are free and the next entry does
  // not fit.
  int block_size_deviation = 10;
  // Number of entries from one restart point, which stores the whole key, to the next. Dynamic.
  int block_restart_interval = 16;
  // The same for index blocks.
  int index_block_restart_interval = 1;
  // Target size of index and filter partitions in bytes, before compression.
  uint64_t metadata_block_size = 4096;
  // Memory besides blocks that is charged to the block cache: kCompressionDictionaryBuildingBuffer
  // (charged by default), and kFilterConstruction, kBlockBasedTableReader and kFileMetadata (not
  // charged by default). The last two are charged while their tables are open. Other roles:
  // InvalidArgument. If a cache with a strict capacity limit has no room, tables cannot be opened,
  // but they can still be written.
  CacheUsageOptions cache_usage_options;
  // Write filters in partitions too. Ignored unless index_type is kTwoLevelIndexSearch.
  bool partition_filters = false;
  // End filter partitions by their own size instead of together with index partitions.
  bool decouple_partitioned_filters = true;
  // Choose filter sizes that waste no memory in the allocator.
  bool optimize_filters_for_memory = true;
  // Store only the part of a key that differs from the previous key.
  bool use_delta_encoding = true;
  // Kind of the filters in new tables; nullptr = none. See filter_policy.h.
  std::shared_ptr<const FilterPolicy> filter_policy = nullptr;
  // The program's own index. Not built yet: must be the default.
  std::shared_ptr<UserDefinedIndexFactory> user_defined_index_factory = nullptr;
  // Write no built-in index. Not built yet: must be the default.
  bool use_udi_as_primary_index = false;
  // Refuse tables without the program's own index. Not built yet: must be the default.
  bool fail_if_no_udi_on_open = false;
  // Put whole keys into the filter, in addition to prefixes.
  bool whole_key_filtering = true;
  // Verify each filter after it has been built. Dynamic.
  bool detect_filter_construct_corruption = false;
  // Verify each compressed block by decompressing it.
  bool verify_compression = false;
  // Measure read amplification with one bit per this many bytes; 0 = off. A hint without effect:
  // the tickers stay 0.
  uint32_t read_amp_bytes_per_bit = 0;
  // Format version of new tables, 2 to 7; all of these can be read. From 6 on, each block is bound
  // to its file and offset. Version 7 cannot be read by RocksDB before 10.4. See also
  // DBOptions::write_compatible_with.
  uint32_t format_version = 6;
  // In data blocks, store all keys before all values. Such tables can be read by Ashlar and by
  // RocksDB from 11.0 on.
  bool separate_key_value_in_data_block = false;
  // Mark an index block as uniform if the gaps between its keys, in bytewise order, have a ratio of
  // deviation to mean of at most this; -1 = never. RocksDB from 11.1 on searches such blocks by
  // interpolation.
  double uniform_cv_threshold = -1;
  // Compress index blocks.
  bool enable_index_compression = true;
  // Align data blocks to pages, or to block_size if that is smaller, by zeros after each block.
  // block_size must be a power of two, and all compression options must be kNoCompression.
  bool block_align = false;
  // Data blocks do not cross multiples of this number of bytes, which must be a power of two; 0 =
  // no restriction.
  size_t super_block_alignment_size = 0;
  // At most 1/n of super_block_alignment_size may be wasted on zeros before a block.
  size_t super_block_alignment_space_overhead_ratio = 128;
  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    kShortenSeparatorsAndSuccessor,
  };
  // Whether keys of the index may be replaced by shorter keys between two blocks (separators), and
  // after the last block (successor).
  IndexShorteningMode index_shortening = IndexShorteningMode::kShortenSeparators;
  // Upper limit in bytes of the automatic readahead, which doubles with each read. Dynamic.
  size_t max_auto_readahead_size = 256 * 1024;
  enum class PrepopulateBlockCache : char {
    kDisable,
    kFlushOnly,
    kFlushAndCompaction,
  };
  // Whether data blocks are put into the cache when a flush, or a compaction too, writes them.
  // Dynamic.
  PrepopulateBlockCache prepopulate_block_cache = PrepopulateBlockCache::kDisable;
  // Bytes of the first automatic readahead. Dynamic.
  size_t initial_auto_readahead_size = 8 * 1024;
  // Number of sequential reads after which automatic readahead begins. Dynamic.
  uint64_t num_file_reads_for_auto_readahead = 2;

  // Option of older releases: kept so that programs which set it compile. Ignored.
  std::shared_ptr<Cache> block_cache_compressed = nullptr;
};

// Names of the properties of block-based tables.
struct ASHLAR_EXPORT BlockBasedTablePropertyNames {
  static const std::string kIndexType;
  static const std::string kWholeKeyFiltering;
  static const std::string kPrefixFiltering;
  static const std::string kDecoupledPartitionedFilters;
};

// Creates a factory for block-based tables. The caller owns it.
ASHLAR_EXPORT TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());

// Options and factories of RocksDB's formats without blocks: PlainTables and CuckooTables. Tables
// of all formats are read with any factory; a factory decides what is written. An open table of
// these formats is in memory as a whole. What a format cannot hold, range deletions for example, is
// refused with NotSupported before it is logged.

// How the rows of a PlainTable hold their keys.
enum EncodingType : char {
  kPlain,   // each key whole
  kPrefix,  // a prefix only once for the rows that share it; needs a prefix_extractor
};

// Names of the properties that a PlainTable has besides those of every table.
struct ASHLAR_EXPORT PlainTablePropertyNames {
  static const std::string kEncodingType;
  static const std::string kBloomVersion;
  static const std::string kNumBloomBlocks;
};

// The value of PlainTableOptions::user_key_len with which keys may differ in length.
const uint32_t kPlainTableVariableLength = 0;

struct PlainTableOptions {
  static const char* kName() { return "PlainTableOptions"; }
  // Length of all keys, in bytes. A write of a key of another length is refused.
  uint32_t user_key_len = kPlainTableVariableLength;
  // Bits of the Bloom filter for each prefix, or for each key without a prefix_extractor. 0: no
  // filter.
  int bloom_bits_per_key = 10;
  // Prefixes for each bucket of the hash index, at least 0.01; not 0 needs a prefix_extractor, but
  // in full_scan_mode. 0: the index is a sorted list for binary search.
  double hash_table_ratio = 0.75;
  // The index has an entry for every so many keys of a prefix. 0: for every key.
  size_t index_sparseness = 16;
  // Accepted, stored in OPTIONS files, and without effect: tables are decoded to ordinary memory.
  size_t huge_page_tlb_size = 0;
  EncodingType encoding_type = kPlain;
  // RocksDB reads such tables by scans only, so they need no index.
  bool full_scan_mode = false;
  // Writes index and filter to the file; RocksDB's readers otherwise make them at each opening.
  bool store_index_in_file = false;
};

// Creates a factory that writes PlainTables. The caller owns it.
ASHLAR_EXPORT TableFactory* NewPlainTableFactory(
    const PlainTableOptions& options = PlainTableOptions());

// Names of the properties that a CuckooTable has besides those of every table.
struct ASHLAR_EXPORT CuckooTablePropertyNames {
  static const std::string kEmptyKey;
  static const std::string kValueLength;
  static const std::string kNumHashFunc;
  static const std::string kCuckooBlockSize;
  static const std::string kHashTableSize;
  static const std::string kIsLastLevel;
  static const std::string kIdentityAsFirstHash;
  static const std::string kUseModuleHash;
  static const std::string kUserKeyLength;
};

// A CuckooTable is a hash table of buckets of one size, so all keys have one length, and so have
// all values.
struct CuckooTableOptions {
  static const char* kName() { return "CuckooTableOptions"; }
  // The part of the buckets that is used, from 0.01 to 1.
  double hash_table_ratio = 0.9;
  // How many entries a search for a free bucket may move before another hash function is added.
  uint32_t max_search_depth = 100;
  // Adjacent buckets that a hash value stands for, from 1 to 65,536.
  uint32_t cuckoo_block_size = 5;
  // The first 8 bytes of a key are its first hash value.
  bool identity_as_first_hash = false;
  // The number of buckets need not be a power of two.
  bool use_module_hash = true;
};

// Creates a factory that writes CuckooTables. The caller owns it.
ASHLAR_EXPORT TableFactory* NewCuckooTableFactory(
    const CuckooTableOptions& table_options = CuckooTableOptions());

// Holds the options of a table format; must not be changed after it has been given to a database.
// The library reads and writes tables itself: NewTableReader() and NewTableBuilder() of the
// built-in factories return NotSupported and nullptr.
class ASHLAR_EXPORT TableFactory : public Customizable {
 public:
  ~TableFactory() override {}

  static const char* kBlockCacheOpts() { return "BlockCache"; }
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; }
  static const char* Type() { return "TableFactory"; }
  // Creates a factory from its name, "BlockBasedTable", or from its name and options,
  // "{id=BlockBasedTable;block_size=8192}".
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& id,
                                 std::shared_ptr<TableFactory>* factory);

  virtual Status NewTableReader(const TableReaderOptions& table_reader_options,
                                std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
                                std::unique_ptr<TableReader>* table_reader,
                                bool prefetch_index_and_filter_in_cache = true) const {
    return NewTableReader(ReadOptions(), table_reader_options, std::move(file), file_size,
                          table_reader, prefetch_index_and_filter_in_cache);
  }
  virtual Status NewTableReader(const ReadOptions& ro,
                                const TableReaderOptions& table_reader_options,
                                std::unique_ptr<RandomAccessFileReader>&& file, uint64_t file_size,
                                std::unique_ptr<TableReader>* table_reader,
                                bool prefetch_index_and_filter_in_cache) const = 0;
  virtual TableBuilder* NewTableBuilder(const TableBuilderOptions& table_builder_options,
                                        WritableFileWriter* file) const = 0;
  virtual std::unique_ptr<TableFactory> Clone() const = 0;
  virtual bool IsDeleteRangeSupported() const { return false; }
};

// Creates a factory that writes tables as `table_factory_to_write` does; null: as
// `block_based_table_factory` does, whose options also hold for block-based tables that are read;
// null: the default options. The other factories are accepted and without effect: PlainTables and
// CuckooTables are read without options. The caller owns the result.
ASHLAR_EXPORT TableFactory* NewAdaptiveTableFactory(
    std::shared_ptr<TableFactory> table_factory_to_write = nullptr,
    std::shared_ptr<TableFactory> block_based_table_factory = nullptr,
    std::shared_ptr<TableFactory> plain_table_factory = nullptr,
    std::shared_ptr<TableFactory> cuckoo_table_factory = nullptr);

}  // namespace ashlar
