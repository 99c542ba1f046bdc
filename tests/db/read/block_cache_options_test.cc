// SPDX-License-Identifier: Apache-2.0
//
// Options of the block cache in a database: eviction and pinning, blocks that flushes and
// compactions insert, charged memory, and a secondary cache.
#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/secondary_cache.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr Cache::CacheItemHelper kNoHelper(CacheEntryRole::kMisc);

using Decision = CacheEntryRoleOptions::Decision;

class BlockCacheOptionsTest : public DbTest {
 protected:
  BlockCacheOptionsTest() {
    options_.statistics = CreateDBStatistics();
    options_.compression = kNoCompression;
    options_.disable_auto_compactions = true;
    table_.block_size = 1024;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    table_.block_cache = NewLRUCache(16 << 20, 0);
  }
  void Open() {
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    DbTest::Open();
  }
  static std::string Value(int i) { return StrCat("value of ", i, " ", std::string(40, 'v')); }
  void Fill(int count = 2000) {
    for (int i = 0; i < count; ++i) Put(Key(i), Value(i));
    Flush();
  }
  void ExpectAll(int count = 2000, int step = 7) {
    for (int i = 0; i < count; i += step) ASSERT_EQ(Get(Key(i)), Value(i));
  }
  uint64_t BytesOf(CacheEntryRole role) {
    std::map<std::string, std::string> stats;
    EXPECT_TRUE(db_->GetMapProperty(DB::Properties::kBlockCacheEntryStats, &stats));
    return std::stoull(stats[BlockCacheEntryStatsMapKeys::UsedBytes(role)]);
  }

  void Destroy() {
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
  // The bytes of the filter of the only table.
  uint64_t FilterBytes() {
    TablePropertiesCollection tables;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&tables));
    EXPECT_EQ(tables.size(), 1u);
    return tables.empty() ? 0 : tables.begin()->second->filter_size;
  }

  BlockBasedTableOptions table_;
};

TEST_F(BlockCacheOptionsTest, IndexesAndFiltersAreEvictedAndReadAgain) {
  table_.cache_index_and_filter_blocks = true;
  Open();
  Fill();
  ExpectAll();
  EXPECT_EQ(table_.block_cache->GetPinnedUsage(), 0u);
  table_.block_cache->EraseUnRefEntries();
  EXPECT_EQ(table_.block_cache->GetUsage(), 0u);
  TakeTicks(BLOCK_CACHE_INDEX_MISS);
  TakeTicks(BLOCK_CACHE_FILTER_MISS);
  ExpectAll();
  EXPECT_EQ(Ticks(BLOCK_CACHE_INDEX_MISS), 1u);
  EXPECT_EQ(Ticks(BLOCK_CACHE_FILTER_MISS), 1u);
  EXPECT_GT(Ticks(BLOCK_CACHE_INDEX_HIT), 100u);
  EXPECT_GT(Ticks(BLOCK_CACHE_FILTER_HIT), 100u);
}

// A block that was just read is in the page cache of the machine, which makes a second read cheap.
// For a file system of the program this is not known. `path` is in `options_.env`.
class FullCacheTest : public BlockCacheOptionsTest {
 protected:
  // How many blocks each of three reads of one key adds to a full cache, with Get() or MultiGet().
  std::string BlocksAdded(const std::string& path, bool in_batches) {
    table_.block_cache = NewLRUCache(kCacheBytes, 0);
    dir_ = path;
    Open();
    Fill();
    ExpectAll(1000);
    ExpectAll(1000);  // blocks that are used twice stay in the cache
    std::string added;
    for (int read = 0; read < 3; ++read) {
      TakeTicks(BLOCK_CACHE_DATA_ADD);
      TakeTicks(BLOCK_CACHE_DATA_MISS);
      ReadOne(in_batches);
      StrAppend(&added, added.empty() ? "" : ", ", Ticks(BLOCK_CACHE_DATA_ADD), " of ",
                Ticks(BLOCK_CACHE_DATA_MISS));
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
  dir_ = path;
  const Status opened = TryOpen();
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
  CompactAndRewrite();
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  EXPECT_EQ(table_.block_cache->GetUsage(), 0u) << "a deeper level is not pinned";
}

TEST_F(BlockCacheOptionsTest, AChangedWriteBufferChangesWhichOfLevel0Stay) {
  table_.cache_index_and_filter_blocks = true;
  table_.pin_l0_filter_and_index_blocks_in_cache = true;
  Open();
  Fill();  // more than one and a half of the buffer that follows
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "65536"}}));
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  EXPECT_EQ(table_.block_cache->GetUsage(), 0u) << "no flush makes such a table any more";
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "67108864"}}));
  Fill();
  ExpectAll();
  table_.block_cache->EraseUnRefEntries();
  EXPECT_GT(table_.block_cache->GetPinnedUsage(), 2000u);
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
  Close();
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
    TakeTicks(BLOCK_CACHE_DATA_MISS);
    ExpectAll();
    const bool is_filled = mode != Prepopulate::kDisable;
    EXPECT_EQ(TakeTicks(BLOCK_CACHE_DATA_MISS) == 0, is_filled);
    CompactAndRewrite();
    TakeTicks(BLOCK_CACHE_DATA_MISS);
    ExpectAll();
    EXPECT_EQ(TakeTicks(BLOCK_CACHE_DATA_MISS) == 0, mode == Prepopulate::kFlushAndCompaction);
    Destroy();
  }
}

// The cache drops such a block at once, so the flush may not use it after the insertion, not even
// for its counters.
TEST_F(BlockCacheOptionsTest, AFlushedBlockMayBeLargerThanTheCache) {
  table_.prepopulate_block_cache = BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  table_.block_cache = NewLRUCache(1 << 20);
  Open();
  const std::string value(2 << 20, 'v');
  Put(Key(0), value);
  Flush();
  EXPECT_LT(table_.block_cache->GetUsage(), value.size());
  EXPECT_EQ(Ticks(BLOCK_CACHE_DATA_ADD), 1u);
  EXPECT_GT(Ticks(BLOCK_CACHE_DATA_BYTES_INSERT), value.size());
  EXPECT_EQ(Get(Key(0)), value);
}

TEST_F(BlockCacheOptionsTest, MemoryOfTablesIsChargedIfAsked) {
  Open();
  Fill();
  ExpectAll();
  EXPECT_EQ(BytesOf(CacheEntryRole::kBlockBasedTableReader), 0u);
  Close();
  table_.cache_usage_options.options.charged = Decision::kEnabled;
  table_.cache_usage_options.options_overrides[CacheEntryRole::kFileMetadata].charged =
      Decision::kDisabled;
  table_.block_cache = NewLRUCache(16 << 20, 0);
  Open();
  ExpectAll();
  EXPECT_GT(BytesOf(CacheEntryRole::kBlockBasedTableReader), 500u);
  EXPECT_EQ(BytesOf(CacheEntryRole::kFileMetadata), 0u);
  Close();
  table_.cache_usage_options.options_overrides.clear();
  Open();
  ExpectAll();
  EXPECT_GT(BytesOf(CacheEntryRole::kFileMetadata), 50u);
  Close();
  table_.cache_usage_options.options_overrides[CacheEntryRole::kBlobValue].charged =
      Decision::kEnabled;
  options_.table_factory.reset(NewBlockBasedTableFactory(table_));
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(BlockCacheOptionsTest, AFilterIsBuiltWhereItsMemoryFindsNoRoom) {
  table_.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
      Decision::kEnabled;
  uint64_t filter_bytes[2] = {};
  for (const bool has_room : {false, true}) {
    table_.block_cache = NewLRUCache(has_room ? 8 << 20 : 200 << 10, 0, /*strict=*/true);
    Open();
    Fill();  // the granularity of the charge is larger than the small cache
    Put(Key(0), Value(0));
    CompactAndRewrite();
    filter_bytes[has_room] = FilterBytes();
    EXPECT_EQ(BytesOf(CacheEntryRole::kFilterConstruction), 0u);
    ExpectAll();
    TakeTicks(BLOOM_FILTER_USEFUL);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(Get(Key(i) + "absent"), "(none)");
    EXPECT_GT(TakeTicks(BLOOM_FILTER_USEFUL), 90u);
    Destroy();
  }
  EXPECT_GT(filter_bytes[false], 2000u);
  EXPECT_EQ(filter_bytes[false], filter_bytes[true]);
}

TEST_F(BlockCacheOptionsTest, ARibbonFilterThatFindsNoRoomIsABloomFilter) {
  constexpr int kKeys = 60'000;  // 0.5 MB of hashes, and 1.3 MB while the filter is built
  table_.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
  table_.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
      Decision::kEnabled;
  uint64_t filter_bytes[2] = {};
  for (const bool has_room : {false, true}) {
    table_.block_cache = NewLRUCache(has_room ? 8 << 20 : 1 << 20, 0, true);
    Open();
    Fill(kKeys);
    filter_bytes[has_room] = FilterBytes();
    EXPECT_EQ(BytesOf(CacheEntryRole::kFilterConstruction), 0u);
    Destroy();
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
  EXPECT_GT(Ticks(COMPRESSED_SECONDARY_CACHE_HITS), 100u);
  EXPECT_GT(Ticks(SECONDARY_CACHE_DATA_HITS), 100u);
  EXPECT_LE(table_.block_cache->GetUsage(), size_t{64} << 10);
}

// A database whose blocks are in the second tier, except those that the first had last.
class SecondTierReadsTest : public BlockCacheOptionsTest {
 protected:
  void OpenWithTiers(bool is_strict) {
    LRUCacheOptions cache(kFirstBytes, 0, is_strict, 0.5);
    CompressedSecondaryCacheOptions second;
    second.capacity = 8 << 20;
    second.num_shard_bits = 0;
    second.compression_type = kNoCompression;
    cache.secondary_cache = second.MakeSharedSecondaryCache();
    table_.block_cache = cache.MakeSharedCache();
    Open();
    Fill();
    for (int round = 0; round < 4; ++round) ExpectAll(2000, 1);
    table_.block_cache->EraseUnRefEntries();
    TakeTicks(SECONDARY_CACHE_DATA_HITS);
  }
  static ReadOptions WithoutFilling() {
    ReadOptions read;
    read.fill_cache = false;
    return read;
  }
  Status ReadOne(const ReadOptions& read, int i) {
    std::string value;
    return db_->Get(read, Key(i), &value);
  }
  uint64_t HitsOfGets() {
    for (int i = 0; i < 2000; ++i) EXPECT_OK(ReadOne(WithoutFilling(), i));
    return TakeTicks(SECONDARY_CACHE_DATA_HITS);
  }
  uint64_t HitsOfScan(Iterator* scan) {
    int count = 0;
    for (scan->SeekToFirst(); scan->Valid(); scan->Next()) ++count;
    EXPECT_OK(scan->status());
    EXPECT_EQ(count, 2000);
    return TakeTicks(SECONDARY_CACHE_DATA_HITS);
  }

  static constexpr size_t kFirstBytes = 64 << 10;
};

TEST_F(SecondTierReadsTest, ReadsThatDoNotFillTheCacheLeaveTheSecondTierAsItIs) {
  OpenWithTiers(/*is_strict=*/false);
  const uint64_t hits = HitsOfGets();
  EXPECT_GT(hits, 100u);
  EXPECT_EQ(HitsOfGets(), hits);
  const std::unique_ptr<Iterator> scan(db_->NewIterator(WithoutFilling()));
  EXPECT_GT(HitsOfScan(scan.get()), 10u);
  EXPECT_EQ(HitsOfGets(), hits);
}

// The iterator keeps the old table, whose blocks the compaction has read.
TEST_F(SecondTierReadsTest, CompactionsLeaveTheSecondTierAsItIs) {
  OpenWithTiers(/*is_strict=*/false);
  const std::unique_ptr<Iterator> scan(db_->NewIterator(WithoutFilling()));
  CompactAndRewrite();
  TakeTicks(SECONDARY_CACHE_DATA_HITS);
  EXPECT_GT(HitsOfScan(scan.get()), 10u);
}

TEST_F(SecondTierReadsTest, ABlockThatTheFirstTierRefusesGoesBackToTheSecond) {
  OpenWithTiers(/*is_strict=*/true);
  int key = 0;
  while (key < 2000 && Ticks(SECONDARY_CACHE_DATA_HITS) == 0) {
    ASSERT_OK(ReadOne(WithoutFilling(), key++));
  }
  ASSERT_EQ(TakeTicks(SECONDARY_CACHE_DATA_HITS), 1u);
  --key;
  Cache::Handle* pinned = nullptr;
  ASSERT_OK(table_.block_cache->Insert("pinned", nullptr, &kNoHelper, kFirstBytes - 512, &pinned));
  EXPECT_TRUE(ReadOne(ReadOptions(), key).IsMemoryLimit());
  table_.block_cache->Release(pinned, /*erase_if_last_ref=*/true);
  TakeTicks(SECONDARY_CACHE_DATA_HITS);
  EXPECT_OK(ReadOne(ReadOptions(), key));
  EXPECT_EQ(Ticks(SECONDARY_CACHE_DATA_HITS), 1u) << "the block was not read from the file";
}

}  // namespace
}  // namespace ashlar
