// SPDX-License-Identifier: Apache-2.0
//
// Memory other than blocks that is charged to a cache, and which of it the options charge.
#include "cache/cache_charge.h"

#include <gtest/gtest.h>

#include <memory>

#include "ashlar/cache.h"
#include "cache/cache_entry_stats.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr CacheEntryRole kRole = CacheEntryRole::kFilterConstruction;
using Decision = CacheEntryRoleOptions::Decision;

std::shared_ptr<Cache> PlainCache(size_t capacity, bool is_strict = false) {
  LRUCacheOptions options(capacity, 0, is_strict, 0.5);
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  return options.MakeSharedCache();
}

TEST(CacheCharge, FollowsUpwardsAndDownwards) {
  const auto cache = PlainCache(1 << 20);
  {
    CacheCharge charge(cache.get(), kRole);
    EXPECT_OK(charge.GrowTo(1000));
    EXPECT_OK(charge.GrowTo(400)) << "less is no change";
    EXPECT_EQ(charge.bytes(), 1000u);
    EXPECT_OK(charge.GrowTo(3000));
    EXPECT_EQ(cache->GetUsage(), 3000u);
    EXPECT_EQ(cache->GetPinnedUsage(), 3000u);
    const CacheEntryStats stats = CountCacheEntries(cache.get());
    EXPECT_EQ(stats.Of(kRole).count, 2u);
    EXPECT_EQ(stats.Of(kRole).bytes, 3000u);
    charge.ShrinkTo(1500);
    EXPECT_EQ(charge.bytes(), 3000u) << "the newest entry is larger than what may go";
    charge.ShrinkTo(1000);
    EXPECT_EQ(cache->GetUsage(), 1000u);
  }
  EXPECT_EQ(cache->GetUsage(), 0u);
  EXPECT_EQ(cache->GetOccupancyCount(), 0u);
}

TEST(CacheCharge, TellsWhenAStrictCacheIsFull) {
  const auto cache = PlainCache(2000, /*is_strict=*/true);
  CacheCharge charge(cache.get(), kRole);
  EXPECT_OK(charge.GrowTo(1500));
  EXPECT_TRUE(charge.GrowTo(2500).IsMemoryLimit());
  EXPECT_EQ(charge.bytes(), 1500u);
  EXPECT_EQ(cache->GetUsage(), 1500u);
  EXPECT_OK(charge.GrowTo(2000));
}

TEST(CacheCharge, ComesInSteps) {
  constexpr size_t kStep = CacheCharge::kStepBytes;
  const auto cache = PlainCache(8 * kStep, /*is_strict=*/true);
  CacheCharge charge(cache.get(), kRole);
  EXPECT_OK(charge.GrowTo(100));
  EXPECT_OK(charge.GrowTo(4 * kStep + 200));
  EXPECT_EQ(CountCacheEntries(cache.get()).Of(kRole).count, 1u + 5u);
  EXPECT_EQ(cache->GetUsage(), 4 * kStep + 200);
  EXPECT_TRUE(charge.GrowTo(9 * kStep).IsMemoryLimit());
  EXPECT_EQ(cache->GetUsage(), 4 * kStep + 200) << "nothing has changed";
  charge.ShrinkTo(2 * kStep);
  EXPECT_EQ(charge.bytes(), 2 * kStep + 100);
}

TEST(CacheCharge, OfNoCacheIsFree) {
  CacheCharge charge(nullptr, kRole);
  EXPECT_OK(charge.GrowTo(size_t{1} << 40));
  EXPECT_EQ(charge.bytes(), 0u);
}

TEST(CacheCharge, MakesRoomAmongEntries) {
  const auto cache = PlainCache(2000);
  for (int i = 0; i < 20; ++i) EXPECT_OK(cache->Insert(std::to_string(i), nullptr, nullptr, 100));
  CacheCharge charge(cache.get(), kRole);
  EXPECT_OK(charge.GrowTo(1500));
  EXPECT_LE(cache->GetUsage(), 2000u);
}

TEST(CacheUsage, OverridesGoBeforeTheRest) {
  CacheUsageOptions options;
  constexpr auto kByDefault = CacheEntryRole::kCompressionDictionaryBuildingBuffer;
  EXPECT_TRUE(IsCharged(options, kByDefault));
  EXPECT_FALSE(IsCharged(options, kRole));
  EXPECT_FALSE(AsksForCharges(options));
  options.options.charged = Decision::kEnabled;
  EXPECT_TRUE(IsCharged(options, kRole));
  EXPECT_TRUE(AsksForCharges(options));
  options.options_overrides[kRole].charged = Decision::kDisabled;
  EXPECT_FALSE(IsCharged(options, kRole));
  options.options_overrides[kRole].charged = Decision::kFallback;
  EXPECT_TRUE(IsCharged(options, kRole));
  options.options.charged = Decision::kDisabled;
  EXPECT_FALSE(IsCharged(options, kByDefault));
  EXPECT_OK(CheckCacheUsage(options));
  options.options_overrides[CacheEntryRole::kWriteBuffer].charged = Decision::kEnabled;
  EXPECT_TRUE(CheckCacheUsage(options).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
