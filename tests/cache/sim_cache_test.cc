// SPDX-License-Identifier: Apache-2.0
//
// SimCache: the counters are those of a cache of the simulated capacity, and the real cache works
// as without it.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "ashlar/utilities/sim_cache.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr Cache::CacheItemHelper kNoObject(CacheEntryRole::kMisc);

std::string Key(int i) {
  std::string key(16, '\0');
  key[0] = static_cast<char>(i);
  key[1] = static_cast<char>(i >> 8);
  return key;
}

std::shared_ptr<Cache> OneShard(size_t capacity) {
  LRUCacheOptions options;
  options.capacity = capacity;
  options.num_shard_bits = 0;
  options.metadata_charge_policy = kDontChargeCacheMetadata;
  return NewLRUCache(options);
}

// A read of a block: looks it up, and puts it into the cache if it is not there.
void Read(Cache* cache, int i) {
  if (Cache::Handle* const handle = cache->Lookup(Key(i))) {
    cache->Release(handle);
  } else {
    ASSERT_OK(cache->Insert(Key(i), nullptr, &kNoObject, 10));
  }
}

TEST(SimCaches, CountWhatALargerCacheWouldHaveAnswered) {
  const auto real = OneShard(50);
  const auto sim = NewSimCache(real, 200, 0);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) Read(sim.get(), i);
  }
  EXPECT_EQ(sim->get_miss_counter(), 20u);
  EXPECT_EQ(sim->get_hit_counter(), 40u);
  EXPECT_EQ(sim->GetSimUsage(), 200u);
  EXPECT_EQ(sim->GetUsage(), 50u);  // the real one has room for five
  EXPECT_EQ(sim->GetSimCapacity(), 200u);
  sim->SetSimCapacity(100);
  sim->reset_counter();
  EXPECT_EQ(sim->get_hit_counter() + sim->get_miss_counter(), 0u);
  EXPECT_EQ(sim->GetSimUsage(), 100u);
  for (int i = 20; i-- > 0;) Read(sim.get(), i);
  EXPECT_EQ(sim->get_hit_counter(), 10u);
  EXPECT_NE(sim->ToString().find("HITs:    10"), std::string::npos);
  sim->Erase(Key(0));
  EXPECT_EQ(sim->Lookup(Key(0)), nullptr);
}

TEST(SimCaches, CountInTheStatisticsOfTheDatabase) {
  const auto sim = NewSimCache(OneShard(50), 200, 0);
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  const auto lookup = [&] {
    Cache::Handle* const handle = sim->BasicLookup(Key(1), statistics.get());
    if (handle != nullptr) sim->Release(handle);
  };
  lookup();
  Read(sim.get(), 1);
  lookup();
  lookup();
  EXPECT_EQ(statistics->getTickerCount(SIM_BLOCK_CACHE_MISS), 1u);
  EXPECT_EQ(statistics->getTickerCount(SIM_BLOCK_CACHE_HIT), 2u);
}

TEST(SimCaches, LogTheirActivity) {
  std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  const auto sim = NewSimCache(OneShard(50), OneShard(50), 0);
  ASSERT_OK(sim->StartActivityLogging("/log", env.get()));
  Read(sim.get(), 1);
  sim->StopActivityLogging();
  Read(sim.get(), 2);
  std::string text;
  ASSERT_OK(ReadFileToString(env.get(), "/log", &text));
  EXPECT_EQ(text,
            "LOOKUP - 01000000000000000000000000000000\n"
            "ADD - 01000000000000000000000000000000 - 10\n");
  EXPECT_OK(sim->GetActivityLoggingStatus());
  ASSERT_OK(sim->StartActivityLogging("/short", env.get(), /*max_logging_size=*/50));
  for (int i = 0; i < 10; ++i) Read(sim.get(), i);
  ASSERT_OK(ReadFileToString(env.get(), "/short", &text));
  EXPECT_GE(text.size(), 50u);
  EXPECT_LT(text.size(), 150u);
  EXPECT_FALSE(sim->StartActivityLogging("/no/such/dir/f", Env::Default()).ok());
}

}  // namespace
}  // namespace ashlar
