// SPDX-License-Identifier: Apache-2.0
//
// The less common options of a column family. ColumnFamilyOptions in options.h inherits them.
//
// "Dynamic" options may be changed on an open database with DB::SetOptions(). "A hint without
// effect" may have any value. "Not built yet" means that another value than the stated one is
// refused with NotSupported when the family is opened or created.
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

enum CompactionStyle : char {
  kCompactionStyleLevel = 0x0,
  kCompactionStyleUniversal = 0x1,
  kCompactionStyleFIFO = 0x2,
  kCompactionStyleNone = 0x3,  // no automatic compaction
};

// Which file of a level is compacted first.
enum CompactionPri : char {
  kByCompensatedSize = 0x0,       // the largest, tombstones counting more
  kOldestLargestSeqFirst = 0x1,   // the one whose newest entry is oldest
  kOldestSmallestSeqFirst = 0x2,  // the one whose oldest entry is oldest
  kMinOverlappingRatio = 0x3,     // the one that overlaps least with the next level
  kRoundRobin = 0x4,              // the one after the last, by key
};

struct FileTemperatureAge {
  Temperature temperature = Temperature::kUnknown;
  // Seconds.
  uint64_t age = 0;

  bool operator==(const FileTemperatureAge& rhs) const {
    return temperature == rhs.temperature && age == rhs.age;
  }
  bool operator!=(const FileTemperatureAge& rhs) const { return !(*this == rhs); }
};

// Tuning of FIFO compaction: the oldest files are dropped with all that they hold, when they are
// older than AdvancedColumnFamilyOptions::ttl or when all together are too large. Tiers are not
// built: what is about temperatures is a hint without effect.
struct CompactionOptionsFIFO {
  // The oldest files are dropped while all together take more bytes.
  uint64_t max_table_files_size = 1024ull * 1024 * 1024;
  // Merge small files of L0 once there are level0_file_num_compaction_trigger of them.
  bool allow_compaction = false;
  // Deprecated.
  uint64_t age_for_warm = 0;
  // Files older than this move to that tier.
  std::vector<FileTemperatureAge> file_temperature_age_thresholds{};
  bool allow_trivial_copy_when_change_temperature = false;
  uint64_t trivial_copy_buffer_size = 4096;
  // As max_table_files_size, counting blob files too; 0 = off.
  uint64_t max_data_files_size = 0;
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

// Tiers of a block cache.
enum class CacheTier : uint8_t {
  kVolatileTier = 0,
  kVolatileCompressedTier = 0x01,
  kNonVolatileBlockTier = 0x02,
};

enum UpdateStatus {
  UPDATE_FAILED = 0,
  UPDATED_INPLACE = 1,
  UPDATED = 2,
};

enum class PrepopulateBlobCache : uint8_t {
  kDisable = 0x0,
  kFlushOnly = 0x1,
};

// What is checked of the output of a compaction, and of which compactions.
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

struct ASHLAR_EXPORT AdvancedColumnFamilyOptions {
  // Memtables of the family, the active one included; writes stop when all are full. The last one
  // is filled at the pace of the flush before it, to a quarter until that has ended. At least 2.
  // Dynamic.
  int max_write_buffer_number = 2;
  // Sealed memtables that wait for each other and are flushed together, at most
  // max_write_buffer_number-1. A call that flushes, a limit of log or memory, and closing wait for
  // none.
  int min_write_buffer_number_to_merge = 1;
  // Flushed memtables kept for conflict checks: the newest, so that with those that are not flushed
  // they are at least as many bytes; one more is kept at most. 0: none. -1 =
  // max_write_buffer_number*write_buffer_size. A WriteBufferManager that runs out of memory takes
  // them.
  int64_t max_write_buffer_size_to_maintain = 0;
  // Put() overwrites the newest value of its key in the active memtable, if that is as long at
  // least, so that a hot key takes memory once. Given up for it: snapshots (GetSnapshot() returns
  // nullptr while any family has this), iterators that see one state, and writers side by side
  // (allow_concurrent_memtable_write must be false: commits of the database are applied one after
  // the other). Only the default memtable overwrites; others work, but add.
  bool inplace_update_support = false;
  // Of a memtable, for its values: readers copy a value under the lock that its key shares.
  // Dynamic.
  size_t inplace_update_num_locks = 10000;
  // In-memory garbage collection. A hint without effect.
  double experimental_mempurge_threshold = 0.0;
  // With inplace_update_support: makes the value that a Put() of delta_value leaves behind.
  // existing_value is what the key has, nullptr (as is the pointer to its size) if it has none.
  // UPDATED_INPLACE: existing_value was overwritten, and its size set, not to more than it was.
  // UPDATED: the value is in *merged_value. UPDATE_FAILED: the key keeps what it has, and the Put()
  // succeeds. The log holds the deltas, so opening the database calls this again. It must not throw
  // or call the database.
  UpdateStatus (*inplace_callback)(char* existing_value, uint32_t* existing_value_size,
                                   Slice delta_value, std::string* merged_value) = nullptr;
  // Bytes of a memtable's Bloom filter, as share of write_buffer_size, at most 0.25; 0 = no filter.
  // It holds the prefixes of prefix_extractor, if that is set, and whole keys if the next one says
  // so. Lookups of absent keys then cost one cache miss in place of a search. From the next
  // memtable on.
  double memtable_prefix_bloom_size_ratio = 0.0;
  // Whole keys in that filter: it also tells apart keys with a common prefix.
  bool memtable_whole_key_filtering = false;
  // Huge pages for arena. A hint without effect: memtables from 16 MiB on ask for them by themselves.
  size_t memtable_huge_page_size = 0;
  // Keys with the same prefix share an insertion hint, in representations of one's own that insert
  // one at a time. The library's remember where each thread inserted last.
  std::shared_ptr<const SliceTransform> memtable_insert_with_hint_prefix_extractor = nullptr;
  // Memtable filter locality. A hint without effect.
  uint32_t bloom_locality = 0;
  // Bytes by which a memtable grows; 0 = an eighth of write_buffer_size, at most 1 MiB; memtables
  // from 16 MiB on take huge pages of 2 MiB in its place. Dynamic.
  size_t arena_block_size = 0;
  // By level, instead of `compression`; the last entry holds for deeper levels. With dynamic
  // level sizes the second entry is that of the first level in use. Dynamic.
  std::vector<CompressionType> compression_per_level;
  // 1 to 12. Must not be smaller than what the database uses.
  int num_levels = 7;
  // L0 files that slow writes. Dynamic.
  int level0_slowdown_writes_trigger = 20;
  // L0 files that stop writes. Dynamic.
  int level0_stop_writes_trigger = 36;
  // SST size at L1; tables end earlier where that spares later compactions work. Dynamic.
  uint64_t target_file_size_base = 64 * 1048576;
  // Factor per level. Dynamic.
  int target_file_size_multiplier = 1;
  // Count metadata blocks too. A hint without effect.
  bool target_file_size_is_upper_bound = false;
  // Derive the level sizes from that of the last level, so that space amplification stays near
  // 1.1; data goes from L0 straight to the first level that is in use.
  bool level_compaction_dynamic_level_bytes = true;
  // Size factor between levels. Dynamic.
  double max_bytes_for_level_multiplier = 10;
  // Extra factor for the size of each level. Dynamic.
  std::vector<int> max_bytes_for_level_multiplier_additional =
      std::vector<int>(static_cast<size_t>(num_levels), 1);
  // 0 = target_file_size_base*25. Dynamic.
  uint64_t max_compaction_bytes = 0;
  // Bytes that wait for compaction: above it writes slow down; 0 = never. Dynamic.
  uint64_t soft_pending_compaction_bytes_limit = 64 * 1073741824ull;
  // Bytes that wait for compaction: above it writes stop; 0 = never. Dynamic.
  uint64_t hard_pending_compaction_bytes_limit = 256 * 1073741824ull;
  // Which files are merged, and when; kCompactionStyleNone leaves them all as they are. Fixed while
  // the database is open; it may be opened with another one than it was written with.
  CompactionStyle compaction_style = kCompactionStyleLevel;
  // File choice. Dynamic.
  CompactionPri compaction_pri = kMinOverlappingRatio;
  // Tuning of universal compaction.
  CompactionOptionsUniversal compaction_options_universal;
  // Tuning of FIFO compaction.
  CompactionOptionsFIFO compaction_options_fifo;
  // An iterator passes so many versions of one key by steps, and the rest by a seek. Dynamic.
  uint64_t max_sequential_skip_in_iterations = 8;
  // How memtables keep their entries; see memtablerep.h.
  std::shared_ptr<MemTableRepFactory> memtable_factory =
      std::shared_ptr<SkipListFactory>(new SkipListFactory);
  using TablePropertiesCollectorFactories =
      std::vector<std::shared_ptr<TablePropertiesCollectorFactory>>;
  // The program's own properties in table files.
  TablePropertiesCollectorFactories table_properties_collector_factories;
  // Merge eagerly in the memtable after this many operands; 0: never.
  size_t max_successive_merges = 0;
  // Read files too for that; without it only what is in memory is folded.
  bool strict_max_successive_merges = false;
  // Tables of the last level get no filter: for reads that mostly find their key, which saves nine
  // tenths of the filters' memory. Tables there before keep theirs until they are compacted.
  bool optimize_filters_for_hits = false;
  // Every new table is read back before it takes effect, and must have the entries that were
  // written, in their order. Dynamic.
  bool paranoid_file_checks = false;
  // What compactions read back of their tables before they take effect, with
  // kEnableForLocalCompaction: checksums of blocks, entries, the checksum of the file if it has
  // one. Dynamic.
  VerifyOutputFlags verify_output_flags = VerifyOutputFlags::kVerifyNone;
  // Check the order of files whenever their set changes: always done. A hint without effect.
  bool force_consistency_checks = true;
  // Measure background I/O. A hint without effect.
  bool report_bg_io_stats = false;
  // Ingestion-only family. Not built yet: must be the default.
  bool disallow_memtable_writes = false;
  // Seconds after which FIFO drops a file, levelled compaction takes its data down a level, level
  // by level, and universal compaction merges all runs; 0 = never; the default stands for 30 days.
  // Looked at when a flush or a compaction ends, and when the database is opened. Dynamic.
  uint64_t ttl = 0xfffffffffffffffe;
  // Seconds after which a file is rewritten on its level; 0: never. Looked at when compactions are
  // picked. The default: never, or 30 days in a levelled family with a compaction filter.
  uint64_t periodic_compaction_seconds = 0xfffffffffffffffe;
  // A point read is wasted on a table that it searches in vain, to go on to an older one. A table
  // is compacted before its time once so many reads were wasted on it, by samples, for each byte
  // that its compaction rewrites. 0: 1/64; negative: never.
  double read_triggered_compaction_threshold = 0.0;
  // One of so many data blocks is compressed by a fast and a slow algorithm besides, to estimate
  // what the file would take: TableProperties::fast_compression_estimated_data_size and the slow
  // one. 0: none.
  uint64_t sample_for_compression = 0;
  // Tier of the last level. A hint without effect.
  Temperature last_level_temperature = Temperature::kUnknown;
  // Tier of other new SSTs. A hint without effect.
  Temperature default_write_temperature = Temperature::kUnknown;
  // Tier of files whose tier is not recorded. A hint without effect.
  Temperature default_temperature = Temperature::kUnknown;
  // Keep young data off the last level. Not built yet: must be the default.
  uint64_t preclude_last_level_data_seconds = 0;
  // Keep write times without that. Not built yet: must be the default.
  uint64_t preserve_internal_time_seconds = 0;
  // Flushes and compactions write values of min_blob_size on to blob files.
  bool enable_blob_files = false;
  // Bytes. Empty values always stay in the tables.
  uint64_t min_blob_size = 0;
  // Bytes after which a blob file ends and the next one begins.
  uint64_t blob_file_size = 1ULL << 28;
  // Of each value by itself; also where that makes it larger.
  CompressionType blob_compression_type = kNoCompression;
  // Its tuning.
  CompressionOptions blob_compression_opts;
  // Compactions move the values they meet in the oldest blob files.
  bool enable_blob_garbage_collection = false;
  // Which ones: a share, 0 to 1, of the number of blob files.
  double blob_garbage_collection_age_cutoff = 0.25;
  // Share of garbage in those files from which on they are compacted on purpose; 1: never.
  double blob_garbage_collection_force_threshold = 1.0;
  // Bytes read ahead of blob files by compactions; 0 = none.
  uint64_t blob_compaction_readahead_size = 0;
  // First level to which outputs with blob files are written.
  int blob_file_starting_level = 0;
  // Cache for values; may be the block cache. Null: values are not cached.
  std::shared_ptr<Cache> blob_cache = nullptr;
  // Whether what flushes write is put into blob_cache.
  PrepopulateBlobCache prepopulate_blob_cache = PrepopulateBlobCache::kDisable;
  // Write large values to blob files before the memtable. Not built yet: must be the default.
  bool enable_blob_direct_write = false;
  // Blob files written at once by that. A hint without effect.
  uint32_t blob_direct_write_partitions = 1;
  // Which of them gets a value. A hint without effect.
  std::shared_ptr<BlobFilePartitionStrategy> blob_direct_write_partition_strategy = nullptr;
  // Bytes of a checksum of every point entry in memtables: 0 (none), 1, 2, 4 or 8. It is verified
  // whenever the entry is read, by flushes too: Corruption instead of another value. Dynamic, for
  // memtables that begin later.
  uint32_t memtable_protection_bytes_per_key = 0;
  // Strip timestamps at flush when false. Not built yet: must be the default.
  bool persist_user_defined_timestamps = true;
  // Bytes of a checksum of every entry of a data block in memory: 0 (none), 1, 2, 4 or 8. It is
  // made when the block is read and verified whenever the entry is: Corruption instead of another
  // value. Dynamic, for tables that are opened later.
  uint8_t block_protection_bytes_per_key = 0;
  // A last-level file that was kept for a snapshot is rewritten at this age at the earliest, in
  // seconds. Dynamic.
  uint32_t bottommost_file_compaction_delay = 0;
  // Reads check the order of what they pass in memtables, and of the neighbours of what they seek:
  // Corruption instead of entries at a wrong place. Slow. Dynamic, for memtables that begin later.
  bool paranoid_memory_checks = false;
  // With memtable_protection_bytes_per_key: a search in a memtable verifies the checksum of the
  // entry before what it finds, too. Slow.
  bool memtable_verify_per_key_checksum_on_seek = false;
  // Flush when one scan step skips this many hidden entries. A hint without effect.
  uint32_t memtable_op_scan_flush_trigger = 0;
  // Same, averaged over a scan. A hint without effect.
  uint32_t memtable_avg_op_scan_flush_trigger = 0;
  // Turn this many adjacent tombstones met by a scan into a range tombstone; 0 = off. The scan goes
  // forward, reads everything as of now, and leaves the tombstone in the memtable, which must not
  // be empty. Iterators with ReadOptions::table_filter are refused then (InvalidArgument), and
  // ReadOptions::ignore_range_deletions is without effect. Without effect itself where
  // cf_allow_ingest_behind is on: what comes from behind may lie between the deleted keys.
  uint32_t min_tombstones_for_range_conversion = 0;
  // Per-family form of allow_ingest_behind.
  bool cf_allow_ingest_behind = false;
  // Look up the keys of a MultiGet together: always done. A hint without effect.
  bool memtable_batch_lookup_optimization = false;

  // Ignored; kept so that programs which set them compile. Older releases had them.
  int max_write_buffer_number_to_maintain = 0;
  bool level_compaction_dynamic_file_size = true;
  bool ignore_max_compaction_bytes_for_input = true;
  bool check_flush_compaction_key_order = true;  // the order of keys is always checked
  // Older name of last_level_temperature.
  Temperature bottommost_temperature = Temperature::kUnknown;

  AdvancedColumnFamilyOptions();
  explicit AdvancedColumnFamilyOptions(const Options& options);
};

}  // namespace ashlar
