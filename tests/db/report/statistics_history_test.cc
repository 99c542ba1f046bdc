// SPDX-License-Identifier: Apache-2.0
//
// The history of the counters: the differences of each sample, and which samples are dropped when
// the limit of memory is reached.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "db/report/statistics_history.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr size_t kNoLimit = SIZE_MAX;

std::vector<uint64_t> TimesOf(const StatisticsHistory& history, uint64_t begin, uint64_t end) {
  std::vector<uint64_t> times;
  for (auto it = history.Between(begin, end); it->Valid(); it->Next()) {
    EXPECT_OK(it->status());
    times.push_back(it->GetStatsTime());
  }
  return times;
}

TEST(StatisticsHistory, ALookShowsWhatWasGainedSinceTheOneBefore) {
  StatisticsHistory history;
  history.AddSample(10, {{"a", 5}, {"b", 7}}, kNoLimit);
  history.AddSample(20, {{"a", 6}, {"b", 7}, {"c", 3}}, kNoLimit);
  const auto it = history.Between(0, 100);
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->GetStatsTime(), 20u);
  const StatisticsHistory::Counters expected{{"a", 1}, {"b", 0}, {"c", 3}};
  EXPECT_EQ(it->GetStatsMap(), expected);
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST(StatisticsHistory, ACounterThatWasResetCountsFromThere) {
  StatisticsHistory history;
  history.AddSample(10, {{"a", 50}}, kNoLimit);
  history.AddSample(20, {{"a", 4}}, kNoLimit);
  EXPECT_EQ(history.Between(0, 100)->GetStatsMap().at("a"), 4u);
}

TEST(StatisticsHistory, TheEndIsNotPartOfTheRange) {
  StatisticsHistory history;
  for (uint64_t second = 10; second <= 50; second += 10) history.AddSample(second, {}, kNoLimit);
  EXPECT_EQ(TimesOf(history, 0, UINT64_MAX), (std::vector<uint64_t>{20, 30, 40, 50}));
  EXPECT_EQ(TimesOf(history, 20, 40), (std::vector<uint64_t>{20, 30}));
  EXPECT_EQ(TimesOf(history, 21, 30), (std::vector<uint64_t>{}));
  EXPECT_EQ(TimesOf(history, 60, 20), (std::vector<uint64_t>{}));
}

TEST(StatisticsHistory, TwoLooksInOneSecondLoseNothing) {
  StatisticsHistory history;
  history.AddSample(10, {{"a", 1}}, kNoLimit);
  history.AddSample(20, {{"a", 2}}, kNoLimit);
  history.AddSample(20, {{"a", 5}}, kNoLimit);
  history.AddSample(30, {{"a", 6}}, kNoLimit);
  uint64_t gained = 0;
  for (auto it = history.Between(0, 100); it->Valid(); it->Next()) {
    gained += it->GetStatsMap().at("a");
  }
  EXPECT_EQ(gained, 5u);
}

TEST(StatisticsHistory, TheOldestGoFirst) {
  StatisticsHistory history;
  const StatisticsHistory::Counters counters{{"a name that is long enough to be counted", 1}};
  history.AddSample(10, counters, kNoLimit);
  history.AddSample(20, counters, kNoLimit);
  const size_t one = history.bytes();
  EXPECT_GT(one, 40u);
  for (uint64_t second = 30; second <= 100; second += 10) {
    history.AddSample(second, counters, 3 * one);
    EXPECT_LE(history.bytes(), 3 * one);
  }
  EXPECT_EQ(TimesOf(history, 0, UINT64_MAX), (std::vector<uint64_t>{80, 90, 100}));
  history.AddSample(110, counters, 0);
  EXPECT_EQ(history.bytes(), 0u);
  EXPECT_TRUE(TimesOf(history, 0, UINT64_MAX).empty());
}

TEST(StatisticsHistory, AnIteratorShowsWhatIsForgottenMeanwhile) {
  StatisticsHistory history;
  history.AddSample(10, {{"a", 1}}, kNoLimit);
  history.AddSample(20, {{"a", 3}}, kNoLimit);
  const auto it = history.Between(0, 100);
  history.AddSample(30, {{"a", 3}}, 0);
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->GetStatsMap().at("a"), 2u);
}

}  // namespace
}  // namespace ashlar
