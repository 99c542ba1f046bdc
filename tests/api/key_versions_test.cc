// SPDX-License-Identifier: Apache-2.0
//
// GetAllKeyVersions: every stored version, in order, from memtables and tables alike.
#include <gtest/gtest.h>

#include <memory>

#include "ashlar/db.h"
#include "ashlar/utilities/debug.h"
#include "db/utilities/key_versions.h"
#include "tests/support/paths.h"

namespace ashlar {
namespace {

class KeyVersionsTest : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.create_if_missing = true;
    ASSERT_TRUE(DB::Open(options, FreshTempDir("key_versions"), &db_).ok());
    ASSERT_TRUE(db_->Put(WriteOptions(), "a", "1").ok());
    ASSERT_TRUE(db_->Put(WriteOptions(), "b", "2").ok());
    // Versions that a snapshot sees survive the flush.
    snapshot_ = db_->GetSnapshot();
    ASSERT_TRUE(db_->Delete(WriteOptions(), "b").ok());
    ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
    ASSERT_TRUE(db_->Put(WriteOptions(), "b", "4").ok());
    ASSERT_TRUE(db_->SingleDelete(WriteOptions(), "c").ok());
  }
  void TearDown() override {
    if (db_ != nullptr) db_->ReleaseSnapshot(snapshot_);
  }

  // "key@seqno:type=value", one after the other.
  std::string Versions(OptSlice begin, OptSlice end, size_t max = 100) {
    std::vector<KeyVersion> versions;
    EXPECT_TRUE(GetAllKeyVersions(db_.get(), begin, end, max, &versions).ok());
    std::string text;
    for (const KeyVersion& version : versions) {
      text += version.user_key + "@" + std::to_string(version.sequence) + ":" +
              std::to_string(version.type) + "=" + version.value + " ";
    }
    return text;
  }

  std::unique_ptr<DB> db_;
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
  ASSERT_TRUE(ForEachKeyVersion(db_.get(), nullptr, range, visit).ok());
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace ashlar
