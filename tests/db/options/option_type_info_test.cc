// SPDX-License-Identifier: Apache-2.0
//
// OptionTypeInfo: a struct of a program's own as text. RocksDB 7.8.3 answers the same, but for what
// says otherwise.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/utilities/options_type.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

enum class Colour { kRed, kGreen };

struct Inner {
  int a = 1;
  std::string s = "x";
};

struct Outer {
  bool flag = false;
  int n = 0;
  uint8_t u8 = 0;
  uint32_t u32 = 0;
  uint64_t u64 = 0;
  double d = 0;
  std::string text;
  std::string encoded;
  Colour colour = Colour::kRed;
  CompressionType compression = kNoCompression;
  Inner inner;
  std::vector<int> list;
  std::vector<std::string> names;
  std::vector<Inner> structs;
  std::array<int, 3> three{};
  int old = 0;
};

using Map = OptionTypeInfo::Map;
constexpr auto kNormal = OptionVerificationType::kNormal;
constexpr auto kNoFlags = OptionTypeFlags::kNone;

const std::unordered_map<std::string, Colour> kColours = {{"red", Colour::kRed},
                                                          {"green", Colour::kGreen}};
const Map kInner = {{"a", {offsetof(Inner, a), OptionType::kInt}},
                    {"s", {offsetof(Inner, s), OptionType::kString}}};
const Map kOuter = {
    {"flag", {offsetof(Outer, flag), OptionType::kBoolean}},
    {"n", {offsetof(Outer, n), OptionType::kInt, kNormal, OptionTypeFlags::kMutable}},
    {"u8", {offsetof(Outer, u8), OptionType::kUInt8T}},
    {"u32", {offsetof(Outer, u32), OptionType::kUInt32T}},
    {"u64", {offsetof(Outer, u64), OptionType::kUInt64T}},
    {"d", {offsetof(Outer, d), OptionType::kDouble}},
    {"text", {offsetof(Outer, text), OptionType::kString}},
    {"encoded", {offsetof(Outer, encoded), OptionType::kEncodedString}},
    {"colour", OptionTypeInfo::Enum<Colour>(offsetof(Outer, colour), &kColours)},
    {"compression", {offsetof(Outer, compression), OptionType::kCompressionType}},
    {"inner", OptionTypeInfo::Struct("inner", &kInner, offsetof(Outer, inner), kNormal, kNoFlags)},
    {"list",
     OptionTypeInfo::Vector<int>(offsetof(Outer, list), kNormal, kNoFlags, {0, OptionType::kInt})},
    {"names", OptionTypeInfo::Vector<std::string>(offsetof(Outer, names), kNormal, kNoFlags,
                                                  {0, OptionType::kString})},
    {"structs", OptionTypeInfo::Vector<Inner>(
                    offsetof(Outer, structs), kNormal, kNoFlags,
                    OptionTypeInfo::Struct("structs", &kInner, 0, kNormal, kNoFlags))},
    {"three", OptionTypeInfo::Array<int, 3>(offsetof(Outer, three), kNormal, kNoFlags,
                                            {0, OptionType::kInt})},
    {"old",
     {offsetof(Outer, old), OptionType::kInt, OptionVerificationType::kDeprecated, kNoFlags}},
};

struct Case {
  const char* name;
  const char* text;
  const char* printed;  // null: refused
};

const Case kCases[] = {
    {"flag", "true", "true"},
    {"flag", "yes", nullptr},
    {"n", "12k", "12288"},
    {"n", "x", nullptr},
    {"u8", "200", "200"},
    {"u8", "300", nullptr},
    {"u32", "4294967296", nullptr},
    {"u64", "-1", "18446744073709551615"},
    {"d", "0.5", "0.500000"},
    {"text", "a\\:b", "a\\:b"},
    {"encoded", "616263", "616263"},
    {"encoded", "zz", nullptr},  // RocksDB takes it for nothing
    {"colour", "green", "green"},
    {"colour", "blue", nullptr},
    {"compression", "kZSTD", "kZSTD"},
    {"inner.a", "7", "7"},
    {"inner.none", "7", nullptr},
    {"inner", "{none=7}", nullptr},
    {"list", "1:2:3", "1:2:3"},
    {"list", "1:", "1"},
    {"list", "", ""},
    {"list", "1:x", nullptr},
    {"names", "a:b:{c:d}", "a:b:{c\\:d}"},
    {"three", "1:2:3", "1:2:3"},
    {"three", "1:2", nullptr},
    {"three", "1:2:3:4", nullptr},
    {"old", "nonsense", ""},
};

TEST(OptionTypeInfo, MembersAreParsedAndPrinted) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(c.name) + "=" + c.text);
    Outer options;
    std::string member, printed;
    const OptionTypeInfo* const info = OptionTypeInfo::Find(c.name, kOuter, &member);
    ASSERT_NE(info, nullptr);
    const Status status = info->Parse(ConfigOptions(), member, c.text, &options);
    if (c.printed == nullptr) {
      EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
      continue;
    }
    ASSERT_OK(status);
    ASSERT_OK(info->Serialize(ConfigOptions(), member, &options, &printed));
    EXPECT_EQ(printed, c.printed);
  }
}

TEST(OptionTypeInfo, AStructIsParsedAsAWhole) {
  Outer options;
  std::unordered_map<std::string, std::string> unused;
  ASSERT_OK(OptionTypeInfo::ParseType(
      ConfigOptions(), "n=5;inner={a=9;s=q};unknown=1;structs={a=2}", kOuter, &options, &unused));
  EXPECT_EQ(options.n, 5);
  EXPECT_EQ(options.inner.a, 9);
  EXPECT_EQ(options.inner.s, "q");
  EXPECT_EQ(unused.size(), 1u);
  EXPECT_TRUE(
      OptionTypeInfo::ParseType(ConfigOptions(), "unknown=1", kOuter, &options).IsNotFound());
}

TEST(OptionTypeInfo, WhatIsPrintedParsesToTheSame) {
  Outer options, again;
  options.inner.a = 4;
  options.list = {3, 2, 1};
  options.structs = {{2, "y"}, {3, "z:w"}};
  options.colour = Colour::kGreen;
  options.encoded = "a;b";
  std::string text, mismatch;
  const ConfigOptions config;
  ASSERT_OK(OptionTypeInfo::SerializeType(config, kOuter, &options, &text));
  EXPECT_FALSE(OptionTypeInfo::TypesAreEqual(config, kOuter, &options, &again, &mismatch));
  ASSERT_OK(OptionTypeInfo::ParseType(config, text, kOuter, &again));
  EXPECT_TRUE(OptionTypeInfo::TypesAreEqual(config, kOuter, &options, &again, &mismatch)) << text;
}

TEST(OptionTypeInfo, ADifferenceIsNamed) {
  Outer one, other;
  other.inner.a = 7;
  std::string mismatch;
  const ConfigOptions config;
  EXPECT_FALSE(OptionTypeInfo::StructsAreEqual(config, "inner", &kInner, "inner", &one.inner,
                                               &other.inner, &mismatch));
  EXPECT_EQ(mismatch, "inner.a");
}

TEST(OptionTypeInfo, OnlyWhatTheSanityLevelAsksForIsCompared) {
  const OptionTypeInfo exact(0, OptionType::kInt);
  const OptionTypeInfo loose(0, OptionType::kInt, kNormal, OptionTypeFlags::kCompareLoose);
  const OptionTypeInfo never(0, OptionType::kInt, kNormal, OptionTypeFlags::kCompareNever);
  ConfigOptions config;
  config.sanity_level = ConfigOptions::kSanityLevelLooselyCompatible;
  const int one = 1, two = 2;
  std::string mismatch;
  EXPECT_TRUE(exact.AreEqual(config, "x", &one, &two, &mismatch));
  EXPECT_TRUE(never.AreEqual(config, "x", &one, &two, &mismatch));
  EXPECT_FALSE(loose.AreEqual(config, "x", &one, &two, &mismatch));
  EXPECT_EQ(mismatch, "x");
}

TEST(OptionTypeInfo, FunctionsOfTheProgramComeFirst) {
  const auto parse = [](const ConfigOptions&, const std::string&, const std::string& value,
                        void* addr) {
    *static_cast<int*>(addr) = static_cast<int>(value.size());
    return Status::OK();
  };
  OptionTypeInfo info(0, OptionType::kUnknown, OptionVerificationType::kByNameAllowFromNull,
                      kNoFlags, parse);
  info.SetSerializeFunc(
      [](const ConfigOptions&, const std::string&, const void* addr, std::string* value) {
        *value = std::string(static_cast<size_t>(*static_cast<const int*>(addr)), 'x');
        return Status::OK();
      });
  int prepared = 0;
  info.SetPrepareFunc([&](const ConfigOptions&, const std::string&, void*) {
    prepared++;
    return Status::OK();
  });
  const ConfigOptions config;
  int value = 0;
  std::string text;
  ASSERT_OK(info.Parse(config, "length", "four", &value));
  ASSERT_OK(info.Serialize(config, "length", &value, &text));
  ASSERT_OK(info.Prepare(config, "length", &value));
  EXPECT_EQ(value, 4);
  EXPECT_EQ(text, "xxxx");
  EXPECT_EQ(prepared, 1);
  EXPECT_TRUE(info.AreEqualByName(config, "length", &value, std::string("xxxx")));
  EXPECT_TRUE(info.AreEqualByName(config, "length", &value, std::string("nullptr")));
  EXPECT_FALSE(info.AreEqualByName(config, "length", &value, std::string("xxx")));
}

TEST(OptionTypeInfo, ATypeWithoutFunctionsIsRefused) {
  const OptionTypeInfo info(0, OptionType::kCustomizable);
  int value = 0;
  std::string text;
  EXPECT_TRUE(info.Parse(ConfigOptions(), "x", "1", &value).IsInvalidArgument());
  EXPECT_TRUE(info.Serialize(ConfigOptions(), "x", &value, &text).IsNotSupported());
}

TEST(OptionTypeInfo, PointersAreFollowedAsTheFlagsSay) {
  struct Pointers {
    int plain = 1;
    std::shared_ptr<int> shared = std::make_shared<int>(2);
    int* raw = nullptr;
  } pointers;
  pointers.raw = &pointers.plain;
  const OptionTypeInfo plain(offsetof(Pointers, plain), OptionType::kInt);
  const OptionTypeInfo shared(offsetof(Pointers, shared), OptionType::kUnknown, kNormal,
                              OptionTypeFlags::kShared);
  const OptionTypeInfo raw(offsetof(Pointers, raw), OptionType::kUnknown, kNormal,
                           OptionTypeFlags::kRawPointer);
  EXPECT_EQ(plain.AsRawPointer<int>(&pointers), &pointers.plain);
  EXPECT_EQ(shared.AsRawPointer<int>(&pointers), pointers.shared.get());
  EXPECT_EQ(raw.AsRawPointer<int>(&pointers), &pointers.plain);
}

struct TokenCase {
  const char* text;
  size_t start;
  const char* token;  // null: refused
  size_t end;
};

TEST(OptionTypeInfo, TokensEndAtTheDelimiterOutsideOfBraces) {
  const TokenCase cases[] = {{"a:b", 0, "a", 1},
                             {"a:b", 2, "b", std::string::npos},
                             {"", 0, "", std::string::npos},
                             {"  a  : b", 0, "a", 5},
                             {"{a:b}:c", 0, "a:b", 5},
                             {"{a{b}}x:c", 0, nullptr, 0},
                             {"{a", 0, nullptr, 0},
                             {" { a b } :c", 0, "a b", 9},
                             {"a:{b}", 2, "b", 5},
                             {"x", 5, "", std::string::npos}};
  for (const TokenCase& c : cases) {
    SCOPED_TRACE(c.text);
    size_t end = 0;
    std::string token;
    const Status status = OptionTypeInfo::NextToken(c.text, ':', c.start, &end, &token);
    EXPECT_EQ(status.ok(), c.token != nullptr);
    if (!status.ok() || c.token == nullptr) continue;
    EXPECT_EQ(token, c.token);
    EXPECT_EQ(end, c.end);
  }
}

}  // namespace
}  // namespace ashlar
