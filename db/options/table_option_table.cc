// SPDX-License-Identifier: Apache-2.0
//
// The options of the block-based table format, and of the plain format, which can only be named.
//
// The options describe new tables only; tables that exist are read as they were written. The order
// of the rows is that of the lines in OPTIONS files.
#include "db/options/option_table.h"

namespace ashlar {
namespace {

using Table = BlockBasedTableOptions;

// RocksDB 6.10 to 6.14 wrote eight bytes beginning at this 32-bit member, so in their OPTIONS files
// the upper half of the number belongs to the next member.
constexpr OptionRow ReadAmpBytesPerBit() {
  OptionRow row = Option<Table, &Table::read_amp_bytes_per_bit>(
      {"read_amp_bytes_per_bit",
       "measure read amplification with one bit per so many bytes; 0 = off", Support::kHint});
  row.parse = [](const ConfigOptions& config, std::string_view text, void* value) {
    uint64_t wide;
    const Status status = ParseValue(config, text, &wide);
    if (status.ok()) *static_cast<uint32_t*>(value) = static_cast<uint32_t>(wide);
    return status;
  };
  return row;
}

constexpr OptionRow kTableRows[] = {
    Option<Table, &Table::flush_block_policy_factory>(
        {"flush_block_policy_factory", "decides where a data block ends; nullptr = by size"}),
    // Which blocks are kept in the block cache, and for how long.
    Option<Table, &Table::cache_index_and_filter_blocks>(
        {"cache_index_and_filter_blocks", "keep index and filter blocks in the block cache"}),
    Option<Table, &Table::cache_index_and_filter_blocks_with_high_priority>(
        {"cache_index_and_filter_blocks_with_high_priority",
         "keep them in the cache longer than data blocks"}),
    Option<Table, &Table::pin_l0_filter_and_index_blocks_in_cache>(
        {"pin_l0_filter_and_index_blocks_in_cache",
         "keep those of L0 files in the cache while the table is open"}),
    Option<Table, &Table::pin_top_level_index_and_filter>(
        {"pin_top_level_index_and_filter",
         "keep the top level of partitioned indexes in the cache while the table is open"}),
    Option<Table, &Table::metadata_cache_options>(
        {"metadata_cache_options",
         "which metadata blocks stay in the cache while the table is open"}),
    // Layout of the index and of data blocks.
    Option<Table, &Table::index_type>({"index_type", "layout of the index in new tables"}),
    Option<Table, &Table::index_block_search_type>(
        {"index_block_search_type", "search algorithm inside index blocks", Support::kHint,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::data_block_index_type>(
        {"data_block_index_type", "whether data blocks have a hash index of their keys"}),
    Option<Table, &Table::data_block_hash_table_util_ratio>(
        {"data_block_hash_table_util_ratio", "entries per bucket of the hash index of data blocks",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb78, 0,
         std::numeric_limits<double>::infinity()}),
    Option<Table, &Table::checksum>({"checksum", "type of the block checksums in new tables"}),
    Option<Table, &Table::no_block_cache>(
        {"no_block_cache", "do not use a block cache; block_cache must be nullptr then"}),
    ParsedOption<Table, &Table::block_cache>(
        {"block_cache",
         "cache for blocks; nullptr = each table factory creates its own of 32 MiB"}),
    ProgramOption<Table, &Table::persistent_cache>(
        {"persistent_cache", "a page cache on another device", Support::kDefaultOnly}),
    // Sizes of blocks, in bytes, and where they end.
    Option<Table, &Table::block_size>(
        {"block_size", "bytes of entries, before compression, at which a data block ends",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Table, &Table::block_size_deviation>(
        {"block_size_deviation",
         "a block ends early if at most this many percent are free and the next entry does not fit",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb78, 0, 100}),
    Option<Table, &Table::block_restart_interval>(
        {"block_restart_interval", "number of entries from one whole key to the next",
         Support::kHonoured, TakesEffect::kDynamic, Since::kRocksDb78, 1,
         std::numeric_limits<double>::infinity()}),
    Option<Table, &Table::index_block_restart_interval>(
        {"index_block_restart_interval", "the same for index blocks", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb78, 1, std::numeric_limits<double>::infinity()}),
    Option<Table, &Table::metadata_block_size>(
        {"metadata_block_size", "target size of index and filter partitions in bytes"}),
    ProgramOption<Table, &Table::cache_usage_options>(
        {"cache_usage_options", "which memory besides blocks is charged to the block cache"}),
    // Filters, and the program's own index.
    Option<Table, &Table::partition_filters>(
        {"partition_filters",
         "write filters in partitions; ignored unless index_type is kTwoLevelIndexSearch"}),
    Option<Table, &Table::decouple_partitioned_filters>(
        {"decouple_partitioned_filters", "end filter partitions independently of index partitions",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::optimize_filters_for_memory>(
        {"optimize_filters_for_memory",
         "choose filter sizes that waste no memory in the allocator"}),
    Option<Table, &Table::use_delta_encoding>(
        {"use_delta_encoding", "store only the part of a key that differs from the previous key",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::filter_policy>({"filter_policy",
                                          "kind of the filters in new tables; nullptr = none",
                                          Support::kSomeValues}),
    Option<Table, &Table::user_defined_index_factory>(
        {"user_defined_index_factory", "the program's own index", Support::kDefaultOnly,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::use_udi_as_primary_index>(
        {"use_udi_as_primary_index", "write no built-in index", Support::kDefaultOnly,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::fail_if_no_udi_on_open>(
        {"fail_if_no_udi_on_open", "refuse tables without the program's own index",
         Support::kDefaultOnly, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::whole_key_filtering>(
        {"whole_key_filtering", "put whole keys into the filter, in addition to prefixes"}),
    Option<Table, &Table::detect_filter_construct_corruption>(
        {"detect_filter_construct_corruption", "verify each filter after it has been built",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Table, &Table::verify_compression>(
        {"verify_compression", "decompress each block once after compressing"}),
    ReadAmpBytesPerBit(),
    // The format, and alignment on the device.
    Option<Table, &Table::format_version>(
        {"format_version", "format version of new tables, 2 to 7; all of these can be read",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb78, 2, 7}),
    Option<Table, &Table::separate_key_value_in_data_block>(
        {"separate_key_value_in_data_block", "store all keys of a data block before its values",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::uniform_cv_threshold>(
        {"uniform_cv_threshold",
         "mark index blocks with evenly distributed keys as uniform; -1 = never",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::enable_index_compression>(
        {"enable_index_compression", "compress index blocks"}),
    Option<Table, &Table::block_align>(
        {"block_align", "align data blocks to pages; requires kNoCompression"}),
    Option<Table, &Table::super_block_alignment_size>(
        {"super_block_alignment_size",
         "data blocks do not cross multiples of this many bytes; 0 = no restriction",
         Support::kHonoured, TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::super_block_alignment_space_overhead_ratio>(
        {"super_block_alignment_space_overhead_ratio",
         "at most 1/n of that size may be wasted before a block", Support::kHonoured,
         TakesEffect::kAtOpen, Since::kRocksDb119}),
    Option<Table, &Table::index_shortening>(
        {"index_shortening", "how the keys of the index are shortened"}),
    // Reading ahead, in bytes.
    Option<Table, &Table::max_auto_readahead_size>(
        {"max_auto_readahead_size", "upper limit in bytes of the automatic readahead",
         Support::kHonoured, TakesEffect::kDynamic}),
    Option<Table, &Table::prepopulate_block_cache>({"prepopulate_block_cache",
                                                    "put newly written data blocks into the cache",
                                                    Support::kHonoured, TakesEffect::kDynamic}),
    Option<Table, &Table::initial_auto_readahead_size>({"initial_auto_readahead_size",
                                                        "bytes of the first automatic readahead",
                                                        Support::kHonoured, TakesEffect::kDynamic}),
    Option<Table, &Table::num_file_reads_for_auto_readahead>(
        {"num_file_reads_for_auto_readahead",
         "number of sequential reads after which automatic readahead begins", Support::kHonoured,
         TakesEffect::kDynamic}),
    // Names of older releases, which their OPTIONS files still have.
    RetiredOption("block_cache_compressed"),
    RetiredOption("hash_index_allow_collision"),
    RetiredOption("index_per_partition"),
    RetiredOption("reserve_table_builder_memory"),
    RetiredOption("reserve_table_reader_memory"),
    RetiredOption("skip_table_builder_flush"),
};

using Plain = PlainTableOptions;

// The plain format. Factories show and parse these options.
constexpr OptionRow kPlainRows[] = {
    Option<Plain, &Plain::user_key_len>({"user_key_len", "bytes of a user key; 0 = variable"}),
    Option<Plain, &Plain::bloom_bits_per_key>({"bloom_bits_per_key", "bits of the Bloom filter"}),
    Option<Plain, &Plain::hash_table_ratio>({"hash_table_ratio", "entries per bucket"}),
    Option<Plain, &Plain::index_sparseness>({"index_sparseness", "keys per index entry"}),
    Option<Plain, &Plain::huge_page_tlb_size>({"huge_page_tlb_size", "0 = no huge pages"}),
    Option<Plain, &Plain::encoding_type>({"encoding_type", "how keys are stored"}),
    Option<Plain, &Plain::full_scan_mode>({"full_scan_mode", "no index at all"}),
    Option<Plain, &Plain::store_index_in_file>({"store_index_in_file", "write the index too"}),
};

using Cuckoo = CuckooTableOptions;

constexpr OptionRow kCuckooRows[] = {
    Option<Cuckoo, &Cuckoo::hash_table_ratio>({"hash_table_ratio", "share of buckets in use"}),
    Option<Cuckoo, &Cuckoo::max_search_depth>(
        {"max_search_depth", "keys that move at most to make room for another"}),
    Option<Cuckoo, &Cuckoo::cuckoo_block_size>(
        {"cuckoo_block_size", "buckets that belong to one hash value"}),
    Option<Cuckoo, &Cuckoo::identity_as_first_hash>(
        {"identity_as_first_hash", "the first eight bytes of a key are its first hash value"}),
    Option<Cuckoo, &Cuckoo::use_module_hash>(
        {"use_module_hash", "the number of buckets need not be a power of two"}),
};

}  // namespace

OptionTable BlockBasedOptionTable() { return kTableRows; }
OptionTable PlainTableOptionTable() { return kPlainRows; }
OptionTable CuckooTableOptionTable() { return kCuckooRows; }

}  // namespace ashlar
