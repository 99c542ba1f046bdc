// SPDX-License-Identifier: Apache-2.0
//
// Transactions are declared and not built: whoever asks is told so by name, gets no database and no
// half-made batch, and nothing appears on disk.
#include <gtest/gtest.h>

#include <string>

#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/transaction_db.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

Options CreatingOptions() {
  Options options;
  options.create_if_missing = true;
  return options;
}

TEST(TransactionsNotBuilt, OpeningNamesTheCallAndMakesNothing) {
  const std::string dir = FreshTempDir("transactions_not_built") + "/db";
  TransactionDB* pessimistic = reinterpret_cast<TransactionDB*>(1);
  Status status = TransactionDB::Open(CreatingOptions(), TransactionDBOptions(), dir, &pessimistic);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("TransactionDB::Open"), std::string::npos);
  EXPECT_EQ(pessimistic, nullptr);

  OptimisticTransactionDB* optimistic = reinterpret_cast<OptimisticTransactionDB*>(1);
  status = OptimisticTransactionDB::Open(CreatingOptions(), dir, &optimistic);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("OptimisticTransactionDB::Open"), std::string::npos);
  EXPECT_EQ(optimistic, nullptr);

  EXPECT_TRUE(FileSystem::Default()->FileExists(dir, IOOptions(), nullptr).IsNotFound());
}

TEST(TransactionsNotBuilt, AnIndexedBatchRefusesUpdatesAndStaysEmpty) {
  WriteBatchWithIndex batch;
  EXPECT_TRUE(batch.Put("k", "v").IsNotSupported());
  EXPECT_TRUE(batch.Delete("k").IsNotSupported());
  EXPECT_EQ(batch.GetWriteBatch()->Count(), 0u);
}

}  // namespace
}  // namespace ashlar
