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
    "empty database: fillseq, fillrandom, filluniquerandom, fillsync, fillbatch. The "
    "others go on with what is there: overwrite, deleteseq, deleterandom, readseq, "
    "readreverse, readtocache, readrandom, readmissing, readhot, seekrandom, "
    "readwhilewriting, compact, flush, waitforcompaction, stats, levelstats, sstables");
DEFINE_string(db, "", "folder of the database; empty: a folder below the test directory");
DEFINE_bool(use_existing_db, false,
            "keep the database that is there; a benchmark that wants an empty one then fails");
DEFINE_bool(readonly, false, "open for reading only");

DEFINE_int64(num, 1000000, "number of pairs to place in the database");
DEFINE_int64(reads, -1, "reads of a read benchmark; negative: --num");
DEFINE_int64(writes, -1, "writes of a write benchmark; negative: --num");
DEFINE_int64(deletes, -1, "deletes of a delete benchmark; negative: --num");
DEFINE_int32(threads, 1, "threads, each of which does the whole number of operations");
DEFINE_int32(duration, 0,
             "seconds that random benchmarks run; 0: the numbers of operations decide");
DEFINE_int32(key_size, 16, "bytes of a key");
DEFINE_int32(value_size, 100, "bytes of a value");
DEFINE_int64(batch_size, 1, "pairs in one write batch");
DEFINE_int64(seed, 0, "seed of the random numbers; 0: from the clock");
DEFINE_double(compression_ratio, 0.5, "values are made to shrink to this part of their size");
DEFINE_int32(seek_nexts, 0, "calls of Next() (Prev() with --reverse_iterator) after each seek");
DEFINE_bool(reverse_iterator, false, "go backwards in seekrandom");
DEFINE_bool(verify_checksum, true, "verify the checksum of each block that is read");
DEFINE_bool(disable_wal, false, "write without the log");
DEFINE_bool(sync, false, "sync the log with each write");

DEFINE_bool(histogram, false, "print the histogram of operation times");
DEFINE_bool(statistics, false, "collect the database's statistics and print them at the end");
DEFINE_int64(stats_interval, 0,
             "report progress every so many operations; 0: at growing distances; negative: never");
DEFINE_int64(stats_interval_seconds, 0, "report progress every so many seconds");
DEFINE_int64(report_interval_seconds, 0,
             "every so many seconds, append operations per second to --report_file; 0: never");
DEFINE_string(report_file, "report.csv", "CSV file of --report_interval_seconds");
