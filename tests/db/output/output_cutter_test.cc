// SPDX-License-Identifier: Apache-2.0
//
// Where outputs end.
#include "db/output/output_cutter.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/db/output/tables_of_keys.h"

namespace ashlar {
namespace {

// Feeds keys of one letter, each entry ten bytes, and shows the outputs: "ab|cd".
std::string Cut(const std::string& keys, const OutputLimits& limits) {
  const InternalKeyComparator comparator(BytewiseComparator());
  OutputCutter cutter(comparator, limits);
  std::string text;
  uint64_t bytes = 0;
  for (const char key : keys) {
    const bool cut = cutter.ShouldCutBefore(Slice(&key, 1), bytes);
    if (cut && bytes > 0) {
      cutter.NoteNewOutput();
      text += '|';
      bytes = 0;
    }
    text += key;
    bytes += 10;
  }
  return text;
}

}  // namespace

TEST(OutputCutter, WithoutLimitsThereIsOneOutput) {
  EXPECT_EQ(Cut("abcdefgh", OutputLimits()), "abcdefgh");
}

TEST(OutputCutter, CutsAtTheTargetSize) {
  EXPECT_EQ(Cut("abcdefgh", {.target_bytes = 30, .next_level = {}}), "abc|def|gh");
}

TEST(OutputCutter, MakesOutputsOfOneSize) {
  OutputLimits limits{.target_bytes = 50, .expected_bytes = 80, .next_level = {}};
  EXPECT_EQ(Cut("abcdefgh", limits), "abcd|efgh");  // not abcde|fgh
  limits.expected_bytes = 50;
  EXPECT_EQ(Cut("abcdefgh", limits), "abcde|fgh");  // one was expected
  limits.target_bytes = 0;
  limits.expected_bytes = 20;
  EXPECT_EQ(Cut("abc", limits), "a|b|c");
}

TEST(OutputCutter, CutsEarlierAboveALevelThatHoldsMuchMore) {
  const TablesOfKeys next({{"a", "b", 100}, {"c", "d", 100}, {"e", "f", 100}, {"g", "h", 100}});
  OutputLimits limits{.target_bytes = 160, .overlap_bytes = 1000, .next_level = next.files()};
  EXPECT_EQ(Cut("abcdefghi", limits), "ab|cd|ef|gh|i");
  limits.target_bytes = 170;  // not an eighth at c
  EXPECT_EQ(Cut("abcdefghi", limits), "abcd|efgh|i");
  const TablesOfKeys small({{"a", "b", 30}, {"c", "d", 30}, {"e", "f", 30}, {"g", "h", 30}});
  limits.next_level = small.files();
  EXPECT_EQ(Cut("abcdefghi", limits), "abcdefghi");
}

TEST(OutputCutter, LinesUpWithTheLevelAfterOnceHalfFull) {
  const TablesOfKeys next({{"a", "c", 10}, {"d", "p", 10}});
  OutputLimits limits{.target_bytes = 50, .overlap_bytes = 1000, .next_level = next.files()};
  EXPECT_EQ(Cut("abcdefghij", limits), "abc|defgh|ij");
  limits.target_bytes = 80;  // not half full at d
  EXPECT_EQ(Cut("abcdefghijkl", limits), "abcdefgh|ijkl");
}

TEST(OutputCutter, LimitsWhatAnOutputOverlapsBelow) {
  const TablesOfKeys next({{"a", "b", 60}, {"c", "d", 60}, {"e", "f", 60}, {"g", "h", 60}});
  EXPECT_EQ(
      Cut("abcdefghi", {.target_bytes = 1000, .overlap_bytes = 100, .next_level = next.files()}),
      "abcd|efgh|i");
}

}  // namespace ashlar
