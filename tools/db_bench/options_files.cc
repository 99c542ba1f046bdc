// SPDX-License-Identifier: Apache-2.0
//
// Flags of logs, of how files are read and written, and of what is watched.
#include "ashlar/file_checksum.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "tools/db_bench/blob_options.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options.h"

namespace {
const ashlar::Options& Defaults() {
  static const ashlar::Options defaults;
  return defaults;
}
}  // namespace

DEFINE_int32(open_files, Defaults().max_open_files, "files kept open; -1: all");
DEFINE_bool(use_direct_reads, Defaults().use_direct_reads, "read past the page cache");
DEFINE_bool(mmap_read, Defaults().allow_mmap_reads, "tables are read through a mapping");
DEFINE_int32(compaction_readahead_size, static_cast<int32_t>(Defaults().compaction_readahead_size),
             "bytes that compactions read ahead");
DEFINE_uint64(writable_file_max_buffer_size, Defaults().writable_file_max_buffer_size,
              "bytes of the buffer of a file that is written");
DEFINE_string(wal_dir, "", "folder of the log; empty: the database's");
DEFINE_uint64(bytes_per_sync, Defaults().bytes_per_sync, "sync tables as they grow, by this much");
DEFINE_uint64(wal_bytes_per_sync, Defaults().wal_bytes_per_sync, "the same for the log");
DEFINE_uint64(delete_obsolete_files_period_micros, 0,
              "of older releases: accepted, means nothing, as in RocksDB's db_bench");
DEFINE_bool(use_fsync, Defaults().use_fsync, "fsync in place of fdatasync");
DEFINE_uint64(max_total_wal_size, Defaults().max_total_wal_size, "bytes of all logs; 0: automatic");
DEFINE_string(wal_compression, "none", "none or zstd");
DEFINE_bool(manual_wal_flush, Defaults().manual_wal_flush, "the log stays in a buffer");
DEFINE_uint64(wal_ttl_seconds, Defaults().WAL_ttl_seconds, "how long logs stay in the archive");
DEFINE_uint64(wal_size_limit_MB, Defaults().WAL_size_limit_MB, "how much of them; 0: no limit");
DEFINE_bool(file_checksum, false, "the MANIFEST has a checksum of each file");
DEFINE_bool(paranoid_checks, Defaults().paranoid_checks, "DBOptions::paranoid_checks");
DEFINE_int32(stats_level, ashlar::kExceptDetailedTimers, "StatsLevel of --statistics, as a number");
DEFINE_uint64(stats_dump_period_sec, Defaults().stats_dump_period_sec,
              "seconds between two statistics texts in the info log; 0: none");
DEFINE_uint64(stats_persist_period_sec, Defaults().stats_persist_period_sec,
              "seconds between two looks at the counters; 0: none");
DEFINE_bool(persist_stats_to_disk, Defaults().persist_stats_to_disk, "these are stored");

namespace ashlar {
namespace bench {

Status SetFiles(Options* options) {
  options->max_open_files = FLAGS_open_files;
  options->use_direct_reads = FLAGS_use_direct_reads;
  options->allow_mmap_reads = FLAGS_mmap_read;
  options->compaction_readahead_size = static_cast<size_t>(FLAGS_compaction_readahead_size);
  options->writable_file_max_buffer_size = static_cast<size_t>(FLAGS_writable_file_max_buffer_size);
  options->wal_dir = FLAGS_wal_dir;
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

}  // namespace bench
}  // namespace ashlar
