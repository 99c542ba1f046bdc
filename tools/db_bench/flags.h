// SPDX-License-Identifier: Apache-2.0
//
// The flags of db_bench, in gflags syntax. Names and meanings are those that RocksDB's db_bench
// has.
#pragma once

#include <gflags/gflags.h>

DECLARE_string(benchmarks);
DECLARE_string(db);
DECLARE_bool(use_existing_db);
DECLARE_bool(readonly);

// Size of the work.
DECLARE_int64(num);
DECLARE_int64(reads);
DECLARE_int64(writes);
DECLARE_int64(deletes);
DECLARE_int32(threads);
DECLARE_int32(duration);
DECLARE_int32(key_size);
DECLARE_int32(value_size);
DECLARE_int64(batch_size);
DECLARE_int64(seed);
DECLARE_double(compression_ratio);
DECLARE_int32(seek_nexts);
DECLARE_bool(reverse_iterator);
DECLARE_bool(verify_checksum);
DECLARE_bool(disable_wal);
DECLARE_bool(sync);

// Reporting.
DECLARE_bool(histogram);
DECLARE_bool(statistics);
DECLARE_int64(stats_interval);
DECLARE_int64(stats_interval_seconds);
DECLARE_int64(report_interval_seconds);
DECLARE_string(report_file);

// Flags that only MakeOptions() reads are declared nowhere else: see options.cc.
