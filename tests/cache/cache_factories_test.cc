// SPDX-License-Identifier: Apache-2.0
//
// Creating caches from options and from text, and their names.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "cache/clock_cache.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

TEST(CacheFactories, RefuseContradictions) {
  EXPECT_EQ(NewLRUCache(100, 20), nullptr);
  EXPECT_EQ(NewLRUCache(100, 0, false, 1.5), nullptr);
  EXPECT_EQ(NewLRUCache(100, 0, false, 0.6, nullptr, false, kDontChargeCacheMetadata, 0.6),
            nullptr);
}

TEST(CacheFactories, NameWhatWasAskedFor) {
  EXPECT_STREQ(NewLRUCache(0)->Name(), "LRUCache");
  EXPECT_STREQ(NewClockCache(0)->Name(), "LRUCache");
  EXPECT_STREQ(HyperClockCacheOptions(1 << 20).MakeSharedCache()->Name(), "HyperClockCache");
}

TEST(CacheFactories, RecogniseTheBuiltInCacheOnly) {
  const std::shared_ptr<Cache> cache = NewLRUCache(100);
  EXPECT_EQ(ClockCache::From(cache.get()), cache.get());
  struct Wrapper : CacheWrapper {
    using CacheWrapper::CacheWrapper;
    const char* Name() const override { return target_->Name(); }
  };
  Wrapper wrapper(cache);
  EXPECT_EQ(ClockCache::From(&wrapper), nullptr);
}

struct TextCase {
  const char* text;
  size_t capacity;
  const char* name;  // nullptr: refused
};
constexpr TextCase kTextCases[] = {
    {"4096", 4096, "LRUCache"},
    {"64M", size_t{64} << 20, "LRUCache"},
    {"2g", size_t{2} << 30, "LRUCache"},
    {"capacity=1K;num_shard_bits=3", 1024, "LRUCache"},
    {"capacity=1K;strict_capacity_limit=true;high_pri_pool_ratio=0.25", 1024, "LRUCache"},
    {"id=HyperClockCache;capacity=5", 5, "HyperClockCache"},
    {"2MB", size_t{2} << 20, "LRUCache"},
    {"64Q", 64, "LRUCache"},  // as RocksDB: a number ends where its digits and suffix do
    {"{ capacity = 1K ; num_shard_bits = 3 }", 1024, "LRUCache"},
    {"", 0, nullptr},
    {"K", 0, nullptr},
    {"99999999999T", 0, nullptr},
    {"capacity=abc", 0, nullptr},
    {"no_such_option=1", 0, nullptr},
    {"capacity=1;num_shard_bits=25", 0, nullptr},
};

TEST(CacheFactories, ReadText) {
  for (const TextCase& c : kTextCases) {
    std::shared_ptr<Cache> cache;
    const Status status = Cache::CreateFromString(ConfigOptions(), c.text, &cache);
    ASSERT_EQ(status.ok(), c.name != nullptr) << c.text << ": " << status.ToString();
    if (c.name == nullptr) {
      EXPECT_TRUE(status.IsInvalidArgument()) << c.text;
      EXPECT_EQ(cache, nullptr);
    } else {
      EXPECT_EQ(cache->GetCapacity(), c.capacity) << c.text;
      EXPECT_STREQ(cache->Name(), c.name) << c.text;
    }
  }
}

TEST(CacheEntryRoles, HaveNames) {
  EXPECT_EQ(GetCacheEntryRoleName(CacheEntryRole::kDataBlock), "DataBlock");
  EXPECT_EQ(GetCacheEntryRoleName(CacheEntryRole::kMisc), "Misc");
  EXPECT_EQ(BlockCacheEntryStatsMapKeys::EntryCount(CacheEntryRole::kFilterMetaBlock),
            "count.filter-meta-block");
}

}  // namespace
}  // namespace ashlar
