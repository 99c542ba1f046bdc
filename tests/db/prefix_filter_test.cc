// SPDX-License-Identifier: Apache-2.0
//
// A prefix filter is used only with the extractor that built it: after a change of the extractor
// every key is still found, in old tables and in new ones.
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr int kKeys = 100;

class PrefixFilterTest : public DbTest {
 protected:
  // Keys have every other prefix of four bytes; absent keys have the prefixes between these.
  static std::string Key(int i) { return "k" + std::to_string(10000 + 200 * i); }
  static std::string AbsentKey(int i) { return "k" + std::to_string(10100 + 200 * i); }

  PrefixFilterTest() {
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.whole_key_filtering = false;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  // Takes the extractor over.
  void Open(const SliceTransform* extractor) {
    options_.prefix_extractor.reset(extractor);
    DbTest::Open();
  }
  void Fill(const std::string& value) {
    for (int i = 0; i < kKeys; i++) Put(Key(i), value);
    Flush();
  }
  int FoundCount(const std::string& expected) {
    int found = 0;
    for (int i = 0; i < kKeys; i++) found += Get(Key(i)) == expected;
    return found;
  }
  uint64_t RejectedCount() {
    const uint64_t before = Ticks(BLOOM_FILTER_PREFIX_USEFUL);
    for (int i = 0; i + 1 < kKeys; i++) EXPECT_EQ(Get(AbsentKey(i)), "(none)");
    return Ticks(BLOOM_FILTER_PREFIX_USEFUL) - before;
  }
};

TEST_F(PrefixFilterTest, KeysAreFoundAfterAReopenWithAnotherExtractor) {
  Open(NewFixedPrefixTransform(4));
  Fill("v");
  EXPECT_EQ(FoundCount("v"), kKeys);
  EXPECT_GT(RejectedCount(), 80u);  // the filter is in use
  for (const size_t length : {2, 3, 5, 6}) {
    Open(NewFixedPrefixTransform(length));
    EXPECT_EQ(FoundCount("v"), kKeys) << length;
  }
  Open(NewCappedPrefixTransform(4));
  EXPECT_EQ(FoundCount("v"), kKeys);
  Open(nullptr);
  EXPECT_EQ(FoundCount("v"), kKeys);
  Open(NewFixedPrefixTransform(4));
  EXPECT_EQ(FoundCount("v"), kKeys);
  EXPECT_GT(RejectedCount(), 80u);
}

TEST_F(PrefixFilterTest, KeysAreFoundAfterSetOptionsOfAnotherExtractor) {
  Open(NewFixedPrefixTransform(4));
  Fill("old");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "rocksdb.FixedPrefix.3"}}));
  EXPECT_EQ(FoundCount("old"), kKeys);
  Fill("new");
  EXPECT_EQ(FoundCount("new"), kKeys);
  Open(NewFixedPrefixTransform(4));
  EXPECT_EQ(FoundCount("new"), kKeys);
  Open(NewFixedPrefixTransform(3));
  EXPECT_EQ(FoundCount("new"), kKeys);
}

// Such keys have no prefix that the filter could contain.
TEST_F(PrefixFilterTest, KeysTooShortForAPrefixAreFound) {
  Open(NewFixedPrefixTransform(4));
  for (const char* key : {"k", "k10", "z"}) Put(key, "short");
  Fill("v");
  for (const char* key : {"k", "k10", "z"}) EXPECT_EQ(Get(key), "short");
  EXPECT_EQ(Get("k1"), "(none)");
  EXPECT_GT(RejectedCount(), 80u) << "the filter is in use";
}

}  // namespace
}  // namespace ashlar
