// SPDX-License-Identifier: Apache-2.0
//
// Where a compaction is cut into parts.
#include "db/compaction/cut_points.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ashlar/comparator.h"

namespace ashlar {
namespace {

std::string Cuts(const std::vector<KeyWeight>& weights, uint32_t parts, uint64_t least_bytes = 0) {
  const InternalKeyComparator order{BytewiseComparator()};
  std::string text;
  for (const std::string& cut : CutPoints(weights, order, parts, least_bytes)) {
    text += text.empty() ? cut : " " + cut;
  }
  return text;
}

TEST(CutPoints, PartsHaveAboutEqualBytes) {
  const std::vector<KeyWeight> even = {{"b", 10}, {"d", 10}, {"f", 10}, {"h", 10}};
  EXPECT_EQ(Cuts(even, 1), "");
  EXPECT_EQ(Cuts(even, 2), "d");
  EXPECT_EQ(Cuts(even, 4), "b d f");
  const std::vector<KeyWeight> uneven = {{"b", 10}, {"d", 10}, {"f", 10}, {"h", 90}, {"k", 60}};
  EXPECT_EQ(Cuts(uneven, 2), "h");
}

TEST(CutPoints, InputsCountTogether) {
  EXPECT_EQ(Cuts({{"a", 10}, {"m", 10}, {"z", 10}, {"b", 10}, {"c", 10}, {"d", 10}}, 2), "c");
}

TEST(CutPoints, AKeyBeginsOnePart) {
  EXPECT_EQ(Cuts({{"a", 10}, {"a", 10}, {"a", 10}, {"b", 10}}, 4), "a");
}

TEST(CutPoints, NoPartIsSmallerThanWorthIt) {
  const std::vector<KeyWeight> even = {{"b", 10}, {"d", 10}, {"f", 10}, {"h", 10}};
  EXPECT_EQ(Cuts(even, 4, 20), "d");
  EXPECT_EQ(Cuts(even, 4, 30), "");
  EXPECT_EQ(Cuts(even, 4, 25), "") << "the rest would be smaller than half";
  EXPECT_EQ(Cuts({}, 4), "");
  EXPECT_EQ(Cuts({{"a", 0}, {"b", 0}}, 2), "");
}

}  // namespace
}  // namespace ashlar
