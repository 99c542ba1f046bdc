// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the statistics texts have the forms of RocksDB.
#include "db/report/human_text.h"

#include <gtest/gtest.h>

namespace ashlar {

TEST(HumanText, HasTheFormsOfRocksDb) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(9999), "9999");
  EXPECT_EQ(HumanCount(10999), "10K");
  EXPECT_EQ(HumanCount(22021), "22K");
  EXPECT_EQ(HumanCount(10'000'000), "10M");
  EXPECT_EQ(HumanCount(10'000'000'000), "10G");
  EXPECT_EQ(HumanBytes(0), "0.00 KB");
  EXPECT_EQ(HumanBytes(92), "0.09 KB");
  EXPECT_EQ(HumanBytes(1048575), "1024.00 KB");
  EXPECT_EQ(HumanBytes(8356390), "7.97 MB");
  EXPECT_EQ(HumanBytes(3ull << 30), "3.00 GB");
  EXPECT_EQ(HumanMicros(24'000), "00:00:0.024");
  EXPECT_EQ(HumanMicros(3'723'004'000), "01:02:3.004");
  EXPECT_EQ(PerSecond(3, 0), 0);
  EXPECT_EQ(PerSecond(3, 1'500'000), 2);
}

}  // namespace ashlar
