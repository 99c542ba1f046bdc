// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the flags that describe the work and its reporting; options.cc has those that
// describe the database.
#include "tools/db_bench/flags.h"

DEFINE_string(
    benchmarks,
    "fillseq,fillsync,fillrandom,overwrite,readrandom,readseq,readreverse,compact,"
    "readrandom,readseq,readreverse",
    "comma-separated list of benchmarks, run in this order. Those that fill start from an "
    "empty database: fillseq, fillrandom, filluniquerandom, fillsync, fillbatch, "
    "fill100K, fillseqdeterministic, randomreplacekeys, timeseries, getmergeoperands. The others "
    "go on with what is there: fillseekseq, "
    "overwrite, readrandomwriterandom, updaterandom, xorupdaterandom, appendrandom, mixgraph, "
    "deleteseq, deleterandom, deleteuntil, readseq, "
    "readreverse, readtocache, readtorowcache, readrandom, readmissing, readhot, "
    "multireadrandom, newiterator, newiteratorwhilewriting, seekrandom, seekrandomwhilewriting, "
    "seekrandomwhilemerging, readwhilewriting, readwhilemerging, readwhilescanning, mergerandom, "
    "readrandommergerandom, readrandomoperands, multireadwhilewriting, approximatesizerandom, "
    "verifychecksum, verifyfilechecksums, compact, compactall, compact0, compact1, flush, "
    "waitforcompaction, stats, resetstats, levelstats, memstats, sstables. Of parts of the engine, "
    "over blocks of --block_size: crc32c, xxhash, xxhash64, xxh3, compress, uncompress");
DEFINE_string(db, "", "folder of the database; empty: a folder below the test directory");
DEFINE_bool(use_existing_db, false,
            "keep the database that is there; a benchmark that wants an empty one then fails");
DEFINE_bool(readonly, false, "open for reading only; benchmarks that begin empty are refused");

DEFINE_int64(num, 1000000, "number of pairs to place in the database");
DEFINE_int64(reads, -1, "reads of a read benchmark; negative: --num");
DEFINE_int64(writes, -1, "writes of a write benchmark; negative: --num");
DEFINE_int64(deletes, -1, "deletes of a delete benchmark; negative: --num");
DEFINE_int32(num_column_families, 1,
             "column families that pairs are spread over by their numbers: default, "
             "column_family_name_000001 and so on; most benchmarks that fill, delete, read or seek "
             "can, the others refuse more than 1");
DEFINE_int32(threads, 1, "threads, each of which does the whole number of operations");
DEFINE_int32(duration, 0,
             "seconds that random benchmarks run; 0: the numbers of operations decide");
DEFINE_int32(key_size, 16, "bytes of a key");
DEFINE_int32(value_size, 100, "bytes of a value");
DEFINE_int64(batch_size, 1, "pairs in one write batch, keys in one MultiGet");
DEFINE_int64(seed, 0, "seed of the random numbers; 0: from the clock");
DEFINE_double(compression_ratio, 0.5, "values are made to shrink to this part of their size");
DEFINE_int32(seek_nexts, 0, "calls of Next() (Prev() with --reverse_iterator) after each seek");
DEFINE_bool(reverse_iterator, false, "go backwards in seekrandom");
DEFINE_bool(verify_checksum, true, "verify the checksum of each block that is read");
DEFINE_bool(disable_wal, false, "write without the log");
DEFINE_bool(sync, false, "sync the log with each write");

DEFINE_uint64(benchmark_read_rate_limit, 0, "reads a second, of all threads together; 0: no limit");
DEFINE_uint64(benchmark_write_rate_limit, 0,
              "bytes a second that benchmarks write, of all threads together; 0: no limit");
DEFINE_bool(sine_write_rate, false,
            "in place of --benchmark_write_rate_limit, A sin(Bx + C) + D bytes a second, x being "
            "seconds since the benchmark began");
DEFINE_uint64(sine_write_rate_interval_milliseconds, 10000, "how often that is computed");
DEFINE_double(sine_a, 1, "A of it, and of the rate of --sine_mix_rate");
DEFINE_double(sine_b, 1, "B of it");
DEFINE_double(sine_c, 0, "C of it");
DEFINE_double(sine_d, 1, "D of it");
DEFINE_int32(prefix_size, 0,
             "bytes of the fixed prefix that prefix_extractor takes; 0: no extractor");
DEFINE_int64(keys_per_prefix, 0,
             "keys begin with --prefix_size bytes that about so many keys share; 0: keys are "
             "numbers from their first byte on");

DEFINE_bool(multiread_batched, false,
            "multireadrandom calls the MultiGet that fills arrays, not the one with vectors");
DEFINE_int64(multiread_stride, 0,
             "distance between the keys of a MultiGet; 0: each of them is random");
DEFINE_bool(multiread_check, false, "compare each MultiGet with single Gets of its keys");
DEFINE_bool(async_io, false, "ReadOptions::async_io");
DEFINE_bool(optimize_multiget_for_io, true, "ReadOptions::optimize_multiget_for_io");
DEFINE_bool(total_order_seek, false, "ReadOptions::total_order_seek");
DEFINE_bool(prefix_same_as_start, false, "ReadOptions::prefix_same_as_start");
DEFINE_bool(auto_prefix_mode, false, "ReadOptions::auto_prefix_mode");
DEFINE_int32(readahead_size, 0, "ReadOptions::readahead_size");
DEFINE_bool(use_tailing_iterator, false, "ReadOptions::tailing");
DEFINE_bool(rate_limit_user_ops, false, "reads count against --rate_limiter_bytes_per_sec");
DEFINE_int64(max_scan_distance, 0,
             "iterators of seekrandom are bounded so many keys behind the sought one; 0: not");
DEFINE_bool(use_existing_keys, false,
            "readtorowcache reads the keys that an iterator finds, not those of --num");

DEFINE_string(merge_operator, "", "name of a stock merge operator, for example uint64add");
DEFINE_int64(merge_keys, -1,
             "keys that mergerandom and readrandommergerandom use; negative: --num");
DEFINE_int32(mergereadpercent, 70, "share of merges in readrandommergerandom");
DEFINE_int64(writes_before_delete_range, 0, "writes before the first range tombstone");
DEFINE_int64(writes_per_range_tombstone, 0,
             "writing benchmarks put a range tombstone behind each so many writes; 0: never");
DEFINE_int64(range_tombstone_width, 100, "keys that a range tombstone covers");
DEFINE_int64(max_num_range_tombstones, 0, "range tombstones of one thread");
DEFINE_bool(expand_range_tombstones, false,
            "in place of each range tombstone, a tombstone for each key of it");

DEFINE_int32(perf_level, 1, "PerfLevel of the threads; above 1 their PerfContext is printed");
DEFINE_bool(histogram, false, "print the histogram of operation times");
DEFINE_bool(statistics, false, "collect the database's statistics and print them at the end");
DEFINE_int64(stats_interval, 0,
             "report progress every so many operations; 0: at growing distances; negative: never");
DEFINE_int64(stats_interval_seconds, 0,
             "report progress every so many seconds, whatever --stats_interval says; 0: not so");
DEFINE_int32(
    stats_per_interval, 0,
    "above 0: with --stats_interval or --stats_interval_seconds the first thread also prints "
    "the database's rocksdb.stats then");
DEFINE_int64(report_interval_seconds, 0,
             "every so many seconds, append operations per second to --report_file; 0: never");
DEFINE_string(report_file, "report.csv", "CSV file of --report_interval_seconds");
