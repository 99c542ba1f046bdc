// SPDX-License-Identifier: Apache-2.0
//
// db_bench_tool(), and with it the program db_bench: measures the speed of the engine under simple
// workloads. Flags and output have the form of RocksDB's db_bench, so that both can be run with the
// same command line and compared.
//
// Order of a run: the flags are parsed and checked, the options are made of them, the header is
// printed, and then the benchmarks run one after the other on one database. A wrong flag ends the
// program before anything is created.
#include "ashlar/db_bench_tool.h"

#include <gflags/gflags.h>

#include <cstdio>
#include <string>

#include "ashlar/env.h"
#include "ashlar/perf_level.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options.h"
#include "tools/db_bench/runner.h"
#include "tools/db_bench/stamps.h"
#include "tools/db_bench/traces.h"

namespace {

// False, with the reason on stderr, if a flag has a value that no benchmark can work with.
bool CheckFlags() {
  // One row for each rule. The first one that does not hold is reported.
  const struct {
    const char* name;
    bool is_valid;
  } rules[] = {
      // The upper limits are far above every useful value, and low enough for sums and arrays.
      {"num: 1 to 10^15", FLAGS_num >= 1 && FLAGS_num <= 1'000'000'000'000'000},
      {"threads: 1 to 10000", FLAGS_threads >= 1 && FLAGS_threads <= 10'000},
      {"num_column_families: 1 to 1000000",
       FLAGS_num_column_families >= 1 && FLAGS_num_column_families <= 1'000'000},
      {"key_size: 1 to 2^24", FLAGS_key_size >= 1 && FLAGS_key_size <= 1 << 24},
      {"value_size: 0 to 2^30", FLAGS_value_size >= 0 && FLAGS_value_size <= 1 << 30},
      {"batch_size: 1 to 10^7", FLAGS_batch_size >= 1 && FLAGS_batch_size <= 10'000'000},
      {"report_interval_seconds: at most 10^8", FLAGS_report_interval_seconds <= 100'000'000},
      {"compression_ratio: above 0, at most 1",
       FLAGS_compression_ratio > 0 && FLAGS_compression_ratio <= 1},
      {"prefix_size: at least 0, at most --key_size",
       FLAGS_prefix_size >= 0 && FLAGS_prefix_size <= FLAGS_key_size},
      {"keys_per_prefix: at least 0", FLAGS_keys_per_prefix >= 0},
      {"keys_per_prefix: needs --prefix_size", FLAGS_keys_per_prefix == 0 || FLAGS_prefix_size > 0},
      {"multiread_stride: at least 0", FLAGS_multiread_stride >= 0},
      {"mergereadpercent: 0 to 100", FLAGS_mergereadpercent >= 0 && FLAGS_mergereadpercent <= 100},
      {"readwritepercent: 0 to 100", FLAGS_readwritepercent >= 0 && FLAGS_readwritepercent <= 100},
      {"numdistinct: at least 1", FLAGS_numdistinct >= 1},
      {"key_id_range: at least 1", FLAGS_key_id_range >= 1},
      {"mix_max_value_size: 1 to 2^20",
       FLAGS_mix_max_value_size >= 1 && FLAGS_mix_max_value_size <= 1 << 20},
      {"mix_max_scan_len: at least 1", FLAGS_mix_max_scan_len >= 1},
      {"mix_get_ratio, --mix_put_ratio, --mix_seek_ratio: not negative, and not all 0",
       ashlar::bench::AreMixRatiosValid()},
      {"trace_replay_fast_forward, --trace_replay_threads, "
       "--block_cache_trace_sampling_frequency: above 0",
       ashlar::bench::IsTracingValid()},
      {"transaction_sets: 1 to 9999", ashlar::bench::IsTransactionSetsValid()},
      {"transaction_db: not together with --optimistic_transaction_db",
       ashlar::bench::IsTransactionKindValid()},
      {"transaction_db, --optimistic_transaction_db: not together with --readonly",
       !FLAGS_readonly || (!FLAGS_transaction_db && !FLAGS_optimistic_transaction_db)},
      {"user_timestamp_size: 0 or 8", ashlar::bench::IsTimestampSizeValid()},
      {"user_timestamp_size: not together with --transaction_db or --optimistic_transaction_db",
       FLAGS_user_timestamp_size == 0 ||
           (!FLAGS_transaction_db && !FLAGS_optimistic_transaction_db)},
      {"merge_keys: not 0", FLAGS_merge_keys != 0},
      {"range_tombstone_width: at least 0", FLAGS_range_tombstone_width >= 0},
      {"perf_level: 1 to 6", FLAGS_perf_level > ashlar::PerfLevel::kUninitialized &&
                                 FLAGS_perf_level < ashlar::PerfLevel::kOutOfBounds},
  };
  for (const auto& rule : rules) {
    if (rule.is_valid) continue;
    std::fprintf(stderr, "--%s\n", rule.name);
    return false;
  }
  return true;
}

// The directory of --db, or one below the test directory of the environment.
std::string DatabasePath() {
  if (!FLAGS_db.empty()) return FLAGS_db;
  std::string directory;
  ashlar::bench::RequireOk(ashlar::Env::Default()->GetTestDirectory(&directory), "test directory");
  return directory + "/dbbench";
}

}  // namespace

int ashlar::db_bench_tool(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  // ParseCommandLineFlags() has removed all flags, so what is left is a mistake.
  if (argc > 1) {
    std::fprintf(stderr, "not a flag: %s\n", argv[1]);
    return 1;
  }
  if (!CheckFlags()) return 1;
  ashlar::Options options;
  ashlar::bench::RequireOk(ashlar::bench::MakeOptions(&options), "flags");
  // The seed is printed, so that a run with random numbers can be repeated.
  if (FLAGS_seed == 0) {
    FLAGS_seed = static_cast<int64_t>(ashlar::bench::NowMicros());
    std::printf("Set seed to %lld because --seed was 0\n", static_cast<long long>(FLAGS_seed));
  }
  ashlar::bench::PrintHeader(options);
  ashlar::bench::Runner runner(options, DatabasePath());
  return runner.RunAll(FLAGS_benchmarks) ? 0 : 1;
}
