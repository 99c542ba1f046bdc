// SPDX-License-Identifier: Apache-2.0
//
// Buckets, percentiles, merging and the printed form.
#include "util/statistics/histogram.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

TEST(HistogramBuckets, LimitsAscendAndEveryValueHasItsBucket) {
  for (size_t i = 1; i < kHistogramBucketCount; ++i) {
    ASSERT_LT(HistogramBucketLimit(i - 1), HistogramBucketLimit(i));
    EXPECT_EQ(HistogramBucketOf(HistogramBucketLimit(i)), i);
    EXPECT_EQ(HistogramBucketOf(HistogramBucketLimit(i - 1) + 1), i);
  }
  EXPECT_EQ(HistogramBucketOf(0), 0u);
  EXPECT_EQ(HistogramBucketOf(UINT64_MAX), kHistogramBucketCount - 1);
}

TEST(HistogramBuckets, LimitsAreThoseOfRocksDb) {
  const uint64_t kFirst[] = {1, 2, 3, 4, 6, 10, 15, 22, 34, 51, 76, 110, 170, 250, 380, 580, 870};
  for (size_t i = 0; i < std::size(kFirst); ++i) EXPECT_EQ(HistogramBucketLimit(i), kFirst[i]);
}

TEST(Histogram, EmptyIsAllZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Data().count, 0u);
  EXPECT_EQ(histogram.Percentile(99), 0);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.StandardDeviation(), 0);
}

TEST(Histogram, PercentilesOfAUniformRangeAreClose) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 10000; ++i) histogram.Add(i);
  EXPECT_EQ(histogram.count(), 10000u);
  EXPECT_DOUBLE_EQ(histogram.Average(), 5000.5);
  EXPECT_NEAR(histogram.Median(), 5000, 250);
  EXPECT_NEAR(histogram.Percentile(99), 9900, 100);
  EXPECT_NEAR(histogram.StandardDeviation(), 2886.75, 1);
  EXPECT_EQ(histogram.Percentile(100), 10000);
}

TEST(Histogram, PercentilesStayBetweenMinAndMax) {
  Histogram histogram;
  histogram.Add(1000000);
  EXPECT_EQ(histogram.Median(), 1000000);
  EXPECT_EQ(histogram.Percentile(0), 1000000);
}

TEST(Histogram, MergingEqualsAddingAll) {
  Histogram all, left, right;
  for (uint64_t i = 0; i < 1000; ++i) {
    all.Add(i * i);
    (i % 3 == 0 ? left : right).Add(i * i);
  }
  left.Merge(right);
  EXPECT_EQ(left.ToString(), all.ToString());
}

TEST(Histogram, ShardsSumToTheSame) {
  Histogram plain, total;
  HistogramShard a, b;
  for (uint64_t i = 0; i < 1000; ++i) {
    plain.Add(i);
    (i % 2 == 0 ? a : b).Add(i);
  }
  a.AddTo(&total);
  b.AddTo(&total);
  EXPECT_EQ(total.ToString(), plain.ToString());
  a.Clear();
  Histogram empty;
  a.AddTo(&empty);
  EXPECT_TRUE(empty.empty());
}

TEST(Histogram, PrintsAsRocksDbDoes) {
  Histogram histogram;
  for (int i = 0; i < 3; ++i) histogram.Add(1);
  histogram.Add(5);
  EXPECT_EQ(histogram.ToString(),
            "Count: 4 Average: 2.0000  StdDev: 1.73\n"
            "Min: 1  Median: 1.0000  Max: 5\n"
            "Percentiles: P50: 1.00 P75: 1.00 P99: 5.00 P99.9: 5.00 P99.99: 5.00\n"
            "------------------------------------------------------\n"
            "[       0,       1 ]        3  75.000%  75.000% ###############\n"
            "(       4,       6 ]        1  25.000% 100.000% #####\n");
}

}  // namespace
}  // namespace ashlar
