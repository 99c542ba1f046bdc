// SPDX-License-Identifier: Apache-2.0
//
// The memory of filters is the same however it is shared, and a small run gets more of it per key.
#include "db/output/filter_bits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace ashlar {
namespace {

constexpr uint64_t kMiB = 1 << 20;

int32_t ShiftOf(const std::vector<uint64_t>& runs, size_t which) {
  std::vector<uint64_t> others = runs;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(which));
  return FilterShiftMillibits(runs[which], others);
}

TEST(FilterBits, ARunOfItsOwnAndEqualRunsGetWhatThePolicySays) {
  EXPECT_EQ(FilterShiftMillibits(64 * kMiB, {}), 0);
  EXPECT_EQ(ShiftOf({8 * kMiB, 8 * kMiB, 8 * kMiB}, 1), 0);
  EXPECT_EQ(FilterShiftMillibits(0, {}), 0);
}

TEST(FilterBits, TheSharesAddUpToTheMemoryOfThePolicy) {
  for (const std::vector<uint64_t>& runs : {std::vector<uint64_t>{4 * kMiB, 40 * kMiB, 400 * kMiB},
                                            {kMiB, kMiB, 2 * kMiB, 16 * kMiB},
                                            {5 * kMiB, 7 * kMiB}}) {
    double bits = 0, bytes = 0;
    for (size_t i = 0; i < runs.size(); i++) {
      bits += ShiftOf(runs, i) * static_cast<double>(runs[i]);
      bytes += static_cast<double>(runs[i]);
    }
    // Rounding, and what a very small run is not given, cost at most 1/50 of a bit a key.
    EXPECT_LT(std::abs(bits / bytes), 20.0);
    EXPECT_LE(bits / bytes, 1.0);
  }
}

TEST(FilterBits, EachTenthOfTheSizeIsWorthAlmostFiveBits) {
  const std::vector<uint64_t> runs = {4 * kMiB, 40 * kMiB, 400 * kMiB};
  EXPECT_NEAR(ShiftOf(runs, 1) - ShiftOf(runs, 2), 4792, 10);  // 1000 ln 10 / ln^2 2
  EXPECT_NEAR(ShiftOf(runs, 2), -525, 30);
}

TEST(FilterBits, SharesStayWithinBounds) {
  EXPECT_EQ(ShiftOf({1, 4096 * kMiB}, 0), 8000);
  EXPECT_EQ(FilterShiftMillibits(0, std::vector<uint64_t>{kMiB}), 8000);
  EXPECT_GE(FilterShiftMillibits(1000 * kMiB, std::vector<uint64_t>(100, 999 * kMiB)), -1500);
}

// False positive rates summed over the runs: what a lookup of an absent key pays.
TEST(FilterBits, FewerLookupsOfAbsentKeysSearchATable) {
  const std::vector<uint64_t> runs = {4 * kMiB, 16 * kMiB, 160 * kMiB, 1600 * kMiB};
  const auto rate = [](double bits) { return std::exp(-bits * 0.4804530139); };
  double shared = 0;
  for (size_t i = 0; i < runs.size(); i++) shared += rate(10 + ShiftOf(runs, i) / 1000.0);
  EXPECT_LT(shared, 0.45 * 4 * rate(10));
}

}  // namespace
}  // namespace ashlar
