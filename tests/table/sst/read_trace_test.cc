// SPDX-License-Identifier: Apache-2.0
//
// What a lookup in one table reports about the blocks that it uses, including partitions of index
// and filter.
#include "table/iterator/read_trace.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "cache/block_cache.h"
#include "table/sst/read/table_iterator.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/sample_table.h"
#include "tests/support/silent_trace.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

using Kind = ReadTrace::BlockKind;
using Origin = ReadTrace::Origin;

class RecordedBlocks final : public SilentTrace {
 public:
  void OnBlock(const Block& block) override { blocks.push_back(block); }

  std::vector<Block> blocks;
};

class TableTraceTest : public testing::Test {
 protected:
  TableTraceTest() {
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, "sample.sst"),
                                    {.icmp = &icmp_, .block_cache = &view_});
    EXPECT_OK(opened);
    if (opened.ok()) table_ = opened.Take();
  }
  std::vector<ReadTrace::Block> Get(const std::string& user_key) {
    RecordedBlocks trace;
    PinnableSlice value;
    const LookupKey key(user_key, kMaxSequenceNumber, icmp_.order());
    PointLookup lookup(key, &value);
    lookup.SetTrace(&trace);
    EXPECT_OK(table_->Get(ReadOptions(), &lookup));
    EXPECT_TRUE(lookup.decided());
    return std::move(trace.blocks);
  }

  const SampleTable sample_ = LoadSampleTable("v78_partitioned_filter_fv5");
  const InternalKeyComparator icmp_{BytewiseComparator()};
  BlockCacheView view_{NewLRUCache(64 << 20)};
  std::unique_ptr<TableReader> table_;
};

TEST_F(TableTraceTest, PartitionsOfFilterAndIndexAreToldBeforeTheData) {
  ASSERT_NE(table_, nullptr);
  ASSERT_FALSE(sample_.entries.empty());
  const SampleEntry& middle = sample_.entries[sample_.entries.size() / 2];
  const std::string user_key = ExtractUserKey(middle.internal_key).ToString();
  const std::vector<ReadTrace::Block> cold = Get(user_key);
  ASSERT_EQ(cold.size(), 3u);
  EXPECT_EQ(cold[0].kind, Kind::kFilter);
  EXPECT_EQ(cold[1].kind, Kind::kIndex);
  EXPECT_EQ(cold[2].kind, Kind::kData);
  for (const ReadTrace::Block& block : cold) {
    EXPECT_EQ(block.origin, Origin::kFile);
    EXPECT_GT(block.bytes, 0u);
    EXPECT_LT(block.offset + block.bytes, sample_.bytes.size());
  }
  const std::vector<ReadTrace::Block> warm = Get(user_key);
  ASSERT_EQ(warm.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(warm[i].kind, cold[i].kind);
    EXPECT_EQ(warm[i].offset, cold[i].offset);
    EXPECT_EQ(warm[i].bytes, cold[i].bytes);
    EXPECT_NE(warm[i].origin, Origin::kFile);
  }
}

TEST_F(TableTraceTest, AnIteratorTellsOfEachBlockOnce) {
  ASSERT_NE(table_, nullptr);
  RecordedBlocks trace;
  TableIterator it(table_.get(), ReadOptions(), /*for_compaction=*/false);
  it.SetTrace(&trace);
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
  }
  ASSERT_OK(it.status());
  size_t data_blocks = 0;
  uint64_t behind = 0;
  for (const ReadTrace::Block& block : trace.blocks) {
    if (block.kind != Kind::kData) continue;
    EXPECT_GE(block.offset, behind);
    behind = block.offset + block.bytes;
    ++data_blocks;
  }
  EXPECT_EQ(data_blocks, table_->properties().num_data_blocks);
}

}  // namespace
}  // namespace ashlar
