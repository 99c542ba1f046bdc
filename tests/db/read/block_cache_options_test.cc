// SPDX-License-Identifier: Apache-2.0
//
// The options of the block cache, seen from a database: what is evicted and what is pinned, what is
// filled in while it is written, what is charged, and a second tier.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/secondary_cache.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Decision = CacheEntryRoleOptions::Decision;

class BlockCacheOptionsTest : public testing::Test {
 protected:
  BlockCacheOptionsTest() : env_(NewMemEnv(Env::Default())) {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.statistics = CreateDBStatistics();
    options_.compression = kNoCompression;
    options_.disable_auto_compactions = true;
    table_.block_size = 1024;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    table_.block_cache = NewLRUCache(16 << 20, 0);
  }
  void Open(const std::string& path = "/db") {
    db_.reset();
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    ASSERT_OK(DB::Open(options_, path, &db_));
  }
  static std::string Key(int i) { return StrCat("key", 100'000 + i); }
  static std::string Value(int i) { return StrCat("value of ", i, " ", std::string(40, 'v')); }
  void Fill(int count = 2000) {
    for (int i = 0; i < count; ++i) ASSERT_OK(db_->Put(WriteOptions(), Key(i), Value(i)));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  void ExpectAll(int count = 2000, int step = 7) {
    for (int i = 0; i < count; i += step) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), Key(i), &value));
      ASSERT_EQ(value, Value(i));
    }
  }
  uint64_t Ticker(Tickers ticker) const { return options_.statistics->getTickerCount(ticker); }
  uint64_t TakeTicker(Tickers ticker) {
    return options_.statistics->getAndResetTickerCount(ticker);
  }
  uint64_t BytesOf(CacheEntryRole role) {
    std::map<std::string, std::string> stats;
    EXPECT_TRUE(db_->GetMapProperty(DB::Properties::kBlockCacheEntryStats, &stats));
    return std::stoull(stats[BlockCacheEntryStatsMapKeys::UsedBytes(role)]);
  }

  const std::unique_ptr<Env> env_;
  Options options_;
  BlockBasedTableOptions table_;
  std::unique_ptr<DB> db_;
};

TEST_F(BlockCacheOptionsTest, IndexesAndFiltersAreEvictedAndReadAgain) {
  table_.cache_index_and_filter_blocks = true;
  Open();
  Fill();
  ExpectAll();
  EXPECT_EQ(table_.block_cache->GetPinnedUsage(), 0u);
  table_.block_cache->EraseUnRefEntries();
  EXPECT_EQ(table_.block_cache->GetUsage(), 0u);
  TakeTicker(BLOCK_CACHE_INDEX_MISS);
  TakeTicker(BLOCK_CACHE_FILTER_MISS);
  ExpectAll();
  EXPECT_EQ(Ticker(BLOCK_CACHE_INDEX_MISS), 1u);
  EXPECT_EQ(Ticker(BLOCK_CACHE_FILTER_MISS), 1u);
  EXPECT_GT(Ticker(BLOCK_CACHE_INDEX_HIT), 100u);
  EXPECT_GT(Ticker(BLOCK_CACHE_FILTER_HIT), 100u);
}

// The machine's page cache has just read it, and so makes a second read cheap: of a program's own
// file system nobody knows. `path` is in `options_.env`.
class FullCacheTest : public BlockCacheOptionsTest {
 protected:
  // How many blocks each of three reads of one key adds to a cache that is full of others, by Get()
  // or by MultiGet().
  std::string BlocksAdded(const std::string& path, bool in_batches) {
    table_.block_cache = NewLRUCache(kCacheBytes, 0);
    Open(path);
    Fill();
    ExpectAll(1000);
    ExpectAll(1000);  // what is used again is what stays
    std::string added;
    for (int read = 0; read < 3; ++read) {
      TakeTicker(BLOCK_CACHE_DATA_ADD);
      TakeTicker(BLOCK_CACHE_DATA_MISS);
      ReadOne(in_batches);
      StrAppend(&added, added.empty() ? "" : ", ", Ticker(BLOCK_CACHE_DATA_ADD), " of ",
                Ticker(BLOCK_CACHE_DATA_MISS));
    }
    return added;
  }
  void ReadOne(bool in_batches) {
    const std::string key = Key(1500);
    const Slice slice = key;
    PinnableSlice value;
    Status status;
    if (in_batches) {
      db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), 1, &slice, &value, &status);
    } else {
      status = db_->Get(ReadOptions(), db_->DefaultColumnFamily(), slice, &value);
    }
    ASSERT_OK(status);
    EXPECT_EQ(value, Value(1500));
    EXPECT_LE(table_.block_cache->GetUsage(), kCacheBytes + kCacheBytes / 16);
  }

  static constexpr size_t kCacheBytes = 32 << 10;
};

TEST_F(FullCacheTest, TakesInTheSecondTimeWhatThePageCacheHas) {
  for (const bool in_batches : {false, true}) {
    options_.env = Env::Default();
    EXPECT_EQ(BlocksAdded(FreshTempDir("full_cache"), in_batches), "0 of 1, 1 of 1, 0 of 0");
    options_.env = env_.get();
    EXPECT_EQ(BlocksAdded(in_batches ? "/batches" : "/one", in_batches), "1 of 1, 0 of 0, 0 of 0");
  }
}

TEST_F(FullCacheTest, TakesInAtOnceWhatIsReadPastThePageCache) {
  options_.env = Env::Default();
  options_.use_direct_reads = true;
  const std::string path = FreshTempDir("full_cache");
  table_.block_cache = NewLRUCache(16 << 20, 0);
  options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  const Status opened = DB::Open(options_, path, &db_);
  if (opened.IsInvalidArgument()) return SkipAsImpossible("direct I/O where tests put files");
  ASSERT_OK(opened);
  EXPECT_EQ(BlocksAdded(path, /*in_batches=*/false), "1 of 1, 0 of 0, 0 of 0");
}

TEST_F(BlockCacheOptionsTest, ThoseOfLevel0StayIfAsked) {
  table_.cache_index_and_filter_blocks = true;
  table_.pin_l0_filter_and_index_blocks_in_cache = true;
  Open();
  Fill();
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  const size_t pinned = table_.block_cache->GetPinnedUsage();
  EXPECT_GT(pinned, 2000u);
  EXPECT_EQ(table_.block_cache->GetUsage(), pinned);
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  EXPECT_EQ(table_.block_cache->GetUsage(), 0u) << "a deeper level is not pinned";
}

TEST_F(BlockCacheOptionsTest, TiersGoBeforeTheOlderOptions) {
  table_.cache_index_and_filter_blocks = true;
  table_.pin_l0_filter_and_index_blocks_in_cache = true;
  table_.metadata_cache_options.unpartitioned_pinning = PinningTier::kNone;
  Open();
  Fill();
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  EXPECT_EQ(table_.block_cache->GetUsage(), 0u);
  db_.reset();
  table_.metadata_cache_options.unpartitioned_pinning = PinningTier::kAll;
  table_.pin_l0_filter_and_index_blocks_in_cache = false;
  Open();
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  EXPECT_GT(table_.block_cache->GetUsage(), 2000u);
}

TEST_F(BlockCacheOptionsTest, FlushesFillTheCache) {
  using Prepopulate = BlockBasedTableOptions::PrepopulateBlockCache;
  for (const auto mode :
       {Prepopulate::kDisable, Prepopulate::kFlushOnly, Prepopulate::kFlushAndCompaction}) {
    table_.prepopulate_block_cache = mode;
    table_.block_cache = NewLRUCache(16 << 20, 0);
    Open();
    Fill();
    TakeTicker(BLOCK_CACHE_DATA_MISS);
    ExpectAll();
    const bool is_filled = mode != Prepopulate::kDisable;
    EXPECT_EQ(TakeTicker(BLOCK_CACHE_DATA_MISS) == 0, is_filled);
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    TakeTicker(BLOCK_CACHE_DATA_MISS);
    ExpectAll();
    EXPECT_EQ(TakeTicker(BLOCK_CACHE_DATA_MISS) == 0, mode == Prepopulate::kFlushAndCompaction);
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

// The cache takes such a block and drops it at once: whoever gave it has nothing to look at any
// more, not even to count it.
TEST_F(BlockCacheOptionsTest, AFlushedBlockMayBeLargerThanTheCache) {
  table_.prepopulate_block_cache = BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  table_.block_cache = NewLRUCache(1 << 20);
  Open();
  const std::string value(2 << 20, 'v');
  ASSERT_OK(db_->Put(WriteOptions(), Key(0), value));
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_LT(table_.block_cache->GetUsage(), value.size());
  EXPECT_EQ(Ticker(BLOCK_CACHE_DATA_ADD), 1u);
  EXPECT_GT(Ticker(BLOCK_CACHE_DATA_BYTES_INSERT), value.size());
  std::string found;
  ASSERT_OK(db_->Get(ReadOptions(), Key(0), &found));
  EXPECT_EQ(found, value);
}

TEST_F(BlockCacheOptionsTest, MemoryOfTablesIsChargedIfAsked) {
  Open();
  Fill();
  ExpectAll();
  EXPECT_EQ(BytesOf(CacheEntryRole::kBlockBasedTableReader), 0u);
  db_.reset();
  table_.cache_usage_options.options.charged = Decision::kEnabled;
  table_.cache_usage_options.options_overrides[CacheEntryRole::kFileMetadata].charged =
      Decision::kDisabled;
  table_.block_cache = NewLRUCache(16 << 20, 0);
  Open();
  ExpectAll();
  EXPECT_GT(BytesOf(CacheEntryRole::kBlockBasedTableReader), 500u);
  EXPECT_EQ(BytesOf(CacheEntryRole::kFileMetadata), 0u);
  db_.reset();
  table_.cache_usage_options.options_overrides.clear();
  Open();
  ExpectAll();
  EXPECT_GT(BytesOf(CacheEntryRole::kFileMetadata), 50u);
  db_.reset();
  table_.cache_usage_options.options_overrides[CacheEntryRole::kBlobValue].charged =
      Decision::kEnabled;
  options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsInvalidArgument());
}

TEST_F(BlockCacheOptionsTest, AFilterIsBuiltWhereItsMemoryFindsNoRoom) {
  table_.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
      Decision::kEnabled;
  uint64_t filter_bytes[2] = {};
  for (const bool has_room : {false, true}) {
    table_.block_cache = NewLRUCache(has_room ? 8 << 20 : 200 << 10, 0, /*strict=*/true);
    Open();
    Fill();  // a step of the charge is larger than the small cache
    ASSERT_OK(db_->Put(WriteOptions(), Key(0), Value(0)));
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    TablePropertiesCollection tables;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
    ASSERT_EQ(tables.size(), 1u);
    filter_bytes[has_room] = tables.begin()->second->filter_size;
    EXPECT_EQ(BytesOf(CacheEntryRole::kFilterConstruction), 0u);
    ExpectAll();
    TakeTicker(BLOOM_FILTER_USEFUL);
    std::string value;
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(db_->Get(ReadOptions(), Key(i) + "absent", &value).IsNotFound());
    }
    EXPECT_GT(TakeTicker(BLOOM_FILTER_USEFUL), 90u);
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
  EXPECT_GT(filter_bytes[false], 2000u);
  EXPECT_EQ(filter_bytes[false], filter_bytes[true]);
}

TEST_F(BlockCacheOptionsTest, ARibbonFilterThatFindsNoRoomIsABloomFilter) {
  constexpr int kKeys = 60'000;  // 0.5 MB of hashes, and 1.3 MB while the filter is made
  table_.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
  table_.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
      Decision::kEnabled;
  uint64_t filter_bytes[2] = {};
  for (const bool has_room : {false, true}) {
    table_.block_cache = NewLRUCache(has_room ? 8 << 20 : 1 << 20, 0, true);
    Open();
    Fill(kKeys);
    TablePropertiesCollection tables;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
    ASSERT_EQ(tables.size(), 1u);
    filter_bytes[has_room] = tables.begin()->second->filter_size;
    EXPECT_EQ(BytesOf(CacheEntryRole::kFilterConstruction), 0u);
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
  EXPECT_GT(filter_bytes[false], kKeys * 9u / 8);
  EXPECT_LT(filter_bytes[true], kKeys * 8u / 8);
}

TEST_F(BlockCacheOptionsTest, BlocksComeBackFromASecondTier) {
  LRUCacheOptions cache(64 << 10, 0, false, 0.5);
  CompressedSecondaryCacheOptions second;
  second.capacity = 8 << 20;
  second.num_shard_bits = 0;
  cache.secondary_cache = second.MakeSharedSecondaryCache();
  if (cache.secondary_cache == nullptr) GTEST_SKIP() << "lz4";
  table_.block_cache = cache.MakeSharedCache();
  table_.cache_index_and_filter_blocks = true;
  Open();
  Fill();
  for (int round = 0; round < 4; ++round) ExpectAll(2000, 1);
  EXPECT_GT(Ticker(COMPRESSED_SECONDARY_CACHE_HITS), 100u);
  EXPECT_GT(Ticker(SECONDARY_CACHE_DATA_HITS), 100u);
  EXPECT_LE(table_.block_cache->GetUsage(), size_t{64} << 10);
}

}  // namespace
}  // namespace ashlar
