// SPDX-License-Identifier: Apache-2.0
//
// The options of a column family, the most common ones first.
//
// The order of the rows is the order of the lines in an OPTIONS file and in the info log, so a new
// row goes to the end of its group. A row without a remark on support is honoured, and takes effect
// when the database is opened. Options with Since::kRocksDb119 are left out of files for RocksDB
// 7.8.
#include "ashlar/slice_transform.h"  // complete here: prefix extractors are made by name
#include "db/options/option_table.h"
#include "db/options/other_names.h"

namespace ashlar {
namespace {

using Cf = ColumnFamilyOptions;

constexpr OptionRow kFamilyRows[] = {
    // The objects that decide what the data means. A comparator is accepted only if its name is the
    // one that the MANIFEST has recorded.
    Option<Cf, &Cf::comparator>({"comparator", "order of user keys", Support::kSomeValues}),
    Option<Cf, &Cf::merge_operator>({"merge_operator", "combines the operands of Merge()"}),
    Option<Cf, &Cf::compaction_filter>(
        {"compaction_filter", "one filter object for all compactions; not owned"}),
    Option<Cf, &Cf::compaction_filter_factory>(
        {"compaction_filter_factory", "makes a filter object for each compaction or flush"}),
    // The options that programs change most.
    Option<Cf, &Cf::write_buffer_size>(
        {"write_buffer_size",
         "bytes that a memtable may hold before it becomes immutable and is flushed",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression>({"compression",
                                  "compression of the levels that the next options do not set",
                                  Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::bottommost_compression>(
        {"bottommost_compression",
         "compression of the last level with data; kDisableCompressionOption = as `compression`",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::bottommost_compression_opts>(
        {"bottommost_compression_opts",
         "parameters of bottommost_compression, used if `enabled` is true", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression_opts>({"compression_opts",
                                       "parameters of `compression` and compression_per_level",
                                       Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression_manager>(
        {"compression_manager", "compression algorithms of the program", Support::kDefaultOnly,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::level0_file_num_compaction_trigger>(
        {"level0_file_num_compaction_trigger", "number of L0 files that starts a compaction",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::prefix_extractor>({"prefix_extractor", "extracts the prefix of a key",
                                       Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_bytes_for_level_base>({"max_bytes_for_level_base",
                                               "target size of L1 in bytes", Support::kHonoured,
                                               TakesEffect::kDynamic}),
    Option<Cf, &Cf::disable_auto_compactions>({"disable_auto_compactions",
                                               "only manual compactions run", Support::kHonoured,
                                               TakesEffect::kDynamic}),
    // The factory has options of its own, see table_option_table.cc.
    Option<Cf, &Cf::table_factory>(
        {"table_factory", "format of the tables; nullptr = block-based with default options",
         Support::kSomeValues, TakesEffect::kInside}),
    // Objects and lists that have no text form: only a program can set them.
    ProgramOption<Cf, &Cf::cf_paths>(
        {"cf_paths", "directories for tables and blob files; empty = db_paths"}),
    ProgramOption<Cf, &Cf::compaction_thread_limiter>(
        {"compaction_thread_limiter",
         "limits how many compactions run at the same time in all families that share it"}),
    Option<Cf, &Cf::sst_partitioner_factory>(
        {"sst_partitioner_factory", "adds boundaries at which compactions end an output file"}),
    Option<Cf, &Cf::memtable_max_range_deletions>(
        {"memtable_max_range_deletions", "flush after this many DeleteRange() calls; 0 = no limit",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::uncache_aggressiveness>(
        {"uncache_aggressiveness", "evict blocks of obsolete files from the cache", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    // Memtables: how many there may be, how they are stored, and when they are flushed.
    Option<Cf, &Cf::max_write_buffer_number>(
        {"max_write_buffer_number",
         "maximum number of memtables, including the active one; writes stop when all are full",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::min_write_buffer_number_to_merge>(
        {"min_write_buffer_number_to_merge",
         "number of immutable memtables that are flushed together"}),
    Option<Cf, &Cf::max_write_buffer_size_to_maintain>(
        {"max_write_buffer_size_to_maintain",
         "bytes of flushed memtables that RocksDB keeps for conflict checks; Ashlar's checks need "
         "none",
         Support::kHint}),
    Option<Cf, &Cf::inplace_update_support>(
        {"inplace_update_support",
         "Put() overwrites values in the memtable; excludes snapshots and concurrent writers"}),
    Option<Cf, &Cf::inplace_update_num_locks>(
        {"inplace_update_num_locks", "number of locks of a memtable for inplace_update_support",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::experimental_mempurge_threshold>(
        {"experimental_mempurge_threshold", "remove obsolete entries from memtables in memory",
         Support::kHint, TakesEffect::kDynamic}),
    ProgramOption<Cf, &Cf::inplace_callback>(
        {"inplace_callback",
         "computes the new value of a key from its old value and the value of a Put()"}),
    Option<Cf, &Cf::memtable_prefix_bloom_size_ratio>(
        {"memtable_prefix_bloom_size_ratio",
         "size of the memtable's Bloom filter as a fraction of write_buffer_size, at most 0.25",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_whole_key_filtering>(
        {"memtable_whole_key_filtering", "put whole keys into the memtable's Bloom filter",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_huge_page_size>({"memtable_huge_page_size",
                                              "size of huge pages for memtables", Support::kHint,
                                              TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_insert_with_hint_prefix_extractor>(
        {"memtable_insert_with_hint_prefix_extractor",
         "insertion hints by prefix, for custom memtable representations"}),
    Option<Cf, &Cf::bloom_locality>(
        {"bloom_locality", "not 0: cache locality of the stored Bloom filters of PlainTables"}),
    Option<Cf, &Cf::arena_block_size>(
        {"arena_block_size",
         "bytes by which a memtable grows; 0 = an eighth of write_buffer_size, at most 1 MiB",
         Support::kHonoured, TakesEffect::kDynamic}),
    // Levels: their number, their sizes, and at which backlog writes are slowed down or stopped.
    Option<Cf, &Cf::compression_per_level>({"compression_per_level",
                                            "compression of each level, instead of `compression`; "
                                            "the last element also applies to deeper levels",
                                            Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::num_levels>({"num_levels", "number of levels, 1 to 64", Support::kSomeValues,
                                 TakesEffect::kAtOpen, Since::kRocksDb78, 1, 64}),
    Option<Cf, &Cf::level0_slowdown_writes_trigger>(
        {"level0_slowdown_writes_trigger", "number of L0 files at which writes are slowed down",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::level0_stop_writes_trigger>({"level0_stop_writes_trigger",
                                                 "number of L0 files at which writes stop",
                                                 Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::target_file_size_base>({"target_file_size_base",
                                            "target size of the tables of L1 in bytes",
                                            Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::target_file_size_multiplier>({"target_file_size_multiplier",
                                                  "factor of the table size from level to level",
                                                  Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::target_file_size_is_upper_bound>(
        {"target_file_size_is_upper_bound", "include metadata blocks in the table size",
         Support::kHint, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::level_compaction_dynamic_level_bytes>(
        {"level_compaction_dynamic_level_bytes",
         "derive level sizes from the last level, so that space amplification stays near 1.1"}),
    Option<Cf, &Cf::max_bytes_for_level_multiplier>({"max_bytes_for_level_multiplier",
                                                     "factor of the level size from level to level",
                                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_bytes_for_level_multiplier_additional>(
        {"max_bytes_for_level_multiplier_additional", "additional factor for each level",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_compaction_bytes>(
        {"max_compaction_bytes",
         "maximum size of one compaction in bytes; 0 = target_file_size_base*25",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::soft_pending_compaction_bytes_limit>(
        {"soft_pending_compaction_bytes_limit",
         "estimated bytes to compact above which writes are slowed down; 0 = never",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::hard_pending_compaction_bytes_limit>(
        {"hard_pending_compaction_bytes_limit",
         "estimated bytes to compact above which writes stop; 0 = never", Support::kHonoured,
         TakesEffect::kDynamic}),
    // Compactions: which files are merged, and how old data may become.
    Option<Cf, &Cf::compaction_style>(
        {"compaction_style", "which files are merged, and when", Support::kHonoured}),
    Option<Cf, &Cf::compaction_pri>({"compaction_pri", "which file of a level is compacted first",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compaction_options_universal>({"compaction_options_universal",
                                                   "tuning of universal compaction",
                                                   Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compaction_options_fifo>({"compaction_options_fifo",
                                              "tuning of FIFO compaction", Support::kHonoured,
                                              TakesEffect::kDynamic}),
    // Reads, and merges while writing.
    Option<Cf, &Cf::max_sequential_skip_in_iterations>(
        {"max_sequential_skip_in_iterations",
         "number of versions of one key that an iterator steps over before it seeks",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_factory>(
        {"memtable_factory", "data structure of the memtables; see memtablerep.h"}),
    ProgramOption<Cf, &Cf::table_properties_collector_factories>(
        {"table_properties_collector_factories", "compute the program's own table properties"}),
    Option<Cf, &Cf::max_successive_merges>({"max_successive_merges",
                                            "number of operands of a key in the memtable from "
                                            "which Merge() merges them at once; 0 = never",
                                            Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::strict_max_successive_merges>(
        {"strict_max_successive_merges", "allow that merging to read files", Support::kHonoured,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::optimize_filters_for_hits>({"optimize_filters_for_hits",
                                                "do not build filters for tables of the last level",
                                                Support::kHonoured, TakesEffect::kDynamic}),
    // Checks of what was written.
    Option<Cf, &Cf::paranoid_file_checks>(
        {"paranoid_file_checks", "read new tables back and compare them with what was written",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::verify_output_flags>(
        {"verify_output_flags", "what compactions verify in their output tables",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::force_consistency_checks>(
        {"force_consistency_checks",
         "check the order of files whenever the set of files changes; always done",
         Support::kHint}),
    Option<Cf, &Cf::report_bg_io_stats>({"report_bg_io_stats", "measure the I/O of background jobs",
                                         Support::kHint, TakesEffect::kDynamic}),
    Option<Cf, &Cf::disallow_memtable_writes>({"disallow_memtable_writes",
                                               "accept data by ingestion only", Support::kHonoured,
                                               TakesEffect::kAtOpen, Since::kRocksDb119}),
    // Ages, in seconds. See SettleColumnFamilyOptions() for how the two depend on each other.
    Option<Cf, &Cf::ttl>(
        {"ttl", "seconds after which data moves down a level or, with FIFO compaction, is deleted",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::periodic_compaction_seconds>(
        {"periodic_compaction_seconds",
         "seconds after which a file is rewritten on its level; 0 = never", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::read_triggered_compaction_threshold>(
        {"read_triggered_compaction_threshold",
         "wasted reads of a table, per byte to rewrite, that start a compaction; 0 = 1/64, "
         "negative = never",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::sample_for_compression>({"sample_for_compression",
                                             "compress one block out of this many with other "
                                             "algorithms, to estimate their effect; 0 = none",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    // Storage tiers.
    Option<Cf, &Cf::last_level_temperature>({"last_level_temperature",
                                             "storage tier of the last level", Support::kHonoured,
                                             TakesEffect::kDynamic}),
    Option<Cf, &Cf::default_write_temperature>(
        {"default_write_temperature", "storage tier of other new tables", Support::kHonoured,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::default_temperature>(
        {"default_temperature", "storage tier of files whose tier is not recorded",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::preclude_last_level_data_seconds>(
        {"preclude_last_level_data_seconds", "seconds during which data is kept off the last level",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::preserve_internal_time_seconds>(
        {"preserve_internal_time_seconds", "seconds during which the time of writes is kept",
         Support::kHonoured, TakesEffect::kDynamic}),
    // Blob files.
    Option<Cf, &Cf::enable_blob_files>({"enable_blob_files", "write large values to blob files",
                                        Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::min_blob_size>({"min_blob_size",
                                    "size in bytes from which a value is written to a blob file",
                                    Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_file_size>({"blob_file_size",
                                     "bytes after which the next blob file begins",
                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_compression_type>({"blob_compression_type",
                                            "compression of the values in blob files",
                                            Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_compression_opts>(
        {"blob_compression_opts", "parameters of blob_compression_type", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::enable_blob_garbage_collection>(
        {"enable_blob_garbage_collection", "compactions move values out of the oldest blob files",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_garbage_collection_age_cutoff>(
        {"blob_garbage_collection_age_cutoff", "fraction of blob files that count as the oldest",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_garbage_collection_force_threshold>(
        {"blob_garbage_collection_force_threshold",
         "fraction of garbage in these files that starts a compaction; 1 = never",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_compaction_readahead_size>(
        {"blob_compaction_readahead_size",
         "bytes that compactions read ahead in blob files; 0 = none", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_file_starting_level>({"blob_file_starting_level",
                                               "first level whose tables refer to blob files",
                                               Support::kHonoured, TakesEffect::kDynamic}),
    ParsedOption<Cf, &Cf::blob_cache>({"blob_cache",
                                       "cache for values of blob files; may be the block cache",
                                       Support::kHonoured}),
    Option<Cf, &Cf::prepopulate_blob_cache>({"prepopulate_blob_cache",
                                             "whether flushes put values into blob_cache",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::enable_blob_direct_write>(
        {"enable_blob_direct_write",
         "write large values to blob files before they get to the memtable", Support::kDefaultOnly,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::blob_direct_write_partitions>(
        {"blob_direct_write_partitions",
         "number of blob files that enable_blob_direct_write writes in parallel", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    ProgramOption<Cf, &Cf::blob_direct_write_partition_strategy>(
        {"blob_direct_write_partition_strategy", "chooses the blob file for a value",
         Support::kHint}),
    // Checksums of single entries, and options of newer releases.
    Option<Cf, &Cf::memtable_protection_bytes_per_key>(
        {"memtable_protection_bytes_per_key",
         "size of a checksum for each entry in memtables: 0, 1, 2, 4 or 8 bytes",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::persist_user_defined_timestamps>(
        {"persist_user_defined_timestamps", "if false, timestamps are removed at flush",
         Support::kDefaultOnly, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::block_protection_bytes_per_key>(
        {"block_protection_bytes_per_key",
         "size of a checksum for each entry of data blocks in memory: 0, 1, 2, 4 or 8 bytes",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::bottommost_file_compaction_delay>(
        {"bottommost_file_compaction_delay",
         "minimum age in seconds of a last-level file that is rewritten because a snapshot was "
         "released",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::paranoid_memory_checks>(
        {"paranoid_memory_checks", "reads verify the order of entries in memtables",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_verify_per_key_checksum_on_seek>(
        {"memtable_verify_per_key_checksum_on_seek",
         "searches in memtables also verify the checksum of a neighbouring entry",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_op_scan_flush_trigger>(
        {"memtable_op_scan_flush_trigger",
         "flush when one step of a scan skips this many hidden entries", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_avg_op_scan_flush_trigger>(
        {"memtable_avg_op_scan_flush_trigger", "the same, for the average of a scan",
         Support::kHint, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::min_tombstones_for_range_conversion>(
        {"min_tombstones_for_range_conversion",
         "number of adjacent tombstones that a scan replaces with a range tombstone; 0 = off",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::cf_allow_ingest_behind>(
        {"cf_allow_ingest_behind", "the same as allow_ingest_behind, for one family",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_batch_lookup_optimization>(
        {"memtable_batch_lookup_optimization",
         "look up the keys of a MultiGet() together in memtables; always done", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    // Names that are not members, or other names of members.
    TextOption({"block_based_table_factory", "options that change those of table_factory",
                Support::kHonoured, TakesEffect::kInside},
               ParseBlockBasedTable),
    TextOption({"plain_table_factory", "a table_factory of PlainTables"}, ParsePlainTable),
    TextOption({"memtable", "a memtable_factory"}, ParseMemtable),
    TextOption({"table_properties_collectors",
                "table_properties_collector_factories by name: CompactOnDeletionCollector"},
               ParseCollectors),
    // Names of older releases. OPTIONS files of these releases have them, so they must be accepted.
    RetiredOption("bottommost_temperature", TakesEffect::kDynamic),
    RetiredOption("check_flush_compaction_key_order", TakesEffect::kDynamic),
    RetiredOption("compaction_measure_io_stats"),
    RetiredOption("expanded_compaction_factor", TakesEffect::kDynamic),
    RetiredOption("filter_deletes", TakesEffect::kDynamic),
    RetiredOption("hard_rate_limit", TakesEffect::kDynamic),
    RetiredOption("ignore_max_compaction_bytes_for_input", TakesEffect::kDynamic),
    RetiredOption("level_compaction_dynamic_file_size"),
    RetiredOption("max_grandparent_overlap_factor", TakesEffect::kDynamic),
    RetiredOption("max_mem_compaction_level"),
    RetiredOption("max_write_buffer_number_to_maintain"),
    RetiredOption("memtable_prefix_bloom_bits", TakesEffect::kDynamic),
    RetiredOption("memtable_prefix_bloom_huge_page_tlb_size", TakesEffect::kDynamic),
    RetiredOption("memtable_prefix_bloom_probes", TakesEffect::kDynamic),
    RetiredOption("min_partial_merge_operands", TakesEffect::kDynamic),
    RetiredOption("purge_redundant_kvs_while_flush"),
    RetiredOption("rate_limit_delay_max_milliseconds"),
    RetiredOption("snap_refresh_nanos", TakesEffect::kDynamic),
    RetiredOption("soft_rate_limit", TakesEffect::kDynamic),
    RetiredOption("source_compaction_factor", TakesEffect::kDynamic),
    RetiredOption("verify_checksums_in_compaction", TakesEffect::kDynamic),
};

}  // namespace

OptionTable ColumnFamilyOptionTable() { return kFamilyRows; }

}  // namespace ashlar
