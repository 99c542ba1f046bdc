// SPDX-License-Identifier: Apache-2.0
//
// Which directory takes the tables of a level, or a run.
#include "db/compaction/output_paths.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/text/str_cat.h"

namespace ashlar {
namespace {

ColumnFamilyOptions WithPaths(const std::vector<uint64_t>& target_sizes) {
  ColumnFamilyOptions options;
  options.max_bytes_for_level_base = 100;
  for (const uint64_t bytes : target_sizes) options.cf_paths.emplace_back("/path", bytes);
  return options;
}

std::string PathsOfLevels(const ColumnFamilyOptions& options,
                          const std::vector<uint64_t>& level_targets) {
  CompactionNeeds needs;
  needs.target_bytes = level_targets;
  std::string text;
  for (size_t level = 0; level < level_targets.size(); level++) {
    StrAppend(&text, PathOfLevel(options, needs, Level{static_cast<int>(level)}));
  }
  return text;
}

TEST(OutputPaths, LevelsFillDirectoriesInTheirOrder) {
  const std::vector<uint64_t> targets = {0, 100, 1000, 10000};  // level 0 is taken for 100
  EXPECT_EQ(PathsOfLevels(WithPaths({}), targets), "0000");
  EXPECT_EQ(PathsOfLevels(WithPaths({1}), targets), "0000") << "the only one takes everything";
  EXPECT_EQ(PathsOfLevels(WithPaths({200, 5000}), targets), "0011");
  EXPECT_EQ(PathsOfLevels(WithPaths({199, 5000}), targets), "0111");
  EXPECT_EQ(PathsOfLevels(WithPaths({99, 5000}), targets), "1111");
  EXPECT_EQ(PathsOfLevels(WithPaths({200, 1000, 9999, 1}), targets), "0013");
  EXPECT_EQ(PathsOfLevels(WithPaths({1200, 10000}), targets), "0001");
}

TEST(OutputPaths, AnEmptyTreeIsExpectedToHoldTheBase) {
  EXPECT_EQ(PathsOfLevels(WithPaths({200, 5000}), {0, 0, UINT64_MAX}), "000");
  EXPECT_EQ(PathsOfLevels(WithPaths({150, 5000}), {0, 0, UINT64_MAX}), "001");
}

TEST(OutputPaths, ARunGoesWhereItAndNewerRunsFit) {
  const ColumnFamilyOptions options = WithPaths({100, 1000, 1});
  EXPECT_EQ(PathOfRun(options, 50), 0u);
  EXPECT_EQ(PathOfRun(options, 51), 1u);
  EXPECT_EQ(PathOfRun(options, 550), 1u);
  EXPECT_EQ(PathOfRun(options, 551), 2u);
  EXPECT_EQ(PathOfRun(WithPaths({}), 551), 0u);
}

}  // namespace
}  // namespace ashlar
