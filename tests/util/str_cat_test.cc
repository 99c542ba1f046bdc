// SPDX-License-Identifier: Apache-2.0
//
// Joining text.
#include "util/text/str_cat.h"

#include <gtest/gtest.h>

#include <limits>

namespace ashlar {
namespace {

TEST(StrCat, JoinsEveryKindOfPiece) {
  const std::string name = "000012.sst";
  EXPECT_EQ(StrCat(name, ": ", 53u, " of ", int64_t{-7}, ' ', true, Slice("!"), 1.5),
            "000012.sst: 53 of -7 true!1.5");
  EXPECT_EQ(StrCat(), "");
}

TEST(StrCat, PrintsTheWholeRangeOfNumbers) {
  EXPECT_EQ(StrCat(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(StrCat(uint8_t{200}), "200");
}

TEST(StrCat, PassesStringsOfEveryTypeByAddress) {
  const char* const pointer = "pointer";
  const std::string long_text(100, 'x');
  EXPECT_EQ(StrCat(pointer, std::string_view("view ").substr(0, 4), long_text, std::string("!"),
                   FileNumber{7}, Level{-1}, false, 2.0f),
            "pointerview" + long_text + "!7-1false2");
}

TEST(StrCat, JoinsThirtyTwoPieces) {
  const std::string s = "s";
  EXPECT_EQ(StrCat(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5), "0123456789012345");
  EXPECT_EQ(StrCat(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, "five", s), "012345678901234fives");
  EXPECT_EQ(StrCat(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6,
                   7, 8, 9, s, '!'),
            "012345678901234567890123456789s!");
}

TEST(StrAppend, KeepsWhatIsThere) {
  std::string text = "a";
  StrAppend(&text, "b", 3);
  EXPECT_EQ(text, "ab3");
}

TEST(Hex, PrintsNumbersAndBytes) {
  EXPECT_EQ(Hex(0), "0x0");
  EXPECT_EQ(Hex(0x88e241b785f4cff7ull), "0x88e241b785f4cff7");
  EXPECT_EQ(HexBytes(Slice("\x00\xffz", 3)), "00FF7A");
}

TEST(EscapeBytes, KeepsPrintableCharactersOnly) {
  EXPECT_EQ(EscapeBytes(Slice("a\\\n\x80", 4)), "a\\x5C\\x0A\\x80");
}

}  // namespace
}  // namespace ashlar
