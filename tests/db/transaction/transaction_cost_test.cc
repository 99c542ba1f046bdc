// SPDX-License-Identifier: Apache-2.0
//
// What transactions cost: one that begins again with the same object allocates nothing, a key takes
// one search and its part of the lock table, and a check asks only tables that are newer than the
// snapshot. This file replaces operator new of the program by one that counts its calls.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/table.h"
#include "db/transaction/indexed_batch/key_table.h"
#include "db/transaction/tracking/tracked_keys.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "tests/db/transaction/watched_mutexes.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/skip.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Without a log, whose file in memory grows.
WriteOptions Unlogged() {
  WriteOptions options;
  options.disableWAL = true;
  return options;
}

// Commits three updates again and again, with one transaction object.
template <typename Database, typename Options>
void ExpectNoAllocationsOfCommits(Database* db, const Options& options) {
  ColumnFamilyHandle* const family = db->DefaultColumnFamily();
  const WriteOptions write = Unlogged();
  Transaction* transaction = nullptr;
  uint64_t successes = 0;
  const auto use = [&] {
    transaction = db->BeginTransaction(write, options, transaction);
    for (const char* key : {"a", "b", "c"}) successes += transaction->Put(family, key, "v").ok();
    successes += transaction->Commit().ok();
  };
  for (int i = 0; i < 3; ++i) use();
  successes = 0;
  const uint64_t before = thread_allocations;
  for (int i = 0; i < 50; ++i) use();
  const uint64_t allocated = thread_allocations - before;
  EXPECT_EQ(successes, 200u);
  EXPECT_EQ(allocated, 0u);
  delete transaction;
}

class PessimisticCostTest : public PessimisticFixture {};
class OptimisticCostTest : public OptimisticFixture {};

TEST_F(PessimisticCostTest, BeginPutCommitAllocatesNothingTheSecondTime) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  Open();
  ExpectNoAllocationsOfCommits(db_.get(), TransactionOptions());
}

TEST_F(OptimisticCostTest, BeginPutCommitAllocatesNothingTheSecondTime) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  Open();
  ExpectNoAllocationsOfCommits(db_.get(), OptimisticTransactionOptions());
}

TEST_F(PessimisticCostTest, APlainPutAllocatesNothing) {
  if (!kCountsAllocations) return SkipAsImpossible("counted calls in a sanitizer build");
  Open();
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  const WriteOptions write = Unlogged();
  for (int i = 0; i < 3; ++i) ASSERT_OK(db_->Put(write, family, "a", "v"));
  uint64_t written = 0;
  const uint64_t allocations = thread_allocations;
  for (int i = 0; i < 50; ++i) written += db_->Put(write, family, "a", "v").ok();
  const uint64_t allocated = thread_allocations - allocations;
  EXPECT_EQ(written, 50u);
  EXPECT_EQ(allocated, 0u);
}

class LockTableCostTest : public PessimisticCostTest {
 protected:
  LockTableCostTest() {
    db_options_.custom_mutex_factory =
        std::make_shared<WatchedMutexes>([this](int part) { uses_.push_back(part); });
  }
  void SetUp() override {
    Open();
    uses_.clear();
  }
  void TearDown() override { db_.reset(); }  // it uses what is declared here
  // The parts of the lock table that were used since the last call, in ascending order.
  std::vector<int> Uses() {
    std::vector<int> uses = std::exchange(uses_, {});
    std::sort(uses.begin(), uses.end());
    return uses;
  }

 private:
  std::vector<int> uses_;
};

// A part of the lock table is one line of memory. Each key uses its own twice, and no other.
TEST_F(LockTableCostTest, AKeyUsesItsPartOfTheTableToLockAndToUnlock) {
  for (const size_t count : {1u, 3u, 40u}) {
    SCOPED_TRACE(count);
    for (const bool is_warm : {false, true}) {  // the arrays of the parts grow once
      const auto transaction = Begin();
      for (size_t i = 0; i < count; i++) ASSERT_OK(transaction->Put(StrCat("k", i), "v"));
      const std::vector<int> locked = Uses();
      ASSERT_OK(transaction->Commit());
      const std::vector<int> unlocked = Uses();
      if (!is_warm) continue;
      EXPECT_EQ(locked.size(), count);
      EXPECT_EQ(locked, unlocked);
    }
  }
}

TEST_F(LockTableCostTest, AnOwnKeyUsesNothingThatIsShared) {
  const auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  Uses();
  std::string value;
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "a", &value));
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "a", &value, /*exclusive=*/false));
  ASSERT_OK(transaction->Put("a", "2"));
  EXPECT_TRUE(Uses().empty());
}

TEST_F(LockTableCostTest, AWriteOfTheDatabaseUsesOnePart) {
  ASSERT_OK(Put("a", "1"));
  const std::vector<int> uses = Uses();
  ASSERT_EQ(uses.size(), 2u) << "to lock and to unlock";
  EXPECT_EQ(uses[0], uses[1]);
}

// Also in another order than the reverse one.
TEST(TrackedKeysMemory, OfLargeKeysIsGivenBackWithThem) {
  TrackedKeys tracked;
  const std::string first(5000, 'a'), second(6000, 'b');
  size_t memory = 0;
  for (int i = 0; i < 1000; i++) {
    TrackedKeys::Key* const a = tracked.FindOrAdd(0, first);
    TrackedKeys::Key* const b = tracked.FindOrAdd(0, second);
    tracked.Remove(i % 2 == 0 ? a : b);
    tracked.Remove(i % 2 == 0 ? b : a);
    if (i == 0) memory = tracked.MemoryBytes();
    ASSERT_EQ(tracked.MemoryBytes(), memory);
  }
  EXPECT_EQ(tracked.count(), 0u);
}

// Searches of this thread by hash: in the keys of transactions, and in indexed batches.
#ifndef NDEBUG
uint64_t KeySearches() { return std::exchange(TrackedKeys::searches, 0); }
uint64_t BatchSearches() { return std::exchange(KeyTable::searches, 0); }
constexpr bool kCountsSearches = true;
#else
uint64_t KeySearches() { return 0; }
uint64_t BatchSearches() { return 0; }
constexpr bool kCountsSearches = false;
#endif

template <typename Database>
void ExpectOneSearchForEachUse(Database* db) {
  const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
  KeySearches();
  BatchSearches();
  for (int i = 0; i < 20; i++) ASSERT_OK(transaction->Put(StrCat("k", i), "v"));
  EXPECT_EQ(KeySearches(), 20u);
  EXPECT_EQ(BatchSearches(), 0u) << "nobody has read the batch";
  std::string value;
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "k7", &value));
  EXPECT_EQ(KeySearches(), 1u);
  EXPECT_EQ(BatchSearches(), 21u) << "the updates are indexed, and the key is looked for";
  ASSERT_OK(transaction->GetForUpdate(ReadOptions(), "k8", &value));
  EXPECT_EQ(KeySearches(), 1u);
  EXPECT_EQ(BatchSearches(), 1u);
  ASSERT_OK(transaction->Put("k9", "w"));
  EXPECT_EQ(KeySearches(), 1u);
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(KeySearches(), 0u);
}

TEST_F(PessimisticCostTest, AUseOfAKeyIsOneSearch) {
  if (!kCountsSearches) return SkipAsImpossible("counted searches in a build without assertions");
  Open();
  ExpectOneSearchForEachUse(db_.get());
}

TEST_F(OptimisticCostTest, AUseOfAKeyIsOneSearch) {
  if (!kCountsSearches) return SkipAsImpossible("counted searches in a build without assertions");
  Open();
  ExpectOneSearchForEachUse(db_.get());
}

// Blocks and filters of tables that this thread has used for the check of one key.
uint64_t TableUsesOfCheck(TransactionDB* db, const std::string& key) {
  TransactionOptions options;
  options.set_snapshot = true;
  const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions(), options));
  EXPECT_OK(db->Put(WriteOptions(), "other", "newer than the snapshot"));
  const PerfLevel level = GetPerfLevel();
  SetPerfLevel(PerfLevel::kEnableCount);
  PerfContext& counts = *get_perf_context();
  counts.Reset();
  EXPECT_OK(transaction->Put(key, "v"));
  SetPerfLevel(level);
  return counts.block_read_count + counts.block_cache_hit_count + counts.bloom_sst_hit_count +
         counts.bloom_sst_miss_count;
}

TEST_F(PessimisticCostTest, ACheckAboveTheNewestFlushTouchesNoTable) {
  BlockBasedTableOptions tables;
  tables.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(tables));
  options_.disable_auto_compactions = true;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(TableUsesOfCheck(db_.get(), "a"), 0u);
  EXPECT_EQ(TableUsesOfCheck(db_.get(), "absent"), 0u);
}

TEST_F(PessimisticCostTest, ACheckBelowAFlushAsksItsTableOnly) {
  options_.disable_auto_compactions = true;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  TransactionOptions options;
  options.set_snapshot = true;
  const std::unique_ptr<Transaction> transaction(db_->BeginTransaction(WriteOptions(), options));
  ASSERT_OK(db_->Put(WriteOptions(), "a", "newer"));
  ASSERT_OK(db_->Put(WriteOptions(), "c", "newer"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  SetPerfLevel(PerfLevel::kEnableCount);
  PerfContext& counts = *get_perf_context();
  counts.Reset();
  EXPECT_OK(transaction->Put("b", "v"));  // in the range of one of the two tables
  EXPECT_GT(counts.block_read_count + counts.block_cache_hit_count, 0u);
  EXPECT_TRUE(transaction->Put("a", "v").IsBusy());
  SetPerfLevel(PerfLevel::kDisable);
}

}  // namespace
}  // namespace ashlar
