// SPDX-License-Identifier: Apache-2.0
//
// Encodings of numbers and strings: exact bytes, round trips, and refusal of damaged input.
#include "util/keys/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ashlar {
namespace {

std::vector<uint64_t> InterestingNumbers() {
  std::vector<uint64_t> numbers = {0};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    for (const uint64_t n : {power - 1, power, power + 1, ~power}) numbers.push_back(n);
  }
  numbers.push_back(std::numeric_limits<uint64_t>::max());
  return numbers;
}

TEST(Coding, FixedNumbersAreLittleEndian) {
  std::string bytes;
  PutFixed16(&bytes, 0x0102);
  PutFixed32(&bytes, 0x03040506);
  PutFixed64(&bytes, 0x0708090a0b0c0d0eull);
  EXPECT_EQ(bytes, std::string("\x02\x01\x06\x05\x04\x03\x0e\x0d\x0c\x0b\x0a\x09\x08\x07", 14));
  EXPECT_EQ(DecodeFixed16(bytes.data()), 0x0102);
  EXPECT_EQ(DecodeFixed32(bytes.data() + 2), 0x03040506u);
  EXPECT_EQ(DecodeFixed64(bytes.data() + 6), 0x0708090a0b0c0d0eull);
}

TEST(Coding, FixedParsersStopAtTheEnd) {
  Slice input("\x01\x00\x00\x00\x02", 5);
  uint32_t word = 0;
  ASSERT_TRUE(GetFixed32(&input, &word));
  EXPECT_EQ(word, 1u);
  uint16_t half = 0;
  uint64_t wide = 0;
  EXPECT_FALSE(GetFixed16(&input, &half));
  EXPECT_FALSE(GetFixed32(&input, &word));
  EXPECT_FALSE(GetFixed64(&input, &wide));
  EXPECT_EQ(input.size(), 1u);
}

TEST(Coding, VarintsHaveTheKnownBytes) {
  std::string bytes;
  PutVarint32(&bytes, 0);
  PutVarint32(&bytes, 127);
  PutVarint32(&bytes, 128);
  PutVarint32(&bytes, 300);
  PutVarint32(&bytes, 0xffffffff);
  EXPECT_EQ(bytes, std::string("\x00\x7f\x80\x01\xac\x02\xff\xff\xff\xff\x0f", 11));
}

TEST(Coding, Varint64RoundTrips) {
  for (const uint64_t n : InterestingNumbers()) {
    std::string bytes;
    PutVarint64(&bytes, n);
    EXPECT_EQ(bytes.size(), VarintLength(n));
    Slice input(bytes);
    uint64_t decoded = ~n;
    ASSERT_TRUE(GetVarint64(&input, &decoded)) << n;
    EXPECT_EQ(decoded, n);
    EXPECT_TRUE(input.empty());
  }
}

TEST(Coding, Varint32TakesWhatFitsAndRefusesTheRest) {
  for (const uint64_t n : InterestingNumbers()) {
    std::string bytes;
    PutVarint64(&bytes, n);
    Slice input(bytes);
    uint32_t decoded = 0;
    const bool fits = n <= std::numeric_limits<uint32_t>::max();
    EXPECT_EQ(GetVarint32(&input, &decoded), fits) << n;
    EXPECT_EQ(input.size(), fits ? 0 : bytes.size());
    if (fits) {
      EXPECT_EQ(decoded, n);
    }
  }
}

TEST(Coding, TruncatedVarintsAreRefused) {
  std::string bytes;
  PutVarint64(&bytes, std::numeric_limits<uint64_t>::max());
  for (size_t n = 0; n < bytes.size(); ++n) {
    uint64_t value = 0;
    EXPECT_EQ(GetVarint64Ptr(bytes.data(), bytes.data() + n, &value), nullptr) << n;
  }
}

TEST(Coding, VarintsThatDoNotFitAreRefused) {
  const std::string eleven("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  const std::string too_large("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
  for (const std::string& bytes : {eleven, too_large}) {
    uint64_t value = 0;
    EXPECT_EQ(GetVarint64Ptr(bytes.data(), bytes.data() + bytes.size(), &value), nullptr);
  }
}

TEST(Coding, ZigZagKeepsSmallMagnitudesShort) {
  EXPECT_EQ(ZigZagEncode(0), 0u);
  EXPECT_EQ(ZigZagEncode(-1), 1u);
  EXPECT_EQ(ZigZagEncode(1), 2u);
  for (const uint64_t n : InterestingNumbers()) {
    const auto value = static_cast<int64_t>(n);
    EXPECT_EQ(ZigZagDecode(ZigZagEncode(value)), value);
  }
}

TEST(Coding, LengthPrefixedSlicesRoundTrip) {
  std::string bytes;
  PutLengthPrefixedSlice(&bytes, "");
  PutLengthPrefixedSlice(&bytes, std::string(200, 'x'));
  PutLengthPrefixedSlice(&bytes, "tail");
  Slice input(bytes), value;
  ASSERT_TRUE(GetLengthPrefixedSlice(&input, &value));
  EXPECT_TRUE(value.empty());
  ASSERT_TRUE(GetLengthPrefixedSlice(&input, &value));
  EXPECT_EQ(value.ToString(), std::string(200, 'x'));
  ASSERT_TRUE(GetLengthPrefixedSlice(&input, &value));
  EXPECT_EQ(value.ToString(), "tail");
  EXPECT_FALSE(GetLengthPrefixedSlice(&input, &value));
}

TEST(Coding, LengthBeyondTheInputIsRefused) {
  std::string bytes;
  PutLengthPrefixedSlice(&bytes, "abcdef");
  for (size_t n = 0; n < bytes.size(); ++n) {
    Slice input(bytes.data(), n), value;
    EXPECT_FALSE(GetLengthPrefixedSlice(&input, &value)) << n;
    EXPECT_EQ(input.size(), n);
  }
}

}  // namespace
}  // namespace ashlar
