// SPDX-License-Identifier: Apache-2.0
//
// The block cache's lookups without a lock, during insertions that make its table grow, evict,
// replace and erase.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "tests/interleave/interleave.h"
#include "util/threads/epoch.h"

namespace ashlar::interleave {
namespace {

// Values record whether they are alive; they are not really freed before the run ends.
struct Value {
  std::atomic<int> lives{1};
};

constexpr Cache::CacheItemHelper kHelper(CacheEntryRole::kMisc,
                                         [](Cache::ObjectPtr p, MemoryAllocator*) {
                                           static_cast<Value*>(p)->lives.fetch_sub(1);
                                         });

std::string KeyOf(size_t i) {
  std::string key(16, 'k');
  key[15] = static_cast<char>(i);
  return key;
}

struct State {
  State(size_t capacity, size_t present) : values(present + 4) {
    LRUCacheOptions options(capacity, /*shard bits*/ 0, /*strict*/ false, 0.5);
    options.metadata_charge_policy = kDontChargeCacheMetadata;
    cache = options.MakeSharedCache();
    for (size_t i = 0; i < present; i++) Insert(i, i);
  }
  void Insert(size_t key, size_t value) {
    const Status status = cache->Insert(KeyOf(key), &values[value], &kHelper, /*charge=*/1);
    Require(status.ok(), "inserted");
  }
  // Returns the value found, or null, and requires that it has not been freed.
  Value* LookUp(size_t key) {
    Cache::Handle* handle = cache->Lookup(KeyOf(key), &kHelper, nullptr);
    if (handle == nullptr) return nullptr;
    auto* value = static_cast<Value*>(cache->Value(handle));
    Require(value->lives.load() == 1, "what is found is alive");
    Require(value->lives.load() == 1, "and stays so while it is held");
    cache->Release(handle);
    return value;
  }
  // Nothing is freed twice; at the end everything is freed.
  void CheckEnd(size_t made) {
    cache.reset();
    EpochDrain();
    for (size_t i = 0; i < made; i++) Require(values[i].lives.load() == 0, "each is freed once");
  }

  std::vector<Value> values;
  std::shared_ptr<Cache> cache;
};

constexpr size_t kBuckets = 64;  // of a new table; it grows when it has this many entries

TEST(CacheOrders, EveryEntryIsFoundWhileTheTableGrows) {
  ExpectAlways({.preemptions = 1}, [] {
    auto state = std::make_shared<State>(/*capacity=*/10000, kBuckets - 1);
    return Scenario{.threads = {[state] {
                                  for (const size_t i : {0, 31, 62}) {
                                    Require(state->LookUp(i) == &state->values[i], "found");
                                  }
                                },
                                [state] {
                                  state->Insert(kBuckets - 1, kBuckets - 1);
                                  state->Insert(kBuckets, kBuckets);
                                }},
                    .check = [state] { state->CheckEnd(kBuckets + 1); },
                    .prepare = EpochReclaim};
  });
}

TEST(CacheOrders, ReferencedEntriesAreNotEvicted) {
  ExpectAlways({.preemptions = 2}, [] {
    auto state = std::make_shared<State>(/*capacity=*/2, /*present=*/2);
    return Scenario{.threads = {[state] { state->LookUp(0); },
                                [state] {
                                  state->Insert(2, 2);
                                  state->Insert(3, 3);
                                }},
                    .check = [state] { state->CheckEnd(4); },
                    .prepare = EpochReclaim};
  });
}

TEST(CacheOrders, AReplacedOrErasedValueLivesWhileItIsReferenced) {
  ExpectAlways({.preemptions = 2}, [] {
    auto state = std::make_shared<State>(/*capacity=*/100, /*present=*/1);
    return Scenario{.threads = {[state] { state->LookUp(0); }, [state] { state->Insert(0, 1); },
                                [state] { state->cache->Erase(KeyOf(0)); }},
                    .check = [state] { state->CheckEnd(2); },
                    .prepare = EpochReclaim};  // the number of retired objects of a thread matters
  });
}

}  // namespace
}  // namespace ashlar::interleave
