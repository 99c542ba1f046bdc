// SPDX-License-Identifier: Apache-2.0
//
// The two meta blocks of a hash search index.
#include "table/index/prefix_blocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice_transform.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

struct PrefixRun {
  std::string prefix;
  uint32_t first_block;
  uint32_t block_count;
  friend bool operator==(const PrefixRun&, const PrefixRun&) = default;
};

std::vector<PrefixRun> RunsOf(const PrefixBlocksBuilder& builder) {
  std::vector<PrefixRun> runs;
  Slice metadata(builder.metadata()), prefixes(builder.prefixes());
  uint32_t bytes = 0;
  while (GetVarint32(&metadata, &bytes)) {
    PrefixRun run;
    run.prefix.assign(prefixes.data(), bytes);
    prefixes.remove_prefix(bytes);
    EXPECT_TRUE(GetVarint32(&metadata, &run.first_block));
    EXPECT_TRUE(GetVarint32(&metadata, &run.block_count));
    runs.push_back(run);
  }
  EXPECT_TRUE(prefixes.empty());
  return runs;
}

TEST(PrefixBlocks, ABlockWithTwoPrefixesCountsForBoth) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(2));
  PrefixBlocksBuilder builder(extractor.get());
  builder.AddKey("aa1", 0);
  builder.AddKey("aa2", 1);
  builder.AddKey("ab1", 1);
  builder.AddKey("ab2", 3);
  builder.AddKey("b_", 3);
  builder.Finish();
  EXPECT_TRUE(builder.is_usable());
  EXPECT_EQ(RunsOf(builder), (std::vector<PrefixRun>{{"aa", 0, 2}, {"ab", 1, 3}, {"b_", 3, 1}}));
}

TEST(PrefixBlocks, PrefixesOfDifferentLengthsAreToldApart) {
  const std::unique_ptr<const SliceTransform> extractor(NewCappedPrefixTransform(3));
  PrefixBlocksBuilder builder(extractor.get());
  for (const char* key : {"", "a", "ab", "abc1", "abc2"}) builder.AddKey(key, 0);
  builder.Finish();
  EXPECT_EQ(RunsOf(builder),
            (std::vector<PrefixRun>{{"", 0, 1}, {"a", 0, 1}, {"ab", 0, 1}, {"abc", 0, 1}}));
}

// RocksDB would search for such a key with a prefix that it does not have.
TEST(PrefixBlocks, AKeyWithoutPrefixMakesThemUseless) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(2));
  PrefixBlocksBuilder builder(extractor.get());
  builder.AddKey("a", 0);
  builder.AddKey("aa", 0);
  builder.Finish();
  EXPECT_FALSE(builder.is_usable());
}

TEST(PrefixBlocks, WithoutKeysThereIsNothing) {
  const std::unique_ptr<const SliceTransform> extractor(NewFixedPrefixTransform(2));
  PrefixBlocksBuilder builder(extractor.get());
  builder.Finish();
  EXPECT_FALSE(builder.is_usable());
}

}  // namespace
}  // namespace ashlar
