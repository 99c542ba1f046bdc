// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C: published values, and each implementation for this machine compared with the portable
// one.
#include "util/hash/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "util/hash/crc32c_internal.h"
#include "util/random.h"

namespace ashlar::crc32c {
namespace {

uint32_t ValueOf(const std::string& bytes) { return Value(bytes.data(), bytes.size()); }

TEST(Crc32c, MatchesPublishedValues) {
  EXPECT_EQ(ValueOf("123456789"), 0xe3069283u);
  EXPECT_EQ(ValueOf(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(ValueOf(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(ValueOf(""), 0u);
}

TEST(Crc32c, ExtendsOverAnySplit) {
  const std::string bytes = Random64(7).Bytes(300);
  for (size_t split = 0; split <= bytes.size(); ++split) {
    const uint32_t first = Value(bytes.data(), split);
    EXPECT_EQ(Extend(first, bytes.data() + split, bytes.size() - split), ValueOf(bytes));
  }
}

TEST(Crc32c, CombinesTheValuesOfTwoHalves) {
  const std::string bytes = Random64(8).Bytes(5000);
  for (const size_t split : {0, 1, 7, 64, 1000, 4999, 5000}) {
    const uint32_t a = Value(bytes.data(), split);
    const uint32_t b = Value(bytes.data() + split, bytes.size() - split);
    EXPECT_EQ(Combine(a, b, bytes.size() - split), ValueOf(bytes)) << split;
  }
}

TEST(Crc32c, MaskIsReversedByUnmaskAndChangesTheValue) {
  const uint32_t crc = ValueOf("foo");
  EXPECT_NE(Mask(crc), crc);
  EXPECT_NE(Mask(Mask(crc)), crc);
  EXPECT_EQ(Unmask(Mask(crc)), crc);
  EXPECT_EQ(Unmask(Unmask(Mask(Mask(crc)))), crc);
}

class HardwareCrc32c : public testing::Test {
 protected:
  HardwareCrc32c() : count_(HardwareImplementations(implementations_)) {}

  void ExpectSameAsPortable(const char* data, size_t n, uint32_t start) const {
    const uint32_t expected = ExtendPortable(start, data, n);
    for (size_t i = 0; i < count_; ++i) {
      ASSERT_EQ(implementations_[i].extend(start, data, n), expected)
          << implementations_[i].name << ", " << n << " bytes";
    }
    ASSERT_EQ(Extend(start, data, n), expected);
  }

  Implementation implementations_[kMaxHardwareImplementations];
  size_t count_;
};

TEST_F(HardwareCrc32c, EqualsPortableForEveryShortLength) {
  const std::string bytes = Random64(1).Bytes(2100);
  for (size_t n = 0; n <= 2048; ++n) {
    ExpectSameAsPortable(bytes.data() + n % 17, n, static_cast<uint32_t>(n * 0x9e3779b1));
  }
}

TEST_F(HardwareCrc32c, EqualsPortableForLongInputs) {
  Random64 random(2);
  const std::string bytes = random.Bytes(1 << 18);
  for (int i = 0; i < 200; ++i) {
    const size_t offset = random.Uniform(100);
    ExpectSameAsPortable(bytes.data() + offset, random.Uniform(bytes.size() - offset),
                         random.Next32());
  }
}

}  // namespace
}  // namespace ashlar::crc32c
