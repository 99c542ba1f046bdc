// SPDX-License-Identifier: Apache-2.0
//
// The flags of db_bench. Names and meanings are those of RocksDB's db_bench.
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
DECLARE_int32(num_column_families);
DECLARE_int32(threads);
DECLARE_int32(duration);
DECLARE_int32(key_size);
DECLARE_int32(value_size);
DECLARE_int32(user_timestamp_size);
DECLARE_int64(batch_size);
DECLARE_int64(seed);
DECLARE_double(compression_ratio);
DECLARE_int32(seek_nexts);
DECLARE_bool(reverse_iterator);
DECLARE_bool(verify_checksum);
DECLARE_bool(disable_wal);
DECLARE_bool(sync);
DECLARE_uint64(benchmark_read_rate_limit);
DECLARE_uint64(benchmark_write_rate_limit);
DECLARE_bool(sine_write_rate);
DECLARE_uint64(sine_write_rate_interval_milliseconds);
DECLARE_double(sine_a);
DECLARE_double(sine_b);
DECLARE_double(sine_c);
DECLARE_double(sine_d);
DECLARE_int32(prefix_size);
DECLARE_int64(keys_per_prefix);

// Options of reads.
DECLARE_bool(multiread_batched);
DECLARE_int64(multiread_stride);
DECLARE_bool(multiread_check);
DECLARE_bool(async_io);
DECLARE_bool(optimize_multiget_for_io);
DECLARE_bool(total_order_seek);
DECLARE_bool(prefix_same_as_start);
DECLARE_bool(auto_prefix_mode);
DECLARE_int32(readahead_size);
DECLARE_bool(use_tailing_iterator);
DECLARE_bool(rate_limit_user_ops);
DECLARE_int64(max_scan_distance);
DECLARE_bool(use_existing_keys);

// Merges and range tombstones.
DECLARE_string(merge_operator);
DECLARE_int64(merge_keys);
DECLARE_int32(mergereadpercent);
DECLARE_int64(writes_before_delete_range);
DECLARE_int64(writes_per_range_tombstone);
DECLARE_int64(range_tombstone_width);
DECLARE_int64(max_num_range_tombstones);
DECLARE_bool(expand_range_tombstones);

// Defined by their workloads; declared here because CheckFlags() needs them.
DECLARE_int32(readwritepercent);
DECLARE_int64(numdistinct);
DECLARE_int32(key_id_range);
DECLARE_int64(mix_max_value_size);
DECLARE_int64(mix_max_scan_len);
DECLARE_bool(transaction_db);
DECLARE_bool(optimistic_transaction_db);

// Reporting.
DECLARE_int32(perf_level);
DECLARE_bool(histogram);
DECLARE_bool(statistics);
DECLARE_int64(stats_interval);
DECLARE_int64(stats_interval_seconds);
DECLARE_int32(stats_per_interval);
DECLARE_int64(report_interval_seconds);
DECLARE_string(report_file);

// Defined in options.cc, but also used by workloads.
DECLARE_int64(row_cache_size);

// Flags that only MakeOptions() uses are declared in options.cc and options_table.cc alone.
