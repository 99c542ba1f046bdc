// SPDX-License-Identifier: Apache-2.0
//
// Transactions that are larger than a memtable, and secondaries beside a primary that writes them
// before they are decided.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/db/transaction/write_unprepared_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 5000;

class LargeTransactionTest : public WriteUnpreparedTest,
                             public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  LargeTransactionTest() {
    db_options_.write_policy = GetParam();
    db_options_.default_write_batch_flush_threshold = 4096;
    options_.write_buffer_size = 64 << 10;
  }
  static std::string Key(int i) { return StrCat("key", 100'000 + i * 7919 % kKeys); }
  // Writes all keys. Returns the most bytes that the batch had.
  size_t WriteAll(Transaction* transaction, const std::string& value) {
    size_t most = 0;
    for (int i = 0; i < kKeys; i++) {
      EXPECT_OK(transaction->Put(Key(i), value));
      most = std::max(most, transaction->GetWriteBatch()->GetDataSize());
    }
    return most;
  }
  // The value that all keys have; "mixed" if they have several.
  std::string ValueOfAll() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    std::string value;
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), count++) {
      if (count > 0 && it->value() != Slice(value)) return "mixed";
      value = it->value().ToString();
    }
    EXPECT_OK(it->status());
    if (count == 0) return "none";
    return count == kKeys ? value : StrCat(count, " keys");
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, LargeTransactionTest, WritePolicies(), PolicyName);

TEST_P(LargeTransactionTest, IsSeenAsAWholeOrNotAtAll) {
  const size_t threshold = 4096;
  auto transaction = BeginNamed("x");
  const size_t most = WriteAll(transaction.get(), "1");
  if (GetParam() == WRITE_UNPREPARED) {
    EXPECT_LT(most, threshold + 100);
  }
  EXPECT_EQ(transaction->GetNumKeys(), static_cast<uint64_t>(kKeys));
  EXPECT_EQ(ValueOfAll(), "none");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOfAll(), "1");
  const Snapshot* const before = db_->GetSnapshot();
  for (const bool is_prepared : {false, true}) {
    auto undone = BeginNamed("y");
    WriteAll(undone.get(), "2");
    if (is_prepared) {
      ASSERT_OK(undone->Prepare());
    }
    EXPECT_EQ(ValueOfAll(), "1");
    ASSERT_OK(undone->Rollback());
    EXPECT_EQ(ValueOfAll(), "1");
  }
  auto prepared = BeginNamed("z");
  WriteAll(prepared.get(), "3");
  ASSERT_OK(prepared->Prepare());
  prepared.reset();
  db_->ReleaseSnapshot(before);
  transaction.reset();
  Reopen();
  EXPECT_EQ(ValueOfAll(), "1");
  prepared.reset(db_->GetTransactionByName("z"));
  ASSERT_NE(prepared, nullptr);
  ASSERT_OK(prepared->Commit());
  EXPECT_EQ(ValueOfAll(), "3");
  prepared.reset();
  Compact();
  EXPECT_EQ(ValueOfAll(), "3");
  Reopen();
  EXPECT_EQ(ValueOfAll(), "3");
}

// RocksDB's options for large commits are hints: the commit is the same with them.
TEST_P(LargeTransactionTest, HintsForLargeCommitsChangeNothing) {
  std::vector<std::string> logged[2];
  for (const bool has_hints : {false, true}) {
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
    if (has_hints) db_options_.txn_commit_bypass_memtable_threshold = 1;
    options_.write_buffer_size = 64 << 20;  // so that the log is one file
    Open();
    TransactionOptions options;
    options.commit_bypass_memtable = has_hints;
    options.large_txn_commit_optimize_threshold = has_hints ? 1 : 0;
    options.large_txn_commit_optimize_byte_threshold = has_hints ? 1 : 0;
    for (const bool is_prepared : {false, true}) {
      auto transaction = BeginNamed("x", options);
      for (int i = 0; i < 300; i++) ASSERT_OK(transaction->Put(StrCat("k", i % 200), "1"));
      if (is_prepared) {
        ASSERT_OK(transaction->Prepare());
      }
      ASSERT_OK(transaction->Commit());
    }
    EXPECT_EQ(ValueOf(db_.get(), "k0") + ValueOf(db_.get(), "k199"), "11");
    logged[has_hints ? 1 : 0] = LoggedBatches();
  }
  EXPECT_FALSE(logged[0].empty());
  EXPECT_EQ(logged[0], logged[1]);
}

class BesidePrimaryTest : public WriteUnpreparedTest {
 protected:
  BesidePrimaryTest() { db_options_.default_write_batch_flush_threshold = 60; }
  void SetUp() override {
    WriteUnpreparedTest::SetUp();
    for (int i = 0; i < 40; i++) ASSERT_OK(Put(StrCat("k", 10 + i), "0"));
    for (const char* key : {"m", "n"}) ASSERT_OK(db_->Merge(WriteOptions(), key, "0"));
    OpenSecondary();
  }
  void TearDown() override { secondary_.reset(); }
  void OpenSecondary() {
    secondary_.reset();
    Options options = options_;
    options.allow_2pc = true;
    ASSERT_OK(DB::OpenAsSecondary(options, "/db", "/secondary", &secondary_));
  }
  std::string ScanSecondary() {
    const std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions()));
    const std::string forward = ScanForward(it.get());
    EXPECT_EQ(ScanBackward(it.get()), forward);
    return forward;
  }
  // The old one when it has caught up, and then a new one, see what the primary shows.
  void ExpectTheSame(const std::string& rows) {
    EXPECT_EQ(Scan(), rows);
    ASSERT_OK(secondary_->TryCatchUpWithPrimary());
    EXPECT_EQ(ScanSecondary(), rows);
    EXPECT_EQ(ValueOf(secondary_.get(), "m"), ValueOf(db_.get(), "m"));
    EXPECT_EQ(ValueOf(secondary_.get(), "k10"), ValueOf(db_.get(), "k10"));
    ASSERT_NO_FATAL_FAILURE(OpenSecondary());
    EXPECT_EQ(ScanSecondary(), rows);
  }
  void WriteParts(Transaction* transaction, int begin, int end) {
    for (int i = begin; i < end; i++) ASSERT_OK(transaction->Put(StrCat("k", 10 + i), "1"));
    ASSERT_OK(transaction->Merge("m", "1"));
    ASSERT_OK(transaction->Delete(StrCat("k", 10 + begin)));
  }

  std::unique_ptr<DB> secondary_;
};

TEST_F(BesidePrimaryTest, ASecondaryShowsWhatIsDecidedAndNothingElse) {
  for (const bool is_flushed : {false, true}) {
    for (const bool is_prepared : {false, true}) {
      for (const bool is_committed : {false, true}) {
        SCOPED_TRACE(StrCat(is_flushed, is_prepared, is_committed));
        const std::string before = Scan();
        auto transaction = BeginNamed("x");
        ASSERT_NO_FATAL_FAILURE(WriteParts(transaction.get(), 0, 20));
        ASSERT_NO_FATAL_FAILURE(ExpectTheSame(before));
        if (is_flushed) Flush();
        ASSERT_NO_FATAL_FAILURE(ExpectTheSame(before));
        transaction->SetSavePoint();
        ASSERT_NO_FATAL_FAILURE(WriteParts(transaction.get(), 10, 30));
        ASSERT_OK(transaction->RollbackToSavePoint());
        ASSERT_NO_FATAL_FAILURE(ExpectTheSame(before));
        if (is_prepared) {
          ASSERT_OK(transaction->Prepare());
          ASSERT_NO_FATAL_FAILURE(ExpectTheSame(before));
        }
        ASSERT_OK(is_committed ? transaction->Commit() : transaction->Rollback());
        const std::string after = Scan();
        EXPECT_EQ(after == before, !is_committed);
        ASSERT_NO_FATAL_FAILURE(ExpectTheSame(after));
        transaction.reset();
        Compact();
        ASSERT_NO_FATAL_FAILURE(ExpectTheSame(after));
        for (int i = 0; i < 40; i++) ASSERT_OK(Put(StrCat("k", 10 + i), "0"));
      }
    }
  }
}

// The primary is killed and rolls its transaction back when it opens again; the secondary follows.
TEST_F(BesidePrimaryTest, ASecondaryFollowsTheRollbackOfAnOpening) {
  const std::string before = Scan();
  auto transaction = BeginNamed("x");
  ASSERT_NO_FATAL_FAILURE(WriteParts(transaction.get(), 0, 20));
  ASSERT_NO_FATAL_FAILURE(ExpectTheSame(before));
  secondary_.reset();
  Crash(&transaction);
  ASSERT_NO_FATAL_FAILURE(OpenSecondary());
  EXPECT_EQ(ScanSecondary(), before);
  Open();
  ASSERT_NO_FATAL_FAILURE(ExpectTheSame(before));
}

}  // namespace
}  // namespace ashlar
