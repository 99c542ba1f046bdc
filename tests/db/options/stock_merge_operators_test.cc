// SPDX-License-Identifier: Apache-2.0
//
// The merge operators that have names. Results were taken from RocksDB 7.8.3's of the same names.
#include "db/options/stock_merge_operators.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "db/options/options_file.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

std::string Full(const MergeOperator& op, std::optional<std::string> base,
                 const std::vector<std::string>& operands) {
  const std::vector<Slice> slices(operands.begin(), operands.end());
  const Slice existing = base.has_value() ? Slice(*base) : Slice();
  std::string value;
  Slice input(nullptr, 0);
  MergeOperator::MergeOperationOutput out(value, input);
  const Slice key("key");
  const MergeOperator::MergeOperationInput in(key, base.has_value() ? &existing : nullptr, slices,
                                              nullptr);
  if (!op.FullMergeV2(in, &out)) return "failed";
  return input.data() != nullptr ? input.ToString() : value;
}

std::string Partial(const MergeOperator& op, const std::vector<std::string>& operands) {
  const std::deque<Slice> slices(operands.begin(), operands.end());
  std::string value;
  return op.PartialMergeMulti("key", slices, &value, nullptr) ? value : "apart";
}

std::string Counter(uint64_t n) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; i++) bytes[static_cast<size_t>(i)] = static_cast<char>(n >> (8 * i));
  return bytes;
}

constexpr std::nullopt_t kNone = std::nullopt;

}  // namespace

TEST(StockMergeOperators, HaveTwoNamesEach) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"uint64add", "UInt64AddOperator"},
      {"put", "PutOperator"},
      {"max", "MaxOperator"},
      {"stringappend", "StringAppendOperator"},
      {"stringappendtest", "StringAppendTESTOperator"},
      {"bytesxor", "BytesXOR"},
      {"sortlist", "MergeSortOperator"}};
  for (const auto& [nick, name] : names) {
    ASSERT_NE(NewStockMergeOperator(nick), nullptr) << nick;
    ASSERT_NE(NewStockMergeOperator(name), nullptr) << name;
    EXPECT_EQ(NewStockMergeOperator(nick)->Name(), name);
    EXPECT_TRUE(NewStockMergeOperator(name)->IsInstanceOf(nick));
  }
  EXPECT_STREQ(NewStockMergeOperator("put_v1")->Name(), "PutOperator");
  EXPECT_EQ(NewStockMergeOperator("PutOperatorV2"), nullptr);
}

TEST(StockMergeOperators, CountersAddModulo2To64) {
  const auto op = NewStockMergeOperator("uint64add");
  EXPECT_EQ(Full(*op, kNone, {Counter(1)}), Counter(1));
  EXPECT_EQ(Full(*op, Counter(2), {Counter(1), Counter(4)}), Counter(7));
  EXPECT_EQ(Full(*op, "abc", {Counter(1)}), Counter(1));
  EXPECT_EQ(Partial(*op, {Counter(7), Counter(8)}), Counter(15));
  EXPECT_EQ(Partial(*op, {Counter(1), Counter(UINT64_MAX)}), Counter(0));
  EXPECT_EQ(Partial(*op, {Counter(1), "abc", Counter(1)}), Counter(2)) << "no counter counts as 0";
}

TEST(StockMergeOperators, PutTakesTheNewest) {
  for (const char* name : {"put", "put_v1"}) {
    const auto op = NewStockMergeOperator(name);
    EXPECT_EQ(Full(*op, "base", {"a", "c", "b"}), "b");
    EXPECT_EQ(Full(*op, kNone, {""}), "");
    EXPECT_EQ(Partial(*op, {"a", "c", "b"}), "b");
  }
}

TEST(StockMergeOperators, MaxTakesTheGreatestOfAll) {
  const auto op = NewStockMergeOperator("max");
  EXPECT_EQ(Full(*op, kNone, {"a", "c", "b"}), "c");
  EXPECT_EQ(Full(*op, "5,1", {"3,4,5", "1,2"}), "5,1");
  EXPECT_EQ(Full(*op, "", {"b"}), "b");
  EXPECT_EQ(Partial(*op, {"7", "bad,x", "1,,2"}), "bad,x");
}

TEST(StockMergeOperators, StringAppendJoins) {
  for (const char* name : {"stringappend", "stringappendtest"}) {
    const auto op = NewStockMergeOperator(name);
    EXPECT_EQ(Full(*op, kNone, {"b"}), "b");
    EXPECT_EQ(Full(*op, "", {"b"}), ",b") << "an empty value is a value";
    EXPECT_EQ(Full(*op, "zz", {"a", "c", "b"}), "zz,a,c,b");
    EXPECT_EQ(Full(*op, kNone, {"", "x"}), ",x");
  }
  EXPECT_EQ(Partial(*NewStockMergeOperator("stringappend"), {"a", "c", "b"}), "a,c,b");
  EXPECT_EQ(Partial(*NewStockMergeOperator("stringappendtest"), {"a", "c"}), "apart");
  EXPECT_EQ(Full(*NewStringAppendOperator("::"), "a", {"b", "c"}), "a::b::c");
}

// As part of a string, and in an OPTIONS file.
TEST(StockMergeOperators, DelimitersArePrintedSoThatTheyAreReadAgain) {
  for (const std::string delimiter :
       {"",    ",",    ";",    "a;b",  ";;",    "; ",  " ",     ", ",  " | ",    "  ",
        "\t",  "\n",   "\r\n", "#",    " #",    ":",   ": ",    "=",   "id=x;",  "\\",
        "\\ ", "x;\\", "{}",   "{a}b", "a{b}c", "{;}", "a{;}c", "{ }", "nullptr"}) {
    SCOPED_TRACE(delimiter);
    ColumnFamilyOptions given;
    given.merge_operator = NewStringAppendOperator(delimiter);
    OptionsFileContents contents;
    contents.families.push_back({"default", given});
    auto parsed = ParseOptionsText(ConfigOptions(), WriteOptionsText(contents));
    ASSERT_OK(parsed.status());
    std::string text;
    ASSERT_OK(GetStringFromColumnFamilyOptions(ConfigOptions(), given, &text));
    ColumnFamilyOptions options;
    ASSERT_OK(
        GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), text, &options));
    const std::string expected = "a" + delimiter + "b";
    for (const auto& op : {parsed->families[0].options.merge_operator, options.merge_operator}) {
      ASSERT_NE(op, nullptr);
      EXPECT_EQ(Partial(*op, {"a", "b"}), expected);
    }
  }
}

TEST(StockMergeOperators, BytesXorFillsUpWithZeros) {
  const auto op = NewStockMergeOperator("bytesxor");
  EXPECT_EQ(Partial(*op, {"a", "c", "b"}), "`");
  EXPECT_EQ(Partial(*op, {"", "x"}), "x");
  EXPECT_EQ(Partial(*op, {"3,4,5", "1,2"}), std::string("\x02\x00\x06,5", 5));
}

TEST(StockMergeOperators, SortListMergesLists) {
  const auto op = NewStockMergeOperator("sortlist");
  EXPECT_EQ(Full(*op, kNone, {"3,4,5", "1,2"}), "1,2,3,4,5");
  EXPECT_EQ(Full(*op, kNone, {"1,2", "2,3"}), "1,2,2,3");
  EXPECT_EQ(Full(*op, kNone, {"3", "9,1"}), "3,9,1") << "what is not sorted stays so";
  EXPECT_EQ(Full(*op, kNone, {"3", "-1", "4"}), "-1,3,4");
  EXPECT_EQ(Full(*op, "1,5", {"3"}), "1,3,5");
  EXPECT_EQ(Full(*op, kNone, {""}), "");
  for (const char* bad : {"x", "1,", "1,,2", "99999999999", "1 2"}) {
    EXPECT_EQ(Full(*op, kNone, {bad}), "failed") << bad;
  }
  EXPECT_EQ(Partial(*op, {"3,4", "1"}), "1,3,4");
  EXPECT_EQ(Partial(*op, {"3,4", "x"}), "apart");
}

}  // namespace ashlar
