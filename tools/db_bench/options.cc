// SPDX-License-Identifier: Apache-2.0
//
// Flags of compression, memtables, the tree, compaction, files and logs; options_table.cc has those
// of tables, caches and blob files.
//
// A flag has the name of its option and, unless RocksDB's db_bench has another default, the default
// of the option, taken from a default-constructed struct. For numbers whose default in RocksDB's
// db_bench is 0, 0 means the default of the option.
#include "tools/db_bench/options.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/advanced_options.h"
#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/file_checksum.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/version.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/stamps.h"
#include "tools/db_bench/workloads.h"

namespace {
// A function, because flags are static objects, which are constructed in no defined order.
const ashlar::Options& Defaults() {
  static const ashlar::Options defaults;
  return defaults;
}
}  // namespace

// Compression and the row cache.
DEFINE_string(compression_type, "snappy", "none, snappy, zlib, bzip2, lz4, lz4hc or zstd");
DEFINE_int32(compression_level, 32767, "compression level; 32767: the default of the library");
DEFINE_int32(compression_max_dict_bytes, 0,
             "bytes of the largest dictionary of a table; 0: no dictionaries");
DEFINE_int32(compression_zstd_max_train_bytes, 0,
             "bytes of samples for zstd's dictionary trainer; 0: no trainer");
DEFINE_int32(compression_parallel_threads, 1, "threads that compress one table");
DEFINE_bool(optimize_filters_for_hits, Defaults().optimize_filters_for_hits,
            "no filters for the last level");
DEFINE_int64(row_cache_size, 0, "bytes of the row cache; 0: none");
DEFINE_string(write_compatible_with, Defaults().write_compatible_with,
              "write files that this version of RocksDB reads, for example 7.8");

// Memtables; sizes are in bytes.
DEFINE_int64(write_buffer_size, static_cast<int64_t>(Defaults().write_buffer_size),
             "bytes of a memtable");
DEFINE_int64(memory_limit, 0,
             "Ashlar's own: bytes of memory that the database may use in all; instead of "
             "--cache_size and --db_write_buffer_size");
DEFINE_int64(db_write_buffer_size, static_cast<int64_t>(Defaults().db_write_buffer_size),
             "bytes of all memtables");
DEFINE_int32(max_write_buffer_number, Defaults().max_write_buffer_number, "number of memtables");
DEFINE_int32(min_write_buffer_number_to_merge, Defaults().min_write_buffer_number_to_merge,
             "memtables flushed together");
DEFINE_double(memtable_bloom_size_ratio, Defaults().memtable_prefix_bloom_size_ratio,
              "memory of the memtable's Bloom filter as a share of --write_buffer_size");
DEFINE_uint32(min_tombstones_for_range_conversion, Defaults().min_tombstones_for_range_conversion,
              "consecutive deletions for which a scan writes a range tombstone; 0: never");
DEFINE_bool(memtable_whole_key_filtering, Defaults().memtable_whole_key_filtering,
            "the memtable's Bloom filter contains whole keys");
DEFINE_int32(max_successive_merges, static_cast<int32_t>(Defaults().max_successive_merges),
             "operands of one key in a row in a memtable before they are merged");
DEFINE_uint32(memtable_protection_bytes_per_key, Defaults().memtable_protection_bytes_per_key,
              "bytes of checksum per memtable entry; 0: none");
DEFINE_string(memtablerep, "skip_list", "skip_list or vector");
DEFINE_bool(allow_concurrent_memtable_write, Defaults().allow_concurrent_memtable_write,
            "several writers may insert into a memtable at once");
DEFINE_bool(enable_pipelined_write, true, "pipelined write mode");
DEFINE_bool(unordered_write, Defaults().unordered_write,
            "unordered write mode; needs --enable_pipelined_write=0");
// The tree: sizes of levels and tables, and the triggers of stalls.
DEFINE_int64(target_file_size_base, static_cast<int64_t>(Defaults().target_file_size_base),
             "bytes of a table of level 1");
DEFINE_int32(target_file_size_multiplier, Defaults().target_file_size_multiplier,
             "growth of the table size per level");
DEFINE_uint64(max_bytes_for_level_base, Defaults().max_bytes_for_level_base, "bytes of level 1");
DEFINE_double(max_bytes_for_level_multiplier, Defaults().max_bytes_for_level_multiplier,
              "growth of the level size per level");
DEFINE_bool(level_compaction_dynamic_level_bytes, false,
            "derive level sizes from the size of the last level");
DEFINE_int32(num_levels, Defaults().num_levels, "number of levels");
DEFINE_int32(min_level_to_compress, -1,
             "levels above this one are not compressed; negative: all levels are compressed");
DEFINE_int32(level0_file_num_compaction_trigger, Defaults().level0_file_num_compaction_trigger,
             "number of files of level 0 that starts a compaction");
DEFINE_int32(level0_slowdown_writes_trigger, Defaults().level0_slowdown_writes_trigger,
             "number of files of level 0 that slows writes down");
DEFINE_int32(level0_stop_writes_trigger, Defaults().level0_stop_writes_trigger,
             "number of files of level 0 that stops writes");
DEFINE_bool(disable_auto_compactions, Defaults().disable_auto_compactions,
            "start no compactions automatically");
DEFINE_int32(max_background_jobs, Defaults().max_background_jobs,
             "flushes and compactions that run at once");
DEFINE_int32(max_background_compactions, Defaults().max_background_compactions,
             "compactions that run at once; -1: derived from --max_background_jobs");
DEFINE_int32(max_background_flushes, Defaults().max_background_flushes,
             "flushes that run at once; -1: derived from --max_background_jobs");
DEFINE_string(
    options_file, "",
    "an OPTIONS file whose default family has all options; then the flags for options are ignored, "
    "except --use_existing_db, --wal_dir, --statistics, --row_cache_size, --expire_style and "
    "--user_timestamp_size");
DECLARE_int32(stats_level);

// Compactions.
DEFINE_int32(compaction_style, static_cast<int32_t>(Defaults().compaction_style),
             "0 level, 1 universal, 2 FIFO");
DEFINE_int32(compaction_pri, static_cast<int32_t>(Defaults().compaction_pri),
             "CompactionPri: which files of a level are compacted first, as a number");
DEFINE_uint32(subcompactions, Defaults().max_subcompactions,
              "parts of a compaction that run at once");
DEFINE_uint64(max_compaction_bytes, 0, "largest input of one compaction in bytes; 0: the default");
DEFINE_uint64(soft_pending_compaction_bytes_limit, Defaults().soft_pending_compaction_bytes_limit,
              "compaction debt that slows writes down");
DEFINE_uint64(hard_pending_compaction_bytes_limit, uint64_t{128} << 30,
              "compaction debt that stops writes");
DEFINE_uint64(delayed_write_rate, 8388608, "bytes per second of writes that are slowed down");
DEFINE_uint64(periodic_compaction_seconds, Defaults().periodic_compaction_seconds,
              "age at which tables are compacted; 0: never because of their age");

DEFINE_int32(universal_size_ratio, 0,
             "percent by which sizes of sorted runs may differ; 0: the default");
DEFINE_int32(universal_min_merge_width, 0,
             "smallest number of sorted runs in a compaction; 0: the default");
DEFINE_int32(universal_max_merge_width, 0,
             "largest number of sorted runs in a compaction; 0: the default");
DEFINE_int32(
    universal_max_size_amplification_percent, 0,
    "size of all other runs, in percent of the last one, that starts a compaction; 0: the default");
DEFINE_int32(universal_compression_size_percent, -1,
             "percent of the data that is compressed; -1: all");
DEFINE_bool(universal_allow_trivial_move, false,
            "move tables that overlap no other instead of rewriting them");
DEFINE_bool(universal_incremental, false, "compactions that reduce space are done in pieces");

DEFINE_uint64(fifo_compaction_max_table_files_size_mb, 0,
              "MiB of all tables before the oldest are deleted; 0: the default");
DEFINE_bool(fifo_compaction_allow_compaction, true, "merge small tables of level 0");
DEFINE_uint64(fifo_compaction_ttl, 0, "age in seconds at which tables are deleted; 0: the default");

// Files and logs.
DEFINE_int64(rate_limiter_bytes_per_sec, 0,
             "bytes per second of the rate limiter for background writes; 0: no limit");
DEFINE_int64(rate_limiter_refill_period_us, 100'000,
             "refill period of the rate limiter in microseconds");
DEFINE_bool(rate_limiter_auto_tuned, false, "the rate limiter adapts its rate, up to the limit");
DEFINE_bool(rate_limit_bg_reads, false,
            "the rate limiter limits reads of compactions instead of writes");
DEFINE_bool(use_direct_io_for_flush_and_compaction,
            Defaults().use_direct_io_for_flush_and_compaction,
            "flushes and compactions bypass the page cache");

DEFINE_int32(open_files, Defaults().max_open_files, "files kept open; -1: all");
DEFINE_bool(use_direct_reads, Defaults().use_direct_reads, "reads bypass the page cache");
DEFINE_bool(mmap_read, Defaults().allow_mmap_reads, "read tables through memory mappings");
DEFINE_int32(compaction_readahead_size, static_cast<int32_t>(Defaults().compaction_readahead_size),
             "bytes that compactions read ahead");
DEFINE_uint64(writable_file_max_buffer_size, Defaults().writable_file_max_buffer_size,
              "bytes of the write buffer of a file");
DEFINE_string(wal_dir, "", "directory of the log; empty: that of the database");
DEFINE_uint64(bytes_per_sync, Defaults().bytes_per_sync,
              "bytes of a growing table between two syncs; 0: no such syncs");
DEFINE_uint64(wal_bytes_per_sync, Defaults().wal_bytes_per_sync,
              "bytes of a growing log between two syncs; 0: no such syncs");
DEFINE_uint64(delete_obsolete_files_period_micros, 0,
              "ignored, as in RocksDB's db_bench; scripts pass it");
DEFINE_bool(use_fsync, Defaults().use_fsync, "use fsync instead of fdatasync");
DEFINE_uint64(max_total_wal_size, Defaults().max_total_wal_size, "bytes of all logs; 0: automatic");
DEFINE_string(wal_compression, "none", "none or zstd");
DEFINE_bool(manual_wal_flush, Defaults().manual_wal_flush,
            "the log stays in a buffer until it is flushed explicitly");
DEFINE_uint64(wal_ttl_seconds, Defaults().WAL_ttl_seconds, "seconds that archived logs are kept");
DEFINE_uint64(wal_size_limit_MB, Defaults().WAL_size_limit_MB,
              "MB of archived logs that are kept; 0: no limit");
DEFINE_bool(file_checksum, false, "record a checksum of each file in the MANIFEST");
DEFINE_bool(paranoid_checks, Defaults().paranoid_checks, "DBOptions::paranoid_checks");
DEFINE_int32(stats_level, ashlar::kExceptDetailedTimers, "StatsLevel of --statistics, as a number");
DEFINE_uint64(stats_dump_period_sec, Defaults().stats_dump_period_sec,
              "seconds between two statistics dumps in the info log; 0: none");
DEFINE_uint64(stats_persist_period_sec, Defaults().stats_persist_period_sec,
              "seconds between two samples of the statistics history; 0: none");
DEFINE_bool(persist_stats_to_disk, Defaults().persist_stats_to_disk,
            "store the statistics history in the database");

namespace ashlar {
namespace bench {
namespace {

// Sets the options of memtables and of the write path. An unknown value of --memtablerep is an
// error, because a benchmark of another memtable than the one asked for would mislead.
Status SetMemtable(Options* options) {
  assert(options != nullptr);
  if (FLAGS_memtablerep == "vector") {
    options->memtable_factory = std::make_shared<VectorRepFactory>();
  } else if (FLAGS_memtablerep != "skip_list") {
    return Status::InvalidArgument("--memtablerep: skip_list or vector, not", FLAGS_memtablerep);
  }
  options->write_buffer_size = static_cast<size_t>(FLAGS_write_buffer_size);
  options->memory_limit = static_cast<size_t>(FLAGS_memory_limit);
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
  assert(options != nullptr);
  if (FLAGS_merge_operator.empty()) return Status::OK();
  // A misspelt name must be an error; by default it would leave the option unset.
  ConfigOptions refuse_unknown;
  refuse_unknown.ignore_unsupported_options = false;
  return MergeOperator::CreateFromString(refuse_unknown, FLAGS_merge_operator,
                                         &options->merge_operator);
}

// These functions copy flags to members; each has the flags of one subject.
void SetTree(Options* options) {
  assert(options != nullptr);
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

// 0 means that the flag was not given.
template <typename Flag, typename Member>
void SetIfGiven(Flag flag, Member* member) {
  assert(member != nullptr);
  if (flag > 0) *member = static_cast<Member>(flag);
}

// Flags that are not given leave the defaults of the options.
void SetStyles(Options* options) {
  assert(options != nullptr);
  options->compaction_style = static_cast<CompactionStyle>(FLAGS_compaction_style);
  CompactionOptionsUniversal& universal = options->compaction_options_universal;
  SetIfGiven(FLAGS_universal_size_ratio, &universal.size_ratio);
  SetIfGiven(FLAGS_universal_min_merge_width, &universal.min_merge_width);
  SetIfGiven(FLAGS_universal_max_merge_width, &universal.max_merge_width);
  SetIfGiven(FLAGS_universal_max_size_amplification_percent,
             &universal.max_size_amplification_percent);
  universal.compression_size_percent = FLAGS_universal_compression_size_percent;
  universal.allow_trivial_move = FLAGS_universal_allow_trivial_move;
  universal.incremental = FLAGS_universal_incremental;
  CompactionOptionsFIFO& fifo = options->compaction_options_fifo;
  // The flag counts mebibytes, the option bytes.
  SetIfGiven(FLAGS_fifo_compaction_max_table_files_size_mb << 20, &fifo.max_table_files_size);
  fifo.allow_compaction = FLAGS_fifo_compaction_allow_compaction;
  SetIfGiven(FLAGS_fifo_compaction_ttl, &options->ttl);
}

// Sets the options of compactions, and of the rate limiter that slows their I/O. Without
// --rate_limiter_bytes_per_sec there is no limiter; rates are in bytes per second.
void SetCompaction(Options* options) {
  assert(options != nullptr);
  SetStyles(options);
  options->compaction_pri = static_cast<CompactionPri>(FLAGS_compaction_pri);
  options->max_subcompactions = FLAGS_subcompactions;
  SetIfGiven(FLAGS_max_compaction_bytes, &options->max_compaction_bytes);
  options->soft_pending_compaction_bytes_limit = FLAGS_soft_pending_compaction_bytes_limit;
  options->hard_pending_compaction_bytes_limit = FLAGS_hard_pending_compaction_bytes_limit;
  options->delayed_write_rate = FLAGS_delayed_write_rate;
  options->periodic_compaction_seconds = FLAGS_periodic_compaction_seconds;
  options->use_direct_io_for_flush_and_compaction = FLAGS_use_direct_io_for_flush_and_compaction;
  // Fairness 10 is the value of the API's default: one time in ten, requests of lower priority are
  // served first.
  if (FLAGS_rate_limiter_bytes_per_sec <= 0) return;
  options->rate_limiter.reset(NewGenericRateLimiter(
      FLAGS_rate_limiter_bytes_per_sec, FLAGS_rate_limiter_refill_period_us, /*fairness=*/10,
      FLAGS_rate_limit_bg_reads ? RateLimiter::Mode::kReadsOnly : RateLimiter::Mode::kWritesOnly,
      FLAGS_rate_limiter_auto_tuned));
}

// Sets the options of files, of the WAL and of the periodic reports of statistics.
Status SetFiles(Options* options) {
  assert(options != nullptr);
  options->max_open_files = FLAGS_open_files;
  options->use_direct_reads = FLAGS_use_direct_reads;
  options->allow_mmap_reads = FLAGS_mmap_read;
  options->compaction_readahead_size = static_cast<size_t>(FLAGS_compaction_readahead_size);
  options->writable_file_max_buffer_size = static_cast<size_t>(FLAGS_writable_file_max_buffer_size);
  options->bytes_per_sync = FLAGS_bytes_per_sync;
  options->wal_bytes_per_sync = FLAGS_wal_bytes_per_sync;
  options->use_fsync = FLAGS_use_fsync;
  options->max_total_wal_size = FLAGS_max_total_wal_size;
  options->manual_wal_flush = FLAGS_manual_wal_flush;
  options->WAL_ttl_seconds = FLAGS_wal_ttl_seconds;
  options->WAL_size_limit_MB = FLAGS_wal_size_limit_MB;
  if (FLAGS_file_checksum) options->file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options->paranoid_checks = FLAGS_paranoid_checks;
  options->stats_dump_period_sec = static_cast<unsigned>(FLAGS_stats_dump_period_sec);
  options->stats_persist_period_sec = static_cast<unsigned>(FLAGS_stats_persist_period_sec);
  options->persist_stats_to_disk = FLAGS_persist_stats_to_disk;
  return ParseCompression("--wal_compression", FLAGS_wal_compression, &options->wal_compression);
}

// Takes the options of the database and those of its default family from a file.
Status LoadOptions(Options* options) {
  assert(options != nullptr);
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
  const Status status = LoadOptionsFromFile(ConfigOptions(), FLAGS_options_file, &db, &families);
  if (!status.ok()) return status;
  // The file may be that of another database, whose directories are not for this one. wal_dir gets
  // the value of its flag.
  db.db_log_dir.clear();
  *options =
      Options(db, families.front().options);  // every OPTIONS file begins with the default family
  return Status::OK();
}

// Levels above the given one are not compressed.
Status SetCompressionByLevel(Options* options) {
  assert(options != nullptr);
  if (FLAGS_min_level_to_compress < 0) return Status::OK();
  if (FLAGS_min_level_to_compress > FLAGS_num_levels) {
    return Status::InvalidArgument("--min_level_to_compress: there are not so many levels");
  }
  // The list gets one element for each level; deeper levels would use its last element.
  options->compression_per_level.assign(static_cast<size_t>(FLAGS_num_levels),
                                        options->compression);
  std::fill_n(options->compression_per_level.begin(), FLAGS_min_level_to_compress, kNoCompression);
  return Status::OK();
}

// The options whose flags also count with --options_file.
Status SetOptionsBesideFile(Options* options) {
  assert(options != nullptr);
  options->create_if_missing = !FLAGS_use_existing_db;
  options->wal_dir = FLAGS_wal_dir;
  SetComparator(options);
  if (FLAGS_statistics) {
    options->statistics = CreateDBStatistics();
    options->statistics->set_stats_level(static_cast<StatsLevel>(FLAGS_stats_level));
  }
  if (FLAGS_row_cache_size > 0) {
    options->row_cache = NewLRUCache(static_cast<size_t>(FLAGS_row_cache_size));
  }
  if (SetExpiry(options)) return Status::OK();
  return Status::InvalidArgument("--expire_style: none, compaction_filter or delete");
}

}  // namespace

// With --options_file only those flags have an effect that the file cannot express.
Status MakeOptions(Options* options) {
  assert(options != nullptr);
  if (!FLAGS_options_file.empty()) {
    const Status loaded = LoadOptions(options);
    return loaded.ok() ? SetOptionsBesideFile(options) : loaded;
  }
  // The first flag with a wrong value ends the function. The order matters only where a comment
  // says so.
  Status status = SetOptionsBesideFile(options);
  if (!status.ok()) return status;
  status = ParseCompression("--compression_type", FLAGS_compression_type, &options->compression);
  if (!status.ok()) return status;
  // The compression by level is derived from the compression above, which must therefore be set
  // first.
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
  if (FLAGS_prefix_size > 0) {
    options->prefix_extractor.reset(
        NewFixedPrefixTransform(static_cast<size_t>(FLAGS_prefix_size)));
  }
  options->optimize_filters_for_hits = FLAGS_optimize_filters_for_hits;
  // Last, because blob files may share the cache of blocks.
  std::shared_ptr<Cache> block_cache;
  if (FLAGS_memory_limit == 0) status = MakeBlockCache(&block_cache);
  if (!status.ok()) return status;
  options->table_factory = MakeTableFactory(block_cache);
  return SetBlobs(block_cache, options);
}

// What the run will do, so that a stored output explains itself.
void PrintHeader(const Options& options) {
  // Estimates from the flags, before anything is written.
  const double pair_bytes = FLAGS_key_size + FLAGS_value_size;
  const double stored_bytes = FLAGS_key_size + FLAGS_value_size * FLAGS_compression_ratio;
  const double mib = 1048576.0;
  const std::time_t now = std::time(nullptr);
  std::fprintf(stderr, "Ashlar:     API version %s\n", GetRocksVersionAsString().c_str());
  std::fprintf(stderr, "Date:       %s", std::ctime(&now));
  std::printf("Keys:       %d bytes each (+ %d bytes user-defined timestamp)\n", FLAGS_key_size,
              FLAGS_user_timestamp_size);
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
