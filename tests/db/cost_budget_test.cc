// SPDX-License-Identifier: Apache-2.0
//
// Reads that find everything in memory do not allocate, lock or pin. This file replaces operator
// new and pthread_mutex_lock of the program by versions that count their calls.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"

namespace {
thread_local uint64_t g_locks = 0;
}  // namespace

// The sanitizers have replacements of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  g_locks++;
  return real(mutex);
}
#endif

namespace ashlar {
namespace {

class CostBudgetTest : public DbTest {
 protected:
  CostBudgetTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
  }

  void OpenWithFilters(const std::shared_ptr<Cache>& cache) {
    BlockBasedTableOptions table;
    table.block_cache = cache;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
  }
};

TEST_F(CostBudgetTest, ACachedGetAllocatesNothingLocksNothingAndPinsNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  const std::shared_ptr<Cache> cache = NewLRUCache(8 << 20);
  OpenWithFilters(cache);
  for (int i = 0; i < 2000; i++) Put(Key(i), std::string(20, 'v'));
  Flush();
  for (int i = 0; i < 2000; i += 2) Put(Key(i), std::string(20, 'w'));
  Compact();
  Put("in memory", "x");
  const std::vector<std::string> keys = {Key(0), Key(777), Key(1998), "in memory", "missing"};
  PinnableSlice value;
  value.GetSelf()->reserve(64);
  const ReadOptions read;
  ColumnFamilyHandle* family = db_->DefaultColumnFamily();
  for (int round = 0; round < 3; round++) {
    for (const std::string& key : keys) {
      EXPECT_EQ(db_->Get(read, family, key, &value).ok(), key != "missing");
      value.Reset();
    }
  }
  const size_t usage = cache->GetUsage(), pinned = cache->GetPinnedUsage();
  const uint64_t allocations = thread_allocations, locks = g_locks;
  EXPECT_GT(allocations, 0u);  // the counters work: writing and flushing needed both
  EXPECT_GT(locks, 0u);
  uint64_t found = 0;
  for (int round = 0; round < 100; round++) {
    for (const std::string& key : keys) {
      found += db_->Get(read, family, key, &value).ok();
      value.Reset();
    }
  }
  const uint64_t allocated = thread_allocations - allocations, locked = g_locks - locks;
  EXPECT_EQ(found, 400u);
  EXPECT_EQ(allocated, 0u);
  EXPECT_EQ(locked, 0u);
  EXPECT_EQ(cache->GetPinnedUsage(), pinned);
  EXPECT_EQ(cache->GetUsage(), usage);
}

// The same in a family with timestamps, where every run with the key is asked.
TEST_F(CostBudgetTest, ACachedGetAtATimestampAllocatesNothingLocksNothingAndPinsNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  const std::shared_ptr<Cache> cache = NewLRUCache(8 << 20);
  options_.comparator = BytewiseComparatorWithU64Ts();
  OpenWithFilters(cache);
  std::string stamp;
  const WriteOptions write;
  const auto put = [&](const std::string& key, uint64_t ts) {
    stamp.clear();
    ASSERT_OK(db_->Put(write, key, EncodeU64Ts(ts, &stamp), std::string(20, 'v')));
  };
  for (int i = 0; i < 2000; i++) put(Key(i), 5);
  Compact();
  for (int i = 0; i < 2000; i += 2) put(Key(i), 7);
  Flush();
  for (int i = 0; i < 2000; i += 3) put(Key(i), 3);
  put("in memory", 4);
  const std::vector<std::string> keys = {Key(0), Key(777), Key(1998), "in memory", "missing"};
  PinnableSlice value;
  value.GetSelf()->reserve(64);
  ReadOptions read;
  stamp.clear();
  const Slice at = EncodeU64Ts(6, &stamp);
  read.timestamp = &at;
  ColumnFamilyHandle* family = db_->DefaultColumnFamily();
  for (int round = 0; round < 3; round++) {
    for (const std::string& key : keys) {
      EXPECT_EQ(db_->Get(read, family, key, &value).ok(), key != "missing");
      value.Reset();
    }
  }
  const size_t pinned = cache->GetPinnedUsage();
  const uint64_t allocations = thread_allocations, locks = g_locks;
  uint64_t found = 0;
  for (int round = 0; round < 100; round++) {
    for (const std::string& key : keys) {
      found += db_->Get(read, family, key, &value).ok();
      value.Reset();
    }
  }
  const uint64_t allocated = thread_allocations - allocations, locked = g_locks - locks;
  EXPECT_EQ(found, 400u);
  EXPECT_EQ(allocated, 0u);
  EXPECT_EQ(locked, 0u);
  EXPECT_EQ(cache->GetPinnedUsage(), pinned);
}

// A batch of keys in a memtable, in three tables of level 0 and in the last level, with absent keys
// and one key twice.
TEST_F(CostBudgetTest, ACachedBatchAllocatesNothingLocksNothingAndPinsNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  const std::shared_ptr<Cache> cache = NewLRUCache(8 << 20);
  OpenWithFilters(cache);
  const auto write = [&](int first, int step) {
    for (int i = first; i < 2000; i += step) Put(Key(i), std::string(20, 'v'));
  };
  write(0, 1);
  Compact();
  write(1, 10);
  Flush();
  write(2, 10);
  Flush();
  write(3, 10);
  Flush();
  write(4, 10);
  constexpr size_t kBatch = 32;
  std::vector<std::string> names;
  for (size_t i = 0; i < kBatch; i++) names.push_back(Key(static_cast<int>(i * 61)));
  names[5] = "missing";
  names[6] = Key(77) + "x";
  names[7] = names[8];
  std::vector<Slice> keys(names.begin(), names.end());
  std::vector<PinnableSlice> values(kBatch);
  for (PinnableSlice& value : values) value.GetSelf()->reserve(64);
  std::vector<Status> statuses(kBatch);
  const ReadOptions read;
  ColumnFamilyHandle* family = db_->DefaultColumnFamily();
  const auto get = [&](size_t size) {
    db_->MultiGet(read, family, size, keys.data(), values.data(), statuses.data(), false);
    size_t found = 0;
    for (size_t i = 0; i < size; i++) found += statuses[i].ok();
    return found;
  };
  for (int round = 0; round < 4; round++) EXPECT_EQ(get(kBatch), kBatch - 2);
  const size_t pinned = cache->GetPinnedUsage();
  const uint64_t allocations = thread_allocations, locks = g_locks;
  size_t found = 0;
  for (int round = 0; round < 100; round++) found += get(kBatch) + get(1) + get(4);
  const uint64_t allocated = thread_allocations - allocations, locked = g_locks - locks;
  EXPECT_EQ(found, 100 * (kBatch - 2 + 1 + 4));
  EXPECT_EQ(allocated, 0u);
  EXPECT_EQ(locked, 0u);
  for (PinnableSlice& value : values) value.Reset();
  EXPECT_LE(cache->GetPinnedUsage(), pinned);
}

// Steps within blocks, from block to block and from file to file, over memtables and levels. The
// first pass warms the cache and the buffers of the iterator.
TEST_F(CostBudgetTest, AStepOfAWarmIteratorAllocatesNothingAndLocksNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  options_.target_file_size_base = 64 << 10;
  Open();
  for (int i = 0; i < 4000; i++) Put(Key(i), std::string(50, 'v'));
  Compact();
  for (int i = 0; i < 4000; i += 3) Put(Key(i), std::string(50, 'w'));
  Flush();
  for (int i = 0; i < 4000; i += 7) Put(Key(i), std::string(50, 'x'));
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  const auto pass = [&] {
    int steps = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) steps++;
    for (it->Seek(Key(1000)); it->Valid(); it->Next()) steps++;
    return steps;
  };
  EXPECT_EQ(pass() + pass() + pass(), 3 * 7000);  // the third visit decodes no more blocks
  const uint64_t allocations = thread_allocations, locks = g_locks;
  const int steps = pass();
  const uint64_t allocated = thread_allocations - allocations, locked = g_locks - locks;
  EXPECT_EQ(steps, 7000);
  EXPECT_EQ(allocated, 0u);
  EXPECT_EQ(locked, 0u);
}

// As a transaction uses its own again and again: ten updates, reads of these, of others and over
// the database, a scan that makes the order of the keys.
TEST_F(CostBudgetTest, ABatchThatIsUsedAgainAllocatesNothingForUpdatesAndReads) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  Open();
  for (int i = 0; i < 100; i++) Put(Key(i), std::string(20, 'v'));
  WriteBatchWithIndex batch(BytewiseComparator(), 0, /*overwrite_key=*/true);
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  const DBOptions options;
  const ReadOptions read;
  std::vector<std::string> keys;
  for (int i = 0; i < 100; i += 5) keys.push_back(Key(i));
  PinnableSlice value;
  value.GetSelf()->reserve(64);
  std::string own;
  own.reserve(64);
  uint64_t found = 0;
  const auto use = [&] {
    batch.Clear();
    for (size_t i = 0; i < 10; i++) found += batch.Put(family, keys[i], "own value").ok();
    found += batch.Put(family, keys[0], "again").ok();
    for (const std::string& key : keys) {
      found += batch.GetFromBatch(family, options, key, &own).ok();
      found += batch.GetFromBatchAndDB(db_.get(), read, family, key, &value).ok();
      value.Reset();
    }
  };
  for (int round = 0; round < 3; round++) use();
  const uint64_t allocations = thread_allocations;
  found = 0;
  for (int round = 0; round < 100; round++) use();
  const uint64_t allocated = thread_allocations - allocations;
  EXPECT_EQ(found, 4100u);
  EXPECT_EQ(allocated, 0u);
}

// One iterator over both, and none of its steps.
TEST_F(CostBudgetTest, AStepUnderABatchAllocatesNothingAndLocksNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  Open();
  for (int i = 0; i < 2000; i++) Put(Key(i), std::string(20, 'v'));
  WriteBatchWithIndex batch;
  for (int i = 0; i < 2000; i += 3) ASSERT_OK(batch.Put(Key(i), "own value"));
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  it->SeekToFirst();
  const uint64_t allocations = thread_allocations, locks = g_locks;
  uint64_t found = 0;
  for (; it->Valid(); it->Next()) found++;
  const uint64_t allocated = thread_allocations - allocations, locked = g_locks - locks;
  EXPECT_EQ(found, 2000u);
  EXPECT_EQ(allocated, 0u);
  EXPECT_EQ(locked, 0u);
}

}  // namespace
}  // namespace ashlar
