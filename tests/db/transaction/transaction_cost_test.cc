// SPDX-License-Identifier: Apache-2.0
//
// A transaction that begins again with the same object allocates nothing. This file replaces
// operator new of the program by one that counts its calls.
#include <cstdint>

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

}  // namespace
}  // namespace ashlar
