// SPDX-License-Identifier: Apache-2.0
//
// The memory for building a filter is charged to the block cache and returned. If the cache has no
// room, the table is the same.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/advanced_cache.h"
#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "cache/cache_charge.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kStep = CacheCharge::kStepBytes;
constexpr int kKeys = 100'000;
constexpr size_t kHashBytes = 8 * kKeys;  // that are kept of the keys: four steps

// Counts the requested charges.
class AskedCache final : public CacheWrapper {
 public:
  using CacheWrapper::CacheWrapper;
  const char* Name() const override { return "AskedCache"; }
  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority, const Slice& compressed,
                CompressionType type) override {
    ++asked;
    return CacheWrapper::Insert(key, value, helper, charge, handle, priority, compressed, type);
  }
  int asked = 0;
};

class FilterCharge : public testing::Test {
 protected:
  FilterCharge() : icmp_(BytewiseComparator()) {
    options_.icmp = &icmp_;
    options_.table = &table_;
    table_.filter_policy.reset(NewBloomFilterPolicy(10));
    table_.cache_usage_options.options_overrides[CacheEntryRole::kFilterConstruction].charged =
        CacheEntryRoleOptions::Decision::kEnabled;
  }

  void SetCache(size_t capacity) {
    LRUCacheOptions options(capacity, 0, /*strict=*/true, 0.5);
    options.metadata_charge_policy = kDontChargeCacheMetadata;
    cache_ = std::make_shared<AskedCache>(options.MakeSharedCache());
    table_.block_cache = cache_;
  }
  // Builds a table of kKeys keys; `look` is called with the number of keys after each thousand.
  template <typename Look>
  std::string Build(const Look& look) {
    std::string bytes;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
    TableBuilder builder(options_, writer.get());
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = StrCat("key", 1'000'000 + i);
      EXPECT_OK(builder.Add(MakeInternalKey(key, 7, kTypeValue), "value"));
      if (i % 1000 == 999) look(size_t{1} + static_cast<size_t>(i));
    }
    EXPECT_OK(builder.Finish());
    filter_bytes_ = builder.properties().filter_size;
    bytes_at_end_ = cache_->GetUsage();
    return bytes;
  }

  const InternalKeyComparator icmp_;
  BlockBasedTableOptions table_;
  TableBuilderOptions options_;
  std::shared_ptr<AskedCache> cache_;
  size_t filter_bytes_ = 0;
  size_t bytes_at_end_ = 0;  // in the cache, when the table is complete
};

TEST_F(FilterCharge, FollowsTheKeysAndIsGivenBack) {
  SetCache(32 << 20);
  Build([&](size_t keys) {
    // The hashes of the open block are not counted yet.
    ASSERT_GE(cache_->GetUsage(), 8 * (keys - 1000));
    ASSERT_LE(cache_->GetUsage(), CacheCharge::RoundUp(8 * keys));
  });
  EXPECT_GT(filter_bytes_, kKeys * 10u / 8);
  EXPECT_EQ(bytes_at_end_, CacheCharge::RoundUp(kHashBytes) + filter_bytes_);
  EXPECT_EQ(cache_->GetUsage(), 0u);
}

TEST_F(FilterCharge, WhatFindsNoRoomIsNotChargedAndTheTableIsTheSame) {
  SetCache(32 << 20);
  const auto look_away = [](size_t) {};
  const std::string with_room = Build(look_away);
  for (const size_t capacity : {kStep / 8, kStep, 2 * kStep + kStep / 2}) {
    SetCache(capacity);
    EXPECT_TRUE(Build(look_away) == with_room) << capacity;
    EXPECT_LE(bytes_at_end_, capacity);
    EXPECT_GE(bytes_at_end_, capacity / kStep * kStep) << "what has room is charged";
    EXPECT_EQ(cache_->GetUsage(), 0u);
  }
}

// Asking a strict cache for room evicts other entries, even if that does not make enough room.
TEST_F(FilterCharge, AFullCacheIsAskedOnceAStep) {
  SetCache(kStep / 8);
  Build([](size_t) {});
  EXPECT_EQ(cache_->asked, 4 + 1) << "four steps of hashes, and the filter";
}

TEST_F(FilterCharge, PartitionsAreChargedAsTheyCome) {
  table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table_.partition_filters = true;
  SetCache(32 << 20);
  const std::string with_room = Build([](size_t) {});
  EXPECT_EQ(bytes_at_end_, kStep) << "0.13 MB of filters";
  EXPECT_EQ(cache_->GetUsage(), 0u);
  SetCache(kStep / 8);
  EXPECT_TRUE(Build([](size_t) {}) == with_room);
  EXPECT_EQ(bytes_at_end_, 0u);
}

}  // namespace
}  // namespace ashlar
