// SPDX-License-Identifier: Apache-2.0
//
// A filter of prefixes is asked only by the extractor that made it: after a change of the extractor
// every key is still found, in old tables and in new ones.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr int kKeys = 100;

// Every other prefix of four bytes is there; absent keys have the ones between.
std::string Key(int i) { return "k" + std::to_string(10000 + 200 * i); }
std::string AbsentKey(int i) { return "k" + std::to_string(10100 + 200 * i); }

class PrefixFilterTest : public testing::Test {
 protected:
  void Open(std::shared_ptr<const SliceTransform> extractor) {
    db_.reset();
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.statistics = statistics_;
    options.prefix_extractor = std::move(extractor);
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.whole_key_filtering = false;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(DB::Open(options, "/db", &db_));
  }
  void Fill(const std::string& value) {
    for (int i = 0; i < kKeys; i++) ASSERT_OK(db_->Put(WriteOptions(), Key(i), value));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  int FoundCount(const std::string& expected) {
    int found = 0;
    std::string value;
    for (int i = 0; i < kKeys; i++) {
      found += db_->Get(ReadOptions(), Key(i), &value).ok() && value == expected;
    }
    return found;
  }
  uint64_t RejectedCount() {
    const uint64_t before = statistics_->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL);
    std::string value;
    for (int i = 0; i + 1 < kKeys; i++) {
      EXPECT_TRUE(db_->Get(ReadOptions(), AbsentKey(i), &value).IsNotFound());
    }
    return statistics_->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL) - before;
  }

  std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::unique_ptr<DB> db_;
};

TEST_F(PrefixFilterTest, KeysAreFoundAfterAReopenWithAnotherExtractor) {
  Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(4)));
  Fill("v");
  EXPECT_EQ(FoundCount("v"), kKeys);
  EXPECT_GT(RejectedCount(), 80u);  // the filter is in use
  for (const size_t length : {2, 3, 5, 6}) {
    Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(length)));
    EXPECT_EQ(FoundCount("v"), kKeys) << length;
  }
  Open(std::shared_ptr<const SliceTransform>(NewCappedPrefixTransform(4)));
  EXPECT_EQ(FoundCount("v"), kKeys);
  Open(nullptr);
  EXPECT_EQ(FoundCount("v"), kKeys);
  Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(4)));
  EXPECT_EQ(FoundCount("v"), kKeys);
  EXPECT_GT(RejectedCount(), 80u);
}

TEST_F(PrefixFilterTest, KeysAreFoundAfterSetOptionsOfAnotherExtractor) {
  Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(4)));
  Fill("old");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "rocksdb.FixedPrefix.3"}}));
  EXPECT_EQ(FoundCount("old"), kKeys);
  Fill("new");
  EXPECT_EQ(FoundCount("new"), kKeys);
  Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(4)));
  EXPECT_EQ(FoundCount("new"), kKeys);
  Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(3)));
  EXPECT_EQ(FoundCount("new"), kKeys);
}

// They have no prefix that the filter could know.
TEST_F(PrefixFilterTest, KeysTooShortForAPrefixAreFound) {
  Open(std::shared_ptr<const SliceTransform>(NewFixedPrefixTransform(4)));
  for (const char* key : {"k", "k10", "z"}) ASSERT_OK(db_->Put(WriteOptions(), key, "short"));
  Fill("v");
  std::string value;
  for (const char* key : {"k", "k10", "z"}) {
    EXPECT_OK(db_->Get(ReadOptions(), key, &value)) << key;
  }
  EXPECT_TRUE(db_->Get(ReadOptions(), "k1", &value).IsNotFound());
  EXPECT_GT(RejectedCount(), 80u) << "the filter is in use";
}

}  // namespace
}  // namespace ashlar
