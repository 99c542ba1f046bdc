// SPDX-License-Identifier: Apache-2.0
//
// BlockBuilder: its bytes are read back entry by entry, by the rules of the format.
#include "table/block/block_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "table/block/block.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

struct Walked {
  Entries entries;
  std::vector<uint32_t> whole_key_offsets;  // entries that share nothing
};

// Reads entries directly from the bytes.
Walked Walk(const Slice& contents) {
  const uint32_t packed = DecodeFixed32(contents.data() + contents.size() - 4);
  const char* end = contents.data() + contents.size() - 4 - 4 * size_t{packed & 0x0fffffff};
  Walked walked;
  std::string key;
  for (const char* p = contents.data(); p < end;) {
    const auto offset = static_cast<uint32_t>(p - contents.data());
    uint32_t shared = 0, non_shared = 0, value_bytes = 0;
    p = GetVarint32Ptr(p, end, &shared);
    p = GetVarint32Ptr(p, end, &non_shared);
    p = GetVarint32Ptr(p, end, &value_bytes);
    if (shared == 0) walked.whole_key_offsets.push_back(offset);
    key.resize(shared);
    key.append(p, non_shared);
    walked.entries.emplace_back(key, std::string(p + non_shared, value_bytes));
    p += non_shared + value_bytes;
  }
  return walked;
}

Entries NumberedEntries(int count) {
  Entries entries;
  for (int i = 0; i < count; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "key%05d", i);
    entries.emplace_back(MakeInternalKey(key, static_cast<uint64_t>(i + 1), kTypeValue),
                         std::string(static_cast<size_t>(i % 7) * 40, 'v'));
  }
  return entries;
}

TEST(BlockBuilder, EmptyBlockHasOneRestart) {
  BlockBuilder builder({});
  EXPECT_EQ(builder.Finish().ToString(), FromHex("0000000001000000"));
  EXPECT_TRUE(builder.empty());
}

TEST(BlockBuilder, WritesTheDocumentedBytes) {
  BlockBuilder builder({.restart_interval = 2});
  builder.Add("apple", "1");
  builder.Add("apply", "22");
  builder.Add("apt", "");
  EXPECT_EQ(HexBytes(builder.Finish()),
            "0005016170706C6531"  // 0 shared, 5 own, 1 value
            "040102793232"        // 4 shared
            "000300617074"        // a restart
            "000000000F000000"
            "02000000");
}

TEST(BlockBuilder, WritesTheDocumentedBytesOfSeparateValues) {
  BlockBuilder builder({.restart_interval = 2, .separates_values = true});
  builder.Add("apple", "1");
  builder.Add("apply", "22");
  builder.Add("apt", "");
  EXPECT_EQ(builder.EstimateBytesWith("aq", "x") - builder.CurrentBytes(), 2u + 1 + 4 + 1 + 1);
  builder.Add("aq", "333");
  EXPECT_EQ(builder.EstimateBytesWith("b", "x") - builder.CurrentBytes(), 1u + 1 + 6 + 4 + 1);
  const size_t bytes = builder.CurrentBytes();
  const Slice contents = builder.Finish();
  EXPECT_EQ(contents.size(), bytes);
  EXPECT_EQ(HexBytes(contents),
            "000501006170706C65"  // 0 shared, 5 own, 1 value, which is at 0
            "04010279"            // 4 shared; the value is behind the one before
            "00030003617074"      // a restart: the value is at 3
            "01010371"
            "313232333333"
            "000000000D000000"
            "18000000"    // where values begin
            "02000010");  // bit 28
}

TEST(BlockBuilder, ResetStartsAFreshBlockOfSeparateValues) {
  BlockBuilder builder({.hash_util_ratio = 0.75, .separates_values = true});
  const Entries entries = NumberedEntries(40);
  for (const auto& [key, value] : entries) builder.Add(key, value);
  const std::string first = builder.Finish().ToString();
  builder.Reset();
  EXPECT_EQ(builder.CurrentBytes(), 4u + 4 + 4 + 3);  // a restart, two words, one bucket
  for (const auto& [key, value] : entries) builder.Add(key, value);
  EXPECT_EQ(builder.Finish().ToString(), first);
}

TEST(BlockBuilder, KeepsEveryEntryInOrder) {
  const Entries entries = NumberedEntries(500);
  for (const int interval : {1, 2, 16, 1000}) {
    BlockBuilder builder({.restart_interval = interval});
    for (const auto& [key, value] : entries) builder.Add(key, value);
    const size_t bytes = builder.CurrentBytes();
    const Slice contents = builder.Finish();
    EXPECT_EQ(contents.size(), bytes);
    EXPECT_EQ(Walk(contents).entries, entries);
    Block block;
    ASSERT_OK(Block::Parse(contents, &block));
    EXPECT_EQ(block.restart_count(), static_cast<uint32_t>((500 + interval - 1) / interval));
  }
}

TEST(BlockBuilder, WithoutDeltaEncodingStoresWholeKeys) {
  const Entries entries = NumberedEntries(50);
  BlockBuilder builder({.use_delta_encoding = false});
  for (const auto& [key, value] : entries) builder.Add(key, value);
  const Walked walked = Walk(builder.Finish());
  EXPECT_EQ(walked.entries, entries);
  EXPECT_EQ(walked.whole_key_offsets.size(), 50u);
}

TEST(BlockBuilder, ResetStartsAFreshBlock) {
  const Entries entries = NumberedEntries(40);
  BlockBuilder used({.hash_util_ratio = 0.75});
  for (const auto& [key, value] : entries) used.Add(key, value);
  const std::string first = used.Finish().ToString();
  used.Reset();
  EXPECT_TRUE(used.last_key().empty());
  for (const auto& [key, value] : entries) used.Add(key, value);
  EXPECT_EQ(used.Finish().ToString(), first);
}

TEST(BlockBuilder, RemembersTheLastKeyAcrossLengths) {
  BlockBuilder builder({});
  for (const std::string& key : {std::string("a"), std::string(300, 'b'), std::string("bc"),
                                 std::string("bc") + std::string(100, 'x')}) {
    builder.Add(key, "v");
    EXPECT_EQ(builder.last_key(), Slice(key));
  }
  EXPECT_EQ(Walk(builder.Finish()).entries[2].first, "bc");
}

TEST(BlockBuilder, ForeseesSizesLikeTheCuttingRule) {
  BlockBuilder builder({.restart_interval = 1});
  EXPECT_EQ(builder.CurrentBytes(), 8u);
  EXPECT_EQ(builder.EstimateBytesWith("key", "value"), 8u + 3 + 5 + 6);
  builder.Add("key", "value");
  EXPECT_EQ(builder.EstimateBytesWith("key", "value"), builder.CurrentBytes() + 3 + 5 + 10);
}

TEST(BlockBuilder, LeavesOutValueLengthsForIndexBlocks) {
  BlockBuilder builder({.restart_interval = 16, .has_value_lengths = false});
  builder.AddWithDelta("ab", "FULL", "d");
  builder.AddWithDelta("ac", "FULL", "d");
  builder.AddWithDelta("ad", "FULL", "d", /*is_chained=*/false);
  builder.AddWithDelta("b", "FULL", "d");  // shares nothing, so the value is whole
  const std::string contents = builder.Finish().ToString();
  EXPECT_EQ(HexBytes(Slice(contents.data(), contents.size() - 8)),
            "0002616246554C4C"
            "01016364"
            "0002616446554C4C"
            "00016246554C4C");
}

class HashIndex : public testing::TestWithParam<double> {};

TEST_P(HashIndex, LeadsEveryKeyToItsInterval) {
  const Entries entries = NumberedEntries(200);
  BlockBuilder builder({.restart_interval = 4, .hash_util_ratio = GetParam()});
  for (const auto& [key, value] : entries) builder.Add(key, value);
  Block block;
  const Slice contents = builder.Finish();
  ASSERT_OK(Block::Parse(contents, &block));
  ASSERT_TRUE(block.has_hash_index());
  for (size_t i = 0; i < entries.size(); ++i) {
    const uint8_t bucket = block.HashLookup(ExtractUserKey(entries[i].first));
    if (bucket != Block::kHashCollision) {
      EXPECT_EQ(bucket, i / 4) << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(UtilRatios, HashIndex, testing::Values(0.5, 0.75, 1.0, 100.0));

TEST(HashIndexLimits, TooManyRestartsOrBytesGiveNoHashIndex) {
  BlockBuilder many_restarts({.restart_interval = 1, .hash_util_ratio = 0.75});
  for (const auto& [key, value] : NumberedEntries(255)) many_restarts.Add(key, "");
  Block block;
  ASSERT_OK(Block::Parse(many_restarts.Finish(), &block));
  EXPECT_FALSE(block.has_hash_index());

  BlockBuilder large({.hash_util_ratio = 0.75});
  large.Add(MakeInternalKey("k", 1, kTypeValue), std::string(70'000, 'v'));
  ASSERT_OK(Block::Parse(large.Finish(), &block));
  EXPECT_FALSE(block.has_hash_index());
}

}  // namespace
}  // namespace ashlar
