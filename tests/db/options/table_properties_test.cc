// SPDX-License-Identifier: Apache-2.0
//
// Text and sums of table properties.
#include "ashlar/table_properties.h"

#include <gtest/gtest.h>

#include "ashlar/convenience.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

TableProperties Sample() {
  TableProperties properties;
  properties.num_entries = 4;
  properties.raw_key_size = 10;
  properties.data_size = 100;
  properties.index_size = 20;
  properties.comparator_name = "leveldb.BytewiseComparator";
  properties.user_collected_properties["k:;=\n"] = std::string("\0v", 2);
  properties.key_largest_seqno = 77;
  return properties;
}

TEST(TableProperties, TextForPeople) {
  const std::string text = Sample().ToString("\n", ": ");
  EXPECT_NE(text.find("# entries: 4\n"), std::string::npos);
  EXPECT_NE(text.find("raw average key size: 2.500000\n"), std::string::npos);
  EXPECT_NE(text.find("(estimated) table size: 120\n"), std::string::npos);
  EXPECT_NE(text.find("comparator name: leveldb.BytewiseComparator\n"), std::string::npos);
  EXPECT_NE(text.find("merge operator name: N/A\n"), std::string::npos);
}

TEST(TableProperties, SerializedFormParsesToTheSame) {
  std::string text, mismatch;
  ASSERT_OK(Sample().Serialize(ConfigOptions(), &text));
  TableProperties parsed;
  ASSERT_OK(TableProperties::Parse(ConfigOptions(), text, &parsed));
  const TableProperties expected = Sample();
  EXPECT_TRUE(parsed.AreEqual(ConfigOptions(), &expected, &mismatch)) << mismatch;
}

TEST(TableProperties, ParseRefusesUnknownFields) {
  TableProperties parsed;
  EXPECT_TRUE(TableProperties::Parse(ConfigOptions(), "no_such=1", &parsed).IsInvalidArgument());
  EXPECT_TRUE(
      TableProperties::Parse(ConfigOptions(), "num_entries=x", &parsed).IsInvalidArgument());
}

TEST(TableProperties, DifferencesAreNamed) {
  TableProperties a = Sample(), b = Sample();
  b.num_entries = 5;
  std::string mismatch;
  EXPECT_FALSE(a.AreEqual(ConfigOptions(), &b, &mismatch));
  EXPECT_EQ(mismatch, "num_entries");
}

TEST(TableProperties, AddSumsWhatCanBeSummed) {
  TableProperties total = Sample();
  total.Add(Sample());
  EXPECT_EQ(total.num_entries, 8u);
  EXPECT_EQ(total.key_largest_seqno, 77u);
  EXPECT_EQ(total.GetAggregatablePropertiesAsMap()["num_entries"], 8u);
}

TEST(CompressionNames, BothFormsAreShown) {
  EXPECT_EQ(ParseCompressionNameForDisplay("ZSTD"), "ZSTD");
  EXPECT_EQ(ParseCompressionNameForDisplay("BuiltinV2;04;"), "LZ4");
  EXPECT_EQ(ParseCompressionNameForDisplay("BuiltinV2;0407;"), "LZ4,ZSTD");
  EXPECT_EQ(ParseCompressionNameForDisplay("BuiltinV2;;"), "NoCompression");
  EXPECT_EQ(ParseCompressionNameForDisplay("odd;x;"), "odd;x;");
}

}  // namespace
}  // namespace ashlar
