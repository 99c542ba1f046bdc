// SPDX-License-Identifier: Apache-2.0
//
// max_successive_merges: operands that are merged when they are written.
#include <thread>

#include "ashlar/convenience.h"
#include "ashlar/write_batch.h"
#include "tests/db/merge/merge_fixture.h"
#include "util/keys/coding.h"

namespace ashlar {

TEST_F(MergeTest, SuccessiveMergesAreFoldedWhenWritten) {
  options_.max_successive_merges = 3;
  Reopen();
  Put("k", "V");
  for (const char* operand : {"1", "2", "3"}) Merge("k", operand);
  EXPECT_EQ(Operands("k"), "V 1 2 3");
  const Snapshot* const snapshot = db_->GetSnapshot();
  WriteBatch batch;
  ASSERT_OK(batch.Merge("k", "4"));
  ASSERT_OK(batch.Merge("k", "5"));
  Write(&batch);
  EXPECT_EQ(Operands("k"), "V.1.2.3.4 5");
  EXPECT_EQ(Get("k", snapshot), "V.1.2.3");
  EXPECT_EQ(Get("k"), "V.1.2.3.4.5");
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->SetOptions({{"max_successive_merges", "0"}}));
  for (const char* operand : {"6", "7", "8", "9"}) Merge("k", operand);
  EXPECT_EQ(Operands("k"), "V.1.2.3.4 5 6 7 8 9");
  Reopen();
  EXPECT_EQ(Get("k"), "V.1.2.3.4.5.6.7.8.9") << "the log has the operands";
}

TEST_F(MergeTest, SuccessiveMergesReadFilesOnlyIfTheyMust) {
  options_.max_successive_merges = 1;
  Put("k", "V");
  Flush();
  Reopen();  // so no block of the table is in memory
  Merge("k", "1");
  Merge("k", "2");
  EXPECT_EQ(Operands("k"), "V 1 2");
  ASSERT_OK(db_->SetOptions({{"strict_max_successive_merges", "true"}}));
  Reopen();  // the log becomes a table, so the memtable is empty
  Merge("k", "3");
  Merge("k", "4");
  EXPECT_EQ(Operands("k"), "V 1 2 3 4") << "the option was not kept";
  Reopen();
  ASSERT_OK(db_->SetOptions({{"strict_max_successive_merges", "true"}}));
  Merge("k", "5");
  Merge("k", "6");
  EXPECT_EQ(Operands("k"), "V.1.2.3.4.5.6");
}

TEST_F(MergeTest, AnOperandThatCannotBeFoldedStaysOne) {
  options_.max_successive_merges = 1;
  Reopen();
  for (const char* operand : {"1", "!2", "^3", "4"}) Merge("k", operand);
  EXPECT_EQ(Operands("k"), "1 !2 ^3 4");
  Put("k", "V");
  Merge("k", "5");
  EXPECT_EQ(Get("k"), "V.5");
}

// A write may merge operands that other threads have inserted and not yet published.
TEST_F(MergeTest, ConcurrentSuccessiveMergesLoseNothing) {
  ASSERT_OK(
      MergeOperator::CreateFromString(ConfigOptions(), "uint64add", &options_.merge_operator));
  options_.max_successive_merges = 2;
  Reopen();
  constexpr int kThreads = 4, kMerges = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([this] {
      const std::string one("\1\0\0\0\0\0\0\0", 8);
      for (int i = 0; i < kMerges; i++) {
        Merge(i % 2 == 0 ? "a" : "b", one);
        if (i % 100 == 50) Flush();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int round = 0; round < 2; round++) {
    for (const char* key : {"a", "b"}) {
      const std::string sum = Get(key);
      ASSERT_EQ(sum.size(), 8u);
      EXPECT_EQ(DecodeFixed64(sum.data()), uint64_t{kThreads * kMerges / 2});
    }
    if (round == 0) Reopen();
  }
}

}  // namespace ashlar
