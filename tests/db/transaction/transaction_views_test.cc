// SPDX-License-Identifier: Apache-2.0
//
// Iterators of a transaction over one family and over several: their end, keys that are deleted at
// a change of direction, and entries that are pinned.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/attribute_groups.h"
#include "ashlar/wide_columns.h"
#include "tests/db/transaction/transaction_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class TransactionViewsTest : public PessimisticFixture,
                             public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  void SetUp() override {
    db_options_.write_policy = GetParam();
    // Each update writes those before it, so that open iterators are made anew.
    if (GetParam() == WRITE_UNPREPARED) db_options_.default_write_batch_flush_threshold = 1;
    Open();
    ASSERT_OK(db_->CreateColumnFamily(options_, "second", &second_));
    families_ = {db_->DefaultColumnFamily(), second_};
  }
  void TearDown() override { ASSERT_OK(db_->DestroyColumnFamilyHandle(second_)); }

  ColumnFamilyHandle* second_ = nullptr;
  std::vector<ColumnFamilyHandle*> families_;
};

INSTANTIATE_TEST_SUITE_P(Policies, TransactionViewsTest, WritePolicies(), PolicyName);

TEST_P(TransactionViewsTest, OfSeveralFamiliesEndWithTheirTransaction) {
  ASSERT_OK(Put("a", "0"));
  for (const char* end : {"commit", "rollback", "savepoint"}) {
    SCOPED_TRACE(end);
    const auto transaction = BeginNamed(end);
    ASSERT_OK(transaction->Put("a", "1"));
    transaction->SetSavePoint();
    ASSERT_OK(transaction->Put("b", "1"));
    ASSERT_OK(transaction->Put(second_, "b", "2"));
    const auto coalescing = transaction->GetCoalescingIterator(ReadOptions(), families_);
    const auto groups = transaction->GetAttributeGroupIterator(ReadOptions(), families_);
    const auto at_its_end = transaction->GetCoalescingIterator(ReadOptions(), families_);
    coalescing->Seek("b");
    ASSERT_TRUE(coalescing->Valid());
    EXPECT_EQ(coalescing->value(), "2");
    groups->SeekForPrev("b");
    ASSERT_TRUE(groups->Valid());
    EXPECT_EQ(groups->attribute_groups().size(), 2u);
    at_its_end->Seek("z");
    EXPECT_FALSE(at_its_end->Valid());
    EXPECT_OK(at_its_end->status());
    if (*end == 'c') {
      ASSERT_OK(transaction->Commit());
    } else if (*end == 'r') {
      ASSERT_OK(transaction->Rollback());
    } else {
      ASSERT_OK(transaction->RollbackToSavePoint());
    }
    const std::vector<IteratorBase*> all{coalescing.get(), groups.get(), at_its_end.get()};
    for (IteratorBase* const it : all) {
      EXPECT_FALSE(it->Valid());
      EXPECT_TRUE(it->status().IsInvalidArgument()) << it->status().ToString();
    }
    coalescing->Next();
    groups->Prev();
    at_its_end->SeekToFirst();
    for (IteratorBase* const it : all) {
      EXPECT_FALSE(it->Valid());
      EXPECT_TRUE(it->status().IsInvalidArgument());
    }
    EXPECT_TRUE(coalescing->columns().empty());
    EXPECT_TRUE(groups->attribute_groups().empty());
  }
}

// All iterators of the families are then behind the key, at the one to show.
TEST_P(TransactionViewsTest, NoKeyIsSkippedWhereTheShownOneIsDeletedBeforeATurn) {
  for (const char* key : {"a", "b", "c", "e"}) ASSERT_OK(Put(key, "0"));
  ASSERT_OK(db_->Put(WriteOptions(), second_, "d", "0"));
  for (const bool is_forward : {true, false}) {
    SCOPED_TRACE(is_forward);
    const auto transaction = BeginNamed("x");
    const auto coalescing = transaction->GetCoalescingIterator(ReadOptions(), families_);
    const auto groups = transaction->GetAttributeGroupIterator(ReadOptions(), families_);
    const std::vector<IteratorBase*> both{coalescing.get(), groups.get()};
    for (IteratorBase* const it : both) {
      is_forward ? it->SeekForPrev("b") : it->Seek("b");
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), "b");
    }
    ASSERT_OK(transaction->Delete("b"));
    for (IteratorBase* const it : both) {
      is_forward ? it->Next() : it->Prev();
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), is_forward ? "c" : "a");
      is_forward ? it->Prev() : it->Next();
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), is_forward ? "a" : "c");
    }
  }
}

// Slices of all entries that were shown, and their bytes at that time.
class Kept {
 public:
  void Note(const Slice& slice) {
    slices_.push_back(slice);
    bytes_.push_back(slice.ToString());
  }
  void Note(const WideColumns& columns) {
    for (const WideColumn& column : columns) {
      Note(column.name());
      Note(column.value());
    }
  }
  size_t size() const { return slices_.size(); }
  // Whether every slice still has its bytes.
  bool IsSame() const {
    for (size_t i = 0; i < slices_.size(); i++) {
      if (slices_[i] != Slice(bytes_[i])) return false;
    }
    return true;
  }

 private:
  std::vector<Slice> slices_;
  std::vector<std::string> bytes_;
};

TEST_P(TransactionViewsTest, PinnedEntriesStayWhileTheTransactionWrites) {
  constexpr int kRows = 40;
  const auto key_of = [](int i) { return StrCat("key", 100 + i); };
  for (int i = 0; i < kRows; i++) ASSERT_OK(Put(key_of(i), StrCat("value ", i)));
  ASSERT_OK(db_->Flush(FlushOptions()));
  const auto transaction = BeginNamed("x");
  for (int i = 0; i < kRows; i += 4) {
    ASSERT_OK(transaction->Put(key_of(i), StrCat("own ", i)));
    ASSERT_OK(transaction->Merge(key_of(i + 1), StrCat("merged ", i)));
    ASSERT_OK(
        transaction->PutEntity(second_, key_of(i + 2), {{"", "d"}, {"c", StrCat("own ", i)}}));
  }
  ReadOptions pins;
  pins.pin_data = true;
  pins.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> single(transaction->GetIterator(pins));
  const auto coalescing = transaction->GetCoalescingIterator(pins, families_);
  for (Iterator* const it : {single.get(), coalescing.get()}) {
    SCOPED_TRACE(it == single.get());
    Kept kept;
    int rows = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), rows++) {
      ASSERT_TRUE(it->PrepareValue());
      std::string key_pinned, value_pinned;
      ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &key_pinned));
      ASSERT_OK(it->GetProperty("rocksdb.iterator.is-value-pinned", &value_pinned));
      ASSERT_EQ(key_pinned + value_pinned, "11");
      kept.Note(it->key());
      kept.Note(it->value());
      kept.Note(it->columns());
      if (rows % 3 != 0) continue;
      ASSERT_OK(transaction->Put(it->key(), std::string(1000, 'x')));
    }
    ASSERT_OK(it->status());
    EXPECT_EQ(rows, kRows);
    EXPECT_GE(kept.size(), 4u * kRows);
    EXPECT_TRUE(kept.IsSame());
  }
  const auto groups = transaction->GetAttributeGroupIterator(pins, families_);
  Kept kept;
  for (groups->SeekToLast(); groups->Valid(); groups->Prev()) {
    ASSERT_TRUE(groups->PrepareValue());
    kept.Note(groups->key());
    for (const IteratorAttributeGroup& group : groups->attribute_groups()) {
      kept.Note(group.columns());
    }
    ASSERT_OK(transaction->Put(second_, groups->key(), "y"));
  }
  ASSERT_OK(groups->status());
  EXPECT_GE(kept.size(), 3u * kRows);
  EXPECT_TRUE(kept.IsSame());
}

}  // namespace
}  // namespace ashlar
