// SPDX-License-Identifier: Apache-2.0
//
// A flag of a database option carries the option's name and, where RocksDB's db_bench does not
// differ, the option's default, read from a default-constructed struct.
#include "tools/db_bench/options.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/version.h"
#include "tools/db_bench/blob_options.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/workloads.h"

namespace {
const ashlar::Options& Defaults() {
  static const ashlar::Options defaults;
  return defaults;
}
const ashlar::BlockBasedTableOptions& TableDefaults() {
  static const ashlar::BlockBasedTableOptions defaults;
  return defaults;
}
}  // namespace

DEFINE_string(compression_type, "snappy", "none, snappy, zlib, bzip2, lz4, lz4hc or zstd");
DEFINE_int32(compression_level, 32767, "level of the compression; 32767: the library's default");
DEFINE_int32(compression_max_dict_bytes, 0, "the longest dictionary of a table; 0: none");
DEFINE_int32(compression_zstd_max_train_bytes, 0, "samples for zstd's trainer; 0: it is not used");
DEFINE_int32(compression_parallel_threads, 1, "threads that compress one table");
DEFINE_double(bloom_bits, -1, "bits per key of the Bloom filter; 0 or less: no filter");
DEFINE_bool(use_ribbon_filter, false, "Ribbon in place of Bloom filters");
DEFINE_int32(block_size, static_cast<int32_t>(TableDefaults().block_size), "bytes of a block");
DEFINE_int32(block_restart_interval, TableDefaults().block_restart_interval,
             "keys between two restarts of a data block");
DEFINE_bool(use_data_block_hash_index,
            TableDefaults().data_block_index_type ==
                ashlar::BlockBasedTableOptions::kDataBlockBinaryAndHash,
            "data blocks have a hash index of their keys");
DEFINE_double(data_block_hash_table_util_ratio, TableDefaults().data_block_hash_table_util_ratio,
              "entries per bucket of it");
DEFINE_int32(format_version, static_cast<int32_t>(TableDefaults().format_version),
             "version of the table format");
DEFINE_int32(checksum_type, static_cast<int32_t>(TableDefaults().checksum),
             "checksum, as a number");
DEFINE_bool(cache_index_and_filter_blocks, TableDefaults().cache_index_and_filter_blocks,
            "keep index and filter blocks in the block cache");
DEFINE_bool(pin_l0_filter_and_index_blocks_in_cache,
            TableDefaults().pin_l0_filter_and_index_blocks_in_cache, "pin those of level 0");
DEFINE_bool(whole_key_filtering, TableDefaults().whole_key_filtering, "filter on whole keys");
DEFINE_bool(optimize_filters_for_hits, Defaults().optimize_filters_for_hits,
            "no filters for the last level");
DEFINE_int64(row_cache_size, 0, "bytes of the row cache; 0: none");
DEFINE_string(write_compatible_with, Defaults().write_compatible_with,
              "write files that this version of RocksDB reads, for example 7.8");

DEFINE_int64(write_buffer_size, static_cast<int64_t>(Defaults().write_buffer_size),
             "bytes of a memtable");
DEFINE_int64(db_write_buffer_size, static_cast<int64_t>(Defaults().db_write_buffer_size),
             "bytes of all memtables");
DEFINE_int32(max_write_buffer_number, Defaults().max_write_buffer_number, "number of memtables");
DEFINE_int32(min_write_buffer_number_to_merge, Defaults().min_write_buffer_number_to_merge,
             "memtables flushed together");
DEFINE_double(memtable_bloom_size_ratio, Defaults().memtable_prefix_bloom_size_ratio,
              "memory of the memtable's Bloom filter, as a part of --write_buffer_size");
DEFINE_uint32(min_tombstones_for_range_conversion, Defaults().min_tombstones_for_range_conversion,
              "deletions in a row that make a scan leave a range tombstone; 0: none");
DEFINE_bool(memtable_whole_key_filtering, Defaults().memtable_whole_key_filtering,
            "whole keys are in the memtable's Bloom filter");
DEFINE_int32(max_successive_merges, static_cast<int32_t>(Defaults().max_successive_merges),
             "operands of one key that stay side by side in a memtable");
DEFINE_uint32(memtable_protection_bytes_per_key, Defaults().memtable_protection_bytes_per_key,
              "bytes of the checksum of each entry of a memtable; 0: none");
DEFINE_string(memtablerep, "skip_list", "skip_list or vector");
DEFINE_bool(allow_concurrent_memtable_write, Defaults().allow_concurrent_memtable_write,
            "several writers may insert at once");
DEFINE_bool(enable_pipelined_write, Defaults().enable_pipelined_write, "pipelined write mode");
DEFINE_bool(unordered_write, Defaults().unordered_write, "unordered write mode");
DEFINE_int64(target_file_size_base, static_cast<int64_t>(Defaults().target_file_size_base),
             "bytes of a table of level 1");
DEFINE_int32(target_file_size_multiplier, Defaults().target_file_size_multiplier,
             "growth of that size per level");
DEFINE_uint64(max_bytes_for_level_base, Defaults().max_bytes_for_level_base, "bytes of level 1");
DEFINE_double(max_bytes_for_level_multiplier, Defaults().max_bytes_for_level_multiplier,
              "growth of that size per level");
DEFINE_bool(level_compaction_dynamic_level_bytes, Defaults().level_compaction_dynamic_level_bytes,
            "size levels from the last one upwards");
DEFINE_int32(num_levels, Defaults().num_levels, "number of levels");
DEFINE_int32(min_level_to_compress, -1,
             "from 0 on: levels above this one are not compressed; negative: all are");
DEFINE_int32(level0_file_num_compaction_trigger, Defaults().level0_file_num_compaction_trigger,
             "files of level 0 that start a compaction");
DEFINE_int32(level0_slowdown_writes_trigger, Defaults().level0_slowdown_writes_trigger,
             "files of level 0 that slow writes down");
DEFINE_int32(level0_stop_writes_trigger, Defaults().level0_stop_writes_trigger,
             "files of level 0 that stop writes");
DEFINE_bool(disable_auto_compactions, Defaults().disable_auto_compactions, "no compactions");
DEFINE_int32(max_background_jobs, Defaults().max_background_jobs,
             "flushes and compactions at once");
DEFINE_int32(max_background_compactions, Defaults().max_background_compactions,
             "compactions at once; -1: by --max_background_jobs");
DEFINE_int32(max_background_flushes, Defaults().max_background_flushes,
             "flushes at once; -1: by --max_background_jobs");
DEFINE_string(
    options_file, "",
    "an OPTIONS file whose default family says all options; of the flags for options only "
    "--use_existing_db, --statistics and --row_cache_size still count");
DECLARE_int64(cache_size);
DECLARE_int32(stats_level);

namespace ashlar {
namespace bench {
namespace {

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
  table.no_block_cache = FLAGS_cache_size == 0;
  return std::shared_ptr<TableFactory>(NewBlockBasedTableFactory(table));
}

Status SetMemtable(Options* options) {
  if (FLAGS_memtablerep == "vector") {
    options->memtable_factory = std::make_shared<VectorRepFactory>();
  } else if (FLAGS_memtablerep != "skip_list") {
    return Status::InvalidArgument("--memtablerep: skip_list or vector, not", FLAGS_memtablerep);
  }
  options->write_buffer_size = static_cast<size_t>(FLAGS_write_buffer_size);
  options->db_write_buffer_size = static_cast<size_t>(FLAGS_db_write_buffer_size);
  options->max_write_buffer_number = FLAGS_max_write_buffer_number;
  options->min_write_buffer_number_to_merge = FLAGS_min_write_buffer_number_to_merge;
  options->memtable_prefix_bloom_size_ratio = FLAGS_memtable_bloom_size_ratio;
  options->memtable_whole_key_filtering = FLAGS_memtable_whole_key_filtering;
  options->min_tombstones_for_range_conversion = FLAGS_min_tombstones_for_range_conversion;
  options->max_successive_merges = static_cast<size_t>(FLAGS_max_successive_merges);
  options->allow_concurrent_memtable_write = FLAGS_allow_concurrent_memtable_write;
  options->enable_pipelined_write = FLAGS_enable_pipelined_write;
  options->unordered_write = FLAGS_unordered_write;
  options->memtable_protection_bytes_per_key = FLAGS_memtable_protection_bytes_per_key;
  return Status::OK();
}

Status SetMergeOperator(Options* options) {
  if (FLAGS_merge_operator.empty()) return Status::OK();
  ConfigOptions refuse_unknown;
  refuse_unknown.ignore_unsupported_options = false;
  return MergeOperator::CreateFromString(refuse_unknown, FLAGS_merge_operator,
                                         &options->merge_operator);
}

void SetTree(Options* options) {
  options->target_file_size_base = static_cast<uint64_t>(FLAGS_target_file_size_base);
  options->target_file_size_multiplier = FLAGS_target_file_size_multiplier;
  options->max_bytes_for_level_base = FLAGS_max_bytes_for_level_base;
  options->max_bytes_for_level_multiplier = FLAGS_max_bytes_for_level_multiplier;
  options->level_compaction_dynamic_level_bytes = FLAGS_level_compaction_dynamic_level_bytes;
  options->num_levels = FLAGS_num_levels;
  options->level0_file_num_compaction_trigger = FLAGS_level0_file_num_compaction_trigger;
  options->level0_slowdown_writes_trigger = FLAGS_level0_slowdown_writes_trigger;
  options->level0_stop_writes_trigger = FLAGS_level0_stop_writes_trigger;
  options->disable_auto_compactions = FLAGS_disable_auto_compactions;
  options->max_background_jobs = FLAGS_max_background_jobs;
  options->max_background_compactions = FLAGS_max_background_compactions;
  options->max_background_flushes = FLAGS_max_background_flushes;
}

Status SetCompressionByLevel(Options* options) {
  if (FLAGS_min_level_to_compress < 0) return Status::OK();
  if (FLAGS_min_level_to_compress > FLAGS_num_levels) {
    return Status::InvalidArgument("--min_level_to_compress: there are not so many levels");
  }
  options->compression_per_level.assign(static_cast<size_t>(FLAGS_num_levels),
                                        options->compression);
  std::fill_n(options->compression_per_level.begin(), FLAGS_min_level_to_compress, kNoCompression);
  return Status::OK();
}

Status LoadOptions(Options* options) {
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
  const Status status = LoadOptionsFromFile(ConfigOptions(), FLAGS_options_file, &db, &families);
  if (!status.ok()) return status;
  *options = Options(db, families.front().options);  // a file without the default one is none
  return Status::OK();
}

void SetWhatGoesWithAFile(Options* options) {
  options->create_if_missing = !FLAGS_use_existing_db;
  if (FLAGS_statistics) {
    options->statistics = CreateDBStatistics();
    options->statistics->set_stats_level(static_cast<StatsLevel>(FLAGS_stats_level));
  }
  if (FLAGS_row_cache_size > 0) {
    options->row_cache = NewLRUCache(static_cast<size_t>(FLAGS_row_cache_size));
  }
}

}  // namespace

Status MakeOptions(Options* options) {
  if (!FLAGS_options_file.empty()) {
    const Status loaded = LoadOptions(options);
    if (loaded.ok()) SetWhatGoesWithAFile(options);
    return loaded;
  }
  SetWhatGoesWithAFile(options);
  Status status =
      ParseCompression("--compression_type", FLAGS_compression_type, &options->compression);
  if (!status.ok()) return status;
  status = SetCompressionByLevel(options);
  if (!status.ok()) return status;
  options->compression_opts.level = FLAGS_compression_level;
  options->compression_opts.max_dict_bytes =
      static_cast<uint32_t>(FLAGS_compression_max_dict_bytes);
  options->compression_opts.zstd_max_train_bytes =
      static_cast<uint32_t>(FLAGS_compression_zstd_max_train_bytes);
  options->compression_opts.parallel_threads =
      static_cast<uint32_t>(FLAGS_compression_parallel_threads);
  status = SetMemtable(options);
  if (!status.ok()) return status;
  status = SetMergeOperator(options);
  if (!status.ok()) return status;
  SetTree(options);
  options->write_compatible_with = FLAGS_write_compatible_with;
  status = SetFiles(options);
  if (!status.ok()) return status;
  SetCompaction(options);
  if (!SetExpiry(options)) {
    return Status::InvalidArgument("--expire_style: none, compaction_filter or delete");
  }
  if (FLAGS_prefix_size > 0) {
    options->prefix_extractor.reset(
        NewFixedPrefixTransform(static_cast<size_t>(FLAGS_prefix_size)));
  }
  options->optimize_filters_for_hits = FLAGS_optimize_filters_for_hits;
  std::shared_ptr<Cache> block_cache;
  status = MakeBlockCache(&block_cache);
  if (!status.ok()) return status;
  options->table_factory = MakeTableFactory(block_cache);
  status = SetBlobs(block_cache, options);
  if (!status.ok()) return status;
  return Status::OK();
}

void PrintHeader(const Options& options) {
  const double pair_bytes = FLAGS_key_size + FLAGS_value_size;
  const double stored_bytes = FLAGS_key_size + FLAGS_value_size * FLAGS_compression_ratio;
  const double mib = 1048576.0;
  const std::time_t now = std::time(nullptr);
  std::fprintf(stderr, "Ashlar:     API version %s\n", GetRocksVersionAsString().c_str());
  std::fprintf(stderr, "Date:       %s", std::ctime(&now));
  std::printf("Keys:       %d bytes each\n", FLAGS_key_size);
  std::printf("Values:     %d bytes each (%d bytes after compression)\n", FLAGS_value_size,
              static_cast<int>(FLAGS_value_size * FLAGS_compression_ratio + 0.5));
  std::printf("Entries:    %lld\n", static_cast<long long>(FLAGS_num));
  std::printf("RawSize:    %.1f MB (estimated)\n", pair_bytes * FLAGS_num / mib);
  std::printf("FileSize:   %.1f MB (estimated)\n", stored_bytes * FLAGS_num / mib);
  std::printf("Compression: %s\n", FLAGS_compression_type.c_str());
  std::printf("Memtablerep: %s\n", options.memtable_factory->Name());
  std::printf("Perf Level: %d\n", FLAGS_perf_level);
#ifndef NDEBUG
  std::printf("WARNING: Assertions are enabled; benchmarks unnecessarily slow\n");
#endif
  std::printf("------------------------------------------------\n");
}

}  // namespace bench
}  // namespace ashlar
