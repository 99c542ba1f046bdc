// SPDX-License-Identifier: Apache-2.0
//
// Flags of compaction and background I/O. 0 of a number that RocksDB's db_bench leaves
// at 0 means the option's default.
#include <memory>

#include "ashlar/advanced_options.h"
#include "ashlar/rate_limiter.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options.h"

namespace {
const ashlar::Options& Defaults() {
  static const ashlar::Options defaults;
  return defaults;
}
}  // namespace

DEFINE_int32(compaction_style, static_cast<int32_t>(Defaults().compaction_style),
             "0 level, 1 universal, 2 FIFO");
DEFINE_int32(compaction_pri, static_cast<int32_t>(Defaults().compaction_pri),
             "which files of a level go first, as a number");
DEFINE_uint32(subcompactions, Defaults().max_subcompactions, "parts of a compaction at once");
DEFINE_uint64(max_compaction_bytes, 0, "bytes of one compaction; 0: the default");
DEFINE_uint64(soft_pending_compaction_bytes_limit, Defaults().soft_pending_compaction_bytes_limit,
              "compaction debt that slows writes down");
DEFINE_uint64(hard_pending_compaction_bytes_limit, Defaults().hard_pending_compaction_bytes_limit,
              "compaction debt that stops writes");
DEFINE_uint64(delayed_write_rate, 8388608, "bytes a second of writes that are slowed down");
DEFINE_uint64(periodic_compaction_seconds, Defaults().periodic_compaction_seconds,
              "tables that are older are compacted; 0: not for their age");

DEFINE_int32(universal_size_ratio, 0, "percent by which sizes of runs may differ; 0: the default");
DEFINE_int32(universal_min_merge_width, 0, "fewest runs of a compaction; 0: the default");
DEFINE_int32(universal_max_merge_width, 0, "most runs of a compaction; 0: the default");
DEFINE_int32(universal_max_size_amplification_percent, 0,
             "space above that of the last run that starts a compaction; 0: the default");
DEFINE_int32(universal_compression_size_percent, -1, "share that is compressed; -1: all");
DEFINE_bool(universal_allow_trivial_move, false, "tables are moved where they can be");
DEFINE_bool(universal_incremental, false, "compactions against space are done piece by piece");

DEFINE_uint64(fifo_compaction_max_table_files_size_mb, 0, "MiB of all tables; 0: the default");
DEFINE_bool(fifo_compaction_allow_compaction, true, "small tables of level 0 are joined");
DEFINE_uint64(fifo_compaction_ttl, 0, "seconds after which tables go; 0: the default");

DEFINE_int64(rate_limiter_bytes_per_sec, 0, "limit of background writes; 0: none");
DEFINE_int64(rate_limiter_refill_period_us, 100'000, "how often it gives bytes out");
DEFINE_bool(rate_limiter_auto_tuned, false, "it finds its rate itself, up to the limit");
DEFINE_bool(rate_limit_bg_reads, false, "it limits reads of compactions in place of writes");
DEFINE_bool(use_direct_io_for_flush_and_compaction,
            Defaults().use_direct_io_for_flush_and_compaction,
            "flushes and compactions read and write past the page cache");

namespace ashlar {
namespace bench {
namespace {

template <typename Flag, typename Member>
void SetIfGiven(Flag flag, Member* member) {
  if (flag > 0) *member = static_cast<Member>(flag);
}

void SetStyles(Options* options) {
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
  SetIfGiven(FLAGS_fifo_compaction_max_table_files_size_mb << 20, &fifo.max_table_files_size);
  fifo.allow_compaction = FLAGS_fifo_compaction_allow_compaction;
  SetIfGiven(FLAGS_fifo_compaction_ttl, &options->ttl);
}

}  // namespace

void SetCompaction(Options* options) {
  SetStyles(options);
  options->compaction_pri = static_cast<CompactionPri>(FLAGS_compaction_pri);
  options->max_subcompactions = FLAGS_subcompactions;
  SetIfGiven(FLAGS_max_compaction_bytes, &options->max_compaction_bytes);
  options->soft_pending_compaction_bytes_limit = FLAGS_soft_pending_compaction_bytes_limit;
  options->hard_pending_compaction_bytes_limit = FLAGS_hard_pending_compaction_bytes_limit;
  options->delayed_write_rate = FLAGS_delayed_write_rate;
  options->periodic_compaction_seconds = FLAGS_periodic_compaction_seconds;
  options->use_direct_io_for_flush_and_compaction = FLAGS_use_direct_io_for_flush_and_compaction;
  if (FLAGS_rate_limiter_bytes_per_sec <= 0) return;
  options->rate_limiter.reset(NewGenericRateLimiter(
      FLAGS_rate_limiter_bytes_per_sec, FLAGS_rate_limiter_refill_period_us, /*fairness=*/10,
      FLAGS_rate_limit_bg_reads ? RateLimiter::Mode::kReadsOnly : RateLimiter::Mode::kWritesOnly,
      FLAGS_rate_limiter_auto_tuned));
}

}  // namespace bench
}  // namespace ashlar
