// SPDX-License-Identifier: Apache-2.0
//
// Wide-column entities: their bytes, damaged bytes, and the memory behind PinnableWideColumns.
#include "ashlar/wide_columns.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "util/keys/wide_column_encoding.h"

namespace ashlar {

namespace {

std::string Encoded(const WideColumns& columns) {
  std::string bytes;
  EXPECT_OK(AppendEncodedColumns(columns, &bytes));
  return bytes;
}

// Version 2 with the columns a=1, b=22.
std::string VersionTwo(char type_of_b) {
  return std::string("\x02\x02\x02\x02\x02", 5) + '\x01' + type_of_b +
         "\x01\x01\x01\x02"
         "ab122";
}

}  // namespace

TEST(WideColumnEncoding, IsThatOfTheFormat) {
  EXPECT_EQ(Encoded({{"zz", "22"}, {"", "dflt"}, {"a", "1"}}), std::string("\x01\x03\x00\x04\x01"
                                                                           "a\x01\x02zz\x02"
                                                                           "dflt122",
                                                                           18));
  EXPECT_EQ(Encoded({}), std::string("\x01\x00", 2));
}

TEST(WideColumnEncoding, ReadsBothVersions) {
  WideColumns columns;
  const std::string first = Encoded({{"b", "22"}, {"a", "1"}});
  ASSERT_OK(DecodeColumns(first, &columns));
  EXPECT_EQ(columns, (WideColumns{{"a", "1"}, {"b", "22"}}));
  const std::string second = VersionTwo('\x01');
  ASSERT_OK(DecodeColumns(second, &columns));
  EXPECT_EQ(columns, (WideColumns{{"a", "1"}, {"b", "22"}}));
}

TEST(WideColumnEncoding, RefusesWhatItCannotRead) {
  WideColumns columns;
  EXPECT_TRUE(DecodeColumns(VersionTwo('\x11'), &columns).IsNotSupported());
  EXPECT_TRUE(DecodeColumns(VersionTwo('\x05'), &columns).IsCorruption());
  EXPECT_TRUE(DecodeColumns("\x03", &columns).IsNotSupported());
  EXPECT_TRUE(DecodeColumns("", &columns).IsCorruption());
  // Not ascending: b, a.
  EXPECT_TRUE(DecodeColumns("\x01\x02\x01"
                            "b\x01\x01"
                            "a\x01"
                            "21",
                            &columns)
                  .IsCorruption());
}

TEST(WideColumnEncoding, EveryTruncationAndExtensionIsCorruption) {
  for (const std::string& whole : {Encoded({{"", "d"}, {"name", "value"}}), VersionTwo('\x01')}) {
    WideColumns columns;
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const std::string cut = whole.substr(0, bytes);
      EXPECT_TRUE(DecodeColumns(cut, &columns).IsCorruption()) << bytes;
      EXPECT_TRUE(columns.empty());
    }
    EXPECT_TRUE(DecodeColumns(whole + "x", &columns).IsCorruption());
  }
}

TEST(WideColumnEncoding, HugeCountsDoNotAllocate) {
  WideColumns columns;
  EXPECT_TRUE(DecodeColumns("\x01\xff\xff\xff\xff\x0f", &columns).IsCorruption());
  EXPECT_TRUE(DecodeColumns("\x02\xff\xff\xff\xff\x0f\x01\x01\x01", &columns).IsCorruption());
}

TEST(WideColumnEncoding, GivesTheDefaultColumn) {
  Slice value("old");
  const std::string with = Encoded({{"a", "1"}, {"", "dflt"}}), without = Encoded({{"a", "1"}});
  ASSERT_OK(DecodeDefaultColumn(with, &value));
  EXPECT_EQ(value, Slice("dflt"));
  ASSERT_OK(DecodeDefaultColumn(without, &value));
  EXPECT_EQ(value, Slice(""));
}

TEST(PinnableWideColumns, PlainValueIsTheDefaultColumn) {
  PinnableWideColumns result;
  result.SetPlainValue(Slice("value"));
  EXPECT_EQ(result.columns(), (WideColumns{{kDefaultWideColumnName, "value"}}));
  EXPECT_EQ(result.payload_size(), 5u);
  result.Reset();
  EXPECT_TRUE(result.columns().empty());
}

TEST(PinnableWideColumns, MoveKeepsShortAndLongValues) {
  for (const size_t bytes : {size_t{1}, size_t{1000}}) {
    const std::string value(bytes, 'v');
    PinnableWideColumns source;
    ASSERT_OK(source.SetWideColumnValue(Encoded({{"a", value}})));
    PinnableWideColumns target(std::move(source));
    EXPECT_EQ(target.columns(), (WideColumns{{"a", value}}));
    EXPECT_TRUE(source.columns().empty());  // NOLINT: the promise under test
  }
}

TEST(PinnableWideColumns, PinReleasesItsMemory) {
  int cleanups = 0;
  const std::string entity = Encoded({{"a", "1"}});
  PinnableWideColumns result;
  Cleanable owner;
  owner.RegisterCleanup([](void* counter, void*) { ++*static_cast<int*>(counter); }, &cleanups,
                        nullptr);
  ASSERT_OK(result.SetWideColumnValue(entity, &owner));
  EXPECT_EQ(result.columns()[0].name().data(), entity.data() + 3);
  EXPECT_EQ(cleanups, 0);
  result.Reset();
  EXPECT_EQ(cleanups, 1);
}

TEST(PinnableWideColumns, MalformedBytesLeaveNoColumns) {
  PinnableWideColumns result;
  result.SetPlainValue(Slice("value"));
  EXPECT_TRUE(result.SetWideColumnValue(Slice("junk")).IsNotSupported() ||
              result.columns().empty());
  EXPECT_TRUE(result.columns().empty());
}

}  // namespace ashlar
