// SPDX-License-Identifier: Apache-2.0
//
// Index blocks are marked as uniform according to the gaps between their keys at restart points.
#include "table/index/uniform_keys.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/block/block.h"
#include "table/block/block_flags.h"
#include "table/index/index_builder.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Keys of "p" and the eight bytes of a number, the most significant first.
std::vector<std::string> KeysOf(const std::vector<uint64_t>& numbers) {
  std::vector<std::string> keys;
  for (const uint64_t number : numbers) {
    std::string key = "p";
    for (int shift = 56; shift >= 0; shift -= 8) key += static_cast<char>(number >> shift);
    keys.push_back(key);
  }
  return keys;
}

bool AreUniform(const std::vector<std::string>& keys, double most_variation) {
  return AreKeysUniform(std::vector<Slice>(keys.begin(), keys.end()), most_variation);
}

TEST(UniformKeys, EqualGapsVaryByNothing) {
  EXPECT_TRUE(AreUniform(KeysOf({5, 10, 15, 20, 25, 30, 35, 40}), 0));
  EXPECT_FALSE(AreUniform(KeysOf({5, 10, 15, 21, 25, 30, 35, 40}), 0));
}

TEST(UniformKeys, TheBoundIsDeviationOverMean) {
  // Gaps of 1 and 3: the mean is 2, the deviation 1.
  const std::vector<std::string> keys = KeysOf({0, 1, 4, 5, 8, 9, 12, 13, 16});
  EXPECT_TRUE(AreUniform(keys, 0.5000001));
  EXPECT_FALSE(AreUniform(keys, 0.4999999));
}

TEST(UniformKeys, AFewKeysAreNeverUniform) {
  EXPECT_FALSE(AreUniform(KeysOf({5, 10, 15, 20, 25, 30, 35}), 100));
  EXPECT_FALSE(AreUniform({}, 100));
}

TEST(UniformKeys, NoBoundIsMetBelowZeroOrByNoNumber) {
  const std::vector<std::string> keys = KeysOf({5, 10, 15, 20, 25, 30, 35, 40});
  EXPECT_FALSE(AreUniform(keys, -1));
  EXPECT_FALSE(AreUniform(keys, std::nan("")));
}

TEST(UniformKeys, AShortKeyEndsInZeros) {
  const std::vector<std::string> keys = {"a", "a\1", "a\2", "a\3", "a\4", "a\5", "a\6", "a\7"};
  EXPECT_TRUE(AreUniform(keys, 1e-9));
}

TEST(UniformKeys, GapsOfTheWholeRangeDoNotOverflow) {
  std::vector<std::string> keys;
  for (int i = 0; i < 8; ++i) keys.push_back(std::string(1, static_cast<char>(i * 36)));
  EXPECT_TRUE(AreUniform(keys, 0.01));
}

// Builds an index over blocks of one key each, and returns the packed words of its blocks.
std::vector<uint32_t> PackedWordsOf(const IndexBuilderOptions& options,
                                    const std::vector<std::string>& keys, size_t* marked) {
  IndexBuilder index(options);
  uint64_t offset = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string last = MakeInternalKey(keys[i], 9, kTypeValue);
    const std::string next = MakeInternalKey(i + 1 < keys.size() ? keys[i + 1] : "", 9, kTypeValue);
    if (i == 0) index.StartBlock(last);
    const Slice next_key(next);
    index.AddBlock(last, i + 1 < keys.size() ? &next_key : nullptr, {offset, 100});
    offset += 105;
  }
  std::vector<uint32_t> words;
  EXPECT_OK(index
                .WriteTo([&](const Slice& block) -> Result<BlockHandle> {
                  Block parsed;
                  EXPECT_OK(Block::Parse(block, &parsed));
                  words.push_back(DecodeFixed32(block.data() + block.size() - sizeof(uint32_t)));
                  offset += block.size() + 5;
                  return BlockHandle{offset - block.size() - 5, block.size()};
                })
                .status());
  *marked = index.uniform_block_count();
  return words;
}

class UniformIndex : public testing::Test {
 protected:
  IndexBuilderOptions Options(const InternalKeyComparator& order) {
    return {.icmp = &order,
            .shortening = IndexShortening::kNone,
            .format_version = 7,
            .most_uniform_variation = 0.1};
  }
  const InternalKeyComparator bytewise_{BytewiseComparator()};
  const std::vector<std::string> even_ = KeysOf({10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110});
  size_t marked_ = 0;
};

TEST_F(UniformIndex, AnEvenIndexIsMarkedAndCounted) {
  EXPECT_EQ(PackedWordsOf(Options(bytewise_), even_, &marked_),
            std::vector<uint32_t>{11 | kBlockUniformKeysFlag});
  EXPECT_EQ(marked_, 1u);
}

TEST_F(UniformIndex, AnUnevenOneIsNot) {
  const auto uneven = KeysOf({1, 2, 4, 8, 16, 32, 64, 128, 256, 512});
  EXPECT_EQ(PackedWordsOf(Options(bytewise_), uneven, &marked_), std::vector<uint32_t>{10});
  EXPECT_EQ(marked_, 0u);
}

TEST_F(UniformIndex, OtherOrdersAreNeverMarked) {
  const InternalKeyComparator reverse(ReverseBytewiseComparator());
  const std::vector<std::string> keys(even_.rbegin(), even_.rend());
  EXPECT_EQ(PackedWordsOf(Options(reverse), keys, &marked_), std::vector<uint32_t>{11});
}

TEST_F(UniformIndex, OnlyKeysAtRestartPointsCount) {
  IndexBuilderOptions options = Options(bytewise_);
  options.restart_interval = 2;
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 20; ++i) numbers.push_back(10 * i + (i % 2 == 1 ? 9 : 0));
  EXPECT_EQ(PackedWordsOf(options, KeysOf(numbers), &marked_),
            std::vector<uint32_t>{10 | kBlockUniformKeysFlag});
}

TEST_F(UniformIndex, PartitionsAndTheirIndexAreMarkedOneByOne) {
  IndexBuilderOptions options = Options(bytewise_);
  options.layout = IndexLayout::kPartitioned;
  options.partition_bytes = 200;
  options.nearly_full_partition_bytes = 180;
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < 200; ++i) numbers.push_back(1000 + i * (i < 100 ? 10 : i));
  const std::vector<uint32_t> words = PackedWordsOf(options, KeysOf(numbers), &marked_);
  ASSERT_GT(words.size(), 8u);
  EXPECT_NE(words.front() & kBlockUniformKeysFlag, 0u);
  EXPECT_EQ(words.back() & kBlockUniformKeysFlag, 0u);  // the top level spans both halves
  size_t flags = 0;
  for (const uint32_t word : words) flags += (word & kBlockUniformKeysFlag) != 0;
  EXPECT_EQ(flags, marked_);
}

}  // namespace
}  // namespace ashlar
