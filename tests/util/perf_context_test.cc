// SPDX-License-Identifier: Apache-2.0
//
// Thread-local counters: levels, merging, text.
#include "ashlar/perf_context.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "ashlar/iostats_context.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {
namespace {

TEST(PerfContext, PrintsCountersByName) {
  PerfContext context;
  context.block_read_count = 7;
  context.multiscan_io_requests = 2;
  EXPECT_EQ(context.ToString(/*exclude_zero_counters=*/true),
            "block_read_count = 7, multiscan_io_requests = 2");
  EXPECT_NE(context.ToString().find("get_snapshot_time = 0, "), std::string::npos);
}

TEST(PerfContext, MergesAndResets) {
  PerfContext a, b;
  a.get_read_bytes = 1;
  b.get_read_bytes = 2;
  a.Merge(b);
  EXPECT_EQ(a.get_read_bytes, 3u);
  a.Reset();
  EXPECT_EQ(a.ToString(true), "");
}

TEST(PerfContext, LevelsAreCountedApart) {
  PerfContext context;
  EXPECT_EQ(context.level_to_perf_context, nullptr);
  context.EnablePerLevelPerfContext();
  (*context.level_to_perf_context)[1].bloom_filter_useful = 4;
  (*context.level_to_perf_context)[6].bloom_filter_useful = 5;
  EXPECT_EQ(context.ToString(true), "bloom_filter_useful = 4@level1, 5@level6");
  const PerfContext copy = context;
  EXPECT_EQ(copy.ToString(true), context.ToString(true));
  context.ClearPerLevelPerfContext();
  EXPECT_EQ(context.ToString(true), "");
  EXPECT_NE(copy.ToString(true), "");
}

// The flag is public, and a context that was moved from keeps it.
TEST(PerfContext, CountsLevelsWhoeverSetTheFlag) {
  PerfContext* const own = get_perf_context();
  own->Reset();
  own->EnablePerLevelPerfContext();
  ASSERT_NE(PerfOfLevel(2), nullptr);
  PerfOfLevel(2)->bloom_filter_useful = 4;
  const PerfContext taken = std::move(*own);
  EXPECT_EQ(taken.ToString(true), "bloom_filter_useful = 4@level2");
  ASSERT_TRUE(own->per_level_perf_context_enabled);
  ASSERT_NE(PerfOfLevel(3), nullptr);
  PerfOfLevel(3)->bloom_filter_useful = 5;
  EXPECT_EQ(own->ToString(true), "bloom_filter_useful = 5@level3");
  own->ClearPerLevelPerfContext();
  EXPECT_EQ(PerfOfLevel(3), nullptr);

  PerfContext sum;
  sum.per_level_perf_context_enabled = true;
  sum.Merge(taken);
  EXPECT_EQ(sum.ToString(true), "bloom_filter_useful = 4@level2");
}

TEST(PerfContext, EachThreadHasItsOwn) {
  get_perf_context()->Reset();
  PerfContext* other = nullptr;
  std::thread thread([&] {
    other = get_perf_context();
    AddPerfCount(&PerfContextBase::block_read_count);
  });
  thread.join();
  EXPECT_NE(other, get_perf_context());
  EXPECT_EQ(get_perf_context()->block_read_count, 0u);
}

TEST(PerfLevel, SaysWhetherToCount) {
  get_perf_context()->Reset();
  SetPerfLevel(kDisable);
  AddPerfCount(&PerfContextBase::block_read_count);
  EXPECT_EQ(get_perf_context()->block_read_count, 0u);
  SetPerfLevel(kEnableCount);
  AddPerfCount(&PerfContextBase::block_read_count);
  EXPECT_EQ(get_perf_context()->block_read_count, 1u);
  EXPECT_EQ(GetPerfLevel(), kEnableCount);
}

TEST(IOStatsContext, PrintsMergesAndResets) {
  IOStatsContext a, b;
  a.bytes_read = 1;
  b.bytes_read = 2;
  b.thread_pool_id = 3;
  b.file_io_stats_by_temperature.hot_file_read_count = 5;
  a.Merge(b);
  EXPECT_EQ(a.ToString(true), "bytes_read = 3, hot_file_read_count = 5");
  a.Reset();
  EXPECT_EQ(a.ToString(true), "");
}

}  // namespace
}  // namespace ashlar
