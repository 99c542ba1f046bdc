// SPDX-License-Identifier: Apache-2.0
//
// The perf context of a thread after reads.
#include "ashlar/perf_context.h"

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/iostats_context.h"
#include "ashlar/perf_level.h"
#include "tests/support/paths.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class PerfContextOfDb : public DbTest {
 protected:
  void SetUp() override {
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(8 << 20);
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.disable_auto_compactions = true;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (int i = 100; i < 200; ++i) Put(std::to_string(i), std::string(50, 'v'));
    Flush();
    for (int i = 110; i < 120; ++i) Delete(std::to_string(i));
    SetPerfLevel(kEnableTime);
    context_.Reset();
  }
  void TearDown() override {
    SetPerfLevel(kEnableCount);
    DbTest::TearDown();
  }
  const PerfContextByLevel& Level(uint32_t level) {
    return (*context_.level_to_perf_context)[level];
  }
  Status Get(const std::string& key) {
    std::string value;
    return db_->Get(ReadOptions(), key, &value);
  }

  PerfContext& context_ = *get_perf_context();
};

TEST_F(PerfContextOfDb, AColdGetReadsABlockAndAWarmOneHitsTheCache) {
  ASSERT_OK(Get("150"));
  const uint64_t reads = context_.block_read_count;  // with those of the index and the filter
  EXPECT_EQ(context_.index_block_read_count, 1u);
  EXPECT_EQ(context_.filter_block_read_count, 1u);
  EXPECT_GT(context_.data_block_read_byte, 50u);
  EXPECT_GT(context_.block_read_byte, context_.data_block_read_byte);
  EXPECT_EQ(context_.block_cache_hit_count, 0u);
  EXPECT_GT(context_.block_checksum_time, 0u);
  ASSERT_OK(Get("150"));
  EXPECT_EQ(context_.block_read_count, reads);
  EXPECT_EQ(context_.block_cache_hit_count, 1u);
  EXPECT_EQ(context_.get_read_bytes, 100u);
  EXPECT_EQ(context_.bloom_sst_hit_count, 2u);
}

// Decoding a hot block changes its form and adds nothing to the cache.
TEST_F(PerfContextOfDb, WhatIsPutIntoTheCacheIsCountedWhenItIsRead) {
  options_.table_factory = Options().table_factory;
  options_.statistics = CreateDBStatistics();
  Reopen();
  for (int round = 0; round < 50; ++round) ASSERT_OK(Get("150"));
  EXPECT_EQ(Ticks(BLOCK_CACHE_DATA_ADD), 1u);
  EXPECT_EQ(Ticks(BLOCK_CACHE_DATA_MISS), 1u);
}

// A mapped log is written without a call.
TEST_F(PerfContextOfDb, BytesOfTheLogAreWritten) {
  TestDb on_disk(FileSystem::Default());
  on_disk.options().create_if_missing = true;
  on_disk.dir() = FreshTempDir("written_bytes");
  on_disk.Open();
  get_iostats_context()->Reset();
  on_disk.Put("key", std::string(1000, 'v'));
  EXPECT_GE(get_iostats_context()->bytes_written, 1000u);
  EXPECT_LT(get_iostats_context()->bytes_written, 1100u);
}

TEST_F(PerfContextOfDb, AFilterThatSparesAFileIsCounted) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(Get("150" + std::to_string(i)).IsNotFound());
  }
  EXPECT_EQ(context_.bloom_sst_miss_count + context_.bloom_sst_hit_count, 20u);
  EXPECT_GT(context_.bloom_sst_miss_count, 10u);
}

TEST_F(PerfContextOfDb, LevelsAreCountedOnceTheyAreEnabled) {
  context_.EnablePerLevelPerfContext();
  ASSERT_OK(Get("150"));
  Compact();
  ASSERT_OK(Get("151"));
  ASSERT_OK(Get("151"));
  EXPECT_TRUE(Get("1505").IsNotFound());
  ASSERT_NE(context_.level_to_perf_context, nullptr);
  const PerfContextByLevel top = Level(0);
  EXPECT_EQ(top.user_key_return_count, 1u);
  EXPECT_EQ(top.bloom_filter_full_positive, 1u);
  EXPECT_EQ(top.bloom_filter_full_true_positive, 1u);
  EXPECT_EQ(top.block_cache_miss_count, 1u);
  EXPECT_GT(top.get_from_table_nanos, 0u);
  const PerfContextByLevel last = Level(6);
  EXPECT_EQ(last.user_key_return_count, 2u);
  EXPECT_EQ(last.bloom_filter_useful + last.bloom_filter_full_positive, 3u);
  EXPECT_EQ(last.bloom_filter_full_true_positive, 2u);
  EXPECT_GE(last.block_cache_hit_count, 1u);
  context_.DisablePerLevelPerfContext();
  ASSERT_OK(Get("152"));
  EXPECT_EQ(Level(6).user_key_return_count, 2u);
  context_.ClearPerLevelPerfContext();
  ASSERT_OK(Get("153"));
}

TEST_F(PerfContextOfDb, EachLevelIsToldWhatItsOwnTableDid) {
  Compact();
  for (const char* key : {"100", "199"}) Put(key, "new");
  Flush();
  context_.EnablePerLevelPerfContext();
  ASSERT_OK(Get("150"));  // not in the table of level 0, whose range contains it
  const PerfContextByLevel top = Level(0);
  EXPECT_EQ(top.bloom_filter_useful + top.bloom_filter_full_positive, 1u);
  EXPECT_EQ(top.user_key_return_count, 0u);
  const PerfContextByLevel last = Level(6);
  EXPECT_EQ(last.bloom_filter_useful + last.bloom_filter_full_positive, 1u);
  EXPECT_EQ(last.user_key_return_count, 1u);
  context_.ClearPerLevelPerfContext();
}

// 12 keys of the last level, two of which are also in the table of level 0, and one absent key.
void ReadTwelve(DB* db) {
  std::vector<std::string> names = {"100", "1505", "199"};
  for (int i = 130; i < 140; ++i) names.push_back(std::to_string(i));
  const std::vector<Slice> keys(names.begin(), names.end());
  std::vector<std::string> values;
  EXPECT_TRUE(db->MultiGet(ReadOptions(), keys, &values)[1].IsNotFound());
}

TEST_F(PerfContextOfDb, ABatchIsCountedByLevelColdAndWarm) {
  Compact();
  for (const char* key : {"100", "199"}) Put(key, "new");
  Flush();
  context_.EnablePerLevelPerfContext();
  for (const bool is_cold : {true, false}) {
    context_.Reset();
    ReadTwelve(db_.get());
    const PerfContextByLevel top = Level(0);
    EXPECT_EQ(top.bloom_filter_useful + top.bloom_filter_full_positive, 13u);
    EXPECT_EQ(top.bloom_filter_full_true_positive, 2u);
    EXPECT_EQ(top.user_key_return_count, 2u);
    EXPECT_GT(top.get_from_table_nanos, 0u);
    const PerfContextByLevel last = Level(6);
    EXPECT_EQ(last.bloom_filter_useful + last.bloom_filter_full_positive, 11u);
    EXPECT_EQ(last.bloom_filter_full_true_positive, 10u);
    EXPECT_EQ(last.user_key_return_count, 10u);
    EXPECT_EQ(last.block_cache_miss_count > 0, is_cold);
    EXPECT_EQ(last.block_cache_hit_count >= 10, !is_cold);
    EXPECT_GT(last.get_from_table_nanos, 0u);
  }
  context_.DisablePerLevelPerfContext();
  ReadTwelve(db_.get());
  EXPECT_EQ(Level(6).user_key_return_count, 10u);
  context_.ClearPerLevelPerfContext();
}

TEST_F(PerfContextOfDb, ABatchOfOneIsCountedByLevelToo) {
  context_.EnablePerLevelPerfContext();
  const Slice key = "150";
  std::vector<std::string> values;
  ASSERT_OK(db_->MultiGet(ReadOptions(), {key}, &values)[0]);
  const PerfContextByLevel top = Level(0);
  EXPECT_EQ(top.user_key_return_count, 1u);
  EXPECT_EQ(top.bloom_filter_full_true_positive, 1u);
  EXPECT_EQ(top.block_cache_miss_count, 1u);
  context_.ClearPerLevelPerfContext();
}

TEST_F(PerfContextOfDb, BlocksOfAScanAreCountedByLevel) {
  Compact();
  Put("100", "new");
  Flush();
  context_.EnablePerLevelPerfContext();
  const auto scan = [this] {
    context_.Reset();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    EXPECT_OK(it->status());
  };
  scan();
  const PerfContextByLevel cold = Level(6);
  EXPECT_GE(cold.block_cache_miss_count, 1u);
  EXPECT_EQ(Level(0).block_cache_miss_count, 1u);
  scan();
  const PerfContextByLevel warm = Level(6);
  EXPECT_EQ(warm.block_cache_hit_count, cold.block_cache_miss_count);
  EXPECT_EQ(warm.block_cache_miss_count, 0u);
  EXPECT_EQ(Level(0).block_cache_hit_count, 1u);
  context_.ClearPerLevelPerfContext();
}

TEST_F(PerfContextOfDb, ABatchIsToldAsTheSumOfItsLookups) {
  std::vector<std::string> names;
  for (int i = 130; i < 140; ++i) names.push_back(std::to_string(i));
  const std::vector<Slice> keys(names.begin(), names.end());
  std::vector<std::string> values;
  for (const Status& status : db_->MultiGet(ReadOptions(), keys, &values)) ASSERT_OK(status);
  context_.Reset();
  for (const Status& status : db_->MultiGet(ReadOptions(), keys, &values)) ASSERT_OK(status);
  EXPECT_EQ(context_.block_cache_hit_count, 10u);
  EXPECT_EQ(context_.bloom_sst_hit_count, 10u);
  EXPECT_EQ(context_.get_from_memtable_count, 10u);
  EXPECT_EQ(context_.multiget_read_bytes, 500u);
}

TEST_F(PerfContextOfDb, TimesOfAReadAreTakenByItsParts) {
  ASSERT_OK(Get("150"));
  EXPECT_GT(context_.get_from_memtable_time, 0u);
  EXPECT_GT(context_.get_from_output_files_time, context_.block_read_time);
  SetPerfLevel(kEnableCount);
  context_.Reset();
  ASSERT_OK(Get("151"));
  EXPECT_EQ(context_.get_from_memtable_time + context_.get_from_output_files_time, 0u);
}

TEST_F(PerfContextOfDb, BytesOfFilesAreCountedForTheThread) {
  IOStatsContext& io = *get_iostats_context();
  io.Reset();
  ASSERT_OK(Get("150"));
  EXPECT_GE(io.bytes_read, context_.block_read_byte);
  EXPECT_GT(io.read_nanos, 0u);
  const uint64_t read = io.bytes_read;
  ASSERT_OK(Get("150"));
  EXPECT_EQ(io.bytes_read, read);
  io.disable_iostats = true;
  EXPECT_TRUE(db_->VerifyChecksum().ok());
  EXPECT_EQ(io.bytes_read, read);
  io.disable_iostats = false;
  EXPECT_TRUE(db_->VerifyChecksum().ok());
  EXPECT_GT(io.bytes_read, read);
}

TEST_F(PerfContextOfDb, StepsOfAnIteratorAreToldAtItsEndAtTheLatest) {
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    EXPECT_EQ(context_.iter_seek_count, 1u);
    EXPECT_EQ(context_.seek_child_seek_count, 2u);  // a memtable and a table
    for (int i = 0; i < 5; ++i) it->Next();
    for (int i = 0; i < 3; ++i) it->Prev();
    EXPECT_EQ(context_.iter_next_count, 5u);  // at once, because times are measured
    EXPECT_EQ(context_.iter_prev_count, 3u);
    SetPerfLevel(kEnableCount);
    it->SeekToFirst();
    it->Next();
    EXPECT_EQ(context_.iter_next_count, 5u);
  }
  EXPECT_EQ(context_.iter_next_count, 6u);
  EXPECT_EQ(context_.iter_prev_count, 3u);
  EXPECT_EQ(context_.iter_read_bytes, 9 * 53u);
  EXPECT_GT(context_.seek_internal_seek_time, 0u);
  EXPECT_GT(context_.iter_seek_cpu_nanos + context_.iter_next_cpu_nanos, 0u);
}

TEST_F(PerfContextOfDb, AScanCountsWhatItSkips) {
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) seen++;
    EXPECT_EQ(seen, 90);
  }
  EXPECT_EQ(context_.iter_seek_count, 1u);
  EXPECT_EQ(context_.internal_delete_skipped_count, 10u);
  EXPECT_GE(context_.internal_key_skipped_count, 10u);
}

TEST_F(PerfContextOfDb, NothingIsCountedWhenDisabled) {
  SetPerfLevel(kDisable);
  ASSERT_OK(Get("150"));
  EXPECT_EQ(context_.block_read_count, 0u);
  EXPECT_EQ(context_.get_read_bytes, 0u);
}

}  // namespace
}  // namespace ashlar
