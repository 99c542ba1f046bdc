// SPDX-License-Identifier: Apache-2.0
//
// Keys whose operands cannot be merged, under transactions that have written data before they are
// decided: a rollback brings back what is stored, so that no value has to be made for it.
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "tests/db/transaction/write_unprepared_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Joins by commas, or fails.
class MoodyAppend final : public AssociativeMergeOperator {
 public:
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* result,
             Logger*) const override {
    if (fails) return false;
    *result = existing == nullptr ? value.ToString() : StrCat(*existing, ",", value);
    return true;
  }
  const char* Name() const override { return "MoodyAppend"; }

  bool fails = true;
};

struct UnmergeableCase {
  TxnDBWritePolicy policy;
  std::string end;
};

void PrintTo(const UnmergeableCase& printed, std::ostream* out) { *out << printed.end; }

class UnmergeableTest : public WriteUnpreparedTest,
                        public testing::WithParamInterface<UnmergeableCase> {
 protected:
  UnmergeableTest() {
    db_options_.write_policy = GetParam().policy;
    db_options_.rollback_merge_operands = true;
    options_.merge_operator = append_;
  }
  void SetUp() override {
    WriteUnpreparedTest::SetUp();
    ASSERT_OK(Put("base", "0"));
    ASSERT_OK(db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), "entity",
                             {{"", "d"}, {"c", "0"}}));
    ASSERT_OK(Put("gone", "0"));
    ASSERT_OK(db_->Delete(WriteOptions(), "gone"));
    ASSERT_OK(Put("plain", "0"));
    for (const char* operand : {"1", "2"}) {
      for (const char* key : {"alone", "base", "entity", "gone"}) {
        ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
      }
    }
  }
  // What the keys have, without a merge.
  std::string Stored() {
    std::string text;
    for (const char* key : kKeys) {
      PinnableSlice values[8];
      GetMergeOperandsOptions options;
      options.expected_max_number_of_operands = 8;
      int count = 0;
      const Status status = db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), key,
                                                  values, &options, &count);
      StrAppend(&text, key, " ", status.ok() ? "" : status.ToString());
      for (int i = 0; i < count; i++) StrAppend(&text, values[i].ToString(), "|");
      StrAppend(&text, "; ");
    }
    return text;
  }
  // What they have with a merge operator that works.
  std::string Merged() {
    append_->fails = false;
    PinnableWideColumns columns;
    EXPECT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "entity", &columns));
    EXPECT_EQ(columns.columns(), (WideColumns{{"", "d,1,2"}, {"c", "0"}}));
    const std::string rows = Scan();
    append_->fails = true;
    return rows;
  }
  void WriteKeys(Transaction* transaction) {
    for (const char* key : kKeys) ASSERT_OK(transaction->Put(key, "undone"));
    ASSERT_OK(transaction->Merge("base", "undone"));
    ASSERT_OK(transaction->Put("last", "undone"));
  }
  // Takes back what the transaction has written.
  void End(std::unique_ptr<Transaction>* transaction) {
    const std::string& end = GetParam().end;
    if (end == "savepoint") {
      ASSERT_OK((*transaction)->RollbackToSavePoint());
      ASSERT_OK((*transaction)->Commit());
    } else if (end == "running") {
      ASSERT_OK((*transaction)->Rollback());
    } else if (end == "destroyed") {
      transaction->reset();
    } else if (end == "killed") {
      ASSERT_NO_FATAL_FAILURE(CrashAndReopen(transaction));
    } else {
      ASSERT_OK((*transaction)->Prepare());
      if (end == "reopened") {
        transaction->reset();
        ASSERT_NO_FATAL_FAILURE(Reopen());
        transaction->reset(db_->GetTransactionByName("x"));
      }
      ASSERT_OK((*transaction)->Rollback());
    }
    transaction->reset();
  }

  static constexpr const char* kKeys[] = {"alone", "base", "entity", "gone", "plain", "absent"};
  const std::shared_ptr<MoodyAppend> append_ = std::make_shared<MoodyAppend>();
};

INSTANTIATE_TEST_SUITE_P(Ends, UnmergeableTest,
                         testing::Values(UnmergeableCase{WRITE_PREPARED, "prepared"},
                                         UnmergeableCase{WRITE_PREPARED, "reopened"},
                                         UnmergeableCase{WRITE_UNPREPARED, "prepared"},
                                         UnmergeableCase{WRITE_UNPREPARED, "reopened"},
                                         UnmergeableCase{WRITE_UNPREPARED, "running"},
                                         UnmergeableCase{WRITE_UNPREPARED, "savepoint"},
                                         UnmergeableCase{WRITE_UNPREPARED, "destroyed"},
                                         UnmergeableCase{WRITE_UNPREPARED, "killed"}),
                         [](const testing::TestParamInfo<UnmergeableCase>& info) {
                           return StrCat(info.param.policy == WRITE_PREPARED ? "WritePrepared_"
                                                                             : "WriteUnprepared_",
                                         info.param.end);
                         });

TEST_P(UnmergeableTest, ARollbackBringsBackWhatIsStored) {
  const std::string stored = Stored(), merged = Merged();
  EXPECT_EQ(merged, "alone=1,2 base=0,1,2 entity=d,1,2 gone=1,2 plain=0 ");
  for (const bool is_flushed : {false, true}) {
    SCOPED_TRACE(is_flushed);
    auto transaction = BeginNamed("x");
    transaction->SetSavePoint();
    ASSERT_NO_FATAL_FAILURE(WriteKeys(transaction.get()));
    if (is_flushed) Flush();
    ASSERT_NO_FATAL_FAILURE(End(&transaction));
    EXPECT_EQ(LockCount(), 0u);
    EXPECT_EQ(Stored(), stored);
    EXPECT_TRUE(ValueOf(db_.get(), "base").starts_with("Corruption")) << "as before";
    EXPECT_EQ(ValueOf(db_.get(), "plain"), "0");
    EXPECT_EQ(Merged(), merged);
    Reopen();
    EXPECT_EQ(Stored(), stored);
  }
  append_->fails = false;
  Compact();
  EXPECT_EQ(Scan(), merged);
}

// The opening must not fail at operands that were there before the transaction.
TEST_F(WriteUnpreparedTest, AnOpeningWithoutTheMergeOperatorRollsBack) {
  ASSERT_OK(Put("k", "0"));
  ASSERT_OK(db_->Merge(WriteOptions(), "k", "1"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("k", "undone"));
  ASSERT_OK(transaction->Put("l", "undone"));
  ASSERT_LT(BatchCount(transaction.get()), 2u) << "a part of it is written";
  const auto append = options_.merge_operator;
  options_.merge_operator = nullptr;
  ASSERT_NO_FATAL_FAILURE(CrashAndReopen(&transaction));
  EXPECT_EQ(LockCount(), 0u);
  EXPECT_EQ(ValueOf(db_.get(), "l"), "NotFound: ");
  EXPECT_TRUE(db_->Merge(WriteOptions(), "k", "2").IsNotSupported());
  db_.reset();
  options_.merge_operator = append;
  Open();
  EXPECT_EQ(ValueOf(db_.get(), "k"), "0,1");
}

// Behind a savepoint the transaction's own operands come back as well.
TEST_F(WriteUnpreparedTest, ASavePointBringsBackOwnOperandsThatCannotBeMerged) {
  const auto append = std::make_shared<MoodyAppend>();
  db_.reset();
  options_.merge_operator = append;
  Open();
  ASSERT_OK(Put("k", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Merge("k", "1"));
  ASSERT_OK(transaction->Merge("k", "2"));
  transaction->SetSavePoint();
  ASSERT_OK(transaction->Put("k", "undone"));
  ASSERT_OK(transaction->Merge("k", "undone"));
  ASSERT_OK(transaction->RollbackToSavePoint());
  append->fails = false;
  EXPECT_EQ(ValueOf(transaction.get(), "k"), "0,1,2");
  EXPECT_EQ(ValueOf(db_.get(), "k"), "0");
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "k"), "0,1,2");
  transaction.reset();
  Reopen();
  EXPECT_EQ(ValueOf(db_.get(), "k"), "0,1,2");
}

}  // namespace
}  // namespace ashlar
