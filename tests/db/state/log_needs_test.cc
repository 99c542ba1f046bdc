// SPDX-License-Identifier: Apache-2.0
//
// The default of max_total_wal_size.
#include "db/state/log_needs.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

// A mapped log has a limit of its own, and fails beyond it.
TEST(LogLimit, IsNeverMoreThanOneLogMayHold) {
  EXPECT_EQ(LogLimit(1000 * kGiB, {kGiB}, 128 * kGiB), 128 * kGiB);
  EXPECT_EQ(LogLimit(0, {100 * kGiB}, 128 * kGiB), 128 * kGiB);
  EXPECT_EQ(LogLimit(7, {kGiB}, 128 * kGiB), 7u);
}

TEST(LogLimit, IsWhatIsAskedFor) { EXPECT_EQ(LogLimit(7, {kGiB, kGiB}), 7u); }

TEST(LogLimit, IsFourTimesTheMemtablesOfAFewFamilies) {
  EXPECT_EQ(LogLimit(0, {128 * kMiB}), 512 * kMiB);
  EXPECT_EQ(LogLimit(0, {64 * kMiB, 128 * kMiB}), 768 * kMiB);
}

TEST(LogLimit, IsAGigabyteForManyFamilies) {
  EXPECT_EQ(LogLimit(0, std::vector<uint64_t>(1000, 128 * kMiB)), kGiB);
}

TEST(LogLimit, LeavesALargeFamilyWhatItNeeds) {
  EXPECT_EQ(LogLimit(0, {kGiB}), 4 * kGiB);
  EXPECT_EQ(LogLimit(0, {kGiB, 128 * kMiB, 128 * kMiB}), 4 * kGiB);
}

}  // namespace
}  // namespace ashlar
