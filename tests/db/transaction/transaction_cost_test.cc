// SPDX-License-Identifier: Apache-2.0
//
// What transactions cost: one that begins again with the same object allocates nothing, and a check
// asks only tables that are newer than the snapshot. This file replaces operator new of the program
// by one that counts its calls.
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/table.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "tests/support/counted_allocations.h"
#include "tests/support/skip.h"

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
