// SPDX-License-Identifier: Apache-2.0
//
// The syntax of options: splitting, braces, escapes, numbers.
#include "util/text/option_text.h"

#include <gtest/gtest.h>

#include "ashlar/convenience.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

using Pairs = std::vector<NameValue>;

Pairs Split(std::string_view text) {
  Pairs options;
  EXPECT_OK(SplitOptions(text, &options));
  return options;
}

TEST(OptionText, SplitsAtTheTopLevelOnly) {
  EXPECT_EQ(Split("a=1;b={c=2;d={e=3;};};"), (Pairs{{"a", "1"}, {"b", "c=2;d={e=3;};"}}));
}

TEST(OptionText, SpacesAndEmptyStatementsMeanNothing) {
  EXPECT_EQ(Split(" a = 1 ;; \n b={ c=2 } ; "), (Pairs{{"a", "1"}, {"b", "c=2"}}));
}

TEST(OptionText, BracesAroundTheWholeAreTakenOff) {
  EXPECT_EQ(Split("{a=1;b=2}"), (Pairs{{"a", "1"}, {"b", "2"}}));
}

TEST(OptionText, ValuesMayBeEmptyOrHoldEqualsSigns) {
  EXPECT_EQ(Split("a=;b=c=d"), (Pairs{{"a", ""}, {"b", "c=d"}}));
}

TEST(OptionText, ListsOfStructsSplitAtColonsOutsideBraces) {
  std::vector<std::string> items;
  ASSERT_OK(SplitList("{age=1;t=a:b}:{age=2}", ':', &items));
  EXPECT_EQ(items, (std::vector<std::string>{"age=1;t=a:b", "age=2"}));
}

TEST(OptionText, RefusesWhatHasNoName) {
  for (const char* bad : {"a", "=1", "a=1;b", "a={b=1", "a={b}}", "{a=1};b=2", "a={b}}c;d=1"}) {
    Pairs options;
    EXPECT_TRUE(SplitOptions(bad, &options).IsInvalidArgument()) << bad;
  }
}

TEST(OptionText, BracesInsideAValueAreCharacters) {
  EXPECT_EQ(Split("a=}"), (Pairs{{"a", "}"}}));
  EXPECT_EQ(Split("a=b{c;d=e"), (Pairs{{"a", "b{c"}, {"d", "e"}}));
}

TEST(OptionText, DeepNestingIsRefusedNotFollowed) {
  Pairs options;
  const std::string deep = "a=" + std::string(100000, '{') + std::string(100000, '}');
  EXPECT_TRUE(SplitOptions(deep, &options).IsInvalidArgument());
}

TEST(OptionText, EscapesRoundTrip) {
  const std::string raw = "be\\ta#x:y\r\nz\"]";
  EXPECT_EQ(EscapeOptionString(raw), "be\\\\ta\\#x\\:y\\r\\nz\"]");
  EXPECT_EQ(UnescapeOptionString(EscapeOptionString(raw)), raw);
}

TEST(OptionText, AnEscapeOfNothingMeansNothing) {
  EXPECT_EQ(UnescapeOptionString("a \\"), "a ");
  EXPECT_EQ(UnescapeOptionString("\\ a\\\\"), " a\\");
}

TEST(OptionText, NumbersTakeSuffixes) {
  uint64_t value = 0;
  ASSERT_TRUE(ParseUint64Text(" 64M ", &value));
  EXPECT_EQ(value, uint64_t{64} << 20);
  ASSERT_TRUE(ParseUint64Text("2t", &value));
  EXPECT_EQ(value, uint64_t{2} << 40);
  ASSERT_TRUE(ParseUint64Text("18446744073709551615", &value));
  EXPECT_EQ(value, UINT64_MAX);
}

TEST(OptionText, NumbersThatDoNotFitAreRefused) {
  uint64_t value = 0;
  int64_t number = 0;
  for (const char* bad : {"", "x", "k", "-", "+", "--1", "18446744073709551616", "99999999t"}) {
    EXPECT_FALSE(ParseUint64Text(bad, &value)) << bad;
  }
  EXPECT_FALSE(ParseInt64Text("9223372036854775808", &number));
  ASSERT_TRUE(ParseInt64Text("-9223372036854775808", &number));
  EXPECT_EQ(number, INT64_MIN);
  ASSERT_TRUE(ParseInt64Text("-1k", &number));
  EXPECT_EQ(number, -1024);
}

// As RocksDB reads them: a number ends where its digits and suffix do.
TEST(OptionText, NumbersEndAtTheFirstStrangeCharacter) {
  const std::pair<const char*, uint64_t> kTexts[] = {
      {"2MB", 2 << 20}, {"1.5G", 1}, {"0x100", 0},       {"1x", 1},
      {"1kk", 1024},    {"2 MB", 2}, {"-1", UINT64_MAX}, {"-1K", ~uint64_t{1023}},
      {"+5", 5},        {"1P", 1}};
  for (const auto& [text, expected] : kTexts) {
    uint64_t value = 99;
    EXPECT_TRUE(ParseUint64Text(text, &value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
}

TEST(OptionText, FractionsTakeExponentsAndHexadecimal) {
  const std::pair<const char*, double> kTexts[] = {{"1e1", 10}, {"0x10", 16},    {"-.5", -0.5},
                                                   {"5.", 5},   {"10.5x", 10.5}, {"+3", 3}};
  for (const auto& [text, expected] : kTexts) {
    double value = 99;
    EXPECT_TRUE(ParseDoubleText(text, &value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
  double value = 0;
  for (const char* bad : {"", "x", "inf", "nan", "-", "--1", "1e999"}) {
    EXPECT_FALSE(ParseDoubleText(bad, &value)) << bad;
  }
}

TEST(OptionText, MapsRoundTrip) {
  const std::unordered_map<std::string, std::string> map = {{"a", "1"}, {"b", "c=2;d=3"}};
  std::string text;
  ASSERT_OK(MapToString(map, &text));
  std::unordered_map<std::string, std::string> parsed;
  ASSERT_OK(StringToMap(text, &parsed));
  EXPECT_EQ(parsed, map);
}

}  // namespace
}  // namespace ashlar
