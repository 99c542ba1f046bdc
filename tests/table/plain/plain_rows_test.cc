// SPDX-License-Identifier: Apache-2.0
//
// Rows of PlainTables and buckets of CuckooTables: bytes of RocksDB 7.8.3, and damage.
#include "table/plain/plain_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/plain/bare_table.h"
#include "table/plain/cuckoo_buckets.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    if (hex[i] == ' ') {
      i--;
      continue;
    }
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<std::string> RowsOf(const Slice& bytes, const PlainRowFormat& format, Status* status) {
  std::vector<std::string> result;
  PlainRows rows(bytes, format);
  while (rows.Next()) {
    const uint64_t trailer = ExtractTrailer(rows.key());
    result.push_back(StrCat(ExtractUserKey(rows.key()), "@", TrailerSeqno(trailer), ".",
                            static_cast<int>(TrailerType(trailer)), "=", rows.value()));
  }
  EXPECT_FALSE(rows.Next());
  *status = rows.status();
  return result;
}

constexpr PlainRowFormat kSharing{.shares_prefixes = true};
const std::vector<std::string> kExpected = {"aa01@1.1=v1", "aa02@6.1=v4", "aa02@3.1=v3",
                                            "ab03@4.0=", "ab04@5.1=xxx"};
// Written by RocksDB with prefixes of two bytes.
const char* const kWholeKeys =
    "04 61613031 0101000000000000 02 7631 04 61613032 0106000000000000 02 7634"
    "04 61613032 0103000000000000 02 7633 04 61623033 0004000000000000 00"
    "04 61623034 0105000000000000 03 787878";
const char* const kSharedPrefixes =
    "04 61613031 0101000000000000 02 7631 42 82 3032 0106000000000000 02 7634"
    "82 3032 0103000000000000 02 7633 04 61623033 0004000000000000 00"
    "42 82 3034 0105000000000000 03 787878";

TEST(PlainRows, BothEncodingsAreRead) {
  Status status;
  EXPECT_EQ(RowsOf(FromHex(kWholeKeys), {}, &status), kExpected);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(RowsOf(FromHex(kSharedPrefixes), kSharing, &status), kExpected);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(PlainRows, KeysOfOneLengthAreStoredWithoutIt) {
  Status status;
  const std::string bytes = FromHex("61613031 0101000000000000 02 7631 61613032 ff 00");
  EXPECT_EQ(RowsOf(bytes, {.fixed_key_bytes = 4}, &status),
            (std::vector<std::string>{"aa01@1.1=v1", "aa02@0.1="}));
  EXPECT_TRUE(status.ok());
}

TEST(PlainRows, OneByteStandsForAValueOfTheLastLevel) {
  Status status;
  EXPECT_EQ(RowsOf(FromHex("04 62613030 ff 04 6f6c6430 42 82 3031 ff 00"), kSharing, &status),
            (std::vector<std::string>{"ba00@0.1=old0", "ba01@0.1="}));
  EXPECT_TRUE(status.ok());
}

TEST(PlainRows, SizesBeyondTheControlByteFollowIt) {
  const std::string key(70, 'k');
  Status status;
  std::string bytes = FromHex("3f 07") + key + FromHex("ff 00");
  bytes += FromHex("7f 02") + FromHex("bf 01") + std::string(64, 'l') + FromHex("ff 00");
  EXPECT_EQ(RowsOf(bytes, kSharing, &status),
            (std::vector<std::string>{key + "@0.1=",
                                      key.substr(0, 65) + std::string(64, 'l') + "@0.1="}));
  EXPECT_TRUE(status.ok()) << status.ToString();
}

TEST(PlainRows, ACutRowIsCorruptionWithItsOffset) {
  for (const bool shares : {false, true}) {
    const std::string whole = FromHex(shares ? kSharedPrefixes : kWholeKeys);
    const PlainRowFormat format{.shares_prefixes = shares};
    int clean = 0;
    for (size_t bytes = 0; bytes < whole.size(); bytes++) {
      Status status;
      const auto rows = RowsOf(Slice(whole.data(), bytes), format, &status);
      EXPECT_TRUE(std::equal(rows.begin(), rows.end(), kExpected.begin()));
      if (status.ok()) {
        clean++;
      } else {
        EXPECT_NE(status.ToString().find("row at offset "), std::string::npos);
      }
    }
    EXPECT_EQ(clean, 5);  // at the end of four rows, and none
  }
}

TEST(PlainRows, KeysThatNoWriterWritesAreCorruption) {
  for (const char* const damaged :
       {"82 3032 ff 00",                           // a suffix first
        "42 82 3032 ff 00",                        // a prefix of no key
        "04 61613031 ff 00 45 82 3032 ff 00",      // a prefix that is longer than the key
        "04 61613031 ff 00 42 04 61613032 ff 00",  // a prefix and a whole key
        "04 61613031 ff 00 c2 3032 ff 00",         // a kind that does not exist
        "3f ffffffff0f"}) {                        // a size beyond 32 bits
    Status status;
    RowsOf(FromHex(damaged), kSharing, &status);
    EXPECT_TRUE(status.IsCorruption()) << damaged;
  }
}

TEST(BareTables, AreRecognisedByTheirMagicNumber) {
  EXPECT_EQ(BareTableKindOf(FromHex("b8138f7aeb18344f")), BareTableKind::kPlain);
  EXPECT_EQ(BareTableKindOf(FromHex("00 6495bf6396224282")), BareTableKind::kPlain);
  EXPECT_EQ(BareTableKindOf(FromHex("7378f1c5d0896792")), BareTableKind::kCuckoo);
  EXPECT_EQ(BareTableKindOf(FromHex("f7cff485b741e288")), BareTableKind::kNone);
  EXPECT_EQ(BareTableKindOf("short"), BareTableKind::kNone);
}

std::vector<std::string> EntriesOf(const Slice& buckets, const CuckooFormat& format,
                                   Status* status) {
  std::vector<std::string> result;
  const InternalKeyComparator order(BytewiseComparator());
  const auto entries = SortedEntries(buckets, format, order);
  *status = entries.status();
  if (!entries.ok()) return result;
  for (const auto& [key, value] : entries.value()) {
    const uint64_t trailer = ExtractTrailer(key);
    result.push_back(StrCat(ExtractUserKey(key), "@", TrailerSeqno(trailer), ".",
                            static_cast<int>(TrailerType(trailer)), "=", value));
  }
  return result;
}

TEST(CuckooBuckets, FullBucketsAreSorted) {
  Status status;
  CuckooFormat last{.key_bytes = 2, .value_bytes = 3, .has_user_keys = true, .empty_key = "a0"};
  EXPECT_EQ(EntriesOf("k2222a0aaak1111a0aaa", last, &status),
            (std::vector<std::string>{"k1@0.1=111", "k2@0.1=222"}));
  EXPECT_TRUE(status.ok());
  const std::string seven = FromHex("0107000000000000");
  const std::string nine = FromHex("0009000000000000");
  const CuckooFormat other{.key_bytes = 10, .value_bytes = 1, .empty_key = "a0" + seven};
  EXPECT_EQ(EntriesOf("k2" + seven + "x" + "a0" + seven + "a" + "k1" + nine + "a", other, &status),
            (std::vector<std::string>{"k1@9.0=a", "k2@7.1=x"}));
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(EntriesOf("", last, &status).empty());
  EXPECT_TRUE(status.ok());
}

TEST(CuckooBuckets, APartOfABucketIsCorruption) {
  Status status;
  const CuckooFormat format{.key_bytes = 2, .value_bytes = 3, .has_user_keys = true};
  EntriesOf("k2222k1", format, &status);
  EXPECT_TRUE(status.IsCorruption());
  EntriesOf("k2222", {.has_user_keys = true}, &status);
  EXPECT_TRUE(status.IsCorruption());
}

}  // namespace
}  // namespace ashlar
