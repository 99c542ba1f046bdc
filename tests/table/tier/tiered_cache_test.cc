// SPDX-License-Identifier: Apache-2.0
//
// A block cache with a second tier: what goes there, what comes back, and what it costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/advanced_options.h"
#include "ashlar/cache.h"
#include "ashlar/secondary_cache.h"
#include "ashlar/statistics.h"
#include "table/format/compression.h"
#include "table/tier/compressed_secondary_cache.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Entries of a program: strings that are saved unchanged, and refused if they are "damaged".
size_t SizeOf(Cache::ObjectPtr object) { return static_cast<std::string*>(object)->size(); }
Status Save(Cache::ObjectPtr object, size_t from, size_t length, char* out) {
  std::memcpy(out, static_cast<std::string*>(object)->data() + from, length);
  return Status::OK();
}
Status Create(const Slice& data, CompressionType, CacheTier, Cache::CreateContext*,
              MemoryAllocator*, Cache::ObjectPtr* object, size_t* charge) {
  if (data.starts_with("damaged")) return Status::Corruption("as it says");
  *object = new std::string(data.ToString());
  *charge = data.size();
  return Status::OK();
}
void Delete(Cache::ObjectPtr object, MemoryAllocator*) { delete static_cast<std::string*>(object); }

constexpr Cache::CacheItemHelper kPlain(CacheEntryRole::kDataBlock, &Delete);
constexpr Cache::CacheItemHelper kString(CacheEntryRole::kDataBlock, &Delete, &SizeOf, &Save,
                                         &Create, &kPlain);
constexpr Cache::CacheItemHelper kFilter(CacheEntryRole::kFilterBlock, &Delete, &SizeOf, &Save,
                                         &Create, &kPlain);

CompressedSecondaryCacheOptions StoreOptions(size_t capacity) {
  CompressedSecondaryCacheOptions options;
  options.capacity = capacity;
  options.num_shard_bits = 0;
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  if (!IsCompressionSupported(options.compression_type)) options.compression_type = kNoCompression;
  return options;
}

class SecondTierTest : public testing::Test {
 protected:
  void Make(size_t first, size_t second,
            TieredAdmissionPolicy policy = TieredAdmissionPolicy::kAdmPolicyAuto) {
    ShardedCacheOptions sharded(first, 0, false);
    sharded.metadata_charge_policy = kDontChargeCacheMetadata;
    TieredCacheOptions options;
    options.cache_opts = &sharded;
    options.total_capacity = first + second;
    options.compressed_secondary_ratio =
        static_cast<double>(second) / static_cast<double>(first + second);
    options.comp_cache_opts = StoreOptions(second);
    options.adm_policy = policy;
    cache_ = NewTieredCache(options);
    ASSERT_NE(cache_, nullptr);
  }
  void Put(const std::string& key, const std::string& value,
           const Cache::CacheItemHelper* helper = &kString) {
    ASSERT_OK(cache_->Insert(key, new std::string(value), helper, value.size()));
  }
  std::string Get(const std::string& key) {
    Cache::CreateContext context;
    Cache::Handle* const handle =
        cache_->Lookup(key, &kString, &context, Cache::Priority::LOW, statistics_.get());
    if (handle == nullptr) return "none";
    const std::string value = *static_cast<std::string*>(cache_->Value(handle));
    cache_->Release(handle);
    return value;
  }
  // Evicts everything else from the first tier, with entries that are used more.
  void Flood() {
    for (int i = 0; i < 80; ++i) {
      const std::string key = StrCat("flood", flood_++);
      Put(key, std::string(100, 'f'), &kPlain);
      Cache::Handle* const handle = cache_->BasicLookup(key, nullptr);
      if (handle != nullptr) cache_->Release(handle);
    }
  }
  uint64_t Ticker(Tickers ticker) const { return statistics_->getTickerCount(ticker); }

  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::shared_ptr<Cache> cache_;
  int flood_ = 0;
};

TEST_F(SecondTierTest, TakesWhatComesForTheSecondTime) {
  Make(2000, 2000);
  const std::string value(300, 'v');
  Put("key", value);
  Flood();
  EXPECT_EQ(Get("key"), "none") << "once is not enough";
  Put("key", value);
  Flood();
  Flood();
  EXPECT_EQ(Get("key"), value);
  EXPECT_EQ(Ticker(COMPRESSED_SECONDARY_CACHE_HITS), 1u);
  EXPECT_EQ(Ticker(COMPRESSED_SECONDARY_CACHE_PROMOTIONS), 1u);
  EXPECT_EQ(Ticker(SECONDARY_CACHE_HITS), 1u);
  EXPECT_EQ(Ticker(SECONDARY_CACHE_DATA_HITS), 1u);
  EXPECT_EQ(Get("key"), value);
  EXPECT_EQ(Ticker(SECONDARY_CACHE_HITS), 1u) << "it is in the first tier again";
}

TEST_F(SecondTierTest, TakesAllIfAsked) {
  Make(2000, 2000, TieredAdmissionPolicy::kAdmPolicyAllowAll);
  Put("key", std::string(300, 'v'));
  Flood();
  EXPECT_EQ(Get("key"), std::string(300, 'v'));
}

TEST_F(SecondTierTest, TakesWhatWasUsedIfAsked) {
  Make(2000, 2000, TieredAdmissionPolicy::kAdmPolicyAllowCacheHits);
  Put("used", std::string(300, 'v'));
  Put("unused", std::string(300, 'v'));
  EXPECT_EQ(Get("used"), std::string(300, 'v'));
  Flood();
  Flood();
  Flood();
  EXPECT_EQ(Get("unused"), "none");
  EXPECT_EQ(Get("used"), std::string(300, 'v'));
  EXPECT_EQ(Ticker(SECONDARY_CACHE_HITS), 1u);
}

TEST_F(SecondTierTest, DividesOneBudget) {
  Make(3000, 1000);
  EXPECT_EQ(cache_->GetCapacity(), 4000u);
  Flood();
  EXPECT_LE(cache_->GetUsage(), 3000u);
  ASSERT_OK(UpdateTieredCache(cache_, 8000));
  EXPECT_EQ(cache_->GetCapacity(), 8000u);
  ASSERT_OK(UpdateTieredCache(cache_, -1, 0.75));
  EXPECT_EQ(cache_->GetCapacity(), 8000u);
  Flood();
  Flood();
  EXPECT_LE(cache_->GetUsage(), 2000u);
  EXPECT_TRUE(UpdateTieredCache(cache_, -1, 1.5).IsInvalidArgument());
  EXPECT_TRUE(UpdateTieredCache(NewLRUCache(1000)).IsInvalidArgument());
  EXPECT_TRUE(UpdateTieredCache(nullptr).IsInvalidArgument());
  EXPECT_TRUE(UpdateTieredCache(cache_, -1, std::numeric_limits<double>::max(),
                                TieredAdmissionPolicy::kAdmPolicyThreeQueue)
                  .IsNotSupported());
}

// The second tier of a program keeps the capacity that the program chose.
TEST_F(SecondTierTest, ACacheWithATierOfTheProgramIsNotDivided) {
  LRUCacheOptions options;
  options.capacity = 4000;
  options.secondary_cache = StoreOptions(1000).MakeSharedSecondaryCache();
  ASSERT_NE(options.secondary_cache, nullptr);
  const std::shared_ptr<Cache> cache = options.MakeSharedCache();
  ASSERT_NE(cache, nullptr);
  EXPECT_TRUE(UpdateTieredCache(cache, 8000).IsInvalidArgument());
  EXPECT_TRUE(UpdateTieredCache(cache, -1, 0.5).IsInvalidArgument());
  EXPECT_TRUE(UpdateTieredCache(cache, -1, std::numeric_limits<double>::max(),
                                TieredAdmissionPolicy::kAdmPolicyAllowAll)
                  .IsInvalidArgument());
  EXPECT_EQ(cache->GetCapacity(), 4000u);
  size_t capacity = 0;
  ASSERT_OK(options.secondary_cache->GetCapacity(capacity));
  EXPECT_EQ(capacity, 1000u);
}

TEST_F(SecondTierTest, ContradictionsMakeNone) {
  TieredCacheOptions options;
  EXPECT_EQ(NewTieredCache(options), nullptr) << "without a first tier";
  ShardedCacheOptions sharded(1000, 0, false);
  options.cache_opts = &sharded;
  options.total_capacity = 1000;
  options.comp_cache_opts = StoreOptions(100);
  EXPECT_NE(NewTieredCache(options), nullptr);
  options.compressed_secondary_ratio = 1.1;
  EXPECT_EQ(NewTieredCache(options), nullptr);
  options.compressed_secondary_ratio = 0.5;
  options.nvm_sec_cache = NewCompressedSecondaryCache(100);
  EXPECT_EQ(NewTieredCache(options), nullptr);
}

class CompressedTierTest : public testing::Test {
 protected:
  CompressedTierTest() {
    auto made = CompressedSecondaryCache::Make(StoreOptions(10'000));
    EXPECT_OK(made);
    tier_ = made.Take();
  }
  Status Offer(const std::string& key, std::string value, bool is_forced,
               const Cache::CacheItemHelper* helper = &kString) {
    return tier_->Insert(key, &value, helper, is_forced);
  }
  std::string Take(const std::string& key, bool erases = true) {
    Cache::CreateContext context;
    const auto found = tier_->Lookup(key, &kString, &context, true, erases, nullptr, is_kept_);
    if (found == nullptr) return "none";
    EXPECT_TRUE(found->IsReady());
    const std::unique_ptr<std::string> value(static_cast<std::string*>(found->Value()));
    EXPECT_EQ(found->Size(), value->size());
    return *value;
  }

  std::shared_ptr<CompressedSecondaryCache> tier_;
  bool is_kept_ = false;
};

TEST_F(CompressedTierTest, HoldsWhatIsSavedCompressed) {
  const std::string value(4000, 'v');
  ASSERT_OK(Offer("key", value, true));
  if (IsCompressionSupported(kLZ4Compression)) {
    EXPECT_LT(tier_->usage(), 500u);
  }
  EXPECT_EQ(Take("key", /*erases=*/false), value);
  EXPECT_TRUE(is_kept_);
  EXPECT_EQ(Take("key"), value);
  EXPECT_FALSE(is_kept_);
  EXPECT_EQ(Take("key"), "none") << "who asked has it";
  EXPECT_EQ(tier_->usage(), 0u);
  ASSERT_OK(Offer("filter", value, true, &kFilter));
  EXPECT_GE(tier_->usage(), 4000u) << "filters do not get smaller, so nobody tries";
}

TEST_F(CompressedTierTest, WhatDoesNotGetSmallerStaysAsItIs) {
  std::string value;
  for (int i = 0; i < 500; ++i) value.push_back(static_cast<char>(i * i * 31 + i));
  ASSERT_OK(Offer("key", value, true));
  ASSERT_OK(Offer("empty", "", true));
  EXPECT_EQ(Take("key"), value);
  EXPECT_EQ(Take("empty"), "");
}

TEST_F(CompressedTierTest, NeverHoldsMoreThanItMay) {
  std::string noise;
  for (int i = 0; i < 900; ++i) noise.push_back(static_cast<char>(i * i * 31 + i / 7 * 13));
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(Offer(StrCat("key", i), noise, true));
    EXPECT_LE(tier_->usage(), 10'000u);
  }
  EXPECT_OK(tier_->Deflate(8000));
  EXPECT_LE(tier_->usage(), 2000u);
  EXPECT_TRUE(tier_->Deflate(8000).IsInvalidArgument());
  EXPECT_OK(tier_->Inflate(1000));
  size_t capacity = 0;
  EXPECT_OK(tier_->GetCapacity(capacity));
  EXPECT_EQ(capacity, 3000u);
}

TEST_F(CompressedTierTest, ADamagedEntryIsAMissAndGone) {
  ASSERT_OK(Offer("key", "damaged value", true));
  EXPECT_GT(tier_->usage(), 0u);
  EXPECT_EQ(Take("key", /*erases=*/false), "none");
  EXPECT_EQ(tier_->usage(), 0u);
}

TEST_F(CompressedTierTest, TakesSavedBytes) {
  ASSERT_OK(tier_->InsertSaved("key", "saved", kNoCompression, CacheTier::kVolatileTier));
  EXPECT_EQ(Take("key"), "saved");
  const Status status =
      tier_->InsertSaved("key", "no stream", kZlibCompression, CacheTier::kVolatileTier);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Take("key"), "none");
  EXPECT_TRUE(Offer("key", "x", true, &kPlain).IsInvalidArgument());
}

TEST_F(CompressedTierTest, IsSharedByThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string key = StrCat("key", (i * 7 + t) % 40);
        Cache::CreateContext context;
        bool is_kept = false;
        const auto found =
            tier_->Lookup(key, &kString, &context, true, i % 3 != 0, nullptr, is_kept);
        if (found == nullptr) {
          std::string value(200, key.back());
          IgnoreError(tier_->Insert(key, &value, &kString, i % 2 == 0), "it may refuse");
        } else {
          const std::unique_ptr<std::string> value(static_cast<std::string*>(found->Value()));
          EXPECT_EQ(*value, std::string(200, key.back()));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CompressedTier, NeedsItsLibrary) {
  CompressedSecondaryCacheOptions options = StoreOptions(1000);
  options.compression_type = kXpressCompression;
  EXPECT_EQ(options.MakeSharedSecondaryCache(), nullptr);
  EXPECT_TRUE(CompressedSecondaryCache::Make(options).status().IsNotSupported());
}

}  // namespace
}  // namespace ashlar
