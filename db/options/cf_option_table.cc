// SPDX-License-Identifier: Apache-2.0
//
// The options of a column family, the common ones first.
#include "ashlar/slice_transform.h"  // complete here: prefix extractors are made by name
#include "db/options/option_table.h"
#include "db/options/other_names.h"

namespace ashlar {
namespace {

using Cf = ColumnFamilyOptions;

constexpr OptionRow kFamilyRows[] = {
    Option<Cf, &Cf::comparator>({"comparator", "order of user keys", Support::kSomeValues}),
    Option<Cf, &Cf::merge_operator>({"merge_operator", "combines values of Merge()"}),
    Option<Cf, &Cf::compaction_filter>(
        {"compaction_filter", "one filter object for all compactions; not owned"}),
    Option<Cf, &Cf::compaction_filter_factory>(
        {"compaction_filter_factory", "new filter object per compaction, or flush"}),
    Option<Cf, &Cf::write_buffer_size>({"write_buffer_size",
                                        "bytes a memtable may hold before it is sealed and flushed",
                                        Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression>({"compression",
                                  "of all levels that the two options below do not set",
                                  Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::bottommost_compression>(
        {"bottommost_compression",
         "of the last level that has data; kDisableCompressionOption = as `compression`",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::bottommost_compression_opts>(
        {"bottommost_compression_opts", "for bottommost_compression, if its .enabled is true",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression_opts>({"compression_opts",
                                       "tuning of `compression` and compression_per_level",
                                       Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression_manager>({"compression_manager", "plug-in compression",
                                          Support::kDefaultOnly, TakesEffect::kAtOpen,
                                          Since::kRocksDb119}),
    Option<Cf, &Cf::level0_file_num_compaction_trigger>(
        {"level0_file_num_compaction_trigger", "l0 files that start a compaction",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::prefix_extractor>(
        {"prefix_extractor", "the prefix of a key", Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_bytes_for_level_base>({"max_bytes_for_level_base", "size target of L1",
                                               Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::disable_auto_compactions>({"disable_auto_compactions", "manual compaction only",
                                               Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::table_factory>({"table_factory", "nullptr = block based with default options",
                                    Support::kSomeValues, TakesEffect::kInside}),
    ProgramOption<Cf, &Cf::cf_paths>(
        {"cf_paths", "own directories for tables and blob files; empty = db_paths"}),
    ProgramOption<Cf, &Cf::compaction_thread_limiter>(
        {"compaction_thread_limiter",
         "limit on compactions at once, shared by families or databases"}),
    Option<Cf, &Cf::sst_partitioner_factory>(
        {"sst_partitioner_factory", "extra file boundaries, of what compactions write"}),
    Option<Cf, &Cf::memtable_max_range_deletions>(
        {"memtable_max_range_deletions", "flush after this many range deletes; 0 = off",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::uncache_aggressiveness>(
        {"uncache_aggressiveness", "evict blocks of obsolete files from the cache", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::max_write_buffer_number>(
        {"max_write_buffer_number",
         "memtables of the family, the active one included; writes stop when all are full, and the "
         "last one fills at the pace of the flush before it",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::min_write_buffer_number_to_merge>(
        {"min_write_buffer_number_to_merge",
         "sealed memtables that wait for each other to be flushed together, unless something else "
         "wants a flush"}),
    Option<Cf, &Cf::max_write_buffer_size_to_maintain>(
        {"max_write_buffer_size_to_maintain",
         "bytes of memtables, flushed ones included, kept for conflict checks; -1 = "
         "max_write_buffer_number*write_buffer_size"}),
    Option<Cf, &Cf::inplace_update_support>(
        {"inplace_update_support",
         "put overwrites values in the memtable; gives up snapshots and concurrent writers"}),
    Option<Cf, &Cf::inplace_update_num_locks>(
        {"inplace_update_num_locks", "locks of a memtable for values that are overwritten",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::experimental_mempurge_threshold>({"experimental_mempurge_threshold",
                                                      "in-memory garbage collection",
                                                      Support::kHint, TakesEffect::kDynamic}),
    ProgramOption<Cf, &Cf::inplace_callback>(
        {"inplace_callback", "makes the new value of a key from its value and what is put"}),
    Option<Cf, &Cf::memtable_prefix_bloom_size_ratio>(
        {"memtable_prefix_bloom_size_ratio",
         "memtable filter of prefixes as share of write_buffer_size, max 0.25", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_whole_key_filtering>({"memtable_whole_key_filtering",
                                                   "whole keys in that filter", Support::kHonoured,
                                                   TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_huge_page_size>(
        {"memtable_huge_page_size", "huge pages for arena", Support::kHint, TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_insert_with_hint_prefix_extractor>(
        {"memtable_insert_with_hint_prefix_extractor",
         "insertion hints by prefix, for representations of one's own"}),
    Option<Cf, &Cf::bloom_locality>({"bloom_locality", "memtable filter locality", Support::kHint}),
    Option<Cf, &Cf::arena_block_size>(
        {"arena_block_size",
         "bytes by which a memtable grows; 0 = an eighth of write_buffer_size, at most 1 MiB",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compression_per_level>(
        {"compression_per_level",
         "by level, instead of `compression`; the last entry holds for deeper levels",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::num_levels>({"num_levels", "1 to 12", Support::kSomeValues,
                                 TakesEffect::kAtOpen, Since::kRocksDb78, 1, 64}),
    Option<Cf, &Cf::level0_slowdown_writes_trigger>({"level0_slowdown_writes_trigger",
                                                     "l0 files that slow writes",
                                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::level0_stop_writes_trigger>({"level0_stop_writes_trigger",
                                                 "l0 files that stop writes", Support::kHonoured,
                                                 TakesEffect::kDynamic}),
    Option<Cf, &Cf::target_file_size_base>(
        {"target_file_size_base", "SST size at L1", Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::target_file_size_multiplier>({"target_file_size_multiplier", "factor per level",
                                                  Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::target_file_size_is_upper_bound>({"target_file_size_is_upper_bound",
                                                      "count metadata blocks too", Support::kHint,
                                                      TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::level_compaction_dynamic_level_bytes>(
        {"level_compaction_dynamic_level_bytes",
         "derive the level sizes from that of the last level, so that space amplification stays "
         "near 1.1"}),
    Option<Cf, &Cf::max_bytes_for_level_multiplier>({"max_bytes_for_level_multiplier",
                                                     "size factor between levels",
                                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_bytes_for_level_multiplier_additional>(
        {"max_bytes_for_level_multiplier_additional", "extra factor for the size of each level",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_compaction_bytes>({"max_compaction_bytes", "0 = target_file_size_base*25",
                                           Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::soft_pending_compaction_bytes_limit>(
        {"soft_pending_compaction_bytes_limit",
         "bytes that wait for compaction: above it writes slow down; 0 = never", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::hard_pending_compaction_bytes_limit>(
        {"hard_pending_compaction_bytes_limit",
         "bytes that wait for compaction: above it writes stop; 0 = never", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::compaction_style>(
        {"compaction_style", "which tables are merged, and when", Support::kHonoured}),
    Option<Cf, &Cf::compaction_pri>(
        {"compaction_pri", "file choice", Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compaction_options_universal>({"compaction_options_universal",
                                                   "tuning of universal compaction",
                                                   Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::compaction_options_fifo>({"compaction_options_fifo",
                                              "tuning of FIFO compaction", Support::kHonoured,
                                              TakesEffect::kDynamic}),
    Option<Cf, &Cf::max_sequential_skip_in_iterations>(
        {"max_sequential_skip_in_iterations",
         "an iterator passes so many versions of one key by steps, and the rest by a seek",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::memtable_factory>(
        {"memtable_factory", "how memtables keep their entries; see memtablerep.h"}),
    ProgramOption<Cf, &Cf::table_properties_collector_factories>(
        {"table_properties_collector_factories", "the program's own properties in table files"}),
    Option<Cf, &Cf::max_successive_merges>(
        {"max_successive_merges", "merge eagerly in the memtable after this many operands",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::strict_max_successive_merges>({"strict_max_successive_merges",
                                                   "allow disk reads for it", Support::kHonoured,
                                                   TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::optimize_filters_for_hits>({"optimize_filters_for_hits",
                                                "no filter on the last level", Support::kHonoured,
                                                TakesEffect::kDynamic}),
    Option<Cf, &Cf::paranoid_file_checks>(
        {"paranoid_file_checks", "new tables are read back and must have what was written",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::verify_output_flags>(
        {"verify_output_flags", "what compactions read back of their tables", Support::kHonoured,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::force_consistency_checks>(
        {"force_consistency_checks",
         "check the order of files whenever their set changes: always done", Support::kHint}),
    Option<Cf, &Cf::report_bg_io_stats>(
        {"report_bg_io_stats", "measure background I/O", Support::kHint, TakesEffect::kDynamic}),
    Option<Cf, &Cf::disallow_memtable_writes>({"disallow_memtable_writes", "ingestion-only family",
                                               Support::kDefaultOnly, TakesEffect::kAtOpen,
                                               Since::kRocksDb119}),
    Option<Cf, &Cf::ttl>({"ttl", "seconds after which data goes down a level; in FIFO, is dropped",
                          Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::periodic_compaction_seconds>(
        {"periodic_compaction_seconds",
         "seconds after which a file is rewritten on its level, at the next flush, compaction or "
         "change of options; 0 = never",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::read_triggered_compaction_threshold>(
        {"read_triggered_compaction_threshold",
         "reads wasted on a table, per byte of the compaction that they bring about; 0: 1/64, "
         "negative: never",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::sample_for_compression>({"sample_for_compression",
                                             "sample 1/N blocks to estimate ratios",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::last_level_temperature>({"last_level_temperature", "tier of the last level",
                                             Support::kHint, TakesEffect::kDynamic}),
    Option<Cf, &Cf::default_write_temperature>({"default_write_temperature",
                                                "tier of other new SSTs", Support::kHint,
                                                TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::default_temperature>(
        {"default_temperature", "tier of files whose tier is not recorded", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::preclude_last_level_data_seconds>(
        {"preclude_last_level_data_seconds", "keep young data off the last level",
         Support::kDefaultOnly, TakesEffect::kDynamic}),
    Option<Cf, &Cf::preserve_internal_time_seconds>({"preserve_internal_time_seconds",
                                                     "keep write times without that",
                                                     Support::kDefaultOnly, TakesEffect::kDynamic}),
    Option<Cf, &Cf::enable_blob_files>({"enable_blob_files", "store large values apart",
                                        Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::min_blob_size>({"min_blob_size", "smallest value stored apart",
                                    Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_file_size>(
        {"blob_file_size", "target size", Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_compression_type>({"blob_compression_type", "compression of blob files",
                                            Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_compression_opts>({"blob_compression_opts", "its tuning",
                                            Support::kHonoured, TakesEffect::kAtOpen,
                                            Since::kRocksDb119}),
    Option<Cf, &Cf::enable_blob_garbage_collection>({"enable_blob_garbage_collection",
                                                     "move live blobs at compaction",
                                                     Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_garbage_collection_age_cutoff>(
        {"blob_garbage_collection_age_cutoff", "oldest share of files eligible", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_garbage_collection_force_threshold>(
        {"blob_garbage_collection_force_threshold", "garbage share that forces compaction",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_compaction_readahead_size>(
        {"blob_compaction_readahead_size",
         "bytes read ahead of blob files by compactions; 0 = none", Support::kHonoured,
         TakesEffect::kDynamic}),
    Option<Cf, &Cf::blob_file_starting_level>({"blob_file_starting_level",
                                               "first level that separates values",
                                               Support::kHonoured, TakesEffect::kDynamic}),
    ParsedOption<Cf, &Cf::blob_cache>(
        {"blob_cache", "cache for values; may be the block cache", Support::kHonoured}),
    Option<Cf, &Cf::prepopulate_blob_cache>({"prepopulate_blob_cache",
                                             "put freshly written values into blob_cache",
                                             Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::enable_blob_direct_write>(
        {"enable_blob_direct_write", "write large values to blob files before the memtable",
         Support::kDefaultOnly, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::blob_direct_write_partitions>(
        {"blob_direct_write_partitions", "blob files written at once by that", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    ProgramOption<Cf, &Cf::blob_direct_write_partition_strategy>(
        {"blob_direct_write_partition_strategy", "which of them gets a value", Support::kHint}),
    Option<Cf, &Cf::memtable_protection_bytes_per_key>(
        {"memtable_protection_bytes_per_key",
         "of a checksum of every entry in memtables, verified by reads and flushes: 0, 1, 2, 4, 8",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Cf, &Cf::persist_user_defined_timestamps>(
        {"persist_user_defined_timestamps", "strip timestamps at flush when false",
         Support::kDefaultOnly, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::block_protection_bytes_per_key>(
        {"block_protection_bytes_per_key",
         "of a checksum of every entry of data blocks in memory, verified by reads: 0, 1, 2, 4, 8",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::bottommost_file_compaction_delay>(
        {"bottommost_file_compaction_delay",
         "least age in seconds of a last-level file that is rewritten for a released snapshot",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::paranoid_memory_checks>(
        {"paranoid_memory_checks", "reads check the order of entries in memtables",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_verify_per_key_checksum_on_seek>(
        {"memtable_verify_per_key_checksum_on_seek",
         "searches in memtables verify the checksum of a neighbour too", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_op_scan_flush_trigger>(
        {"memtable_op_scan_flush_trigger",
         "flush when one scan step skips this many hidden entries", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_avg_op_scan_flush_trigger>(
        {"memtable_avg_op_scan_flush_trigger", "same, averaged over a scan", Support::kHint,
         TakesEffect::kDynamic, Since::kRocksDb119}),
    Option<Cf, &Cf::min_tombstones_for_range_conversion>(
        {"min_tombstones_for_range_conversion",
         "turn this many adjacent tombstones met by a scan into a range tombstone; 0 = off",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::cf_allow_ingest_behind>(
        {"cf_allow_ingest_behind", "per-family form of allow_ingest_behind", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Cf, &Cf::memtable_batch_lookup_optimization>(
        {"memtable_batch_lookup_optimization",
         "look up the keys of a MultiGet together: always done", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    // Not members, or not by that name.
    TextOption({"block_based_table_factory", "options on top of those that table_factory has",
                Support::kHonoured, TakesEffect::kInside},
               ParseBlockBasedTable),
    TextOption({"plain_table_factory", "a table_factory: named only", Support::kSomeValues},
               ParsePlainTable),
    TextOption({"memtable", "a memtable_factory"}, ParseMemtable),
    TextOption({"table_properties_collectors",
                "table_properties_collector_factories by name: CompactOnDeletionCollector"},
               ParseCollectors),
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
