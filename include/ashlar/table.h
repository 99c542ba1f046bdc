// SPDX-License-Identifier: Apache-2.0
//
// Table formats: the options of the block-based format, and the factory that carries them.
//
//   ashlar::BlockBasedTableOptions table_options;
//   table_options.block_cache = ashlar::NewLRUCache(512 << 20);
//   table_options.filter_policy.reset(ashlar::NewBloomFilterPolicy(10));
//   options.table_factory.reset(ashlar::NewBlockBasedTableFactory(table_options));
//
// "A hint without effect" may have any value. "Not built yet" means that another value than the
// stated one is refused with NotSupported at open. Plain, cuckoo and adaptive tables are declared
// only: a database with one of these is refused.
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

// Where the blocks of one read are allocated.
class ASHLAR_EXPORT ReadScopedBlockBufferProvider {
 public:
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

// Which metadata blocks stay in the cache while their table is open. Of blocks that are not cached
// (cache_index_and_filter_blocks) only the tier of partitions means something.
enum class PinningTier {
  kFallback,  // as the older options say
  kNone,
  kFlushedAndSimilar,  // of L0 files of up to one and a half write buffers
  kAll,
};

struct MetadataCacheOptions {
  PinningTier top_level_index_pinning = PinningTier::kFallback;
  PinningTier partition_pinning = PinningTier::kFallback;
  PinningTier unpartitioned_pinning = PinningTier::kFallback;
};

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

// Which memory besides blocks is charged to the block cache: `options`, unless overridden.
struct CacheUsageOptions {
  CacheEntryRoleOptions options;
  std::map<CacheEntryRole, CacheEntryRoleOptions> options_overrides;
};

struct BlockBasedTableOptions {
  static const char* kName() { return "BlockTableOptions"; }

  // When a data block ends; nullptr = by size.
  std::shared_ptr<FlushBlockPolicyFactory> flush_block_policy_factory;
  // Keep index and filter blocks, and compression dictionaries, in the block cache, where they can
  // be evicted, rather than with the open table: one budget for blocks of every kind. Needs a block
  // cache. With the open table they do not count against the capacity of the cache, unless
  // cache_usage_options charges CacheEntryRole::kBlockBasedTableReader.
  bool cache_index_and_filter_blocks = false;
  // They stay longer than data blocks that are used as often.
  bool cache_index_and_filter_blocks_with_high_priority = true;
  // Keep those of L0 files in the cache while the table is open, and partitions of them too.
  bool pin_l0_filter_and_index_blocks_in_cache = false;
  // The same of the top levels of partitioned indexes, of files on any level. Those of partitioned
  // filters are kept with the table in any case.
  bool pin_top_level_index_and_filter = true;
  // What of it stays while the table is open; takes the place of the two options above.
  MetadataCacheOptions metadata_cache_options;
  enum IndexType : char {
    kBinarySearch = 0x00,
    kHashSearch = 0x01,               // with a hash table of the keys' prefixes
    kTwoLevelIndexSearch = 0x02,      // partitioned
    kBinarySearchWithFirstKey = 0x03  // with the first key of each block
  };
  // Layout of the index that is written; all are read. kHashSearch needs a prefix_extractor; its
  // helpers are for RocksDB, which searches through them.
  IndexType index_type = kBinarySearch;
  enum BlockSearchType : char { kBinary = 0x00, kInterpolation = 0x01, kAuto = 0x02 };
  // Search algorithm inside index blocks. A hint without effect.
  BlockSearchType index_block_search_type = kBinary;
  enum DataBlockIndexType : char {
    kDataBlockBinarySearch = 0,
    kDataBlockBinaryAndHash = 1,
  };
  // Whether data blocks carry a hash index of their keys, a byte or two per entry that does not
  // compress. It saves a point read few comparisons, as blocks that are read again are decoded;
  // zstd takes a quarter longer for it. Left out where the comparator has equal keys with different
  // bytes.
  DataBlockIndexType data_block_index_type = kDataBlockBinarySearch;
  // Entries per bucket of that hash index.
  double data_block_hash_table_util_ratio = 0.75;
  // Of blocks that are written.
  ChecksumType checksum = kXXH3;
  // Use no block cache; block_cache must then be nullptr.
  bool no_block_cache = false;
  // nullptr = each table factory makes its own of 32 MiB.
  std::shared_ptr<Cache> block_cache = nullptr;
  // Page cache on another device. Not built yet: must be nullptr. Not built yet: must be the
  // default.
  std::shared_ptr<PersistentCache> persistent_cache = nullptr;
  // Bytes of entries at which a data block ends, before compression.
  uint64_t block_size = 4 * 1024;
  // A block ends early if it is filled to within this many percent and the next entry does not
  // fit.
  int block_size_deviation = 10;
  // Entries between those stored with their whole key.
  int block_restart_interval = 16;
  // The same for index blocks.
  int index_block_restart_interval = 1;
  // Target size of index/filter partitions, before compression.
  uint64_t metadata_block_size = 4096;
  // Memory beside blocks that is charged to the block cache: kCompressionDictionaryBuildingBuffer
  // (charged by default), kFilterConstruction, kBlockBasedTableReader and kFileMetadata (not by
  // default), the last two while their tables are open. Other roles: InvalidArgument. A strict
  // cache without room keeps tables from being opened, but not from being written.
  CacheUsageOptions cache_usage_options;
  // Write the filter in partitions too. Needs kTwoLevelIndexSearch; without it, it is false.
  bool partition_filters = false;
  // End filter partitions by their own fill rather than with index partitions.
  bool decouple_partitioned_filters = true;
  // Size filters to allocator classes.
  bool optimize_filters_for_memory = true;
  // Share prefixes between keys of a block.
  bool use_delta_encoding = true;
  // nullptr = no filter. See filter_policy.h.
  std::shared_ptr<const FilterPolicy> filter_policy = nullptr;
  // Plug-in index. Not built yet: must be the default.
  std::shared_ptr<UserDefinedIndexFactory> user_defined_index_factory = nullptr;
  // Write no built-in index. Not built yet: must be the default.
  bool use_udi_as_primary_index = false;
  // Refuse tables without the plug-in index. Not built yet: must be the default.
  bool fail_if_no_udi_on_open = false;
  // Put whole keys, besides prefixes, into the filter.
  bool whole_key_filtering = true;
  // Verify filters after building.
  bool detect_filter_construct_corruption = false;
  // Decompress each block once after compressing.
  bool verify_compression = false;
  // Measure read amplification with one bit per so many bytes; 0 = off. The tickers stay 0. A
  // hint without effect.
  uint32_t read_amp_bytes_per_bit = 0;
  // Of the files that are written: 2 to 7; all of these are read. 6 binds every block to its
  // file and place; from 7 on, older readers (RocksDB before 10.4) refuse the file. See
  // DBOptions::write_compatible_with.
  uint32_t format_version = 6;
  // In data blocks, keys first and values behind them: only for RocksDB from 11.0 on, and here.
  bool separate_key_value_in_data_block = false;
  // Index blocks are marked as uniform, for readers that interpolate (RocksDB from 11.1 on), where
  // the gaps between keys have deviation / mean of at most this, in the bytewise order; -1 = never.
  double uniform_cv_threshold = -1;
  // Compress index blocks.
  bool enable_index_compression = true;
  // Align data blocks to pages, or to block_size if that is smaller, by zeros behind them. It must
  // be a power of two, and every compression option kNoCompression.
  bool block_align = false;
  // Data blocks do not lie across multiples of this, a power of two; 0 = they may.
  size_t super_block_alignment_size = 0;
  // 1/n of it is the most that may be spent on zeros in front of a block.
  size_t super_block_alignment_space_overhead_ratio = 128;
  enum class IndexShorteningMode : char {
    kNoShortening,
    kShortenSeparators,
    kShortenSeparatorsAndSuccessor,
  };
  // How index keys are shortened.
  IndexShorteningMode index_shortening = IndexShorteningMode::kShortenSeparators;
  // Limit of the doubling readahead.
  size_t max_auto_readahead_size = 256 * 1024;
  enum class PrepopulateBlockCache : char {
    kDisable,
    kFlushOnly,
    kFlushAndCompaction,
  };
  // Put data blocks of flushes, or of compactions too, in the cache as they are written.
  PrepopulateBlockCache prepopulate_block_cache = PrepopulateBlockCache::kDisable;
  // First readahead.
  size_t initial_auto_readahead_size = 8 * 1024;
  // Sequential reads before readahead starts.
  uint64_t num_file_reads_for_auto_readahead = 2;

  // Ignored; kept so that programs which set it compile. Older releases had it.
  std::shared_ptr<Cache> block_cache_compressed = nullptr;
};

// Names of properties of the block-based format.
struct ASHLAR_EXPORT BlockBasedTablePropertyNames {
  static const std::string kIndexType;
  static const std::string kWholeKeyFiltering;
  static const std::string kPrefixFiltering;
  static const std::string kDecoupledPartitionedFilters;
};

// The caller owns the result.
ASHLAR_EXPORT TableFactory* NewBlockBasedTableFactory(
    const BlockBasedTableOptions& table_options = BlockBasedTableOptions());

enum EncodingType : char {
  kPlain,
  kPrefix,
};

struct ASHLAR_EXPORT PlainTablePropertyNames {
  static const std::string kEncodingType;
  static const std::string kBloomVersion;
  static const std::string kNumBloomBlocks;
};

const uint32_t kPlainTableVariableLength = 0;

struct PlainTableOptions {
  static const char* kName() { return "PlainTableOptions"; }
  uint32_t user_key_len = kPlainTableVariableLength;
  int bloom_bits_per_key = 10;
  double hash_table_ratio = 0.75;
  size_t index_sparseness = 16;
  size_t huge_page_tlb_size = 0;
  EncodingType encoding_type = kPlain;
  bool full_scan_mode = false;
  bool store_index_in_file = false;
};

ASHLAR_EXPORT TableFactory* NewPlainTableFactory(
    const PlainTableOptions& options = PlainTableOptions());

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

struct CuckooTableOptions {
  static const char* kName() { return "CuckooTableOptions"; }
  double hash_table_ratio = 0.9;
  uint32_t max_search_depth = 100;
  uint32_t cuckoo_block_size = 5;
  bool identity_as_first_hash = false;
  bool use_module_hash = true;
};

ASHLAR_EXPORT TableFactory* NewCuckooTableFactory(
    const CuckooTableOptions& table_options = CuckooTableOptions());

// Carries the options of a table format; immutable once it is given to a database. The library
// reads and writes tables itself: the built-in factories return NotSupported and nullptr from
// NewTableReader() and NewTableBuilder().
class ASHLAR_EXPORT TableFactory : public Customizable {
 public:
  ~TableFactory() override {}

  static const char* kBlockCacheOpts() { return "BlockCache"; }
  static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  static const char* kPlainTableName() { return "PlainTable"; }
  static const char* kCuckooTableName() { return "CuckooTable"; }
  static const char* Type() { return "TableFactory"; }
  // "BlockBasedTable", or with options: "{id=BlockBasedTable;block_size=8192}".
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

ASHLAR_EXPORT TableFactory* NewAdaptiveTableFactory(
    std::shared_ptr<TableFactory> table_factory_to_write = nullptr,
    std::shared_ptr<TableFactory> block_based_table_factory = nullptr,
    std::shared_ptr<TableFactory> plain_table_factory = nullptr,
    std::shared_ptr<TableFactory> cuckoo_table_factory = nullptr);

}  // namespace ashlar
