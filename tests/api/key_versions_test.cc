// SPDX-License-Identifier: Apache-2.0
//
// GetAllKeyVersions: every stored version, in order, of memtables and tables.
#include "db/utilities/key_versions.h"
#include "ashlar/comparator.h"
#include "ashlar/utilities/debug.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class KeyVersionsTest : public DbTest {
 protected:
  KeyVersionsTest() {
    Open();
    Put("a", "1");
    Put("b", "2");
    // The flush keeps the versions that a snapshot sees.
    snapshot_ = db_->GetSnapshot();
    Delete("b");
    Flush();
    Put("b", "4");
    EXPECT_OK(db_->SingleDelete(WriteOptions(), "c"));
  }
  void TearDown() override {
    db_->ReleaseSnapshot(snapshot_);
    DbTest::TearDown();
  }

  // "key@seqno:type=value", one after the other.
  std::string Versions(OptSlice begin, OptSlice end, size_t max = 100) {
    std::vector<KeyVersion> versions;
    EXPECT_OK(GetAllKeyVersions(db_.get(), begin, end, max, &versions));
    std::string text;
    for (const KeyVersion& version : versions) {
      text += version.user_key + "@" + std::to_string(version.sequence) + ":" +
              std::to_string(version.type) + "=" + version.value + " ";
    }
    return text;
  }

  const Snapshot* snapshot_ = nullptr;
};

TEST_F(KeyVersionsTest, AreListedNewestFirstWithDeletes) {
  EXPECT_EQ(Versions(nullptr, nullptr), "a@1:1=1 b@4:1=4 b@3:0= b@2:1=2 c@5:7= ");
}

TEST_F(KeyVersionsTest, BothBoundsAreInclusive) {
  EXPECT_EQ(Versions("b", "b"), "b@4:1=4 b@3:0= b@2:1=2 ");
  EXPECT_EQ(Versions("bb", nullptr), "c@5:7= ");
}

TEST_F(KeyVersionsTest, StopAtTheGivenNumber) {
  EXPECT_EQ(Versions(nullptr, nullptr, 2), "a@1:1=1 b@4:1=4 ");
  EXPECT_EQ(Versions(nullptr, nullptr, 0), "");
}

TEST_F(KeyVersionsTest, MissingArgumentsAreRefused) {
  std::vector<KeyVersion> versions;
  EXPECT_TRUE(GetAllKeyVersions(nullptr, nullptr, nullptr, 1, &versions).IsInvalidArgument());
  EXPECT_TRUE(GetAllKeyVersions(db_.get(), nullptr, nullptr, 1, nullptr).IsInvalidArgument());
}

TEST_F(KeyVersionsTest, EndOfAWalkIsExclusiveUnlessIncluded) {
  const Slice end("b");
  KeyRange range;
  range.end = &end;
  int count = 0;
  const auto visit = [&](const Slice&, const Slice&) { return ++count > 0; };
  ASSERT_OK(ForEachKeyVersion(db_.get(), nullptr, range, visit));
  EXPECT_EQ(count, 1);
}

// The bounds have no timestamps, and may be shorter than one.
TEST(StampedKeyVersions, BoundsAreKeysWithoutTimestamps) {
  TestDb db;
  db.options().comparator = BytewiseComparatorWithU64Ts();
  db.Open();
  for (const auto& [key, timestamp] : {std::pair("a", 1), {"b", 1}, {"b", 3}, {"c", 2}}) {
    for (const std::string suffix : {"", "-of-14-bytes"}) {
      std::string bytes;
      EncodeU64Ts(static_cast<uint64_t>(timestamp), &bytes);
      ASSERT_OK(db.db()->Put({}, key + suffix, bytes, StrCat(key, timestamp)));
    }
  }
  const auto values = [&](OptSlice begin, OptSlice end) {
    std::vector<KeyVersion> versions;
    EXPECT_OK(GetAllKeyVersions(db.db(), begin, end, 100, &versions));
    std::string text;
    for (const KeyVersion& version : versions) text += version.value + " ";
    return text;
  };
  for (int flushed = 0; flushed < 2; ++flushed) {
    EXPECT_EQ(values("b", "b"), "b3 b1 ");
    EXPECT_EQ(values("b-of-14-bytes", "c"), "b3 b1 c2 ");
    EXPECT_EQ(values("b-of-14-bytes", "c-of-14-bytes"), "b3 b1 c2 c2 ");
    EXPECT_EQ(values(nullptr, "a"), "a1 ");
    EXPECT_EQ(values("c-of-14-bytes", nullptr), "c2 ");
    db.Flush();
  }
}

}  // namespace
}  // namespace ashlar
