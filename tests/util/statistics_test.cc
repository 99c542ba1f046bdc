// SPDX-License-Identifier: Apache-2.0
//
// Counters and histograms: names, sums over threads, levels, text.
#include "util/statistics/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/status_matchers.h"
#include "util/statistics/histogram.h"

namespace ashlar {
namespace {

TEST(StatisticsNames, FollowTheEnumerations) {
  ASSERT_EQ(TickersNameMap.size(), TICKER_ENUM_MAX);
  for (uint32_t i = 0; i < TICKER_ENUM_MAX; ++i) EXPECT_EQ(TickersNameMap[i].first, i);
  ASSERT_EQ(HistogramsNameMap.size(), HISTOGRAM_ENUM_MAX);
  for (uint32_t i = 0; i < HISTOGRAM_ENUM_MAX; ++i) EXPECT_EQ(HistogramsNameMap[i].first, i);
  EXPECT_EQ(TickersNameMap[BLOCK_CACHE_MISS].second, "rocksdb.block.cache.miss");
  EXPECT_EQ(TickersNameMap[GET_HIT_L2_AND_UP].second, "rocksdb.l2andup.hit");
  EXPECT_EQ(HistogramsNameMap[DB_WRITE].second, "rocksdb.db.write.micros");
}

TEST(StatisticsNames, AreUniqueAndPrefixed) {
  std::set<std::string> names;
  for (const auto& [ticker, name] : TickersNameMap) {
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.rfind("rocksdb.", 0), 0u);
  }
  for (const auto& [type, name] : HistogramsNameMap) {
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(BasicStatistics, SumsOverThreads) {
  auto statistics = CreateDBStatistics();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < 1000; ++i) {
        RecordTick(statistics.get(), BYTES_READ, 2);
        RecordInHistogram(statistics.get(), BYTES_PER_READ, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 8000u);
  HistogramData data;
  statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 4000u);
  EXPECT_EQ(data.sum, 4u * 999 * 1000 / 2);
  EXPECT_EQ(data.max, 999);
  EXPECT_EQ(data.min, 0);
}

TEST(BasicStatistics, SetsAndResets) {
  auto statistics = CreateDBStatistics();
  statistics->recordTick(BYTES_READ, 5);
  statistics->setTickerCount(BYTES_READ, 3);
  EXPECT_EQ(statistics->getAndResetTickerCount(BYTES_READ), 3u);
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0u);
  statistics->recordTick(BYTES_READ, 5);
  statistics->recordInHistogram(BYTES_PER_READ, 7);
  ASSERT_OK(statistics->Reset());
  EXPECT_EQ(statistics->getTickerCount(BYTES_READ), 0u);
  HistogramData data;
  statistics->histogramData(BYTES_PER_READ, &data);
  EXPECT_EQ(data.count, 0u);
}

struct LevelCase {
  StatsLevel level;
  bool counts, sizes, times;
};

TEST(BasicStatistics, LevelSaysWhatIsRecorded) {
  constexpr LevelCase kCases[] = {
      {kDisableAll, false, false, false}, {kExceptHistogramOrTimers, true, false, false},
      {kExceptTimers, true, true, false}, {kExceptDetailedTimers, true, true, true},
      {kAll, true, true, true},
  };
  for (const LevelCase& c : kCases) {
    auto statistics = CreateDBStatistics();
    statistics->set_stats_level(c.level);
    RecordTick(statistics.get(), BYTES_READ);
    RecordInHistogram(statistics.get(), BYTES_PER_READ, 1);
    RecordTime(statistics.get(), DB_GET, 1);
    HistogramData sizes, times;
    statistics->histogramData(BYTES_PER_READ, &sizes);
    statistics->histogramData(DB_GET, &times);
    EXPECT_EQ(statistics->getTickerCount(BYTES_READ) == 1, c.counts) << int{c.level};
    EXPECT_EQ(sizes.count == 1, c.sizes) << int{c.level};
    EXPECT_EQ(times.count == 1, c.times) << int{c.level};
  }
}

TEST(BasicStatistics, NumbersOutOfRangeAreIgnored) {
  auto statistics = CreateDBStatistics();
  statistics->recordTick(TICKER_ENUM_MAX, 1);
  statistics->recordInHistogram(HISTOGRAM_ENUM_MAX, 1);
  EXPECT_EQ(statistics->getTickerCount(TICKER_ENUM_MAX), 0u);
}

TEST(BasicStatistics, TextHasOneLineEach) {
  auto statistics = CreateDBStatistics();
  statistics->recordTick(BLOCK_CACHE_MISS, 12);
  statistics->recordInHistogram(DB_GET, 1);
  const std::string text = statistics->ToString();
  EXPECT_NE(text.find("rocksdb.block.cache.miss COUNT : 12\n"), std::string::npos);
  EXPECT_NE(text.find("rocksdb.db.get.micros P50 : 1.000000 P95 : 1.000000 P99 : 1.000000 "
                      "P100 : 1.000000 COUNT : 1 SUM : 1\n"),
            std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            int{TICKER_ENUM_MAX} + int{HISTOGRAM_ENUM_MAX});
}

TEST(BasicStatistics, MapHasAllTickers) {
  auto statistics = CreateDBStatistics();
  statistics->recordTick(MEMTABLE_HIT, 3);
  std::map<std::string, uint64_t> map;
  ASSERT_TRUE(statistics->getTickerMap(&map));
  EXPECT_EQ(map.size(), TICKER_ENUM_MAX);
  EXPECT_EQ(map["rocksdb.memtable.hit"], 3u);
}

TEST(NoStatistics, RecordingIntoNothingDoesNothing) {
  RecordTick(nullptr, BYTES_READ);
  RecordInHistogram(nullptr, DB_GET, 1);
  EXPECT_FALSE(WantsTimers(nullptr));
}

}  // namespace
}  // namespace ashlar
