// SPDX-License-Identifier: Apache-2.0
//
// The histograms of a MultiGet: with how many keys tables are searched, and what is read on how
// many levels.
#include <memory>
#include <string>
#include <vector>

#include "ashlar/filter_policy.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class BatchReadsTest : public DbTest {
 protected:
  BatchReadsTest() {
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.statistics = CreateDBStatistics();
    options_.num_levels = 3;
    options_.open_files_async = true;  // tables are opened by the first read
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  // Keys a to d on level 2, c to f on level 1, e to h on level 0.
  void Write() {
    Open();
    CompactionOptions compact;
    for (int level = 2; level >= 0; level--) {
      const char first = static_cast<char>('a' + 2 * (2 - level));
      for (char key = first; key < first + 4; key++) Put(std::string(1, key), std::string(1, key));
      Flush();
      if (level == 0) continue;
      ASSERT_OK(db_->CompactFiles(compact, TableNames(0), level));
    }
    Reopen();
    ASSERT_OK(options_.statistics->Reset());
  }
  void Read(const std::string& names) {
    std::vector<std::string> keys, values;
    for (const char name : names) keys.emplace_back(1, name);
    const std::vector<Slice> slices(keys.begin(), keys.end());
    for (const Status& status : db_->MultiGet(ReadOptions(), slices, &values)) ASSERT_OK(status);
  }
  // "count: sum" of a histogram.
  std::string Numbers(Histograms which) {
    HistogramData data;
    options_.statistics->histogramData(which, &data);
    return std::to_string(data.count) + ": " + std::to_string(data.sum);
  }
};

TEST_F(BatchReadsTest, LevelsOfWhichFilesAreReadAreCounted) {
  Write();
  Read("bdh");
  // One on each level: h on level 0, d on level 1, b on level 2.
  EXPECT_EQ(Numbers(SST_BATCH_SIZE), "3: 3");
  EXPECT_EQ(Numbers(NUM_SST_READ_PER_LEVEL), "3: 3");
  EXPECT_EQ(Numbers(NUM_LEVEL_READ_PER_MULTIGET), "1: 3");
  // Each table is opened, and has an index and a filter.
  EXPECT_EQ(Numbers(NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL), "3: 6");
}

TEST_F(BatchReadsTest, WhatIsInMemoryIsNotRead) {
  Write();
  Read("abcdefgh");
  const std::string read = Numbers(NUM_SST_READ_PER_LEVEL);
  ASSERT_OK(options_.statistics->Reset());
  Read("abcdefgh");
  EXPECT_EQ(read, "3: 3");
  EXPECT_EQ(Numbers(NUM_SST_READ_PER_LEVEL), "0: 0");
  EXPECT_EQ(Numbers(NUM_LEVEL_READ_PER_MULTIGET), "0: 0");
  EXPECT_EQ(Numbers(NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL), "0: 0");
  // Four keys on level 0, two each on the others.
  EXPECT_EQ(Numbers(SST_BATCH_SIZE), "3: 8");
}

}  // namespace
}  // namespace ashlar
