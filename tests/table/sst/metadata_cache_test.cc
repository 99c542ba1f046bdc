// SPDX-License-Identifier: Apache-2.0
//
// Indexes, filters and dictionaries that only the cache holds: they are read correctly whatever the
// cache evicts, cost nothing while they are cached, and belong to the cache alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/secondary_cache.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "cache/block_cache.h"
#include "cache/cache_entry_stats.h"
#include "table/block/block_builder.h"
#include "table/sst/read/block_forms.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kEntries = 3000;

std::string UserKeyAt(int i) { return StrCat("key", 100'000 + 2 * i); }
std::string KeyAt(int i) { return MakeInternalKey(UserKeyAt(i), 7, kTypeValue); }
std::string ValueAt(int i) { return StrCat("{\"city\": \"town ", i % 13, "\", \"n\": ", i, "}"); }

constexpr Cache::CacheItemHelper kNoHelper(CacheEntryRole::kWriteBuffer);

enum class MetadataForm : uint8_t { kWhole, kPartitioned };

class MetadataCacheTest : public testing::TestWithParam<MetadataForm> {
 protected:
  MetadataCacheTest() : icmp_(BytewiseComparator()), cache_(NewLRUCache(8 << 20, 0)) {
    table_.block_size = 512;
    table_.metadata_block_size = 512;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    if (GetParam() == MetadataForm::kPartitioned) {
      table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      table_.partition_filters = true;
    }
    builder_options_.icmp = &icmp_;
    builder_options_.table = &table_;
    builder_options_.db_id = "metadata";
    builder_options_.db_session_id = "ABCDEFGHIJKLMNOPQRST";
    builder_options_.file_number = 9;
    builder_options_.compression = kZlibCompression;
    builder_options_.compression_opts.max_dict_bytes = 4096;
    view_ = std::make_unique<BlockCacheView>(cache_, &TableBlockForms());
  }
  void TearDown() override {
    reader_.reset();
    EpochDrain();
  }

  void Build(const std::string& prefix = "") {
    const auto writer = WriterIntoString(&bytes_);
    TableBuilder builder(builder_options_, writer.get());
    for (int i = 0; i < kEntries; ++i) ASSERT_OK(builder.Add(KeyAt(i), prefix + ValueAt(i)));
    ASSERT_OK(builder.Finish());
  }
  TableReaderOptions Options(const MetadataPlan& plan) {
    TableReaderOptions options;
    options.icmp = &icmp_;
    options.block_cache = view_.get();
    options.statistics = statistics_.get();
    options.metadata = plan;
    return options;
  }
  Status TryOpen(const MetadataPlan& plan) {
    auto opened = TableReader::Open(ReaderOverBytes(bytes_, "memory.sst"), Options(plan));
    if (opened.ok()) reader_ = opened.Take();
    return opened.status();
  }
  void Open(const MetadataPlan& plan) {
    if (bytes_.empty()) Build();
    ASSERT_OK(TryOpen(plan));
  }
  static MetadataPlan KeepsNothing() {
    MetadataPlan plan;
    plan.keeps_whole = plan.keeps_tops = false;
    return plan;
  }

  // Returns the value, or a word for what happened instead.
  std::string Get(const std::string& user_key, bool in_epoch_only = false) {
    PinnableSlice value;
    const LookupKey key(user_key, kMaxSequenceNumber, icmp_.order());
    PointLookup lookup(key, &value);
    if (in_epoch_only) {
      const EpochGuard guard;
      if (!reader_->GetInEpoch(&lookup)) return "not in memory";
    } else {
      const Status status = LookUp(*reader_, ReadOptions(), &lookup);
      if (!status.ok()) return status.ToString();
    }
    return lookup.outcome() == PointLookup::Outcome::kFound ? value.ToString() : "absent";
  }
  // Evicts everything that is not referenced.
  void EvictAll() {
    cache_->EraseUnRefEntries();
    EpochDrain();
  }
  uint64_t Ticker(Tickers ticker) const { return statistics_->getTickerCount(ticker); }

  InternalKeyComparator icmp_;
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::shared_ptr<Cache> cache_;
  std::unique_ptr<BlockCacheView> view_;
  BlockBasedTableOptions table_;
  TableBuilderOptions builder_options_;
  std::string bytes_;
  std::unique_ptr<TableReader> reader_;
};

TEST_P(MetadataCacheTest, IsFoundAgainAfterEviction) {
  Open(KeepsNothing());
  for (const int i : {0, 1, kEntries / 2, kEntries - 1}) {
    EvictAll();
    EXPECT_EQ(Get(UserKeyAt(i), /*in_epoch_only=*/true), "not in memory");
    EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
    EXPECT_EQ(Get(UserKeyAt(i), /*in_epoch_only=*/true), ValueAt(i)) << "all of it is cached now";
    EXPECT_EQ(Get(UserKeyAt(i) + "x"), "absent");
  }
}

TEST_P(MetadataCacheTest, NothingIsHeldBetweenOperations) {
  Open(KeepsNothing());
  EXPECT_EQ(Get(UserKeyAt(7)), ValueAt(7));
  const size_t tops = GetParam() == MetadataForm::kPartitioned ? 1 : 0;  // of the filter
  const CacheEntryStats before = CountCacheEntries(cache_.get());
  EXPECT_GE(before.Of(CacheEntryRole::kIndexBlock).count, 1u);
  EXPECT_GE(before.Of(CacheEntryRole::kFilterBlock).count, 1u);
  EXPECT_EQ(before.Of(CacheEntryRole::kOtherBlock).count, 1u) << "the dictionary";
  EvictAll();
  const CacheEntryStats after = CountCacheEntries(cache_.get());
  EXPECT_EQ(after.Of(CacheEntryRole::kIndexBlock).count, tops);
  EXPECT_EQ(after.Of(CacheEntryRole::kFilterBlock).count, 0u);
  EXPECT_EQ(after.Of(CacheEntryRole::kOtherBlock).count, 0u);
  EXPECT_EQ(after.Of(CacheEntryRole::kDataBlock).count, 0u);
}

TEST_P(MetadataCacheTest, WhatIsKeptStays) {
  MetadataPlan plan;
  plan.keeps_partitions = true;
  Open(plan);
  EvictAll();
  const CacheEntryStats kept = CountCacheEntries(cache_.get());
  EXPECT_GE(kept.Of(CacheEntryRole::kIndexBlock).count, 1u);
  EXPECT_GE(kept.Of(CacheEntryRole::kFilterBlock).count, 1u);
  EXPECT_EQ(cache_->GetUsage(), cache_->GetPinnedUsage());
  const uint64_t misses = Ticker(BLOCK_CACHE_INDEX_MISS) + Ticker(BLOCK_CACHE_FILTER_MISS);
  for (int i = 0; i < kEntries; i += 100) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
  EXPECT_EQ(Ticker(BLOCK_CACHE_INDEX_MISS) + Ticker(BLOCK_CACHE_FILTER_MISS), misses);
}

TEST_P(MetadataCacheTest, ScansAndChecksReadEachOnce) {
  Open(KeepsNothing());
  EvictAll();
  const uint64_t indexes = Ticker(BLOCK_CACHE_INDEX_MISS),
                 filters = Ticker(BLOCK_CACHE_FILTER_MISS);
  const std::unique_ptr<InternalIterator> it(reader_->NewIterator(ReadOptions(), nullptr));
  int i = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++i) {
    ASSERT_EQ(it->key(), Slice(KeyAt(i)));
    ASSERT_EQ(it->value(), Slice(ValueAt(i)));
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(i, kEntries);
  EXPECT_EQ(Ticker(BLOCK_CACHE_COMPRESSION_DICT_MISS), 2u) << "opening, and behind the eviction";
  EXPECT_GE(Ticker(BLOCK_CACHE_COMPRESSION_DICT_HIT), kEntries / 20u) << "each block asks for it";
  EXPECT_OK(reader_->VerifyChecksums(ReadOptions()));
  if (GetParam() == MetadataForm::kWhole) {
    EXPECT_EQ(Ticker(BLOCK_CACHE_INDEX_MISS) - indexes, 1u);
    EXPECT_EQ(Ticker(BLOCK_CACHE_FILTER_MISS) - filters, 1u);
  }
}

// A check asks the filter for every key and the index twice for every block, and adds nothing to
// the cache.
TEST_P(MetadataCacheTest, AnEvictedPartitionIsReadOnceForAllItsKeys) {
  Open(KeepsNothing());
  EvictAll();
  const uint64_t indexes = Ticker(BLOCK_CACHE_INDEX_MISS),
                 filters = Ticker(BLOCK_CACHE_FILTER_MISS);
  ASSERT_OK(reader_->VerifyChecksums(ReadOptions()));
  constexpr uint64_t kMost = 60;  // partitions of 512 bytes; there are more blocks, and 3000 keys
  ASSERT_GT(reader_->facts().num_data_blocks, 2 * kMost);
  EXPECT_GT(Ticker(BLOCK_CACHE_FILTER_MISS), filters);
  EXPECT_LE(Ticker(BLOCK_CACHE_FILTER_MISS) - filters, kMost);
  EXPECT_LE(Ticker(BLOCK_CACHE_INDEX_MISS) - indexes, kMost);
}

TEST_P(MetadataCacheTest, BatchesReadWhatIsMissing) {
  Open(KeepsNothing());
  for (const bool fills : {true, false}) {
    EvictAll();
    std::vector<LookupKey> keys;
    std::vector<PinnableSlice> values(TableReader::kMaxProbes);
    std::vector<std::string> names;
    for (size_t k = 0; k < values.size(); ++k) names.push_back(UserKeyAt(static_cast<int>(k) * 90));
    for (const std::string& name : names)
      keys.emplace_back(name, kMaxSequenceNumber, icmp_.order());
    std::vector<std::unique_ptr<PointLookup>> lookups;
    std::vector<TableProbe> probes;
    for (size_t k = 0; k < keys.size(); ++k) {
      lookups.push_back(std::make_unique<PointLookup>(keys[k], &values[k]));
      probes.push_back({.table = reader_.get(), .lookup = lookups[k].get(), .is_over = false});
    }
    {
      const EpochGuard guard;
      TableReader::GetManyInEpoch(probes.data(), probes.size());
    }
    for (const TableProbe& probe : probes) EXPECT_FALSE(probe.is_over) << "nothing was in memory";
    ReadOptions read;
    read.fill_cache = fills;
    TableReader::GetMany(read, probes.data(), probes.size());
    for (size_t k = 0; k < probes.size(); ++k) {
      EXPECT_EQ(lookups[k]->outcome(), PointLookup::Outcome::kFound);
      EXPECT_EQ(values[k].ToString(), ValueAt(static_cast<int>(k) * 90));
    }
  }
}

TEST_P(MetadataCacheTest, AStrictCapacityIsToldToTheReader) {
  Build();
  cache_ = NewLRUCache(16384, 0, /*strict_capacity_limit=*/true);
  view_ = std::make_unique<BlockCacheView>(cache_, &TableBlockForms());
  Cache::Handle* pinned = nullptr;
  ASSERT_OK(cache_->Insert("x", nullptr, &kNoHelper, 15800, &pinned));
  const Status status = TryOpen(KeepsNothing());
  EXPECT_TRUE(status.IsMemoryLimit()) << status.ToString();
  // Objects that the table holds are not charged to the cache then, but data blocks are.
  MetadataPlan plan;
  plan.charges_kept = false;
  Open(plan);
  EXPECT_NE(Get(UserKeyAt(3)).find("no room"), std::string::npos) << Get(UserKeyAt(3));
  cache_->Release(pinned, /*erase_if_last_ref=*/true);
  EXPECT_EQ(Get(UserKeyAt(3)), ValueAt(3));
}

TEST_P(MetadataCacheTest, TheSumOfChargesIsWhatIsHeld) {
  Build();
  for (const bool keeps : {true, false}) {
    TableReaderOptions options = Options(keeps ? MetadataPlan() : KeepsNothing());
    options.charges_reader = true;
    options.charged_file_metadata_bytes = 1234;
    {
      auto opened = TableReader::Open(ReaderOverBytes(bytes_, "memory.sst"), options);
      ASSERT_OK(opened);
      reader_ = opened.Take();
    }
    for (int i = 0; i < kEntries; i += 50) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
    const CacheEntryStats stats = CountCacheEntries(cache_.get());
    EXPECT_EQ(stats.Of(CacheEntryRole::kBlockBasedTableReader).count, 1u);
    EXPECT_EQ(stats.Of(CacheEntryRole::kFileMetadata).bytes, 1234u);
    EXPECT_LE(stats.Of(CacheEntryRole::kBlockBasedTableReader).bytes, reader_->MemoryUsage());
    size_t sum = 0, entries = 0;
    for (const auto& role : stats.roles) sum += role.bytes, entries += role.count;
    // Entries of the public interface are also charged for their own data.
    EXPECT_GE(cache_->GetUsage(), sum);
    EXPECT_LE(cache_->GetUsage(), sum + 2 * 300);
    EXPECT_GE(entries, kEntries / 50u);
    reader_.reset();
    EpochDrain();
    EXPECT_EQ(CountCacheEntries(cache_.get()).Of(CacheEntryRole::kBlockBasedTableReader).count, 0u);
    EXPECT_EQ(CountCacheEntries(cache_.get()).Of(CacheEntryRole::kFileMetadata).count, 0u);
  }
}

TEST_P(MetadataCacheTest, SurvivesReadersWhileAllIsThrownAway) {
  Open(KeepsNothing());
  std::atomic<int> wrong{0}, running{3};
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    threads.emplace_back([&, seed] {
      Random64 random(seed);
      for (int k = 0; k < 400; ++k) {
        const int i = static_cast<int>(random.Uniform(kEntries));
        if (Get(UserKeyAt(i)) != ValueAt(i)) wrong.fetch_add(1);
        if (Get(UserKeyAt(i) + "x") != "absent") wrong.fetch_add(1);
      }
      running.fetch_sub(1);
    });
  }
  while (running.load() != 0) cache_->EraseUnRefEntries();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

// A cache of a program, which may get entries from elsewhere.
class Wrapper final : public CacheWrapper {
 public:
  using CacheWrapper::CacheWrapper;
  const char* Name() const override { return "Wrapper"; }
  Handle* Lookup(const Slice& key, const CacheItemHelper* helper, CreateContext* context,
                 Priority priority, Statistics* stats) override {
    ++lookups;
    EXPECT_FALSE(InEpoch());
    return CacheWrapper::Lookup(key, helper, context, priority, stats);
  }
  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed,
                CompressionType type) override {
    ++insertions;
    if (helper->IsSecondaryCacheCompatible()) {
      std::string saved(helper->size_cb(value), '\0');
      EXPECT_OK(helper->saveto_cb(value, 0, saved.size(), saved.data()));
      std::string in_pieces(saved.size(), '\0');
      for (size_t at = 0; at < saved.size(); at += 5) {
        EXPECT_OK(helper->saveto_cb(value, at, std::min<size_t>(5, saved.size() - at),
                                    in_pieces.data() + at));
      }
      EXPECT_EQ(saved, in_pieces);
      ++saveable;
    }
    return CacheWrapper::Insert(key, value, helper, charge, handle, priority, compressed, type);
  }
  std::atomic<int> lookups{0}, insertions{0}, saveable{0};
};

TEST_P(MetadataCacheTest, WorksThroughAWrappedCache) {
  const auto wrapper = std::make_shared<Wrapper>(cache_);
  view_ = std::make_unique<BlockCacheView>(wrapper, &TableBlockForms());
  Open(KeepsNothing());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kEntries; i += 100) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
  }
  EXPECT_GT(wrapper->lookups.load(), kEntries / 100);
  EXPECT_GT(wrapper->saveable.load(), kEntries / 100);
  const int before = wrapper->insertions.load();
  for (int i = 0; i < kEntries; i += 100) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
  EXPECT_EQ(wrapper->insertions.load(), before) << "everything was cached";
  reader_.reset();
  EpochDrain();
  view_.reset();
}

// Each open uses new keys for its indexes, so that entries that stay in the cache would never be
// found again.
TEST_P(MetadataCacheTest, WhatIsKeptLeavesAWrappedCacheWithItsTable) {
  Build();
  view_ = std::make_unique<BlockCacheView>(std::make_shared<Wrapper>(cache_), &TableBlockForms());
  for (int round = 0; round < 3; ++round) {
    Open(MetadataPlan());
    EXPECT_GT(cache_->GetUsage(), 4000u) << "a dictionary at least";
    reader_.reset();
    EpochDrain();
    EXPECT_EQ(cache_->GetUsage(), 0u) << round;
  }
}

// Partitions of an index also have such keys, and so do data blocks if the file has no identity.
TEST_P(MetadataCacheTest, NothingStaysThatNobodyWillFind) {
  for (const bool has_identity : {true, false}) {
    if (!has_identity) builder_options_.db_session_id.clear();
    for (const bool keeps : {true, false}) {
      Build();
      Open(keeps ? MetadataPlan() : KeepsNothing());
      for (int i = 0; i < kEntries; i += 50) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
      reader_.reset();
      EpochDrain();
      const CacheEntryStats left = CountCacheEntries(cache_.get());
      EXPECT_EQ(left.Of(CacheEntryRole::kIndexBlock).count, 0u) << has_identity << keeps;
      if (!has_identity) {
        EXPECT_EQ(cache_->GetUsage(), 0u) << keeps;
      }
      EvictAll();
      bytes_.clear();
    }
  }
}

// Also if the index was evicted before, so that it cannot tell what is cached, and with a cache of
// the program.
TEST_P(MetadataCacheTest, NothingStaysOfAFileWithoutIdentity) {
  builder_options_.db_session_id.clear();
  Build();
  for (const bool is_wrapped : {false, true}) {
    cache_ = NewLRUCache(40 << 10, 0);  // less than the table
    const auto used =
        is_wrapped ? std::shared_ptr<Cache>(std::make_shared<Wrapper>(cache_)) : cache_;
    view_ = std::make_unique<BlockCacheView>(used, &TableBlockForms());
    Open(KeepsNothing());
    for (int i = 0; i < kEntries; i += 7) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
    EXPECT_GT(CountCacheEntries(cache_.get()).Of(CacheEntryRole::kDataBlock).count, 3u);
    reader_.reset();
    EpochDrain();
    EXPECT_EQ(cache_->GetUsage(), 0u) << is_wrapped;
  }
}

// The blocks of a deleted file are removed, including the partitions of its filter.
TEST_P(MetadataCacheTest, ADeletedFileTakesItsBlocksAlong) {
  for (const bool keeps : {true, false}) {
    Open(keeps ? MetadataPlan() : KeepsNothing());
    for (int i = 0; i < kEntries; i += 7) EXPECT_EQ(Get(UserKeyAt(i)), ValueAt(i));
    const CacheEntryStats before = CountCacheEntries(cache_.get());
    EXPECT_GT(before.Of(CacheEntryRole::kDataBlock).count, 50u);
    EXPECT_GT(before.Of(CacheEntryRole::kFilterBlock).count, 0u);
    reader_->ForgetCachedBlocks();
    reader_.reset();
    EpochDrain();
    const CacheEntryStats left = CountCacheEntries(cache_.get());
    for (const CacheEntryRole role : {CacheEntryRole::kDataBlock, CacheEntryRole::kFilterBlock}) {
      EXPECT_EQ(left.Of(role).count, 0u) << keeps;
    }
    EvictAll();
  }
}

// A second tier may be shared by caches that each number their files from one, or may outlive the
// process. An entry of a file without identity is never used for another file.
TEST_P(MetadataCacheTest, FilesWithoutIdentityAreApartInASharedSecondTier) {
  builder_options_.db_session_id.clear();
  const std::shared_ptr<SecondaryCache> tier = NewCompressedSecondaryCache(8 << 20, 0);
  for (const std::string prefix : {"first", "other"}) {
    bytes_.clear();
    Build(prefix);
    LRUCacheOptions cache_options(20 << 10, 0, false, 0);
    cache_options.secondary_cache = tier;
    cache_ = cache_options.MakeSharedCache();
    view_ = std::make_unique<BlockCacheView>(cache_, &TableBlockForms());
    Open(KeepsNothing());
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < kEntries; i += 5) ASSERT_EQ(Get(UserKeyAt(i)), prefix + ValueAt(i));
    }
    reader_.reset();
    EpochDrain();
  }
}

// A block that was not inserted into the cache has no key there: its key is all zeros.
TEST_P(MetadataCacheTest, WhatIsNotChargedTakesNothingOutOfTheCache) {
  const std::string zeros(sizeof(BlockKey), '\0');
  ASSERT_OK(cache_->Insert(zeros, nullptr, &kNoHelper, 1));
  MetadataPlan plan;
  plan.charges_kept = false;
  Open(plan);
  reader_.reset();
  Cache::Handle* const handle = cache_->Lookup(zeros);
  ASSERT_NE(handle, nullptr);
  cache_->Release(handle);
}

INSTANTIATE_TEST_SUITE_P(Forms, MetadataCacheTest,
                         testing::Values(MetadataForm::kWhole, MetadataForm::kPartitioned));

// The second tier returns what was saved, and nothing else.
TEST(SavedBlocks, AreVerifiedBeforeTheyAreParsed) {
  const Cache::CacheItemHelper* const form = TableBlockForms().Of(CacheEntryRole::kDataBlock);
  ASSERT_TRUE(form->IsSecondaryCacheCompatible());
  EXPECT_FALSE(TableBlockForms().Of(CacheEntryRole::kIndexBlock)->IsSecondaryCacheCompatible());
  BlockBuilder builder({.restart_interval = 16});
  for (int i = 0; i < 20; ++i) builder.Add(KeyAt(i), ValueAt(i));
  const std::string raw = builder.Finish().ToString();
  std::string saved;
  PutFixed64(&saved, HashBytes(raw));
  saved += raw;
  Cache::CreateContext context;
  const auto create = [&](const Slice& bytes, Cache::ObjectPtr* object) {
    size_t charge = 0;
    return form->create_cb(bytes, kNoCompression, CacheTier::kVolatileTier, &context, nullptr,
                           object, &charge);
  };
  Cache::ObjectPtr object = nullptr;
  ASSERT_OK(create(saved, &object));
  std::string again(form->size_cb(object), '\0');
  ASSERT_OK(form->saveto_cb(object, 0, again.size(), again.data()));
  EXPECT_EQ(again, saved);
  EXPECT_TRUE(form->saveto_cb(object, 1, again.size(), again.data()).IsInvalidArgument());
  form->del_cb(object, nullptr);
  for (size_t i = 0; i < saved.size(); i += 3) {
    std::string damaged = saved;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    const Status status = create(damaged, &object);
    EXPECT_TRUE(status.IsCorruption()) << i;
    EXPECT_NE(status.ToString().find("hash expected"), std::string::npos);
  }
  for (size_t n = 0; n < saved.size(); ++n) {
    EXPECT_TRUE(create(Slice(saved.data(), n), &object).IsCorruption()) << n;
  }
  EpochDrain();
}

}  // namespace
}  // namespace ashlar
