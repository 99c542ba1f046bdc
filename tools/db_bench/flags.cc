// SPDX-License-Identifier: Apache-2.0
//
// The flags that describe the work and its reporting. options.cc and options_table.cc have those
// that describe the database; some workloads define flags of their own.
#include "tools/db_bench/flags.h"

DEFINE_string(
    benchmarks,
    "fillseq,fillsync,fillrandom,overwrite,readrandom,readseq,readreverse,compact,"
    "readrandom,readseq,readreverse",
    "comma-separated list of benchmarks, run in this order; name[X3-W1] runs a benchmark once to "
    "warm up and then three times, and prints the average and the median. These begin with an "
    "empty database: fillseq, fillrandom, filluniquerandom, fillsync, fillbatch, "
    "fill100K, fillseqdeterministic, randomreplacekeys, timeseries, getmergeoperands. The others "
    "use the database as the ones before left it: fillseekseq, "
    "overwrite, readrandomwriterandom, updaterandom, xorupdaterandom, appendrandom, mixgraph, "
    "randomtransaction, deleteseq, deleterandom, deleteuntil, readseq, "
    "readreverse, readtocache, readtorowcache, readrandom, readmissing, readhot, "
    "multireadrandom, newiterator, newiteratorwhilewriting, seekrandom, seekrandomwhilewriting, "
    "seekrandomwhilemerging, readwhilewriting, readwhilemerging, readwhilescanning, mergerandom, "
    "readrandommergerandom, readrandomoperands, multireadwhilewriting, approximatesizerandom, "
    "verifychecksum, verifyfilechecksums, replay, compact, compactall, compact0, compact1, flush, "
    "waitforcompaction, stats, resetstats, levelstats, memstats, sstables. These measure parts of "
    "the engine with blocks of --block_size: crc32c, xxhash, xxhash64, xxh3, compress, uncompress");
DEFINE_string(db, "", "directory of the database; empty: a directory below the test directory");
DEFINE_bool(use_existing_db, false,
            "keep the existing database, which otherwise is deleted at the start; benchmarks that "
            "begin with an empty one then fail");
DEFINE_bool(readonly, false,
            "open the existing database for reading only; benchmarks that begin with an empty one "
            "then fail");

// Counts of operations. A negative number stands for another flag.
DEFINE_int64(num, 1000000, "number of pairs in the database");
DEFINE_int64(reads, -1, "reads of a read benchmark; negative: --num");
DEFINE_int64(writes, -1, "writes of a write benchmark; negative: --num");
DEFINE_int64(deletes, -1, "deletes of a delete benchmark; negative: --num");
DEFINE_int32(
    num_column_families, 1,
    "number of column families (default, column_family_name_000001 ...); a pair belongs to "
    "the family that its number gives. Most benchmarks that fill, delete, read or seek "
    "support this, the others fail with more than 1");
DEFINE_int32(threads, 1, "number of threads; each does the full number of operations");
DEFINE_int32(duration, 0,
             "seconds that random benchmarks run; 0: they end after the number of operations");
DEFINE_int32(key_size, 16, "bytes of a key");
DEFINE_int32(value_size, 100, "bytes of a value");
DEFINE_int32(user_timestamp_size, 0,
             "8: the families have 64-bit timestamps; each write gets a later one, reads see the "
             "newest. Benchmarks that fill, delete, read or scan support this. 0: no timestamps");
DEFINE_int64(batch_size, 1, "pairs in one write batch, keys in one MultiGet");
DEFINE_int64(seed, 0, "seed of the random numbers; 0: from the clock");
DEFINE_double(compression_ratio, 0.5, "size of values after compression as a share of their size");
DEFINE_int32(seek_nexts, 0, "calls of Next(), or Prev() with --reverse_iterator, after each seek");
DEFINE_bool(reverse_iterator, false, "seekrandom iterates backwards");
DEFINE_bool(verify_checksum, true, "verify the checksum of each block that is read");
DEFINE_bool(disable_wal, false, "write without the log");
DEFINE_bool(sync, false, "sync the log with each write");

// Limits of the rate, over all threads together.
DEFINE_uint64(benchmark_read_rate_limit, 0,
              "reads per second of all threads together; 0: no limit");
DEFINE_uint64(benchmark_write_rate_limit, 0,
              "bytes per second that all threads together write; 0: no limit");
DEFINE_bool(sine_write_rate, false,
            "limit writes to A sin(Bx + C) + D bytes per second, where x is the time in seconds "
            "since the benchmark began, instead of to --benchmark_write_rate_limit");
DEFINE_uint64(sine_write_rate_interval_milliseconds, 10000,
              "milliseconds between two computations of the rate of --sine_write_rate");
DEFINE_double(sine_a, 1, "A in the formulas of --sine_write_rate and --sine_mix_rate");
DEFINE_double(sine_b, 1, "B in these formulas");
DEFINE_double(sine_c, 0, "C in these formulas");
DEFINE_double(sine_d, 1, "D in these formulas");
DEFINE_int32(prefix_size, 0,
             "bytes of the fixed prefix of prefix_extractor; 0: no prefix_extractor");
DEFINE_int64(keys_per_prefix, 0,
             "keys begin with a prefix of --prefix_size bytes that about this many keys share; 0: "
             "keys have no prefix");

// How reads are made.
DEFINE_bool(multiread_batched, false,
            "multireadrandom calls the MultiGet with arrays instead of the one with vectors");
DEFINE_int64(multiread_stride, 0, "distance between the keys of a MultiGet; 0: each key is random");
DEFINE_bool(multiread_check, false, "compare each MultiGet with single Gets of its keys");
DEFINE_bool(async_io, false, "ReadOptions::async_io");
DEFINE_bool(optimize_multiget_for_io, true, "ReadOptions::optimize_multiget_for_io");
DEFINE_bool(total_order_seek, false, "ReadOptions::total_order_seek");
DEFINE_bool(prefix_same_as_start, false, "ReadOptions::prefix_same_as_start");
DEFINE_bool(auto_prefix_mode, false, "ReadOptions::auto_prefix_mode");
DEFINE_int32(readahead_size, 0, "ReadOptions::readahead_size");
DEFINE_bool(use_tailing_iterator, false, "ReadOptions::tailing");
DEFINE_bool(rate_limit_user_ops, false,
            "--rate_limiter_bytes_per_sec also limits reads of the benchmark");
DEFINE_int64(max_scan_distance, 0,
             "iterators of seekrandom have a bound this many keys after the target; 0: no bound");
DEFINE_bool(use_existing_keys, false,
            "readtorowcache reads the keys that an iterator returns instead of those of --num");

// Merges and range tombstones.
DEFINE_string(merge_operator, "", "name of a stock merge operator, for example uint64add");
DEFINE_int64(merge_keys, -1,
             "keys that mergerandom and readrandommergerandom use; negative: --num");
DEFINE_int32(mergereadpercent, 70, "percent of merges in readrandommergerandom");
DEFINE_int64(writes_before_delete_range, 0, "writes before the first range tombstone");
DEFINE_int64(writes_per_range_tombstone, 0,
             "number of writes after which a benchmark writes a range tombstone; 0: never");
DEFINE_int64(range_tombstone_width, 100, "number of keys that a range tombstone covers");
DEFINE_int64(max_num_range_tombstones, 0, "largest number of range tombstones of one thread");
DEFINE_bool(expand_range_tombstones, false,
            "write a tombstone for each key instead of a range tombstone");

// What is printed while benchmarks run and at their end.
DEFINE_int32(perf_level, 1, "PerfLevel of the threads; above 1, their PerfContext is printed");
DEFINE_bool(histogram, false, "print the histogram of operation times");
DEFINE_bool(statistics, false, "collect the database's statistics and print them at the end");
DEFINE_int64(
    stats_interval, 0,
    "operations between two progress messages; 0: growing intervals; negative: no messages");
DEFINE_int64(stats_interval_seconds, 0,
             "seconds between two progress messages, instead of --stats_interval; 0: unused");
DEFINE_int32(
    stats_per_interval, 0,
    "above 0: with --stats_interval or --stats_interval_seconds, the first thread also prints "
    "the property rocksdb.stats at each interval");
DEFINE_int64(report_interval_seconds, 0,
             "seconds between two lines with operations per second in --report_file; 0: no file");
DEFINE_string(report_file, "report.csv", "CSV file of --report_interval_seconds");
