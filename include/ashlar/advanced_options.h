// SPDX-License-Identifier: Apache-2.0
//
// The less common options of a column family. ColumnFamilyOptions in options.h inherits them.
//
// Three remarks recur in the comments:
//   "Dynamic"                the option can be changed on an open database with DB::SetOptions().
//   "A hint without effect"  any value is accepted and ignored.
//   "Not built yet"          any value but the stated one is refused with NotSupported when the
//   family is opened or created.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/compression_type.h"
#include "ashlar/export.h"
#include "ashlar/memtablerep.h"
#include "ashlar/types.h"
#include "ashlar/universal_compaction.h"

namespace ashlar {

class BlobFilePartitionStrategy;
class Slice;
class SliceTransform;
class TablePropertiesCollectorFactory;
struct Options;

// Which files are compacted, and when.
enum CompactionStyle : char {
  kCompactionStyleLevel = 0x0,      // each level below L0 is one sorted run of limited size
  kCompactionStyleUniversal = 0x1,  // sorted runs of similar size are merged
  kCompactionStyleFIFO = 0x2,       // the oldest files are deleted with their data
  kCompactionStyleNone = 0x3,       // no automatic compaction
};

// Which file of a level is compacted first.
enum CompactionPri : char {
  kByCompensatedSize = 0x0,       // the largest file; where deletions prevail, they count as data
  kOldestLargestSeqFirst = 0x1,   // the file whose newest entry is the oldest
  kOldestSmallestSeqFirst = 0x2,  // the file whose oldest entry is the oldest
  kMinOverlappingRatio = 0x3,     // the file with the least overlap in the next level
  kRoundRobin = 0x4,              // the file after the one that was compacted last, by key
};

// The age from which a file belongs on a storage tier.
struct FileTemperatureAge {
  Temperature temperature = Temperature::kUnknown;
  // Seconds.
  uint64_t age = 0;

  bool operator==(const FileTemperatureAge& rhs) const {
    return temperature == rhs.temperature && age == rhs.age;
  }
  bool operator!=(const FileTemperatureAge& rhs) const { return !(*this == rhs); }
};

// Tuning of FIFO compaction, which deletes the oldest files with all their data: files older than
// AdvancedColumnFamilyOptions::ttl, and files above a total size. Before that, files can be written
// again to other storage tiers.
struct CompactionOptionsFIFO {
  // Total bytes of all tables above which the oldest files are deleted. Not used if
  // max_data_files_size is set.
  uint64_t max_table_files_size = 1024ull * 1024 * 1024;
  // Merge small files of L0 when there are level0_file_num_compaction_trigger of them.
  bool allow_compaction = false;
  // Deprecated. A hint without effect.
  uint64_t age_for_warm = 0;
  // Ages in seconds, ascending, from which files are on another tier. The next two: no effect.
  std::vector<FileTemperatureAge> file_temperature_age_thresholds{};
  bool allow_trivial_copy_when_change_temperature = false;
  uint64_t trivial_copy_buffer_size = 4096;
  // The same limit as max_table_files_size, but for tables and blob files together; 0 = no limit.
  uint64_t max_data_files_size = 0;
  // A hint without effect.
  bool use_kv_ratio_compaction = false;

  CompactionOptionsFIFO() {}
  CompactionOptionsFIFO(uint64_t _max_table_files_size, bool _allow_compaction)
      : max_table_files_size(_max_table_files_size), allow_compaction(_allow_compaction) {}

  bool operator==(const CompactionOptionsFIFO& rhs) const {
    return max_table_files_size == rhs.max_table_files_size &&
           allow_compaction == rhs.allow_compaction && age_for_warm == rhs.age_for_warm &&
           file_temperature_age_thresholds == rhs.file_temperature_age_thresholds &&
           allow_trivial_copy_when_change_temperature ==
               rhs.allow_trivial_copy_when_change_temperature &&
           trivial_copy_buffer_size == rhs.trivial_copy_buffer_size &&
           max_data_files_size == rhs.max_data_files_size &&
           use_kv_ratio_compaction == rhs.use_kv_ratio_compaction;
  }
  bool operator!=(const CompactionOptionsFIFO& rhs) const { return !(*this == rhs); }
};

// The tiers of a block cache: memory, compressed memory, and other devices.
enum class CacheTier : uint8_t {
  kVolatileTier = 0,
  kVolatileCompressedTier = 0x01,
  kNonVolatileBlockTier = 0x02,
};

// Result of AdvancedColumnFamilyOptions::inplace_callback.
enum UpdateStatus {
  UPDATE_FAILED = 0,
  UPDATED_INPLACE = 1,
  UPDATED = 2,
};

// When newly written values are put into the blob cache.
enum class PrepopulateBlobCache : uint8_t {
  kDisable = 0x0,
  kFlushOnly = 0x1,
};

// What a compaction verifies in its output files (the first three flags), and for which compactions
// it does so (the next two).
enum class VerifyOutputFlags : uint32_t {
  kVerifyNone = 0x0,
  kVerifyBlockChecksum = 1u << 0,
  kVerifyIteration = 1u << 1,
  kVerifyFileChecksum = 1u << 2,
  kEnableForLocalCompaction = 1u << 10,
  kEnableForRemoteCompaction = 1u << 11,
  kVerifyAll = 0xFFFFFFFF,
};
inline VerifyOutputFlags operator|(VerifyOutputFlags lhs, VerifyOutputFlags rhs) {
  return static_cast<VerifyOutputFlags>(static_cast<uint32_t>(lhs) | static_cast<uint32_t>(rhs));
}
inline VerifyOutputFlags& operator|=(VerifyOutputFlags& lhs, VerifyOutputFlags rhs) {
  return lhs = lhs | rhs;
}
inline VerifyOutputFlags operator&(VerifyOutputFlags lhs, VerifyOutputFlags rhs) {
  return static_cast<VerifyOutputFlags>(static_cast<uint32_t>(lhs) & static_cast<uint32_t>(rhs));
}
inline VerifyOutputFlags& operator&=(VerifyOutputFlags& lhs, VerifyOutputFlags rhs) {
  return lhs = lhs & rhs;
}
inline bool operator!(VerifyOutputFlags flag) { return flag == VerifyOutputFlags::kVerifyNone; }

// ColumnFamilyOptions inherits these options.
struct ASHLAR_EXPORT AdvancedColumnFamilyOptions {
  // Maximum number of memtables of the family, including the active one. Writes stop when all of
  // them are full. The last one may only be filled as fast as the flush before it proceeds, and to
  // at most a quarter until that flush has ended. At least 2. Dynamic.
  int max_write_buffer_number = 2;
  // Number of immutable memtables that are flushed together; at most max_write_buffer_number - 1.
  // Flushes that a call requests, that a limit of WAL size or memory requires, or that happen while
  // closing, do not wait for this number.
  int min_write_buffer_number_to_merge = 1;
  // A hint without effect. RocksDB keeps flushed memtables in memory for the conflict checks of
  // transactions; Ashlar checks tables as well as memtables and needs no such copies.
  int64_t max_write_buffer_size_to_maintain = 0;
  // Let Put() overwrite the newest value of a key in the active memtable if the new value is not
  // longer, so that a frequently written key takes memory only once. The price: no snapshots
  // (GetSnapshot() returns nullptr if any family has this option), iterators do not see one
  // consistent state, and writes are applied one after the other (allow_concurrent_memtable_write
  // must be false). Only the default memtable overwrites values; other memtables work but do not
  // overwrite. Opening is NotSupported while the WAL has transactions of a TransactionDB that have
  // written data and are not decided.
  bool inplace_update_support = false;
  // Number of locks that a memtable uses for inplace_update_support. A reader copies a value while
  // it holds the lock that the key's hash selects. Dynamic.
  size_t inplace_update_num_locks = 10000;
  // Remove obsolete entries from memtables in memory instead of flushing them. A hint without
  // effect.
  double experimental_mempurge_threshold = 0.0;
  // Used with inplace_update_support: computes the value that Put(key, delta_value) stores.
  // existing_value is the current value of the key; if there is none, it and existing_value_size
  // are nullptr. The callback returns one of:
  //   UPDATED_INPLACE  it has overwritten *existing_value and set *existing_value_size, which must
  //   not grow
  //   UPDATED          the new value is in *merged_value
  //   UPDATE_FAILED    the key keeps its value, and Put() returns OK
  // The WAL stores the deltas, so recovery calls the callback again. It must not throw or call the
  // database.
  UpdateStatus (*inplace_callback)(char* existing_value, uint32_t* existing_value_size,
                                   Slice delta_value, std::string* merged_value) = nullptr;
  // Size of the memtable's Bloom filter as a fraction of write_buffer_size, at most 0.25; 0 = no
  // filter. It contains prefixes if prefix_extractor is set, and whole keys if
  // memtable_whole_key_filtering is true. With it, a lookup of an absent key costs one cache miss
  // instead of a search. Dynamic; takes effect with the next memtable.
  double memtable_prefix_bloom_size_ratio = 0.0;
  // Put whole keys into the memtable's Bloom filter, which then also distinguishes keys with the
  // same prefix. Dynamic.
  bool memtable_whole_key_filtering = false;
  // Size of huge pages for memtables. A hint without effect: memtables of 16 MiB and more always
  // ask for huge pages.
  size_t memtable_huge_page_size = 0;
  // Keys with the same prefix share an insertion hint. Only used by custom memtable representations
  // that insert one entry at a time; the built-in ones remember where each thread inserted last.
  std::shared_ptr<const SliceTransform> memtable_insert_with_hint_prefix_extractor = nullptr;
  // If not 0, the stored Bloom filters of PlainTables have their bits of one key in one cache line.
  uint32_t bloom_locality = 0;
  // Bytes by which a memtable grows; 0 = an eighth of write_buffer_size, but at most 1 MiB.
  // Memtables of 16 MiB and more grow by huge pages of 2 MiB instead. Dynamic.
  size_t arena_block_size = 0;
  // Compression of each level, used instead of `compression`. The last element also applies to all
  // deeper levels. With level_compaction_dynamic_level_bytes, the second element applies to the
  // first level below L0 that is in use. Dynamic.
  std::vector<CompressionType> compression_per_level;
  // Number of levels, from 1 to 64; at least 2 with levelled compaction, 3 with ingestion behind.
  // Must not be smaller than the number that the database uses.
  int num_levels = 7;
  // Number of L0 files at which writes are slowed down. Dynamic.
  int level0_slowdown_writes_trigger = 20;
  // Number of L0 files at which writes stop. Dynamic.
  int level0_stop_writes_trigger = 36;
  // Target size of the tables of L1, in bytes. A table ends earlier if that saves work for later
  // compactions. Dynamic.
  uint64_t target_file_size_base = 64 * 1048576;
  // Factor by which the target size of tables grows from level to level. Dynamic.
  int target_file_size_multiplier = 1;
  // Include metadata blocks in the table size. A hint without effect.
  bool target_file_size_is_upper_bound = false;
  // Derive the target sizes of levels from the size of the last level, so that space amplification
  // stays near 1.1. Compactions of L0 write directly to the first level that is in use.
  bool level_compaction_dynamic_level_bytes = true;
  // Factor by which the target size grows from level to level. Dynamic.
  double max_bytes_for_level_multiplier = 10;
  // Additional factor for each level. Dynamic.
  std::vector<int> max_bytes_for_level_multiplier_additional =
      std::vector<int>(static_cast<size_t>(num_levels), 1);
  // Maximum size of one compaction in bytes; 0 = target_file_size_base * 25. Dynamic.
  uint64_t max_compaction_bytes = 0;
  // Estimated bytes that compactions have to rewrite, above which writes are slowed down; 0 =
  // never. Dynamic.
  uint64_t soft_pending_compaction_bytes_limit = 64 * 1073741824ull;
  // The same estimate, above which writes stop; 0 = never. Dynamic.
  uint64_t hard_pending_compaction_bytes_limit = 256 * 1073741824ull;
  // Which files are merged, and when. Fixed while the database is open; a database may be opened
  // with a different style than it was written with.
  CompactionStyle compaction_style = kCompactionStyleLevel;
  // Which file of a level is compacted first. Dynamic.
  CompactionPri compaction_pri = kMinOverlappingRatio;
  // Tuning of universal compaction. Dynamic.
  CompactionOptionsUniversal compaction_options_universal;
  // Tuning of FIFO compaction. Dynamic.
  CompactionOptionsFIFO compaction_options_fifo;
  // An iterator steps over this many versions of the same key; it skips the rest with a seek.
  // Dynamic.
  uint64_t max_sequential_skip_in_iterations = 8;
  // Data structure of the memtables; see memtablerep.h.
  std::shared_ptr<MemTableRepFactory> memtable_factory =
      std::shared_ptr<SkipListFactory>(new SkipListFactory);
  using TablePropertiesCollectorFactories =
      std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;
  // Compute the program's own table properties.
  TablePropertiesCollectorFactories table_properties_collector_factories;
  // Number of operands of a key in the memtable from which Merge() merges them at once; 0 = never.
  // Dynamic.
  size_t max_successive_merges = 0;
  // Allow that merging to read files. If false, operands are merged only if all that is needed is
  // in memory. Dynamic.
  bool strict_max_successive_merges = false;
  // Do not build filters for tables of the last level. Saves nine tenths of the memory of filters,
  // and is useful if most lookups find their key. Existing tables keep their filters until they are
  // compacted. Dynamic.
  bool optimize_filters_for_hits = false;
  // Read every new table back before it is installed, and compare its entries and their order with
  // what was written. Dynamic.
  bool paranoid_file_checks = false;
  // What compactions verify in their output tables before these are installed, if
  // kEnableForLocalCompaction is set: block checksums, entries, the checksum of the file if it has
  // one. Dynamic.
  VerifyOutputFlags verify_output_flags = VerifyOutputFlags::kVerifyNone;
  // Check the order of files whenever the set of files changes; always done. A hint without effect.
  bool force_consistency_checks = true;
  // Measure the I/O of background jobs. A hint without effect.
  bool report_bg_io_stats = false;
  // Take data by ingestion only: writes fail with InvalidArgument. Logged ones are recovered.
  bool disallow_memtable_writes = false;
  // Age in seconds after which a FIFO compaction deletes a file, levelled compaction moves its data
  // down one level at a time, and universal compaction merges all runs. 0 = never; the default
  // means 30 days, and never with PlainTables or CuckooTables. Checked when a flush or compaction
  // ends and when the database is opened. Dynamic, but a change has no effect on universal
  // compaction, which looks at periodic_compaction_seconds once it is open.
  uint64_t ttl = 0xfffffffffffffffe;
  // Age in seconds after which a file is rewritten on its level; 0 = never. The default means
  // never, or 30 days in a family with levelled compaction and a compaction filter. Without effect
  // with FIFO compaction, for which `ttl` is the age. Checked whenever a compaction is picked.
  // Dynamic.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;
  // Point reads that search a table without finding the key there, and continue with an older
  // table, waste work on that table. A table is compacted early when the number of such reads,
  // estimated from samples, exceeds this threshold times the bytes that the compaction rewrites. 0
  // = 1/64; negative = never. Dynamic.
  double read_triggered_compaction_threshold = 0.0;
  // One data block out of this many is also compressed with a fast and a slow algorithm, to
  // estimate their effect: see TableProperties::fast_compression_estimated_data_size and
  // slow_compression_estimated_data_size. 0 = none. Dynamic.
  uint64_t sample_for_compression = 0;
  // Storage tier of the tables that compactions write to the last level. Dynamic.
  Temperature last_level_temperature = Temperature::kUnknown;
  // Storage tier of all other new tables of flushes and compactions. Dynamic.
  Temperature default_write_temperature = Temperature::kUnknown;
  // Storage tier that is assumed when a table is read for which none is recorded.
  Temperature default_temperature = Temperature::kUnknown;
  // Seconds during which compactions keep data off the last level; 0 = not at all. Dynamic.
  uint64_t preclude_last_level_data_seconds = 0;
  // Seconds during which sequence numbers and their times are kept in tables; 0 = no. Dynamic.
  uint64_t preserve_internal_time_seconds = 0;
  // Flushes and compactions write values of at least min_blob_size bytes to blob files. Dynamic.
  bool enable_blob_files = false;
  // Size in bytes from which a value is written to a blob file. Empty values always stay in the
  // tables. Dynamic.
  uint64_t min_blob_size = 0;
  // Bytes after which a blob file ends and the next one begins. Dynamic.
  uint64_t blob_file_size = 1ULL << 28;
  // Compression of the values in blob files. Each value is compressed separately, and stored
  // compressed even if that makes it larger. Dynamic.
  CompressionType blob_compression_type = kNoCompression;
  // Parameters of blob_compression_type.
  CompressionOptions blob_compression_opts;
  // Compactions move the values that they find in the oldest blob files to new ones. Dynamic.
  bool enable_blob_garbage_collection = false;
  // The fraction of blob files, from 0 to 1, that count as the oldest. Dynamic.
  double blob_garbage_collection_age_cutoff = 0.25;
  // Fraction of garbage in the oldest blob files from which compactions are started only to move
  // their values; 1 = never. Dynamic.
  double blob_garbage_collection_force_threshold = 1.0;
  // Bytes that compactions read ahead in blob files; 0 = none. Dynamic.
  uint64_t blob_compaction_readahead_size = 0;
  // Values are written to blob files only by jobs whose output goes to this level or a deeper one.
  // Dynamic.
  int blob_file_starting_level = 0;
  // Cache for values of blob files; may be the block cache. nullptr = values are not cached.
  std::shared_ptr<Cache> blob_cache = nullptr;
  // Whether flushes put the values that they write into blob_cache. Dynamic.
  PrepopulateBlobCache prepopulate_blob_cache = PrepopulateBlobCache::kDisable;
  // Write large values to blob files before they get to the memtable. Not built yet: must be the
  // default.
  bool enable_blob_direct_write = false;
  // Number of blob files that enable_blob_direct_write writes in parallel. A hint without effect.
  uint32_t blob_direct_write_partitions = 1;
  // Chooses the blob file for a value. A hint without effect.
  std::shared_ptr<BlobFilePartitionStrategy> blob_direct_write_partition_strategy = nullptr;
  // Size in bytes of a checksum for each point entry in memtables: 0 (none), 1, 2, 4 or 8. It is
  // verified whenever the entry is read, also by flushes; a mismatch is returned as Corruption.
  // Dynamic; takes effect with the next memtable.
  uint32_t memtable_protection_bytes_per_key = 0;
  // If false, timestamps are removed at flush. Not built yet: must be the default.
  bool persist_user_defined_timestamps = true;
  // Size in bytes of a checksum for each entry of data blocks in memory: 0 (none), 1, 2, 4 or 8. It
  // is computed when the block is read and verified whenever the entry is read; a mismatch is
  // returned as Corruption. Dynamic; takes effect with tables that are opened later.
  uint8_t block_protection_bytes_per_key = 0;
  // Minimum age in seconds of a last-level file that is rewritten because a snapshot, for which it
  // kept old versions, was released. Dynamic.
  uint32_t bottommost_file_compaction_delay = 0;
  // Verify the order of the memtable entries that a read passes, and of the neighbours of the entry
  // that it seeks; entries out of order are returned as Corruption. Slow. Dynamic; takes effect
  // with the next memtable.
  bool paranoid_memory_checks = false;
  // Used with memtable_protection_bytes_per_key: a search in a memtable also verifies the checksum
  // of the entry before the one that it finds. Slow.
  bool memtable_verify_per_key_checksum_on_seek = false;
  // Flush when one step of a scan skips this many hidden entries. A hint without effect.
  uint32_t memtable_op_scan_flush_trigger = 0;
  // The same, for the average of a scan. A hint without effect.
  uint32_t memtable_avg_op_scan_flush_trigger = 0;
  // Turn this many adjacent tombstones met by a scan into a range tombstone; 0 = off. The scan goes
  // forward, reads everything as of now, and leaves it in the memtable, which must not be empty.
  // Iterators with ReadOptions::table_filter are refused then, and ignore_range_deletions has no
  // effect. Back at 0, both show deleted keys until CompactRange() has rewritten the whole family.
  // Without effect where cf_allow_ingest_behind is on: keys may come between the deleted ones.
  uint32_t min_tombstones_for_range_conversion = 0;
  // The same as DBOptions::allow_ingest_behind, for one family.
  bool cf_allow_ingest_behind = false;
  // Look up the keys of a MultiGet() together in memtables; always done. A hint without effect.
  bool memtable_batch_lookup_optimization = false;

  // Options of older releases: kept so that programs which set them compile. Ignored.
  int max_write_buffer_number_to_maintain = 0;
  bool level_compaction_dynamic_file_size = true;
  bool ignore_max_compaction_bytes_for_input = true;
  bool check_flush_compaction_key_order = true;  // the order of keys is always checked
  // Older name of last_level_temperature. Ignored.
  Temperature bottommost_temperature = Temperature::kUnknown;

  AdvancedColumnFamilyOptions();
  explicit AdvancedColumnFamilyOptions(const Options& options);
};

}  // namespace ashlar
