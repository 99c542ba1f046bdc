// SPDX-License-Identifier: Apache-2.0
//
// Who makes blocks hot, so that they are decoded: searches and steps backwards, not scans.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "cache/block_cache.h"
#include "table/sst/table_iterator.h"
#include "table/sst/table_reader.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "util/internal_key.h"

namespace ashlar {
namespace {

// A block in its other form takes other memory, so what the cache holds tells.
class HotBlocksTest : public testing::Test {
 protected:
  HotBlocksTest() {
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, "sample.sst"),
                                    {.icmp = &icmp_, .block_cache = &view_});
    EXPECT_OK(opened);
    if (opened.ok()) table_ = opened.Take();
  }
  // What is cached after a pass over all entries.
  size_t AfterScan() {
    TableIterator it(table_.get(), ReadOptions(), /*for_compaction=*/false);
    size_t entries = 0;
    for (it.SeekToFirst(); it.Valid(); it.Next()) ++entries;
    EXPECT_OK(it.status());
    EXPECT_EQ(entries, sample_.entries.size());
    return cache_->GetUsage();
  }
  size_t AfterReverseScan(bool fill_cache = true) {
    ReadOptions options;
    options.fill_cache = fill_cache;
    TableIterator it(table_.get(), options, /*for_compaction=*/false);
    size_t entries = 0;
    for (it.SeekToLast(); it.Valid(); it.Prev()) ++entries;
    EXPECT_OK(it.status());
    EXPECT_EQ(entries, sample_.entries.size());
    return cache_->GetUsage();
  }
  // A new iterator for each, which finds no block as it left it.
  size_t AfterSeeks() {
    for (const SampleEntry& entry : sample_.entries) {
      TableIterator it(table_.get(), ReadOptions(), /*for_compaction=*/false);
      it.Seek(entry.internal_key);
      EXPECT_TRUE(it.Valid());
    }
    return cache_->GetUsage();
  }

  const SampleTable sample_ = LoadSampleTable("v78_partitioned_filter_fv5");
  const InternalKeyComparator icmp_{BytewiseComparator()};
  const std::shared_ptr<Cache> cache_ = NewLRUCache(64 << 20);
  BlockCacheView view_{cache_};
  std::unique_ptr<TableReader> table_;
};

TEST_F(HotBlocksTest, ScansLeaveBlocksAsTheyAre) {
  ASSERT_NE(table_, nullptr);
  const size_t raw = AfterScan();
  for (int pass = 0; pass < 5; ++pass) ASSERT_EQ(AfterScan(), raw);
  EXPECT_NE(AfterSeeks(), raw);
}

TEST_F(HotBlocksTest, StepsBackwardsDecode) {
  ASSERT_NE(table_, nullptr);
  const size_t raw = AfterReverseScan();
  EXPECT_EQ(AfterReverseScan(), raw);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(AfterReverseScan(/*fill_cache=*/false), raw);
  const size_t decoded = AfterReverseScan();
  EXPECT_GT(decoded, raw);
  EXPECT_LT(decoded, 2 * raw);
  EXPECT_EQ(AfterReverseScan(), decoded);
  EXPECT_EQ(AfterScan(), decoded);
}

}  // namespace
}  // namespace ashlar
